//! Tests of the log index.

use super::*;
use crate::log::events::{
    Abort, ActWay, Acted, CallFailure, Complete, Error, RequestFailed, Touch, Warning, WorkFailed,
};
use crate::log::{Event, EventDraft, EventRecord};

/// Returns a record of `ada-1` in the activation `act-<activation>`.
fn record(seq: u64, activation: u64, cause: u64, event: impl Into<Event>) -> EventRecord {
    let draft = EventDraft::from(event.into()).agent(&"ada-1".into()).activation(&format!("act-{activation}").into());
    EventRecord { seq: Seq(seq), tick: seq, time_ms: seq * 1_000, run: "r".into(), draft: draft.cause(Seq(cause)) }
}

fn task(text: &str) -> Activation {
    Activation { task: text.into(), ..Activation::default() }
}

fn book(records: &[EventRecord]) -> EventList {
    let mut book = EventList::default();
    records.iter().for_each(|record| book.push(record));
    book
}

#[test]
fn work_is_indexed_with_its_calls() {
    let mut book = book(&[
        record(1, 1, 0, task("Write\nit")),
        record(2, 1, 1, ModelCall::default()),
        record(3, 1, 1, Complete { turns: 2, tokens: 1_240, ..Complete::default() }),
        record(4, 4, 0, task("Again")),
        record(5, 0, 0, Abort { turns: 1, what: "a person".into(), ..Abort::default() }),
    ]);
    let mut log_index = LogIndex::default();
    assert!(!log_index.update(&book));
    let descriptions = |log_index: &LogIndex| -> Vec<String> {
        let works = log_index.agent("ada-1").unwrap().works.iter();
        works.map(|work| format!("{} {}: {}", work.activation, work.task(), work.ending())).collect()
    };
    let wanted = [
        "act-1 Write it: done, 2 turns, 1.2 k tokens",
        "act-4 Again: unfinished",
        "act-0 act-0: stopped, 1 turn, 0 tokens",
    ];
    assert_eq!(descriptions(&log_index), wanted);
    book.push(&record(6, 4, 0, Error::Request(RequestFailed { what: "no key".into(), ..RequestFailed::default() })));
    book.push(&record(7, 4, 0, Error::Problem(Warning::new("no YAML").into())));
    log_index.update(&book);
    assert_eq!(
        descriptions(&log_index)[1],
        "act-4 Again: unfinished",
        "a request that is refused is not the end of the work"
    );
    book.push(&record(8, 4, 0, Error::Work(WorkFailed { turns: 3, ..WorkFailed::default() })));
    log_index.update(&book);
    log_index.update(&book);
    assert_eq!(descriptions(&log_index)[1], "act-4 Again: failed, 3 turns, 0 tokens");
    assert_eq!(log_index.agent("ada-1").unwrap().calls.len(), 1, "nothing is indexed twice");
    assert!(log_index.agent("bram-1").is_none());
    book.clear();
    log_index.update(&book);
    assert!(log_index.agent("ada-1").is_none(), "another log, another index");
}

#[test]
fn readers_are_indexed_once_the_tool_has_answered() {
    let call = |seq, path: &str| {
        let touches = vec![Touch::new("file.read", path)];
        record(seq, 1, 0, ToolCall { tool: "docs_open".into(), touches, ..ToolCall::default() })
    };
    let result = |seq, cause, ok: bool| record(seq, 1, cause, ToolResult { ok, ..ToolResult::default() });
    let book = book(&[
        call(1, "a.md"),
        call(2, "b.md"),
        call(3, "c.md"),
        result(4, 1, true),
        result(5, 2, false),
        record(6, 1, 0, FileChange { from: Some("a.md".into()), ..FileChange::new("d.md", "user") }),
    ]);
    let mut log_index = LogIndex::default();
    log_index.update(&book);
    let readers = |path: &str| log_index.readers(path).map(|(agent, _)| agent.to_string()).collect::<Vec<_>>();
    assert_eq!(readers("d.md"), ["ada-1"], "a renamed file is the same file");
    for path in ["a.md", "b.md", "c.md", ""] {
        assert!(readers(path).is_empty(), "{path}");
    }
}

#[test]
fn a_long_log_is_indexed_over_several_frames() {
    let records: Vec<EventRecord> = (0..50_000).map(|seq| record(seq, 1, 0, ModelCall::default())).collect();
    let book = book(&records);
    let mut log_index = LogIndex::default();
    let frames = (1..10).find(|_| !log_index.update(&book)).unwrap();
    assert_eq!(frames, 3);
    let calls = &log_index.agent("ada-1").unwrap().calls;
    assert_eq!((calls.len(), calls.back().map(|row| row.seq)), (MAX_CALLS_PER_AGENT, Some(Seq(49_999))));
}

#[test]
fn a_call_is_described_with_its_model_and_result() {
    let facts = |call: ModelCall| CallFacts::of(&EventRow::of(&record(1, 1, 0, call)));
    let good = facts(ModelCall {
        kind: "task".into(),
        provider: "openai".into(),
        model: "small".into(),
        tokens_in: Some(1_240),
        tokens_out: Some(80),
        duration_ms: 1_430,
        finish: Some(Some("tool_calls".into())),
        ..ModelCall::default()
    });
    assert_eq!((good.title.as_str(), good.error.as_str()), ("task · openai · small", ""));
    assert_eq!(good.about, "1.2 k in, 80 out, 1.4 s, tool calls");
    let failure =
        CallFailure { what: "no answer came".into(), remedy: Some("try again".into()), ..CallFailure::default() };
    let bad = facts(ModelCall {
        kind: "read".into(),
        provider: "offline".into(),
        model: "offline".into(),
        duration_ms: 65_000,
        error: Some(failure),
        ..ModelCall::default()
    });
    assert_eq!((bad.title.as_str(), bad.about.as_str()), ("read · offline", "0 in, 0 out, 1 min, failed"));
    assert_eq!(bad.error, "no answer came. What to do: try again.");
    assert_eq!(facts(ModelCall::default()).title, "call");
}

#[test]
fn a_plan_is_kept_for_the_duration_of_its_work() {
    use crate::gateway::acp::log_events::AgentPlanReported;
    use crate::mind::PlanStep;
    let of = |seq: u64, steps: &[&str]| {
        let step = |text: &&str| PlanStep { text: (*text).into(), status: "pending".into() };
        let plan = AgentPlanReported { steps: steps.iter().map(step).collect() };
        let draft = EventDraft::of(&plan).agent(&"ada-1".into()).activation(&"act-1".into());
        EventRecord { seq: Seq(seq), tick: seq, time_ms: 0, run: "r".into(), draft }
    };
    let mut book = book(&[record(1, 1, 0, task("Write it")), of(2, &["Look"]), of(3, &["Look", "Write"])]);
    let mut log_index = LogIndex::default();
    log_index.update(&book);
    assert_eq!(log_index.agent("ada-1").unwrap().plan.len(), 2);
    book.push(&record(5, 2, 0, task("Something else")));
    log_index.update(&book);
    assert_eq!(log_index.agent("ada-1").unwrap().plan.len(), 0);
}

#[test]
fn the_acts_of_a_call_say_whether_they_were_called_or_written() {
    let acted = |way, act: &str| Acted { way, acts: vec![act.to_owned(), "Noted “b”.".to_owned()] };
    let at = |seq, tick, event: Event| EventRecord { tick, ..record(seq, 1, 3, event) };
    let book = book(&[
        at(10, 7, ModelCall::default().into()),
        at(11, 7, acted(ActWay::Call, "Pinned “a”.").into()),
        at(12, 7, acted(ActWay::Marker, "Pinned “c”.").into()),
        at(13, 9, ModelCall::default().into()),
        EventRecord { tick: 9, ..record(14, 2, 3, acted(ActWay::Call, "Pinned “d”.")) },
    ]);
    let mut log_index = LogIndex::default();
    log_index.update(&book);
    let agent_log = log_index.agent("ada-1").expect("it acted");
    let acts: Vec<Vec<String>> = agent_log.calls.iter().map(|call| agent_log.acts_of(call).collect()).collect();
    let wanted = [
        vec![
            "By calling functions: Pinned “a”. Noted “b”.".to_owned(),
            "By markers in its text: Pinned “c”. Noted “b”.".to_owned(),
        ],
        Vec::new(),
    ];
    assert_eq!(acts, wanted, "those of other work are not its own");
}
