//! The tokenizer of Llama 2: splits a text into tokens by merging neighbours, the most frequent token first.
//!
//! A separate table of merges is not needed: two neighbours may be merged if a token has their text, and the token with
//! the lowest number is merged first. Runs of spaces come last, as in the original.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The character that represents a space.
const BLANK: char = '▁';
/// The number of the token for the byte 0; the other bytes follow.
const BYTE_0: u32 = 3;

/// The vocabulary of a tokenizer.
pub(super) struct Pieces {
    /// The number of each token. Only used for lookups, never iterated.
    numbers: HashMap<&'static str, u32>,
}

/// A range of the text that currently forms one token.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    /// The indexes of the neighbouring parts.
    before: usize,
    after: usize,
    /// The number of its token; `None` if no token has this text.
    number: Option<u32>,
}

const NONE: usize = usize::MAX;

impl Pieces {
    /// Creates the vocabulary from the texts in the order of their numbers; an empty text is no token.
    pub(super) fn new(texts: impl Iterator<Item = &'static str>) -> Self {
        let numbered = texts.enumerate().filter(|(_, text)| !text.is_empty());
        Self { numbers: numbered.map(|(number, text)| (text, u32::try_from(number).unwrap_or(u32::MAX))).collect() }
    }

    /// Returns the numbers of a text's tokens.
    pub(super) fn numbers_of(&self, text: &str) -> Vec<u32> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut marked = String::with_capacity(text.len() + text.len() / 2 + BLANK.len_utf8());
        marked.push(BLANK);
        text.chars().for_each(|character| marked.push(if character == ' ' { BLANK } else { character }));
        let mut parts = self.merged(&marked);
        let mut numbers = Vec::with_capacity(parts.len() / 2);
        let mut at = 0;
        while at != NONE {
            let part = &mut parts[at];
            match part.number {
                Some(number) => numbers.push(number),
                None => numbers.extend(marked.as_bytes()[part.start..part.end].iter().map(|b| BYTE_0 + u32::from(*b))),
            }
            at = part.after;
        }
        numbers
    }

    /// Returns the parts of a text after all merges, as a linked list that starts with the first element.
    fn merged(&self, text: &str) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::with_capacity(text.len());
        for (start, character) in text.char_indices() {
            let (end, index) = (start + character.len_utf8(), parts.len());
            let number = self.numbers.get(&text[start..end]).copied();
            parts.push(Part { start, end, before: index.wrapping_sub(1), after: index + 1, number });
        }
        if let Some(last) = parts.last_mut() {
            last.after = NONE;
        }
        let mut due = BinaryHeap::with_capacity(parts.len());
        for index in 0..parts.len().saturating_sub(1) {
            due.extend(self.merge_of(text, &parts, index));
        }
        while let Some(Reverse((_, left, end, number))) = due.pop() {
            let part = parts[left];
            // The next part was merged meanwhile and does not exist any more.
            let Some(right) = parts.get(part.after).copied().filter(|right| right.end == end) else { continue };
            if part.end == part.start || part.number.is_none() {
                continue;
            }
            let gone = part.after;
            parts[left] = Part { end, after: right.after, number: Some(number), ..part };
            parts[gone].end = parts[gone].start;
            if let Some(next) = parts.get_mut(right.after) {
                next.before = left;
            }
            due.extend(self.merge_of(text, &parts, left));
            if part.before != NONE {
                due.extend(self.merge_of(text, &parts, part.before));
            }
        }
        parts
    }

    /// Returns the merge of a part with the next one, if a token has the text of both.
    fn merge_of(&self, text: &str, parts: &[Part], left: usize) -> Option<Reverse<(u32, usize, usize, u32)>> {
        let part = parts[left];
        let right = parts.get(part.after)?;
        part.number.and(right.number)?;
        let both = &text[part.start..right.end];
        let number = *self.numbers.get(both)?;
        let is_blanks = both.starts_with(BLANK) && both.chars().all(|character| character == BLANK);
        let rank = if is_blanks { number.saturating_add(1 << 24) } else { number };
        Some(Reverse((rank, left, right.end, number)))
    }
}
