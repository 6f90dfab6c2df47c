//! File contents and earlier runs as far as the window has read them. A pane requests the contents that it wants to
//! show; they are read in the background and available in a later frame.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::{Id, Seq};
use crate::mind::Prompt;
use crate::store::{FileVersion, RunInfo};
use crate::workspace::vfs::FileInfo;

/// Something that a pane wants to show.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileTextRequest {
    /// The list of files. Loaded again whenever files change.
    Files,
    /// The current content of a file. Loaded again whenever it changes.
    Text(String),
    /// The versions of a file. Loaded again whenever it changes.
    Versions(String),
    /// The text of a version of a file.
    Version(String, u64),
    /// The runs of this workspace.
    Runs,
    /// The session file of an activation (`act-12`).
    Session(Id),
    /// The available providers. Checked repeatedly while the dialog is open.
    Providers,
    /// The person's consent to MCP servers. Checked repeatedly while it is shown.
    ServerConsents,
    /// The coding agents that can be chosen, and the status of this command line. Checked repeatedly while the dialog
    /// is open.
    CodingAgents(String),
    /// The prompt of a model call, by the event of the call.
    Prompt(Seq),
}

/// Something that was read, or a message why it could not be.
pub type Read<T> = Result<T, String>;

/// The content of a text file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextRead {
    /// The whole text.
    pub text: Arc<str>,
    /// The [`content_hash`](crate::base::hash::content_hash) of the text.
    pub hash: u64,
}

impl TextRead {
    /// Returns this text with its hash.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { hash: crate::base::hash::content_hash(text.as_bytes()), text }
    }
}

/// The contents that have been read so far; an absent one is not loaded yet.
#[derive(Clone, Debug, Default)]
pub struct FileTexts {
    /// The contents that panes requested in this frame. Panes request them in every frame; contents that are no longer
    /// requested are dropped. In a cell, because code with read-only access makes requests.
    wants: RefCell<BTreeSet<FileTextRequest>>,
    /// All files in order of paths, including deleted ones that can be restored.
    pub files: Option<Read<Arc<Vec<FileInfo>>>>,
    /// The contents of files; `Ok(None)` means that there is no such file.
    pub texts: BTreeMap<String, Read<Option<TextRead>>>,
    /// The versions of files, newest first.
    pub versions: BTreeMap<String, Read<Arc<Vec<FileVersion>>>>,
    /// The contents of versions; `Ok(None)` means that it is no longer stored.
    pub version_texts: BTreeMap<(String, u64), Read<Option<Arc<str>>>>,
    /// All runs, newest first.
    pub runs: Option<Read<Arc<Vec<RunInfo>>>>,
    /// The contents of session files, by activation.
    pub sessions: BTreeMap<Id, Read<Option<Arc<str>>>>,
    /// The prompts of calls; `Ok(None)` means that it is no longer stored.
    pub prompts: BTreeMap<Seq, Read<Option<Arc<Prompt>>>>,
}

impl FileTexts {
    /// Requests something for this frame.
    pub fn want(&self, want: FileTextRequest) {
        self.wants.borrow_mut().insert(want);
    }

    /// Whether something was requested in this frame.
    pub fn has_requests(&self, want: &FileTextRequest) -> bool {
        self.wants.borrow().contains(want)
    }

    /// Returns the command line whose status is requested as a coding agent.
    pub fn wanted_coding_agent(&self) -> Option<String> {
        self.wants.borrow().iter().find_map(|want| match want {
            FileTextRequest::CodingAgents(line) => Some(line.clone()),
            _ => None,
        })
    }

    /// Takes all requests of the frame.
    pub fn take_requests(&mut self) -> BTreeSet<FileTextRequest> {
        std::mem::take(self.wants.get_mut())
    }

    /// Returns all files, including deleted ones; empty until they are read.
    pub fn files(&self) -> Arc<Vec<FileInfo>> {
        self.want(FileTextRequest::Files);
        match &self.files {
            Some(Ok(files)) => files.clone(),
            _ => Arc::default(),
        }
    }

    /// Returns the content of a file.
    pub fn text(&self, path: &str) -> Option<&Read<Option<TextRead>>> {
        self.want(FileTextRequest::Text(path.to_owned()));
        self.texts.get(path)
    }

    /// Returns the versions of a file, newest first.
    pub fn versions(&self, path: &str) -> Option<&Read<Arc<Vec<FileVersion>>>> {
        self.want(FileTextRequest::Versions(path.to_owned()));
        self.versions.get(path)
    }

    /// Returns the content of a version of a file.
    pub fn version(&self, path: &str, version: u64) -> Option<&Read<Option<Arc<str>>>> {
        self.want(FileTextRequest::Version(path.to_owned(), version));
        self.version_texts.get(&(path.to_owned(), version))
    }

    /// Returns the session file of an activation.
    pub fn session(&self, activation: &Id) -> Option<&Read<Option<Arc<str>>>> {
        self.want(FileTextRequest::Session(activation.clone()));
        self.sessions.get(activation)
    }

    /// Returns the prompt of a call.
    pub fn prompt(&self, call: Seq) -> Option<&Read<Option<Arc<Prompt>>>> {
        self.want(FileTextRequest::Prompt(call));
        self.prompts.get(&call)
    }
}
