//! Reads files and their history next to the service, for windows and commands; never on the thread of the world.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::OUTSIDE;
use super::change_feed::FileInfo;
use super::executor::{Executor, FileServiceError};
use super::index::{Entry, Index};
use super::path::{PathAccess, WorkspacePath};
use super::resolve::{PathError, Root};
use crate::base::hash::content_hash;
use crate::base::{Author, Problem};
use crate::store::{FileVersion, FileVersions, StoreError};

/// The maximum number of bytes of a file that are read for a person.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Completes the changes on disk that a previous process was interrupted in. The caller must hold `dir` (see
/// [`crate::store::Store`]) and call this before it reads the files, so that none of these changes is mistaken for an
/// external edit. Returns whether there was anything to complete, and the problems found.
pub fn finish_interrupted(root: &Path, dir: &Path) -> Result<(bool, Vec<Problem>), FileServiceError> {
    let mut files = Executor::closed(root, dir)?;
    let was_cut_off = !files.versions.steps()?.is_empty();
    files.finish_interrupted_changes()?;
    Ok((was_cut_off, files.problems))
}

/// Files and their history, read while the file service or other programs may be writing them.
pub struct FileHistory {
    root: PathBuf,
    versions: Option<FileVersions>,
}

impl FileHistory {
    /// Opens the files of a workspace for reading. `dir` is its `.workshop` folder, which need not exist.
    pub fn open(root: &Path, dir: &Path) -> Result<Self, FileServiceError> {
        let versions = match FileVersions::open_to_read(dir) {
            Ok(versions) => Some(versions),
            Err(StoreError::NoHistory { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { root: root.to_owned(), versions })
    }

    /// Returns every file that exists, and every deleted file that has versions, sorted by path.
    pub fn files(&self) -> Result<Vec<FileInfo>, FileServiceError> {
        let index = Index::scan_read_only(&Root::open(&self.root)?);
        let heads = self.versions.as_ref().map_or(Ok(Vec::new()), FileVersions::heads)?;
        let listed = |(path, entry): (&str, Entry)| (path.to_owned(), FileInfo::of(path, Some(entry), None));
        let mut files: BTreeMap<String, FileInfo> = index.files().map(listed).collect();
        for head in heads {
            let gone = FileInfo::of(&head.path, None, Some(&head));
            files.entry(head.path).or_insert(gone).version = head.version;
        }
        Ok(files.into_values().collect())
    }

    /// Returns the paths of all files that have versions, including deleted ones, sorted.
    pub fn known_paths(&self) -> Result<Vec<String>, StoreError> {
        let heads = self.versions.as_ref().map_or(Ok(Vec::new()), FileVersions::heads)?;
        Ok(heads.into_iter().map(|head| head.path).collect())
    }

    /// Returns the versions of a file, newest first; empty if it has none.
    pub fn versions(&self, path: &str) -> Result<Vec<FileVersion>, StoreError> {
        self.with_file(path, FileVersions::versions).map(Option::unwrap_or_default)
    }

    /// Returns the text of a version, if it is still stored.
    pub fn text(&self, path: &str, version: u64) -> Result<Option<String>, StoreError> {
        self.with_file(path, |versions, file| versions.text(file, version)).map(Option::flatten)
    }

    /// Returns the author of the current text of a file: the agent or person whose newest version it is, or the room;
    /// `None` if another program wrote it.
    pub fn writer(&self, path: &str, text: &str) -> Result<Option<Author>, StoreError> {
        let Some(versions) = &self.versions else { return Ok(None) };
        let head = versions.head(path)?.filter(|head| head.is_there && head.hash == content_hash(text.as_bytes()));
        let Some(head) = head else { return Ok(None) };
        let newest = versions.versions(head.file)?.into_iter().find(|version| version.number == head.version);
        let author = newest.map(|version| Author(version.author.into()));
        Ok(author.filter(|author| *author.0 != *OUTSIDE))
    }

    /// Whether the history is open. If not, it may have been created meanwhile.
    pub fn has_versions(&self) -> bool {
        self.versions.is_some()
    }

    /// Reads the current content of a file. The error is a message that says why it cannot be shown.
    pub fn read(&self, path: &str) -> Result<String, String> {
        self.read_if_exists(path)?.ok_or_else(|| PathError::Missing.message(path))
    }

    /// Like [`Self::read`], but `None` if there is no such file.
    pub fn read_if_exists(&self, path: &str) -> Result<Option<String>, String> {
        let path = WorkspacePath::new(path).map_err(|refusal| refusal.to_string())?;
        if path.reach() == PathAccess::Closed {
            return Err(format!("'{path}' is not available here."));
        }
        let root = Root::open(&self.root).map_err(|error| error.to_string())?;
        match root.read(&path, MAX_BYTES) {
            Ok((text, _)) => Ok(Some(text)),
            Err(PathError::Missing) => Ok(None),
            Err(trouble) => Err(trouble.message(path.as_str())),
        }
    }

    fn with_file<T>(
        &self,
        path: &str,
        read: impl FnOnce(&FileVersions, i64) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(versions) = &self.versions else { return Ok(None) };
        let head = versions.head(path)?;
        head.map(|head| read(versions, head.file)).transpose()
    }
}
