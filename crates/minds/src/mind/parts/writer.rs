//! Writes the text of a part within its share, and its items as data.

use std::ops::Range;

use super::super::heading_guard::Headings;
use super::super::prompt::{PartItem, PromptOrigin, PromptPart};
use super::super::untrusted_text::{MIN_CHARS, push_cut, push_fenced};
use super::{PartProvider, Share};
use crate::base::Id;
use crate::base::text::one_line;

/// Receives the content of a provider as one or more parts.
pub struct PartWriter<'a> {
    provider: &'a PartProvider,
    /// The headings that no content may imitate.
    headings: &'a Headings,
    /// Characters of the whole prompt.
    max_chars: usize,
    /// The characters left for this provider.
    left: usize,
    parts: Vec<PromptPart>,
    mail_shown: Vec<Id>,
    of: Option<(PromptOrigin, String)>,
}

impl<'a> PartWriter<'a> {
    pub(in super::super) fn new(
        provider: &'a PartProvider,
        headings: &'a Headings,
        (max_chars, left): (usize, usize),
    ) -> Self {
        Self { provider, headings, max_chars, left, parts: Vec::new(), mail_shown: Vec::new(), of: None }
    }

    /// Returns the written parts, and the ids of the mail in them.
    pub(in super::super) fn finish(self) -> (Vec<PromptPart>, Vec<Id>) {
        (self.parts, self.mail_shown)
    }

    /// Returns how many characters the next part may take.
    pub fn room(&self) -> usize {
        match self.provider.share {
            Share::Orders => super::super::instructions::room_for_orders(self.max_chars),
            Share::Whole(part) => self.max_chars / part.max(1),
            Share::Left(part) | Share::LeftFirst(part) => self.left / part.max(1),
        }
    }

    /// Marks the text written next as the content of this element; its label follows the heading.
    pub fn of_element(&mut self, element: &str, label: &str) {
        let origin = PromptOrigin { element: Some(element.into()), ..self.provider.origin() };
        self.of = Some((origin, format!("{} {label}", self.provider.heading)));
    }

    /// Adds a part with the room's own text below its heading, unless the text is empty.
    pub fn own_text(&mut self, body: &str, items: Vec<PartItem>) {
        let write = |text: &mut String, room| {
            let start = text.len();
            push_cut(text, body, room);
            start..text.len()
        };
        self.headed(body, items, write);
    }

    /// Adds a part with external text between fences below its heading, unless the text is empty.
    pub fn data(&mut self, body: &str, items: Vec<PartItem>) {
        self.headed(body, items, |text, room| push_fenced(text, body, room));
    }

    /// Adds a text whose first line is its own heading; `body` is the range of its content.
    pub fn text(&mut self, text: String, body: Range<usize>, items: Vec<PartItem>) {
        let (text, body) = self.headings.escape_headings_in_part(text, body);
        self.left = self.left.saturating_sub(text.chars().count());
        let origin = self.of.take().map_or_else(|| self.provider.origin(), |(origin, _)| origin);
        self.parts.push(PromptPart { origin, text, body, items });
    }

    /// Records that the part contains this mail, so that it counts as seen.
    pub(super) fn show_mail(&mut self, ids: Vec<Id>) {
        self.mail_shown.extend(ids);
    }

    fn headed(&mut self, body: &str, items: Vec<PartItem>, write: impl FnOnce(&mut String, usize) -> Range<usize>) {
        let heading = self.of.as_ref().map_or(&*self.provider.heading, |(_, heading)| heading);
        let least = heading.len() + MIN_CHARS;
        let is_of_rest = matches!(self.provider.share, Share::Left(_) | Share::LeftFirst(_));
        if body.trim().is_empty() || is_of_rest && self.left < least {
            self.of = None;
            return;
        }
        let room = if is_of_rest { self.room().max(least) } else { self.room() };
        let mut text = String::with_capacity(heading.len() + body.len().min(room) + 32);
        text.push_str(heading);
        text.push('\n');
        let around = text.len();
        let body = write(&mut text, room.saturating_sub(around));
        self.text(text, body, items);
    }
}

/// Returns a bullet list of one line each, for use between fences.
pub(super) fn bullets(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(if text.is_empty() { "- " } else { "\n- " });
        let line = line.as_ref();
        if line.contains('\n') { text.push_str(&one_line(line)) } else { text.push_str(line) }
    }
    text
}
