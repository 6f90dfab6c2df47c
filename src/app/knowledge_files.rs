//! The memories of a workspace for a command of its own: read, indexed, and written back, beside a room or without one.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::opening::state_folder;
use crate::knowledge::{Db, FileChange, KnowledgeBase, KnowledgeError, Owner, Read, WordLlama, Write};
use crate::workspace::vfs::{AtRestError, FilesAtRest, PathRefusal, WorkspacePath};

/// The folder that the files lie in.
pub const KNOWLEDGE_FOLDER: &str = "memory/knowledge";
/// No file of memories is larger, in bytes.
const BYTES_AT_MOST: u64 = 32 * 1024 * 1024;
/// A file that others keep changing is given up after so many tries.
const TRIES: usize = 8;
/// What is kept beside the files.
const DATABASE: &str = "knowledge.db";

/// Why memories cannot be read or written.
#[derive(Debug, Error)]
pub enum KnowledgeFilesError {
    /// The folder cannot be opened.
    #[error("{KNOWLEDGE_FOLDER}: {0}")]
    Folder(#[from] std::io::Error),
    /// A name is no path of the workspace.
    #[error(transparent)]
    Path(#[from] PathRefusal),
    /// The disk says no.
    #[error(transparent)]
    Disk(#[from] AtRestError),
    /// What is known does not let it happen.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// Somebody else writes it all the time.
    #[error("'{0}' was changed by others while it was being written; nothing was changed in it, try again")]
    Crossed(String),
}

/// The memories of a workspace.
pub struct KnowledgeFiles {
    files: FilesAtRest,
    folder: PathBuf,
    known: KnowledgeBase,
    texts: BTreeMap<Owner, String>,
}

impl KnowledgeFiles {
    /// Opens a workspace and reads what is known in it.
    pub fn open(workspace: &Path) -> Result<Self, KnowledgeFilesError> {
        let db = Db::open(&state_folder(workspace).join(DATABASE)).map_err(KnowledgeError::from)?;
        let embedder = Box::new(WordLlama::built_in().map_err(KnowledgeError::from)?);
        let known = KnowledgeBase::new(db, embedder)?;
        let files = FilesAtRest::open(workspace)?;
        let mut opened = Self { files, folder: workspace.to_owned(), known, texts: BTreeMap::new() };
        opened.read()?;
        Ok(opened)
    }

    /// Reads all files.
    fn read(&mut self) -> Result<Read, KnowledgeFilesError> {
        self.texts.clear();
        for path in self.files.find(&[format!("{KNOWLEDGE_FOLDER}/*.md")])? {
            let Some(owner) = Owner::by_file_name(path.name()) else { continue };
            // One that has gone since is not there.
            if let Some(text) = self.files.read(&path, BYTES_AT_MOST)? {
                self.texts.insert(owner, text);
            }
        }
        Ok(self.known.read(self.texts.clone())?)
    }

    /// All that is known.
    pub fn known(&self) -> &KnowledgeBase {
        &self.known
    }

    /// Makes all vectors anew.
    pub fn reindex(&mut self) -> Result<Read, KnowledgeFilesError> {
        Ok(self.known.reindex()?)
    }

    /// Takes the line of a memory out of its file.
    pub fn forget(&mut self, id: &str) -> Result<(), KnowledgeFilesError> {
        let mut place = String::new();
        for _ in 0..TRIES {
            let change = self.known.forget(id)?;
            place = change.owner.place();
            if self.write(&change)? {
                return Ok(());
            }
            // Somebody saved it meanwhile: what they wrote is read first.
            self.read()?;
        }
        Err(KnowledgeFilesError::Crossed(place))
    }

    /// Writes what is to be written, over what was read. Commands take turns.
    fn write(&mut self, change: &FileChange) -> Result<bool, KnowledgeFilesError> {
        let _turn = File::open(&self.folder).and_then(|folder| folder.lock().map(|()| folder)).ok();
        let path = WorkspacePath::new(&change.owner.place())?;
        let before = self.texts.get(&change.owner);
        let after = match &change.write {
            Write::Append(more) => before.map_or_else(|| more.clone(), |before| format!("{before}{more}")),
            Write::Replace(text) => text.clone(),
        };
        let is_written = self.files.write(&path, &after, before.map(String::as_str))?;
        if is_written {
            self.texts.insert(change.owner.clone(), after);
        }
        Ok(is_written)
    }

    /// Writes a file beside those of memories, over whatever stands there, and says where.
    pub fn write_beside(&self, name: &str, text: &str) -> Result<String, KnowledgeFilesError> {
        let path = WorkspacePath::new(&format!("{KNOWLEDGE_FOLDER}/{name}"))?;
        for _ in 0..TRIES {
            let before = self.files.read(&path, BYTES_AT_MOST)?;
            if before.as_deref() == Some(text) || self.files.write(&path, text, before.as_deref())? {
                return Ok(path.to_string());
            }
        }
        Err(KnowledgeFilesError::Crossed(path.to_string()))
    }
}
