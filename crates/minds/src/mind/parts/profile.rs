//! The part of a prompt about who the agent is: its name and its file.

use super::{PartProvider, Privacy, Share, Slot};
use crate::mind::headings;
use crate::mind::instructions::orders;
use crate::mind::prompt::PartItem;

/// Who the agent is.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("profile", "Its file", headings::WHO), Slot::System, |context, out| {
        let (text, body) = orders(context, out.room()).who;
        out.text(text, body, vec![PartItem::named(&context.who.name, "")]);
    })
    .ranked(400)
    .with_share(Share::Orders)
    .with_privacy(Privacy::Open)
}
