//! Tests of caps by scope, of stopping and pausing by a person, and of reports to parents.

use super::activation::{CapWait, Phase};
use super::core::NoReply;
use super::spawn_limits::Refusal;
use super::tests::{Bench, number_of};
use crate::base::Seq;
use crate::mind::{CapScope, Ending};
use crate::tools::Terms;

#[test]
fn a_cap_of_the_room_stops_all_work_until_it_allows_more() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    bench.fail(key, over(CapScope::Run, None));
    assert_eq!(bench.kernel.stopped_by(), Some("the cap is reached"));
    assert_eq!(*bench.phase(key), Phase::Due);
    bench.kernel.set_paused(false);
    bench.tick();
    assert_eq!(*bench.phase(key), Phase::Due, "to ask again would be refused again");
    bench.kernel.resume_capped_work();
    bench.tick();
    assert_eq!(*bench.phase(key), Phase::Asking);
}

fn over(scope: CapScope, wait: Option<CapWait>) -> NoReply {
    NoReply::OverBudget { scope, wait, why: "the cap is reached".into() }
}

#[test]
fn a_cap_of_an_agent_or_activation_ends_only_that_work() {
    for scope in [CapScope::Activation, CapScope::AgentRun, CapScope::Hour, CapScope::AgentHour] {
        let mut bench = Bench::new();
        let root = bench.start("boss", "go");
        let greedy = bench.spawn(root, "greedy", "a lot").expect("it should be permitted");
        let modest = bench.spawn(root, "modest", "a little").expect("it should be permitted");
        bench.say(root, "I wait.", &[]);
        // Hourly caps for which waiting does not help.
        bench.fail(greedy, over(scope, None));
        let limited = Ending::Aborted { why: "the cap is reached".into(), by_person: false };
        assert_eq!((bench.ending(greedy), bench.ending(greedy).as_str()), (&limited, "limited"), "{scope:?}");
        assert_eq!(bench.sent_reports(), [("greedy", "boss", "was stopped: the cap is reached")], "{scope:?}");
        assert_eq!(bench.kernel.stopped_by(), None, "{scope:?}");
        bench.say(modest, "Done.", &[]);
        assert_eq!(*bench.ending(modest), Ending::Completed { text: "Done.".into() }, "{scope:?}");
    }
}

#[test]
fn an_hourly_cap_delays_work_until_it_allows_more() {
    for scope in [CapScope::Hour, CapScope::AgentHour] {
        let mut bench = Bench::new();
        bench.settings.max_concurrent_activations = 1;
        let (key, other) = (bench.start("ada", "x"), bench.start("ben", "x"));
        bench.now = 1_799;
        bench.fail(key, over(scope, Some(CapWait { minutes: 2, is_outside: false })));
        assert_eq!(bench.kernel.waits_for_cap(Some(key)), Some("the cap is reached"));
        assert_eq!(*bench.phase(other), Phase::Asking, "its place is free for others");
        bench.say(other, "Done.", &[]);
        bench.now = 3_590;
        bench.tick();
        assert_eq!(*bench.phase(key), Phase::Due, "the second minute is not over");
        bench.now = 3_600;
        bench.tick();
        assert_eq!(*bench.phase(key), Phase::Asking);
        assert_eq!((bench.kernel.waits_for_cap(Some(key)), bench.kernel.stopped_by()), (None, None));
    }
}

#[test]
fn caps_in_real_time_count_real_minutes_and_changed_caps_are_retried_at_once() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    bench.fail(key, over(CapScope::Hour, Some(CapWait { minutes: 2, is_outside: true })));
    bench.now += 1_000_000;
    bench.kernel.minute_passed();
    bench.tick();
    assert_eq!(*bench.phase(key), Phase::Due, "however fast the room's own time passes");
    bench.kernel.minute_passed();
    bench.tick();
    assert_eq!(*bench.phase(key), Phase::Asking);
    bench.kernel.note_caps(7);
    bench.fail(key, over(CapScope::Hour, Some(CapWait { minutes: 60, is_outside: true })));
    bench.kernel.note_caps(7);
    bench.tick();
    assert_eq!(*bench.phase(key), Phase::Due, "they are the same");
    bench.kernel.note_caps(8);
    bench.tick();
    assert_eq!(*bench.phase(key), Phase::Asking);
}

#[test]
fn a_parent_is_notified_once_everything_started_by_its_child_has_ended() {
    let mut bench = Bench::new();
    let root = bench.start("boss", "go");
    let child = bench.spawn(root, "kid", "dig").expect("it should be permitted");
    let (one, other) = (
        bench.spawn(child, "tot", "left").expect("it should be permitted"),
        bench.spawn(child, "tim", "right").expect("it should be permitted"),
    );
    bench.say(root, "I wait.", &[]);
    bench.say(child, "I wait too.", &[]);
    assert_eq!(bench.sent_reports(), [], "the child only waits");
    bench.say(one, "Left.", &[]);
    assert_eq!(bench.sent_reports(), [("tot", "kid", "finished: Left.")]);
    let again = bench.at_work("kid");
    bench.say(again, "Half.", &[]);
    assert_eq!(bench.sent_reports().len(), 1, "one of its own is still at it");
    bench.say(other, "Right.", &[]);
    let again = bench.at_work("kid");
    bench.say(again, "Both.", &[]);
    assert_eq!(bench.sent_reports()[1..], [("tim", "kid", "finished: Right."), ("kid", "boss", "finished: Both.")]);
    let boss = bench.at_work("boss");
    bench.say(boss, "Fine.", &[]);
    assert!(bench.kernel.is_idle());
}

#[test]
fn a_parent_gets_its_childs_last_text_if_a_person_stopped_what_the_child_waited_for() {
    let mut bench = Bench::new();
    let root = bench.start("boss", "go");
    let child = bench.spawn(root, "kid", "dig").expect("it should be permitted");
    let grandchild = bench.spawn(child, "tot", "deep").expect("it should be permitted");
    bench.say(root, "I wait.", &[]);
    bench.say(child, "I wait too.", &[]);
    bench.kernel.kill(grandchild, "a person", None);
    bench.tick();
    assert_eq!(bench.sent_reports(), [("kid", "boss", "finished: I wait too.")]);
}

#[test]
fn equal_signals_about_different_work_are_not_a_loop() {
    let mut bench = Bench::new();
    let root = bench.start("boss", "go");
    for task in ["left", "right"] {
        let child = bench.spawn(root, "kid", task).expect("it should be permitted");
        assert_eq!(bench.signal(child, "done"), Ok(false), "{task}");
        assert!(matches!(bench.signal(child, "done"), Err(Refusal::Loop { .. })), "the same twice");
        bench.say(child, "Over.", &[]);
    }
}

#[test]
fn work_stopped_by_a_person_is_not_woken_by_its_childrens_reports() {
    // Once while it is working, and once while it is only waiting for its children.
    for waits in [false, true] {
        let mut bench = Bench::new();
        let root = bench.start("boss", "go");
        let loud = bench.spawn(root, "kid", "dig").expect("it should be permitted");
        let silent = bench.spawn(root, "tim", "dig").expect("it should be permitted");
        if waits {
            bench.say(root, "I wait.", &[]);
        }
        bench.kernel.kill_agent(&"boss".into(), "a person", None);
        bench.tick();
        let (key, now) = (bench.key(), bench.now);
        let told = bench
            .kernel
            .signal(loud, "found it", &Terms::default(), (key, now, Seq(1)), &bench.settings)
            .expect("it is heard");
        assert!(told.is_kept && !told.woke);
        bench.say(loud, "Over.", &[]);
        bench.say(silent, "Over.", &[]);
        let late = bench.reports.last().expect("it should be reported").clone();
        assert!(late.delivered.is_kept && !late.delivered.woke && &*late.from == "tim");
        assert!(bench.kernel.is_idle(), "nothing began");
        let kept = &bench.kernel.thread(root).expect("it is known").messages;
        let kept: Vec<&str> = kept.iter().rev().take(3).map(|message| message.text.as_str()).collect();
        let expected =
            ["Signal from tim: finished: Over.", "Signal from kid: finished: Over.", "Signal from kid: found it"];
        assert_eq!(kept, expected);
        bench.kernel.forget_finished_runs();
        let anew = bench.start("boss", "again");
        assert_eq!(*bench.phase(anew), Phase::Asking, "a person may give it something else");
    }
}

#[test]
fn paused_work_releases_its_slot_and_continues_when_resumed() {
    let mut bench = Bench::new();
    let keys = ["a", "b", "c"].map(|agent| bench.start(agent, "x"));
    for key in keys {
        bench.say(key, "", &["a.md", "b.md"]);
    }
    bench.held = ["a", "b", "c"].map(number_of).into();
    let late = bench.start("d", "x");
    assert_eq!(*bench.phase(late), Phase::Due, "a call that is under way keeps its place");
    for key in keys {
        bench.answer(key, 0);
    }
    assert_eq!(*bench.phase(late), Phase::Asking);
    assert_eq!((bench.kernel.slots_in_use(), bench.performed(keys[0])), (1, vec![0]));
    bench.tick();
    bench.held.clear();
    bench.tick();
    assert_eq!(bench.performed(keys[0]), [0, 1], "nothing else had to happen");
    assert_eq!(bench.kernel.slots_in_use(), 3);
}
