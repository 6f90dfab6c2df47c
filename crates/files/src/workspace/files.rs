//! The world's view of the files of the workspace, and messages about changes on disk.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::trust::WorkspaceTrust;
use crate::base::{Author, Problem, Seq};
use crate::schedule::Input;

/// The complete initial state of a room. The same start and the same inputs produce the same world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RoomStart {
    /// The scene file, relative to the workspace: `scenes/studio.yaml`.
    pub scene: String,
    /// The text of every file that the room uses, by path relative to the workspace, with `/` between parts:
    /// `settings.yaml`, `scenes/…`, `agents/…`, `boards/…`.
    pub files: BTreeMap<String, String>,
    /// The seed given on the command line; `None` for the scene's own.
    pub seed: Option<u64>,
    /// The provider given on the command line, which replaces that of every agent.
    pub provider: Option<String>,
    /// The saved world to continue (see [`crate::schedule::saved`]); `None` for a fresh room. With it, `files` are
    /// those that the saved world knew, not those on disk now.
    pub carried: Option<serde_json::Value>,
    /// The files that the room uses and that cannot be read; `None` to keep those of the saved world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<UnreadableFiles>,
    /// What the person trusts of the workspace; `None` to keep that of the saved world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<WorkspaceTrust>,
}

/// Why a file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReadFailure {
    /// The problem.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl ReadFailure {
    /// Returns the failure as the content of the file.
    pub fn into_content(self) -> FileContent {
        FileContent::Unusable { what: self.what, remedy: self.remedy }
    }

    /// Returns the failure as a problem of the file.
    pub fn problem(&self, path: &str) -> Problem {
        Problem::error(path, self.what.clone(), self.remedy.clone())
    }
}

/// The files that exist and cannot be read now, by path. Whatever such a file restricts is as strict as it could have
/// been meant, unless an earlier text of it is in use. Written by this module only.
#[derive(Resource, Default, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnreadableFiles(pub(super) BTreeMap<String, ReadFailure>);

impl UnreadableFiles {
    /// Returns why a file cannot be read; `None` if it can be, or does not exist.
    pub fn failure(&self, path: &str) -> Option<&ReadFailure> {
        self.0.get(path)
    }

    /// Whether every file can be read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the files with the reasons.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ReadFailure)> {
        self.0.iter().map(|(path, failure)| (path.as_str(), failure))
    }
}

/// A file of the workspace was created, edited or removed by someone other than the room. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FileChanged {
    /// The path relative to the workspace, with `/` between parts.
    pub path: String,
    /// The current content.
    pub content: FileContent,
    /// The author of the change: an agent that used its tools, otherwise the person, in any editor.
    #[serde(default = "Author::user")]
    pub by: Author,
    /// The log record of the change, if there is one.
    #[serde(default)]
    pub cause: Option<Seq>,
    /// The version that the change created, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whether the person made the change in this program (an import, a new scene) rather than in an editor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ordered: bool,
    /// Whether the change was made with this program while the room was open: by the person, or by an act of an agent
    /// that the gate checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_seen: bool,
    /// Whether the whole text was put there without the person having written it in this program: an import, or an
    /// earlier text that came back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_copy: bool,
    /// The former path, if a file was renamed with this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether the room itself wrote the file in an earlier run, and the world does not know it: another scene was open,
    /// or the program was killed before the state of the world was saved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rooms: bool,
    /// The common base of both changes if the room had also changed the file and not saved it yet. The owner of the
    /// file merges them.
    #[serde(skip)]
    pub base: Option<String>,
}

impl FileChanged {
    /// Whether the person wrote the text in this program while the room was open, so that it is trusted.
    pub fn is_persons(&self) -> bool {
        // Without a version, it was found when the room was opened, and anybody could have made it.
        let is_made_here = self.is_seen || (self.is_ordered && self.version.is_some());
        self.by.is_user() && is_made_here && !self.is_copy && self.from.is_none()
    }

    /// Creates a change that a person made.
    pub fn new(path: impl Into<String>, content: FileContent) -> Self {
        Self {
            path: path.into(),
            content,
            by: Author::user(),
            cause: None,
            version: None,
            is_ordered: false,
            is_seen: false,
            is_copy: false,
            from: None,
            is_rooms: false,
            base: None,
        }
    }
}

/// The room itself wrote a file that elements or other parts of the room use as a whole, and the world has the new
/// text. Code that shows or follows the file reads it again.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct FileWritten {
    /// The path relative to the workspace, with `/` between parts.
    pub path: String,
}

/// The content of a changed file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    /// UTF-8 text.
    Text(String),
    /// The file was deleted.
    Removed,
    /// The file cannot be used because it is not UTF-8, too large or not readable.
    Unusable {
        /// The problem.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

impl Input for FileChanged {
    const KIND: &'static str = "file";
}

/// What is on disk of the files that a room uses.
#[derive(Clone, Default, Debug)]
pub struct FolderContent {
    /// The texts by path.
    pub files: BTreeMap<String, String>,
    /// The files that cannot be read.
    pub unreadable: UnreadableFiles,
    /// A problem for each file that was left out.
    pub problems: Vec<Problem>,
}

/// The text of every file that the world knows, by path. Written by this module only.
#[derive(Resource, Default, Clone, Debug)]
pub struct KnownFiles(pub(super) BTreeMap<String, String>);

/// Collects files by path, for tests and tools without a room.
impl FromIterator<(String, String)> for KnownFiles {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(files: T) -> Self {
        Self(files.into_iter().collect())
    }
}

impl KnownFiles {
    /// Returns the text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Returns the texts of all files, by path.
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}
