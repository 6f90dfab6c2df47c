//! Drafts: unsaved text of files is kept in the workspace's `.workshop` folder until it is saved or discarded, even if
//! the window closes.

use std::io;
use std::path::{Path, PathBuf};

use crate::app::opening::state_folder;
use crate::base::Problem;
use crate::safe_fs::{check_own, read_text, replace_text};
use crate::ui::panes::editor::{Draft, Editors};

/// The file name in `.workshop`.
const FILE: &str = "drafts.json";
/// Interval at which drafts are checked for changes, in seconds.
const LOOK_SECS: f64 = 2.0;
/// Larger files are rejected as invalid, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The saved drafts.
#[derive(Default)]
pub(super) struct Drafts {
    /// The file; `None` before a workspace is open.
    file: Option<PathBuf>,
    kept: Vec<Draft>,
    now: Vec<Draft>,
    checked_secs: f64,
    /// A hash of the editors' unsaved text at the last check.
    mark: u64,
}

impl Drafts {
    /// The drafts of a workspace. A file that cannot be read is set aside and reported.
    pub(super) fn open(workspace: &Path) -> (Self, Option<Problem>) {
        let file = state_folder(workspace).join(FILE);
        let (kept, problem) = match read(&file) {
            Ok(drafts) => (drafts, None),
            Err(why) => {
                let aside = file.with_extension("json.unusable");
                let put_aside = std::fs::rename(&file, &aside).is_ok();
                let what = format!("unsaved changes could not be read: {why}");
                let remedy = if put_aside { "it was renamed to drafts.json.unusable" } else { "fix or delete it" };
                (Vec::new(), Some(Problem::warning(file.display().to_string(), what, remedy)))
            }
        };
        (Self { file: Some(file), now: kept.clone(), kept, checked_secs: 0.0, mark: 0 }, problem)
    }

    /// The drafts as last saved.
    pub(super) fn kept(&self) -> &[Draft] {
        &self.kept
    }

    /// Checks for changes at intervals. Returns what must be saved.
    pub(super) fn note(&mut self, editors: &Editors, now_secs: f64) -> Option<(PathBuf, Vec<Draft>)> {
        if now_secs - self.checked_secs < LOOK_SECS {
            return None;
        }
        self.checked_secs = now_secs;
        let mark = editors.drafts_mark();
        if mark != self.mark {
            self.check(editors);
            self.mark = mark;
        }
        self.last()
    }

    /// Checks for changes immediately.
    pub(super) fn check(&mut self, editors: &Editors) {
        self.now = editors.drafts();
    }

    /// The drafts that remain to be saved.
    pub(super) fn last(&mut self) -> Option<(PathBuf, Vec<Draft>)> {
        if self.now == self.kept {
            return None;
        }
        self.kept.clone_from(&self.now);
        Some((self.file.clone()?, self.kept.clone()))
    }

    /// Retries later, because the job could not be queued.
    pub(super) fn mark_unsaved(&mut self) {
        self.kept.clear();
    }
}

fn read(file: &Path) -> Result<Vec<Draft>, String> {
    // A link's target was not written by this program.
    check_own(file).map_err(|error| error.to_string())?;
    let Some(text) = read_text(file, MAX_BYTES).map_err(|error| error.to_string())? else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Writes all drafts atomically; deletes the file if there are none.
pub(super) fn write(file: &Path, drafts: &[Draft]) -> io::Result<()> {
    if drafts.is_empty() {
        return match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let text = serde_json::to_string(drafts).map_err(io::Error::other)?;
    replace_text(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_restored_and_removed_once_saved() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = state_folder(folder.path()).join(FILE);
        let draft =
            Draft { path: "a.md".into(), base: Some("old".into()), text: "new".into(), applies_when_idle: false };
        write(&file, std::slice::from_ref(&draft)).expect("it can be written");
        let (drafts, problem) = Drafts::open(folder.path());
        assert_eq!((drafts.kept(), problem), (&[draft][..], None));
        write(&file, &[]).expect("it can be removed");
        write(&file, &[]).expect("removing nothing is no fault");
        assert!(Drafts::open(folder.path()).0.kept().is_empty());
    }

    #[test]
    fn unreadable_drafts_are_reported_and_set_aside() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = state_folder(folder.path()).join(FILE);
        std::fs::create_dir_all(state_folder(folder.path())).expect("folders can be made");
        std::fs::write(&file, "not json").expect("files can be written");
        let (drafts, problem) = Drafts::open(folder.path());
        assert!(drafts.kept().is_empty() && problem.is_some());
        let aside = file.with_extension("json.unusable");
        assert_eq!(std::fs::read_to_string(aside).expect("it should exist"), "not json");
    }
}
