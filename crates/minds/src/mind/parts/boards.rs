//! The part of a prompt with the content of message boards.

use super::{PartProvider, Share, Slot};
use crate::mind::headings;
use crate::mind::prompt::PartItem;
use crate::mind::untrusted_text::name;

/// A part for each message board.
pub(super) fn part() -> PartProvider {
    PartProvider::new(("board", "Message board", headings::BOARD), Slot::Known, |context, out| {
        for board in &context.boards {
            out.of_element(&board.id, &name(&board.label));
            out.data(board.text.trim(), vec![PartItem::named(&board.label, "")]);
        }
    })
    .ranked(200)
    .with_share(Share::Left(2))
}
