//! The content of one file that a command runs: its hash, the beginning that a person sees of it, and the text in which
//! names of further files are looked for.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::code_gaps::CodeLimits;
use crate::base::Id;
use crate::workspace::secrets::secret_by_name;
use crate::workspace::vfs::{PathAccess, WorkspacePath};

/// The number of bytes of a file that are kept to show what changed.
pub const MAX_TEXT_BYTES: usize = 8 * 1024;
/// How a text in UTF-16 begins.
const UTF_16_MARKS: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

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
    /// It stands for code that could not be followed whole, for the reasons in the text. Each time is the first time.
    NotFollowed,
}

/// The beginning of a file as text, in which names of other files are looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::gateway) struct CodeText {
    pub(in crate::gateway) text: String,
    pub(in crate::gateway) is_binary: bool,
    pub(super) is_executable: bool,
    /// Why this is not all that the file may load.
    pub(in crate::gateway) gap: Option<TextGap>,
}

impl CodeText {
    /// Whether the file can be started by its name alone.
    pub(super) fn is_script(&self) -> bool {
        self.is_executable || self.text.starts_with("#!")
    }
}

/// Why the text of a file is not all that the file may load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::gateway) enum TextGap {
    /// It is longer than what is read.
    TooLong,
    /// It is longer than what is hashed, so that not every change is noticed.
    TooLarge,
    /// It is no text in UTF-8.
    Encoding,
    /// It is a link to a file outside of the workspace.
    Outside,
}

impl TextGap {
    /// The gap as a clause about the file.
    pub(in crate::gateway) fn described(self, limits: &CodeLimits) -> String {
        match self {
            Self::TooLong => format!("only the first {} KiB are read", limits.script_bytes.div_ceil(1024)),
            Self::TooLarge => format!("only the first {} MiB are compared", limits.hashed_bytes.div_ceil(1024 * 1024)),
            Self::Encoding => "its encoding is not UTF-8".to_owned(),
            Self::Outside => "it is a link out of the workspace".to_owned(),
        }
    }
}

/// Why a file was not looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::gateway) enum Unseen {
    /// There is no such file.
    Missing,
    /// It cannot be read, with the reason.
    Unreadable(String),
}

/// Reads a file of a folder. Links are followed, because their target is what runs.
pub(in crate::gateway) fn look(root: &Path, path: &str, limits: &CodeLimits) -> Result<(SeenFile, CodeText), Unseen> {
    let place = root.join(path).canonicalize().map_err(|error| unseen(&error))?;
    let metadata = place.metadata().map_err(|error| unseen(&error))?;
    if metadata.is_dir() {
        return Err(Unseen::Missing);
    }
    if !metadata.is_file() {
        return Err(Unseen::Unreadable("it is no ordinary file".to_owned()));
    }
    let (hash, kept) =
        hash_and_beginning(&place, &metadata, limits.script_bytes, limits).map_err(|error| unseen(&error))?;
    let is_closed = WorkspacePath::new(path).map_or(true, |path| path.reach() == PathAccess::Closed);
    let is_outside = root.canonicalize().map_or(true, |root| !place.starts_with(root));
    let is_text_left_out = is_closed || is_outside || secret_by_name(path).is_some();
    let beginning = &kept[..kept.len().min(MAX_TEXT_BYTES)];
    let shown = if is_text_left_out { String::new() } else { String::from_utf8_lossy(beginning).into_owned() };
    let is_encoded = UTF_16_MARKS.iter().any(|mark| kept.starts_with(mark));
    let gap = match () {
        () if metadata.len() > limits.hashed_bytes => Some(TextGap::TooLarge),
        () if is_outside => Some(TextGap::Outside),
        () if is_encoded || is_invalid(&kept) => Some(TextGap::Encoding),
        () => (metadata.len() > limits.script_bytes as u64).then_some(TextGap::TooLong),
    };
    let text = CodeText {
        is_binary: beginning.contains(&0) && !is_encoded,
        is_executable: is_executable(&metadata),
        text: String::from_utf8_lossy(&kept).into_owned(),
        gap,
    };
    Ok((SeenFile { hash, text: shown, is_text_left_out, ..SeenFile::default() }, text))
}

/// Why a file was not looked at, by the error of the system.
fn unseen(error: &std::io::Error) -> Unseen {
    match error.kind() {
        // Where a part of the path is a file, there is none either.
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput | ErrorKind::InvalidFilename => {
            Unseen::Missing
        }
        ErrorKind::PermissionDenied => Unseen::Unreadable("there is no right to read it".to_owned()),
        _ => Unseen::Unreadable(format!("it cannot be read: {error}")),
    }
}

/// Whether bytes are no UTF-8. A letter that is cut at the end does not count.
fn is_invalid(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_some())
}

/// Returns the hash of a file; `None` if it cannot be read.
pub(in crate::gateway) fn hash_of(place: &Path) -> Option<String> {
    let metadata = place.metadata().ok().filter(Metadata::is_file)?;
    hash_and_beginning(place, &metadata, 0, &CodeLimits::default()).map(|(hash, _)| hash).ok()
}

fn hash_and_beginning(
    place: &Path,
    metadata: &Metadata,
    kept_at_most: usize,
    limits: &CodeLimits,
) -> std::io::Result<(String, Vec<u8>)> {
    let mut file = File::open(place)?.take(limits.hashed_bytes);
    let (mut hasher, mut kept) = (blake3::Hasher::new(), Vec::new());
    let mut block = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut block)?;
        if count == 0 {
            break;
        }
        hasher.update(&block[..count]);
        kept.extend(&block[..count.min(kept_at_most - kept.len())]);
    }
    hasher.update(&metadata.len().to_le_bytes());
    Ok((hasher.finalize().to_hex().to_string(), kept))
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}
