//! The part of a prompt about the agent's recent conversations.

use super::writer::bullets;
use super::{PartProvider, Share, Slot};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::untrusted_text::PERSON;

/// Recent interactions, oldest first; those with the person only if the profile shares that.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("interactions", "Who it talked to", headings::INTERACTIONS), Slot::Changing, |context, out| {
        let is_told = |line: &&String| context.who.share_user_info || !line.contains(PERSON);
        let told: Vec<&String> = context.memory.interactions.iter().filter(is_told).collect();
        out.data(&bullets(&told), told.iter().map(|line| PartItem::text(line)).collect());
    })
    .ranked(200)
    .with_share(Share::Left(2))
}
