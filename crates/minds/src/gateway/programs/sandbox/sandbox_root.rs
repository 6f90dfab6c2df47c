//! The top level of a workspace as seen by a program that may create entries there: a separate folder on which every
//! entry of the real one is mounted. New entries are moved into the workspace after the program has ended, except under
//! names that programs may not create. So a program cannot create a protected file that did not exist, not even for a
//! moment.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::program_access::{WorkspaceEntry, refused};

/// The folder of the workspace's state.
pub(super) const STATE_FOLDER: &str = ".workshop";
/// The parent of the folders of running programs, relative to the workspace.
const FOLDER: &str = ".workshop/programs";
/// The maximum number of numbered names that are tried.
const MAX_NAMES: usize = 1_000;
/// The maximum number of notes that are reported; the rest is counted.
const MAX_NOTES: usize = 20;

/// The top level of a workspace for one program.
pub(super) struct SandboxRoot {
    workspace: PathBuf,
    folder: PathBuf,
    /// The names of mount points for entries of the workspace; `None` if the process that created it has ended.
    mounted: Option<BTreeSet<OsString>>,
}

impl SandboxRoot {
    /// Creates one for a program that sees these entries. First moves files of programs that were killed together with
    /// their supervisor into the workspace.
    pub(in crate::gateway) fn make(workspace: &Path, entries: &[WorkspaceEntry]) -> io::Result<Self> {
        static NEWEST: AtomicU64 = AtomicU64::new(0);
        let all = workspace.join(FOLDER);
        fs::create_dir_all(&all)?;
        for left in fs::read_dir(&all)?.flatten().filter(|entry| is_left(&entry.file_name())) {
            // The program that would receive the notes is gone.
            drop(Self { workspace: workspace.to_owned(), folder: left.path(), mounted: None }.finish());
        }
        // The parent folder is deleted with the last program in it, which may happen at this moment.
        let folder = loop {
            let number = NEWEST.fetch_add(1, Ordering::Relaxed);
            let folder = all.join(format!("{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => break folder,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&all)?,
                Err(error) => return Err(error),
            }
        };
        let mounted = Some(entries.iter().map(|entry| entry.name.clone()).collect());
        Ok(Self { workspace: workspace.to_owned(), folder, mounted })
    }

    /// Returns the path of the folder.
    pub(in crate::gateway) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves new entries into the workspace and deletes the folder, after all processes of the program have ended.
    /// Returns a note for each entry that could not be moved.
    pub(in crate::gateway) fn finish(self) -> Vec<String> {
        let mut notes = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if self.stands_for_another(&name) {
                take_away_empty(&entry.path());
            } else if let Some(note) = self.take_over(&name) {
                notes.push(note);
            }
        }
        // Entries that could not be moved stay there, as the note says; the next program tries again.
        let _ = fs::remove_dir(&self.folder);
        // Folders that contain something else are kept; in a copy of the workspace, there is nothing else.
        let _ = fs::remove_dir(self.workspace.join(FOLDER));
        let _ = fs::remove_dir(self.workspace.join(STATE_FOLDER));
        if notes.len() > MAX_NOTES {
            let more = notes.len() - MAX_NOTES;
            notes.truncate(MAX_NOTES);
            notes.push(format!("{more} more entries like these"));
        }
        notes
    }

    /// Whether a name is only the mount point of an entry of the workspace.
    fn stands_for_another(&self, name: &OsStr) -> bool {
        match &self.mounted {
            Some(mounted) => mounted.contains(name),
            None => is_empty(&self.folder.join(name)) && self.workspace.join(name).symlink_metadata().is_ok(),
        }
    }

    /// Moves a new entry into the workspace; returns a note if that was not completely possible.
    fn take_over(&self, name: &OsStr) -> Option<String> {
        let (from, shown) = (self.folder.join(name), name.to_string_lossy());
        if let Some(why) = refused(&self.workspace, name) {
            let is_folder = from.symlink_metadata().is_ok_and(|found| found.is_dir());
            let removed = if is_folder { fs::remove_dir_all(&from) } else { fs::remove_file(&from) };
            let what = format!("{shown} was created by the program and was not kept: {why}");
            return Some(match removed {
                Ok(()) => what,
                Err(error) => format!("{what} (and could not be removed: {error})"),
            });
        }
        for number in 1..MAX_NAMES {
            let other = if number == 1 { name.to_owned() } else { numbered(name, number) };
            match move_to_new(&from, &self.workspace.join(&other)) {
                Ok(()) if number == 1 => return None,
                Ok(()) => {
                    let other = other.to_string_lossy();
                    return Some(format!(
                        "{shown} was created by somebody else in the meantime; the program's file is \
                        {other}"
                    ));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let left = self.folder.display();
                    return Some(format!("{shown} could not be moved into the workspace and stays in {left}: {error}"));
                }
            }
        }
        Some(format!("{shown} could not be moved into the workspace: every name is taken"))
    }
}

/// Whether a folder of this name belongs to a process that has ended.
fn is_left(name: &OsStr) -> bool {
    let pid = name.to_str().and_then(|name| name.split_once('-')).and_then(|(pid, _)| pid.parse::<u32>().ok());
    pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
}

/// Whether a program created nothing at a mount point.
fn is_empty(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
        Ok(found) => found.is_symlink() || found.len() == 0,
        Err(_) => true,
    }
}

/// Removes a mount point.
fn take_away_empty(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    // A mount point that is not empty is kept.
    let _ = if is_folder { fs::remove_dir(path) } else { fs::remove_file(path) };
}

fn numbered(name: &OsStr, number: usize) -> OsString {
    let name = name.to_string_lossy();
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem.to_owned(), format!(".{ending}")),
        _ => (name.into_owned(), String::new()),
    };
    format!("{stem} ({number}){ending}").into()
}

/// Moves an entry to a path at which nothing exists; never replaces anything.
fn move_to_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system does not support that.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            moved => return Ok(moved?),
        }
    }
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::super::program_access::entries;
    use super::*;

    fn workspace() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("artifacts")).expect("folders can be made");
        fs::write(folder.path().join("README.md"), "read").expect("files can be written");
        folder
    }

    fn make(workspace: &Path) -> SandboxRoot {
        let stage =
            SandboxRoot::make(workspace, &entries(workspace).expect("it can be listed")).expect("it can be made");
        // As the mounts leave it.
        fs::create_dir(stage.folder().join("artifacts")).expect("folders can be made");
        fs::write(stage.folder().join("README.md"), "").expect("files can be written");
        stage
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("it can be listed")
            .map(|entry| entry.expect("it should exist").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn new_entries_are_moved_and_protected_ones_are_not() {
        let folder = workspace();
        let stage = make(folder.path());
        let new = stage.folder().to_owned();
        fs::create_dir_all(new.join("storage/deep")).expect("folders can be made");
        fs::write(new.join("settings.yml"), "gate: {}").expect("files can be written");
        fs::write(new.join("made.txt"), "one").expect("files can be written");
        fs::write(folder.path().join("taken.txt"), "theirs").expect("files can be written");
        fs::write(new.join("taken.txt"), "the program's").expect("files can be written");
        let notes = stage.finish();
        assert_eq!(names(folder.path()), ["README.md", "artifacts", "made.txt", "taken (2).txt", "taken.txt"]);
        assert_eq!(fs::read_to_string(folder.path().join("README.md")).ok().as_deref(), Some("read"));
        assert_eq!(notes.len(), 3, "{notes:?}");
        for part in ["storage was created", "settings.yml was created", "taken (2).txt"] {
            assert!(notes.iter().any(|note| note.contains(part)), "{part} in {notes:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_killed_programs_are_moved_by_the_next_one() {
        let folder = workspace();
        let mut stage = make(folder.path());
        fs::write(stage.folder().join("made.txt"), "one").expect("files can be written");
        // No process has this id.
        let left = stage.folder().with_file_name("4194304999-0");
        fs::rename(stage.folder(), &left).expect("it can be renamed");
        stage.folder = left;
        drop(stage);
        assert!(make(folder.path()).finish().is_empty());
        assert_eq!(names(folder.path()), ["README.md", "artifacts", "made.txt"]);
    }
}
