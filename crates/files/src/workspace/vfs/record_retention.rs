//! Limits how many of the program's own records are kept, and leaves them out of the agents' limits.

use super::executor::Executor;
use super::index::UNSEEN;
use super::path::WorkspacePath;
use super::records::{RECORDS, activation_of_record, head_of, is_unfinished, record_status};
use crate::base::ActivationKey;

/// The maximum number of records that one search for deletable ones examines.
const MAX_EXAMINED: usize = 200;

impl Executor {
    /// Returns the number of files and their total bytes without the program's own records, as the agents' limits count
    /// them.
    pub(super) fn used(&self) -> (usize, u64) {
        let records = self.index.paths_under(RECORDS);
        let (count, bytes) = records.fold((0, 0_u64), |(count, bytes), path| {
            (count + 1, bytes.saturating_add(self.index.get(path).map_or(0, |entry| entry.size)))
        });
        (self.index.count().saturating_sub(count), self.index.total_bytes().saturating_sub(bytes))
    }

    /// Deletes the oldest records beyond the number that is kept, but never one that belongs to unfinished work or
    /// cannot be read.
    pub(super) fn thin_records(&mut self) {
        // A record that was not examined yet counts as new.
        let written = |path: &str| match self.index.get(path).map_or(UNSEEN, |entry| entry.modified_ns) {
            UNSEEN => i64::MAX,
            modified_ns => modified_ns,
        };
        let aged = |path: &str| Some((written(path), activation_of_record(path)?, path.to_owned()));
        let mut records: Vec<(i64, ActivationKey, String)> = self.index.paths_under(RECORDS).filter_map(aged).collect();
        let mut surplus = records.len().saturating_sub(self.limits.max_sessions.max(1));
        records.sort_unstable();
        for (_, _, path) in records.into_iter().take(MAX_EXAMINED) {
            if surplus == 0 {
                return;
            }
            let Ok(normal) = WorkspacePath::new(&path) else { continue };
            let head = self.root.open_record(&normal).ok().and_then(|(file, _)| head_of(file));
            let is_over = head.as_deref().and_then(record_status).is_some_and(|status| !is_unfinished(status));
            if is_over && self.root.with_folder_of(&normal, |folder| Ok(folder.remove(normal.name())?)).is_ok() {
                self.index.forget(&path);
                self.note_changed(&path);
                surplus -= 1;
            }
        }
    }
}
