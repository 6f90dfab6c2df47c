//! Rights, owners, times and extended attributes of guarded files. Where the system has no namespaces, Landlock cannot keep
//! a program from changing them: then they are compared after a command has ended, and put back.

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

use super::program_access::{ProgramAccess, WorkspaceEntry};

/// The maximum number of files and folders that are compared.
const MAX_FILES: usize = 50_000;
/// The maximum size of an extended attribute or of the list of their names, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 64 * 1024;
/// How far the times of files may lag behind the clock: the system updates them in steps.
const CLOCK_STEP: Duration = Duration::from_millis(100);
/// The maximum number of notes.
const MAX_NOTES: usize = 20;

/// The attributes of the guarded files of a workspace before a command runs.
pub(super) struct GuardedAttributes {
    workspace: PathBuf,
    files: Vec<(PathBuf, Attributes)>,
    /// Whether all files are among them.
    is_complete: bool,
    taken_at: SystemTime,
}

/// The attributes of one file or folder.
#[derive(Debug)]
struct Attributes {
    metadata: Metadata,
    extended: Extended,
}

/// Extended attributes by name.
type Extended = BTreeMap<CString, Vec<u8>>;

impl Attributes {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { metadata: path.symlink_metadata()?, extended: extended_of(path) })
    }
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
    pub(super) fn of(workspace: &Path, entries: &[WorkspaceEntry]) -> Self {
        let mut guarded =
            Self { workspace: workspace.to_owned(), files: Vec::new(), is_complete: true, taken_at: SystemTime::now() };
        guarded.add(workspace.to_owned());
        let protected = entries.iter().filter(|entry| entry.access != ProgramAccess::Write);
        let mut due: Vec<PathBuf> = protected.map(|entry| workspace.join(&entry.name)).collect();
        while let Some(path) = due.pop() {
            if guarded.files.len() >= MAX_FILES {
                guarded.is_complete = false;
                break;
            }
            if guarded.add(path.clone()) {
                due.extend(fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
        }
        guarded
    }

    /// Adds a file or folder; returns whether it is a folder.
    fn add(&mut self, path: PathBuf) -> bool {
        let Ok(attributes) = Attributes::of(&path) else { return false };
        let is_folder = attributes.metadata.is_dir();
        self.files.push((path, attributes));
        is_folder
    }

    /// Puts back what was changed. Returns a note for each file.
    pub(super) fn put_back(self) -> Vec<String> {
        let mut notes = Vec::new();
        // Folders come before what is in them: without the right to open them, nothing in them could be put back.
        for (path, before) in &self.files {
            let shown = match path.strip_prefix(&self.workspace) {
                Ok(below) if below.as_os_str().is_empty() => "the workspace's folder".to_owned(),
                Ok(below) => below.display().to_string(),
                Err(_) => path.display().to_string(),
            };
            let changed = match before.put_back(path, self.taken_at) {
                Ok(changed) if changed.is_empty() => continue,
                Ok(changed) => format!("{} of {shown} were changed by the program and put back", changed.join(", ")),
                Err(error) => format!("what the program changed of {shown} could not be put back: {error}"),
            };
            notes.push(changed);
        }
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
    /// Puts back the attributes of a file that is still the same one. Returns the names of those that were changed.
    fn put_back(&self, path: &Path, taken_at: SystemTime) -> io::Result<Vec<&'static str>> {
        let Ok(now) = path.symlink_metadata() else { return Ok(Vec::new()) };
        let before = &self.metadata;
        if (now.dev(), now.ino()) != (before.dev(), before.ino()) {
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
        if is_time_forged(before, &now, taken_at) {
            let last_modification = Timespec { tv_sec: before.mtime(), tv_nsec: before.mtime_nsec() };
            let times = Timestamps { last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT }, last_modification };
            utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
            changed.push("the times");
        }
        Ok(changed)
    }
}

/// Whether a modification time was set rather than caused by a change of the content: it lies outside of the time in
/// which the program ran.
fn is_time_forged(before: &Metadata, now: &Metadata, taken_at: SystemTime) -> bool {
    let (Ok(was), Ok(is)) = (before.modified(), now.modified()) else { return false };
    was != is && before.len() == now.len() && (is < taken_at - CLOCK_STEP || is > SystemTime::now())
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
    use super::super::program_access::entries;
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
        let notes = guarded.put_back();
        assert_eq!(["settings.yaml", "agents", "agents/ada/agent.mdx", ""].map(mode), before);
        assert_eq!(root.join("settings.yaml").metadata().and_then(|found| found.modified()).ok(), Some(modified));
        assert_eq!(mode("artifacts/a.md"), 0o600, "ordinary files are the program's to change");
        assert_eq!(notes.len(), 4, "{notes:?}");
        for part in ["the rights, the times of settings.yaml", "of agents were", "of the workspace's folder"] {
            assert!(notes.iter().any(|note| note.contains(part)), "{part} in {notes:?}");
        }
        assert_eq!(fs::read_to_string(root.join("tasks/work.task.md")).ok().as_deref(), Some("more"));
    }
}
