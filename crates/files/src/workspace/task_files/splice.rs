//! Replaces pieces of a text: everything between them stays byte for byte the same.

use super::model::Span;

/// Replacements in a text, in any order. They must not overlap.
#[derive(Default)]
pub(super) struct Splices(Vec<(Span, String)>);

impl Splices {
    /// Puts `text` in the place of a stretch.
    pub(super) fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.0.push((span, text.into()));
    }

    /// Puts `text` before what begins here.
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether one of the pieces after the first `count` has another content than the text.
    pub(super) fn are_others_since(&self, first: usize, text: &str) -> bool {
        self.0[first..].iter().any(|(span, piece)| text[span.clone()] != *piece)
    }

    /// The text with all of it done.
    pub(super) fn apply(mut self, text: &str) -> String {
        // Insertions come before replacements at the same place, in the order of the requests.
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
