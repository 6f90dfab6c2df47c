//! The panes of the studio: which there are and where they stand.

use serde::{Deserialize, Serialize};

/// A pane.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tab {
    /// What can be dragged into the room.
    Shelf,
    /// The files of the workspace.
    Files,
    /// The room.
    Room,
    /// Who started whom, and who read and wrote what.
    Graph,
    /// A file in the editor, by path.
    File(String),
    /// What is known of the selection.
    Inspector,
    /// Conversations.
    Talks,
    /// The event log.
    Log,
}
