//! The content of one file that a command runs: its hash, the beginning that a person sees of it, and the text in which
//! names of further files are looked for.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::workspace::secrets::secret_by_name;
use crate::workspace::vfs::{PathAccess, WorkspacePath};

/// The number of bytes from which a file is identified by its first part and its length.
const MAX_HASHED_BYTES: u64 = 256 * 1024 * 1024;
/// The number of bytes of a file that are kept to show what changed.
pub const MAX_TEXT_BYTES: usize = 8 * 1024;
/// The number of bytes of a file in which names of other files are looked for.
const MAX_READ_BYTES: usize = 256 * 1024;

/// The content of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SeenFile {
    /// The hash of the content.
    pub hash: String,
    /// The beginning of the content as text.
    pub text: String,
    /// Whether the text is not kept: it is too much, a secret, or outside of the workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_text_left_out: bool,
    /// Whether the command does not name the file, but a file that it runs loads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_loaded: bool,
    /// What a person has to know before the file is run for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concern: Option<CodeConcern>,
}

/// What a person has to know before a file is run for the first time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeConcern {
    /// An agent wrote its present content.
    WrittenBy(Id),
    /// It is a repository whose settings name programs, which the text lists.
    NamesPrograms,
}

/// The beginning of a file as text, in which names of other files are looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CodeText {
    pub(super) text: String,
    pub(super) is_binary: bool,
    pub(super) is_executable: bool,
}

/// Reads a file of a folder. Links are followed, because their target is what runs.
pub(super) fn look(root: &Path, path: &str) -> Option<(SeenFile, CodeText)> {
    let place = root.join(path).canonicalize().ok()?;
    let (hash, kept, metadata) = hash_and_beginning(&place, MAX_READ_BYTES)?;
    let is_closed = WorkspacePath::new(path).map_or(true, |path| path.reach() == PathAccess::Closed);
    let is_outside = root.canonicalize().map_or(true, |root| !place.starts_with(root));
    let is_text_left_out = is_closed || is_outside || secret_by_name(path).is_some();
    let beginning = &kept[..kept.len().min(MAX_TEXT_BYTES)];
    let shown = if is_text_left_out { String::new() } else { String::from_utf8_lossy(beginning).into_owned() };
    let text = CodeText {
        is_binary: beginning.contains(&0),
        is_executable: is_executable(&metadata),
        text: String::from_utf8_lossy(&kept).into_owned(),
    };
    Some((SeenFile { hash, text: shown, is_text_left_out, ..SeenFile::default() }, text))
}

/// Returns the hash of a file; `None` if it cannot be read.
pub(super) fn hash_of(place: &Path) -> Option<String> {
    hash_and_beginning(place, 0).map(|(hash, ..)| hash)
}

fn hash_and_beginning(place: &Path, kept_at_most: usize) -> Option<(String, Vec<u8>, Metadata)> {
    let metadata = place.metadata().ok().filter(Metadata::is_file)?;
    let mut file = File::open(place).ok()?.take(MAX_HASHED_BYTES);
    let (mut hasher, mut kept) = (blake3::Hasher::new(), Vec::new());
    let mut block = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut block).ok()?;
        if count == 0 {
            break;
        }
        hasher.update(&block[..count]);
        kept.extend(&block[..count.min(kept_at_most - kept.len())]);
    }
    hasher.update(&metadata.len().to_le_bytes());
    Some((hasher.finalize().to_hex().to_string(), kept, metadata))
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}
