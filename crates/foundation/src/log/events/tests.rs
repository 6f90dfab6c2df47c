//! The JSON of records holds: what programs wrote is read and written back byte for byte, and nothing is lost.

use serde_json::Value;

use super::*;
use crate::base::{Id, Seq};
use crate::log::EventRecord;

/// Records as programs wrote them before events were types: every shape of every kind, and runs with the offline and
/// the scripted provider.
pub(crate) const WRITTEN: &str = include_str!("../fixtures/written.jsonl");

/// The record of a line of an exported log.
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
        data: Box<RawValue>,
    }
    let line: Line = serde_json::from_str(line).expect("it is a line of a log");
    let kind = EventKind::from_word(&line.r#type).expect("it has a kind");
    let mut draft = EventDraft::new(kind, line.data);
    (draft.agent, draft.activation, draft.session, draft.cause) =
        (line.agent, line.activation, line.session, line.cause);
    EventRecord { seq: line.seq, tick: line.tick, time_ms: 0, run: line.run, draft }
}

fn rewritten(record: &EventRecord) -> String {
    EventDraft::from(record.event()).data.get().to_owned()
}

#[test]
fn what_was_written_is_read_and_written_back_byte_for_byte() {
    for line in WRITTEN.lines() {
        let record = record(line);
        assert!(!matches!(record.event(), Event::Unknown(_)), "it is understood: {line}");
        assert_eq!(record.event().kind(), record.draft.kind);
        // Errors say which they are; they did not.
        let written = rewritten(&record);
        let written = ["work", "request", "problem"].iter().fold(written, |written, of| {
            if record.draft.kind == EventKind::Error {
                written.replacen(&format!("\"of\":\"{of}\","), "", 1)
            } else {
                written
            }
        });
        assert_eq!(written, record.draft.data.get());
    }
}

#[test]
fn every_kind_is_among_what_was_written() {
    for kind in EventKind::ALL {
        assert_eq!(EventKind::from_word(kind.word()), Some(*kind));
        assert_eq!(EventKind::ALL_AND_OTHERS[kind.index()], *kind);
        assert!(WRITTEN.lines().any(|line| record(line).draft.kind == *kind), "{kind:?}");
    }
}

#[test]
fn an_error_says_whether_work_failed_or_a_request_or_a_file() {
    let read = |data: &str| match Event::parse(EventKind::Error, data) {
        Event::Error(error) => error,
        other => panic!("{other:?}"),
    };
    let old = read(r#"{"turns":3,"calls":3,"tokens":9,"cost_usd":null,"what":"no answer"}"#);
    assert_eq!(old.work().map(|failed| failed.turns), Some(3));
    let draft = EventDraft::of(&old);
    assert!(draft.data.get().starts_with(r#"{"of":"work","turns":3,"#), "{}", draft.data.get());
    assert_eq!(read(draft.data.get()), old);
    let request = read(r#"{"kind":"read","what":"no such model","remedy":"choose another"}"#);
    assert!(matches!(&request, Error::Request(failed) if failed.kind == "read"));
    let problem = read(r#"{"place":"a.md","line":3,"what":"no YAML","remedy":"write YAML"}"#);
    assert!(matches!(&problem, Error::Problem(problem) if problem.line == Some(Some(3))));
    for error in [request, problem] {
        assert_eq!(read(EventDraft::of(&error).data.get()), error, "new records say which they are");
    }
    let newer = r#"{"of":"weather","what":"rain"}"#;
    assert!(matches!(Event::parse(EventKind::Error, newer), Event::Unknown(_)), "a fourth is not known");
}

#[test]
fn what_this_version_cannot_read_is_kept_as_it_is() {
    let cases = [
        ("tea_break", r#"{"biscuits":3}"#),
        ("message", r#"{"text":{"words":[]}}"#),
        ("memory", r#"{"change":"dreamt","of":"sheep"}"#),
        ("model_call", "[1, 2]"),
        ("state", "null"),
    ];
    for (word, data) in cases {
        let kind = EventKind::from_word(word).expect("it is a word");
        let event = Event::parse(kind, data);
        assert_eq!(event, Event::Unknown(UnknownEvent { kind, data: data.into() }), "{word}");
        let draft = EventDraft::from(event);
        assert_eq!((draft.kind.word(), draft.data.get()), (word, data));
    }
    assert_eq!(EventKind::from_word(""), None);
    assert_eq!(EventKind::from_word(&"x".repeat(65)), None, "no word of any log is so long");
}

#[test]
fn what_older_and_newer_programs_say_beside_it_is_no_hindrance() {
    let older = Event::parse(EventKind::ToolCall, r#"{"tool":"vfs_write","path":"artifacts/a.md"}"#);
    assert!(matches!(&older, Event::ToolCall(call) if call.path.as_deref() == Some("artifacts/a.md")));
    let newer = Event::parse(EventKind::Message, r#"{"text":"Hello","mood":"cheerful"}"#);
    assert_eq!(newer, Message { by: None, text: "Hello".into() }.into());
}

#[test]
fn an_export_has_the_keys_of_the_contract_in_their_order() {
    let line = WRITTEN.lines().find(|line| line.contains("\"cause\"")).expect("some have a cause");
    let keys = |line: &str| -> Vec<String> {
        let value: Value = serde_json::from_str(line).expect("it is JSON");
        value.as_object().expect("it is an object").keys().cloned().collect()
    };
    assert_eq!(keys(&serde_json::to_string(&record(line)).expect("it is plain data")), keys(line));
}
