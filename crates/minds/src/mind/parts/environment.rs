//! The part of a prompt about elements that the agent has read.

use super::writer::bullets;
use super::{PartProvider, Share, Slot};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::untrusted_text::name;

/// Elements by label, each with its remembered summary.
pub(super) fn part() -> PartProvider {
    PartProvider::new(
        ("environment", "What it knows about elements", headings::SEEN),
        Slot::Changing,
        |context, out| {
            let seen = &context.memory.seen;
            let lines = seen.iter().map(|(label, summary)| format!("{}: {summary}", name(label)));
            out.data(&bullets(lines), seen.iter().map(|(label, summary)| PartItem::named(label, summary)).collect());
        },
    )
    .ranked(300)
    .with_share(Share::Left(2))
}
