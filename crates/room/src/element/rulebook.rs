//! The rulebook: one text that stands at the head of every prompt.

use super::content::ElementChange;
use super::kind::{Kind, Wake};
use super::written::Written;
use crate::base::Urgency;

/// Rulebooks.
pub static KIND: Kind = Kind {
    word: "rulebook",
    name: "rulebook",
    standing_instructions: true,
    private: false,
    wakes: |change| match change {
        ElementChange::TextSet => Wake::Everyone(Urgency::Rule),
        _ => Wake::Nobody,
    },
    from_scene: |entry, place| Written::from_scene(entry, place, "rulebook", true),
    from_markdown: |text| Written::from_markdown(text, "rulebook", true),
    faults: |_| Vec::new(),
};
