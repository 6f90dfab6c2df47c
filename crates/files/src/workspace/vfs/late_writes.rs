//! Merges what other programs go on writing into files that were replaced: such a program has the old file open, and
//! does not notice.

use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::time::Instant;

use super::super::text_merge::merge_keeping_both;
use super::super::unsaved_copies;
use super::executor::Executor;
use super::path::WorkspacePath;
use super::resolve::{PathError, beside_name};
use super::service_events::{SaveReport, ServiceEvent};
use super::unfinished_saves::{INTERVAL, ReplacedFile, STILL, WATCHED, stamp_of};
use crate::base::Problem;
use crate::base::hash::content_hash;
use crate::safe_fs::Replacement;

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
#[path = "late_writes_tests.rs"]
mod tests;
