//! The message board: one text that everyone reads.

use super::change::{ChangeKind, ElementChange, Wake};
use super::kind::Kind;
use super::written::Written;
use crate::base::Urgency;

/// Message boards.
pub static KIND: Kind = Kind {
    purpose: "One text that everyone reads",
    colour: [0x25, 0x63, 0xeb],
    in_every_prompt: true,
    changes: &[ChangeKind::new(ElementChange::TEXT_SET, Wake::Everyone(Urgency::Rule))],
    ..Kind::new(
        "messageboard",
        "message board",
        |entry, place| Written::from_scene(entry, place, "message board", false),
        |text| Written::from_markdown(text, "message board", false),
    )
};
