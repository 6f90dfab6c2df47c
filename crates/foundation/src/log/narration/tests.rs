//! What is said of every kind of record, and of records that make no sense.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::log::events::tests::{WRITTEN, record};

/// What is said of the records that were written, line by line.
const TOLD: &str = include_str!("../fixtures/told.txt");

fn id(text: &str) -> Id {
    text.into()
}

fn names() -> Names {
    let mut names = Names::default();
    let agents = [(id("ada-1"), id("Ada")), (id("bram-1"), id("Bram"))];
    names.learn_agents(agents.iter().map(|(id, name)| (id, name)));
    names
}

fn said(kind: EventKind, agent: Option<&str>, data: &str) -> String {
    Narrator::new(&names()).tell(kind, agent.map(Id::from).as_ref(), data)
}

#[test]
fn every_record_is_told_in_plain_words() {
    let names = names();
    let narrator = Narrator::new(&names);
    assert!(TOLD.lines().count() > 100);
    for (line, told) in WRITTEN.lines().zip(TOLD.lines()) {
        assert_eq!(narrator.sentence(&record(line)), told, "{line}");
    }
}

#[test]
fn a_kind_is_told_without_underscores() {
    assert!(EventKind::ALL.iter().all(|kind| !kind_words(*kind).contains('_')));
    assert_eq!(kind_words(EventKind::ToolCall), "Tool call");
}

#[test]
fn what_cannot_be_read_is_shown_as_it_is() {
    for kind in EventKind::ALL {
        for data in ["", "null", "[1, 2]", "{ broken", "\"text\"", "{}", "{\"what\":{\"a\":[]},\"error\":3}"] {
            let told = said(*kind, None, data);
            assert!(told.chars().count() > 8, "{kind:?} {data:?}: {told}");
            assert!(!told.contains("  ") && !told.trim().ends_with(':'), "{kind:?} {data:?}: {told}");
        }
    }
    let told = said(EventKind::Message, Some("ada-1"), "{ broken");
    assert_eq!(told, "Message (this version cannot read its data: { broken)");
    let told = said(EventKind::Other("tea_break"), None, "{\"biscuits\":3}");
    assert_eq!(told, "Tea break (this version cannot read its data: {\"biscuits\":3})");
}

#[test]
fn a_sentence_is_short_whatever_was_said() {
    let told = said(EventKind::Message, Some("ada-1"), &json!({ "text": "ä🦀 \n".repeat(100_000) }).to_string());
    assert_eq!(told.chars().count(), SENTENCE_CHARS);
    assert!(!told.contains('\n'));
    let many: Vec<String> = (0..5_000).map(|number| format!("agent-{number}")).collect();
    let told = said(EventKind::ConversationStart, None, &json!({ "participants": many }).to_string());
    assert!(told.contains("and 4992 more"), "{told}");
}

#[test]
fn whoever_left_keeps_a_name_and_only_a_change_is_a_change() {
    let mut names = names();
    let before = (names.version(), names.renames());
    let bram = [(id("bram-1"), id("Bram"))];
    names.learn_agents(bram.iter().map(|(id, name)| (id, name)));
    assert_eq!((names.version(), names.renames()), before, "the same names are nothing new");
    assert_eq!((names.called("ada-1"), names.called("user")), ("Ada", "you"));
    let ada = [(id("ada-1"), id("Ada Lovelace"))];
    names.learn_agents(ada.iter().map(|(id, name)| (id, name)));
    assert_eq!((names.called("ada-1"), names.renames()), ("Ada Lovelace", before.1 + 1));
    names.learn_former(&id("ada-1"), id("Somebody else"));
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
    let keys = "what by agent act do change element participants error path from to task relationship outcome turns \
                kind id section decision action target tool text";
    let keys: Vec<&str> = keys.split(' ').collect();
    leaf.prop_recursive(2, 24, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(keys.clone()), inner, 0..8)
                .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_stands_in_a_record_something_short_is_said(
        index in 0..EventKind::ALL.len(), data in any_json(), agent in proptest::option::of(".{0,12}")
    ) {
        let told = said(EventKind::ALL[index], agent.as_deref(), &data.to_string());
        prop_assert!(!told.trim().is_empty());
        prop_assert!(told.chars().count() <= SENTENCE_CHARS + 2);
        prop_assert!(!told.contains('\n'));
    }
}
