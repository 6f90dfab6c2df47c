//! Events about the files of the workspace.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{EventData, EventKind, is_false};
use crate::base::Id;
use crate::log::narration::{NarrationContext, aside, counted, joined, with};

/// A file of the workspace changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileChange {
    /// Which; where it is now, if it was renamed.
    pub path: Id,
    /// Who did it: an agent, `user`, `outside` for another program.
    pub by: Id,
    /// How long its text is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<u64>,
    /// Whether it was not there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<bool>,
    /// Where it was before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Id>,
    /// The section of the settings that a person changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// What the section says now, key by key; no secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Map<String, Value>>,
    /// The version that is kept of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whether it is gone.
    #[serde(skip_serializing_if = "is_false")]
    pub gone: bool,
    /// Whether a version that was kept of it was put back, as Undo does after a deletion.
    #[serde(skip_serializing_if = "is_false")]
    pub restored: bool,
}

impl FileChange {
    /// This one did something to this file.
    pub fn new(path: impl Into<Id>, by: impl Into<Id>) -> Self {
        Self { path: path.into(), by: by.into(), ..Self::default() }
    }
}

impl EventData for FileChange {
    const KIND: EventKind = EventKind::FileChange;

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let by = telling.by(&self.by);
        let path = if self.path.is_empty() { "a file".to_owned() } else { with("", "", &self.path) };
        if self.gone {
            return format!("{by} deleted {path}");
        }
        if let Some(from) = &self.from {
            return format!("{by} renamed {} to {path}", with("", "", from));
        }
        if let Some(section) = &self.section {
            return format!("{by} changed the settings of {} in {path}", with("", "", section));
        }
        let version = self.version.map(|version| format!("version {version}"));
        let chars = self.chars.map(|chars| counted(chars, "character", "characters"));
        let verb = match (&*self.by, self.new) {
            ("outside", _) => "changed",
            _ if self.restored => "restored",
            (_, Some(true)) => "created",
            _ => "wrote",
        };
        aside(&format!("{by} {verb} {path}"), &joined([version, chars]))
    }
}
