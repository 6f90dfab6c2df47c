//! Exports a workspace as one zip file that opens identically elsewhere: all files that a person would miss, and the
//! history with all positions. Secrets, links, locks and earlier archives are left out and listed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use zip::result::ZipError;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::archive_file::{ArchiveFile, WriteFailure};
use super::secrets;
use super::vfs::path::{PathAccess, WorkspacePath};
use crate::base::JobControl;
use crate::base::paths::file_name;
use crate::base::text_normalization::{folded, is_invisible, nfc};
use crate::safe_fs::{EntryKind, Folder};
use crate::store::{FileVersions, HISTORY_FILE, Reader, StoreError};

/// The maximum depth of folders.
const MAX_DEPTH: usize = 32;
/// The folder of archives and exported logs.
pub const EXPORTS: &str = "exports";
/// The minimum size in bytes of a file that can count as sparse.
#[cfg(unix)]
const MIN_SPARSE_BYTES: u64 = 64 * 1024 * 1024;
/// A file is sparse if less than one part in this many is on the disk.
#[cfg(unix)]
const SPARSE_RATIO: u64 = 16;
/// The maximum number of left-out files that are named.
const MAX_NAMED: usize = 200;
/// The suffix of the temporary folder in which an archive is created.
const WORK_ENDING: &str = ".exporting";
/// The name of the unfinished archive in that folder.
const PART: &str = "part.zip";

/// The result of creating an archive.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Archived {
    /// The number of files in the archive.
    pub files: usize,
    /// The total size of the files in bytes, uncompressed.
    pub bytes: u64,
    /// The files that were left out, each with the reason, up to a maximum number.
    pub left_out: Vec<String>,
    /// The total number of files that were left out.
    pub left_out_count: usize,
}

impl Archived {
    /// Returns at most `named_at_most` left-out files, and a line with the number of the others.
    pub fn left_out(&self, named_at_most: usize) -> Vec<String> {
        let mut listed: Vec<String> = self.left_out.iter().take(named_at_most).cloned().collect();
        let more = self.left_out_count - listed.len();
        listed.extend((more > 0).then(|| format!("{more} more")));
        listed
    }
}

/// Why an archive could not be created.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The archive or a file cannot be written or read.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The destination already exists.
    #[error("{} already exists; choose another name", .0.display())]
    Exists(PathBuf),
    /// The zip archive could not be written.
    #[error("the archive cannot be written: {0}")]
    Zip(#[from] ZipError),
    /// The export was cancelled.
    #[error("it was cancelled")]
    Cancelled,
    /// The history cannot be copied.
    #[error("{0}; {remedy}", remedy = .0.remedy())]
    Store(#[from] StoreError),
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let path = path.to_owned();
    move |source| ArchiveError::File { path, source }
}

/// Writes the workspace in `root`, whose history is in `dir`, into a new file. The file gets its name only when the
/// archive is complete. No link is followed, neither to a file of the workspace nor to the destination.
pub fn write_zip(root: &Path, dir: &Path, file: &Path, control: &JobControl) -> Result<Archived, ArchiveError> {
    if file.symlink_metadata().is_ok() {
        return Err(ArchiveError::Exists(file.to_owned()));
    }
    let name = file.file_name().and_then(|name| name.to_str()).ok_or_else(|| no_name(file))?;
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(failed(parent))?;
    let beside = work_folder(parent, name)?;
    let written = write_part(root, dir, &beside, control).and_then(|archived| {
        // A file that has taken the name meanwhile is not replaced.
        let moved = Folder::open(&beside).and_then(|from| {
            let parent = Folder::open(parent)?;
            from.move_new(PART, &parent, name)?;
            parent.sync()
        });
        moved.map(|()| archived).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Exists(file.to_owned()),
            _ => ArchiveError::File { path: file.to_owned(), source: error },
        })
    });
    // Temporary files are deleted, whatever the result.
    let _ = fs::remove_dir_all(&beside);
    written
}

fn no_name(file: &Path) -> ArchiveError {
    let source = io::Error::new(io::ErrorKind::InvalidInput, "its name is not valid text");
    ArchiveError::File { path: file.to_owned(), source }
}

/// Creates a private folder beside the future archive.
fn work_folder(parent: &Path, name: &str) -> Result<PathBuf, ArchiveError> {
    let mut last = None;
    for number in 0..100 {
        let folder = parent.join(format!(".{name}.{number}{WORK_ENDING}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some((folder, error)),
            Err(error) => return Err(failed(&folder)(error)),
        }
    }
    let (path, source) = last.unwrap_or_else(|| (parent.to_owned(), io::ErrorKind::AlreadyExists.into()));
    Err(ArchiveError::File { path, source })
}

fn write_part(root: &Path, dir: &Path, beside: &Path, control: &JobControl) -> Result<Archived, ArchiveError> {
    let part = beside.join(PART);
    let out = File::create_new(&part).map_err(failed(&part))?;
    let failure = WriteFailure::default();
    let zip = ZipWriter::new(ArchiveFile::new(out, Rc::clone(&failure)));
    let mut packing =
        Packing { zip, archived: Archived::default(), names: BTreeSet::new(), control, failure: Rc::clone(&failure) };
    packing.folder(&Folder::open(root).map_err(failed(root))?, "", 0)?;
    match Reader::open(dir) {
        Ok(reader) => {
            let history = beside.join(HISTORY_FILE);
            reader.copy_into(&history)?;
            drop(reader);
            packing.history(beside)?;
        }
        // A workspace that was never opened has no history.
        Err(StoreError::NoHistory { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let out = packing.zip.finish()?;
    match failure.get() {
        Some(kind) => Err(failed(&part)(kind.into())),
        None => out.finish().map_err(failed(&part)).map(|()| packing.archived),
    }
}

struct Packing<'a> {
    zip: ZipWriter<ArchiveFile>,
    archived: Archived,
    /// The names in the archive, folded for file systems that ignore case.
    names: BTreeSet<String>,
    control: &'a JobControl,
    /// The first error of writing the archive itself.
    failure: WriteFailure,
}

impl Packing<'_> {
    fn folder(&mut self, folder: &Folder, prefix: &str, depth: usize) -> Result<(), ArchiveError> {
        let here = || Path::new(if prefix.is_empty() { "." } else { prefix }).to_owned();
        let mut entries = folder.entries().map_err(|error| failed(&here())(error))?;
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for _ in 0..folder.count_invalid_names().map_err(|error| failed(&here())(error))? {
            self.leave_out(format!("{}: contains a name that is not valid text", here().display()));
        }
        let count = entries.len();
        for (done, (name, kind)) in entries.into_iter().enumerate() {
            if self.control.is_cancelled() {
                return Err(ArchiveError::Cancelled);
            }
            if depth == 0 {
                self.control.set_done(done, count);
            }
            let path = format!("{prefix}{name}");
            if let Some(why) = reason_to_leave_out(&path, kind, depth) {
                if !why.is_empty() {
                    self.leave_out(format!("{}: {why}", shown(&path)));
                }
                continue;
            }
            let packed = match kind {
                EntryKind::Folder => match folder.child(&name) {
                    Ok(child) => self.folder(&child, &format!("{path}/"), depth + 1),
                    Err(error) => Err(failed(Path::new(&path))(error)),
                },
                _ => self.file(folder, &name, &path),
            };
            // Otherwise every file that follows would be left out because of the disk.
            if let Some(kind) = self.failure.get() {
                return Err(ArchiveError::Zip(ZipError::Io(kind.into())));
            }
            match packed {
                // The file was deleted or replaced meanwhile, or is not readable: the rest is still worth exporting.
                Err(ArchiveError::File { source, .. }) => self.leave_out(format!("{}: {source}", shown(&path))),
                packed => packed?,
            }
        }
        Ok(())
    }

    fn file(&mut self, folder: &Folder, name: &str, path: &str) -> Result<(), ArchiveError> {
        let (mut file, found) = folder.open_file(name).map_err(failed(Path::new(path)))?;
        if found.kind != EntryKind::File {
            self.leave_out(format!("{}: is no longer a regular file", shown(path)));
            return Ok(());
        }
        if let Some(why) = reason_by_metadata(&file.metadata().map_err(failed(Path::new(path)))?) {
            self.leave_out(format!("{}: {why}", shown(path)));
            return Ok(());
        }
        if secrets::reads_key(&mut file).map_err(failed(Path::new(path)))? {
            self.leave_out(format!("{}: contains what looks like a key", shown(path)));
            return Ok(());
        }
        let packed = nfc(path).into_owned();
        if !self.names.insert(folded(&packed)) {
            self.leave_out(format!("{}: another file's name differs only in case or accents", shown(path)));
            return Ok(());
        }
        file.seek(SeekFrom::Start(0)).map_err(failed(Path::new(path)))?;
        self.pack(file, found.size, &packed)
    }

    fn pack(&mut self, file: File, size: u64, path: &str) -> Result<(), ArchiveError> {
        let large = size >= u64::from(u32::MAX);
        self.zip.start_file(path, SimpleFileOptions::default().large_file(large))?;
        // If the file grows meanwhile, only its original size is packed.
        let bytes = io::copy(&mut BufReader::new(file).take(size), &mut self.zip).map_err(failed(Path::new(path)))?;
        self.archived.files += 1;
        self.archived.bytes += bytes;
        Ok(())
    }

    /// Adds a copy of the history, without that of the left-out files.
    fn history(&mut self, beside: &Path) -> Result<(), ArchiveError> {
        let mut versions = FileVersions::open(beside)?;
        let dropped = versions.drop_histories(|path, text| {
            secrets::secret_by_name(path).is_some() || text.is_some_and(|text| secrets::holds_key(text.as_bytes()))
        })?;
        drop(versions);
        if dropped > 0 {
            self.leave_out(format!("earlier versions of {dropped} files: they may contain secrets"));
        }
        let path = beside.join(HISTORY_FILE);
        let mut file = File::open(&path).map_err(failed(&path))?;
        if secrets::reads_key(&mut file).map_err(failed(&path))? {
            self.leave_out(
                ".workshop: the history contains what looks like a key, in messages to or from models".into(),
            );
            return Ok(());
        }
        file.seek(SeekFrom::Start(0)).map_err(failed(&path))?;
        let size = file.metadata().map_err(failed(&path))?.len();
        self.pack(file, size, ".workshop/workshop.db")
    }

    fn leave_out(&mut self, what: String) {
        self.archived.left_out_count += 1;
        if self.archived.left_out.len() < MAX_NAMED {
            self.archived.left_out.push(what);
        }
    }
}

/// Returns why a file is left out because of what the file system says about it.
#[cfg(unix)]
fn reason_by_metadata(file: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if file.nlink() > 1 {
        return Some("the same file has another name (a hard link), which may be outside of the workspace");
    }
    // Its blocks have 512 bytes, whatever the file system. Compression alone saves less than that.
    let is_sparse = file.len() >= MIN_SPARSE_BYTES && file.blocks().saturating_mul(512 * SPARSE_RATIO) < file.len();
    is_sparse.then_some("it is a sparse file: nearly all of it is empty")
}

#[cfg(not(unix))]
fn reason_by_metadata(_: &fs::Metadata) -> Option<&'static str> {
    None
}

/// Returns a path as one line without terminal control characters.
fn shown(path: &str) -> String {
    path.chars().map(|c| if is_invisible(c) { '\u{fffd}' } else { c }).collect()
}

/// Returns why a file is left out; the reason is empty if the file need not be listed.
fn reason_to_leave_out(path: &str, kind: EntryKind, depth: usize) -> Option<&'static str> {
    let name = file_name(path);
    let is_our_work = name.starts_with('.') && name.ends_with(WORK_ENDING);
    if path == ".workshop" || path == ".git" || is_our_work {
        // The history is copied separately, and git repositories are not part of an export.
        return Some("");
    }
    match kind {
        EntryKind::Link => return Some("links are not followed"),
        EntryKind::Other => return Some("it is not a file"),
        EntryKind::Folder if depth >= MAX_DEPTH => return Some("it is nested too deeply"),
        EntryKind::File if path.starts_with(&format!("{EXPORTS}/")) && path.contains(".zip") => return Some(""),
        EntryKind::File | EntryKind::Folder => {}
    }
    match WorkspacePath::new(path) {
        // A file with such a name would be extracted to another path, or not at all.
        Err(refusal) => Some(refusal.why),
        Ok(plain) if plain.reach() == PathAccess::Closed => Some("it may contain secrets"),
        Ok(_) => secrets::secret_by_name(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Durability, FileHead, VersionDraft};

    fn workspace() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in [
            ("settings.yaml", "room: {}\n"),
            ("agents/ada.md", "You are Ada."),
            ("artifacts/deep/er/plan.md", "tea"),
            (".env", "KEY=secret"),
            (".git/config", "x"),
            ("exports/old.zip", "x"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        folder
    }

    #[test]
    fn an_archive_contains_everything_a_person_would_miss_and_no_secrets() {
        let folder = workspace();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).expect("links can be made");
        let file = folder.path().join("exports/new.zip");
        let archived = write_zip(folder.path(), &folder.path().join(".workshop"), &file, &JobControl::default())
            .expect("it can be written");
        let mut zip = zip::ZipArchive::new(File::open(&file).expect("it should exist")).expect("it is a zip");
        let mut names: Vec<String> = zip.file_names().map(|name| name.expect("it is text").into_owned()).collect();
        names.sort();
        assert_eq!(names, ["agents/ada.md", "artifacts/deep/er/plan.md", "settings.yaml"]);
        assert_eq!(archived.files, 3);
        let left_out = if cfg!(unix) { 2 } else { 1 };
        assert_eq!(archived.left_out_count, left_out, "{:?}", archived.left_out);
        let mut text = String::new();
        zip.by_name("artifacts/deep/er/plan.md").expect("it is in it").read_to_string(&mut text).expect("it is text");
        assert_eq!(text, "tea");
    }

    fn names_in(file: &Path) -> Vec<String> {
        let zip = zip::ZipArchive::new(File::open(file).expect("it should exist")).expect("it is a zip");
        let mut names: Vec<String> = zip.file_names().map(|name| name.expect("it is text").into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn possible_secrets_are_left_out_and_listed() {
        let folder = workspace();
        let private = format!("-----BEGIN OPENSSH {} KEY-----\nx", "PRIVATE");
        let key = format!("my key is sk-{}", "a1B2c3D4e5F6g7H8i9J0k");
        let secret = [
            ("keys.env", "x"),
            (".envrc", "x"),
            (".env~", "x"),
            (".pgpass", "x"),
            (".kube/config", "x"),
            (".htpasswd", "x"),
            (".bash_history", "x"),
            (".config/any", "x"),
            ("id_rsa", "x"),
            ("deploy/server.pem", "x"),
            ("deploy/server.key", "x"),
            ("credentials", "x"),
            ("secrets.json", "x"),
            ("token.txt", "x"),
            ("notes/letter.md", private.as_str()),
            ("notes/how.md", key.as_str()),
        ];
        for (path, text) in secret {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        let file = folder.path().join("new.zip");
        let archived = write_zip(folder.path(), &folder.path().join(".workshop"), &file, &JobControl::default())
            .expect("it can be written");
        assert_eq!(names_in(&file), ["agents/ada.md", "artifacts/deep/er/plan.md", "settings.yaml"]);
        for (path, _) in secret {
            // For a left-out folder, only the folder is named.
            let top = path.split('/').next().expect("it has a first part");
            let is_listed = |name: &str| archived.left_out.iter().any(|left| left.starts_with(&format!("{name}: ")));
            assert!(is_listed(path) || is_listed(top), "{path} in {:?}", archived.left_out);
        }
        let listed = archived.left_out(3);
        assert_eq!((listed.len(), listed[3].as_str()), (4, format!("{} more", archived.left_out_count - 3).as_str()));
    }

    #[test]
    fn the_history_is_exported_without_that_of_left_out_files() {
        let folder = workspace();
        let state = folder.path().join(".workshop");
        let key = format!("my key is sk-{}", "a1B2c3D4e5F6g7H8i9J0k");
        let mut versions = FileVersions::open(&state).expect("it can be made");
        for (path, texts) in [
            ("keys.env", ["one private word", "another"]),
            ("notes/how.md", [key.as_str(), "the key is gone"]),
            ("notes/plan.md", ["tea", "more tea"]),
        ] {
            let kept = versions.change(Durability::Process, |changes| {
                let file = changes.add_file(path)?;
                let mut version = 0;
                for text in texts {
                    let draft = VersionDraft { author: "ada", activation: None, order_key: None, text };
                    version = changes.add_version(file, &draft)?;
                }
                let path = path.to_owned();
                changes.set_head(&FileHead { file, path, is_there: true, version, hash: 0, size: 0, modified_ns: 0 })
            });
            kept.expect("it can be kept");
        }
        drop(versions);
        let file = folder.path().join("new.zip");
        let archived = write_zip(folder.path(), &state, &file, &JobControl::default()).expect("it can be written");
        assert!(archived.left_out.iter().any(|left| left.contains("2 files")), "{archived:?}");
        let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
        let mut zip = zip::ZipArchive::new(File::open(&file).expect("it should exist")).expect("it is a zip");
        zip.extract(elsewhere.path()).expect("it can be taken apart");
        let copy = elsewhere.path().join(".workshop");
        let bytes = fs::read(copy.join(HISTORY_FILE)).expect("it should exist");
        for secret in ["one private word", key.as_str()] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret}");
        }
        let versions = FileVersions::open_to_read(&copy).expect("it can be opened");
        let paths: Vec<String> =
            versions.heads().expect("they should exist").into_iter().map(|head| head.path).collect();
        assert_eq!(paths, ["notes/plan.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_neither_when_reading_nor_when_writing() {
        let folder = workspace();
        let outside = tempfile::tempdir().expect("a temporary folder can be made");
        let target = outside.path().join("mine.txt");
        fs::write(&target, "mine").expect("files can be written");
        let exports = folder.path().join("exports");
        for name in ["new.zip.part", "new.zip.db", ".new.zip.0.exporting"] {
            std::os::unix::fs::symlink(&target, exports.join(name)).expect("links can be made");
        }
        std::os::unix::fs::symlink(outside.path(), folder.path().join("notes")).expect("links can be made");
        let state = folder.path().join(".workshop");
        write_zip(folder.path(), &state, &exports.join("new.zip"), &JobControl::default()).expect("it can be written");
        assert_eq!(fs::read_to_string(&target).expect("it should exist"), "mine");
        assert!(!names_in(&exports.join("new.zip")).iter().any(|name| name.starts_with("notes")));
        let dangling = exports.join("link.zip");
        std::os::unix::fs::symlink(outside.path().join("made.zip"), &dangling).expect("links can be made");
        assert!(matches!(
            write_zip(folder.path(), &state, &dangling, &JobControl::default()),
            Err(ArchiveError::Exists(_))
        ));
        assert!(!outside.path().join("made.zip").exists());
        // A path was listed as a file and is a link when it is opened.
        let held = Folder::open(folder.path()).expect("it should exist");
        std::os::unix::fs::symlink(&target, folder.path().join("swapped.md")).expect("links can be made");
        assert!(held.open_file("swapped.md").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn hard_links_and_sparse_files_are_left_out_and_reported() {
        let folder = workspace();
        let outside = tempfile::tempdir_in(folder.path().parent().expect("it has a parent")).expect("it can be made");
        fs::write(outside.path().join("mine.txt"), "mine").expect("files can be written");
        fs::hard_link(outside.path().join("mine.txt"), folder.path().join("notes.md")).expect("links can be made");
        let sparse = File::create(folder.path().join("sparse.bin")).expect("files can be made");
        sparse.set_len(4 * MIN_SPARSE_BYTES).expect("its size can be set");
        let file = folder.path().join("new.zip");
        let archived = write_zip(folder.path(), &folder.path().join(".workshop"), &file, &JobControl::default())
            .expect("it can be written");
        assert_eq!(names_in(&file), ["agents/ada.md", "artifacts/deep/er/plan.md", "settings.yaml"]);
        for (name, why) in [("notes.md: ", "hard link"), ("sparse.bin: ", "sparse")] {
            let is_listed = archived.left_out.iter().any(|left| left.starts_with(name) && left.contains(why));
            assert!(is_listed, "{name} in {:?}", archived.left_out);
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_that_would_be_extracted_elsewhere_are_left_out_and_reported() {
        let folder = workspace();
        for name in ["a\\b.md", "c:d.md", "what?.md", "nul.md", "esc\u{1b}[2J.md", "end.", "co\u{302}te.md"] {
            fs::write(folder.path().join(name), "x").expect("files can be written");
        }
        let file = folder.path().join("exports/new.zip");
        let archived = write_zip(folder.path(), &folder.path().join(".workshop"), &file, &JobControl::default())
            .expect("it can be written");
        let names = names_in(&file);
        assert_eq!(names, ["agents/ada.md", "artifacts/deep/er/plan.md", "c\u{f4}te.md", "settings.yaml"]);
        for name in ["a\\b.md", "c:d.md", "what?.md", "nul.md", "esc\u{fffd}[2J.md", "end."] {
            assert!(
                archived.left_out.iter().any(|left| left.starts_with(&format!("{name}: "))),
                "{name}: {archived:?}"
            );
        }
    }

    #[test]
    fn nothing_is_overwritten_and_no_partial_archive_remains() {
        let folder = workspace();
        let file = folder.path().join("exports/old.zip");
        assert!(matches!(
            write_zip(folder.path(), folder.path(), &file, &JobControl::default()),
            Err(ArchiveError::Exists(_))
        ));
        assert_eq!(fs::read_to_string(&file).expect("it should exist"), "x");
        let missing = folder.path().join("nothing here");
        let other = folder.path().join("other.zip");
        assert!(write_zip(&missing, &missing.join(".workshop"), &other, &JobControl::default()).is_err());
        let names: Vec<_> =
            fs::read_dir(folder.path()).expect("it should exist").flatten().map(|entry| entry.file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().contains("other.zip")), "{names:?}");
    }

    #[test]
    fn a_cancelled_archive_leaves_nothing_behind() {
        let folder = workspace();
        let file = folder.path().join("exports/new.zip");
        let control = JobControl::default();
        control.cancel();
        let written = write_zip(folder.path(), &folder.path().join(".workshop"), &file, &control);
        assert!(matches!(written, Err(ArchiveError::Cancelled)), "{written:?}");
        let left = fs::read_dir(folder.path().join("exports")).expect("it can be listed").flatten();
        let left: Vec<String> = left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(left.iter().all(|name| !name.contains("new.zip")), "neither the archive nor its parts: {left:?}");
    }
}
