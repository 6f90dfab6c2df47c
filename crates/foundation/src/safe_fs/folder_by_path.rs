//! `Folder` for systems without operations relative to a folder handle: each name is checked before use, and each file
//! again after it was opened. Hard links cannot be distinguished from files here.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::metadata::{EntryKind, EntryMetadata};

/// A folder, represented by its path.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens a folder by its path, which may be a link, because a person named it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        if path.is_dir() { Ok(Self(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Opens a subfolder.
    pub fn child(&self, name: &str) -> io::Result<Self> {
        match self.metadata(name)?.kind {
            EntryKind::Folder => Ok(Self(self.0.join(name))),
            EntryKind::Link | EntryKind::File | EntryKind::Other => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Creates a subfolder, unless it exists.
    pub fn make_child(&self, name: &str) -> io::Result<()> {
        match fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Opens a file for reading; never blocks on a pipe.
    pub fn open_file(&self, name: &str) -> io::Result<(File, EntryMetadata)> {
        if self.metadata(name)?.kind != EntryKind::File {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = File::open(self.0.join(name))?;
        let opened = found(&file.metadata()?);
        let after = self.metadata(name)?;
        // The entry was replaced meanwhile: the opened file may be anywhere.
        if after.kind != EntryKind::File || !after.is_same_as(&opened) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok((file, opened))
    }

    /// Creates a new file.
    pub fn create(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    /// Opens one of this program's own files for reading and writing, or creates it.
    pub fn open_own(&self, name: &str) -> io::Result<(File, EntryMetadata)> {
        match self.metadata(name) {
            Ok(found) if found.kind != EntryKind::File => return Err(io::ErrorKind::InvalidInput.into()),
            Ok(_) => {}
            Err(_) => drop(self.create(name)?),
        }
        let file = OpenOptions::new().read(true).write(true).open(self.0.join(name))?;
        let found = found(&file.metadata()?);
        Ok((file, found))
    }

    /// Returns the metadata of this folder itself.
    pub fn own_look(&self) -> io::Result<EntryMetadata> {
        Ok(found(&self.0.symlink_metadata()?))
    }

    /// Returns the metadata of an entry.
    pub fn metadata(&self, name: &str) -> io::Result<EntryMetadata> {
        Ok(found(&self.0.join(name).symlink_metadata()?))
    }

    /// Returns the metadata of a path below this folder. Links in the path are followed, so it is only suitable for
    /// detecting changes.
    pub fn peek(&self, path: &str) -> io::Result<EntryMetadata> {
        Ok(found(&self.0.join(path).symlink_metadata()?))
    }

    /// Renames a file in this folder, replacing another.
    pub fn replace(&self, beside: &str, name: &str) -> io::Result<()> {
        fs::rename(self.0.join(beside), self.0.join(name))
    }

    /// Files cannot be exchanged atomically here.
    pub fn exchange(&self, _one: &str, _other: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Moves a file to another folder and name, which must not exist.
    pub fn move_new(&self, name: &str, folder: &Self, to: &str) -> io::Result<()> {
        if folder.metadata(to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(self.0.join(name), folder.0.join(to))
    }

    /// Deletes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Waits until the names in this folder are on disk, if the system can open a folder.
    #[allow(clippy::unnecessary_wraps, reason = "the same signature as where it can fail")]
    pub fn sync(&self) -> io::Result<()> {
        #[cfg(unix)]
        File::open(&self.0)?.sync_all()?;
        Ok(())
    }

    /// Returns the names in this folder that are valid UTF-8, with the kind of each.
    pub fn entries(&self) -> io::Result<Vec<(String, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if let Some(name) = entry.file_name().to_str() {
                entries.push((name.to_owned(), kind_of(entry.file_type()?)));
            }
        }
        Ok(entries)
    }

    /// Returns the number of names in this folder that are not valid UTF-8.
    #[cfg(not(unix))]
    pub fn count_invalid_names(&self) -> io::Result<usize> {
        Ok(fs::read_dir(&self.0)?.flatten().filter(|entry| entry.file_name().to_str().is_none()).count())
    }
}

fn kind_of(kind: fs::FileType) -> EntryKind {
    if kind.is_symlink() {
        EntryKind::Link
    } else if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}

fn found(metadata: &fs::Metadata) -> EntryMetadata {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    EntryMetadata {
        kind: kind_of(metadata.file_type()),
        size: metadata.len(),
        modified_ns: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        changed_ns: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        names: 1,
        is_read_only: metadata.permissions().readonly(),
        number: 0,
    }
}
