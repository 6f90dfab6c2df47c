//! What the window knows about the workspace's files and about earlier runs. A panel requests what it wants to show; it
//! is read in the background and available in a later frame.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::{Id, Seq};
use crate::mind::Prompt;
use crate::store::{FileVersion, RunInfo};
use crate::workspace::vfs::FileInfo;

/// Something that a panel wants to see.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Want {
    /// Which files there are. Brought again whenever files changed.
    Files,
    /// The present content of a file. Loaded again whenever it changes.
    Text(String),
    /// The versions of a file. Brought again whenever it changed.
    Versions(String),
    /// The text of a version of a file.
    Version(String, u64),
    /// The runs of this workspace.
    Runs,
    /// The session of a piece of work, as its file has it: by activation (`act-12`).
    Session(Id),
    /// The available providers. Checked repeatedly while the dialog is open.
    Providers,
    /// Which MCP servers the person allowed. Looked at again and again while somebody does.
    ServerConsents,
    /// The coding agents that can be chosen, and the status of this command line. Checked repeatedly while the dialog
    /// is open.
    CodingAgents(String),
    /// The prompt of a call of a model, by the record of the call.
    Prompt(Seq),
}

/// Something that was read, or in words why it could not be.
pub type Read<T> = Result<T, String>;

/// A text as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextRead {
    /// The whole text.
    pub text: Arc<str>,
    /// Its [`content_hash`](crate::base::hash::content_hash).
    pub hash: u64,
}

impl TextRead {
    /// This text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { hash: crate::base::hash::content_hash(text.as_bytes()), text }
    }
}

/// What has been read so far. Absent: it is not there yet.
#[derive(Clone, Debug, Default)]
pub struct FileTexts {
    /// What panes need in this frame. Requested again in every frame: unused content is forgotten. In a cell, because
    /// read-only code requests it.
    wants: RefCell<BTreeSet<Want>>,
    /// Every file, in order of paths, and those that are gone and can be had back.
    pub files: Option<Read<Arc<Vec<FileInfo>>>>,
    /// What stands in files. `Ok(None)`: there is no such file.
    pub texts: BTreeMap<String, Read<Option<TextRead>>>,
    /// The versions of files, newest first.
    pub versions: BTreeMap<String, Read<Arc<Vec<FileVersion>>>>,
    /// The texts of versions; `Ok(None)`: it is not kept.
    pub version_texts: BTreeMap<(String, u64), Read<Option<Arc<str>>>>,
    /// All runs, newest first.
    pub runs: Option<Read<Arc<Vec<RunInfo>>>>,
    /// The texts of session files, by activation.
    pub sessions: BTreeMap<Id, Read<Option<Arc<str>>>>,
    /// Prompts of calls; `Ok(None)`: it is not kept.
    pub prompts: BTreeMap<Seq, Read<Option<Arc<Prompt>>>>,
}

impl FileTexts {
    /// Says that this is to be shown.
    pub fn want(&self, want: Want) {
        self.wants.borrow_mut().insert(want);
    }

    /// Whether somebody said in this frame that this is to be shown.
    pub fn is_wanted(&self, want: &Want) -> bool {
        self.wants.borrow().contains(want)
    }

    /// Of which command line it is to be shown how it stands, where coding agents are chosen from.
    pub fn wanted_coding_agent(&self) -> Option<String> {
        self.wants.borrow().iter().find_map(|want| match want {
            Want::CodingAgents(line) => Some(line.clone()),
            _ => None,
        })
    }

    /// What is to be shown, each said once; whoever reads files asks once a frame.
    pub fn take_wants(&mut self) -> BTreeSet<Want> {
        std::mem::take(self.wants.get_mut())
    }

    /// The files that are there or were; none while they are not read.
    pub fn files(&self) -> Arc<Vec<FileInfo>> {
        self.want(Want::Files);
        match &self.files {
            Some(Ok(files)) => files.clone(),
            _ => Arc::default(),
        }
    }

    /// What stands in a file.
    pub fn text(&self, path: &str) -> Option<&Read<Option<TextRead>>> {
        self.want(Want::Text(path.to_owned()));
        self.texts.get(path)
    }

    /// The versions of a file, newest first.
    pub fn versions(&self, path: &str) -> Option<&Read<Arc<Vec<FileVersion>>>> {
        self.want(Want::Versions(path.to_owned()));
        self.versions.get(path)
    }

    /// The text of a version.
    pub fn version(&self, path: &str, version: u64) -> Option<&Read<Option<Arc<str>>>> {
        self.want(Want::Version(path.to_owned(), version));
        self.version_texts.get(&(path.to_owned(), version))
    }

    /// The session of a piece of work.
    pub fn session(&self, activation: &Id) -> Option<&Read<Option<Arc<str>>>> {
        self.want(Want::Session(activation.clone()));
        self.sessions.get(activation)
    }

    /// The prompt of a call.
    pub fn prompt(&self, call: Seq) -> Option<&Read<Option<Arc<Prompt>>>> {
        self.want(Want::Prompt(call));
        self.prompts.get(&call)
    }
}
