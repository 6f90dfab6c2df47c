//! Spelling: the one normal form of a text, and the forms in which two texts are the same word for a disk or an eye.

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// The text with every letter in its composed form (NFC): `e` with an accent behind it becomes `é`.
pub fn nfc(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// The form in which two names are the same wherever anything takes them for the same.
pub fn folded(part: &str) -> String {
    if part.is_ascii() {
        return part.to_ascii_lowercase();
    }
    let nfkc = ComposingNormalizerBorrowed::new_nfkc();
    // By way of capitals: 'ı' and 'ſ' have the capitals of 'i' and 's', and 'ẞ' is the capital of 'ß', whose own is
    // 'SS'. Some capitals come apart ('ΐ').
    let small = nfkc.normalize(part).chars().flat_map(char::to_lowercase).collect::<String>();
    let folded: String = small.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    nfkc.normalize(&folded).into_owned()
}

/// [`folded`], without accents, and with letters of other scripts replaced by the Latin ones that look the same: two
/// words with one skeleton are taken for each other by whoever reads them.
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

/// Controls, and what takes no room or turns the direction of writing.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}'
            | '\u{e0000}'..='\u{e0fff}')
        || (u32::from(c) & 0xfffe) == 0xfffe
        || (c.is_whitespace() && c != ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_has_one_form_however_it_is_typed() {
        assert_eq!(nfc("jose\u{301}"), "josé");
        assert_eq!(folded("STRA\u{212a}E"), folded("strake"));
        assert_eq!(folded("\u{17f}cenes"), "scenes");
        for word in ["us\u{435}r", "UŚER", "u\u{455}er", "ｕser"] {
            assert_eq!(skeleton(word), "user", "{word:?}");
        }
        assert!(is_unseen('\u{200b}') && is_unseen('\n') && !is_unseen(' ') && !is_unseen('é'));
    }

    #[test]
    fn the_folded_form_of_every_letter_is_composed_and_the_same_in_capitals() {
        for letter in '\u{80}'..=char::MAX {
            let folded_once = folded(&letter.to_string());
            assert_eq!(folded(&folded_once), folded_once, "{letter:?}");
            assert_eq!(nfc(&folded_once), folded_once, "{letter:?}");
            assert_eq!(folded(&letter.to_uppercase().to_string()), folded_once, "{letter:?}");
        }
    }
}
