//! Tests of the progress rules, and of replies and requests that are too long.

use serde_json::json;

use super::activation::{CallProgress, Phase};
use super::core::NoReply;
use super::tests::Bench;
use crate::base::{ActivationKey, RunTag};
use crate::mind::{CallEnd, Ending, Role, ToolCall, WorkReply};

/// Takes one step with these calls, each with its result and whether it changed a file.
fn step(bench: &mut Bench, key: ActivationKey, calls: &[(&str, &str, bool)]) {
    let paths: Vec<&str> = calls.iter().map(|(path, ..)| *path).collect();
    bench.say(key, "", &paths);
    for (index, (_, text, has_changed)) in calls.iter().enumerate() {
        let turn = bench.kernel.activation(key).expect("it should continue").turn;
        if *has_changed {
            bench.kernel.note_change((key, turn, index), "artifacts/a.md");
        }
        bench.answer_with(key, (turn, index), text);
    }
}

fn is_over(bench: &Bench, key: ActivationKey) -> bool {
    bench.kernel.activation(key).is_none()
}

fn last_told(bench: &Bench, key: ActivationKey) -> String {
    let messages = &bench.kernel.activation(key).expect("it should continue").messages;
    messages.iter().rev().find(|one| one.role == Role::User).expect("somebody spoke").text.clone()
}

#[test]
fn reading_a_changed_file_again_is_progress() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    for (read, edit) in [("one", "Edited 1"), ("two", "Edited 2"), ("one", "Edited 3"), ("two", "Edited 4")] {
        step(&mut bench, key, &[("read a", read, false)]);
        step(&mut bench, key, &[(edit, "Edited 'a' (3 chars)", true)]);
    }
    assert_eq!(*bench.phase(key), Phase::Asking);
}

#[test]
fn repeating_a_write_over_someone_elses_change_is_progress() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    for _ in 0..3 {
        step(&mut bench, key, &[("write a", "Written to 'a' (1 chars)", true)]);
    }
    assert_eq!(*bench.phase(key), Phase::Asking);
    assert_eq!(bench.kernel.activation(key).map(|one| one.strikes), Some(0));
}

#[test]
fn alternating_between_two_states_is_not_progress() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    for _ in 0..20 {
        for text in ["one", "two"] {
            if !is_over(&bench, key) {
                step(&mut bench, key, &[("read a", text, false)]);
            }
        }
    }
    assert!(matches!(bench.ending(key), Ending::Aborted { why, .. } if why.contains("without progress")));
}

/// The number of strikes after a command returned the same result this often; `None` if the work was stopped.
/// `interrupted_in` returns the run in which each call was interrupted, if it was.
fn strikes_of(times: usize, interrupted_in: impl Fn(usize) -> Option<RunTag>) -> Option<u32> {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    for time in 0..times {
        bench.kernel.activation(key)?;
        bench.say(key, "", &["run a"]);
        let turn = bench.kernel.activation(key)?.turn;
        if let Some(run) = interrupted_in(time) {
            bench.kernel.note_interruption((key, turn, 0), run);
        }
        bench.answer_with(key, (turn, 0), "Error: it was stopped");
    }
    bench.kernel.activation(key).map(|one| one.strikes)
}

#[test]
fn an_interrupted_command_can_be_retried_a_few_times() {
    let in_one_run = |_| Some(RunTag::of("r-1"));
    assert_eq!(strikes_of(3, in_one_run), Some(0), "its server ended three times while it ran");
    assert_eq!(strikes_of(2, |_| None), Some(1), "the same failure is no progress");
    assert_eq!(strikes_of(20, in_one_run), None);
}

#[test]
fn a_command_that_each_run_of_the_program_interrupts_can_be_retried_in_the_next() {
    let in_its_own = |time| Some(RunTag::of(&format!("r-{time}")));
    assert_eq!(strikes_of(20, in_its_own), Some(0));
}

#[test]
fn a_call_whose_result_was_left_out_can_be_repeated_a_few_times() {
    let mut bench = Bench::new();
    bench.settings.max_session_chars = 4_000;
    let key = bench.start("ada", "x");
    let long = "word ".repeat(1_500);
    let mut steps = 0;
    while !is_over(&bench, key) && steps < 40 {
        let name = ["read a", "read b"][steps % 2];
        step(&mut bench, key, &[(name, &format!("{name}: {long}"), false)]);
        steps += 1;
    }
    assert!((6..12).contains(&steps), "each of the two is read anew some times: {steps}");
    assert!(matches!(bench.ending(key), Ending::Aborted { why, .. } if why.contains("without progress")));
}

#[test]
fn a_supervisor_of_running_agents_is_told_to_wait_and_woken_later() {
    let mut bench = Bench::new();
    let key = bench.start("boss", "x");
    let child = bench.spawn(key, "kid", "dig").expect("it should be permitted");
    for text in ["nothing", "a.md", "a.md"] {
        step(&mut bench, key, &[("list", text, false)]);
    }
    assert!(last_told(&bench, key).contains("report to you automatically"), "{}", last_told(&bench, key));
    step(&mut bench, key, &[("list", "a.md", false)]);
    assert!(matches!(bench.ending(key), Ending::Completed { .. }), "{:?}", bench.ending(key));
    bench.say(child, "Dug.", &[]);
    let woken = bench.at_work("boss");
    assert_eq!(last_told(&bench, woken), "Signal from kid: finished: Dug.");
}

#[test]
fn polling_while_a_message_arrives_is_not_a_strike() {
    let mut bench = Bench::new();
    let key = bench.start("boss", "x");
    let child = bench.spawn(key, "kid", "dig").expect("it should be permitted");
    step(&mut bench, key, &[("list", "a.md", false)]);
    bench.say(key, "", &["list"]);
    assert_eq!(bench.signal(child, "halfway"), Ok(false));
    let turn = bench.kernel.activation(key).expect("it should continue").turn;
    bench.answer_with(key, (turn, 0), "a.md");
    assert_eq!(bench.kernel.activation(key).map(|one| one.strikes), Some(0));
    assert_eq!(last_told(&bench, key), "Signal from kid: halfway");
}

fn reply(bench: &mut Bench, key: ActivationKey, reply: WorkReply) {
    let turn = bench.kernel.activation(key).expect("it should continue").turn;
    bench.kernel.replied(key, turn, reply, &bench.settings);
    bench.tick();
}

fn cut(bench: &mut Bench, key: ActivationKey, leading: &str, text: &str, tool_calls: Vec<ToolCall>) {
    let (leading, text) = (leading.to_owned(), text.to_owned());
    reply(bench, key, WorkReply { text, leading, tool_calls, cut_at_tokens: Some(100), ..WorkReply::default() });
}

#[test]
fn truncated_text_is_continued_and_the_result_is_the_whole_text() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    cut(&mut bench, key, "", "One sen", Vec::new());
    assert_eq!(*bench.phase(key), Phase::Asking);
    let told = last_told(&bench, key);
    assert!(told.contains("cut off at the limit of 100 tokens") && told.contains("Continue exactly"), "{told}");
    cut(&mut bench, key, "", "tence. And", Vec::new());
    assert_eq!(bench.kernel.activation(key).map(|one| one.strikes), Some(0), "it is not called a standstill");
    reply(&mut bench, key, WorkReply { text: "more.".into(), leading: " ".into(), ..WorkReply::default() });
    assert_eq!(*bench.ending(key), Ending::Completed { text: "One sentence. And more.".into() });
}

#[test]
fn in_a_truncated_reply_complete_calls_run_and_an_incomplete_one_gets_an_error() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    let whole = ToolCall::new("c0", "vfs_write", json!({ "path": "a.md", "content": "a" }));
    for half in [json!("{\"path\": \"b.md\", \"content\": \"b and"), json!({})] {
        let half = ToolCall::new("c1", "vfs_write", half);
        cut(&mut bench, key, "", "I write.", vec![whole.clone(), half]);
        let Phase::Calling { calls } = bench.phase(key) else { panic!("it calls") };
        assert_eq!(calls[0].progress, CallProgress::Running);
        let CallProgress::Answered(told) = &calls[1].progress else { panic!("{calls:?}") };
        assert!(told.contains("was not carried out") && told.contains("100 tokens") && told.contains("vfs_append"));
        bench.answer(key, 0);
        assert_eq!(*bench.phase(key), Phase::Asking);
    }
    cut(&mut bench, key, "", "", vec![whole]);
    bench.answer(key, 0);
    let told = last_told(&bench, key);
    assert!(told.contains("The calls shown were carried out"), "{told}");
}

#[test]
fn too_many_truncated_replies_end_the_work_and_name_the_settings() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    for _ in 0..4 {
        cut(&mut bench, key, "", "and so on", Vec::new());
        assert_eq!(*bench.phase(key), Phase::Asking);
    }
    cut(&mut bench, key, "", "and so on", Vec::new());
    let why = bench.ending(key).why().unwrap_or_default().to_owned();
    assert!(why.contains("5 replies") && why.contains("mind.max_work_output_tokens"), "{why}");
    let key = bench.start("ben", "x");
    for n in 0..9 {
        cut(&mut bench, key, "", "a part", Vec::new());
        reply(
            &mut bench,
            key,
            WorkReply { tool_calls: vec![ToolCall::new("c", "t", json!({ "n": n }))], ..Default::default() },
        );
        bench.answer(key, 0);
    }
    assert!(!is_over(&bench, key), "a whole reply in between begins the count anew");
}

#[test]
fn an_empty_reply_is_answered_with_the_reason() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    reply(&mut bench, key, WorkReply { was_filtered: true, ..WorkReply::default() });
    assert!(last_told(&bench, key).contains("filter blocked your last reply"));
    let key = bench.start("ben", "x");
    cut(&mut bench, key, "", "", Vec::new());
    assert!(last_told(&bench, key).contains("before it said anything"));
}

#[test]
fn a_reply_that_the_filter_blocked_is_no_result_and_a_person_is_told_what_came_of_it() {
    for (text, expected) in [
        ("I can't help\nwith that.", "; all of it that came was: “I can't help with that.”"),
        ("", "the provider's filter blocked the reply, or the model refused"),
    ] {
        let mut bench = Bench::new();
        let key = bench.start("ada", "x");
        let mut times = 0;
        while !is_over(&bench, key) {
            reply(&mut bench, key, WorkReply { text: text.into(), was_filtered: true, ..WorkReply::default() });
            times += 1;
            assert!(times <= bench.settings.max_strikes, "it is never given up");
        }
        let Ending::Aborted { why, by_person: false } = bench.ending(key) else { panic!("{:?}", bench.ending(key)) };
        assert!(why.contains("without progress") && why.ends_with(expected), "{why}");
    }
}

#[test]
fn a_rejected_request_with_images_is_retried_once_without_them() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    let refused = || NoReply::Rejected { why: "no images".into() };
    bench.kernel.note_images_sent(key, true);
    bench.fail(key, refused());
    let activation = bench.kernel.activation(key).expect("it should continue");
    assert!(activation.is_without_images && activation.phase == Phase::Asking);
    bench.fail(key, refused());
    assert_eq!(*bench.ending(key), Ending::Failed { why: "no images".into() }, "it was not the images");
}

#[test]
fn a_request_that_is_too_long_is_retried_with_less_of_the_session() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    let too_long = |sent_chars| NoReply::TooLong { sent_chars, why: "maximum context length".into() };
    for (sent, shorter) in [(40_000, 20_000), (20_000, 10_000), (9_000, 4_500)] {
        bench.fail(key, too_long(sent));
        assert_eq!(*bench.phase(key), Phase::Asking);
        let activation = bench.kernel.activation(key).expect("it should continue");
        assert_eq!((activation.session_chars_at_most, activation.turn), (Some(shorter), 1), "the same question");
    }
    bench.fail(key, too_long(4_000));
    assert_eq!(*bench.ending(key), Ending::Failed { why: "maximum context length".into() });
    let key = bench.start("ben", "x");
    bench.fail(key, too_long(40_000));
    bench.say(key, "", &["a.md"]);
    bench.answer(key, 0);
    assert_eq!(bench.kernel.activation(key).map(|one| one.refused_lengths), Some(0), "an answer begins the count anew");
    assert_eq!(bench.kernel.activation(key).and_then(|one| one.session_chars_at_most), Some(20_000), "it stays short");
    let key = bench.start("cem", "x");
    bench.fail(key, too_long(300));
    assert!(matches!(bench.ending(key), Ending::Failed { .. }), "the session is not what is too long");
}

/// A reply whose calls at these positions have been answered already.
fn answered(calls: &[&str], answers: &[(usize, &str)]) -> WorkReply {
    let calls = calls.iter().enumerate();
    let tool_calls = calls.map(|(at, name)| ToolCall::new(format!("c{at}"), *name, json!({ "text": "a" }))).collect();
    let answered = answers.iter().map(|(at, text)| (*at, ((*text).to_owned(), CallEnd::Done))).collect();
    WorkReply { tool_calls, answered, ..WorkReply::default() }
}

fn results(bench: &Bench, key: ActivationKey) -> Vec<(String, Option<CallEnd>)> {
    let messages = &bench.kernel.activation(key).expect("it should continue").messages;
    messages.iter().filter(|one| one.role == Role::Tool).map(|one| (one.text.clone(), one.end)).collect()
}

#[test]
fn calls_that_were_answered_already_get_their_results_and_are_not_carried_out() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    reply(&mut bench, key, answered(&["remember", "pin"], &[(0, "Noted “a”."), (1, "Pinned “a”.")]));
    assert_eq!(*bench.phase(key), Phase::Asking, "the model is asked for the rest");
    let wanted = [("Noted “a”.".to_owned(), Some(CallEnd::Done)), ("Pinned “a”.".to_owned(), Some(CallEnd::Done))];
    assert_eq!(results(&bench, key), wanted);
    assert_eq!(bench.kernel.activation(key).map(|one| one.strikes), Some(0));
}

#[test]
fn calls_that_were_answered_already_wait_for_the_others_of_their_reply() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    reply(&mut bench, key, answered(&["remember", "vfs_read"], &[(0, "Noted “a”.")]));
    let Phase::Calling { calls } = bench.phase(key) else { panic!("{:?}", bench.phase(key)) };
    assert_eq!(calls[0].progress, CallProgress::Answered("Noted “a”.".into()));
    assert_eq!(calls[1].progress, CallProgress::Running);
    let turn = bench.kernel.activation(key).expect("it should continue").turn;
    bench.answer_with(key, (turn, 1), "# A");
    let texts: Vec<String> = results(&bench, key).into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts, ["Noted “a”.", "# A"]);
}

#[test]
fn repeating_the_same_act_is_no_progress() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "x");
    for _ in 0..20 {
        if !is_over(&bench, key) {
            reply(&mut bench, key, answered(&["remember"], &[(0, "Noted “a”.")]));
        }
    }
    assert!(matches!(bench.ending(key), Ending::Aborted { why, .. } if why.contains("without progress")));
}
