//! The rulebook: one text at the start of every prompt.

use super::change::{ChangeKind, ElementChange, Wake};
use super::kind::Kind;
use super::text_content::TextContent;
use crate::base::Urgency;

/// The kind of rulebooks.
pub static KIND: Kind = Kind {
    purpose: "Rules at the start of every prompt",
    colour: [0x1a, 0x47, 0x2a],
    standing_instructions: true,
    changes: &[ChangeKind::new(ElementChange::TEXT_SET, Wake::Everyone(Urgency::Rule))],
    ..Kind::new(
        "rulebook",
        "rulebook",
        |entry, place| TextContent::from_scene(entry, place, "rulebook", true),
        |text| TextContent::from_markdown(text, "rulebook", true),
    )
};
