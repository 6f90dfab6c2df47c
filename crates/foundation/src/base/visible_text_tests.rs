//! Tests of visible text: nothing is hidden, and the original is found again.

use proptest::prelude::*;

use super::*;

/// Pieces of which hostile texts are made.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z;&|/ .-]{1,30}",
        1 => (1..10_000_usize).prop_map(|count| " ".repeat(count)),
        1 => (1..500_usize).prop_map(|count| "\n".repeat(count)),
        1 => (1..9_usize).prop_map(|count| "\u{301}".repeat(count)),
        1 => Just("\u{200b}\u{202e}\u{2066}\u{feff}\u{e0041}\u{3164}\u{2800}\u{a0}\u{ad}".to_owned()),
        1 => Just("\r\u{1b}[2K\u{9b}\t\t\0\u{7f}\u{2028}\u{85}".to_owned()),
        1 => Just("‹U+202E›‹9 blanks›‹3 empty lines›‹CR".to_owned()),
        1 => Just("שלום 12 عربي 34".to_owned()),
        1 => Just("```\n- [x] a\n<<<<<<< ours\n-->\n".to_owned()),
        2 => any::<String>(),
    ]
}

fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat())
}

fn lines_of(text: &str) -> Vec<String> {
    let lines = visible_lines(text).map(Cow::into_owned).collect();
    without_long_gaps(lines, |line: &String| line.is_empty().then_some(()), |_, text| text)
}

#[test]
fn what_could_hide_is_written_out() {
    for (text, shown) in [
        ("git status --short", "git status --short"),
        ("ls -la\rsh e.sh", "ls -la‹CR›sh e.sh"),
        ("a\u{1b}[2Jb\u{9b}", "a‹ESC›[2Jb‹U+009B›"),
        ("r\u{200b}m a\u{202e}cod.sh", "r‹U+200B›m a‹U+202E›cod.sh"),
        ("echo hi             ; rm x", "echo hi‹13 blanks›; rm x"),
        ("a  b", "a  b"),
        ("end ", "end‹1 blank›"),
        ("    indented", "    indented"),
        ("\tx\n", "‹tab›x‹LF›"),
        ("‹3 blanks›", "‹U+2039›3 blanks›"),
        ("josé e\u{301}\u{301}\u{301}\u{301} \u{301}", "josé e\u{301}\u{301}\u{301}‹U+0301› ‹U+0301›"),
        ("\u{e0041}\u{e000}", "‹U+E0041›‹U+E000›"),
        ("", ""),
        (" ", "‹1 blank›"),
        ("東京 🙂", "東京 🙂"),
    ] {
        assert_eq!(visible(text), shown, "{text:?}");
        assert_eq!(original([shown]), text);
    }
    assert_eq!(lines_of("a\n\n\n\n\n\nb\n"), ["a", "‹5 empty lines›", "b", ""]);
    assert_eq!(lines_of("\n\n\n"), ["‹4 empty lines›"]);
    assert_eq!(lines_of("a\n\nb"), ["a", "", "b"]);
}

#[test]
fn lines_in_two_directions_are_recognised() {
    assert!(is_reordered("rm שלום 12") && !is_reordered("שלום, עולם!") && !is_reordered("rm 12"));
    assert_eq!(in_logical_order("rm ש 1"), "rm ‹U+05E9› 1");
}

#[test]
fn a_hash_can_be_compared_with_other_programs() {
    assert_eq!(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn a_line_is_broken_before_a_blank_and_never_within_a_note() {
    assert_eq!(wrapped("one two three", 8), ["one two", " three"]);
    assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    assert_eq!(wrapped("abc‹U+202E›de", 8), ["abc", "‹U+202E›", "de"]);
    assert_eq!(wrapped("", 4), [""]);
}

proptest! {
    #[test]
    fn nothing_is_hidden_and_the_original_is_found_again(text in hostile(), width in 8..200_usize) {
        let lines = lines_of(&text);
        for line in &lines {
            prop_assert!(!line.contains(is_invisible), "{line:?}");
            prop_assert!(!line.ends_with(' ') && !line.contains(&" ".repeat(MAX_INDENT + 1)), "{line:?}");
            let pieces = wrapped(line, width);
            prop_assert!(pieces.iter().all(|piece| piece.chars().count() <= width.max(40)), "{pieces:?}");
            prop_assert_eq!(pieces.concat(), line.clone());
        }
        let gaps = lines.windows(MAX_EMPTY_LINES + 1).filter(|run| run.iter().all(String::is_empty)).count();
        prop_assert_eq!(gaps, 0);
        prop_assert_eq!(original(lines.iter().map(String::as_str)), text);
    }
}
