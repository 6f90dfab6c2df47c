//! What others do to the files: every edit made outside becomes a version, and news for the world.

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::super::disk::{Disk, Ledger};
use super::super::layout;
use super::desk::{Desk, Later};
use super::order::{FileOperation, FileOrder};
use super::path::{FileKind, Reach, WorkspacePath};
use super::resolve::Trouble;
use super::{OUTSIDE, ROOM};
use crate::base::Id;
use crate::base::hash::content_hash;
use crate::safe_fs::Found;
use crate::schedule::Input;
use crate::store::{FileHead, StoreError, Surety};

/// A file was changed by someone who did not order it. An input. Files that matter to a room (agent files, boards,
/// scenes, settings) come in as [`crate::workspace::FileChanged`] instead.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutsideChange {
    /// Its normalised path.
    pub path: String,
    /// Its newest version; 0 where it has none, because it is no text.
    pub version: u64,
    /// Whether it is gone.
    pub is_gone: bool,
    /// Who wrote over it, or took it away, before anyone had seen it: it is that version now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displaced_by: Option<Id>,
}

impl Input for OutsideChange {
    const KIND: &'static str = "file_outside";
}

impl Desk {
    /// Compares a text that was just read with what is known of its file; says the newest version.
    pub(super) fn notice(&mut self, path: &WorkspacePath, text: &str, found: &Found) -> Result<u64, StoreError> {
        let disk = self.disk_of(path);
        let ledger = disk.as_deref().map(Disk::ledger);
        self.seen(path, text, found, None, ledger.as_deref())
    }

    /// The same, with the room's ledger in hand. `displaced_by` where the text is about to be written over or taken
    /// away by this order: then it becomes a version even if nobody changed it.
    pub(super) fn seen(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        found: &Found,
        displaced_by: Option<&FileOrder>,
        ledger: Option<&Ledger>,
    ) -> Result<u64, StoreError> {
        let must_keep = displaced_by.is_some();
        let hash = content_hash(text.as_bytes());
        let entry = self.index.get(path.as_str());
        self.index.note(path.as_str(), found);
        let head = self.heads.get_mut(path.as_str());
        let newest = head.as_ref().map_or(0, |head| head.version);
        let has_history = head.is_some();
        if let Some(head) = head.filter(|head| head.is_there && head.hash == hash) {
            (head.size, head.modified_ns) = (found.size, found.modified_ns);
            return Ok(newest);
        }
        let looks_the_same =
            entry.is_some_and(|entry| (entry.size, entry.modified_ns) == (found.size, found.modified_ns));
        let is_first_sight = !has_history && looks_the_same;
        let is_rooms = ledger.is_some_and(|ledger| ledger.ours.get(path.as_str()) == Some(&hash));
        let is_ours = is_rooms || self.ignored.contains(path.as_str());
        let is_left = (is_first_sight || is_ours) && !must_keep;
        if is_left || path.kind() == FileKind::Session {
            return Ok(newest);
        }
        let version = self.record_seen(path, text, found, if is_rooms { ROOM } else { OUTSIDE })?;
        // The watcher tells of files that matter, unless the text is written over before it sees it.
        let is_told = layout::matters(path.as_str())
            && (!must_keep || ledger.is_some_and(|ledger| ledger.known.get(path.as_str()) == Some(&hash)));
        if !is_first_sight && !is_rooms && !is_told {
            // What is made of the text as it stands loses nothing of it.
            let loses = |order: &&FileOrder| {
                use FileOperation::{Append, Edit, Rename};
                !matches!(order.operation, Edit { .. } | Append { .. } | Rename { .. })
            };
            let displaced_by = displaced_by.filter(loses).map(|order| order.author.0.clone());
            self.news.push(OutsideChange { path: path.as_str().to_owned(), version, is_gone: false, displaced_by });
        }
        Ok(version)
    }

    /// Looks at one file, which someone else may have changed.
    pub(super) fn look(&mut self, path: &str) {
        let Ok(path) = WorkspacePath::new(path) else { return };
        let is_hidden = path.reach() == Reach::Closed || path.parts().any(|part| part.starts_with('.'));
        if is_hidden || self.ignored.contains(path.as_str()) {
            return;
        }
        let looked = match self.index.read(&self.root, &path, self.limits.bytes_at_most(&path)) {
            Ok((text, found)) => self.notice(&path, &text, &found).map(drop),
            Err(Trouble::Missing | Trouble::NotAFolder | Trouble::IsFolder) => {
                self.gone(&path);
                Ok(())
            }
            Err(_) => {
                self.no_text(&path);
                Ok(())
            }
        };
        if let Err(error) = looked {
            tracing::warn!("an edit of {path} could not be recorded: {error}");
        }
    }

    /// Looks at every file.
    pub(super) fn look_at_everything(&mut self) {
        for path in self.index.compare(&self.root) {
            self.look(&path);
        }
    }

    /// Whether a file is gone or empty, as it is for a moment while others write it.
    pub(super) fn is_doubtful(&self, path: &str) -> bool {
        let Ok(path) = WorkspacePath::new(path) else { return false };
        match self.root.look(&path) {
            Ok(found) => found.size == 0,
            Err(trouble) => matches!(trouble, Trouble::Missing),
        }
    }

    /// There is no file here any more, if there was one.
    pub(super) fn gone(&mut self, path: &WorkspacePath) {
        let was_listed = self.index.forget(path.as_str());
        let head = self.heads.get(path.as_str()).filter(|head| head.is_there).cloned();
        if !was_listed && head.is_none() {
            return;
        }
        if let Some(head) = &head {
            let gone = FileHead { is_there: false, ..head.clone() };
            if let Err(error) = self.versions.change(Surety::Process, |changes| changes.set_head(&gone)) {
                tracing::warn!("that {path} is gone could not be recorded: {error}");
            }
            self.heads.insert(path.as_str().to_owned(), gone);
        }
        if !layout::matters(path.as_str()) && path.kind() != FileKind::Session {
            let version = head.map_or(0, |head| head.version);
            self.news.push(OutsideChange {
                path: path.as_str().to_owned(),
                version,
                is_gone: true,
                displaced_by: None,
            });
        }
    }

    /// Someone put something here that is no text.
    fn no_text(&mut self, path: &WorkspacePath) {
        let Ok(found) = self.root.look(path) else { return };
        let entry = self.index.get(path.as_str());
        self.index.note(path.as_str(), &found);
        if entry.is_none_or(|entry| (entry.size, entry.modified_ns) != (found.size, found.modified_ns)) {
            self.news.push(OutsideChange {
                path: path.as_str().to_owned(),
                version: 0,
                is_gone: false,
                displaced_by: None,
            });
        }
    }

    /// Files with a history that are not as it says are looked at as soon as there is time.
    pub(super) fn find_edits_while_closed(&mut self) {
        let changed: Vec<String> = self
            .heads
            .values()
            .filter(|head| {
                let entry = self.index.get(&head.path);
                let is_same =
                    entry.is_some_and(|entry| (entry.size, entry.modified_ns) == (head.size, head.modified_ns));
                if head.is_there { !is_same } else { entry.is_some() }
            })
            .map(|head| head.path.clone())
            .collect();
        changed.into_iter().for_each(|path| self.push_later(Later::Look(path)));
    }
}
