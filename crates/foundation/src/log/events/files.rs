//! Events about the files of the workspace.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{EventData, EventKind, is_false};
use crate::base::Id;
use crate::log::narration::{NarrationContext, counted, in_brackets, joined, with};

/// A file of the workspace changed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileChange {
    /// The path; the new one if the file was renamed.
    pub path: Id,
    /// The author: an agent, `user`, or `outside` for another program.
    pub by: Id,
    /// The length of the new text in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<u64>,
    /// Whether the file was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<bool>,
    /// The previous path, if the file was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Id>,
    /// The section of the settings that a person changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The values of the changed keys, without secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Map<String, Value>>,
    /// The version that was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whether the file was deleted.
    #[serde(skip_serializing_if = "is_false")]
    pub gone: bool,
    /// Whether a stored version was restored, for example by undoing a deletion.
    #[serde(skip_serializing_if = "is_false")]
    pub restored: bool,
    /// Whether a program that the agent ran made the change.
    #[serde(skip_serializing_if = "is_false")]
    pub by_program: bool,
    /// Other agents whose programs ran at the same moment and may have made the change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Id>,
}

impl FileChange {
    /// Creates the event for this path and author.
    pub fn new(path: impl Into<Id>, by: impl Into<Id>) -> Self {
        Self { path: path.into(), by: by.into(), ..Self::default() }
    }
}

impl EventData for FileChange {
    const KIND: EventKind = EventKind::FileChange;

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let by =
            self.others.iter().fold(context.by(&self.by), |by, other| format!("{by} or {}", context.called(other)));
        let by = if self.by_program { format!("A program that {by} ran") } else { by };
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
            (_, None) if self.by_program => "changed",
            _ if self.restored => "restored",
            (_, Some(true)) => "created",
            _ => "wrote",
        };
        in_brackets(&format!("{by} {verb} {path}"), &joined([version, chars]))
    }
}
