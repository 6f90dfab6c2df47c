//! Recognises replies that mean that there is nothing to say.

use super::markers::{Intent, Parsed};
use crate::base::text_normalization::folded_text;

/// Texts that mean silence, in the form of [`folded_text`].
const SILENCE: [&str; 24] = [
    "nothing",
    "nothing to add",
    "nothing more to add",
    "nothing to say",
    "nothing more",
    "nothing new",
    "nothing else",
    "nothing for now",
    "nothing to report",
    "nothing here concerns me",
    "i have nothing to add",
    "i have nothing to say",
    "none",
    "no comment",
    "no reply",
    "no response",
    "silence",
    "says nothing",
    "n/a",
    "nichts",
    "rien",
    "nada",
    "niente",
    "niets",
];

/// Whether a text means silence.
pub fn is_silence(text: &str) -> bool {
    let folded = folded_text(text);
    let bare = folded.trim_matches(|c: char| "()[]<>{}-–—\"'. ".contains(c));
    !bare.chars().any(char::is_alphanumeric) && !bare.chars().any(is_sign) || SILENCE.contains(&bare)
}

/// Whether a character has a meaning by itself, such as an emoji.
fn is_sign(c: char) -> bool {
    !c.is_ascii() && !c.is_whitespace()
}

/// Removes the text of a reply if it means silence, and acts that would pin, send or note such a text.
pub(super) fn without_silence(mut parsed: Parsed) -> Parsed {
    let says_something = |intent: &Intent| match intent {
        Intent::Pin { text }
        | Intent::Send { text, .. }
        | Intent::Act { text, .. }
        | Intent::Remember { note: text } => !is_silence(text),
        _ => true,
    };
    parsed.called = parsed.intents.iter().take(parsed.called).filter(|intent| says_something(intent)).count();
    parsed.intents.retain(says_something);
    if is_silence(&parsed.shown) {
        parsed.shown.clear();
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mind::markers::parse;

    #[test]
    fn silence_is_recognized_in_any_spelling_and_other_text_is_not() {
        for text in [
            "",
            " \n",
            "Nothing",
            "nothing.",
            "NOTHING!",
            "“Nothing.”",
            "*Nothing*",
            "(nothing)",
            "None.",
            "...",
            "…",
            "- nothing -",
            "Nothing to add.",
            "N/A",
            "\u{200b}nothing",
        ] {
            assert!(is_silence(text), "{text:?}");
        }
        for text in
            ["Nothing is printed before Friday.", "Nothing?", "No.", "Yes.", "👍", "3", "none of them", "何もない"]
        {
            assert!(!is_silence(text), "{text:?}");
        }
    }

    #[test]
    fn silence_is_neither_said_nor_pinned_sent_or_noted() {
        let parsed = without_silence(parse("Nothing.\n[PIN: nothing] [SEND to Ada: Nothing.] [REMEMBER: none]", false));
        assert_eq!(parsed, Parsed::default());
        let parsed = without_silence(parse("nothing\n[VOTE_UP: p1] [PIN: Nothing is closed]", false));
        assert_eq!((parsed.intents.len(), parsed.shown.as_str()), (2, ""));
    }
}
