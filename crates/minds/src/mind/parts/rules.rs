//! The part of a prompt with all rulebooks, always first.

use super::{PartProvider, Privacy, Share, Slot};
use crate::mind::instructions::orders;

/// All rulebooks within their frame.
pub(super) fn part() -> PartProvider {
    let names = ("standing_instructions", "Rulebooks", crate::mind::headings::STANDING_OPEN);
    PartProvider::new(names, Slot::System, |context, out| {
        if let Some((text, body)) = orders(context, out.room()).rules {
            out.text(text, body, Vec::new());
        }
    })
    .ranked(100)
    .with_share(Share::Orders)
    .with_privacy(Privacy::Open)
    .at(|_| true)
}
