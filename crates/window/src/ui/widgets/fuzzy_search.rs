//! Fuzzy search: finds the texts that contain a few typed letters in this order, best match first.
//!
//! The library `nucleo-matcher` (the matcher of the Helix editor) scores each text; only the order of texts with equal
//! scores is decided here.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Letters beyond these are not looked for: the matcher counts in 16 bits, which some thousands of letters overflow.
const LETTERS_AT_MOST: usize = 500;

/// The texts that hold the typed letters in this order, by index, best first: letters in a row and letters that begin a
/// word count more. White space that was typed, capitals and accents that were not typed make no difference. Of two
/// texts that fit alike the shorter one is meant, and of two as long the first.
pub fn best_first<'a>(typed: &str, texts: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let letters: String = typed.chars().filter(|letter| !letter.is_whitespace()).take(LETTERS_AT_MOST).collect();
    let wanted = Atom::new(&letters, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut characters = Vec::new();
    let mut found: Vec<(Reverse<u16>, usize, usize)> = Vec::new();
    for (index, text) in texts.into_iter().enumerate() {
        let text = Utf32Str::new(text, &mut characters);
        if let Some(score) = wanted.score(text, &mut matcher) {
            found.push((Reverse(score), text.len(), index));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(.., index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(typed: &str, texts: &[&'a str]) -> Option<&'a str> {
        best_first(typed, texts.iter().copied()).first().map(|index| texts[*index])
    }

    #[test]
    fn letters_must_occur_in_order_and_word_beginnings_win() {
        assert_eq!(best("xyz", &["Open scene evening"]), None);
        assert_eq!(best("neo", &["one"]), None);
        assert_eq!(best("ns", &["Undo last", "New scene", "Once upon a sun"]), Some("New scene"));
        assert_eq!(best("ada", &["Ada 12", "A day at sea", "Ada"]), Some("Ada"));
        assert_eq!(best("osev", &["Open scene evening", "Close every scene"]), Some("Open scene evening"));
        assert_eq!(best("PAUSE", &["Put a use to it", "Pause or continue"]), Some("Pause or continue"));
    }

    #[test]
    fn texts_that_fit_alike_come_in_one_order() {
        assert_eq!(best_first("", ["bb", "a", "b", ""]), [3, 1, 2, 0], "no letters are in every text");
        assert_eq!(best_first("ab", ["ab 22", "ab 1", "ab 2", "x", "ab"]), [4, 1, 2, 0]);
    }

    #[test]
    fn white_space_capitals_and_accents_make_no_difference_unless_they_are_typed() {
        assert_eq!(best_first(" new\tSCENE ", ["New scene", "new"]), [0]);
        assert_eq!(best_first("uber jose", ["Über José", "über josè", "user"]).len(), 2);
        assert_eq!(best_first("ü", ["u", "Ü"]), [1]);
    }

    #[test]
    fn texts_of_any_length_and_script_are_looked_through() {
        let long = "aé".repeat(100_000);
        let plain = "ab".repeat(100_000);
        let texts = [long.as_str(), plain.as_str(), "", "İ", "日本語", "ß", "\u{301}", "a\r\nb"];
        for typed in [long.as_str(), plain.as_str(), "é", "aé", "ab", "日語", "İ", "SS", "\u{301}", "a\\ b"] {
            let found = best_first(typed, texts);
            assert!(found.iter().all(|index| *index < texts.len()), "{found:?}");
        }
        assert_eq!(best_first("日語", texts), [4]);
        assert_eq!(best_first(&plain, texts), [1]);
        assert_eq!(best_first(&long, texts), [0]);
    }
}
