//! Tests of delegated tasks: results are returned once, in the requested format and in time, and never in a cycle.

use super::core::NewWork;
use super::hand_over::task_and_terms;
use super::spawn_limits::Refusal;
use super::tests::Bench;
use crate::base::ActivationKey;
use crate::log::events::TaskPriority;
use crate::mind::Ending;
use crate::tools::{Expected, Terms};

impl Bench {
    fn hand_over(
        &mut self,
        from: ActivationKey,
        to: &str,
        task: &str,
        terms: &Terms,
    ) -> Result<ActivationKey, Refusal> {
        let work = NewWork { priority: terms.rank(), ..self.work(to, task) };
        let key = work.key;
        self.kernel.hand_over(from, work, (task, terms), Vec::new(), &self.settings.clone())?;
        self.tick();
        Ok(key)
    }

    fn last_message(&self, key: ActivationKey) -> &str {
        &self.kernel.activation(key).and_then(|one| one.messages.last()).expect("there should be one").text
    }
}

fn wanting(format: &str) -> Terms {
    Terms { expected: Expected::parse(format).ok(), ..Terms::default() }
}

fn within(turns: u32) -> Terms {
    Terms { deadline_turns: Some(turns), ..Terms::default() }
}

#[test]
fn a_delegated_task_states_its_giver_context_deadline_and_format() {
    let terms = Terms {
        context: "The hall is open.".into(),
        haste: TaskPriority::High,
        deadline_turns: Some(3),
        expected: Expected::parse("chairs, tables").ok(),
    };
    let told = task_and_terms("Lead", "Count the chairs.", &terms);
    assert_eq!(
        told,
        "Count the chairs.\n\nSystem message: this task was handed over to you by Lead, who receives your result.\n\
         What you should know: The hall is open.\nPriority: high.\nFinish within 3 turns.\nYour final answer is the \
         result. It must be a JSON object with the fields chairs, tables and nothing around it."
    );
    let told = task_and_terms("Lead", "Count.", &Terms::default());
    assert!(told.ends_with("by Lead, who receives your result.\nYour final answer is the result."), "{told}");
}

#[test]
fn a_signal_to_the_parent_states_its_context_deadline_and_format() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada = bench.spawn(boss, "ada", "count").expect("it should be permitted");
    bench.say(boss, "I wait.", &[]);
    let terms = Terms {
        context: "The hall is locked.".into(),
        haste: TaskPriority::High,
        deadline_turns: Some(1),
        expected: Expected::parse("where the key is").ok(),
    };
    let at = (ActivationKey::numbered(900), 1, crate::base::Seq(1));
    let told = bench.kernel.signal(ada, "I need the key.", &terms, at, &bench.settings.clone());
    assert!(told.is_ok_and(|told| told.woke));
    let woken = bench.kernel.activation(at.0).expect("the parent is woken");
    assert_eq!(woken.priority, terms.rank(), "before what is usual");
    assert_eq!(
        woken.messages.last().map(|message| message.text.as_str()),
        Some(
            "Signal from ada: I need the key.\nWhat you should know: The hall is locked.\nPriority: high.\nIt needs an \
             answer within 1 turn.\nThe answer should be where the key is."
        )
    );
}

#[test]
fn a_result_that_does_not_match_its_schema_fails_with_the_reason() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let schema = "{\"type\":\"object\",\"properties\":{\"chairs\":{\"type\":\"integer\"}},\"required\":[\"chairs\"]}";
    let ada = bench.hand_over(boss, "ada", "count", &wanting(schema)).expect("it should be permitted");
    bench.say(boss, "I wait.", &[]);
    for said in ["{\"chairs\": [1]}", "{\"tables\": 3}"] {
        bench.say(ada, said, &[]);
    }
    assert!(matches!(bench.ending(ada), Ending::Failed { .. }));
    let told = bench.sent_reports();
    assert_eq!((told.len(), told[0].1), (1, "boss"));
    assert!(told[0].2.contains("does not have the required format") && told[0].2.contains("chairs"), "{told:?}");
}

#[test]
fn a_result_is_returned_to_the_delegating_agent() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada =
        bench.hand_over(boss, "ada", "count the chairs", &wanting("chairs, tables")).expect("it should be permitted");
    bench.say(boss, "I wait.", &[]);
    bench.say(ada, "I counted: {\"chairs\": 12, \"tables\": 3}", &[]);
    let told = "result of a task that you handed over (\"count the chairs\"):\n{\"chairs\":12,\"tables\":3}";
    assert_eq!(bench.sent_reports(), [("ada", "boss", told)]);
    let woken = bench.at_work("boss");
    assert_eq!(bench.last_message(woken), format!("Signal from ada: {told}"));
}

#[test]
fn an_invalid_result_is_requested_once_more_and_then_fails_with_the_reason() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada = bench.hand_over(boss, "ada", "count", &wanting("chairs, tables")).expect("it should be permitted");
    let bea = bench.hand_over(boss, "bea", "count too", &wanting("chairs, tables")).expect("it should be permitted");
    bench.say(boss, "I wait.", &[]);
    for key in [ada, bea] {
        bench.say(key, "Twelve.", &[]);
        let again = bench.last_message(key);
        assert!(again.contains("it contains no JSON") && again.contains("chairs, tables"), "{again}");
    }
    bench.say(ada, "{\"chairs\": 12, \"tables\": 3}", &[]);
    bench.say(bea, "{\"chairs\": 12}", &[]);
    assert!(matches!(bench.ending(ada), Ending::Completed { .. }));
    assert!(matches!(bench.ending(bea), Ending::Failed { why } if why.contains("the field 'tables' is missing")));
    let gave: Vec<bool> = bench.reports.iter().map(|one| one.gave.as_ref().expect("it was handed over").0).collect();
    assert_eq!(gave, [true, false]);
    assert!(
        bench.sent_reports()[1].2.starts_with("no result of a task that you handed over (\"count too\"): its result")
    );
}

#[test]
fn text_of_an_agent_waiting_for_its_children_is_not_its_result() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada = bench.hand_over(boss, "ada", "count", &wanting("chairs, tables")).expect("it should be permitted");
    let kid = bench.spawn(ada, "kid", "count for me").expect("it should be permitted");
    bench.say(boss, "I wait.", &[]);
    bench.say(ada, "I wait for the kid.", &[]);
    assert!(bench.sent_reports().is_empty(), "nothing is given back yet");
    bench.say(kid, "Twelve and three.", &[]);
    let woken = bench.at_work("ada");
    bench.say(woken, "{\"chairs\": 12, \"tables\": 3}", &[]);
    assert_eq!(bench.sent_reports().last().map(|told| (told.0, told.1)), Some(("ada", "boss")));
    assert_eq!(
        bench.reports.last().and_then(|one| one.gave.clone()),
        Some((true, "{\"chairs\":12,\"tables\":3}".into()))
    );
}

#[test]
fn the_last_turn_is_announced_and_a_missed_deadline_ends_the_work() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada = bench.hand_over(boss, "ada", "count", &within(2)).expect("it should be permitted");
    bench.say(boss, "I wait.", &[]);
    bench.say(ada, "", &["a.md"]);
    bench.answer(ada, 0);
    bench.tick();
    let told = |bench: &Bench| {
        let messages = &bench.kernel.activation(ada).expect("it should continue").messages;
        messages.iter().filter(|message| message.text.contains("This is the last of your 2 turns")).count()
    };
    assert_eq!(told(&bench), 1, "{:?}", bench.kernel.activation(ada));
    bench.say(ada, "", &["b.md"]);
    bench.answer(ada, 0);
    bench.tick();
    assert!(
        matches!(bench.ending(ada), Ending::Aborted { why, by_person: false } if why.contains("deadline of 2 turns"))
    );
    assert_eq!(bench.sent_reports().len(), 1);
    assert!(bench.sent_reports()[0].2.contains("the deadline of 2 turns passed before there was a result"));
}

#[test]
fn delegation_in_cycles_too_deep_too_often_or_twice_is_refused() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada = bench.hand_over(boss, "ada", "one", &Terms::default()).expect("it should be permitted");
    let circle = bench.hand_over(ada, "boss", "two", &Terms::default());
    assert_eq!(circle, Err(Refusal::Cycle { way: "boss → ada → boss".into() }));
    let bea = bench.hand_over(ada, "bea", "three", &Terms::default()).expect("it should be permitted");
    let circle = bench.hand_over(bea, "ada", "four", &Terms::default());
    assert_eq!(circle, Err(Refusal::Cycle { way: "ada → bea → ada".into() }));
    assert_eq!(
        bench.hand_over(boss, "ada", "one", &Terms::default()),
        Err(Refusal::Loop { agent: "ada".into() }),
        "exactly this was handed over before"
    );
    bench.settings.max_depth = 2;
    assert_eq!(bench.hand_over(bea, "cy", "five", &Terms::default()), Err(Refusal::Depth { most: 2 }));
    bench.settings.max_fan_out = 2;
    bench.hand_over(boss, "dan", "six", &Terms::default()).expect("it should be permitted");
    assert_eq!(bench.hand_over(boss, "eva", "seven", &Terms::default()), Err(Refusal::FanOut { most: 2 }));
}

#[test]
fn the_delegating_agent_is_notified_when_a_person_stops_the_task() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada = bench.hand_over(boss, "ada", "count", &Terms::default()).expect("it should be permitted");
    bench.say(boss, "I wait.", &[]);
    bench.kernel.kill_agent(&"ada".into(), "a person stopped it", None);
    bench.tick();
    assert_eq!(
        bench.sent_reports(),
        [("ada", "boss", "no result of a task that you handed over (\"count\"): a person stopped it")]
    );
    assert!(bench.kernel.activation(ada).is_none());
}

#[test]
fn urgent_delegated_tasks_get_a_slot_first() {
    let mut bench = Bench::new();
    bench.settings.max_concurrent_activations = 1;
    let boss = bench.start("boss", "Plan");
    let low =
        bench.hand_over(boss, "ada", "one", &Terms { haste: TaskPriority::Low, ..Terms::default() }).expect("it may");
    let usual = bench.hand_over(boss, "bea", "two", &Terms::default()).expect("it may");
    let high =
        bench.hand_over(boss, "cy", "three", &Terms { haste: TaskPriority::High, ..Terms::default() }).expect("it may");
    bench.say(boss, "I wait.", &[]);
    let mut order = Vec::new();
    for _ in 0..12 {
        let next = bench.kernel.activations().find(|one| one.has_slot).map(|one| one.key);
        let Some(next) = next else { break };
        order.extend([low, usual, high].contains(&next).then_some(next));
        bench.say(next, "Done.", &[]);
    }
    assert_eq!(order, [high, usual, low]);
}

#[test]
fn the_owed_result_is_saved_and_restored() {
    let mut bench = Bench::new();
    let boss = bench.start("boss", "Plan");
    let ada = bench.hand_over(boss, "ada", "count", &wanting("chairs, tables")).expect("it should be permitted");
    bench.say(ada, "Twelve.", &[]);
    let text = serde_json::to_string(&bench.kernel).expect("the kernel can be saved");
    let again: super::Kernel = serde_json::from_str(&text).expect("it should be readable again");
    assert_eq!(again, bench.kernel);
    assert!(again.thread(ada).and_then(|thread| thread.handed.as_ref()).is_some_and(|handed| handed.was_sent_back));
}
