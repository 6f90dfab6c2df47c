//! What is taken from the log.

use serde_json::json;

use super::*;
use crate::log::{EventDraft, EventRecord};

/// A record of `ada-1` in the piece of work `act-<activation>`.
fn record(seq: u64, kind: EventKind, activation: u64, cause: u64, data: Value) -> EventRecord {
    let draft = EventDraft::new(kind, data).agent(&"ada-1".into()).activation(&format!("act-{activation}").into());
    EventRecord { seq: Seq(seq), tick: seq, time_ms: seq * 1_000, run: "r".into(), draft: draft.cause(Seq(cause)) }
}

fn book(records: &[EventRecord]) -> EventBook {
    let mut book = EventBook::default();
    records.iter().for_each(|record| book.push(record));
    book
}

#[test]
fn work_begins_and_ends_and_its_calls_are_kept() {
    let mut book = book(&[
        record(1, EventKind::Activation, 1, 0, json!({ "task": "Write\nit" })),
        record(2, EventKind::ModelCall, 1, 1, json!({ "kind": "task" })),
        record(3, EventKind::Complete, 1, 1, json!({ "turns": 2, "tokens": 1_240 })),
        record(4, EventKind::Activation, 4, 0, json!({ "task": "Again" })),
        record(5, EventKind::Abort, 0, 0, json!({ "what": "a person" })),
    ]);
    let mut trail = Trail::default();
    assert!(!trail.follow(&book));
    let told = |trail: &Trail| -> Vec<String> {
        let works = trail.agent("ada-1").unwrap().works.iter();
        works.map(|work| format!("{} {}: {}", work.activation, work.task(), work.ending())).collect()
    };
    let wanted = ["act-1 Write it: done, 2 turns, 1.2 k tokens", "act-4 Again: not over", "act-0 act-0: stopped"];
    assert_eq!(told(&trail), wanted);
    book.push(&record(6, EventKind::Error, 4, 0, json!({ "what": "no answer" })));
    trail.follow(&book);
    trail.follow(&book);
    assert_eq!(told(&trail)[1], "act-4 Again: failed");
    assert_eq!(trail.agent("ada-1").unwrap().calls.len(), 1, "nothing is taken in twice");
    assert!(trail.agent("bram-1").is_none());
    book.clear();
    trail.follow(&book);
    assert!(trail.agent("ada-1").is_none(), "another log, another trail");
}

#[test]
fn who_read_a_file_is_known_once_the_tool_has_answered() {
    let call = |seq, path: &str| {
        record(seq, EventKind::ToolCall, 1, 0, json!({ "tool": "vfs_read", "target": path, "turn": 1 }))
    };
    let result =
        |seq, cause, ok: bool| record(seq, EventKind::ToolResult, 1, cause, json!({ "tool": "vfs_read", "ok": ok }));
    let book = book(&[
        call(1, "a.md"),
        call(2, "b.md"),
        call(3, "c.md"),
        result(4, 1, true),
        result(5, 2, false),
        record(6, EventKind::FileChange, 1, 0, json!({ "path": "d.md", "from": "a.md" })),
    ]);
    let mut trail = Trail::default();
    trail.follow(&book);
    let readers = |path: &str| trail.readers(path).map(|(agent, _)| agent.to_string()).collect::<Vec<_>>();
    assert_eq!(readers("d.md"), ["ada-1"], "a renamed file is the same file");
    for path in ["a.md", "b.md", "c.md", ""] {
        assert!(readers(path).is_empty(), "{path}");
    }
}

#[test]
fn a_long_log_is_taken_in_over_several_frames() {
    let records: Vec<EventRecord> =
        (0..50_000).map(|seq| record(seq, EventKind::ModelCall, 1, 0, json!({ "kind": "task" }))).collect();
    let book = book(&records);
    let mut trail = Trail::default();
    let frames = (1..10).find(|_| !trail.follow(&book)).unwrap();
    assert_eq!(frames, 3);
    let calls = &trail.agent("ada-1").unwrap().calls;
    assert_eq!((calls.len(), calls.back().map(|row| row.seq)), (CALLS_KEPT, Some(Seq(49_999))));
}

#[test]
fn a_call_says_who_was_asked_and_how_it_went() {
    let facts = |data| CallFacts::of(&EventRow::of(&record(1, EventKind::ModelCall, 1, 0, data)));
    let good = json!({ "kind": "task", "provider": "openai", "model": "small", "tokens_in": 1_240, "tokens_out": 80,
        "duration_ms": 1_430, "finish": "tool_calls" });
    let good = facts(good);
    assert_eq!((good.title.as_str(), good.error.as_str()), ("task · openai · small", ""));
    assert_eq!(good.about, "1.2 k in, 80 out, 1.4 s, tool calls");
    let bad = facts(json!({ "kind": "read", "provider": "offline", "model": "offline", "duration_ms": 65_000,
        "error": { "kind": "timeout", "what": "no answer came", "remedy": "try again" } }));
    assert_eq!((bad.title.as_str(), bad.about.as_str()), ("read · offline", "0 in, 0 out, 1 min, failed"));
    assert_eq!(bad.error, "no answer came. To do: try again.");
    assert_eq!(facts(json!({})).title, "call");
}
