//! Session files, `sessions/*.session.yaml`, as text: parsing them, recognising the parts that the room wrote, and
//! appending to a file that a person also edits. Pure.
//!
//! In reading order: the data ([`model`]), parsing a text into it (`parse`), a text as segments that are kept byte for
//! byte ([`segments`]), the mark by which the room recognises its own text ([`own_checksum`]), updating a text
//! ([`update`]), and merging a person's edits of a running session (`merge`).

mod merge;
pub mod model;
pub mod own_checksum;
mod parse;
pub mod segments;
pub mod update;

#[cfg(test)]
mod tests;

pub use merge::{Merged, MergedMessage, merge};
pub use model::{MessageRole, SessionCall, SessionFault, SessionMessage, SessionText};
pub use parse::{is_older, parse};

/// The folder of session files.
pub const FOLDER: &str = "sessions/";
/// The extension of session files.
pub const ENDING: &str = ".session.yaml";
/// The extension of the copy that the room writes while it cannot write the session file itself.
pub const COPY_ENDING: &str = ".room-copy.yaml";

/// Whether a path is a session file, directly in the folder.
pub fn is_session_file(path: &str) -> bool {
    session_id_of(path).is_some()
}

/// Returns the id of the session in a file: its name without folder and extension.
pub fn session_id_of(path: &str) -> Option<&str> {
    let id = path.strip_prefix(FOLDER)?.strip_suffix(ENDING)?;
    (!id.is_empty() && !id.contains('/') && !id.starts_with('.')).then_some(id)
}

/// Returns the path of a session's file.
pub fn path_of(session_id: &str) -> String {
    format!("{FOLDER}{session_id}{ENDING}")
}

/// Returns the path of the copy that the room writes while it cannot write the session file itself.
pub fn copy_of(path: &str) -> String {
    format!("{}{COPY_ENDING}", path.strip_suffix(ENDING).unwrap_or(path))
}
