//! The memory files of a workspace: reading, indexing and writing them, for a command or in an open room. Every change
//! is based on the text that was read, and repeated if someone else saved the file in the meantime.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::embedder::{EmbedderChoice, Opened};
use crate::base::hash::content_hash;
use crate::base::{Author, Problem};
use crate::knowledge::file::KNOWLEDGE_FOLDER;
use crate::knowledge::{
    Db, FileChange, KnowledgeBase, KnowledgeError, KnowledgeFile, Memory, Owner, ReadSummary, Write,
};
use crate::memory::MemoryCounts;
use crate::workspace::vfs::records::session_owners;
use crate::workspace::vfs::{DirectFileError, DirectFiles, FileHandle, FileOperation, PathRefusal, WorkspacePath};

/// The maximum size of a memory file, in bytes.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// How often a change is tried if others keep changing the file.
const ATTEMPTS: usize = 8;
/// The name of the database with the index and vectors.
const DATABASE: &str = "knowledge.db";

/// Why memories cannot be read or written.
#[derive(Debug, Error)]
pub enum KnowledgeFilesError {
    /// The folder cannot be opened.
    #[error("{KNOWLEDGE_FOLDER}: {0}")]
    Folder(#[from] std::io::Error),
    /// The path is not valid in a workspace.
    #[error(transparent)]
    Path(#[from] PathRefusal),
    /// Reading or writing failed.
    #[error(transparent)]
    Disk(#[from] DirectFileError),
    /// The file service refused the change.
    #[error("'{place}' was not written: {why}")]
    Refused {
        /// The path of the file.
        place: String,
        /// The reason, and what to do.
        why: String,
    },
    /// The knowledge base refused the change.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// Others changed the file during every attempt.
    #[error("'{0}' was changed by others while it was being written; nothing was changed in it, try again")]
    Crossed(String),
}

/// How files are written.
enum Writer {
    /// Directly, by a command.
    Alone {
        /// The folder that commands lock while they write.
        workspace: PathBuf,
    },
    /// By the file service of an open room.
    Room(FileHandle),
}

/// The memory files of a workspace and their index.
pub struct KnowledgeFiles {
    files: DirectFiles,
    writer: Writer,
    known: KnowledgeBase,
    texts: BTreeMap<Owner, String>,
    /// Files that cannot be read. They are not written either.
    unread: Vec<Problem>,
    /// Why another embedding model is used than the one in the settings.
    instead: Option<String>,
}

impl KnowledgeFiles {
    /// Opens a workspace for a command and reads its memories. The database is stored in `state_folder`.
    pub fn open(workspace: &Path, state_folder: &Path, embedder: &EmbedderChoice) -> Result<Self, KnowledgeFilesError> {
        Self::open_with(workspace, state_folder, Writer::Alone { workspace: workspace.to_owned() }, embedder)
    }

    /// Opens a workspace in an open room, whose file service writes.
    pub fn open_in_room(
        workspace: &Path,
        state_folder: &Path,
        files: FileHandle,
        embedder: &EmbedderChoice,
    ) -> Result<Self, KnowledgeFilesError> {
        Self::open_with(workspace, state_folder, Writer::Room(files), embedder)
    }

    fn open_with(
        workspace: &Path,
        state_folder: &Path,
        writer: Writer,
        embedder: &EmbedderChoice,
    ) -> Result<Self, KnowledgeFilesError> {
        let db = Db::open(&state_folder.join(DATABASE)).map_err(KnowledgeError::from)?;
        let Opened { embedder, instead } = embedder.open(&db).map_err(KnowledgeError::from)?;
        let known = KnowledgeBase::new(db, embedder)?;
        let files = DirectFiles::open(workspace)?;
        let mut opened = Self { files, writer, known, texts: BTreeMap::new(), unread: Vec::new(), instead };
        opened.read()?;
        Ok(opened)
    }

    /// Reads all files.
    fn read(&mut self) -> Result<ReadSummary, KnowledgeFilesError> {
        (self.texts, self.unread) = texts(&self.files)?;
        Ok(self.known.read(self.texts.clone())?)
    }

    /// Problems with the files, their lines and the database.
    pub fn problems(&self) -> Vec<Problem> {
        self.unread.iter().cloned().chain(self.known.problems()).collect()
    }

    /// Reads a file that may have changed; returns whether it had.
    pub fn read_again(&mut self, owner: &Owner) -> Result<bool, KnowledgeFilesError> {
        let text = self.files.read(&WorkspacePath::new(&owner.place())?, MAX_BYTES)?;
        if text.as_ref() == self.texts.get(owner) {
            return Ok(false);
        }
        self.known.read_one(owner, text.as_deref())?;
        match text {
            Some(text) => self.texts.insert(owner.clone(), text),
            None => self.texts.remove(owner),
        };
        Ok(true)
    }

    /// All memories.
    pub fn known(&self) -> &KnowledgeBase {
        &self.known
    }

    /// Switches to another embedding model.
    pub fn use_embedder(&mut self, choice: &EmbedderChoice) -> Result<ReadSummary, KnowledgeFilesError> {
        let Opened { embedder, instead } = choice.open(self.known.db()).map_err(KnowledgeError::from)?;
        self.instead = instead;
        if embedder.model() == self.known.embedder().model() && embedder.is_quick() {
            return Ok(ReadSummary::default());
        }
        Ok(self.known.use_embedder(embedder)?)
    }

    /// Why another embedding model is used than the one in the settings, if so.
    pub fn fallback_reason(&self) -> Option<&str> {
        self.instead.as_deref()
    }

    /// Computes up to `at_most` missing vectors; returns how many were computed.
    pub fn catch_up(&mut self, at_most: usize) -> Result<usize, KnowledgeFilesError> {
        Ok(self.known.embed_pending(at_most)?)
    }

    /// The number of memories by owner.
    pub fn counts(&self) -> MemoryCounts {
        let mut counts = MemoryCounts::default();
        for owner in self.texts.keys() {
            count_in(&mut counts, owner, self.known.file(owner));
        }
        counts
    }

    /// Computes all vectors again.
    pub fn reindex(&mut self) -> Result<ReadSummary, KnowledgeFilesError> {
        Ok(self.known.reindex()?)
    }

    /// Records that memories were recalled.
    pub fn note_recalled<'a>(
        &mut self,
        ids: impl IntoIterator<Item = &'a str>,
        now: i64,
    ) -> Result<(), KnowledgeFilesError> {
        Ok(self.known.note_recalled(ids, now)?)
    }

    /// Adds a memory.
    pub fn add(&mut self, memory: &Memory, by: &Author) -> Result<(), KnowledgeFilesError> {
        self.change(by, |known| Ok(vec![known.add(memory)?]))
    }

    /// Replaces a memory with a new version.
    pub fn update(&mut self, memory: &Memory, by: &Author) -> Result<(), KnowledgeFilesError> {
        self.change(by, |known| known.update(memory))
    }

    /// Removes a memory from its file.
    pub fn forget(&mut self, id: &str, by: &Author) -> Result<(), KnowledgeFilesError> {
        self.change(by, |known| Ok(vec![known.forget(id)?]))
    }

    /// Applies a change. If someone else saved an affected file meanwhile, reads it and tries again.
    fn change(
        &mut self,
        by: &Author,
        make: impl Fn(&mut KnowledgeBase) -> Result<Vec<FileChange>, KnowledgeError>,
    ) -> Result<(), KnowledgeFilesError> {
        let mut place = KNOWLEDGE_FOLDER.to_owned();
        for _ in 0..ATTEMPTS {
            let changes = make(&mut self.known)?;
            let written = changes.iter().try_fold(true, |all, change| {
                place = change.owner.place();
                Ok::<_, KnowledgeFilesError>(all && self.write(change, by)?)
            });
            match written {
                Ok(true) => return Ok(()),
                Ok(false) => drop(self.read()?),
                Err(error) => {
                    // Memories that are not on disk must not stay in the index.
                    self.read()?;
                    return Err(error);
                }
            }
        }
        Err(KnowledgeFilesError::Crossed(place))
    }

    /// Writes the new text if the file is still as it was read; returns whether it was.
    fn write(&mut self, change: &FileChange, by: &Author) -> Result<bool, KnowledgeFilesError> {
        let place = change.owner.place();
        let path = WorkspacePath::new(&place)?;
        let before = self.texts.get(&change.owner);
        let after = match &change.write {
            Write::Append(more) => before.map_or_else(|| more.clone(), |before| format!("{before}{more}")),
            Write::Replace(text) => text.clone(),
        };
        let is_written = match &self.writer {
            Writer::Alone { workspace } => {
                // Commands write one after the other.
                let _lock = File::open(workspace).and_then(|folder| folder.lock().map(|()| folder)).ok();
                self.files.write(&path, &after, before.map(String::as_str))?
            }
            Writer::Room(files) => {
                let base = before.map(|text| content_hash(text.as_bytes()));
                let save = FileOperation::Save { path: place.clone(), base, content: after.clone() };
                match files.change_as(by.clone(), save) {
                    Ok(_) => true,
                    Err(_) if self.files.read(&path, MAX_BYTES)?.as_ref() != before => false,
                    Err(why) => return Err(KnowledgeFilesError::Refused { place, why }),
                }
            }
        };
        if is_written {
            self.texts.insert(change.owner.clone(), after);
        }
        Ok(is_written)
    }

    /// Writes a file beside the memory files, replacing an existing one, and returns its path.
    pub fn write_extra_file(&self, name: &str, text: &str) -> Result<String, KnowledgeFilesError> {
        let path = WorkspacePath::new(&format!("{KNOWLEDGE_FOLDER}/{name}"))?;
        for _ in 0..ATTEMPTS {
            let before = self.files.read(&path, MAX_BYTES)?;
            if before.as_deref() == Some(text) || self.files.write(&path, text, before.as_deref())? {
                return Ok(path.to_string());
            }
        }
        Err(KnowledgeFilesError::Crossed(path.to_string()))
    }
}

/// Counts the memories of a workspace without the index, and returns problems of the files.
pub fn count_memories(workspace: &Path) -> Result<(MemoryCounts, Vec<Problem>), KnowledgeFilesError> {
    let (mut counts, mut taken) = (MemoryCounts::default(), Default::default());
    counts.sessions = session_owners(workspace);
    let (texts, mut problems) = texts(&DirectFiles::open(workspace)?)?;
    for (owner, text) in texts {
        let file = KnowledgeFile::parse(owner.clone(), &text, &mut taken);
        count_in(&mut counts, &owner, Some(&file));
        problems.extend(file.problems().iter().cloned());
    }
    Ok((counts, problems))
}

fn count_in(counts: &mut MemoryCounts, owner: &Owner, file: Option<&KnowledgeFile>) {
    let count = file.map_or(0, |file| file.memories().count());
    match owner {
        Owner::Shared => counts.shared = count,
        Owner::Agent(agent) if count > 0 => drop(counts.own.insert(agent.clone(), count)),
        Owner::Agent(_) => {}
    }
}

/// The content of all readable files, and the problems of the others.
fn texts(files: &DirectFiles) -> Result<(BTreeMap<Owner, String>, Vec<Problem>), KnowledgeFilesError> {
    let (mut texts, mut unread) = (BTreeMap::new(), Vec::new());
    for path in files.find_in(KNOWLEDGE_FOLDER)? {
        let Some(owner) = Owner::by_place(path.as_str()) else { continue };
        match files.read(&path, MAX_BYTES) {
            Ok(Some(text)) => drop(texts.insert(owner, text)),
            // It was deleted after it was listed.
            Ok(None) => {}
            Err(error) => {
                let remedy = "its memories are not used until it can be read again";
                unread.push(Problem::warning(path.to_string(), error.to_string(), remedy));
            }
        }
    }
    Ok((texts, unread))
}
