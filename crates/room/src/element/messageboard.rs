//! The message board: one text that everyone reads.

use super::change::{ChangeKind, ElementChange, Wake};
use super::kind::Kind;
use super::text_content::TextContent;
use crate::base::Urgency;

/// The kind of message boards.
pub static KIND: Kind = Kind {
    purpose: "One text that everyone reads",
    colour: [0x25, 0x63, 0xeb],
    in_every_prompt: true,
    changes: &[ChangeKind::new(ElementChange::TEXT_SET, Wake::Everyone(Urgency::Rule))],
    ..Kind::new(
        "messageboard",
        "message board",
        |entry, place| TextContent::from_scene(entry, place, "message board", false),
        |text| TextContent::from_markdown(text, "message board", false),
    )
};
