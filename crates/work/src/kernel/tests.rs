//! Tests of the kernel's rules.

use std::collections::BTreeSet;

use serde_json::json;

use super::activation::Phase;
use super::core::{Kernel, KernelAction, NewWork, NoReply};
use super::settings::KernelSettings;
use super::spawn_limits::{Refusal, Reported};
use crate::base::{ActivationKey, AgentKey, Id, Seq};
use crate::mind::{CallEnd, Ending, Role, ToolCall, WorkReply};
use crate::simulation::ActivityId;
use crate::tools::Terms;

/// A kernel with a clock, in which agents join the room at once.
pub(super) struct Bench {
    pub(super) kernel: Kernel,
    pub(super) settings: KernelSettings,
    pub(super) now: u64,
    next: u64,
    pub(super) effects: Vec<KernelAction>,
    pub(super) held: BTreeSet<AgentKey>,
    pub(super) reports: Vec<Reported>,
}

/// The key of an agent in the room.
pub(super) fn number_of(agent: &str) -> AgentKey {
    AgentKey(agent.bytes().map(u32::from).sum())
}

impl Bench {
    pub(super) fn new() -> Self {
        Self {
            kernel: Kernel::default(),
            settings: KernelSettings::default(),
            now: 1,
            next: 1,
            effects: Vec::new(),
            held: BTreeSet::new(),
            reports: Vec::new(),
        }
    }

    pub(super) fn key(&mut self) -> ActivationKey {
        self.next += 1;
        ActivationKey::numbered(self.next)
    }

    pub(super) fn work(&mut self, agent: &str, input: &str) -> NewWork {
        NewWork {
            key: self.key(),
            agent: agent.into(),
            profile: agent.into(),
            file_name: format!("{agent}.md"),
            input: input.into(),
            priority: 0,
            now: self.now,
            cause: Seq(1),
        }
    }

    pub(super) fn start(&mut self, agent: &str, input: &str) -> ActivationKey {
        let work = self.work(agent, input);
        let key = work.key;
        self.kernel.start(work);
        self.tick();
        key
    }

    pub(super) fn spawn(&mut self, parent: ActivationKey, agent: &str, task: &str) -> Result<ActivationKey, Refusal> {
        let work = self.work(agent, task);
        let key = work.key;
        self.kernel.spawn(parent, work, Vec::new(), &self.settings)?;
        self.tick();
        Ok(key)
    }

    pub(super) fn signal(&mut self, from: ActivationKey, message: &str) -> Result<bool, Refusal> {
        let key = self.key();
        let told = self.kernel.signal(from, message, &Terms::default(), (key, self.now, Seq(1)), &self.settings)?;
        self.tick();
        Ok(told.woke)
    }

    /// Lets all awaited agents join and all called agents arrive, and advances the time.
    pub(super) fn tick(&mut self) {
        for _ in 0..3 {
            let awaited: Vec<Id> = self.kernel.awaited_agents().into_iter().collect();
            for agent in awaited {
                self.kernel.note_present(&agent, number_of(&agent));
            }
            self.now += 1;
            let mut effects = self.kernel.take_actions();
            let held = self.held.clone();
            let is_held = |agent| held.contains(&agent);
            effects.extend(self.kernel.step(self.now, &self.settings, is_held));
            for effect in &effects {
                match effect {
                    KernelAction::Summon { activation } => self.kernel.note_arrived(*activation, ActivityId(1)),
                    KernelAction::Release { activation, .. } => self.report(activation.thread),
                    _ => {}
                }
            }
            self.effects.extend(effects);
        }
    }

    /// Delivers due reports, as the room does when work ends.
    fn report(&mut self, ended: ActivationKey) {
        while let Some(thread) = self.kernel.due_report(ended) {
            let key = self.key();
            let reported = self.kernel.report(thread, (key, self.now, Seq(1))).expect("it is due");
            self.reports.push(reported);
        }
    }

    /// The activation of this agent that has begun.
    pub(super) fn at_work(&self, agent: &str) -> ActivationKey {
        self.kernel.activations().find(|one| &*one.agent == agent).expect("it is at work").key
    }

    /// The reports so far: sender, receiver and text.
    pub(super) fn sent_reports(&self) -> Vec<(&str, &str, &str)> {
        self.reports.iter().map(|one| (&*one.from, &*one.delivered.agent, one.words.as_str())).collect()
    }

    pub(super) fn say(&mut self, key: ActivationKey, text: &str, calls: &[&str]) {
        let tool_calls = calls
            .iter()
            .enumerate()
            .map(|(at, path)| ToolCall::new(format!("c{at}"), "vfs_read", json!({ "path": path })))
            .collect();
        let turn = self.kernel.activation(key).expect("it should continue").turn;
        self.kernel.replied(
            key,
            turn,
            WorkReply { text: text.into(), tool_calls, ..WorkReply::default() },
            &self.settings,
        );
        self.tick();
    }

    pub(super) fn fail(&mut self, key: ActivationKey, failure: NoReply) {
        let turn = self.kernel.activation(key).expect("it should continue").turn;
        self.kernel.failed(key, turn, failure, self.now, &self.settings);
        self.tick();
    }

    pub(super) fn answer(&mut self, key: ActivationKey, index: usize) -> bool {
        let turn = self.kernel.activation(key).map_or(0, |one| one.turn);
        self.answer_with(key, (turn, index), "fine")
    }

    pub(super) fn answer_with(&mut self, key: ActivationKey, (turn, index): (u32, usize), text: &str) -> bool {
        let was = self.kernel.answered((key, turn, index), (text.into(), CallEnd::Done), &self.settings);
        self.tick();
        was
    }

    pub(super) fn phase(&self, key: ActivationKey) -> &Phase {
        &self.kernel.activation(key).expect("it should continue").phase
    }

    pub(super) fn ending(&self, key: ActivationKey) -> &Ending {
        &self.kernel.finished().find(|one| one.key == key).expect("it is over").ending
    }

    pub(super) fn performed(&self, key: ActivationKey) -> Vec<usize> {
        let of = |effect: &KernelAction| match effect {
            KernelAction::Perform { activation, index, .. } if *activation == key => Some(*index),
            _ => None,
        };
        self.effects.iter().filter_map(of).collect()
    }
}

#[test]
fn text_without_a_tool_call_ends_the_work() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "what is 2 and 2?");
    assert_eq!(*bench.phase(key), Phase::Asking);
    bench.say(key, "Four.", &[]);
    assert_eq!(*bench.ending(key), Ending::Completed { text: "Four.".into() });
    assert!(bench.kernel.is_idle());
}

#[test]
fn tool_calls_run_one_at_a_time_and_each_gets_a_result() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "read both");
    bench.say(key, "I look.", &["a.md", "b.md"]);
    assert_eq!(bench.performed(key), [0], "the second waits for the first");
    assert!(bench.answer(key, 0));
    assert_eq!(bench.performed(key), [0, 1]);
    assert!(!bench.answer(key, 0), "an answer counts once");
    bench.answer(key, 1);
    assert_eq!(*bench.phase(key), Phase::Asking);
    let activation = bench.kernel.activation(key).expect("it should continue");
    let roles: Vec<Role> = activation.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Tool]);
}

#[test]
fn slots_limit_concurrency_and_go_to_the_most_urgent_work() {
    let mut bench = Bench::new();
    let first: Vec<_> = ["a", "b", "c"].map(|agent| bench.start(agent, "x")).into();
    let late = bench.start("d", "x");
    let mut urgent = bench.work("e", "x");
    urgent.priority = -1;
    let urgent_key = urgent.key;
    bench.kernel.start(urgent);
    bench.tick();
    assert_eq!(bench.kernel.slots_in_use(), 3);
    assert_eq!((bench.phase(late), bench.phase(urgent_key)), (&Phase::Due, &Phase::Due));
    bench.say(first[0], "done", &[]);
    assert_eq!((bench.phase(late), bench.phase(urgent_key)), (&Phase::Due, &Phase::Asking));
    bench.kernel.set_limits(Some(1), None);
    bench.say(first[1], "done", &[]);
    assert_eq!(bench.kernel.slots_in_use(), 2, "what goes on is not stopped by a lower number");
    bench.kernel.set_limits(Some(5), None);
    bench.tick();
    assert_eq!(bench.kernel.slots_in_use(), 3);
}

#[test]
fn an_agent_runs_one_activation_at_a_time() {
    let mut bench = Bench::new();
    let first = bench.start("ada", "one");
    let second = bench.start("ada", "two");
    assert_eq!((bench.phase(first), bench.phase(second)), (&Phase::Asking, &Phase::Queued));
    bench.say(first, "done", &[]);
    assert_eq!(*bench.phase(second), Phase::Asking);
}

#[test]
fn an_agents_next_work_is_what_runs_then_what_is_most_urgent_then_the_oldest() {
    let mut bench = Bench::new();
    let running = bench.start("ada", "one");
    let next = |bench: &Bench| bench.kernel.next_work_of("ada").map(|one| one.key);
    let old = bench.start("ada", "two");
    let mut urgent = bench.work("ada", "three");
    urgent.priority = -1;
    let urgent_key = urgent.key;
    bench.kernel.start(urgent);
    assert_eq!(next(&bench), Some(running), "also before what is more urgent");
    for (done, then) in [(running, Some(urgent_key)), (urgent_key, Some(old)), (old, None)] {
        bench.kernel.kill(done, "enough", None);
        assert_eq!(next(&bench), then);
    }
    assert!(bench.kernel.next_work_of("bo").is_none());
}

#[test]
fn pausing_takes_effect_between_tool_calls_and_loses_nothing() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "read both");
    bench.kernel.set_paused(true);
    bench.say(key, "", &["a.md", "b.md"]);
    assert!(bench.performed(key).is_empty());
    bench.kernel.set_paused(false);
    bench.tick();
    assert_eq!(bench.performed(key), [0]);
    bench.kernel.set_paused(true);
    bench.answer(key, 0);
    assert_eq!(bench.performed(key), [0]);
    let waiting = bench.start("ben", "x");
    assert_eq!(*bench.phase(waiting), Phase::Queued);
    bench.kernel.set_paused(false);
    bench.tick();
    assert_eq!(bench.performed(key), [0, 1]);
    assert_eq!(*bench.phase(waiting), Phase::Asking);
}

#[test]
fn killing_work_frees_its_slot_and_late_replies_are_ignored() {
    let mut bench = Bench::new();
    bench.settings.max_concurrent_activations = 1;
    let key = bench.start("ada", "x");
    let next = bench.start("ben", "x");
    bench.say(key, "", &["a.md"]);
    assert!(bench.kernel.kill(key, "a person stopped it", None));
    bench.tick();
    assert_eq!(*bench.phase(next), Phase::Asking);
    assert!(!bench.answer_with(key, (1, 0), "late"));
    assert!(!bench.kernel.kill(key, "again", None));
    bench.kernel.kill_all("a person stopped everything", None);
    bench.tick();
    assert!(bench.kernel.is_idle() && bench.kernel.is_paused());
    assert_eq!(bench.effects.iter().filter(|effect| matches!(effect, KernelAction::Release { .. })).count(), 2);
}

#[test]
fn refusals_of_depth_fan_out_and_repetition_name_the_limit() {
    checks_rule!("starting-agents-has-a-depth-limit");
    checks_rule!("starting-agents-has-a-fan-out-limit");
    checks_rule!("the-same-task-is-given-once");
    let mut bench = Bench::new();
    let root = bench.start("a0", "go");
    let mut deepest = root;
    for depth in 1..=5 {
        deepest = bench.spawn(deepest, &format!("a{depth}"), "go").expect("not too deep");
    }
    assert_eq!(bench.spawn(deepest, "a6", "go"), Err(Refusal::Depth { most: 5 }));
    assert_eq!(Refusal::Depth { most: 5 }.to_string(), "depth limit 5/5");
    for child in 1..5 {
        bench.spawn(root, &format!("b{child}"), "go").expect("not too many");
    }
    assert_eq!(bench.spawn(root, "b5", "go"), Err(Refusal::FanOut { most: 5 }));
    let other = bench.start("c0", "go");
    bench.spawn(other, "c1", "count").expect("the first time");
    assert_eq!(bench.spawn(other, "c1", "count"), Err(Refusal::Loop { agent: "c1".into() }));
    assert!(matches!(bench.spawn(other, "c0", "go"), Err(Refusal::Loop { .. })), "itself with its own task");
    bench.spawn(other, "c1", "count again").expect("something else");
}

#[test]
fn a_signal_wakes_the_parent_in_its_own_session() {
    let mut bench = Bench::new();
    let root = bench.start("boss", "go");
    let child = bench.spawn(root, "kid", "dig").expect("it should be permitted");
    let grandchild = bench.spawn(child, "tot", "dig deeper").expect("it should be permitted");
    bench.say(root, "I wait.", &[]);
    bench.say(child, "I wait too.", &[]);
    assert_eq!(bench.signal(grandchild, "found it"), Ok(true));
    let woken = bench.kernel.activations().find(|one| &*one.agent == "kid").expect("it is awake").key;
    let texts: Vec<&str> =
        bench.kernel.activation(woken).expect("awake").messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, ["Your task: dig", "I wait too.", "Signal from tot: found it"]);
    assert_eq!(bench.signal(woken, "we found it"), Ok(true), "at every level");
    assert_eq!(bench.signal(root, "x"), Err(Refusal::Over));
    let boss = bench.kernel.activations().find(|one| &*one.agent == "boss").expect("it is awake").key;
    assert_eq!(bench.signal(boss, "x"), Err(Refusal::NoParent));
}

#[test]
fn a_final_answer_reaches_the_agent_that_started_the_work_whatever_was_signalled_before() {
    let finished = |text: &str| format!("finished: {text}");
    for (signals, ending, report) in [
        (&[][..], "42", finished("42")),
        (&["I have begun."], "42", finished("42")),
        (&["I have begun.", "Half of it is done."], "42", finished("42")),
        (&["42"], " 42\n", finished("its last signal was its final answer")),
        (&["42", "Wait, I check it."], "42", finished("42")),
    ] {
        let mut bench = Bench::new();
        let root = bench.start("lead", "Count.");
        let child = bench.spawn(root, "ada", "Count the chairs.").expect("it may start one");
        bench.say(root, "I wait.", &[]);
        for signal in signals {
            bench.signal(child, signal).expect("the signal is sent");
        }
        bench.say(child, ending, &[]);
        assert_eq!(bench.sent_reports(), [("ada", "lead", report.as_str())], "{signals:?}");
        let lead = bench.at_work("lead");
        let lead = bench.kernel.activation(lead).expect("it is woken");
        let read = format!("{} {:?} {:?}", lead.input, lead.messages, lead.mail);
        assert!(read.contains(&report), "{read}");
    }
    // A failure is reported as well.
    let mut bench = Bench::new();
    let root = bench.start("lead", "Count.");
    let child = bench.spawn(root, "ada", "Count the chairs.").expect("it may start one");
    bench.signal(child, "I have begun.").expect("the signal is sent");
    bench.kernel.end(child, Ending::Failed { why: "the model is away".into() });
    bench.tick();
    assert_eq!(bench.sent_reports(), [("ada", "lead", "failed: the model is away")]);
}

#[test]
fn a_signal_to_running_work_is_read_with_its_next_request_even_if_it_was_concluding() {
    let mut bench = Bench::new();
    let root = bench.start("boss", "go");
    let child = bench.spawn(root, "kid", "dig").expect("it should be permitted");
    assert_eq!(bench.signal(child, "found it"), Ok(false));
    assert!(matches!(bench.signal(child, "found it"), Err(Refusal::Loop { .. })), "the same words twice");
    bench.say(root, "I am done.", &[]);
    assert_eq!(*bench.phase(root), Phase::Asking, "it hears the signal before it is done");
    let last = bench.kernel.activation(root).and_then(|one| one.messages.last().cloned()).expect("there are messages");
    assert_eq!(last.text, "Signal from kid: found it");
}

#[test]
fn work_stops_after_a_reminder_and_a_second_step_without_progress() {
    checks_rule!("work-without-progress-is-stopped");
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    bench.say(key, "", &["a.md"]);
    bench.answer(key, 0);
    bench.say(key, "", &["a.md"]);
    bench.answer(key, 0);
    let nudge = bench.kernel.activation(key).and_then(|one| one.messages.last().cloned()).expect("it should continue");
    assert!(nudge.role == Role::User && nudge.text.starts_with("Progress check: "));
    bench.say(key, "", &["b.md"]);
    bench.answer(key, 0);
    bench.say(key, "", &[]);
    assert_eq!(*bench.phase(key), Phase::Asking, "progress in between counts");
    bench.say(key, "", &["b.md"]);
    bench.answer(key, 0);
    assert!(matches!(bench.ending(key), Ending::Aborted { why, .. } if why.contains("2 steps without progress")));
}

#[test]
fn the_same_call_with_a_different_result_is_progress() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    for turn in 1..=6 {
        bench.say(key, "", &["a.md"]);
        bench.answer_with(key, (turn, 0), &format!("text {turn}"));
    }
    assert_eq!(*bench.phase(key), Phase::Asking, "a file that changed was read again");
}

#[test]
fn results_left_out_of_a_long_session_can_be_read_again() {
    let mut bench = Bench::new();
    bench.settings.max_session_chars = 4_000;
    let key = bench.start("ada", "x");
    let long = "x".repeat(1_000);
    let paths: Vec<String> = (0..8).map(|at| format!("{at}.md")).collect();
    for (turn, path) in (1..).zip(paths.iter().chain(&paths)) {
        bench.say(key, "", &[path]);
        bench.answer_with(key, (turn, 0), &long);
    }
    assert_eq!(*bench.phase(key), Phase::Asking, "the words in its place ask to call again");
}

#[test]
fn a_rate_limit_delays_all_work_which_then_resumes() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    let other = bench.start("ben", "x");
    bench.fail(key, NoReply::RateLimited { retry_after_secs: Some(2.0), why: "429".into() });
    bench.say(other, "", &["a.md"]);
    assert!(bench.performed(other).is_empty());
    assert_eq!(*bench.phase(key), Phase::Due);
    while bench.now < 80 {
        bench.tick();
    }
    assert_eq!((bench.phase(key), bench.performed(other)), (&Phase::Asking, vec![0]));
    assert_eq!(bench.kernel.activation(key).map(|one| one.turn), Some(1), "the same question");
}

#[test]
fn transient_failures_are_retried_and_permanent_ones_end_only_their_own_work() {
    let mut bench = Bench::new();
    let (key, other) = (bench.start("ada", "x"), bench.start("ben", "x"));
    for wait in [300, 600, 1_200] {
        bench.fail(key, NoReply::Passing { why: "no network".into() });
        assert_eq!(*bench.phase(key), Phase::Due);
        bench.now += wait;
        bench.tick();
        assert_eq!(*bench.phase(key), Phase::Asking);
    }
    bench.fail(key, NoReply::Passing { why: "no network".into() });
    assert_eq!(*bench.ending(key), Ending::Failed { why: "no network".into() });
    bench.fail(other, NoReply::Lasting { why: "no key".into() });
    assert_eq!(*bench.ending(other), Ending::Failed { why: "no key".into() });
}

#[test]
fn work_waiting_for_a_person_releases_its_slot() {
    let mut bench = Bench::new();
    bench.settings.max_concurrent_activations = 1;
    let key = bench.start("ada", "x");
    let other = bench.start("ben", "x");
    bench.say(key, "", &["a.md", "b.md"]);
    assert!(bench.kernel.ask_person(key, 1, 0, "it deletes a file".into()));
    bench.tick();
    assert_eq!(*bench.phase(other), Phase::Asking);
    assert_eq!(bench.kernel.activation(key).and_then(|one| one.question()).map(|(index, ..)| index), Some(0));
    let settings = bench.settings.clone();
    assert!(bench.kernel.decided((key, 1, 0), None, &settings));
    assert!(!bench.kernel.decided((key, 1, 0), None, &settings), "once");
    bench.say(other, "done", &[]);
    assert_eq!(bench.performed(key), [0, 0]);
    bench.answer(key, 0);
    assert!(bench.kernel.ask_person(key, 1, 1, "so does this".into()));
    assert!(bench.kernel.decided((key, 1, 1), Some("Error: a person refused".into()), &settings));
    bench.tick();
    assert_eq!(*bench.phase(key), Phase::Asking);
}

#[test]
fn work_fails_if_its_agent_never_joins_the_room() {
    let mut bench = Bench::new();
    let work = bench.work("nobody", "x");
    let key = work.key;
    bench.kernel.start(work);
    for now in [1, 200, 400] {
        bench.kernel.step(now, &bench.settings, |_| false);
    }
    assert!(matches!(bench.ending(key), Ending::Failed { .. }));
}

#[test]
fn work_ends_at_the_turn_limit() {
    checks_rule!("work-has-a-turn-limit");
    let mut bench = Bench::new();
    bench.settings.max_turns = 2;
    let key = bench.start("ada", "x");
    for path in ["a.md", "b.md"] {
        bench.say(key, "", &[path]);
        bench.answer(key, 0);
    }
    assert!(matches!(bench.ending(key), Ending::Aborted { why, by_person: false } if why.contains("2 turns")));
}
