//! A folder held open by a handle: operations act on this folder even if its path changes. Links are never followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::metadata::{EntryKind, EntryMetadata};

/// An open folder.
pub struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl std::fmt::Debug for Folder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Folder")
    }
}

impl Folder {
    /// Opens a folder by its path, which may be a link, because a person named it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Opens a subfolder.
    pub fn child(&self, name: &str) -> io::Result<Self> {
        Ok(Self(fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// Creates a subfolder, unless it exists.
    pub fn make_child(&self, name: &str) -> io::Result<()> {
        match fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file for reading; never blocks on a pipe.
    pub fn open_file(&self, name: &str) -> io::Result<(File, EntryMetadata)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = fs::openat(&self.0, name, flags, Mode::empty())?;
        let found = found(&fs::fstat(&file)?);
        Ok((file.into(), found))
    }

    /// Creates a new file.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Opens one of this program's own files for reading and writing, or creates it; never blocks on a pipe.
    pub fn open_own(&self, name: &str) -> io::Result<(File, EntryMetadata)> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?;
        let found = found(&fs::fstat(&file)?);
        Ok((file.into(), found))
    }

    /// Returns the metadata of this folder itself, even after it was moved.
    pub fn own_metadata(&self) -> io::Result<EntryMetadata> {
        Ok(found(&fs::fstat(&self.0)?))
    }

    /// Returns the metadata of an entry.
    pub fn metadata(&self, name: &str) -> io::Result<EntryMetadata> {
        Ok(found(&fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Returns the metadata of a path below this folder. Links in the path are followed, so it is only suitable for
    /// detecting changes.
    pub fn metadata_following_links(&self, path: &str) -> io::Result<EntryMetadata> {
        let path = if path.is_empty() { "." } else { path };
        Ok(found(&fs::statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Renames a file in this folder, replacing another.
    pub fn replace(&self, beside: &str, name: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.0, beside, &self.0, name)?)
    }

    /// Exchanges two files of this folder atomically; [`io::ErrorKind::Unsupported`] if the system or the file system
    /// cannot.
    pub fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        return match fs::renameat_with(&self.0, one, &self.0, other, fs::RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Err(io::ErrorKind::Unsupported.into()),
            exchanged => Ok(exchanged?),
        };
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        {
            let _ = (one, other);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Moves a file to another folder and name, which must not exist.
    pub fn move_new(&self, name: &str, folder: &Self, to: &str) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        match fs::renameat_with(&self.0, name, &folder.0, to, fs::RenameFlags::NOREPLACE) {
            // Some file systems cannot do this atomically.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            moved => return Ok(moved?),
        }
        if folder.metadata(to).is_ok() {
            return Err(Errno::EXIST.into());
        }
        Ok(fs::renameat(&self.0, name, &folder.0, to)?)
    }

    /// Deletes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Waits until the names in this folder are on disk.
    pub fn sync(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.0)?)
    }

    /// Returns the names in this folder that are valid UTF-8, with the kind of each.
    pub fn entries(&self) -> io::Result<Vec<(String, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let Some(name) = OsStr::from_bytes(entry.file_name().to_bytes()).to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.metadata(name).map_or(EntryKind::Other, |found| found.kind),
                kind => kind_of(kind),
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    /// Returns the number of names in this folder that are not valid UTF-8.
    pub fn count_invalid_names(&self) -> io::Result<usize> {
        let mut count = 0;
        for entry in Dir::read_from(&self.0)? {
            count += usize::from(std::str::from_utf8(entry?.file_name().to_bytes()).is_err());
        }
        Ok(count)
    }
}

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

fn found(stat: &Stat) -> EntryMetadata {
    EntryMetadata {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: stat.st_size.cast_unsigned(),
        #[allow(clippy::unnecessary_cast, reason = "the types of these fields differ from system to system")]
        modified_ns: (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64),
        #[allow(clippy::unnecessary_cast, reason = "as above")]
        changed_ns: (stat.st_ctime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_ctime_nsec as i64),
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "as above")]
        names: stat.st_nlink as u64,
        is_read_only: stat.st_mode & 0o222 == 0,
        #[allow(clippy::unnecessary_cast, reason = "as above")]
        number: stat.st_ino as u64,
    }
}
