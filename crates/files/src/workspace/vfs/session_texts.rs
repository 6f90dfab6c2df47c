//! The state of the session files on disk: which texts are the room's own, and which were reported to it.

use std::collections::{HashMap, VecDeque};

use super::super::files::FileContent;
use super::path::WorkspacePath;

/// The maximum size in bytes of a session file that the room continues to write.
pub(super) const MAX_SESSION_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum size in bytes of a person's text that is reported in full.
const MAX_TOLD_BYTES: usize = 4 * 1024 * 1024;

/// Returns the content that is reported to the room; a text that is too long is reported as such.
pub(super) fn reported_content(text: String) -> FileContent {
    if text.len() <= MAX_TOLD_BYTES {
        return FileContent::Text(text);
    }
    let what = format!("it is too long for a session: {} bytes, and the limit is {MAX_TOLD_BYTES}", text.len());
    FileContent::Unusable { what, remedy: "remove what is not needed, such as images and long results".to_owned() }
}

/// The state of the session files, by path.
#[derive(Default)]
pub(super) struct SessionRecords {
    /// The hash of the text that the room wrote last, and whether it is exactly the room's rendering, without parts by
    /// others.
    pub(super) written: HashMap<String, (u64, bool)>,
    /// The hash of the text that was last reported to the room, by path.
    pub(super) reported: HashMap<String, u64>,
    /// The hashes of texts that will be reported once they have been stable for a moment, because they may still be
    /// written.
    pub(super) pending: HashMap<String, u64>,
    /// The paths and texts that the room wrote last, the newest at the end.
    texts: VecDeque<(String, String)>,
    /// Sessions that are stored in a copy because their files could not be written.
    pub(super) copied: HashMap<String, WorkspacePath>,
}

/// The maximum number of texts that are kept.
const MAX_TEXTS: usize = 64;
/// The maximum size of a text that is kept, in bytes.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

impl SessionRecords {
    /// Returns the text that the room wrote last into a file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.iter().rev().find(|(known, _)| known == path).map(|(_, text)| text.as_str())
    }

    pub(super) fn keep_text(&mut self, path: &str, text: &str) {
        self.texts.retain(|(known, _)| known != path);
        if text.len() <= MAX_TEXT_BYTES {
            self.texts.push_back((path.to_owned(), text.to_owned()));
        }
        if self.texts.len() > MAX_TEXTS {
            self.texts.pop_front();
        }
    }

    /// Forgets the room's text of a file, because the room no longer continues from it.
    pub(super) fn forget(&mut self, path: &str) {
        self.written.remove(path);
        self.texts.retain(|(known, _)| known != path);
    }
}
