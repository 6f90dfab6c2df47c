//! Rights, owners, times and extended attributes of guarded files. Where the system has no namespaces, Landlock cannot keep
//! a program from changing them: then they are compared and put back, after a command has ended, and after each call or
//! turn of a program that runs longer ([`super::attribute_watch`]).

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, XattrFlags, lgetxattr, llistxattr, llistxattr_query, lremovexattr,
    lsetxattr, utimensat,
};

use super::attribute_reports::AttributeChange;
use super::confined_start::WORKTREES;
use super::program_access::{ProgramAccess, WorkspaceEntry, entries};

/// The maximum number of files and folders that are compared.
pub(in crate::gateway::programs) const MAX_FILES: usize = 50_000;
/// The maximum size of an extended attribute or of the list of their names, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 64 * 1024;
/// How far the times of files may lag behind the clock: the system updates them in steps.
const CLOCK_STEP: Duration = Duration::from_millis(100);
/// The maximum number of notes.
const MAX_NOTES: usize = 20;

/// The attributes of the guarded files of a workspace, as they must stay.
pub(super) struct GuardedAttributes {
    workspace: PathBuf,
    /// A folder whose files are left alone.
    left_out: Option<PathBuf>,
    files: BTreeMap<PathBuf, Attributes>,
    /// Whether all files are among them.
    is_complete: bool,
    taken_at: SystemTime,
}

/// The attributes of one file or folder.
#[derive(Debug)]
struct Attributes {
    /// What the system says about it. Its rights and its owner are those that it must have.
    metadata: Metadata,
    /// The modification time that it must have, and the size with which it had that.
    modified: (Timespec, SystemTime, u64),
    extended: Extended,
}

/// Extended attributes by name.
type Extended = BTreeMap<CString, Vec<u8>>;

impl Attributes {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = path.symlink_metadata()?;
        Ok(Self { modified: modified_of(&metadata)?, metadata, extended: extended_of(path) })
    }
}

/// Returns the modification time of a file, in both forms, and its size.
fn modified_of(metadata: &Metadata) -> io::Result<(Timespec, SystemTime, u64)> {
    let at = Timespec { tv_sec: metadata.mtime(), tv_nsec: metadata.mtime_nsec() };
    Ok((at, metadata.modified()?, metadata.len()))
}

/// Returns the extended attributes; none where the file system does not support them.
fn extended_of(path: &Path) -> Extended {
    // Most files have none.
    let Ok(1..) = llistxattr_query(path) else { return Extended::new() };
    let mut names = vec![0; MAX_ATTRIBUTE_BYTES];
    let Ok(length) = llistxattr(path, &mut names[..]) else { return Extended::new() };
    let mut extended = Extended::new();
    for name in names[..length].split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        let mut value = vec![0; MAX_ATTRIBUTE_BYTES];
        if let Ok(length) = lgetxattr(path, name, &mut value[..]) {
            value.truncate(length);
            extended.insert(name.to_owned(), value);
        }
    }
    extended
}

impl GuardedAttributes {
    /// Reads the attributes of the workspace itself and of everything in it that programs must not change.
    pub(in crate::gateway) fn of(workspace: &Path, entries: &[WorkspaceEntry]) -> Self {
        let mut guarded = Self::empty(workspace, None);
        guarded.read(entries);
        guarded
    }

    /// Reads the attributes for a program that runs beside others. The copies in which agents work are left out: the
    /// programs that run there may change them.
    pub(super) fn of_running(workspace: &Path) -> io::Result<Self> {
        let workspace = workspace.canonicalize()?;
        let mut guarded = Self::empty(&workspace, Some(workspace.join(WORKTREES)));
        guarded.read(&entries(&workspace)?);
        Ok(guarded)
    }

    fn empty(workspace: &Path, left_out: Option<PathBuf>) -> Self {
        let (workspace, files) = (workspace.to_owned(), BTreeMap::new());
        Self { workspace, left_out, files, is_complete: true, taken_at: SystemTime::now() }
    }

    /// Whether all guarded files are compared: there are not too many.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Puts back what was changed, and continues with what is there now: new files, and files that were written.
    pub(in crate::gateway) fn check(&mut self) -> io::Result<Vec<AttributeChange>> {
        let entries = entries(&self.workspace)?;
        Ok(self.read(&entries))
    }

    /// Reads all guarded files. Those that are known already are put back to what is known of them.
    fn read(&mut self, entries: &[WorkspaceEntry]) -> Vec<AttributeChange> {
        let taken_at = std::mem::replace(&mut self.taken_at, SystemTime::now());
        let mut known = std::mem::take(&mut self.files);
        let mut changes = Vec::new();
        self.is_complete = true;
        let protected = entries.iter().filter(|entry| entry.access != ProgramAccess::Write);
        let mut due: Vec<PathBuf> = protected.map(|entry| self.workspace.join(&entry.name)).collect();
        // Folders come before what is in them: without the right to open them, nothing in them could be put back.
        let mut next = Some(self.workspace.clone());
        while let Some(path) = next {
            if self.files.len() >= MAX_FILES {
                self.is_complete = false;
                break;
            }
            let before = known.remove(&path);
            let outcome = before.as_ref().map(|before| before.put_back(&path, taken_at));
            if let Some(change) = outcome.and_then(|outcome| self.change(&path, outcome)) {
                changes.push(change);
            }
            let is_workspace = path == self.workspace;
            let is_folder = self.keep(path.clone(), before, taken_at);
            if is_folder && !is_workspace {
                let inside = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
                due.extend(inside.filter(|path| self.left_out.as_ref() != Some(path)));
            }
            next = due.pop();
        }
        changes
    }

    /// Keeps what a file must be like; returns whether it is a folder. What is known of its rights stays, so that nothing
    /// that a program changes at this moment counts as right; a new time counts only if the content was written.
    fn keep(&mut self, path: PathBuf, before: Option<Attributes>, taken_at: SystemTime) -> bool {
        let Ok(now) = Attributes::of(&path) else { return false };
        let is_folder = now.metadata.is_dir();
        let kept = match before {
            Some(before) if before.is_of(&now.metadata) => {
                let is_forged = before.is_time_forged(&now.metadata, taken_at);
                Attributes { modified: if is_forged { before.modified } else { now.modified }, ..before }
            }
            // It is new, or somebody else replaced it; a program cannot.
            _ => now,
        };
        self.files.insert(path, kept);
        is_folder
    }

    /// Describes what was changed of a file, if anything was.
    fn change(&self, path: &Path, outcome: io::Result<Vec<&'static str>>) -> Option<AttributeChange> {
        let shown = match path.strip_prefix(&self.workspace) {
            Ok(below) if below.as_os_str().is_empty() => "the workspace's folder".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) => path.display().to_string(),
        };
        match outcome {
            Ok(changed) if changed.is_empty() => None,
            Ok(changed) => Some(AttributeChange { path: shown, changed: changed.join(", "), failure: None }),
            Err(error) => {
                Some(AttributeChange { path: shown, changed: String::new(), failure: Some(error.to_string()) })
            }
        }
    }

    /// Puts back what a program changed that has ended.
    pub(in crate::gateway) fn put_back(&self) -> Vec<AttributeChange> {
        let files = self.files.iter();
        files.filter_map(|(path, before)| self.change(path, before.put_back(path, self.taken_at))).collect()
    }

    /// Returns a note for each change, for the reader of the program's output.
    pub(in crate::gateway) fn notes(&self, changes: &[AttributeChange]) -> Vec<String> {
        let note = |AttributeChange { path, changed, failure }: &AttributeChange| match failure {
            None => format!("{changed} of {path} were changed by the program and put back"),
            Some(error) => format!("what the program changed of {path} could not be put back: {error}"),
        };
        let mut notes: Vec<String> = changes.iter().map(note).collect();
        if notes.len() > MAX_NOTES {
            let more = notes.len() - MAX_NOTES;
            notes.truncate(MAX_NOTES);
            notes.push(format!("so were those of {more} more files"));
        }
        if !self.is_complete {
            notes.push(format!("only {MAX_FILES} guarded files were checked for changed rights and times"));
        }
        notes
    }
}

impl Attributes {
    /// Whether these are of the same file.
    fn is_of(&self, now: &Metadata) -> bool {
        (now.dev(), now.ino()) == (self.metadata.dev(), self.metadata.ino())
    }

    /// Puts back the attributes of a file that is still the same one. Returns the names of those that were changed.
    fn put_back(&self, path: &Path, taken_at: SystemTime) -> io::Result<Vec<&'static str>> {
        let Ok(now) = path.symlink_metadata() else { return Ok(Vec::new()) };
        let before = &self.metadata;
        if !self.is_of(&now) {
            // Somebody else replaced it; a program cannot.
            return Ok(Vec::new());
        }
        let mut changed = Vec::new();
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            lchown(path, Some(before.uid()), Some(before.gid()))?;
            changed.push("the owner");
        }
        if !before.is_symlink() {
            if now.mode() != before.mode() {
                fs::set_permissions(path, Permissions::from_mode(before.mode() & 0o7777))?;
                changed.push("the rights");
            }
            if put_back_extended(path, &self.extended)? {
                changed.push("the attributes");
            }
        }
        if self.is_time_forged(&now, taken_at) {
            let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
            let times = Timestamps { last_access, last_modification: self.modified.0 };
            utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
            changed.push("the times");
        }
        Ok(changed)
    }

    /// Whether a modification time was set rather than caused by a change of the content: it lies outside of the time
    /// since the attributes were read.
    fn is_time_forged(&self, now: &Metadata, taken_at: SystemTime) -> bool {
        let ((_, was, size), Ok(is)) = (self.modified, now.modified()) else { return false };
        was != is && size == now.len() && (is < taken_at - CLOCK_STEP || is > SystemTime::now())
    }
}

/// Puts back extended attributes; returns whether any was changed.
fn put_back_extended(path: &Path, before: &Extended) -> io::Result<bool> {
    let now = extended_of(path);
    for name in now.keys().filter(|name| !before.contains_key(*name)) {
        lremovexattr(path, name.as_c_str())?;
    }
    for (name, value) in before.iter().filter(|(name, value)| now.get(*name) != Some(*value)) {
        lsetxattr(path, name.as_c_str(), value, XattrFlags::empty())?;
    }
    Ok(now != *before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_changes_of_guarded_files_is_put_back_and_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path();
        for path in ["agents/ada", "artifacts"] {
            fs::create_dir_all(root.join(path)).expect("folders can be made");
        }
        for path in ["settings.yaml", "agents/ada/agent.mdx", "artifacts/a.md"] {
            fs::write(root.join(path), "text").expect("files can be written");
        }
        fs::create_dir(root.join("tasks")).expect("folders can be made");
        fs::write(root.join("tasks/work.task.md"), "text").expect("files can be written");
        let mode = |path: &str| root.join(path).metadata().expect("it should exist").mode() & 0o7777;
        let set_mode = |path: &str, mode: u32| {
            fs::set_permissions(root.join(path), Permissions::from_mode(mode)).expect("it can be changed");
        };
        let set_time = |path: &str, secs: u64| {
            let file = fs::File::options().write(true).open(root.join(path)).expect("it can be opened");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(secs)).expect("it can be changed");
        };
        let before = ["settings.yaml", "agents", "agents/ada/agent.mdx", ""].map(mode);
        let modified = root.join("settings.yaml").metadata().and_then(|found| found.modified()).expect("it has one");
        let guarded = GuardedAttributes::of(root, &entries(root).expect("it can be listed"));
        set_mode("agents/ada/agent.mdx", 0o777);
        set_mode("agents", 0o700);
        set_mode("settings.yaml", 0o600);
        set_mode("", 0o711);
        set_time("settings.yaml", 1_000_000);
        set_mode("artifacts/a.md", 0o600);
        // A person writes at the same moment.
        fs::write(root.join("tasks/work.task.md"), "more").expect("files can be written");
        let notes = guarded.notes(&guarded.put_back());
        assert_eq!(["settings.yaml", "agents", "agents/ada/agent.mdx", ""].map(mode), before);
        assert_eq!(root.join("settings.yaml").metadata().and_then(|found| found.modified()).ok(), Some(modified));
        assert_eq!(mode("artifacts/a.md"), 0o600, "ordinary files are the program's to change");
        assert_eq!(notes.len(), 4, "{notes:?}");
        for part in ["the rights, the times of settings.yaml", "of agents were", "of the workspace's folder"] {
            assert!(notes.iter().any(|note| note.contains(part)), "{part} in {notes:?}");
        }
        assert_eq!(fs::read_to_string(root.join("tasks/work.task.md")).ok().as_deref(), Some("more"));
    }

    /// A workspace with guarded files, and how it was before a program changed any.
    fn running() -> (tempfile::TempDir, GuardedAttributes) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for path in ["agents", ".workshop/worktrees/ada/files/agents", "artifacts"] {
            fs::create_dir_all(folder.path().join(path)).expect("folders can be made");
        }
        for path in ["settings.yaml", "agents/ada.md", ".workshop/worktrees/ada/files/run.sh", "artifacts/a.md"] {
            fs::write(folder.path().join(path), "text").expect("files can be written");
        }
        let guarded = GuardedAttributes::of_running(folder.path()).expect("it can be listed");
        (folder, guarded)
    }

    fn mode(folder: &tempfile::TempDir, path: &str) -> u32 {
        folder.path().join(path).metadata().expect("it should exist").mode() & 0o7777
    }

    fn set_mode(folder: &tempfile::TempDir, path: &str, mode: u32) {
        fs::set_permissions(folder.path().join(path), Permissions::from_mode(mode)).expect("it can be changed");
    }

    fn changed(guarded: &mut GuardedAttributes) -> Vec<String> {
        let changes = guarded.check().expect("it can be listed");
        let mut paths: Vec<String> =
            changes.into_iter().map(|change| format!("{} {}", change.path, change.changed)).collect();
        paths.sort();
        paths
    }

    #[test]
    fn each_check_puts_back_and_reports_only_what_changed_since_the_last_one() {
        let (folder, mut guarded) = running();
        let before = [mode(&folder, "settings.yaml"), mode(&folder, "agents/ada.md")];
        assert_eq!(changed(&mut guarded), [] as [&str; 0]);
        for _ in 0..2 {
            set_mode(&folder, "settings.yaml", 0o601);
            set_mode(&folder, "agents/ada.md", 0o601);
            assert_eq!(changed(&mut guarded), ["agents/ada.md the rights", "settings.yaml the rights"]);
            assert_eq!([mode(&folder, "settings.yaml"), mode(&folder, "agents/ada.md")], before);
            assert_eq!(changed(&mut guarded), [] as [&str; 0]);
        }
    }

    #[test]
    fn files_that_others_write_replace_or_add_are_theirs_and_are_guarded_from_then_on() {
        let (folder, mut guarded) = running();
        let settings = folder.path().join("settings.yaml");
        fs::write(&settings, "word").expect("files can be written");
        let written = settings.metadata().and_then(|found| found.modified()).expect("it has one");
        fs::write(folder.path().join("agents/new.md"), "text").expect("files can be written");
        fs::write(folder.path().join("other"), "text").expect("files can be written");
        set_mode(&folder, "other", 0o640);
        fs::rename(folder.path().join("other"), folder.path().join("agents/ada.md")).expect("it can be renamed");
        assert_eq!(changed(&mut guarded), [] as [&str; 0]);
        assert_eq!(settings.metadata().and_then(|found| found.modified()).ok(), Some(written));
        assert_eq!(mode(&folder, "agents/ada.md"), 0o640);
        set_mode(&folder, "agents/new.md", 0o601);
        set_mode(&folder, "agents/ada.md", 0o601);
        let file = fs::File::options().write(true).open(&settings).expect("it can be opened");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("it can be changed");
        let expected = ["agents/ada.md the rights", "agents/new.md the rights", "settings.yaml the times"];
        assert_eq!(changed(&mut guarded), expected);
        assert_eq!(settings.metadata().and_then(|found| found.modified()).ok(), Some(written));
    }

    #[test]
    fn copies_in_which_agents_work_and_ordinary_files_are_not_put_back() {
        let (folder, mut guarded) = running();
        for path in [".workshop/worktrees/ada/files/run.sh", "artifacts/a.md"] {
            set_mode(&folder, path, 0o755);
            assert_eq!(changed(&mut guarded), [] as [&str; 0]);
            assert_eq!(mode(&folder, path), 0o755, "{path}");
        }
        set_mode(&folder, ".workshop", 0o700);
        assert_eq!(changed(&mut guarded), [".workshop the rights"]);
    }
}
