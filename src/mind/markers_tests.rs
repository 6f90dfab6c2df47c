//! Markers in replies, well formed, malformed and hostile.

use proptest::prelude::*;

use super::*;

fn intents(reply: &str) -> Vec<Intent> {
    parse(reply).intents
}

fn pin(text: &str) -> Intent {
    Intent::Pin { text: text.into() }
}

#[test]
fn every_marker_is_found_whatever_its_case() {
    let reply = "Hm. [pin: a] [Remove_Pin: p1] [VOTE_UP: #p2] [vote_down: p3] [KEEP_PIN: p4] [RELEASE_PIN: p5] \
                 [SEND to Ada Lovelace: hello: you] [send: Bob: hi] [REMEMBER: note] Done.";
    let expected = [
        pin("a"),
        Intent::RemovePin { id: "p1".into() },
        Intent::Vote { id: "p2".into(), up: true },
        Intent::Vote { id: "p3".into(), up: false },
        Intent::KeepPin { id: "p4".into() },
        Intent::ReleasePin { id: "p5".into() },
        Intent::Send { to: "Ada Lovelace".into(), text: "hello: you".into() },
        Intent::Send { to: "Bob".into(), text: "hi".into() },
        Intent::Remember { note: "note".into() },
    ];
    let parsed = parse(reply);
    assert_eq!(parsed.intents, expected);
    assert_eq!(parsed.shown, "Hm. Done.");
}

#[test]
fn brackets_nest_and_are_escaped() {
    assert_eq!(intents("[PIN: see [1] and [a [b]]]"), [pin("see [1] and [a [b]]")]);
    assert_eq!(intents(r"[PIN: an open \[ bracket]"), [pin("an open [ bracket")]);
    assert_eq!(parse(r"\[PIN: no\]"), Parsed { intents: vec![], shown: r"\[PIN: no\]".into() });
}

#[test]
fn what_is_not_closed_or_only_an_example_stays_text() {
    for text in ["[PIN: never closed", "see [1] and [REMEMBER", "```\n[PIN: example]\n```", "[pinned: x]", "[a: b]"] {
        assert_eq!(parse(text), Parsed { intents: vec![], shown: text.into() }, "{text}");
    }
    assert_eq!(intents("``` open fence\n[PIN: x]"), [pin("x")], "a fence that is not closed hides nothing");
}

#[test]
fn what_cannot_be_used_is_said() {
    let parsed = parse("[FOO: x] [REMEMBR: y] [PIN: ] [SEND: nothing] [SEND to Ada: ]");
    assert_eq!(parsed.shown, "[FOO: x] [REMEMBR: y]", "unknown markers stay");
    assert_eq!(parsed.intents[0], Intent::Unknown { word: "FOO".into(), meant: None });
    assert_eq!(parsed.intents[1], Intent::Unknown { word: "REMEMBR".into(), meant: Some("REMEMBER".into()) });
    assert!(parsed.intents[2..].iter().all(|intent| matches!(intent, Intent::Malformed { .. })));
    assert_eq!(parsed.intents.len(), 5);
}

#[test]
fn gaps_close_neatly() {
    assert_eq!(parse("A [PIN: x] b.").shown, "A b.");
    assert_eq!(parse("A\n[PIN: x]\nb").shown, "A\nb");
    assert_eq!(parse("A[PIN: x]b").shown, "A b");
    assert_eq!(parse("A[PIN: x].").shown, "A.");
}

#[test]
fn pieces_around_a_gap_never_join_into_a_marker() {
    for reply in ["[PI[PIN: x]N: y]", "[SEND [PIN: x]to Bob: hi]", "[[PIN: x]REMEMBER: y]"] {
        let parsed = parse(reply);
        assert_eq!(parsed.intents, [pin("x")], "{reply}");
        assert_eq!(intents(&parsed.shown), [], "{}", parsed.shown);
    }
}

#[test]
fn time_grows_with_length_only() {
    let started = std::time::Instant::now();
    for reply in ["[".repeat(1_000_000), "[PIN: ".repeat(170_000), "[PIN:a]".repeat(140_000), "```[".repeat(250_001)] {
        parse(&reply);
    }
    let deep = format!("{}x{}", "[PIN: ".repeat(100_000), "]".repeat(100_000));
    assert_eq!(parse(&deep).intents.len(), 1);
    // A quadratic parser needs minutes for this.
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn nothing_breaks_it_and_nothing_known_is_left(
        pieces in prop::collection::vec(
            prop_oneof![
                Just("[".to_owned()), Just("]".into()), Just("\\".into()), Just("```".into()), Just("`".into()),
                Just(" ".into()), Just("\n".into()), Just(":".into()), Just("PIN".into()), Just("[PIN: a]".into()),
                Just("[SEND to Bob: b]".into()), Just("SEND".into()), Just(" to ".into()), Just("[remember: ".into()),
                Just("REMEMBER".into()), ".{0,3}",
            ],
            0..30,
        ),
    ) {
        let parsed = parse(&pieces.concat());
        let known = |intent: &&Intent| !matches!(intent, Intent::Unknown { .. });
        let again = parse(&parsed.shown);
        prop_assert_eq!(again.intents.iter().filter(known).count(), 0, "left: {:?}", parsed.shown);
    }

    #[test]
    fn any_text_at_all_is_parsed(reply in "\\PC*") {
        let parsed = parse(&reply);
        prop_assert!(parsed.shown.len() <= reply.len() * 2 + 2);
    }
}
