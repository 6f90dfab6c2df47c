//! The message board: one text that everyone reads.

use super::content::ElementChange;
use super::kind::{Kind, Urgency, Wake};
use super::written::Written;

/// Message boards.
pub static KIND: Kind = Kind {
    word: "messageboard",
    name: "message board",
    standing_instructions: false,
    private: false,
    wakes: |change| match change {
        ElementChange::TextSet => Wake::Everyone(Urgency::High),
        _ => Wake::Nobody,
    },
    from_scene: |entry, place| Written::from_scene(entry, place, "message board", false),
    from_markdown: |text| Written::from_markdown(text, "message board", false),
    faults: |_| Vec::new(),
};
