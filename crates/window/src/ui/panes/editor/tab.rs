//! The data of one open file: its text, the state of the file on disk, unsaved changes, and running operations.

use std::sync::Arc;

use super::chunks::Chunks;
use crate::base::Id;
use crate::ui::UiState;
use crate::ui::commands::{Command, RoomAct};
use crate::ui::state::file_texts::{Read, TextRead};
use crate::view::recent_events::Recent;
use crate::workspace::text_merge::{Choice, TextMerge};
use crate::workspace::vfs::FileOperation;

/// How long after a save the old content may still be read, in seconds.
const STALE_READ_SECS: f64 = 5.0;

/// The state of the file on disk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum FileStatus {
    /// The file has not been read yet.
    #[default]
    NotRead,
    /// The file does not exist.
    Absent,
    /// The file has this text.
    Text(TextRead),
    /// The file cannot be shown as text, for this reason.
    Unreadable(String),
}

/// Unsaved changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TabDraft {
    /// The file's text before the changes, or `None` if there was no file.
    pub base: Option<TextRead>,
    /// Whether it is saved automatically once no agent of this file is working.
    pub applies_when_idle: bool,
}

/// The state of a draft relative to the file on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DraftStatus {
    /// There are no unsaved changes.
    Clean,
    /// There are unsaved changes.
    Unsaved,
    /// There are unsaved changes, and someone else has changed the file.
    Conflicted,
    /// There are unsaved changes, and the file was deleted.
    Deleted,
}

/// A merge with conflicts for the user to resolve.
#[derive(Clone, Debug)]
pub struct Merging {
    /// The other version on disk, which the merged text is based on.
    pub theirs: TextRead,
    /// The tab's text when the merge began.
    pub mine: Arc<String>,
    /// The merge with its conflicts.
    pub merge: TextMerge,
}

/// A running file operation, identified by the key of its command.
#[derive(Clone, Debug)]
enum PendingOperation {
    Save { key: Id, content: TextRead },
    Restore { key: Id },
}

/// One open file.
#[derive(Clone, Debug, Default)]
pub struct Tab {
    /// The whole text, with `\n` line endings.
    pub text: Arc<String>,
    /// Changes whenever the text does.
    pub generation: u64,
    /// The parts of the text, one of which is in the field.
    pub chunks: Chunks,
    /// Changes whenever the field's text changes other than by typing.
    pub chunk_generation: u64,
    /// The state of the file on disk.
    pub status: FileStatus,
    /// The unsaved changes.
    pub draft: Option<TabDraft>,
    /// Why the last operation failed.
    pub error: Option<String>,
    /// The running merge.
    pub merging: Option<Merging>,
    /// Whether the file has Windows line endings.
    uses_crlf: bool,
    operation: Option<PendingOperation>,
    /// The content hash before the last save, and until when reads that still return it are ignored.
    stale_read: Option<(Option<u64>, f64)>,
}

impl Tab {
    /// Creates a tab with unsaved changes.
    pub fn with_draft(base: Option<String>, text: &str, applies_when_idle: bool) -> Self {
        let mut tab = Self::default();
        tab.load_text(text);
        tab.draft = Some(TabDraft { base: base.map(TextRead::new), applies_when_idle });
        tab
    }

    /// Returns the text with the file's line endings.
    pub fn file_content(&self) -> String {
        if self.uses_crlf { self.text.replace('\n', "\r\n") } else { self.text.as_str().to_owned() }
    }

    fn matches_file(&self, other: &str) -> bool {
        if self.uses_crlf { self.file_content() == other } else { *self.text == other }
    }

    /// Replaces the text by that of the file, and detects its line endings.
    fn load_text(&mut self, file: &str) {
        let ends = file.matches("\r\n").count();
        self.uses_crlf = ends > 0
            && ends == file.bytes().filter(|byte| *byte == b'\n').count()
            && ends == file.bytes().filter(|byte| *byte == b'\r').count();
        let text = if self.uses_crlf { file.replace("\r\n", "\n") } else { file.to_owned() };
        if *self.text != text || self.generation == 0 {
            self.replace(text);
        }
    }

    /// Replaces the text, which has `\n` line endings.
    pub fn replace(&mut self, text: String) {
        let at = self.chunks.start().byte.min(text.len());
        self.chunks = Chunks::of(&text, text.floor_char_boundary(at));
        self.text = Arc::new(text);
        self.generation += 1;
        self.chunk_generation += 1;
    }

    /// Updates the tab from the result of reading the file.
    pub fn update_from_file(&mut self, read: Option<&Read<Option<TextRead>>>, now_secs: f64) {
        let status = match read {
            None => return,
            Some(Err(why)) => FileStatus::Unreadable(why.clone()),
            Some(Ok(None)) => FileStatus::Absent,
            Some(Ok(Some(text))) => FileStatus::Text(text.clone()),
        };
        if let Some((old, until)) = self.stale_read {
            let is_old = !matches!(status, FileStatus::Unreadable(_)) && hash_of(&status) == old;
            if is_old && now_secs < until {
                return;
            }
            self.stale_read = None;
        }
        if status == self.status {
            return;
        }
        self.status = status;
        match &self.status {
            FileStatus::Text(file) => {
                let text = file.text.clone();
                if self.draft.is_none() {
                    self.load_text(&text);
                } else if self.matches_file(&text) {
                    // Someone saved the same text, or this is the result of our own save.
                    self.draft = None;
                    self.merging = None;
                }
            }
            FileStatus::Absent if self.draft.is_none() => self.load_text(""),
            _ => {}
        }
        if let (Some(merging), FileStatus::Text(file)) = (&self.merging, &self.status)
            && merging.theirs.hash != file.hash
        {
            // The file changed again, so the choices made so far refer to another text.
            self.merging = None;
        }
    }

    /// Returns the text of the file as it was last read.
    pub fn file(&self) -> Option<&TextRead> {
        match &self.status {
            FileStatus::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Copies an edit in the field into the whole text. `at` is the byte of the cursor in the field.
    pub fn apply_field_edit(&mut self, at: usize) {
        if self.chunks.write_back(Arc::make_mut(&mut self.text), at) {
            self.chunk_generation += 1;
        }
        self.update_draft();
    }

    /// Replaces the text as an edit by the user.
    pub fn write(&mut self, text: String) {
        self.replace(text);
        self.update_draft();
    }

    fn update_draft(&mut self) {
        self.generation += 1;
        self.error = None;
        let file = self.file().cloned();
        match &self.draft {
            None => self.draft = Some(TabDraft { base: file, applies_when_idle: false }),
            // If the text is back to the file's content, nothing is unsaved.
            Some(_) if file.is_some_and(|file| self.matches_file(&file.text)) => self.draft = None,
            Some(_) => {}
        }
    }

    /// Returns the state of the unsaved changes relative to the file.
    pub fn draft_status(&self) -> DraftStatus {
        let Some(draft) = &self.draft else { return DraftStatus::Clean };
        match (&self.status, &draft.base) {
            (FileStatus::Absent, Some(_)) => DraftStatus::Deleted,
            (FileStatus::Text(file), base) if base.as_ref().is_none_or(|base| base.hash != file.hash) => {
                DraftStatus::Conflicted
            }
            _ => DraftStatus::Unsaved,
        }
    }

    /// Whether an operation is running.
    pub fn is_saving(&self) -> bool {
        self.operation.is_some()
    }

    /// Returns the command that saves the text, which fails if the file on disk is no longer the draft's base.
    pub fn save(&mut self, path: &str, state: &UiState) -> Command {
        let content = TextRead::new(self.file_content());
        let base = match &self.draft {
            Some(draft) => draft.base.clone(),
            None => self.file().cloned(),
        };
        let operation = |base: Option<&TextRead>, content: &TextRead| FileOperation::Save {
            path: path.to_owned(),
            base: base.map(|base| base.hash),
            content: content.text.to_string(),
        };
        let command = state.file_command(operation(base.as_ref(), &content));
        let inverse = state.file_command(match &base {
            Some(base) => operation(Some(&content), base),
            None => FileOperation::Delete { path: path.to_owned() },
        });
        self.operation = Some(PendingOperation::Save { key: command.key.clone(), content });
        self.error = None;
        if let Some(draft) = &mut self.draft {
            draft.applies_when_idle = false;
        }
        Command::Act(RoomAct::File(command), Some(RoomAct::File(inverse)))
    }

    /// Returns the command that restores a version. Unsaved changes are discarded once it has succeeded.
    pub fn restore(&mut self, path: &str, version: u64, state: &UiState) -> Command {
        let command = state.file_command(FileOperation::Restore { path: path.to_owned(), version });
        self.operation = Some(PendingOperation::Restore { key: command.key.clone() });
        self.error = None;
        Command::Act(RoomAct::File(command), None)
    }

    /// Processes the result of the running operation.
    pub fn apply_results(&mut self, recent: &Recent, now_secs: f64) {
        let Some(operation) = &self.operation else { return };
        let key = match operation {
            PendingOperation::Save { key, .. } | PendingOperation::Restore { key } => key,
        };
        let Some(result) = recent.order(key) else { return };
        let operation = self.operation.take();
        match (result, operation) {
            (Err(why), _) => self.error = Some(why.clone()),
            (Ok(()), Some(PendingOperation::Save { content, .. })) => {
                if !matches!(self.status, FileStatus::Unreadable(_)) && hash_of(&self.status) != Some(content.hash) {
                    self.stale_read = Some((hash_of(&self.status), now_secs + STALE_READ_SECS));
                }
                if self.matches_file(&content.text) {
                    self.draft = None;
                } else if let Some(draft) = &mut self.draft {
                    draft.base = Some(content.clone());
                }
                self.status = FileStatus::Text(content);
            }
            (Ok(()), _) => self.take_theirs(),
        }
    }

    /// Discards the unsaved changes.
    pub fn take_theirs(&mut self) {
        self.draft = None;
        self.merging = None;
        self.error = None;
        match self.status.clone() {
            FileStatus::Text(file) => self.load_text(&file.text),
            FileStatus::Absent => self.load_text(""),
            FileStatus::NotRead | FileStatus::Unreadable(_) => {}
        }
    }

    /// Keeps the unsaved changes; the next save overwrites the file as it is now.
    pub fn keep_mine(&mut self) {
        let file = self.file().cloned();
        self.merging = None;
        self.error = None;
        if let Some(draft) = &mut self.draft {
            draft.base = file;
        }
    }

    /// Merges the unsaved changes with those on disk. If both changed the same lines, the user has to choose.
    pub fn begin_merge(&mut self) {
        let (Some(theirs), Some(draft)) = (self.file().cloned(), &self.draft) else { return };
        let base = draft.base.as_ref().map_or("", |base| &*base.text);
        let plain = |text: &str| text.replace("\r\n", "\n");
        let merge = TextMerge::new(&plain(base), &self.text, &plain(&theirs.text));
        self.merging = Some(Merging { theirs, mine: self.text.clone(), merge });
        self.finish_merge();
    }

    /// Resolves one conflict. The last choice finishes the merge.
    pub fn choose(&mut self, place: usize, choice: Choice) {
        if let Some(merging) = &mut self.merging {
            merging.merge.choose(place, choice);
        }
        self.finish_merge();
    }

    fn finish_merge(&mut self) {
        let Some(merging) = &self.merging else { return };
        if merging.mine != self.text {
            // The text was edited meanwhile, so the choices made so far refer to another text.
            self.merging = None;
            return;
        }
        let Some(text) = merging.merge.text() else { return };
        let theirs = merging.theirs.clone();
        self.merging = None;
        if let Some(draft) = &mut self.draft {
            draft.base = Some(theirs);
        }
        self.write(text);
    }
}

/// Returns the hash of the known content, or `None` if there is none.
fn hash_of(status: &FileStatus) -> Option<u64> {
    match status {
        FileStatus::Text(text) => Some(text.hash),
        _ => None,
    }
}
