//! The message board: one text that everyone reads.

use super::content::ElementChange;
use super::kind::{Kind, Wake};
use super::written::Written;
use crate::base::Urgency;

/// Message boards.
pub static KIND: Kind = Kind {
    word: "messageboard",
    name: "message board",
    standing_instructions: false,
    private: false,
    wakes: |change| match change {
        ElementChange::TextSet => Wake::Everyone(Urgency::Rule),
        _ => Wake::Nobody,
    },
    from_scene: |entry, place| Written::from_scene(entry, place, "message board", false),
    from_markdown: |text| Written::from_markdown(text, "message board", false),
    faults: |_| Vec::new(),
};
