//! Text that is safe to print: without characters that control a terminal, change the reading order or cannot be seen.
//!
//! Replies of models, names, settings and file names are untrusted. A terminal interprets some characters as commands
//! (set the title, clear the screen, write the clipboard), and direction marks can make a line read as another.

use std::borrow::Cow;
use std::fmt::Write;

use super::text_normalization::is_invisible;
use super::visible_text::push_note;

/// The replacement for a tab.
const TAB: &str = "    ";

/// Whether this is a control character (C0, DEL or C1) or one that changes the direction of writing, instead of a
/// visible one.
pub fn is_control(character: char) -> bool {
    character.is_control() || is_direction_mark(character)
}

fn is_direction_mark(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Whether this character cannot be seen, although it is no white space and no control character.
fn is_unseen(character: char) -> bool {
    !character.is_ascii()
        && !character.is_control()
        && is_invisible(character)
        && (!character.is_whitespace() || is_line_end(character))
        && character != char::REPLACEMENT_CHARACTER
}

/// Whether some programs treat this character as the end of a line.
fn is_line_end(character: char) -> bool {
    matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether this character changes the appearance of the one before it, in emoji and in scripts that join their letters.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Makes a text safe for a terminal: line breaks are kept, a tab becomes four spaces, every other control character is
/// replaced by a visible symbol, and other characters that cannot be seen by their number. Joiners stay where they can
/// have an effect.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(|character| character != '\n' && (is_control(character) || is_unseen(character))) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    // Streamed text may begin between a letter and its joiner.
    let mut can_be_joined = true;
    while let Some(character) = characters.next() {
        match character {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str(TAB),
            '\r' if characters.peek() == Some(&'\n') => {}
            joiner if is_joiner(joiner) && can_be_joined => shown.push(joiner),
            hidden if is_direction_mark(hidden) || is_unseen(hidden) => push_note(&mut shown, hidden),
            other if is_control(other) => shown.push(sign_of(other)),
            other => shown.push(other),
        }
        can_be_joined = !character.is_ascii() && !is_invisible(character);
    }
    Cow::Owned(shown)
}

/// Makes a text safe and puts it on one line: line breaks become spaces.
pub fn printable_line(text: &str) -> String {
    printable(text.trim_end_matches(['\n', '\r'])).replace('\n', " ")
}

/// Returns the symbol for a control character, if Unicode has one.
fn sign_of(control: char) -> char {
    match u32::from(control) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// Makes JSON safe for a terminal. JSON itself escapes C0; other characters that cannot be seen can only occur inside its
/// strings, where `\u…` means the same.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let is_raw =
        |character: char| (is_control(character) || is_unseen(character)) && !matches!(character, '\n' | '\r' | '\t');
    if !json.contains(is_raw) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_raw(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_shown_as_symbols() {
        assert_eq!(printable("plain ünïcödé 東京 🙂\nsecond"), "plain ünïcödé 東京 🙂\nsecond");
        assert_eq!(printable("\u{1b}]0;mine\u{7}x"), "␛]0;mine␇x");
        assert_eq!(printable("\u{9b}2J\u{7f}"), "\u{fffd}2J␡");
        assert_eq!(printable("a\tb\r\nc\rd"), "a    b\nc␍d");
        assert_eq!(printable("user\u{202e}nimda\u{2066}\u{200f}"), "user‹U+202E›nimda‹U+2066›‹U+200F›");
        assert_eq!(printable("r\u{200b}m \u{feff}\u{e0041}\u{2028}x"), "r‹U+200B›m ‹U+FEFF›‹U+E0041›‹U+2028›x");
        assert_eq!(printable("👩\u{200d}💻 ❤\u{fe0f} می\u{200c}روم"), "👩\u{200d}💻 ❤\u{fe0f} می\u{200c}روم");
        assert_eq!(printable("r\u{200d}m ❤\u{fe0f}\u{fe0f}"), "r‹U+200D›m ❤\u{fe0f}‹U+FE0F›");
        assert_eq!(printable_line("one\ntwo\u{1b}\n"), "one two␛");
    }

    #[test]
    fn printable_json_has_the_same_meaning() {
        let value = serde_json::json!({ "text": "\u{1b}[2J \u{9b}2J \u{202e} \u{7f} \u{85} \u{200b}\u{e0041}\n", "k\u{9d}": 1 });
        let json = printable_json(&value.to_string()).into_owned();
        assert!(!json.contains(|character| is_control(character) || is_unseen(character)), "{json:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON still"), value);
    }

    proptest! {
        #[test]
        fn printable_text_contains_no_control_characters(text in any::<String>()) {
            prop_assert!(!printable(&text).contains(|character| character != '\n' && is_control(character)));
            prop_assert!(!printable_line(&text).contains(is_control));
            let json = serde_json::Value::from(text.clone()).to_string();
            let shown = printable_json(&json);
            prop_assert!(!shown.contains(is_control));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).expect("it is JSON still"), text);
        }
    }
}
