//! The part of a prompt with the summary of earlier sessions.

use super::{PartProvider, Share, Slot};
use crate::mind::headings;

/// The context summary; the next one builds on it.
pub(super) fn part() -> PartProvider {
    let names = ("summary", "Its summary of earlier sessions", headings::SUMMARY);
    PartProvider::new(names, Slot::Known, |context, out| out.data(&context.memory.summary, Vec::new()))
        .ranked(300)
        .with_share(Share::Left(2))
        .at(|_| true)
}
