//! Saves by other programs that may not be finished: many write a file in several parts, into the file itself. The room
//! waits before it writes over such a file, and what is still written into a file that was replaced is merged into the
//! present one.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::super::text_merge::merge_keeping_both;
use super::super::unsaved_copies;
use super::executor::Executor;
use super::index::now_ns;
use super::path::WorkspacePath;
use super::resolve::{PathError, beside_name};
use super::service_events::{SaveReport, ServiceEvent};
use crate::base::Problem;
use crate::base::hash::content_hash;
use crate::safe_fs::{EntryMetadata, Replacement};

/// How long a file must have kept its size and modification time to count as completely saved.
pub(super) const STILL: Duration = Duration::from_millis(500);
/// How long the room waits for a file that never keeps still. After that, only what was replaced is watched.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long a replaced file is watched after the last change of it.
const WATCHED: Duration = Duration::from_secs(120);
/// The interval at which replaced files are examined.
const INTERVAL: Duration = Duration::from_millis(500);
/// The maximum number of replaced files that are watched, in total and for one path; each is an open file.
const MAX_WATCHED: usize = 64;
const MAX_WATCHED_PER_PATH: usize = 8;

/// The files that other programs may still be writing.
#[derive(Default)]
pub(super) struct UnfinishedSaves {
    /// Files that changed too recently to be overwritten, by path.
    changing: BTreeMap<String, Changing>,
    /// Replaced files, oldest first.
    replaced: VecDeque<ReplacedFile>,
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
struct ReplacedFile {
    path: WorkspacePath,
    file: File,
    /// The text that was replaced.
    base: Arc<str>,
    stamp: Stamp,
    /// When its last change was noticed, until that change is merged.
    changed: Option<Instant>,
    watched_until: Instant,
}

type Stamp = Option<(u64, SystemTime)>;

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

fn stamp_of(file: &File) -> Stamp {
    let metadata = file.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

impl Executor {
    /// Examines the replaced files, if that is due, and merges what was written into them.
    pub(super) fn merge_late_writes(&mut self) {
        let now = Instant::now();
        if self.unfinished.due.is_none_or(|due| due > now) {
            return;
        }
        for mut replaced in std::mem::take(&mut self.unfinished.replaced) {
            let stamp = stamp_of(&replaced.file);
            if stamp != replaced.stamp {
                (replaced.stamp, replaced.changed) = (stamp, Some(now));
                replaced.watched_until = now + WATCHED;
            } else if replaced.changed.is_some_and(|changed| changed.elapsed() >= STILL) {
                self.merge_replaced(&mut replaced);
            }
            if now < replaced.watched_until {
                self.unfinished.replaced.push_back(replaced);
            }
        }
        self.unfinished.due = (!self.unfinished.replaced.is_empty()).then(|| Instant::now() + INTERVAL);
    }

    /// Merges what was written into replaced files so far, because they are not watched any longer.
    pub(super) fn merge_last_writes(&mut self) {
        for mut replaced in std::mem::take(&mut self.unfinished.replaced) {
            self.merge_replaced(&mut replaced);
        }
        self.unfinished.replaced.clear();
        self.unfinished.due = None;
    }

    /// Merges the present text of a replaced file into the file that is at its path now, as a change by someone else.
    fn merge_replaced(&mut self, replaced: &mut ReplacedFile) {
        let path = replaced.path.clone();
        let theirs = match text_of(&mut replaced.file, self.limits.bytes_at_most(&path)) {
            // A program that empties the file writes it next.
            Ok(theirs) if theirs.is_empty() || *theirs == *replaced.base => {
                replaced.changed = None;
                return;
            }
            Ok(theirs) => theirs,
            Err(why) => {
                replaced.changed = None;
                let what = format!("what another program went on writing into it while it was replaced {why}");
                return self.report_late_write(Problem::warning(path.as_str(), what, "save it there once more"));
            }
        };
        let now = match self.index.read(&self.root, &path, self.limits.bytes_at_most(&path)) {
            Ok((now, _)) => now,
            Err(_) => {
                replaced.changed = None;
                return self.keep_late_write(&path, &theirs);
            }
        };
        let merged = merge_keeping_both(&replaced.base, &now, &theirs);
        if merged != *now {
            match self.put_merged(&path, &merged, &now) {
                Ok(Replacement::Replaced) => {}
                // Somebody saved it just now: the next look merges with that text.
                Ok(Replacement::Conflict) => return,
                Err(error) => {
                    tracing::warn!("{path} could not be merged with what was still written into it: {error:?}");
                    replaced.changed = None;
                    return self.keep_late_write(&path, &theirs);
                }
            }
        }
        (replaced.base, replaced.changed) = (theirs.into(), None);
    }

    fn put_merged(&mut self, path: &WorkspacePath, merged: &str, now: &Arc<str>) -> Result<Replacement, PathError> {
        let beside = beside_name(&format!("late write {path}"));
        self.root.write_temporary(path, &beside, merged)?;
        let over = Some(content_hash(now.as_bytes()));
        let (placed, file) = self.root.put_in_place_keeping(path, &beside, over)?;
        if placed == Replacement::Replaced {
            if let Some(file) = file {
                self.unfinished.watch(path, file, Arc::clone(now));
            }
            // It becomes a version, and the room reads it, like any save by another program.
            self.examine(path.as_str());
        }
        Ok(placed)
    }

    /// Keeps a text whose file is gone where a person can find it.
    fn keep_late_write(&mut self, path: &WorkspacePath, theirs: &str) {
        let problem = match unsaved_copies::keep_text(self.root.folder(), path.as_str(), theirs) {
            Ok(kept) => Problem::warning(
                path.as_str(),
                format!("another program saved it while it was replaced; that text is kept as {kept}"),
                "compare the two, and delete the copy if nothing is missing",
            ),
            Err(error) => Problem::error(
                path.as_str(),
                format!("what another program saved while it was replaced could not be kept: {error}"),
                "save it there once more",
            ),
        };
        self.report_late_write(problem);
    }

    fn report_late_write(&mut self, problem: Problem) {
        tracing::warn!("{problem}");
        let report = SaveReport { path: problem.place.clone(), saved: None, problem: Some(problem) };
        self.news.push(ServiceEvent::Saved(report));
    }
}

/// Reads a replaced file of at most `most` bytes. The error completes a sentence.
fn text_of(file: &mut File, most: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.take(most.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > most {
        return Err("is too large".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())
}

#[cfg(test)]
#[path = "unfinished_saves_tests.rs"]
mod tests;
