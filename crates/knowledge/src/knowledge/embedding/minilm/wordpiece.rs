//! The tokenizer of uncased BERT: splits a text into words without accents, and each word into the longest known
//! tokens.

use std::collections::HashMap;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// The maximum length of a word in characters; a longer one is unknown.
const MAX_WORD_CHARS: usize = 100;

/// The tokens of a vocabulary.
pub(super) struct WordPieces {
    /// The number of each token. Only used for lookups, never iterated.
    numbers: HashMap<String, usize>,
    begin: usize,
    end: usize,
    unknown: usize,
}

impl WordPieces {
    /// Parses a vocabulary with one token per line, in the order of their numbers.
    pub(super) fn new(vocabulary: &str) -> Result<Self, String> {
        let numbers: HashMap<String, usize> =
            vocabulary.lines().enumerate().map(|(number, piece)| (piece.trim_end().to_owned(), number)).collect();
        let number = |piece: &str| {
            let missing = || format!("the piece {piece} is missing: download the model again");
            numbers.get(piece).copied().ok_or_else(missing)
        };
        let (begin, end, unknown) = (number("[CLS]")?, number("[SEP]")?, number("[UNK]")?);
        Ok(Self { numbers, begin, end, unknown })
    }

    /// Returns the numbers of a text's tokens, up to a maximum, including the start and end tokens.
    pub(super) fn numbers_of(&self, text: &str, at_most: usize) -> Vec<usize> {
        let mut numbers = vec![self.begin];
        for word in words(text) {
            self.push(&word, &mut numbers);
            if numbers.len() >= at_most {
                break;
            }
        }
        numbers.truncate(at_most.saturating_sub(1));
        numbers.push(self.end);
        numbers
    }

    /// Splits a word into the longest tokens; if a part matches no token, the whole word is unknown.
    fn push(&self, word: &str, numbers: &mut Vec<usize>) {
        let (before, mut rest) = (numbers.len(), word);
        let is_long = word.chars().count() > MAX_WORD_CHARS;
        let mut piece = String::new();
        while !rest.is_empty() && !is_long {
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
            let found = ends.into_iter().find_map(|end| {
                piece.clear();
                piece.push_str(if rest.len() < word.len() { "##" } else { "" });
                piece.push_str(&rest[..end]);
                self.numbers.get(piece.as_str()).map(|number| (*number, end))
            });
            let Some((number, end)) = found else { break };
            numbers.push(number);
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            numbers.truncate(before);
            numbers.push(self.unknown);
        }
    }
}

/// Returns the words of a text in lower case without accents; punctuation and Chinese characters are words of their
/// own.
fn words(text: &str) -> Vec<String> {
    let plain: String = text.chars().filter(|letter| !is_dropped(*letter)).collect();
    let plain = DecomposingNormalizerBorrowed::new_nfd().normalize(&plain);
    let mut words = vec![String::new()];
    for letter in plain.chars().filter(|letter| !is_mark(*letter)).flat_map(char::to_lowercase) {
        if letter.is_whitespace() {
            words.push(String::new());
        } else if is_sign(letter) || is_chinese(letter) {
            words.push(letter.to_string());
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_dropped(letter: char) -> bool {
    letter == '\u{fffd}' || (letter.is_control() && !letter.is_whitespace())
}

/// Whether a character is a combining mark of a script in which the model knows words.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'
        | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{93c}' | '\u{941}'..='\u{948}' | '\u{94d}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20f0}' | '\u{3099}'..='\u{309a}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
}

fn is_sign(letter: char) -> bool {
    letter.is_ascii_punctuation()
        || matches!(letter, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{5be}' | '\u{60c}' | '\u{61b}' | '\u{61f}'
            | '\u{964}'..='\u{965}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}'
            | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}' | '\u{ff01}'..='\u{ff03}'
            | '\u{ff05}'..='\u{ff0a}' | '\u{ff0c}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1b}' | '\u{ff1f}'..='\u{ff20}'
            | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}')
}

fn is_chinese(letter: char) -> bool {
    matches!(letter, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
