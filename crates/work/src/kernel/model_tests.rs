//! A model-based test of the kernel: whatever happens in whatever order (work, tools, signals, pauses, kills, crashes,
//! restarts), no message is lost, no slot is lost or assigned twice, no budget is exceeded and no tool is run twice.
//!
//! The test also models the surroundings: models that still owe an answer, and an executor that performs tool calls,
//! each key once, and survives every crash. A crash resets the kernel to its last saved state, as the workspace does,
//! together with everything that was under way then.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::activation::{CallProgress, CapWait, Phase};
use super::approval_question::CallQuestion;
use super::core::{Kernel, KernelAction, NewWork, NoReply};
use super::settings::KernelSettings;
use crate::base::{ActivationKey, AgentKey, Id, RunTag, Seq};
use crate::gate::{AskRule, AskSource, SafetyMode, TouchKind};
use crate::mind::{CallEnd, CapScope, Role, ToolCall, WorkReply};
use crate::simulation::ActivityId;
use crate::tools::{Expected, OrderKey, Terms};

/// An event of the test.
#[derive(Clone, Debug)]
enum Act {
    /// A person gives an agent a task.
    Start(u8),
    /// The n-th outstanding request gets a reply with this many tool calls, or with a result.
    WorkReply(u8, u8),
    /// The n-th request fails.
    Fail(u8, u8),
    /// The executor performs the n-th operation, and its outcome arrives.
    Outcome(u8),
    /// The executor performs the n-th operation, but its outcome is not delivered yet.
    CarryOut(u8),
    /// The n-th piece of work starts another agent.
    Spawn(u8, u8),
    /// The n-th piece of work delegates a task with a deadline of this many turns, and with a result in plain words or
    /// fields.
    HandOver(u8, u8, u8),
    /// The n-th piece of work sends a signal.
    Signal(u8),
    /// A person must decide about the n-th operation.
    Ask(u8),
    /// A person decides the n-th question by refusing, allowing once, or allowing for the task.
    Decide(u8, bool, bool),
    Pause,
    Resume,
    Kill(u8),
    /// A person stops everything that an agent does, even if it only waits.
    KillAgent(u8),
    KillAll,
    /// A person pauses an agent.
    Hold(u8),
    /// A person resumes all agents.
    LetGo,
    /// A minute of real time passes.
    Minute,
    /// The budgets change.
    Caps(u8),
    Concurrency(u8),
    Leave(u8),
    /// The current state is saved.
    Save,
    /// The process dies, and the room is reopened in its saved state.
    Crash,
    Ticks(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => any::<u8>().prop_map(Act::Start),
        8 => (any::<u8>(), 0..4_u8).prop_map(|(at, calls)| Act::WorkReply(at, calls)),
        2 => (any::<u8>(), 0..9_u8).prop_map(|(at, kind)| Act::Fail(at, kind)),
        8 => any::<u8>().prop_map(Act::Outcome),
        3 => any::<u8>().prop_map(Act::CarryOut),
        4 => (any::<u8>(), any::<u8>()).prop_map(|(at, who)| Act::Spawn(at, who)),
        4 => any::<(u8, u8, u8)>().prop_map(|(at, who, terms)| Act::HandOver(at, who, terms)),
        4 => any::<u8>().prop_map(Act::Signal),
        1 => any::<u8>().prop_map(Act::Ask),
        2 => any::<(u8, bool, bool)>().prop_map(|(at, allow, for_task)| Act::Decide(at, allow, for_task)),
        1 => Just(Act::Pause),
        2 => Just(Act::Resume),
        1 => any::<u8>().prop_map(Act::Kill),
        2 => any::<u8>().prop_map(Act::KillAgent),
        1 => Just(Act::KillAll),
        2 => any::<u8>().prop_map(Act::Hold),
        1 => Just(Act::LetGo),
        2 => Just(Act::Minute),
        1 => any::<u8>().prop_map(Act::Caps),
        1 => (1..6_u8).prop_map(Act::Concurrency),
        1 => any::<u8>().prop_map(Act::Leave),
        2 => Just(Act::Save),
        2 => Just(Act::Crash),
        2 => any::<u8>().prop_map(Act::Ticks),
    ];
    proptest::collection::vec(act, 1..120)
}

type CallAt = (ActivationKey, u32, usize);

/// The state that the workspace saves and restores.
#[derive(Clone)]
struct Saved {
    kernel: Kernel,
    owed: BTreeSet<(ActivationKey, u32)>,
    orders: BTreeSet<CallAt>,
    now: u64,
    next: u64,
    /// All accepted signals: receiving thread and text.
    sent: Vec<(ActivationKey, String)>,
    /// The permissions granted for tasks: thread, and which of the three kinds.
    granted: BTreeSet<(ActivationKey, u32)>,
}

struct World {
    is: Saved,
    disk: Saved,
    settings: KernelSettings,
    /// The operations that the executor has performed, by key. Survives crashes.
    carried_out: BTreeMap<OrderKey, ToolCall>,
    /// Counts the models' replies, so that no two are the same. Survives crashes.
    said: u64,
    /// The agents that a person has paused, which the kernel does not store.
    held: BTreeSet<AgentKey>,
}

/// The cap that the n-th kind of request exceeds.
fn over_budget(kind: u8) -> NoReply {
    let wait = |is_outside| Some(CapWait { minutes: 2, is_outside });
    let (scope, wait) = match kind {
        0 => (CapScope::Run, None),
        1 => (CapScope::Activation, None),
        2 => (CapScope::AgentRun, None),
        3 => (CapScope::Hour, wait(true)),
        4 => (CapScope::AgentHour, wait(false)),
        _ => (CapScope::Hour, None),
    };
    NoReply::OverBudget { scope, wait, why: "a cap".to_owned() }
}

/// The n-th kind of terms for delegated tasks.
fn terms(kind: u8) -> Terms {
    let deadline_turns = (kind & 1 == 1).then(|| u32::from(kind % 4) + 1);
    let expected = (kind & 2 == 2).then(|| Expected::parse("chairs, tables").expect("these are names"));
    Terms { deadline_turns, expected, ..Terms::default() }
}

/// One of three kinds of rules that require approval, by turn.
fn risky(turn: u32) -> Vec<AskRule> {
    let kind = [TouchKind::FILE_WRITE, TouchKind::FILE_DELETE, TouchKind::AGENT_SPAWN][turn as usize % 3].clone();
    let source = AskSource::SafetyMode { mode: SafetyMode::Safe, is_own: true };
    vec![AskRule { source, kind, target: format!("artifacts/{turn}.md") }]
}

fn pick<T: Copy>(from: impl IntoIterator<Item = T>, at: u8) -> Option<T> {
    let all: Vec<T> = from.into_iter().collect();
    (!all.is_empty()).then(|| all[at as usize % all.len()])
}

impl World {
    fn new() -> Self {
        let is = Saved {
            kernel: Kernel::default(),
            owed: BTreeSet::new(),
            orders: BTreeSet::new(),
            now: 1,
            next: 1,
            sent: Vec::new(),
            granted: BTreeSet::new(),
        };
        let (carried_out, held) = (BTreeMap::new(), BTreeSet::new());
        Self { disk: is.clone(), is, settings: KernelSettings::default(), carried_out, said: 0, held }
    }

    fn work(&mut self, agent: u8, input: String) -> NewWork {
        self.is.next += 1;
        let agent = format!("agent-{}", agent % 12);
        NewWork {
            key: ActivationKey::numbered(self.is.next),
            agent: agent.as_str().into(),
            profile: agent.as_str().into(),
            file_name: format!("{agent}.md"),
            input,
            priority: 0,
            now: self.is.now,
            cause: Seq(1),
        }
    }

    fn happen(&mut self, act: &Act) {
        match act {
            Act::Start(agent) => {
                let input = format!("task {}", self.is.next);
                let work = self.work(*agent, input);
                self.is.kernel.start(work);
            }
            Act::WorkReply(at, calls) => {
                let Some((key, turn)) = pick(self.is.owed.iter().copied(), *at) else { return };
                self.is.owed.remove(&(key, turn));
                self.said += 1;
                let said = self.said;
                let tool_calls = (0..*calls)
                    .map(|call| {
                        let arguments = json!({ "path": format!("artifacts/{said}-{call}.md") });
                        ToolCall::new(format!("c{call}"), "vfs_write", arguments)
                    })
                    .collect();
                let reply = WorkReply { text: format!("turn {said}"), tool_calls, ..WorkReply::default() };
                self.is.kernel.replied(key, turn, reply, &self.settings);
            }
            Act::Fail(at, kind) => {
                let Some((key, turn)) = pick(self.is.owed.iter().copied(), *at) else { return };
                self.is.owed.remove(&(key, turn));
                let why = "it broke".to_owned();
                let failure = match kind {
                    0 => NoReply::RateLimited { retry_after_secs: Some(1.0), why },
                    1 => NoReply::Passing { why },
                    2 => NoReply::Lasting { why },
                    kind => over_budget(kind - 3),
                };
                let (was_stopped, others) = (self.is.kernel.stopped_by().is_some(), self.others(key));
                self.is.kernel.failed(key, turn, failure, self.is.now, &self.settings);
                let stops_all = *kind == 3;
                assert_eq!(self.is.kernel.stopped_by().is_some(), was_stopped || stops_all, "only the room's cap");
                assert_eq!(self.others(key), others, "others lose nothing by it");
            }
            Act::Outcome(at) => {
                let Some(order) = pick(self.is.orders.iter().copied(), *at) else { return };
                self.carry_out(order);
                self.is.orders.remove(&order);
                self.is.kernel.answered(order, ("done".into(), CallEnd::Done), &self.settings);
            }
            Act::CarryOut(at) => {
                if let Some(order) = pick(self.is.orders.iter().copied(), *at) {
                    self.carry_out(order);
                }
            }
            Act::Spawn(at, who) => {
                let Some(parent) = pick(self.begun(), *at) else { return };
                let input = format!("part {}", self.is.next);
                let work = self.work(*who, input);
                // A refusal is reported to the agent that asked, and has no other effect.
                let _refused = self.is.kernel.spawn(parent, work, Vec::new(), &self.settings);
            }
            Act::HandOver(at, who, kind) => {
                let Some(from) = pick(self.begun(), *at) else { return };
                let input = format!("handed {}", self.is.next);
                let work = self.work(*who, input.clone());
                let (to, terms) = (work.agent.clone(), terms(*kind));
                let waits: Vec<Id> = self.waits_above(from);
                let handed = self.is.kernel.hand_over(from, work, (&input, &terms), Vec::new(), &self.settings);
                assert!(handed.is_err() || !waits.contains(&to), "never in a circle");
            }
            Act::Signal(at) => {
                let Some(from) = pick(self.begun(), *at) else { return };
                self.is.next += 1;
                let message = format!("news {}", self.is.next);
                let at = (ActivationKey::numbered(self.is.next), self.is.now, Seq(1));
                let thread = self.is.kernel.activation(from).and_then(|one| self.is.kernel.thread(one.thread));
                let Some((agent, parent)) = thread.map(|thread| (thread.agent.clone(), thread.parent)) else { return };
                if self.is.kernel.signal(from, &message, &Terms::default(), at, &self.settings).is_ok() {
                    let parent = parent.expect("only who was started can signal");
                    self.is.sent.push((parent, format!("Signal from {agent}: {message}")));
                }
            }
            Act::Ask(at) => {
                let Some(order) = pick(self.is.orders.iter().copied(), *at) else { return };
                if self.call_of(order).is_none_or(|(name, _)| self.carried_out.contains_key(&name)) {
                    return;
                }
                // A permission for the task is not asked for again.
                let Some(one) = self.is.kernel.activation(order.0) else { return };
                let line = std::iter::successors(Some(one.thread), |key| self.is.kernel.thread(*key)?.parent);
                let was_allowed = line.into_iter().any(|thread| self.is.granted.contains(&(thread, order.1 % 3)));
                let is_granted = self.is.kernel.granted(one.thread, "vfs_write", &risky(order.1), None).is_some();
                assert_eq!(is_granted, was_allowed, "for that task and whom it started, and for nothing else");
                if is_granted {
                    return;
                }
                self.is.orders.remove(&order);
                let question = CallQuestion { rules: risky(order.1), ..CallQuestion::from("take a risk") };
                assert!(self.is.kernel.ask_person(order.0, order.1, order.2, question));
            }
            Act::Decide(at, allow, for_task) => {
                let asked = self.is.kernel.activations().filter_map(|one| Some((one.key, one.turn, one.question()?.0)));
                let asked: Vec<CallAt> = asked.collect();
                let Some((key, turn, index)) = pick(asked, *at) else { return };
                let refusal = (!allow).then(|| "Error: refused".to_owned());
                let thread = self.is.kernel.activation(key).expect("it should ask").thread;
                let tool = self.is.kernel.activation(key).and_then(|one| Some(one.question()?.1.name.clone()));
                assert!(self.is.kernel.decided((key, turn, index), refusal, &self.settings));
                if *allow && *for_task {
                    assert!(self.is.kernel.grant(thread, &tool.expect("it should ask"), &risky(turn)));
                    self.is.granted.insert((thread, turn % 3));
                }
            }
            Act::Pause => self.is.kernel.set_paused(true),
            Act::Resume => self.is.kernel.set_paused(false),
            Act::Kill(at) => {
                if let Some(key) = pick(self.all(), *at) {
                    self.is.kernel.kill(key, "a person", None);
                }
            }
            Act::KillAgent(agent) => {
                let agent: Id = format!("agent-{}", agent % 12).into();
                self.is.kernel.kill_agent(&agent, "a person", None);
                assert!(self.is.kernel.activations().all(|one| one.agent != agent));
            }
            Act::KillAll => self.is.kernel.kill_all("a person", None),
            Act::Hold(agent) => {
                self.held.insert(AgentKey(u32::from(agent % 12)));
            }
            Act::LetGo => self.held.clear(),
            Act::Minute => self.is.kernel.minute_passed(),
            Act::Caps(caps) => {
                self.is.kernel.note_caps(u64::from(*caps));
                self.is.kernel.resume_capped_work();
            }
            Act::Concurrency(most) => self.is.kernel.set_limits(Some(u32::from(*most)), None),
            Act::Leave(agent) => self.is.kernel.remove_agent(AgentKey(u32::from(agent % 12)), None),
            Act::Save => self.disk = self.is.clone(),
            Act::Crash => {
                // Saving goes through the serialized form.
                let text = serde_json::to_string(&self.disk.kernel).expect("the kernel can be saved");
                let kernel: Kernel = serde_json::from_str(&text).expect("it should be readable again");
                assert_eq!(kernel, self.disk.kernel);
                self.is = Saved { kernel, ..self.disk.clone() };
            }
            Act::Ticks(many) => self.is.now += u64::from(*many),
        }
    }

    /// All other work and its state.
    fn others(&self, key: ActivationKey) -> Vec<(ActivationKey, Phase, bool)> {
        let others = self.is.kernel.activations().filter(|one| one.key != key);
        others.map(|one| (one.key, one.phase.clone(), one.has_slot)).collect()
    }

    /// The agents that wait for the result of this work, and its own agent.
    fn waits_above(&self, from: ActivationKey) -> Vec<Id> {
        let thread = self.is.kernel.activation(from).map(|one| one.thread);
        let line = std::iter::successors(thread, |key| self.is.kernel.thread(*key)?.parent);
        line.filter_map(|key| Some(self.is.kernel.thread(key)?.agent.clone())).collect()
    }

    fn all(&self) -> Vec<ActivationKey> {
        self.is.kernel.activations().map(|one| one.key).collect()
    }

    fn begun(&self) -> Vec<ActivationKey> {
        self.is.kernel.activations().filter(|one| one.has_slot).map(|one| one.key).collect()
    }

    fn call_of(&self, (key, turn, index): CallAt) -> Option<(OrderKey, ToolCall)> {
        let call = &self.is.kernel.running_call(key, turn, index)?.call;
        Some((OrderKey::new(RunTag::default(), (key, turn, index), call), call.clone()))
    }

    /// Performs an operation. A key always stands for the same operation, so performing each key once is always right.
    fn carry_out(&mut self, order: CallAt) {
        // If the work was stopped meanwhile, the operation is performed and its outcome dropped.
        let Some((name, call)) = self.call_of(order) else { return };
        assert_eq!(name.id().parse(), Ok(name));
        assert_eq!((name.activation, name.turn, name.call), order);
        assert_eq!(*self.carried_out.entry(name).or_insert_with(|| call.clone()), call);
    }

    fn settle(&mut self) {
        for _ in 0..4 {
            self.is.now += 1;
            for agent in self.is.kernel.awaited_agents() {
                let number = agent.trim_start_matches("agent-").parse().expect("agents are numbered");
                self.is.kernel.note_present(&agent, AgentKey(number));
            }
            let mut effects = self.is.kernel.take_actions();
            let held = &self.held;
            effects.extend(self.is.kernel.step(self.is.now, &self.settings, |agent| held.contains(&agent)));
            for effect in effects {
                self.carry(effect);
            }
            self.is.kernel.forget_finished_runs();
            self.check();
        }
    }

    fn carry(&mut self, effect: KernelAction) {
        match effect {
            KernelAction::Summon { activation } => self.is.kernel.note_arrived(activation, ActivityId(1)),
            KernelAction::Ask { activation, turn } => {
                assert!(self.is.owed.insert((activation, turn)), "a question is asked once at a time");
            }
            KernelAction::Perform { activation, turn, index } => {
                assert!(self.is.orders.insert((activation, turn, index)), "an order is given once");
            }
            KernelAction::Release { activation, .. } => {
                self.is.owed.retain(|(key, _)| *key != activation.key);
                // Operations in progress at the executor are still performed, but their results are ignored.
                self.report(activation.thread);
            }
            KernelAction::Sample { .. } | KernelAction::EndSample { .. } | KernelAction::Warn { .. } => {}
        }
    }

    /// Delivers due reports, as the room does when work ends.
    fn report(&mut self, ended: ActivationKey) {
        while let Some(thread) = self.is.kernel.due_report(ended) {
            let parent = self.is.kernel.thread(thread).and_then(|thread| thread.parent).expect("it should have one");
            let was_stopped = self.is.kernel.thread(parent).expect("it is known").is_stopped;
            self.is.next += 1;
            let at = (ActivationKey::numbered(self.is.next), self.is.now, Seq(1));
            let reported = self.is.kernel.report(thread, at).expect("it is due");
            assert_eq!(reported.delivered.is_kept, was_stopped, "what a person stopped stays stopped");
            // Failures may be reported twice with the same text.
            if reported.words.starts_with("finished: ") || reported.gave.is_some() {
                self.is.sent.push((parent, format!("Signal from {}: {}", reported.from, reported.words)));
            }
        }
    }

    fn check(&self) {
        let kernel = &self.is.kernel;
        for (key, thread) in kernel.threads() {
            assert!(!(thread.is_stopped && thread.live.is_some()), "a person stopped it");
            assert!(!(thread.report.is_some() && thread.live.is_some()), "it is not over");
            // Work that ended in the last step is reported in the next one.
            let is_told = !kernel.outgoing.is_empty() || kernel.due_report(key).is_none();
            assert!(is_told, "whoever waited for it is told at once");
        }
        let mut agents = BTreeSet::new();
        for one in kernel.activations() {
            let thread = kernel.thread(one.thread).expect("every piece of work belongs to a thread");
            assert_eq!(thread.live, Some(one.key), "and is the one that it waits for");
            assert!(thread.depth <= self.settings.max_depth && thread.children <= self.settings.max_fan_out);
            if one.has_begun() {
                assert!(agents.insert(&one.agent), "an agent does one thing at a time");
            }
            match &one.phase {
                Phase::Asking => {
                    assert!(one.has_slot && self.is.owed.contains(&(one.key, one.turn)), "someone owes the answer");
                }
                Phase::Calling { calls } => {
                    let running = calls.iter().enumerate().filter(|(_, call)| call.progress == CallProgress::Running);
                    let running: Vec<usize> = running.map(|(index, _)| index).collect();
                    assert!(running.len() <= 1, "one tool at a time");
                    for index in running {
                        assert!(self.is.orders.contains(&(one.key, one.turn, index)), "someone carries it out");
                    }
                }
                Phase::Queued | Phase::Summoned => assert!(!one.has_slot),
                Phase::Due => {}
            }
            answered_in_pairs(&one.messages);
        }
        for (agent, what) in kernel.threads().flat_map(|(key, _)| kernel.granted_in(key)) {
            assert!(!what.is_empty() && kernel.threads().any(|(_, thread)| thread.agent == agent), "{agent} {what}");
        }
        self.check_mail();
    }

    /// Checks that each accepted signal was delivered to its receiver exactly once, as long as the run continues.
    fn check_mail(&self) {
        let kernel = &self.is.kernel;
        for (thread, words) in &self.is.sent {
            let Some(receiver) = kernel.thread(*thread) else { continue };
            let live = receiver.live.and_then(|live| kernel.activation(live));
            let waiting = live.into_iter().flat_map(|one| one.mail.iter().map(String::as_str));
            let messages = live.map_or(&receiver.messages, |one| &one.messages);
            let heard = messages.iter().map(|message| message.text.as_str()).chain(waiting);
            assert_eq!(heard.filter(|text| text == words).count(), 1, "{words:?}");
        }
        for (_, thread) in kernel.threads() {
            answered_in_pairs(&thread.messages);
        }
    }
}

/// Whether each call is followed by its result before any other message.
fn answered_in_pairs(messages: &[crate::mind::PromptMessage]) {
    let mut open = 0;
    for message in messages {
        match message.role {
            Role::Tool => {
                assert!(open > 0, "an answer without a call");
                open -= 1;
            }
            _ => {
                assert_eq!(open, 0, "a call without an answer");
                open = message.tool_calls.len();
            }
        }
    }
}

proptest! {
    #[test]
    fn no_sequence_of_events_loses_leaks_exceeds_or_repeats_anything(acts in acts()) {
        let mut world = World::new();
        for act in &acts {
            world.happen(act);
            world.settle();
            let going_on = world.is.kernel.slots_in_use();
            // A lowered limit does not stop running work; otherwise the limit holds.
            if !acts.iter().any(|act| matches!(act, Act::Concurrency(_))) {
                prop_assert!(going_on <= world.settings.max_concurrent_activations as usize);
            }
        }
    }

    #[test]
    fn all_work_ends_once_every_request_is_answered(acts in acts()) {
        let mut world = World::new();
        for act in &acts {
            world.happen(act);
            world.settle();
        }
        world.is.kernel.set_paused(false);
        world.held.clear();
        for _ in 0..4_000 {
            if world.is.kernel.is_idle() {
                break;
            }
            world.is.now += 20;
            world.is.kernel.resume_capped_work();
            world.is.kernel.minute_passed();
            world.happen(&Act::Decide(0, true, false));
            world.happen(&Act::Outcome(0));
            world.happen(&Act::WorkReply(0, 0));
            world.settle();
        }
        prop_assert!(world.is.kernel.is_idle(), "something was stuck");
        prop_assert_eq!(world.is.kernel.slots_in_use(), 0);
        prop_assert!(world.is.kernel.threads().next().is_none());
    }
}
