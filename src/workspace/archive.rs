//! A workspace as one zip file that opens identically elsewhere: every file that a person would miss, and the
//! history with where everybody stood. Secrets, links, locks and earlier archives stay behind, and what stayed behind
//! is said.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::result::ZipError;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::vfs::path::{Reach, WorkspacePath};
use crate::store::{Reader, StoreError};

/// Folders are followed so deep.
const DEPTH_AT_MOST: usize = 32;
/// The folder of archives and exported logs.
pub const EXPORTS: &str = "exports";
/// Names of what was left out that are told.
const NAMED_AT_MOST: usize = 20;

/// What became an archive.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Archived {
    /// Files in it.
    pub files: usize,
    /// Bytes before they were packed.
    pub bytes: u64,
    /// What stayed behind, and why: the first so many.
    pub left_out: Vec<String>,
    /// How much stayed behind in all.
    pub left_out_count: usize,
}

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The archive or a file cannot be written or read.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is something of that name.
    #[error("{} is there already; choose another name", .0.display())]
    Exists(PathBuf),
    /// It cannot be packed.
    #[error("the archive cannot be written: {0}")]
    Zip(#[from] ZipError),
    /// The history cannot be copied.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let path = path.to_owned();
    move |source| ArchiveError::File { path, source }
}

/// Writes the workspace in `root`, whose history lies in `dir`, into a new file. Half an archive never stands under
/// that name.
pub fn write_zip(root: &Path, dir: &Path, file: &Path) -> Result<Archived, ArchiveError> {
    if file.exists() {
        return Err(ArchiveError::Exists(file.to_owned()));
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed(folder))?;
    }
    let (part, history) = (beside(file, "part"), beside(file, "db"));
    let written = write_part(root, dir, &part, &history);
    // What was only needed on the way goes, whatever came of it.
    let _ = fs::remove_file(&history);
    let written = written.and_then(|archived| fs::rename(&part, file).map_err(failed(file)).map(|()| archived));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{ending}"));
    file.with_file_name(name)
}

fn write_part(root: &Path, dir: &Path, part: &Path, history: &Path) -> Result<Archived, ArchiveError> {
    let out = File::create(part).map_err(failed(part))?;
    let mut packing = Packing { zip: ZipWriter::new(BufWriter::new(out)), archived: Archived::default() };
    packing.folder(root, "", 0)?;
    match Reader::open(dir) {
        Ok(reader) => {
            reader.copy_into(history)?;
            packing.file(history, ".workshop/workshop.db")?;
        }
        // A workspace that was never opened has none.
        Err(StoreError::NoHistory { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let mut out = packing.zip.finish()?;
    out.flush().map_err(failed(part))?;
    out.get_ref().sync_all().map_err(failed(part))?;
    Ok(packing.archived)
}

struct Packing {
    zip: ZipWriter<BufWriter<File>>,
    archived: Archived,
}

impl Packing {
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), ArchiveError> {
        let mut entries: Vec<_> = fs::read_dir(folder).map_err(failed(folder))?.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else {
                self.leave_out(format!("{prefix}{}: its name is no text", entry.file_name().to_string_lossy()));
                continue;
            };
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(failed(&entry.path()))?;
            if let Some(why) = why_not(&path, &kind, depth) {
                if !why.is_empty() {
                    self.leave_out(format!("{path}: {why}"));
                }
            } else if kind.is_dir() {
                self.folder(&entry.path(), &format!("{path}/"), depth + 1)?;
            } else if let Err(error) = self.file(&entry.path(), &path) {
                match error {
                    // It went away meanwhile, or may not be read: the rest is worth having.
                    ArchiveError::File { source, .. } => self.leave_out(format!("{path}: {source}")),
                    error => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, path: &str) -> Result<(), ArchiveError> {
        let file = File::open(from).map_err(failed(from))?;
        let large = file.metadata().map_err(failed(from))?.len() >= u64::from(u32::MAX);
        self.zip.start_file(path, SimpleFileOptions::default().large_file(large))?;
        let bytes = io::copy(&mut BufReader::new(file), &mut self.zip).map_err(failed(from))?;
        self.archived.files += 1;
        self.archived.bytes += bytes;
        Ok(())
    }

    fn leave_out(&mut self, what: String) {
        self.archived.left_out_count += 1;
        if self.archived.left_out.len() < NAMED_AT_MOST {
            self.archived.left_out.push(what);
        }
    }
}

/// Why something stays behind; no words where nobody would miss it.
fn why_not(path: &str, kind: &fs::FileType, depth: usize) -> Option<&'static str> {
    if path == ".workshop" || path == ".git" {
        // The history is copied apart; git has its own ways to travel.
        return Some("");
    }
    if kind.is_symlink() {
        return Some("links are not followed");
    }
    if !kind.is_file() && !kind.is_dir() {
        return Some("it is no file");
    }
    if depth >= DEPTH_AT_MOST {
        return Some("it lies too deep");
    }
    if kind.is_file() && path.starts_with(&format!("{EXPORTS}/")) && path.contains(".zip") {
        return Some("");
    }
    let closed = WorkspacePath::new(path).is_ok_and(|path| path.reach() == Reach::Closed);
    closed.then_some("it may hold secrets")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

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
    fn everything_a_person_would_miss_is_in_it_and_no_secret() {
        let folder = workspace();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).expect("links can be made");
        let file = folder.path().join("exports/new.zip");
        let archived = write_zip(folder.path(), &folder.path().join(".workshop"), &file).expect("it can be written");
        let mut zip = zip::ZipArchive::new(File::open(&file).expect("it is there")).expect("it is a zip");
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

    #[test]
    fn nothing_is_written_over_and_no_half_archive_stays() {
        let folder = workspace();
        let file = folder.path().join("exports/old.zip");
        assert!(matches!(write_zip(folder.path(), folder.path(), &file), Err(ArchiveError::Exists(_))));
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "x");
        let missing = folder.path().join("nothing here");
        let other = folder.path().join("other.zip");
        assert!(write_zip(&missing, &missing.join(".workshop"), &other).is_err());
        let names: Vec<_> =
            fs::read_dir(folder.path()).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().contains("other.zip")), "{names:?}");
    }
}
