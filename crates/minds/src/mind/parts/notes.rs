//! The part of a prompt with the agent's notes.

use super::writer::bullets;
use super::{PartProvider, Share, Slot};
use crate::mind::headings;
use crate::mind::prompt::PartItem;

/// The workspace notes, oldest first.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("notes", "Its notes", headings::NOTES), Slot::Changing, |context, out| {
        let notes = &context.memory.notes;
        out.data(&bullets(notes), notes.iter().map(|note| PartItem::text(note)).collect());
    })
    .ranked(100)
    .with_share(Share::Left(2))
}
