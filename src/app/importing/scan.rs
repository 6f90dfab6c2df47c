//! Lists the files at the paths that a person chose. Their content is not read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{MAX_BYTES, MAX_DEPTH, MAX_FILES};
use crate::base::Problem;

/// Hidden folders in which other products keep agents, skills and rules.
const LOOKED_INTO: [&str; 2] = [".claude", ".cursor"];
/// Folders of generated files, which are skipped.
const MADE: [&str; 6] = ["node_modules", "target", "dist", "build", "venv", "__pycache__"];

/// A file that was found.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Its path parts below the chosen folder; only its name if the file itself was chosen.
    pub(super) below: Vec<String>,
}

/// All files at one chosen path.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The name of the chosen folder; `None` for a single file.
    pub(super) folder: Option<String>,
    pub(super) files: Vec<Found>,
    /// Whether the folder is under version control.
    pub(super) is_repository: bool,
    pub(super) left_out: Vec<Problem>,
}

/// Scans one chosen path.
pub(super) fn list_files(path: &Path) -> Place {
    let mut place = Place::default();
    // `.` and `..` stand for folders with a real name.
    let real = if path.file_name().is_none() { path.canonicalize().unwrap_or_default() } else { path.to_owned() };
    let Some(name) = real.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
        place.leave_out(path, "its name is not valid text", "rename it");
        return place;
    };
    if fs::symlink_metadata(&real).is_ok_and(|metadata| metadata.is_dir()) {
        place.folder = Some(name);
        place.is_repository = real.join(".git").exists();
        place.folder(&real, &[], 1);
    } else {
        place.visit(&real, &[], name, 0);
    }
    place
}

impl Place {
    fn leave_out(&mut self, path: &Path, what: impl Into<String>, remedy: &str) {
        self.left_out.push(Problem::warning(path.display().to_string(), what, remedy));
    }

    fn folder(&mut self, path: &Path, below: &[String], depth: usize) {
        if depth > MAX_DEPTH {
            return self.leave_out(path, "it is nested too deeply", "import this folder separately");
        }
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                return self.leave_out(path, format!("it could not be read: {error}"), "check that you can read it");
            }
        };
        let names: BTreeSet<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        for name in names {
            let path = path.join(&name);
            match name.to_str() {
                Some(name) => self.visit(&path, below, name.to_owned(), depth),
                None => self.leave_out(&path, "its name is not valid text", "rename it"),
            }
        }
    }

    fn visit(&mut self, path: &Path, below: &[String], name: String, depth: usize) {
        if depth > 0 && name.starts_with('.') && !(LOOKED_INTO.contains(&name.as_str()) && below.is_empty()) {
            return;
        }
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => {
                return self.leave_out(path, format!("it could not be read: {error}"), "check that it exists");
            }
        };
        if metadata.is_symlink() {
            return self.leave_out(path, "links are not followed", "import the file that it points to");
        }
        let below: Vec<String> = below.iter().cloned().chain([name.clone()]).collect();
        if metadata.is_dir() {
            if !MADE.contains(&name.as_str()) {
                self.folder(path, &below, depth + 1);
            }
        } else if !metadata.is_file() {
            self.leave_out(path, "it is not a file", "import files and folders");
        } else if metadata.len() > MAX_BYTES {
            self.leave_out(path, format!("it is {} MiB", metadata.len() >> 20), "copy it by hand");
        } else if self.files.len() >= MAX_FILES {
            // The limit is reported once.
            if self.files.len() == MAX_FILES && self.left_out.last().is_none_or(|last| last.place != "files") {
                let what = format!("there are more than {MAX_FILES} files; the rest were left out");
                self.left_out.push(Problem::warning("files", what, "import one of the folders separately"));
            }
        } else {
            self.files.push(Found { path: path.to_owned(), below });
        }
    }
}
