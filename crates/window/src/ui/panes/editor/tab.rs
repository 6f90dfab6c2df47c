//! One open file as data: the text on disk, unsaved changes, and the result of saving.

use std::sync::Arc;

use super::chunks::Chunks;
use crate::base::Id;
use crate::ui::UiState;
use crate::ui::commands::{Command, RoomAct};
use crate::ui::state::file_texts::{Read, TextRead};
use crate::view::recent_events::Recent;
use crate::workspace::text_merge::{Choice, TextMerge};
use crate::workspace::vfs::FileOperation;

/// How long after a save the old content may still be read.
const SETTLING_SECS: f64 = 5.0;

/// What is known of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum FileStatus {
    /// It was not read yet.
    #[default]
    Nothing,
    /// There is none.
    Absent,
    /// It says this.
    Text(TextRead),
    /// It cannot be shown, in words.
    Unreadable(String),
}

/// What was written and not saved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Begun {
    /// The text that it began from; nothing where there was no file.
    pub base: Option<TextRead>,
    /// Whether it is to be saved as soon as nobody works by this file.
    pub applies_when_idle: bool,
}

/// How a draft stands to its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DraftStatus {
    /// Nothing was written.
    Clean,
    /// Something was written.
    Written,
    /// Something was written, and somebody else changed the file.
    Overtaken,
    /// Something was written, and the file is gone.
    Deleted,
}

/// A merge whose conflicts a person settles.
#[derive(Clone, Debug)]
pub struct Merging {
    /// The file as somebody else left it: what the merged text grows from.
    pub theirs: TextRead,
    /// The text that was mine when the merge began.
    pub mine: Arc<String>,
    /// What came of both, as far as it is settled.
    pub merge: TextMerge,
}

/// A running operation.
#[derive(Clone, Debug)]
enum Order {
    Save { key: Id, content: TextRead },
    Restore { key: Id },
}

/// One open file.
#[derive(Clone, Debug, Default)]
pub struct Tab {
    /// The whole text as it is shown: lines end with `\n`.
    pub text: Arc<String>,
    /// Changes with the text.
    pub generation: u64,
    /// The part of it that is in the field.
    pub pages: Chunks,
    /// Changes whenever the field holds something that was not typed into it.
    pub page_generation: u64,
    /// What the file says.
    pub seen: FileStatus,
    /// What was written and not saved.
    pub begun: Option<Begun>,
    /// Why the last order failed.
    pub failed: Option<String>,
    /// A merge that goes on.
    pub merging: Option<Merging>,
    /// Whether the lines of the file end as on Windows.
    ends_with_return: bool,
    order: Option<Order>,
    /// What the file said before it was saved, and until when it may still be read so.
    settling: Option<(Option<u64>, f64)>,
}

impl Tab {
    /// A file with something written into it already.
    pub fn begun(base: Option<String>, text: &str, applies_when_idle: bool) -> Self {
        let mut tab = Self::default();
        tab.show(text);
        tab.begun = Some(Begun { base: base.map(TextRead::new), applies_when_idle });
        tab
    }

    /// The text as it stands in the file, with the file's ends of lines.
    pub fn as_file(&self) -> String {
        if self.ends_with_return { self.text.replace('\n', "\r\n") } else { self.text.as_str().to_owned() }
    }

    fn is_as_file(&self, other: &str) -> bool {
        if self.ends_with_return { self.as_file() == other } else { *self.text == other }
    }

    /// Shows another text than was typed.
    fn show(&mut self, file: &str) {
        let ends = file.matches("\r\n").count();
        self.ends_with_return = ends > 0
            && ends == file.bytes().filter(|byte| *byte == b'\n').count()
            && ends == file.bytes().filter(|byte| *byte == b'\r').count();
        let text = if self.ends_with_return { file.replace("\r\n", "\n") } else { file.to_owned() };
        if *self.text != text || self.generation == 0 {
            self.replace(text);
        }
    }

    /// Puts another text in the field; lines end with `\n`.
    pub fn replace(&mut self, text: String) {
        let at = self.pages.start().byte.min(text.len());
        self.pages = Chunks::of(&text, text.floor_char_boundary(at));
        self.text = Arc::new(text);
        self.generation += 1;
        self.page_generation += 1;
    }

    /// Takes over what was read of the file.
    pub fn follow(&mut self, read: Option<&Read<Option<TextRead>>>, now_secs: f64) {
        let seen = match read {
            None => return,
            Some(Err(why)) => FileStatus::Unreadable(why.clone()),
            Some(Ok(None)) => FileStatus::Absent,
            Some(Ok(Some(text))) => FileStatus::Text(text.clone()),
        };
        if let Some((old, until)) = self.settling {
            let is_old = !matches!(seen, FileStatus::Unreadable(_)) && hash_of(&seen) == old;
            if is_old && now_secs < until {
                return;
            }
            self.settling = None;
        }
        if seen == self.seen {
            return;
        }
        self.seen = seen;
        match &self.seen {
            FileStatus::Text(file) => {
                let text = file.text.clone();
                if self.begun.is_none() {
                    self.show(&text);
                } else if self.is_as_file(&text) {
                    // Somebody saved the same, or this is what was saved here.
                    self.begun = None;
                    self.merging = None;
                }
            }
            FileStatus::Absent if self.begun.is_none() => self.show(""),
            _ => {}
        }
        if let (Some(merging), FileStatus::Text(file)) = (&self.merging, &self.seen)
            && merging.theirs.hash != file.hash
        {
            // It changed once more: what was chosen was chosen about another text.
            self.merging = None;
        }
    }

    /// What was read of the file last.
    pub fn file(&self) -> Option<&TextRead> {
        match &self.seen {
            FileStatus::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Takes the field's text over into the whole one. `at` is the byte of the cursor in the field.
    pub fn typed(&mut self, at: usize) {
        if self.pages.write_back(Arc::make_mut(&mut self.text), at) {
            self.page_generation += 1;
        }
        self.changed();
    }

    /// Puts another text in place of the shown one, as if it had been typed.
    pub fn write(&mut self, text: String) {
        self.replace(text);
        self.changed();
    }

    fn changed(&mut self) {
        self.generation += 1;
        self.failed = None;
        let file = self.file().cloned();
        match &self.begun {
            None => self.begun = Some(Begun { base: file, applies_when_idle: false }),
            // Typed back to the file's content: nothing is unsaved.
            Some(_) if file.is_some_and(|file| self.is_as_file(&file.text)) => self.begun = None,
            Some(_) => {}
        }
    }

    /// How what was written stands to the file.
    pub fn draft_status(&self) -> DraftStatus {
        let Some(begun) = &self.begun else { return DraftStatus::Clean };
        match (&self.seen, &begun.base) {
            (FileStatus::Absent, Some(_)) => DraftStatus::Deleted,
            (FileStatus::Text(file), base) if base.as_ref().is_none_or(|base| base.hash != file.hash) => {
                DraftStatus::Overtaken
            }
            _ => DraftStatus::Written,
        }
    }

    /// Whether an order is under way.
    pub fn is_saving(&self) -> bool {
        self.order.is_some()
    }

    /// Orders the text to be saved, over the text that it began from.
    pub fn save(&mut self, path: &str, state: &UiState) -> Command {
        let content = TextRead::new(self.as_file());
        let base = match &self.begun {
            Some(begun) => begun.base.clone(),
            None => self.file().cloned(),
        };
        let operation = |base: Option<&TextRead>, content: &TextRead| FileOperation::Save {
            path: path.to_owned(),
            base: base.map(|base| base.hash),
            content: content.text.to_string(),
        };
        let forth = state.file_command(operation(base.as_ref(), &content));
        let back = state.file_command(match &base {
            Some(base) => operation(Some(&content), base),
            None => FileOperation::Delete { path: path.to_owned() },
        });
        self.order = Some(Order::Save { key: forth.key.clone(), content });
        self.failed = None;
        if let Some(begun) = &mut self.begun {
            begun.applies_when_idle = false;
        }
        Command::Act(RoomAct::File(forth), Some(RoomAct::File(back)))
    }

    /// Orders an earlier version to be written again. What was written and not saved goes once that is done.
    pub fn restore(&mut self, path: &str, version: u64, state: &UiState) -> Command {
        let forth = state.file_command(FileOperation::Restore { path: path.to_owned(), version });
        self.order = Some(Order::Restore { key: forth.key.clone() });
        self.failed = None;
        Command::Act(RoomAct::File(forth), None)
    }

    /// Takes over how the order went.
    pub fn apply_results(&mut self, recent: &Recent, now_secs: f64) {
        let Some(order) = &self.order else { return };
        let key = match order {
            Order::Save { key, .. } | Order::Restore { key } => key,
        };
        let Some(result) = recent.order(key) else { return };
        let order = self.order.take();
        match (result, order) {
            (Err(why), _) => self.failed = Some(why.clone()),
            (Ok(()), Some(Order::Save { content, .. })) => {
                if !matches!(self.seen, FileStatus::Unreadable(_)) && hash_of(&self.seen) != Some(content.hash) {
                    self.settling = Some((hash_of(&self.seen), now_secs + SETTLING_SECS));
                }
                if self.is_as_file(&content.text) {
                    self.begun = None;
                } else if let Some(begun) = &mut self.begun {
                    begun.base = Some(content.clone());
                }
                self.seen = FileStatus::Text(content);
            }
            (Ok(()), _) => self.take_theirs(),
        }
    }

    /// Gives up what was written.
    pub fn take_theirs(&mut self) {
        self.begun = None;
        self.merging = None;
        self.failed = None;
        match self.seen.clone() {
            FileStatus::Text(file) => self.show(&file.text),
            FileStatus::Absent => self.show(""),
            FileStatus::Nothing | FileStatus::Unreadable(_) => {}
        }
    }

    /// Goes on with what was written, over whatever the file says now.
    pub fn keep_mine(&mut self) {
        let file = self.file().cloned();
        self.merging = None;
        self.failed = None;
        if let Some(begun) = &mut self.begun {
            begun.base = file;
        }
    }

    /// Joins what was written with what somebody else made of the file; asks where both changed the same.
    pub fn begin_merge(&mut self) {
        let (Some(theirs), Some(begun)) = (self.file().cloned(), &self.begun) else { return };
        let base = begun.base.as_ref().map_or("", |base| &*base.text);
        let plain = |text: &str| text.replace("\r\n", "\n");
        let merge = TextMerge::new(&plain(base), &self.text, &plain(&theirs.text));
        self.merging = Some(Merging { theirs, mine: self.text.clone(), merge });
        self.finish_merge();
    }

    /// Chooses for one conflict; the last choice ends the merge.
    pub fn choose(&mut self, place: usize, choice: Choice) {
        if let Some(merging) = &mut self.merging {
            merging.merge.choose(place, choice);
        }
        self.finish_merge();
    }

    fn finish_merge(&mut self) {
        let Some(merging) = &self.merging else { return };
        if merging.mine != self.text {
            // Something was typed meanwhile: what was chosen was chosen about another text.
            self.merging = None;
            return;
        }
        let Some(text) = merging.merge.text() else { return };
        let theirs = merging.theirs.clone();
        self.merging = None;
        if let Some(begun) = &mut self.begun {
            begun.base = Some(theirs);
        }
        self.write(text);
    }
}

/// The hash of the known content; `None` if there is no file.
fn hash_of(seen: &FileStatus) -> Option<u64> {
    match seen {
        FileStatus::Text(text) => Some(text.hash),
        _ => None,
    }
}
