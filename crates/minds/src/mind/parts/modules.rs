//! The part of a prompt that an agent's modules add while it works.

use super::{PartProvider, Privacy, Share, Slot};
use crate::mind::context::CurrentRequest;
use crate::mind::headings;

/// The text of the modules, after the skills.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("modules", "What its modules say", headings::MODULES), Slot::System, |context, out| {
        out.own_text(&context.desk.modules, Vec::new());
    })
    .ranked(600)
    .with_share(Share::Whole(12))
    .with_privacy(Privacy::Open)
    .at(|moment| matches!(moment, CurrentRequest::Work))
}
