//! What is said of every kind of record, and of records that make no sense.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::base::Seq;
use crate::base::{AgentKey, ElementKey};
use crate::simulation::State;
use crate::view::model::{AgentView, ContentView, ElementView, RoomModel};

#[path = "sentence_table.rs"]
mod table;

use table::table;

/// Two agents and one element of each kind.
fn sample_room() -> RoomModel {
    let agents = [("ada-1", "Ada"), ("bram-1", "Bram")].into_iter().zip(0..).map(|((id, name), key)| AgentView {
        key: AgentKey(key),
        id: id.into(),
        name: name.into(),
        profile: "ada".into(),
        look: "ada".into(),
        position: bevy::math::Vec2::ZERO,
        heading: bevy::math::Vec2::ZERO,
        walks: false,
        state: State::Idle,
        in_state_secs: 4.0,
        thinking: false,
        queued: 0,
        reads: None,
        detail: None,
    });
    let kinds = [("rules", "rulebook"), ("news", "messageboard"), ("ideas", "pinboard"), ("post", "inbox")];
    let elements = kinds.into_iter().zip(0..).map(|((id, kind), key)| ElementView {
        key: ElementKey(key),
        id: id.into(),
        kind: kind.into(),
        label: id.into(),
        position: bevy::math::Vec2::ZERO,
        owner: None,
        file: None,
        content: std::sync::Arc::new(ContentView::Text(String::new())),
    });
    RoomModel { agents: agents.collect(), elements: elements.collect(), ..RoomModel::default() }
}

fn names() -> Names {
    let mut names = Names::default();
    names.learn_room(&sample_room());
    names
}

fn row(kind: EventKind, agent: Option<&str>, data: &str) -> EventRow {
    EventRow {
        seq: Seq(9),
        tick: 30,
        time_ms: 0,
        run: "r-1".into(),
        kind,
        severity: None,
        agent: agent.map(Id::from),
        activation: None,
        session: None,
        cause: None,
        tool: None,
        path: None,
        data: data.into(),
    }
}

fn said(kind: EventKind, agent: Option<&str>, data: &Value) -> String {
    sentence(&row(kind, agent, &data.to_string()), &names())
}

#[test]
fn every_record_is_told_in_plain_words() {
    for (kind, agent, data, expected) in table() {
        assert_eq!(said(kind, agent, &data), expected, "{kind:?} {data}");
    }
}

#[test]
fn no_kind_is_without_words() {
    let table = table();
    for kind in EventKind::ALL {
        assert!(table.iter().any(|(one, ..)| one == kind), "{kind:?} stands in the table");
        assert!(!kind_words(*kind).contains('_'));
    }
}

#[test]
fn broken_data_is_said_to_be_broken_and_shown() {
    for kind in EventKind::ALL {
        for data in ["", "null", "[1, 2]", "{ broken", "\"text\"", "{}", "{\"what\":{\"a\":[]},\"error\":3}"] {
            let told = sentence(&row(*kind, None, data), &Names::default());
            assert!(told.chars().count() > 8, "{kind:?} {data:?}: {told}");
            assert!(!told.contains("  ") && !told.trim().ends_with(':'), "{kind:?} {data:?}: {told}");
        }
    }
    let told = sentence(&row(EventKind::Message, Some("ada-1"), "{ broken"), &names());
    assert_eq!(told, "Ada said (its data cannot be read: { broken)");
}

#[test]
fn a_sentence_is_short_whatever_was_said() {
    let told = said(EventKind::Message, Some("ada-1"), &json!({ "text": "ä🦀 \n".repeat(100_000) }));
    assert_eq!(told.chars().count(), SENTENCE_CHARS);
    assert!(!told.contains('\n'));
    let many: Vec<String> = (0..5_000).map(|number| format!("agent-{number}")).collect();
    let told = said(EventKind::ConversationStart, None, &json!({ "participants": many }));
    assert!(told.contains("and 4992 more"), "{told}");
}

#[test]
fn whoever_left_keeps_a_name_and_only_a_change_is_a_change() {
    let mut names = names();
    let before = (names.version(), names.renames());
    let mut room = sample_room();
    names.learn_room(&room);
    assert_eq!((names.version(), names.renames()), before, "the same names are nothing new");
    room.agents.pop();
    names.learn_room(&room);
    assert_eq!((names.called("bram-1"), names.version()), ("Bram", before.0));
    room.agents[0].name = "Ada Lovelace".into();
    names.learn_room(&room);
    assert_eq!((names.called("ada-1"), names.renames()), ("Ada Lovelace", before.1 + 1));
    names.learn_former(&"ada-1".into(), "Somebody else".into());
    assert_eq!(names.called("ada-1"), "Ada Lovelace");
}

#[test]
fn long_numbers_are_set_apart() {
    assert_eq!([0, 999, 1_000, 100_000, 1_234_567].map(thousands), ["0", "999", "1,000", "100,000", "1,234,567"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    let keys = [
        "what",
        "by",
        "agent",
        "act",
        "do",
        "change",
        "element",
        "participants",
        "error",
        "path",
        "from",
        "to",
        "task",
        "relationship",
        "outcome",
        "turns",
        "kind",
        "id",
        "section",
        "decision",
        "action",
        "target",
        "tool",
        "text",
    ];
    leaf.prop_recursive(2, 24, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(keys.to_vec()), inner, 0..8)
                .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_stands_in_a_record_something_short_is_said(
        index in 0..EventKind::ALL.len(), data in any_json(), agent in proptest::option::of(".{0,12}")
    ) {
        let told = sentence(&row(EventKind::ALL[index], agent.as_deref(), &data.to_string()), &names());
        prop_assert!(!told.trim().is_empty());
        prop_assert!(told.chars().count() <= SENTENCE_CHARS + 2);
        prop_assert!(!told.contains('\n'));
    }
}
