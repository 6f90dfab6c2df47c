//! Tests of markers in replies: well-formed, malformed and hostile.

use proptest::prelude::*;

use super::*;

fn whole(reply: &str) -> Parsed {
    parse(reply, false)
}

fn intents(reply: &str) -> Vec<Intent> {
    whole(reply).intents
}

fn pin(text: &str) -> Intent {
    Intent::Pin { text: text.into() }
}

fn unclosed(word: &str) -> Intent {
    Intent::Unclosed { word: word.into() }
}

#[test]
fn every_marker_is_found_whatever_its_case() {
    checks_rule!("remember-is-a-marker");
    let reply = "Hm.\n[pin: a] [Remove_Pin: p1] [VOTE_UP: #p2]\n[vote_down: p3]\n[KEEP_PIN: p4] [RELEASE_PIN: p5] \
                 [SEND to Ada Lovelace: hello: you] [send: Bob: hi] [done: m1] [REMEMBER: note] Done.";
    let expected = [
        pin("a"),
        Intent::RemovePin { id: "p1".into() },
        Intent::Vote { id: "p2".into(), up: true },
        Intent::Vote { id: "p3".into(), up: false },
        Intent::KeepPin { id: "p4".into() },
        Intent::ReleasePin { id: "p5".into() },
        Intent::Send { to: "Ada Lovelace".into(), text: "hello: you".into() },
        Intent::Send { to: "Bob".into(), text: "hi".into() },
        Intent::Done { id: "m1".into() },
        Intent::Remember { note: "note".into() },
    ];
    let parsed = whole(reply);
    assert_eq!(parsed.intents, expected);
    assert_eq!(parsed.shown, "Hm.\nDone.");
}

#[test]
fn brackets_nest_and_are_escaped() {
    assert_eq!(intents("[PIN: see [1] and [a [b]]]"), [pin("see [1] and [a [b]]")]);
    assert_eq!(intents(r"[PIN: an open \[ bracket]"), [pin("an open [ bracket")]);
    assert_eq!(whole(r"\[PIN: no\]"), Parsed { shown: r"\[PIN: no\]".into(), ..Parsed::default() });
    assert_eq!(intents("[PIN: line one\nline two]"), [pin("line one\nline two")]);
}

#[test]
fn a_marker_in_a_marker_is_text() {
    assert_eq!(intents("[PIN: say [PIN: hi]]"), [pin("say [PIN: hi]")]);
    assert_eq!(intents("[SEND to Bob: [REMEMBER: x] [VOTE_UP: p1]]").len(), 1);
}

#[test]
fn intervals_smileys_and_single_brackets_stay_within_their_marker() {
    let cases = [
        ("[PIN: interval [0, 1)]", "interval [0, 1)", ""),
        ("[PIN: interval (0, 1] is half open]", "interval (0, 1] is half open", ""),
        ("[PIN: interval (0, 1]", "interval (0, 1", ""),
        ("[PIN: [0, 1) and (2, 3]] Good.", "[0, 1) and (2, 3]", "Good."),
        ("[PIN: a smiley :] is fine] Yes.", "a smiley :] is fine", "Yes."),
        ("[PIN: done :]", "done :", ""),
        ("[PIN: done] great :]", "done", "great :]"),
        ("[PIN: sad [: face]", "sad [: face", ""),
        ("[PIN: a note with ] after] So.", "a note with ] after", "So."),
        ("[PIN: array[0 is first]", "array[0 is first", ""),
        ("[PIN: as shown in [1]", "as shown in [1]", ""),
        ("[PIN: twice]] Fine.", "twice", "] Fine."),
        ("[PIN: the key `]` closes]", "the key `]` closes", ""),
        ("[PIN: quotes \"[a]\" [b]]", "quotes \"[a]\" [b]", ""),
    ];
    for (reply, text, shown) in cases {
        let parsed = whole(reply);
        assert_eq!((parsed.intents.as_slice(), parsed.shown.as_str()), ([pin(text)].as_slice(), shown), "{reply}");
    }
    let two = "[PIN: from [0 to 1)] [SEND to Bob: hi]";
    assert_eq!(intents(two)[1..], [Intent::Send { to: "Bob".into(), text: "hi".into() }], "{two}");
    assert_eq!(intents("[VOTE_UP: p1] as I said in 2]")[0], Intent::Vote { id: "p1".into(), up: true });
}

#[test]
fn an_unclosed_marker_is_text_and_reported() {
    for reply in ["[PIN: never closed", "[PIN: the source [1] says so", "Fine.\n[PIN: say [PIN: hi] to all"] {
        let unclosed = Parsed { intents: vec![unclosed("PIN")], shown: reply.into(), ..Parsed::default() };
        assert_eq!(whole(reply), unclosed, "{reply}");
    }
    assert_eq!(intents("[PIN: forgotten\n[VOTE_UP: p1]\n[PIN: b"), {
        [unclosed("PIN"), Intent::Vote { id: "p1".into(), up: true }, unclosed("PIN")]
    });
    for text in ["see [1] and [REMEMBER", "[pinned: x]", "[a: b]"] {
        assert_eq!(whole(text), Parsed { shown: text.into(), ..Parsed::default() }, "{text}");
    }
}

#[test]
fn a_marker_cut_off_by_the_limit_has_no_effect() {
    checks_rule!("unclosed-markers-do-nothing");
    for reply in ["[PIN: see [1]", "[PIN: a smiley :] and", "[PIN: half a sen"] {
        assert_eq!(parse(reply, true).intents, [unclosed("PIN")], "{reply}");
    }
    assert_eq!(parse("[PIN: a] and then", true).intents, [pin("a")], "what is whole is meant");
    assert_eq!(parse("[PIN: see [1]\n[PIN: b", true).intents, [pin("see [1]"), unclosed("PIN")]);
}

#[test]
fn code_quoted_lines_and_quotations_are_text() {
    checks_rule!("quoted-markers-are-text");
    let quotations = [
        "```\n[PIN: x]\n```",
        "````text\n```\n[PIN: x]\n```\n````",
        "~~~\n[PIN: x]\n~~~",
        "- so:\n  ```yaml\n  [PIN: x]\n  ```",
        "``` a fence that nobody closes\n[PIN: x]",
        "use `[PIN: x]` for that",
        "use ``[PIN: `x`]`` for that",
        "use `[PIN:\nx]` for that",
        "use ```[PIN: x]``` for that",
        "> [PIN: x]",
        "So:\n  >> a [PIN: x]\n> [SEND to Bob: y]",
        "The note says “please [PIN: x] now”, I think.",
        "The note says \"[PIN: x]\".",
        "Sie schreibt „[PIN: x]“ dazu.",
        "Elle dit « [PIN: x] » .",
    ];
    for reply in quotations {
        let parsed = whole(reply);
        assert_eq!((parsed.intents.as_slice(), parsed.shown.as_str()), ([].as_slice(), reply), "{reply}");
    }
    for reply in [
        "She said “no”.\n[PIN: x] “Yes” is better.",
        "„Nein“, sagt sie.\n[PIN: x] „Ja“!",
        "It is 5\" long\n[PIN: x] and 6\" wide",
        "a stray ` and\n\n[PIN: x]",
        "a `b`\n[PIN: x] `c`",
        "> quoted\n[PIN: x]",
        "```\ncode\n```\n[PIN: x]",
        "a stray `\n\n[PIN: x] ` and another",
    ] {
        assert_eq!(intents(reply), [pin("x")], "{reply}");
    }
    assert_eq!(whole("“Noted. [PIN: x]”").quoted, 1);
}

#[test]
fn a_marker_that_is_not_at_the_start_of_a_line_is_text_and_reported() {
    checks_rule!("markers-begin-a-line");
    for reply in [
        "Everyone must answer with [PIN: x], says the board.",
        "The board says: [PIN: x]",
        "Noted. [PIN: x]",
        "[1] [PIN: x]",
        "'[PIN: x]'",
        "‘[PIN: x]’",
        "‚[PIN: x]‘ steht dort",
        "‹[PIN: x]›",
        "*[PIN: x]*",
        "**[PIN: x]**",
        "([PIN: x])",
        "[[PIN: x]]",
        "- [PIN: x]",
        "* [PIN: x]",
        "+ [PIN: x]",
        "1. [PIN: x]",
        "2) [PIN: x]",
        "- [ ] [PIN: x]",
        "| [PIN: x] |",
        "# [PIN: x]",
        " [PIN: x]",
        "    [PIN: x]",
        "\t[PIN: x]",
        "So:\n    [PIN: x]",
        "So:\n\t[PIN: x]",
        "So:\n  [PIN: x]",
        "- so:\n  [PIN: x]",
        "<b>[PIN: x]</b>",
        "So:\r[PIN: x]",
        "So:\u{2028}[PIN: x]",
        "So:\u{b}[PIN: x]",
        "So:\u{85}[PIN: x]",
        "\u{200b}[PIN: x]",
        "Ada: [PIN: x]",
        "x[PIN: x]",
    ] {
        let parsed = whole(reply);
        assert_eq!((parsed.intents.as_slice(), parsed.inline), ([].as_slice(), 1), "{reply:?}");
        assert_eq!(parsed.shown, reply, "it stays in the text");
    }
    for reply in ["[PIN: x]", "\n[PIN: x]", "Noted.\n[PIN: x]", "Noted.\r\n[PIN: x]\r\n", "[PIN: x] So be it."] {
        let parsed = whole(reply);
        assert_eq!((parsed.intents.as_slice(), parsed.inline), ([pin("x")].as_slice(), 0), "{reply:?}");
    }
    // What is meant counts even if others are quoted beside it.
    let both = whole("The board wants [SEND to Bob: hacked] and [PIN: hacked], I do not.\n[PIN: I disagree]");
    assert_eq!((both.intents, both.inline), (vec![pin("I disagree")], 2));
    assert_eq!(both.shown, "The board wants [SEND to Bob: hacked] and [PIN: hacked], I do not.");
    assert!(!intents("See you. [BYE]").contains(&Intent::Bye));
    assert_eq!(intents(without_first_blank(" [PIN: x]")), [pin("x")]);
    assert_eq!(intents(without_first_blank("    [PIN: x]")), []);
}

#[test]
fn unusable_markers_are_reported() {
    let parsed = whole("[FOO: x]\n[REMEMBR: y]\n[PIN: ] [PIN:]\n[SEND: nothing] [SEND to Ada: ]");
    assert_eq!(parsed.shown, "[FOO: x]\n[REMEMBR: y]", "unknown markers stay");
    assert_eq!(parsed.intents[0], Intent::Unknown { word: "FOO".into(), meant: None });
    assert_eq!(parsed.intents[1], Intent::Unknown { word: "REMEMBR".into(), meant: Some("REMEMBER".into()) });
    assert!(parsed.intents[2..].iter().all(|intent| matches!(intent, Intent::Malformed { .. })));
    assert_eq!(parsed.intents.len(), 6);
}

#[test]
fn gaps_close_neatly() {
    assert_eq!(whole("A\n[PIN: x] b.").shown, "A\nb.");
    assert_eq!(whole("A\n[PIN: x]\nb").shown, "A\nb");
    assert_eq!(whole("[PIN: x]b").shown, "b");
    assert_eq!(whole("[PIN: x] [PIN: y].").shown, ".");
}

#[test]
fn pieces_around_a_gap_never_join_into_a_marker() {
    for reply in ["[PI\n[PIN: x]N: y]", "[SEND\n[PIN: x]to Bob: hi]", "[\n[PIN: x]REMEMBER: y]"] {
        let parsed = whole(reply);
        assert_eq!(parsed.intents, [pin("x")], "{reply}");
        assert_eq!(intents(&parsed.shown), [], "{}", parsed.shown);
    }
}

#[test]
fn parsing_time_is_linear() {
    let started = std::time::Instant::now();
    for reply in [
        "[".repeat(200_001),
        "[PIN: ".repeat(34_001),
        "[PIN: \n".repeat(34_001),
        "[PIN:a]".repeat(28_001),
        "[PIN:a] b ]".repeat(18_001),
        "“[PIN: ".repeat(20_001),
        "\" \"".repeat(60_001),
        "```[".repeat(50_001),
        "`[``[".repeat(40_001),
        "```\n".repeat(50_001),
        "> [PIN: a]\n".repeat(18_001),
        "\\[PIN: a".repeat(22_001),
        format!("x {}", "[PIN:a] ".repeat(25_001)),
    ] {
        parse(&reply, false);
        escape(&reply);
    }
    let deep = format!("{}x{}", "[PIN: ".repeat(20_001), "]".repeat(20_001));
    assert_eq!(intents(&deep).len(), 1);
    // A quadratic parser would need minutes.
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[".to_owned()),
        Just("]".into()),
        Just("\\".into()),
        Just("```".into()),
        Just("`".into()),
        Just("\"".into()),
        Just("“".into()),
        Just("”".into()),
        Just("> ".into()),
        Just(" ".into()),
        Just("\n".into()),
        Just("\r".into()),
        Just(":".into()),
        Just(", ".into()),
        Just("(".into()),
        Just(")".into()),
        Just("PIN".into()),
        Just("[PIN: a]".into()),
        Just("[FOO: a]".into()),
        Just("[SEND to Bob: b]".into()),
        Just("SEND".into()),
        Just(" to ".into()),
        Just("[remember: ".into()),
        Just("REMEMBER".into()),
        ".{0,3}",
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Intents that have an effect.
fn live(reply: &str) -> usize {
    let idle = |intent: &Intent| matches!(intent, Intent::Unknown { .. } | Intent::Unclosed { .. });
    intents(reply).iter().filter(|intent| !idle(intent)).count()
}

proptest! {
    #[test]
    fn no_reply_panics_and_no_known_marker_is_left(reply in pieces()) {
        let parsed = whole(&reply);
        prop_assert_eq!(live(&parsed.shown), 0, "left: {:?} of {:?}", parsed.shown, reply);
    }

    #[test]
    fn escaped_or_quoted_markers_have_no_effect(text in pieces()) {
        let escaped = escape(&text);
        prop_assert_eq!(intents(&escaped), [], "escaped: {:?}", escaped);
        prop_assert_eq!(escape(&escaped), &*escaped, "once is enough");
        let fence = "`".repeat(text.split(|c| c != '`').map(str::len).max().unwrap_or(0).max(2) + 1);
        prop_assert_eq!(intents(&format!("So:\n{fence}text\n{text}\n{fence}\nWell.")), []);
        let quoted: String = text.split('\n').map(|line| format!("> {line}\n")).collect();
        prop_assert_eq!(intents(&format!("So:\n{quoted}Well.")), []);
        let line = text.replace(['\n', '`'], " ");
        prop_assert_eq!(intents(&format!("It says `{line}`, so there.")), []);
        let plain = line.replace(['“', '”', '"'], " ");
        prop_assert_eq!(intents(&format!("It says “{plain}”, so there.")), []);
    }

    #[test]
    fn any_text_at_all_is_parsed(reply in "\\PC*", was_cut: bool) {
        let parsed = parse(&reply, was_cut);
        prop_assert!(parsed.shown.len() <= reply.len() * 2 + 2);
    }
}

#[test]
fn a_goodbye_may_have_a_text() {
    for (reply, shown) in [
        ("See you.\n[BYE]", "See you."),
        ("[bye]", ""),
        ("[ Bye ] Until tomorrow.", "Until tomorrow."),
        ("[BYE: See you.]", "See you."),
    ] {
        let parsed = parse(reply, false);
        assert_eq!((parsed.intents, parsed.shown.as_str()), (vec![Intent::Bye], shown), "{reply}");
    }
    for text in ["He said `[BYE]` to her.", "> [BYE]", "\\[BYE]", "“[BYE]”", "[BYEBYE]", "[goodbye]"] {
        assert!(!parse(text, false).intents.contains(&Intent::Bye), "{text}");
    }
    assert_eq!(escape("She wrote [BYE]."), "She wrote \\[BYE].");
}
