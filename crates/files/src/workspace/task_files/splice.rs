//! Replaces pieces of a text while everything between them stays byte for byte the same.

use super::model::Span;

/// Replacements in a text, in any order. They must not overlap.
#[derive(Default)]
pub(super) struct Splices(Vec<(Span, String)>);

impl Splices {
    /// Replaces a span with `text`.
    pub(super) fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.0.push((span, text.into()));
    }

    /// Inserts `text` at this offset.
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Returns the number of replacements.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether any replacement after the first `first` ones actually changes the text.
    pub(super) fn are_others_since(&self, first: usize, text: &str) -> bool {
        self.0[first..].iter().any(|(span, piece)| text[span.clone()] != *piece)
    }

    /// Returns the text with all replacements applied.
    pub(super) fn apply(mut self, text: &str) -> String {
        // At the same offset, insertions come before replacements, in the order in which they were added.
        self.0.sort_by_key(|(span, _)| (span.start, !span.is_empty()));
        let added: usize = self.0.iter().map(|(_, text)| text.len()).sum();
        let mut changed = String::with_capacity(text.len() + added);
        let mut at = 0;
        for (span, piece) in self.0 {
            debug_assert!(span.start >= at, "pieces do not overlap");
            changed.push_str(&text[at..span.start]);
            changed.push_str(&piece);
            at = span.end;
        }
        changed.push_str(&text[at..]);
        changed
    }
}
