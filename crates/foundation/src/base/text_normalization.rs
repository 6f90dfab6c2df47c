//! Normalization of text: the canonical form, and the forms in which texts are compared as a file system or a reader
//! would compare them.

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use super::text::one_line;

/// Returns the text with every letter in its composed form (NFC): `e` followed by an accent becomes `é`.
pub fn nfc(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// Returns the form in which two names are equal if any file system treats them as equal.
pub fn folded(part: &str) -> String {
    if part.is_ascii() {
        return part.to_ascii_lowercase();
    }
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    // Converted through upper case: 'ı' and 'ſ' have the capitals of 'i' and 's', and 'ẞ' is the capital of 'ß', whose
    // own is 'SS'. Some capitals are decomposed ('ΐ').
    let small = nfkc.normalize(part).chars().flat_map(char::to_lowercase).collect::<String>();
    let folded: String = small.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    nfkc.normalize(&folded).into_owned()
}

/// Returns the form in which texts with the same wording are equal: [`folded`] on one line, without invisible
/// characters and without surrounding full stops and quotation marks. A question mark is kept.
pub fn folded_text(text: &str) -> String {
    let seen: String =
        text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_invisible(*c)).collect();
    let folded = folded(&one_line(&seen));
    let is_around = |c: char| c == ' ' || ".!,;:…\"'“”„‘’‚«»*_`".contains(c);
    let bare = folded.trim_matches(is_around);
    if bare.is_empty() { folded } else { bare.to_owned() }
}

/// A text prepared for finding names in it, however they are spelled.
#[derive(Clone, Debug)]
pub struct NormalizedWords(String);

impl NormalizedWords {
    /// Prepares a text.
    pub fn of(text: &str) -> Self {
        Self(folded(text))
    }

    /// Whether the text contains a name as whole words.
    pub fn name(&self, name: &str) -> bool {
        let name = folded(name.trim());
        let is_apart = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !name.is_empty()
            && self.0.match_indices(&name).any(|(at, _)| {
                let (before, after) = (&self.0[..at], &self.0[at + name.len()..]);
                is_apart(before.chars().next_back()) && is_apart(after.chars().next())
            })
    }
}

/// Returns the [`folded`] form without accents, and with letters of other scripts replaced by similar Latin ones:
/// readers confuse two words with the same skeleton.
pub fn skeleton(part: &str) -> String {
    let folded = folded(part);
    if folded.is_ascii() {
        return folded;
    }
    let bare = DecomposingNormalizerBorrowed::new_nfd().normalize(&folded);
    bare.chars()
        .filter(|c| !matches!(c, '\u{300}'..='\u{36f}'))
        .map(|c| match c {
            'а' | 'α' | 'ɑ' => 'a',
            'ь' => 'b',
            'с' | 'ϲ' => 'c',
            'ԁ' => 'd',
            'е' | 'ε' => 'e',
            'ɡ' => 'g',
            'һ' => 'h',
            'і' | 'ι' => 'i',
            'ј' => 'j',
            'κ' | 'к' => 'k',
            'ӏ' => 'l',
            'м' => 'm',
            'п' => 'n',
            'о' | 'ο' | 'օ' => 'o',
            'р' | 'ρ' => 'p',
            'г' => 'r',
            'ѕ' => 's',
            'т' | 'τ' => 't',
            'υ' | 'ս' => 'u',
            'ν' | 'ѵ' => 'v',
            'ѡ' | 'ω' => 'w',
            'х' | 'χ' => 'x',
            'у' | 'γ' => 'y',
            other => other,
        })
        .collect()
}

/// Whether a character is a control character, takes no space, or changes the direction of writing.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}'
            | '\u{e0000}'..='\u{e0fff}')
        || (u32::from(c) & 0xfffe) == 0xfffe
        || (c.is_whitespace() && c != ' ')
}

/// Whether a character is invisible, or moves others, and no script or picture needs it: changes of the writing
/// direction, zero-width blanks, and tags and variation selectors that can spell out a hidden text. Joiners are needed.
pub fn is_misleading(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_have_one_form_in_any_spelling() {
        assert_eq!(nfc("jose\u{301}"), "josé");
        assert_eq!(folded("STRA\u{212a}E"), folded("strake"));
        assert_eq!(folded("\u{17f}cenes"), "scenes");
        for word in ["us\u{435}r", "UŚER", "u\u{455}er", "ｕser"] {
            assert_eq!(skeleton(word), "user", "{word:?}");
        }
        assert!(is_invisible('\u{200b}') && is_invisible('\n') && !is_invisible(' ') && !is_invisible('é'));
    }

    #[test]
    fn a_name_is_found_as_whole_words() {
        let words = NormalizedWords::of("Ask ADA, or Jean-Luc at (ben).");
        assert!(["Ada", "jean-luc", " Ben "].iter().all(|name| words.name(name)));
        assert!(["Ad", "da", "Luc2", "", "be"].iter().all(|name| !words.name(name)));
    }

    #[test]
    fn only_texts_with_the_same_meaning_have_the_same_form() {
        for text in [
            "The bridge is closed.",
            "  the BRIDGE\n is closed",
            "“The bridge is\u{200b} closed!”",
            "*The bridge is closed*",
        ] {
            assert_eq!(folded_text(text), "the bridge is closed", "{text:?}");
        }
        for (one, other) in [("Learn C", "Learn C++"), ("It closes", "It closes?"), ("…", "!"), ("🎉", "👋")] {
            assert_ne!(folded_text(one), folded_text(other));
        }
    }

    #[test]
    fn the_folded_form_of_every_letter_is_composed_and_ignores_case() {
        for letter in '\u{80}'..=char::MAX {
            let folded_once = folded(&letter.to_string());
            assert_eq!(folded(&folded_once), folded_once, "{letter:?}");
            assert_eq!(nfc(&folded_once), folded_once, "{letter:?}");
            assert_eq!(folded(&letter.to_uppercase().to_string()), folded_once, "{letter:?}");
        }
    }
}
