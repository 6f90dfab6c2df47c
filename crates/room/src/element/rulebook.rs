//! The rulebook: one text that stands at the head of every prompt.

use super::content::ElementChange;
use super::kind::{Kind, Urgency, Wake};
use super::written::Written;

/// Rulebooks.
pub static KIND: Kind = Kind {
    word: "rulebook",
    name: "rulebook",
    standing_instructions: true,
    private: false,
    wakes: |change| match change {
        ElementChange::TextSet => Wake::Everyone(Urgency::High),
        _ => Wake::Nobody,
    },
    from_scene: |entry, place| Written::from_scene(entry, place, "rulebook", true),
    from_markdown: |text| Written::from_markdown(text, "rulebook", true),
    faults: |_| Vec::new(),
};
