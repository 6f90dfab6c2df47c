//! Changes the files of a workspace from a command, next to a running room or without one. Each change is all or
//! nothing, and only replaces the text that was read. An open room treats it as an external change.

use std::io;
use std::path::Path;

use super::path::WorkspacePath;
use super::resolve::{PathError, Root, beside_name};
use crate::base::globs;
use crate::base::hash::content_hash;
use crate::safe_fs::{EntryKind, Folder, Replacement};

/// The maximum number of files and folders examined for a glob.
const MAX_ENTRIES: usize = 100_000;

/// Direct access to the files of a workspace that no file service of this process has open.
pub struct DirectFiles(Root);

/// The reason why a file cannot be read or written, as a message for a person.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct DirectFileError(String);

impl DirectFiles {
    /// Opens the workspace in this folder.
    pub fn open(workspace: &Path) -> io::Result<Self> {
        Root::open(workspace).map(Self)
    }

    /// Reads a file of at most `bytes_at_most` bytes; `None` if there is no such file. Links are not followed.
    pub fn read(&self, path: &WorkspacePath, bytes_at_most: u64) -> Result<Option<String>, DirectFileError> {
        match self.0.read(path, bytes_at_most) {
            Ok((text, _)) => Ok(Some(text)),
            Err(PathError::Missing) => Ok(None),
            Err(PathError::TooLarge { most }) => {
                Err(DirectFileError(format!("'{path}' is larger than {} KiB; split it.", most / 1024)))
            }
            Err(trouble) => Err(DirectFileError(trouble.message(path.as_str()))),
        }
    }

    /// Replaces the text of a file if it still equals `over` (`None`: if the file still does not exist). Returns
    /// whether it did, after the text has reached the disk.
    pub fn write(&self, path: &WorkspacePath, text: &str, over: Option<&str>) -> Result<bool, DirectFileError> {
        let failure = |trouble: PathError| DirectFileError(trouble.message(path.as_str()));
        // Concurrent commands use temporary files of different names.
        let beside = beside_name(&format!("command {} {path}", std::process::id()));
        self.0.write_temporary(path, &beside, text).map_err(failure)?;
        let over = over.map(|text| content_hash(text.as_bytes()));
        let placed = self.0.put_in_place(path, &beside, over).map_err(failure)?;
        Ok(placed == Replacement::Replaced)
    }

    /// Deletes a file if its text is still `text`. Returns whether it did.
    pub fn remove(&self, path: &WorkspacePath, text: &str) -> Result<bool, DirectFileError> {
        let beside = beside_name(&format!("command {} {path}", std::process::id()));
        match self.0.take_away(path, &beside, content_hash(text.as_bytes())) {
            Ok(placing) => Ok(placing == Replacement::Replaced),
            Err(PathError::Missing) => Ok(false),
            Err(trouble) => Err(DirectFileError(trouble.message(path.as_str()))),
        }
    }

    /// Renames a file. The new path must not exist.
    pub fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), DirectFileError> {
        match self.0.metadata(to) {
            Err(PathError::Missing) => {}
            Ok(_) => return Err(DirectFileError(format!("'{to}' already exists."))),
            Err(trouble) => return Err(DirectFileError(trouble.message(to.as_str()))),
        }
        self.0.rename(from, to).map_err(|trouble| DirectFileError(trouble.message(from.as_str())))
    }

    /// Returns the files directly in a folder, sorted, without hidden files and links; empty if there is no such
    /// folder.
    pub fn find_in(&self, folder: &str) -> Result<Vec<WorkspacePath>, DirectFileError> {
        let opened = match self.0.walk(folder) {
            Ok(Some(opened)) => opened,
            Ok(None) | Err(PathError::Missing) => return Ok(Vec::new()),
            Err(trouble) => return Err(DirectFileError(trouble.message(folder))),
        };
        let entries = opened.entries();
        let entries = entries.map_err(|error| DirectFileError(format!("'{folder}' cannot be listed: {error}.")))?;
        let files = entries.into_iter().filter(|(name, kind)| *kind == EntryKind::File && !name.starts_with('.'));
        let mut found: Vec<_> =
            files.filter_map(|(name, _)| WorkspacePath::new(&format!("{folder}/{name}")).ok()).collect();
        found.sort();
        Ok(found)
    }

    /// Returns the files that match one of these plain globs, sorted, without hidden files and those behind links.
    pub fn find(&self, globs: &[String]) -> Result<Vec<WorkspacePath>, DirectFileError> {
        let mut walk = Walk { globs, found: Vec::new(), seen: 0 };
        walk.folder(self.0.folder(), "")?;
        walk.found.sort();
        Ok(walk.found)
    }
}

struct Walk<'a> {
    globs: &'a [String],
    found: Vec<WorkspacePath>,
    seen: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder, lead: &str) -> Result<(), DirectFileError> {
        let failure = |error: io::Error| DirectFileError(format!("'{lead}' cannot be listed: {error}."));
        for (name, kind) in folder.entries().map_err(failure)? {
            self.seen += 1;
            if self.seen > MAX_ENTRIES {
                return Err(DirectFileError(format!("there are more than {MAX_ENTRIES} files; name one.")));
            }
            let Ok(path) = WorkspacePath::new(&format!("{lead}{name}")) else { continue };
            if name.starts_with('.') {
                continue;
            }
            match kind {
                EntryKind::Folder => {
                    let below = folder.child(&name).map_err(failure)?;
                    self.folder(&below, &format!("{lead}{name}/"))?;
                }
                EntryKind::File if globs::any_matches(self.globs, path.as_str()) => self.found.push(path),
                EntryKind::File | EntryKind::Link | EntryKind::Other => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).expect("it is a path")
    }

    #[test]
    fn a_text_only_replaces_the_one_that_was_read() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let files = DirectFiles::open(folder.path()).expect("it should exist");
        let plan = path("tasks/plan.task.md");
        assert_eq!(files.read(&plan, 100).expect("nothing is valid, too"), None);
        assert!(files.write(&plan, "one", None).expect("it can be written"));
        assert!(!files.write(&plan, "two", None).expect("somebody was first"));
        assert!(files.write(&plan, "two", Some("one")).expect("it can be written"));
        assert!(!files.write(&plan, "three", Some("one")).expect("it is another text now"));
        assert_eq!(files.read(&plan, 100).expect("it should exist").as_deref(), Some("two"));
        assert!(files.read(&plan, 2).is_err(), "it is larger");
        assert_eq!(std::fs::read_dir(folder.path().join("tasks")).expect("it should exist").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_found_nor_followed() {
        let (folder, elsewhere) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("another"));
        std::fs::write(elsewhere.path().join("far.task.md"), "far").expect("it can be written");
        std::fs::create_dir(folder.path().join("tasks")).expect("it can be made");
        std::fs::write(folder.path().join("tasks/a.task.md"), "a").expect("it can be written");
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("links")).expect("links can be made");
        let link = folder.path().join("tasks/b.task.md");
        std::os::unix::fs::symlink(elsewhere.path().join("far.task.md"), link).expect("links can be made");
        let files = DirectFiles::open(folder.path()).expect("it should exist");
        let found = files.find(&["**/*.task.md".to_owned()]).expect("it can be listed");
        assert_eq!(found, [path("tasks/a.task.md")]);
        assert!(files.read(&path("tasks/b.task.md"), 100).is_err());
        assert!(files.write(&path("links/far.task.md"), "x", Some("far")).is_err());
    }
}
