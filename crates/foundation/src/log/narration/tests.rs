//! The narration of every kind of record, and of invalid records.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::log::events::tests::{WRITTEN, record};

/// The narration of the recorded events, line by line.
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
    let data = EventJson::from_stored(data.to_owned()).expect("it is JSON");
    Narrator::new(&names()).sentence_of(&kind, agent.map(Id::from).as_ref(), &data)
}

#[test]
fn every_record_has_a_plain_description() {
    let names = names();
    let narrator = Narrator::new(&names);
    assert!(TOLD.lines().count() > 100);
    for (line, told) in WRITTEN.lines().zip(TOLD.lines()) {
        assert_eq!(narrator.sentence(&record(line)), told, "{line}");
    }
}

#[test]
fn acts_are_described_with_the_way_in_which_a_model_asked_for_them() {
    let acted = |way: &str| {
        let data = format!(r#"{{"way":"{way}","acts":["Pinned “Tea”.","Noted “brevity”."]}}"#);
        said(EventKind::Acted, Some("ada-1"), &data)
    };
    assert_eq!(acted("call"), "Ada acted by calling functions: Pinned “Tea”; Noted “brevity”");
    assert_eq!(acted("marker"), "Ada acted by markers in its text: Pinned “Tea”; Noted “brevity”");
}

#[test]
fn kinds_are_shown_without_underscores() {
    assert!(EventKind::ALL.iter().all(|kind| !kind_words(kind).contains('_')));
    assert_eq!(kind_words(&EventKind::ToolCall), "Tool call");
}

#[test]
fn unreadable_records_are_shown_as_they_are() {
    for kind in EventKind::ALL {
        for data in ["null", "[1, 2]", "\"text\"", "{}", "{\"what\":{\"a\":[]},\"error\":3}"] {
            let told = said(kind.clone(), None, data);
            assert!(told.chars().count() > 8, "{kind:?} {data:?}: {told}");
            assert!(!told.contains("  ") && !told.trim().ends_with(':'), "{kind:?} {data:?}: {told}");
        }
    }
    let told = said(EventKind::Message, Some("ada-1"), "[1, 2]");
    assert_eq!(told, "Message (this version cannot read its data: [1, 2])");
    let told = said(EventKind::from_name("tea_break"), None, "{\"biscuits\":3}");
    assert_eq!(told, "Tea break (this version cannot read its data: {\"biscuits\":3})");
    assert_eq!(said(EventKind::from_name(""), None, "{}"), "A record (this version cannot read its data: {})");
    assert_eq!(kind_words(&EventKind::from_name(&"long_".repeat(1_000))).chars().count(), KIND_CHARS);
}

#[test]
fn an_added_event_has_its_own_description_and_a_separate_remedy() {
    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct TeaBreak {
        biscuits: u32,
    }

    impl EventData for TeaBreak {
        const KIND: EventKind = EventKind::Other(std::borrow::Cow::Borrowed("tea_break"));

        fn narrate(&self, context: &NarrationContext<'_>) -> String {
            format!("{} had {}", context.who(), counted(self.biscuits.into(), "biscuit", "biscuits"))
        }

        fn remedy(&self) -> &str {
            if self.biscuits > 2 { "buy more" } else { "" }
        }
    }

    let (mut names, mut added) = (names(), AddedEvents::default());
    added.add::<TeaBreak>();
    names.learn_events(&added);
    let (kind, ada) = (EventKind::from_name("tea_break"), id("ada-1"));
    let told = |biscuits: u32| names.narrator().sentence_of(&kind, Some(&ada), &EventJson::of(&TeaBreak { biscuits }));
    assert_eq!([told(1), told(3)], ["Ada had 1 biscuit", "Ada had 3 biscuits. What to do: buy more"]);
    let draft = crate::log::EventDraft::of(&TeaBreak { biscuits: 3 }).agent(&ada);
    let record = EventRecord { draft, ..record(WRITTEN.lines().next().expect("there are some")) };
    let parts = Narration { what: "Ada had 3 biscuits".into(), remedy: "buy more".into() };
    assert_eq!(names.narrator().narrate(&record), parts);
    let other = names.narrator().sentence_of(&kind, None, &EventJson::of(&"no tea"));
    assert_eq!(
        other, "Tea break (this version cannot read its data: \"no tea\")",
        "another version's is shown as it is"
    );
}

#[test]
fn sentences_are_short_for_any_content() {
    let told = said(EventKind::Message, Some("ada-1"), &json!({ "text": "ä🦀 \n".repeat(100_000) }).to_string());
    assert_eq!(told.chars().count(), SENTENCE_CHARS);
    assert!(!told.contains('\n'));
    let many: Vec<String> = (0..5_000).map(|number| format!("agent-{number}")).collect();
    let told = said(EventKind::ConversationStart, None, &json!({ "participants": many }).to_string());
    assert!(told.contains("and 4992 more"), "{told}");
}

#[test]
fn removed_agents_keep_their_names_and_only_changes_count() {
    let mut names = names();
    let before = (names.version(), names.renames());
    let bram = [(id("bram-1"), id("Bram"))];
    names.learn_agents(bram.iter().map(|(id, name)| (id, name)));
    assert_eq!((names.version(), names.renames()), before, "the same names are nothing new");
    assert_eq!((names.called("ada-1"), names.called("user")), ("Ada", "you"));
    let ada = [(id("ada-1"), id("Ada Lovelace"))];
    names.learn_agents(ada.iter().map(|(id, name)| (id, name)));
    assert_eq!((names.called("ada-1"), names.renames()), ("Ada Lovelace", before.1 + 1));
    names.learn_removed_agent(&id("ada-1"), id("Somebody else"));
    assert_eq!(names.called("ada-1"), "Ada Lovelace");
}

#[test]
fn long_numbers_have_thousands_separators() {
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
    fn any_record_has_a_short_description(
        index in 0..EventKind::ALL.len(), data in any_json(), agent in proptest::option::of(".{0,12}")
    ) {
        let told = said(EventKind::ALL[index].clone(), agent.as_deref(), &data.to_string());
        prop_assert!(!told.trim().is_empty());
        prop_assert!(told.chars().count() <= SENTENCE_CHARS + 2);
        prop_assert!(!told.contains('\n'));
    }
}
