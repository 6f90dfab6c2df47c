//! Fuzzy search: finds the texts that contain the typed letters in order, best match first.
//!
//! The library `nucleo-matcher` (from the Helix editor) scores the texts; this file only decides the order of equal
//! scores.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The maximum number of letters that are searched for: the matcher counts in 16 bits, which overflow after some
/// thousands.
const MAX_LETTERS: usize = 500;

/// Returns the indices of the texts that contain the typed letters in order, best first: consecutive letters and
/// beginnings of words score higher. White space is ignored, and so are case and accents unless an accent is typed. Of
/// texts with equal scores the shorter comes first, then the earlier.
pub fn best_first<'a>(typed: &str, texts: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let letters: String = typed.chars().filter(|letter| !letter.is_whitespace()).take(MAX_LETTERS).collect();
    let pattern = Atom::new(&letters, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut characters = Vec::new();
    let mut matches: Vec<(Reverse<u16>, usize, usize)> = Vec::new();
    for (index, text) in texts.into_iter().enumerate() {
        let text = Utf32Str::new(text, &mut characters);
        if let Some(score) = pattern.score(text, &mut matcher) {
            matches.push((Reverse(score), text.len(), index));
        }
    }
    matches.sort_unstable();
    matches.into_iter().map(|(.., index)| index).collect()
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
    fn texts_with_equal_scores_have_a_fixed_order() {
        assert_eq!(best_first("", ["bb", "a", "b", ""]), [3, 1, 2, 0], "an empty search matches every text");
        assert_eq!(best_first("ab", ["ab 22", "ab 1", "ab 2", "x", "ab"]), [4, 1, 2, 0]);
    }

    #[test]
    fn white_space_case_and_untyped_accents_are_ignored() {
        assert_eq!(best_first(" new\tSCENE ", ["New scene", "new"]), [0]);
        assert_eq!(best_first("uber jose", ["Über José", "über josè", "user"]).len(), 2);
        assert_eq!(best_first("ü", ["u", "Ü"]), [1]);
    }

    #[test]
    fn texts_of_any_length_and_script_are_searched() {
        let long = "aé".repeat(100_000);
        let plain = "ab".repeat(100_000);
        let texts = [long.as_str(), plain.as_str(), "", "İ", "日本語", "ß", "\u{301}", "a\r\nb"];
        for typed in [long.as_str(), plain.as_str(), "é", "aé", "ab", "日語", "İ", "SS", "\u{301}", "a\\ b"] {
            let matches = best_first(typed, texts);
            assert!(matches.iter().all(|index| *index < texts.len()), "{matches:?}");
        }
        assert_eq!(best_first("日語", texts), [4]);
        assert_eq!(best_first(&plain, texts), [1]);
        assert_eq!(best_first(&long, texts), [0]);
    }
}
