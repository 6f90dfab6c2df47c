//! The JSON of records is stable: records of earlier versions are parsed and written back byte for byte, and nothing is
//! lost.

use serde_json::Value;

use super::*;
use crate::base::{Id, Seq};
use crate::log::EventRecord;

/// Records of versions before events were typed: every shape of every kind, and runs with the offline and the scripted
/// provider.
pub(crate) const WRITTEN: &str = include_str!("../fixtures/written.jsonl");

/// Parses the record of a line of an exported log.
pub(crate) fn record(line: &str) -> EventRecord {
    #[derive(Deserialize)]
    struct Line {
        seq: Seq,
        tick: u64,
        run: Id,
        r#type: String,
        agent: Option<Id>,
        activation: Option<Id>,
        session: Option<Id>,
        cause: Option<Seq>,
        data: Box<serde_json::value::RawValue>,
    }
    let line: Line = serde_json::from_str(line).expect("it is a line of a log");
    let mut draft = EventDraft::from_stored(EventKind::from_name(&line.r#type), EventJson::of(&line.data));
    (draft.agent, draft.activation, draft.session, draft.cause) =
        (line.agent, line.activation, line.session, line.cause);
    EventRecord { seq: line.seq, tick: line.tick, time_ms: 0, run: line.run, draft }
}

fn kept(data: &str) -> EventJson {
    EventJson::from_stored(data.to_owned()).expect("it is JSON")
}

fn rewritten(record: &EventRecord) -> String {
    EventDraft::from(record.event()).data().as_json().to_owned()
}

#[test]
fn recorded_events_round_trip_byte_for_byte() {
    for line in WRITTEN.lines() {
        let record = record(line);
        assert!(!matches!(record.event(), Event::Unknown(_)), "it is understood: {line}");
        assert_eq!(record.event().kind(), record.draft.kind);
        // Error records name their variant; earlier ones did not.
        let written = rewritten(&record);
        let written = ["work", "request", "problem"].iter().fold(written, |written, of| {
            if record.draft.kind == EventKind::Error {
                written.replacen(&format!("\"of\":\"{of}\","), "", 1)
            } else {
                written
            }
        });
        assert_eq!(written, record.draft.data().as_json());
    }
}

#[test]
fn every_kind_is_among_the_recorded_events() {
    for kind in EventKind::ALL {
        assert_eq!(EventKind::from_name(kind.as_str()), *kind);
        assert_eq!(EventKind::ALL_AND_OTHERS[kind.index()], *kind);
        assert!(WRITTEN.lines().any(|line| record(line).draft.kind == *kind), "{kind:?}");
    }
}

#[test]
fn an_error_is_failed_work_or_a_request_or_a_file() {
    let read = |data: &str| match Event::parse(&EventKind::Error, &kept(data)) {
        Event::Error(error) => error,
        other => panic!("{other:?}"),
    };
    let old = read(r#"{"turns":3,"calls":3,"tokens":9,"cost_usd":null,"what":"no answer"}"#);
    assert_eq!(old.work().map(|failed| failed.turns), Some(3));
    let draft = EventDraft::of(&old);
    let written = draft.data().as_json();
    assert!(written.starts_with(r#"{"of":"work","turns":3,"#), "{written}");
    assert_eq!(read(written), old);
    let request = read(r#"{"kind":"read","what":"no such model","remedy":"choose another"}"#);
    assert!(matches!(&request, Error::Request(failed) if failed.kind == "read"));
    let problem = read(r#"{"place":"a.md","line":3,"what":"no YAML","remedy":"write YAML"}"#);
    assert!(matches!(&problem, Error::Problem(problem) if problem.line == Some(Some(3))));
    for error in [request, problem] {
        assert_eq!(read(EventDraft::of(&error).data().as_json()), error, "new records say which they are");
    }
    let newer = r#"{"of":"weather","what":"rain"}"#;
    assert!(matches!(Event::parse(&EventKind::Error, &kept(newer)), Event::Unknown(_)), "a fourth is not known");
}

#[test]
fn unknown_events_are_kept_unchanged() {
    let cases = [
        ("tea_break", r#"{"biscuits":3}"#),
        ("message", r#"{"text":{"words":[]}}"#),
        ("memory", r#"{"change":"dreamt","of":"sheep"}"#),
        ("model_call", "[1, 2]"),
        ("state", "null"),
        ("", "{}"),
    ];
    let long = "x".repeat(10_000);
    for (word, data) in cases.into_iter().chain([(long.as_str(), "{}")]) {
        let kind = EventKind::from_name(word);
        let event = Event::parse(&kind, &kept(data));
        assert!(matches!(&event, Event::Unknown(_)), "{word}");
        let draft = EventDraft::from(event);
        assert_eq!((draft.kind.as_str(), draft.data().as_json()), (word, data));
    }
}

#[test]
fn names_of_unknown_kinds_are_kept_with_their_records() {
    let word = |number: u32| format!("kind_of_another_version_{number}");
    let kinds: Vec<EventKind> = (0..100_000).map(|number| EventKind::from_name(&word(number))).collect();
    assert!(
        kinds.iter().zip(0..).all(|(kind, number)| kind.as_str() == word(number)),
        "there may be any number of them"
    );
    assert!(kinds.iter().all(|kind| matches!(kind, EventKind::Other(Word::Owned(_)))), "each is its record's own");
    assert!(kinds.iter().all(|kind| kind.index() == EventKind::ALL.len()), "all of them are one entry of a list");
}

#[test]
fn a_call_names_its_file_for_any_tool() {
    let call = |touches: &[(&'static str, &str)]| ToolCall {
        tool: "mcp_docs_open".into(),
        touches: touches.iter().map(|(kind, target)| Touch::new(*kind, *target)).collect(),
        ..ToolCall::default()
    };
    let told =
        |call: &ToolCall| (call.file_read().map(|path| path.to_string()), call.file().map(|path| path.to_string()));
    let some = |path: &str| Some(path.to_owned());
    assert_eq!(told(&call(&[("file.read", "a.md")])), (some("a.md"), some("a.md")));
    assert_eq!(told(&call(&[("file.read", "a.md"), ("file.write", "a.md")])), (None, some("a.md")), "it is edited");
    assert_eq!(told(&call(&[("file.find", "")])), (None, None));
    assert_eq!(told(&call(&[("net.fetch", "example.org/a.md")])), (None, None));
    assert!(call(&[("agent.spawn", "agents/ada.md")]).starts_agent());
    let old = |tool: &str, target: &str| {
        told(&ToolCall { tool: tool.into(), target: Some(target.into()), ..ToolCall::default() })
    };
    assert_eq!(old("vfs_read", "a.md"), (some("a.md"), some("a.md")), "old logs tell the tool alone");
    assert_eq!(old("vfs_write", "artifacts/a-very-long-na…"), (None, None), "it was cut");
    assert_eq!(old("vfs_list", "all files"), (None, None));
}

#[test]
fn only_finished_work_is_an_end_of_work() {
    let outcome = |event: Event| event.work_end().map(|end| end.outcome);
    assert_eq!(outcome(Complete::default().into()), Some(WorkOutcome::Completed));
    assert_eq!(outcome(Abort::default().into()), Some(WorkOutcome::Aborted));
    assert_eq!(outcome(Error::Work(WorkFailed::default()).into()), Some(WorkOutcome::Failed));
    assert_eq!(outcome(Error::Request(RequestFailed::default()).into()), None, "another request may be answered");
    assert_eq!(outcome(Error::Problem(Box::default()).into()), None);
    assert_eq!(outcome(Warning::default().into()), None);
}

#[test]
fn keys_of_older_and_newer_versions_are_tolerated() {
    let older = Event::parse(&EventKind::ToolCall, &kept(r#"{"tool":"vfs_write","path":"artifacts/a.md"}"#));
    assert!(matches!(&older, Event::ToolCall(call) if call.path.as_deref() == Some("artifacts/a.md")));
    let newer = Event::parse(&EventKind::Message, &kept(r#"{"text":"Hello","mood":"cheerful"}"#));
    assert_eq!(newer, Message { by: None, text: "Hello".into(), id: None }.into());
}

#[test]
fn an_export_has_the_documented_keys_in_order() {
    let line = WRITTEN.lines().find(|line| line.contains("\"cause\"")).expect("some have a cause");
    let keys = |line: &str| -> Vec<String> {
        let value: Value = serde_json::from_str(line).expect("it is JSON");
        value.as_object().expect("it is an object").keys().cloned().collect()
    };
    assert_eq!(keys(&serde_json::to_string(&record(line)).expect("it is plain data")), keys(line));
}
