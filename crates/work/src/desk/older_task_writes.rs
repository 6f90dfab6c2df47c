//! Edits of task files in rooms that were saved when an edit was two orders: one that read the file, and one that saved
//! the edited text if the file was still as it was read.

use serde::Deserialize;

use crate::base::Id;
use crate::workspace::vfs::EditReport;

/// An edit under way in such a room.
#[derive(Deserialize)]
pub(super) struct OlderTaskWrite<Write> {
    /// The prefix of the keys of its orders.
    pub(super) key: String,
    /// The edit.
    pub(super) write: Write,
    stage: OlderStage,
    tries: u32,
    #[serde(default)]
    waits: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OlderStage {
    Waiting,
    Reading,
    AwaitingDisk,
    Saving { id: String, title: String },
}

impl<Write> OlderTaskWrite<Write> {
    /// The number of orders that read or saved the file so far.
    pub(super) fn attempts(&self) -> u32 {
        self.tries + self.waits
    }

    /// The key of the order that saves the edited text, and what the edit did if that succeeds; `None` if the text was
    /// not saved yet, so that the edit can be ordered as a whole.
    pub(super) fn save_under_way(&self) -> Option<(Id, EditReport)> {
        match &self.stage {
            OlderStage::Waiting | OlderStage::Reading | OlderStage::AwaitingDisk => None,
            OlderStage::Saving { id, title } => {
                let key = format!("{}/{}/save", self.key, self.attempts());
                Some((key.into(), EditReport::Task { id: id.clone(), title: title.clone() }))
            }
        }
    }
}
