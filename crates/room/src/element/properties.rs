//! Property tests for all kinds of content: writing to a file and reading it back loses nothing, and a person's change
//! of a file is merged with concurrent changes by agents.

use std::sync::LazyLock;

use crate::element::{MailAct, PinAct};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::act::{ActContext, ElementAct};
use super::content::Content;
use super::kinds::kind;
use super::pinboard::Pinboard;
use super::settings::ElementSettings;
use crate::base::{Author, MessageKey, RunTag};

/// The context of an act at this time, within the limits of a new room.
fn context(by: &Author, now_secs: f64) -> ActContext<'_> {
    static LIMITS: LazyLock<ElementSettings> = LazyLock::new(ElementSettings::default);
    ActContext { by, now_secs, limits: &LIMITS, message: MessageKey::new(1, RunTag::of("r-1")) }
}

/// Texts that are difficult in Markdown: list markers, comments, blank lines, backslashes, other scripts, nothing.
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

/// A list of items in any order, with ids from a small set.
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
        content.apply(act, &context(&Author::user(), 0.0)).unwrap();
    }
}

proptest! {
    // A failure should become a test of its own, not an entry in a regression file.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn content_round_trips_through_scenes((word, entry) in entry()) {
        let content = read(word, &entry);
        let again = read(word, &content.to_scene());
        prop_assert_eq!(content.to_scene(), again.to_scene());
        prop_assert_eq!(read(word, &content.to_saved()).to_saved(), content.to_saved());
    }

    #[test]
    fn content_round_trips_through_markdown((word, entry) in entry()) {
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
    fn acts_between_two_contents_change_one_to_the_other(
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
    fn a_persons_change_is_merged_with_changes_by_agents(before in list(pin(), "p"), added in text()) {
        let before = json!({ "pins": before });
        let before = read("pinboard", before.as_object().unwrap());
        let mut now = before.boxed_clone();
        let mut newer = before.to_scene();
        let pins = newer["pins"].as_array_mut().unwrap();
        pins.push(json!({ "id": "mine", "text": added }));
        let first = pins[0]["id"].as_str().unwrap().to_owned();
        let voted = first != "mine" && now.apply(
            &PinAct::Vote { id: first.as_str().into(), up: true }.into(), &context(&Author("zoe".into()), 1.0)).is_ok();
        now.apply(&PinAct::AddPin { id: None, text: "theirs".into() }.into(), &context(&Author("zoe".into()), 1.0)).unwrap();
        apply_all(&mut *now, &before.acts_to(&*read("pinboard", &newer)));
        let board = now.as_any().downcast_ref::<Pinboard>().unwrap();
        prop_assert!(board.pin("mine").is_some());
        prop_assert!(board.pins.iter().any(|pin| pin.text == "theirs"));
        prop_assert!(!voted || board.pin(&first).unwrap().up.contains("zoe"));
    }

    #[test]
    fn each_voter_has_one_vote_and_a_pin_at_minus_three_is_removed(votes in vec((0..6_u8, any::<bool>()), 0..40)) {
        let mut board = read("pinboard", json!({ "pins": ["a"] }).as_object().unwrap());
        let mut model = std::collections::BTreeMap::new();
        for (voter, up) in votes {
            let by = Author(format!("a{voter}").as_str().into());
            let refused = model.get(&voter) == Some(&up);
            let act = PinAct::Vote { id: "p1".into(), up }.into();
            let result = board.apply(&act, &context(&by, 0.0));
            prop_assert_eq!(result.is_err(), refused);
            model.insert(voter, up);
            let net: i64 = model.values().map(|up| if *up { 1 } else { -1 }).sum();
            let now = board.as_any().downcast_ref::<Pinboard>().unwrap();
            if net <= -3 {
                // A vote that changes sides changes the sum by two.
                prop_assert!(net >= -4);
                prop_assert!(now.pins.is_empty());
                return Ok(());
            }
            prop_assert_eq!(now.pins[0].net(), net);
            prop_assert_eq!(now.pins[0].up.len() + now.pins[0].down.len(), model.len());
            let flagged = result.is_ok_and(|changes| changes.iter().any(|c| c.is("pin_flagged")));
            prop_assert!(!flagged || net == -2);
        }
    }

    #[test]
    fn boards_keep_their_limits(authors in vec(0..20_u8, 0..200)) {
        let mut board = Pinboard::default();
        for (time, author) in authors.into_iter().enumerate() {
            let by = Author(format!("a{author}").as_str().into());
            let act = PinAct::AddPin { id: None, text: format!("{time}") }.into();
            board.apply(&act, &context(&by, time as f64)).unwrap();
            prop_assert!(board.pins.len() <= 50);
            prop_assert!(board.pins.iter().filter(|pin| pin.author == by).count() <= 5);
            prop_assert_eq!(&board.pins.last().unwrap().text, &time.to_string());
        }
    }
}

/// The parts of a pin that belong only to its author and its voters, without what this agent may have done.
fn apart_from(pin: &Value, agent: &str) -> Value {
    let mut pin = pin.clone();
    for list in ["up", "down", "comments"] {
        if let Some(items) = pin[list].as_array_mut() {
            items.retain(|item| item != agent && item["author"] != agent);
        }
        if pin[list].as_array().is_none_or(Vec::is_empty) {
            pin.as_object_mut().unwrap().remove(list);
        }
    }
    pin
}

/// Applies an agent's change of a file, as far as the agent may.
fn write_as(content: &mut dyn Content, newer: &dyn Content, agent: &str) {
    let by = Author(agent.into());
    for act in content.acts_to(newer) {
        let is_mail = content.mail().is_some();
        let own = if is_mail {
            super::agent_file_edits::own_mail_act(act, &by)
        } else {
            super::agent_file_edits::own_pin_act(act, &by)
        };
        if let Ok(act) = own {
            let _ = content.apply(&act, &context(&by, 1.0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_agents_edit_of_a_boards_file_never_acts_for_others(
        before in list(pin(), "p"), after in list(pin(), "p"), by_hand in vec(text(), 0..3),
    ) {
        let agent = "bo-1";
        let mut board = read("pinboard", json!({ "pins": before }).as_object().unwrap());
        let others = |board: &dyn Content| -> Vec<Value> {
            let pins = board.to_scene()["pins"].as_array().unwrap().clone();
            pins.iter().filter(|pin| pin["author"] != agent).map(|pin| apart_from(pin, agent)).collect()
        };
        let was = others(&*board);
        let mut pins = after;
        pins.extend(by_hand.iter().map(|text| json!({ "text": text })));
        let written = read("pinboard", json!({ "pins": pins }).as_object().unwrap());
        write_as(&mut *board, &*written, agent);
        let voted_down = |pin: &Value| !others(&*board).contains(pin) && {
            // Three votes against a pin remove it, no matter who casts the third.
            pin["down"].as_array().map_or(0, Vec::len) as i64 - pin["up"].as_array().map_or(0, Vec::len) as i64 >= 2
        };
        let now: Vec<Value> = was.iter().filter(|pin| !voted_down(pin)).cloned().collect();
        prop_assert_eq!(others(&*board), now);
    }

    #[test]
    fn an_agents_edit_of_its_inbox_never_adds_mail(
        before in list(mail(), "m"), sent in list(mail(), "s"), after in list(mail(), "m"), copies in list(mail(), "s"),
    ) {
        let mut inbox = read("inbox", json!({ "items": before, "outbox": sent }).as_object().unwrap());
        let was = inbox.to_scene();
        let written = read("inbox", json!({ "items": after, "outbox": copies }).as_object().unwrap());
        write_as(&mut *inbox, &*written, "ada");
        let now = inbox.to_scene();
        prop_assert_eq!(now.get("outbox"), was.get("outbox"));
        for mail in now["items"].as_array().unwrap() {
            let words = |mail: &Value| json!([mail["id"], mail["from"], mail["to"], mail["subject"], mail["text"]]);
            prop_assert!(was["items"].as_array().unwrap().iter().any(|old| words(old) == words(mail)), "{}", mail);
        }
    }

    #[test]
    fn items_removed_by_a_person_stay_removed_despite_changes_by_the_room(
        texts in proptest::collection::btree_set("[a-f]{1,3}", 1..6), gone in any::<proptest::sample::Index>(),
        voted in any::<proptest::sample::Index>(),
    ) {
        let texts: Vec<String> = texts.into_iter().collect();
        // A handwritten file: nothing in it has an id.
        let base = (kind("pinboard").unwrap().from_markdown)(&texts.iter().map(|text| format!("- {text}\n")).collect::<String>());
        let mut held = base.boxed_clone();
        let voted = held.to_scene()["pins"][voted.index(texts.len())]["id"].as_str().unwrap().to_owned();
        let by = Author("zoe".into());
        held.apply(&PinAct::Vote { id: voted.as_str().into(), up: true }.into(), &context(&by, 1.0)).unwrap();
        held.apply(&PinAct::AddPin { id: None, text: "new".into() }.into(), &context(&by, 1.0)).unwrap();
        let gone = gone.index(texts.len());
        let left: Vec<&String> = texts.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, text)| text).collect();
        let newer = (kind("pinboard").unwrap().from_markdown)(&left.iter().map(|text| format!("- {text}\n")).collect::<String>());
        let acts = held.acts_since(&*base, &*newer);
        apply_all(&mut *held, &acts);
        let board = held.as_any().downcast_ref::<Pinboard>().unwrap();
        let now: Vec<&str> = board.pins.iter().map(|pin| pin.text.as_str()).collect();
        let wanted: Vec<&str> = left.iter().map(|text| text.as_str()).chain(["new"]).collect();
        prop_assert_eq!(now, wanted);
        prop_assert!(board.pin(&voted).is_none_or(|pin| pin.up.contains("zoe")), "a vote that nobody touched stays");
    }
}

/// A line of a list file as a person may write it, with words that occur nowhere else; its kind does not matter.
fn line_by_hand() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("# W"),
        Just(""),
        Just("W between"),
        Just("- W"),
        Just("- W <!-- W -->"),
        Just("  W more"),
        Just("  - W nested"),
        Just("    W deeper"),
        Just("    - W deepest"),
        Just("* W"),
        Just("<!-- W -->"),
        Just("- **W**"),
        Just("- **W** W"),
        Just("- W <!-- KIND {\"subject\":\"W\",\"W\":\"W\"} -->"),
        Just("- **W** <!-- KIND {\"subject\":\"W\",\"text\":\"W\"} -->"),
        Just("- W <!-- KIND {\"id\":\"idW\",\"author\":\"W\",\"from\":\"W\"} --> <!-- W -->"),
        Just("- W <!-- W --> <!-- KIND {\"above\":[\"W\"],\"comments\":[{\"text\":\"W\"}]} -->"),
        Just("- W <!-- KIND {\"status\":\"W\",\"read\":\"W\",\"time\":\"W\",\"sent\":[\"W\"],\"up\":{\"W\":1}} -->"),
        Just("  - W <!-- comment {\"author\":\"W\",\"text\":\"W\",\"time\":\"W\"} -->"),
        Just("  W <!-- note {\"W\":1} -->"),
    ]
}

/// A handwritten file with these lines, and every word of it.
fn by_hand(lines: &[&str], kind: &str) -> (String, Vec<String>) {
    let (mut text, mut words) = (String::new(), Vec::new());
    for line in lines {
        for part in line.replace("KIND", kind).split_inclusive('W') {
            match part.strip_suffix('W') {
                Some(before) => {
                    words.push(format!("w{}x", words.len()));
                    text.push_str(before);
                    text.push_str(&words[words.len() - 1]);
                }
                None => text.push_str(part),
            }
        }
        text.push('\n');
    }
    (text, words)
}

/// A change of a list by the room; none of them removes an item.
fn touch(content: &mut dyn Content, word: &str) {
    let act = match word {
        "pinboard" => PinAct::AddPin { id: None, text: "new".into() }.into(),
        _ => MailAct::AddMail {
            id: None,
            from: "user".into(),
            to: "ada".into(),
            subject: "new".into(),
            text: "new".into(),
            attachments: Vec::new(),
        }
        .into(),
    };
    content.apply(&act, &context(&Author::user(), 1.0)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_handwritten_list_keeps_every_line_and_comment_when_the_room_saves(lines in vec(line_by_hand(), 0..12)) {
        for (word, kind_word) in [("pinboard", "pin"), ("inbox", "mail"), ("inbox", "sent")] {
            let (text, words) = by_hand(&lines, kind_word);
            let mut content = (kind(word).unwrap().from_markdown)(&text);
            touch(&mut *content, word);
            let saved = content.to_markdown();
            for wanted in &words {
                prop_assert!(saved.contains(wanted.as_str()), "{wanted} of\n{text}\nis not in\n{saved}");
            }
            // Lines that belong to no item, and comments that are not written by the room, stay unchanged.
            for line in text.lines().filter(|line| line.starts_with(['#', '*', '<']) || line.starts_with("w")) {
                prop_assert!(saved.lines().any(|now| now == line), "{line} of\n{text}\nis not in\n{saved}");
            }
            for comment in text.match_indices("<!-- w").map(|(at, _)| &text[at..]) {
                let comment = &comment[..comment.find("-->").unwrap() + 3];
                prop_assert!(saved.contains(comment), "{comment} of\n{text}\nis not in\n{saved}");
            }
            // A line that was not nested may become a comment on the item that the room inserted above it.
            let again = (kind(word).unwrap().from_markdown)(&saved).to_markdown();
            prop_assert!(words.iter().all(|wanted| again.contains(wanted.as_str())), "{again}");
            prop_assert_eq!((kind(word).unwrap().from_markdown)(&again).to_markdown(), again);
        }
    }
}

#[test]
fn a_subject_in_a_comment_is_the_subject() {
    let text = "- Come at noon. <!-- mail {\"id\":\"m1\",\"subject\":\"Lunch\"} -->\n- **Tea** <!-- mail {\"id\":\"m2\"} -->\n- Just so.\n";
    let inbox = (kind("inbox").unwrap().from_markdown)(text);
    let items = inbox.to_scene()["items"].clone();
    assert_eq!((&items[0]["subject"], &items[0]["text"]), (&json!("Lunch"), &json!("Come at noon.")));
    assert_eq!((&items[1]["subject"], &items[1]["text"]), (&json!("Tea"), &json!("")));
    let saved = inbox.to_markdown();
    assert!(saved.starts_with("- **Lunch**\n  Come at noon. <!-- mail"), "{saved}");
    assert!(saved.contains("\n- Just so. <!-- mail"), "no empty subject is written: {saved}");
}
