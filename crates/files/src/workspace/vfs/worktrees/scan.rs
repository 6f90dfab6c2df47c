//! Whole trees of files on disk: lists them, and writes a file without following links.

use std::collections::BTreeMap;

use super::super::super::layout::MCP_FILE;
use super::super::index::{CLOCK_COARSE_NS, now_ns};
use super::super::path::{PathAccess, WorkspacePath};
use super::super::resolve::{PathError, Root, beside_name};
use super::repository::{GitError, Repository};
use super::tree::{TreeFile, TreeFiles};
use crate::base::hash::content_hash;
use crate::safe_fs::{self, EntryKind, Folder, Replacement};

/// The maximum size of a file that is copied, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum number of files in a copy.
const MAX_FILES: usize = 20_000;
/// The maximum number of directory entries that are examined.
const MAX_ENTRIES: usize = 200_000;

/// Why a tree cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScanError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{0}")]
    Disk(String),
    #[error("there are more than {MAX_FILES} files to copy; exclude some with a .gitignore file in the workspace")]
    TooMany,
}

/// Metadata of files when they were last read, to avoid reading unchanged files again.
#[derive(Default)]
pub(super) struct Stamps(BTreeMap<String, Stamp>);

/// The metadata of a file when it was read.
#[derive(Clone, Copy)]
struct Stamp {
    looks: (u64, i64, u64),
    file: TreeFile,
    /// Whether it was old enough then that any later change has a new time; the clocks of file systems are coarse.
    is_settled: bool,
}

/// Whether a file belongs in copies. The program's records, incoming and outgoing messages, secrets and the person's
/// settings do not.
pub(super) fn is_copied(path: &WorkspacePath) -> bool {
    match path.reach() {
        PathAccess::Open => true,
        PathAccess::Closed | PathAccess::Records => false,
        PathAccess::ReadOnly => path.parts().any(|part| part.starts_with('.')) && path.as_str() != MCP_FILE,
    }
}

/// Returns the files below a folder that belong in copies, except those that `.gitignore` files exclude and that are
/// not `known`. Their contents are stored in the history.
pub(super) fn scan(
    root: &Root,
    repository: &Repository,
    known: &TreeFiles,
    stamps: &mut Stamps,
) -> Result<TreeFiles, ScanError> {
    let settled_ns = now_ns().saturating_sub(CLOCK_COARSE_NS);
    let mut scan = Scan { root, repository, known, stamps, settled_ns, found: TreeFiles::new(), entries: 0 };
    scan.folder(root.folder(), "")?;
    // Known files are examined even in excluded folders.
    let missing: Vec<String> = known.keys().filter(|path| !scan.found.contains_key(*path)).cloned().collect();
    for path in missing {
        if let Ok(path) = WorkspacePath::new(&path)
            && is_copied(&path)
        {
            scan.file(&path)?;
        }
    }
    let found = scan.found;
    stamps.0.retain(|path, _| found.contains_key(path));
    Ok(found)
}

struct Scan<'a> {
    root: &'a Root,
    repository: &'a Repository,
    known: &'a TreeFiles,
    stamps: &'a mut Stamps,
    settled_ns: i64,
    found: TreeFiles,
    entries: usize,
}

impl Scan<'_> {
    fn folder(&mut self, folder: &Folder, lead: &str) -> Result<(), ScanError> {
        let entries =
            folder.entries().map_err(|error| ScanError::Disk(format!("'{lead}' cannot be listed: {error}")))?;
        for (name, kind) in entries {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(ScanError::TooMany);
            }
            let path = format!("{lead}{name}");
            let Ok(path) = WorkspacePath::new(&path) else { continue };
            if safe_fs::is_incomplete_temporary(&name) || safe_fs::original_of_placing(&name).is_some() {
                continue;
            }
            match kind {
                EntryKind::Folder => {
                    let below = WorkspacePath::new(&format!("{lead}{name}/x"));
                    let is_left_out = !below.is_ok_and(|below| is_copied(&below));
                    if is_left_out || self.repository.is_ignored(&format!("{}/", path.as_str())) {
                        continue;
                    }
                    // A folder that was deleted meanwhile has no files.
                    if let Ok(below) = folder.child(&name) {
                        self.folder(&below, &format!("{}/", path.as_str()))?;
                    }
                }
                EntryKind::File if is_copied(&path) => {
                    if self.known.contains_key(path.as_str()) || !self.repository.is_ignored(path.as_str()) {
                        self.file(&path)?;
                    }
                }
                EntryKind::File | EntryKind::Link | EntryKind::Other => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &WorkspacePath) -> Result<(), ScanError> {
        // Links, files with several names and files that are too large are not copied.
        let Ok(found) = self.root.metadata(path) else { return Ok(()) };
        if found.size > MAX_BYTES {
            return Ok(());
        }
        if self.found.len() >= MAX_FILES {
            return Err(ScanError::TooMany);
        }
        let looks = (found.size, found.modified_ns, found.number);
        let before = self.stamps.0.get(path.as_str()).filter(|stamp| stamp.is_settled && stamp.looks == looks);
        let file = match before {
            Some(stamp) => stamp.file,
            None => {
                let Ok((bytes, is_program)) = self.root.read_bytes(path, MAX_BYTES) else { return Ok(()) };
                TreeFile { blob: self.repository.store_blob(&bytes)?, is_program }
            }
        };
        let is_settled = found.modified_ns < self.settled_ns;
        self.stamps.0.insert(path.as_str().to_owned(), Stamp { looks, file, is_settled });
        self.found.insert(path.as_str().to_owned(), file);
        Ok(())
    }
}

/// Returns the content of a file and whether it is executable; `None` if there is no file that can be copied.
pub(super) fn read(root: &Root, path: &str) -> Option<(Vec<u8>, bool)> {
    root.read_bytes(&WorkspacePath::new(path).ok()?, MAX_BYTES).ok()
}

/// Writes a file of the copy, or deletes it, replacing whatever exists.
pub(super) fn write(root: &Root, path: &str, bytes: Option<(&[u8], bool)>) -> Result<(), ScanError> {
    let disk_error = |trouble: PathError| ScanError::Disk(trouble.message(path));
    let path = WorkspacePath::new(path).map_err(|why| ScanError::Disk(why.to_string()))?;
    let now = match root.read_bytes(&path, u64::MAX - 1) {
        Ok((bytes, _)) => Some(content_hash(&bytes)),
        Err(PathError::Missing | PathError::NotAFolder) => None,
        Err(trouble) => return Err(disk_error(trouble)),
    };
    let beside = beside_name(&format!("copy {path}"));
    match (bytes, now) {
        (None, None) => Ok(()),
        (None, Some(now)) => root.take_away(&path, &beside, now).map(drop).map_err(disk_error),
        (Some((bytes, is_program)), now) => {
            root.write_bytes_beside(&path, &beside, bytes, is_program).map_err(disk_error)?;
            match root.put_in_place(&path, &beside, now).map_err(disk_error)? {
                Replacement::Replaced => Ok(()),
                Replacement::Conflict => Err(ScanError::Disk(format!("'{path}' was just changed"))),
            }
        }
    }
}
