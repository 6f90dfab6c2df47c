//! The part of a prompt with the pins that the agent keeps.

use super::writer::bullets;
use super::{PartProvider, Share, Slot};
use crate::base::text::one_line;
use crate::mind::context::KeptPin;
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::untrusted_text::ITEM_CHARS;
use crate::mind::untrusted_text::{name, push_cut};

/// Kept pins with their pinboard and author.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("kept_pins", "Pins it keeps", headings::PINS), Slot::Changing, |context, out| {
        let lines = context.kept_pins.iter().map(|pin| {
            let mut line = format!("{} (by {}) on {}: ", name(&pin.id), name(&pin.author), name(&pin.board));
            push_cut(&mut line, &one_line(&pin.text), ITEM_CHARS);
            line
        });
        let item = |pin: &KeptPin| PartItem {
            id: pin.id.to_string(),
            name: pin.board.to_string(),
            by: pin.author.to_string(),
            text: pin.text.clone(),
        };
        out.data(&bullets(lines), context.kept_pins.iter().map(item).collect());
    })
    .ranked(400)
    .with_share(Share::Left(2))
}
