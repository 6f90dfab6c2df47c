//! A temporary copy of a workspace, for screenshots of a room that runs on without changing the workspace.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::new_run_id;

/// The only hidden folder that is copied; others (git's, an editor's) are not needed.
const STATE_FOLDER: &str = ".workshop";
/// The lock file, which names the process that has the workspace open.
const LOCK: &str = "lock";
/// Deeper folders are left out.
const MAX_DEPTH: usize = 16;

/// A temporary copy. Dropping it removes it.
pub struct WorkspaceCopy {
    outer: PathBuf,
    folder: PathBuf,
}

impl WorkspaceCopy {
    /// Copies a workspace into the system's temporary folder, under the same name. Links are not followed.
    pub fn of(workspace: &Path) -> io::Result<Self> {
        let workspace = workspace.canonicalize()?;
        let outer = std::env::temp_dir().join(format!("workshop-picture-{}-{}", std::process::id(), new_run_id()));
        make_private_folder(&outer)?;
        let folder = outer.join(workspace.file_name().unwrap_or_else(|| "workspace".as_ref()));
        let copy = Self { outer, folder };
        fs::create_dir(&copy.folder)?;
        copy_folder(&workspace, &copy.folder, 0)?;
        Ok(copy)
    }

    /// The folder of the copy.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for WorkspaceCopy {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.outer) {
            tracing::warn!("{} could not be removed: {error}", self.outer.display());
        }
    }
}

/// Creates a folder that other users cannot read.
fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn copy_folder(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let is_hidden = name.to_string_lossy().starts_with('.');
        let is_state = depth == 0 && name == *STATE_FOLDER;
        if kind.is_dir() && (!is_hidden || is_state) && depth < MAX_DEPTH {
            fs::create_dir(to.join(&name))?;
            copy_folder(&entry.path(), &to.join(&name), depth + 1)?;
        } else if kind.is_file() && name != *LOCK {
            let mut source = fs::File::open(entry.path())?;
            let mut target = OpenOptions::new().write(true).create_new(true).open(to.join(&name))?;
            io::copy(&mut source, &mut target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_all_room_files_and_is_removed_on_drop() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in [
            ("settings.yaml", "a: 1"),
            ("scenes/s.yaml", "b"),
            (".workshop/workshop.db", "c"),
            (".workshop/lock", "7"),
            (".git/config", "d"),
        ] {
            let full = folder.path().join(path);
            fs::create_dir_all(full.parent().expect("it should be in the folder")).expect("folders can be made");
            fs::write(full, text).expect("files can be written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", folder.path().join("agents")).expect("links can be made");
        let copy = WorkspaceCopy::of(folder.path()).expect("it can be copied");
        let there = copy.folder().to_owned();
        assert_eq!(there.file_name(), folder.path().canonicalize().expect("it should exist").file_name());
        assert_eq!(fs::read_to_string(there.join("scenes/s.yaml")).expect("it should exist"), "b");
        assert_eq!(fs::read_to_string(there.join(".workshop/workshop.db")).expect("it should exist"), "c");
        for left_out in [".workshop/lock", ".git", "agents"] {
            assert!(!there.join(left_out).exists(), "{left_out}");
        }
        drop(copy);
        assert!(!there.exists());
    }
}
