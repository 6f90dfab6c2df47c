//! The files of the workspace as the world knows them, and messages about changes on disk.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{Author, Seq};
use crate::schedule::Input;

/// The complete start of a room. The same start and the same inputs give the same world.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RoomStart {
    /// The scene file, relative to the workspace: `scenes/studio.yaml`.
    pub scene: String,
    /// The text of every file that matters to a room, by path relative to the workspace, `/` between parts:
    /// `settings.yaml`, `scenes/…`, `agents/…`, `boards/…`.
    pub files: BTreeMap<String, String>,
    /// The seed, where the command line gives one; the scene's otherwise.
    pub seed: Option<u64>,
    /// The provider that answers in place of every agent's own, if the command line names one.
    pub provider: Option<String>,
    /// The saved world that goes on (see [`crate::schedule::saved`]); a fresh room where absent. With it,
    /// `files` are those that the saved world knew, not those on disk now.
    pub carried: Option<serde_json::Value>,
}

/// A file of the workspace was created, edited or removed by someone other than the room. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FileChanged {
    /// Relative to the workspace, `/` between parts.
    pub path: String,
    /// The current content.
    pub content: FileContent,
    /// Who changed it: an agent by its tools, else the person, in whatever editor.
    #[serde(default = "Author::user")]
    pub by: Author,
    /// The record of the change in the log, where there is one already.
    #[serde(default)]
    pub cause: Option<Seq>,
    /// The version of the file that the change is, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whether the person ordered it in this program (an import, a new scene), and did not do it in an editor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ordered: bool,
    /// If the room had also changed the file and not saved it yet: the text that both changes started from. The owner
    /// of the file merges them.
    #[serde(skip)]
    pub base: Option<String>,
}

impl FileChanged {
    /// A change that a person made.
    pub fn new(path: impl Into<String>, content: FileContent) -> Self {
        Self {
            path: path.into(),
            content,
            by: Author::user(),
            cause: None,
            version: None,
            is_ordered: false,
            base: None,
        }
    }
}

/// The room itself wrote a file that elements or other parts of the room hold as a whole: the world knows the new text.
/// Code that shows or follows the file reads it again.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct FileWritten {
    /// Relative to the workspace, `/` between parts.
    pub path: String,
}

/// The content of a changed file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    /// Text in UTF-8.
    Text(String),
    /// The file is gone.
    Removed,
    /// It cannot be used (not UTF-8, too large, not readable): why, and what to do.
    Unusable {
        /// What is wrong with it.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

impl Input for FileChanged {
    const KIND: &'static str = "file";
}

/// The text of every file that the world knows, by path. Written by this module only.
#[derive(Resource, Default, Clone, Debug)]
pub struct KnownFiles(pub(super) BTreeMap<String, String>);

/// Files by path, as a room would know them.
impl FromIterator<(String, String)> for KnownFiles {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(files: T) -> Self {
        Self(files.into_iter().collect())
    }
}

impl KnownFiles {
    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// All of them, by path.
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}
