//! Saves by other programs that may not be finished: many write a file in several parts, into the file itself. The room
//! waits before it writes over such a file, and watches a file that it replaced for a while (see `late_writes`).

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::index::now_ns;
use super::path::WorkspacePath;
use crate::safe_fs::EntryMetadata;

/// How long a file must have kept its size and modification time to count as completely saved.
pub(super) const STILL: Duration = Duration::from_millis(500);
/// How long the room waits for a file that never keeps still. After that, only what was replaced is watched.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long a replaced file is watched after the last change of it.
pub(super) const WATCHED: Duration = Duration::from_secs(120);
/// The interval at which replaced files are examined.
pub(super) const INTERVAL: Duration = Duration::from_millis(500);
/// The maximum number of replaced files that are watched, in total and for one path; each is an open file.
const MAX_WATCHED: usize = 64;
pub(super) const MAX_WATCHED_PER_PATH: usize = 8;

/// The files that other programs may still be writing.
#[derive(Default)]
pub(super) struct UnfinishedSaves {
    /// Files that changed too recently to be overwritten, by path.
    changing: BTreeMap<String, Changing>,
    /// Replaced files, oldest first.
    pub(super) replaced: VecDeque<ReplacedFile>,
    /// When the replaced files are examined next.
    pub(super) due: Option<Instant>,
}

struct Changing {
    found: EntryMetadata,
    /// When the room began to wait, and since when the file has been as it is.
    began: Instant,
    since: Instant,
}

/// A file that is no longer at its path, but may still be open in another program.
pub(super) struct ReplacedFile {
    pub(super) path: WorkspacePath,
    pub(super) file: File,
    /// The text that was replaced.
    pub(super) base: Arc<str>,
    /// Its size and modification time when it was last examined.
    pub(super) stamp: Stamp,
    /// When its last change was noticed, until that change is merged.
    pub(super) changed: Option<Instant>,
    pub(super) watched_until: Instant,
}

pub(super) type Stamp = Option<(u64, SystemTime)>;

impl UnfinishedSaves {
    /// Whether a file that another program wrote has to be left alone a little longer.
    pub(super) fn must_wait(&mut self, path: &str, found: &EntryMetadata) -> bool {
        let age = now_ns().saturating_sub(found.modified_ns);
        if u128::try_from(age).is_ok_and(|age| age >= STILL.as_nanos()) {
            self.changing.remove(path);
            return false;
        }
        // The clock of a network drive may be ahead: then only what is observed here counts.
        let now = Instant::now();
        let changing =
            self.changing.entry(path.to_owned()).or_insert(Changing { found: *found, began: now, since: now });
        if !changing.found.is_same_as(found) {
            (changing.found, changing.since) = (*found, now);
        }
        let must_wait = changing.since.elapsed() < STILL && changing.began.elapsed() < MAX_WAIT;
        if !must_wait {
            self.changing.remove(path);
        }
        must_wait
    }

    /// Watches a file whose text was just replaced.
    pub(super) fn watch(&mut self, path: &WorkspacePath, file: File, base: Arc<str>) {
        let of_path = self.replaced.iter().filter(|replaced| replaced.path == *path).count();
        if of_path >= MAX_WATCHED_PER_PATH {
            let oldest = self.replaced.iter().position(|replaced| replaced.path == *path);
            oldest.and_then(|oldest| self.replaced.remove(oldest));
        } else if self.replaced.len() >= MAX_WATCHED {
            self.replaced.pop_front();
        }
        let (stamp, now) = (stamp_of(&file), Instant::now());
        // The file may have changed between reading its text and replacing it: its text is compared once in any case.
        let replaced =
            ReplacedFile { path: path.clone(), file, base, stamp, changed: Some(now), watched_until: now + WATCHED };
        self.replaced.push_back(replaced);
        self.due.get_or_insert(now + INTERVAL);
    }
}

pub(super) fn stamp_of(file: &File) -> Stamp {
    let metadata = file.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

#[cfg(test)]
impl UnfinishedSaves {
    /// Moves everything that is remembered into the past, as if this time had passed without an event.
    pub(super) fn let_pass(&mut self, time: Duration) {
        let earlier = |at: Instant| at.checked_sub(time).unwrap_or(at);
        self.due = self.due.map(earlier);
        for changing in self.changing.values_mut() {
            (changing.began, changing.since) = (earlier(changing.began), earlier(changing.since));
        }
        for replaced in &mut self.replaced {
            replaced.changed = replaced.changed.map(earlier);
            replaced.watched_until = earlier(replaced.watched_until);
        }
    }
}
