//! Resolves a normalised path to the file on disk, without ever following a link, and reads it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::layout::SETTINGS_FILE;
use super::super::unsaved_copies;
use super::path::{WorkspacePath, quoted};
use crate::base::text_normalization::nfc;
use crate::safe_fs::{self, EntryKind, EntryMetadata, Folder, Replacement};

/// Why the text at a path cannot be read.
#[derive(Debug)]
pub(super) enum PathError {
    /// Nothing exists at the path.
    Missing,
    /// The file, or a folder in its path, is a link.
    Link,
    /// The file has a second hard link, which may be outside of the workspace.
    OtherName,
    /// The path is a folder.
    IsFolder,
    /// Only a file whose name differs in case exists.
    OtherSpelling,
    /// A part of the path is a file instead of a folder.
    NotAFolder,
    /// The path is a pipe, a device or a socket.
    NotAFile,
    /// The file is larger than `most` bytes.
    TooLarge { most: u64 },
    /// The file is not text, from this line on.
    NotText { line: usize },
    /// The system reported another error.
    Failed(io::Error),
}

impl PathError {
    /// Describes the trouble for the caller.
    pub(super) fn message(&self, path: &str) -> String {
        let path = quoted(path);
        match self {
            Self::Missing => format!("{path} not found."),
            Self::Link => format!("{path} is a link or is inside a linked folder; links are not followed."),
            Self::OtherName => {
                format!("{path} has another name that may be outside the workspace (a hard link); copy it first.")
            }
            Self::IsFolder => format!("{path} is a folder; name a file in it."),
            Self::OtherSpelling => {
                format!(
                    "{path} differs from an existing name only in case, which is the same file here; use the \
                    existing name."
                )
            }
            Self::NotAFolder => format!("{path} cannot exist: a part of it is a file."),
            Self::NotAFile => format!("{path} is not a regular file."),
            Self::TooLarge { most } => format!(
                "{path} is larger than {} KiB: read it in parts; file tools change, rename and delete it once \
                 files.max_file_mib in settings.yaml is raised.",
                most / 1024
            ),
            Self::NotText { line } => format!("{path} is not UTF-8 text (line {line}); file tools skip it."),
            Self::Failed(error) => format!("{path} cannot be used: {error}."),
        }
    }

    /// Whether the path could lead out of the workspace, rather than merely being wrong.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Link | Self::OtherName | Self::OtherSpelling)
    }
}

impl From<io::Error> for PathError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::NotADirectory => Self::NotAFolder,
            io::ErrorKind::IsADirectory => Self::IsFolder,
            _ => Self::Failed(error),
        }
    }
}

/// The folder of the workspace, held open.
pub(super) struct Root {
    folder: Folder,
    path: PathBuf,
    /// Whether the file system ignores case in names.
    is_case_blind: bool,
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let folder = Folder::open(path)?;
        let is_case_blind =
            folder.metadata(SETTINGS_FILE).is_ok() && folder.metadata(&SETTINGS_FILE.to_uppercase()).is_ok();
        Ok(Self { folder, path: path.to_owned(), is_case_blind })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the workspace itself.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Opens a folder by its normalised path; `None` if that is empty, which is the workspace itself.
    pub(super) fn walk(&self, folder: &str) -> Result<Option<Folder>, PathError> {
        let mut at: Option<Folder> = None;
        for part in folder.split('/').filter(|part| !part.is_empty()) {
            let here = at.as_ref().unwrap_or(&self.folder);
            self.check_spelling(here, part)?;
            at = Some(child(here, part)?);
        }
        Ok(at)
    }

    /// Checks that `name` is spelled as on disk. If the file system ignores case, one file has many paths, and
    /// permissions name only one of them.
    fn check_spelling(&self, folder: &Folder, name: &str) -> Result<(), PathError> {
        if !self.is_case_blind || folder.metadata(name).is_err() {
            return Ok(());
        }
        let entries = folder.entries()?;
        let is_spelled_so = entries.iter().any(|(entry, _)| entry == name || nfc(entry) == name);
        if is_spelled_so { Ok(()) } else { Err(PathError::OtherSpelling) }
    }

    /// Calls `act` with the folder that contains the file.
    pub(super) fn with_folder_of<T>(
        &self,
        path: &WorkspacePath,
        act: impl FnOnce(&Folder) -> Result<T, PathError>,
    ) -> Result<T, PathError> {
        let folder = self.walk(path.folder())?;
        let folder = folder.as_ref().unwrap_or(&self.folder);
        self.check_spelling(folder, path.name())?;
        act(folder)
    }

    /// Like [`Self::with_folder_of`], but creates missing folders, and waits until they are on disk.
    pub(super) fn beside_new<T>(
        &self,
        path: &WorkspacePath,
        act: impl FnOnce(&Folder) -> Result<T, PathError>,
    ) -> Result<T, PathError> {
        let mut at: Option<Folder> = None;
        for part in path.folder().split('/').filter(|part| !part.is_empty()) {
            let here = at.as_ref().unwrap_or(&self.folder);
            self.check_spelling(here, part)?;
            at = Some(match child(here, part) {
                Err(PathError::Missing) => {
                    here.make_child(part)?;
                    here.sync()?;
                    child(here, part)?
                }
                found => found?,
            });
        }
        let folder = at.as_ref().unwrap_or(&self.folder);
        self.check_spelling(folder, path.name())?;
        act(folder)
    }

    /// Creates a folder with its parents, and waits until they are on disk. Returns whether it is new.
    pub(super) fn make_folder(&self, path: &WorkspacePath) -> Result<bool, PathError> {
        self.beside_new(path, |folder| match child(folder, path.name()) {
            Ok(_) => Ok(false),
            Err(PathError::Missing) => {
                folder.make_child(path.name())?;
                folder.sync()?;
                Ok(true)
            }
            Err(trouble) => Err(trouble),
        })
    }

    /// Returns the metadata of a path if it is a regular file.
    pub(super) fn metadata(&self, path: &WorkspacePath) -> Result<EntryMetadata, PathError> {
        let found = self.with_folder_of(path, |folder| Ok(folder.metadata(path.name())?))?;
        check(&found)?;
        Ok(found)
    }

    /// Reads the text of a file of at most `most` bytes.
    pub(super) fn read(&self, path: &WorkspacePath, most: u64) -> Result<(String, EntryMetadata), PathError> {
        let (file, found) = self.with_folder_of(path, |folder| open_checked(folder, path.name()))?;
        if found.size > most {
            return Err(PathError::TooLarge { most });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.size).unwrap_or(0) + 1);
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(PathError::TooLarge { most });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            PathError::NotText { line: 1 + before.iter().filter(|byte| **byte == b'\n').count() }
        })?;
        Ok((text, found))
    }

    /// Reads a file that need not be text, of at most `most` bytes. Also returns whether it is executable.
    pub(super) fn read_bytes(&self, path: &WorkspacePath, most: u64) -> Result<(Vec<u8>, bool), PathError> {
        let (file, _) = self.with_folder_of(path, |folder| open_checked(folder, path.name()))?;
        let is_program = file.metadata().is_ok_and(|metadata| is_program(&metadata));
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(PathError::TooLarge { most }) } else { Ok((bytes, is_program)) }
    }

    /// Writes bytes that need not be text under a hidden name in the folder of `path`, and waits until they are on
    /// disk.
    pub(super) fn write_bytes_beside(
        &self,
        path: &WorkspacePath,
        beside: &str,
        bytes: &[u8],
        is_program: bool,
    ) -> Result<(), PathError> {
        self.beside_new(path, |folder| {
            safe_fs::write_temporary(folder, beside, bytes, None)?;
            if is_program {
                let (file, _) = folder.open_file(beside)?;
                make_program(&file)?;
            }
            Ok(())
        })
    }

    /// Opens one of the program's own records. Also returns when it was last written.
    pub(super) fn open_record(&self, path: &WorkspacePath) -> Result<(File, Option<SystemTime>), PathError> {
        let (file, _) = self.with_folder_of(path, |folder| open_checked(folder, path.name()))?;
        let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
        Ok((file, modified))
    }

    /// Writes a text under a hidden name in the folder of `path`, with the permissions of an existing file, and waits
    /// until it is on disk.
    pub(super) fn write_temporary(&self, path: &WorkspacePath, beside: &str, text: &str) -> Result<(), PathError> {
        self.beside_new(path, |folder| {
            let old = match open_checked(folder, path.name()) {
                Ok((_, found)) if found.is_read_only => {
                    return Err(PathError::Failed(io::Error::other("it is marked read-only")));
                }
                Ok((file, _)) => Some(file),
                Err(PathError::Missing) => None,
                Err(trouble) => return Err(trouble),
            };
            Ok(safe_fs::write_temporary(folder, beside, text.as_bytes(), old.as_ref())?)
        })
    }

    /// Renames the written file to its final path if the text there still has this hash (`None`: if nothing exists
    /// there), and waits until that is on disk.
    pub(super) fn put_in_place(
        &self,
        path: &WorkspacePath,
        beside: &str,
        over: Option<u64>,
    ) -> Result<Replacement, PathError> {
        self.with_folder_of(path, |folder| Ok(safe_fs::atomic_replace(folder, beside, path.name(), over)?))
    }

    /// Like [`Self::put_in_place`]. Also returns the replaced file, open for reading.
    pub(super) fn put_in_place_keeping(
        &self,
        path: &WorkspacePath,
        beside: &str,
        over: Option<u64>,
    ) -> Result<(Replacement, Option<File>), PathError> {
        self.with_folder_of(path, |folder| Ok(safe_fs::atomic_replace_keeping(folder, beside, path.name(), over)?))
    }

    /// Like [`Self::put_in_place`], but replaces whatever exists, for the program's own records.
    pub(super) fn put_over(&self, path: &WorkspacePath, beside: &str) -> Result<(), PathError> {
        self.with_folder_of(path, |folder| {
            folder.replace(beside, path.name())?;
            Ok(folder.sync()?)
        })
    }

    /// Cleans up after a process that was killed while it exchanged two files. The displaced text of another writer is
    /// moved back if the file contains our text or is missing (`None`). If that writer has saved a newer text since,
    /// the displaced one is moved to a file of its own, whose path is returned. `known` are texts that need not be
    /// kept.
    pub(super) fn clear_placing(
        &self,
        path: &WorkspacePath,
        beside: &str,
        ours: Option<u64>,
        known: &[u64],
    ) -> Result<Option<String>, PathError> {
        let cleared = self.with_folder_of(path, |folder| {
            let placing = safe_fs::placing_name(beside);
            let Some(left) = safe_fs::hash_of(folder, &placing)? else { return Ok(None) };
            if known.contains(&left) {
                folder.remove(&placing)?;
                return Ok(None);
            }
            if safe_fs::hash_of(folder, path.name())? == ours {
                folder.replace(&placing, path.name())?;
                folder.sync()?;
                return Ok(None);
            }
            Ok(Some(unsaved_copies::keep_file(&self.folder, folder, &placing, path.as_str())?))
        });
        match cleared {
            // Its folder was deleted, together with the leftovers in it.
            Err(PathError::Missing | PathError::NotAFolder) => Ok(None),
            cleared => cleared,
        }
    }

    /// Deletes a hidden file that is not needed.
    pub(super) fn drop_beside(&self, path: &WorkspacePath, beside: &str) {
        let dropped = self.with_folder_of(path, |folder| Ok(folder.remove(beside)?));
        if let Err(trouble) = dropped
            && !matches!(trouble, PathError::Missing)
        {
            tracing::warn!("{beside} is left over: {}", trouble.message(path.as_str()));
        }
    }

    /// Deletes a file permanently if its text still has this hash, and waits until that is on disk. The file is first
    /// renamed to a hidden name and checked there, so that no other text can be deleted.
    pub(super) fn take_away(&self, path: &WorkspacePath, beside: &str, over: u64) -> Result<Replacement, PathError> {
        self.with_folder_of(path, |folder| {
            let placing = safe_fs::placing_name(beside);
            folder.move_new(path.name(), folder, &placing)?;
            let taken = if safe_fs::hash_of(folder, &placing)? == Some(over) {
                folder.remove(&placing)?;
                Replacement::Replaced
            } else {
                match folder.move_new(&placing, folder, path.name()) {
                    // Another program saved the file again: its text is the newer one.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => folder.remove(&placing)?,
                    moved => moved?,
                }
                Replacement::Conflict
            };
            folder.sync()?;
            Ok(taken)
        })
    }

    /// Moves a file to another path, which must be free, and waits until that is on disk.
    pub(super) fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), PathError> {
        self.beside_new(to, |target| {
            self.with_folder_of(from, |folder| {
                folder.move_new(from.name(), target, to.name())?;
                target.sync()?;
                Ok(folder.sync()?)
            })
        })
    }
}

#[cfg(unix)]
fn is_program(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn make_program(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    file.set_permissions(std::fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

#[cfg(not(unix))]
fn make_program(_: &File) -> io::Result<()> {
    Ok(())
}

/// Returns a hidden file name for the text of an order; no workspace path can address it.
pub(super) fn beside_name(key: &str) -> String {
    safe_fs::temporary_name(&format!("{:016x}", crate::base::hash::content_hash(key.as_bytes())))
}

fn child(folder: &Folder, name: &str) -> Result<Folder, PathError> {
    folder.child(name).map_err(|error| match (PathError::from(error), folder.metadata(name)) {
        // `open` reports a link as "not a folder", too.
        (PathError::NotAFolder | PathError::Failed(_), Ok(EntryMetadata { kind: EntryKind::Link, .. })) => {
            PathError::Link
        }
        (trouble, _) => trouble,
    })
}

fn open_checked(folder: &Folder, name: &str) -> Result<(File, EntryMetadata), PathError> {
    match folder.open_file(name) {
        Ok((file, found)) => {
            check(&found)?;
            Ok((file, found))
        }
        Err(error) => {
            if let Ok(found) = folder.metadata(name) {
                check(&found)?;
            }
            Err(error.into())
        }
    }
}

fn check(found: &EntryMetadata) -> Result<(), PathError> {
    match found.kind {
        EntryKind::File if found.names > 1 => Err(PathError::OtherName),
        EntryKind::File => Ok(()),
        EntryKind::Folder => Err(PathError::IsFolder),
        EntryKind::Link => Err(PathError::Link),
        EntryKind::Other => Err(PathError::NotAFile),
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
