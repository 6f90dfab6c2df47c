//! The part of a prompt that lists the skills of a working agent: when to use each, and its path.

use super::{PartProvider, Privacy, Share, Slot};
use crate::mind::context::CurrentRequest;
use crate::mind::headings;

/// The list of skills, after the profile.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("skills", "Its skills", headings::SKILLS), Slot::System, |context, out| {
        out.own_text(&context.desk.skills, Vec::new());
    })
    .ranked(500)
    .with_share(Share::Whole(12))
    .with_privacy(Privacy::Open)
    .at(|moment| matches!(moment, CurrentRequest::Work))
}
