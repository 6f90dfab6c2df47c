//! What must hold for any content: nothing is lost on the way through files, and what a person changed in a
//! file joins what agents did meanwhile.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::content::{Content, ElementAct, ElementChange};
use super::kind::kind;
use super::pinboard::Pinboard;
use super::settings::ElementSettings;
use crate::base::Author;

/// Texts that are hard on Markdown: list signs, comments, blank lines, backslashes, other scripts, nothing.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("- "),
        Just("  - "),
        Just("\n"),
        Just("\n\n"),
        Just("<!-- pin {} -->"),
        Just("<!--"),
        Just("-->"),
        Just("<!\\--"),
        Just("*"),
        Just("#"),
        Just("**"),
        Just("\\"),
        Just(" "),
        Just("word"),
        Just("東京 é"),
        Just("\""),
        Just("<!-- comment {\"a\":1} -->"),
        Just("\t"),
        Just("{"),
        Just(": "),
        Just("🙂"),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn voters() -> impl Strategy<Value = Vec<&'static str>> {
    vec(prop_oneof![Just("ada"), Just("bo-1"), Just("-->"), Just("user")], 0..4)
}

fn pin() -> impl Strategy<Value = Value> {
    let comment = (text(), 0..9_u32).prop_map(|(text, time)| json!({ "author": "cy", "text": text, "time": time }));
    (text(), voters(), voters(), vec(comment, 0..3), any::<bool>(), 0.0..1e6_f64).prop_map(
        |(text, up, down, comments, odd, time)| {
            let mut pin = json!({ "text": text, "author": "ada -->", "up": up, "down": down, "comments": comments,
                                  "time": time });
            if odd {
                pin["colour"] = json!("re--d");
            }
            pin
        },
    )
}

fn mail() -> impl Strategy<Value = Value> {
    (text(), text(), prop_oneof![Just("open"), Just("closed")], any::<bool>()).prop_map(
        |(subject, text, status, read)| {
            json!({ "from": "bo", "to": "ada", "subject": subject, "text": text, "status": status, "read": read,
                    "attachments": ["a--b.md"], "flag": 1 })
        },
    )
}

/// A list of items under ids that are chosen from few, in any order.
fn list(item: impl Strategy<Value = Value>, prefix: &'static str) -> impl Strategy<Value = Vec<Value>> {
    vec(item, 0..6).prop_flat_map(move |items| {
        let ids: Vec<usize> = (1..=8).collect();
        Just(ids).prop_shuffle().prop_map(move |ids| {
            let with_id = |(item, id): (&Value, &usize)| {
                let mut item = item.clone();
                item["id"] = json!(format!("{prefix}{id}"));
                item
            };
            items.iter().zip(&ids).map(with_id).collect()
        })
    })
}

fn entry() -> impl Strategy<Value = (&'static str, Map<String, Value>)> {
    let map = |pairs: Vec<(&str, Value)>| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    prop_oneof![
        list(pin(), "p").prop_map(move |pins| ("pinboard", map(vec![("pins", json!(pins))]))),
        (list(mail(), "m"), list(mail(), "s"))
            .prop_map(move |(items, outbox)| ("inbox", map(vec![("items", json!(items)), ("outbox", json!(outbox))]))),
        text().prop_map(move |text| ("rulebook", map(vec![("text", json!(text))]))),
    ]
}

fn read(word: &str, entry: &Map<String, Value>) -> Box<dyn Content> {
    (kind(word).unwrap().from_scene)(entry, "here").0
}

fn apply_all(content: &mut dyn Content, acts: &[ElementAct]) {
    for act in acts {
        content.apply(act, &Author::user(), 0.0, &ElementSettings::default()).unwrap();
    }
}

proptest! {
    // A failure is to be kept as a test of its own, not in a file that nobody reads.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_scene_form_loses_nothing((word, entry) in entry()) {
        let content = read(word, &entry);
        let again = read(word, &content.to_scene());
        prop_assert_eq!(content.to_scene(), again.to_scene());
        prop_assert_eq!(read(word, &content.to_saved()).to_saved(), content.to_saved());
    }

    #[test]
    fn the_markdown_form_loses_nothing((word, entry) in entry()) {
        let content = read(word, &entry);
        let written = content.to_markdown();
        let again = (kind(word).unwrap().from_markdown)(&written);
        prop_assert_eq!(content.to_scene(), again.to_scene(), "{}", written);
        prop_assert_eq!(written, again.to_markdown());
    }

    #[test]
    fn any_markdown_can_be_read_and_is_stable(lines in vec(text(), 0..6)) {
        for word in ["pinboard", "inbox", "rulebook"] {
            let content = (kind(word).unwrap().from_markdown)(&lines.join("\n"));
            let again = (kind(word).unwrap().from_markdown)(&content.to_markdown());
            prop_assert_eq!(content.to_scene(), again.to_scene());
        }
    }

    #[test]
    fn the_acts_between_two_contents_lead_from_one_to_the_other(
        (word, one) in entry(), pins in list(pin(), "p"), items in list(mail(), "m"), outbox in list(mail(), "s"),
        text in text(),
    ) {
        let mut content = read(word, &one);
        let other = json!({ "pins": pins, "items": items, "outbox": outbox, "text": text });
        let other = read(word, other.as_object().unwrap());
        let acts = content.acts_to(&*other);
        apply_all(&mut *content, &acts);
        prop_assert_eq!(content.to_scene(), other.to_scene());
    }

    #[test]
    fn what_a_person_wrote_joins_what_agents_did(before in list(pin(), "p"), added in text()) {
        let before = json!({ "pins": before });
        let before = read("pinboard", before.as_object().unwrap());
        let limits = ElementSettings::default();
        let mut now = before.boxed_clone();
        let mut newer = before.to_scene();
        let pins = newer["pins"].as_array_mut().unwrap();
        pins.push(json!({ "id": "mine", "text": added }));
        let first = pins[0]["id"].as_str().unwrap().to_owned();
        let voted = first != "mine" && now.apply(
            &ElementAct::Vote { id: first.as_str().into(), up: true }, &Author("zoe".into()), 1.0, &limits).is_ok();
        now.apply(&ElementAct::AddPin { id: None, text: "theirs".into() }, &Author("zoe".into()), 1.0, &limits).unwrap();
        apply_all(&mut *now, &before.acts_to(&*read("pinboard", &newer)));
        let board = now.as_any().downcast_ref::<Pinboard>().unwrap();
        prop_assert!(board.pin("mine").is_some());
        prop_assert!(board.pins.iter().any(|pin| pin.text == "theirs"));
        prop_assert!(!voted || board.pin(&first).unwrap().up.contains("zoe"));
    }

    #[test]
    fn votes_are_one_each_and_minus_three_takes_a_pin_down(votes in vec((0..6_u8, any::<bool>()), 0..40)) {
        let mut board = read("pinboard", json!({ "pins": ["a"] }).as_object().unwrap());
        let mut model = std::collections::BTreeMap::new();
        for (voter, up) in votes {
            let by = Author(format!("a{voter}").as_str().into());
            let refused = model.get(&voter) == Some(&up);
            let act = ElementAct::Vote { id: "p1".into(), up };
            let result = board.apply(&act, &by, 0.0, &ElementSettings::default());
            prop_assert_eq!(result.is_err(), refused);
            model.insert(voter, up);
            let net: i64 = model.values().map(|up| if *up { 1 } else { -1 }).sum();
            let now = board.as_any().downcast_ref::<Pinboard>().unwrap();
            if net <= -3 {
                // A vote that moves to the other side counts for two.
                prop_assert!(net >= -4);
                prop_assert!(now.pins.is_empty());
                return Ok(());
            }
            prop_assert_eq!(now.pins[0].net(), net);
            prop_assert_eq!(now.pins[0].up.len() + now.pins[0].down.len(), model.len());
            let flagged = result.is_ok_and(|changes| changes.iter().any(|c| matches!(c, ElementChange::PinFlagged { .. })));
            prop_assert!(!flagged || net == -2);
        }
    }

    #[test]
    fn boards_keep_their_limits(authors in vec(0..20_u8, 0..200)) {
        let mut board = Pinboard::default();
        let limits = ElementSettings::default();
        for (time, author) in authors.into_iter().enumerate() {
            let by = Author(format!("a{author}").as_str().into());
            let act = ElementAct::AddPin { id: None, text: format!("{time}") };
            board.apply(&act, &by, time as f64, &limits).unwrap();
            prop_assert!(board.pins.len() <= 50);
            prop_assert!(board.pins.iter().filter(|pin| pin.author == by).count() <= 5);
            prop_assert_eq!(&board.pins.last().unwrap().text, &time.to_string());
        }
    }
}
