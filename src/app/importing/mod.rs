//! Files and folders from elsewhere that are copied into the workspace: agents among agents, scenes among scenes,
//! everything else among artifacts, or all into one folder. Nothing is written over.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::errands::write_new;
use crate::agent::formats::format_of;
use crate::agent::front_matter;
use crate::base::Problem;
use crate::workspace::vfs::path::{Reach, WorkspacePath};
use crate::workspace::{regular, secrets, yaml};

/// One import brings in so many files at most, from folders so deep, each of so many bytes at most.
const FILES_AT_MOST: usize = 10_000;
const DEPTH_AT_MOST: usize = 16;
const BYTES_AT_MOST: u64 = 64 * 1024 * 1024;
/// So many files that cannot be used are named; the rest is counted.
const NAMED_AT_MOST: usize = 5;

/// What an import brought.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Imported {
    /// Files that are in the workspace now, by path.
    pub paths: Vec<String>,
    /// What was left out, and why.
    pub problems: Vec<Problem>,
}

/// Copies files and folders into the workspace: into this folder of it, or by what each is.
pub(super) fn import(workspace: &Path, paths: &[PathBuf], folder: Option<&str>) -> Imported {
    let mut import = Import { workspace, folder, imported: Imported::default(), left_out: Vec::new() };
    for path in paths {
        import.visit(path, "", 0);
    }
    let Import { mut imported, left_out, .. } = import;
    let more = left_out.len().saturating_sub(NAMED_AT_MOST);
    imported.problems.extend(left_out.into_iter().take(NAMED_AT_MOST));
    if more > 0 {
        let what = format!("{more} more files were left out");
        imported.problems.push(Problem::warning("files", what, "import them by themselves to see why"));
    }
    imported
}

struct Import<'a> {
    workspace: &'a Path,
    folder: Option<&'a str>,
    imported: Imported,
    left_out: Vec<Problem>,
}

impl Import<'_> {
    fn leave_out(&mut self, path: &Path, what: impl Into<String>, remedy: &str) {
        self.left_out.push(Problem::warning(path.display().to_string(), what, remedy));
    }

    /// Takes in a file or a folder; `below` is where it lies in what was chosen, with a slash at its end.
    fn visit(&mut self, path: &Path, below: &str, depth: usize) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return self.leave_out(path, "its name is no text", "rename it");
        };
        if depth > 0 && name.starts_with('.') {
            return;
        }
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.leave_out(path, format!("it cannot be read: {error}"), "see that it is there"),
        };
        if metadata.is_symlink() {
            return self.leave_out(path, "links are not followed", "import what it leads to");
        }
        if metadata.is_dir() {
            if depth >= DEPTH_AT_MOST {
                return self.leave_out(path, "it lies too deep", "import this folder by itself");
            }
            let mut entries: Vec<PathBuf> =
                fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            entries.sort();
            let below = format!("{below}{name}/");
            return entries.iter().for_each(|entry| self.visit(entry, &below, depth + 1));
        }
        if !metadata.is_file() {
            return self.leave_out(path, "it is no file", "import files and folders");
        }
        if metadata.len() > BYTES_AT_MOST {
            return self.leave_out(path, format!("it has {} MB", metadata.len() >> 20), "copy it by hand");
        }
        if self.imported.paths.len() >= FILES_AT_MOST {
            return self.leave_out(path, "there are too many files", "import the others after these");
        }
        self.take(path, name, below);
    }

    fn take(&mut self, file: &Path, name: &str, below: &str) {
        // What comes in can be read by agents and leaves with the workspace: the rule is the same as for that.
        if let Some(why) = secrets::told_by_name(&format!("artifacts/{below}{name}")) {
            return self.leave_out(file, why, "copy it by hand if it holds none");
        }
        let is_key = regular::open(file).and_then(|mut file| secrets::reads_key(&mut file)).unwrap_or(false);
        if is_key {
            return self.leave_out(file, "it holds what looks like a key", "take the key out of it first");
        }
        let wanted = match self.folder {
            Some("") => format!("{below}{name}"),
            Some(folder) => format!("{folder}/{below}{name}"),
            None => place_of(file, name, below),
        };
        let wanted = match WorkspacePath::new(&wanted) {
            Ok(path) if path.reach() == Reach::Open => path,
            Ok(path) => return self.leave_out(file, format!("'{path}' is not for imported files"), "choose a folder"),
            Err(refusal) => return self.leave_out(file, refusal.to_string(), "rename it"),
        };
        match copy_new(file, self.workspace, wanted.as_str()) {
            Ok(path) => self.imported.paths.push(path),
            Err(error) => self.leave_out(file, format!("it cannot be copied: {error}"), "see that the disk has room"),
        }
    }
}

fn has_front_matter(text: &str) -> bool {
    front_matter::split(&front_matter::normalise(text)).is_ok_and(|parts| !parts.keys.is_empty())
}

/// Where a file belongs by what it is.
fn place_of(file: &Path, name: &str, below: &str) -> String {
    let lower = name.to_lowercase();
    let text = || regular::read_text(file, BYTES_AT_MOST).unwrap_or_default();
    if format_of(&format!("agents/{name}")).is_some() && has_front_matter(&text()) {
        return format!("agents/{name}");
    }
    if lower.ends_with(".yaml") || lower.ends_with(".yml") {
        let data = yaml::parse(&text()).unwrap_or_default();
        if ["elements", "agents"].iter().any(|list| data.get(list).is_some_and(serde_json::Value::is_array)) {
            return format!("scenes/{name}");
        }
    }
    format!("artifacts/{below}{name}")
}

/// Copies a file to a path that is free: where something else is there already, under the next number.
fn copy_new(file: &Path, workspace: &Path, wanted: &str) -> io::Result<String> {
    let bytes = regular::read(file, BYTES_AT_MOST)?;
    let (stem, ending) = match wanted.rsplit_once('.') {
        Some((stem, ending)) if !stem.ends_with('/') && !ending.contains('/') => (stem, format!(".{ending}")),
        _ => (wanted, String::new()),
    };
    for number in 1..1_000 {
        let path = if number == 1 { wanted.to_owned() } else { format!("{stem}-{number}{ending}") };
        let target = workspace.join(&path);
        match write_new(workspace, &path, &bytes) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // The same once more is there already.
                if fs::read(&target).is_ok_and(|there| there == bytes) {
                    return Ok(path);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "there are a thousand files of that name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        folder
    }

    #[test]
    fn files_go_where_they_belong_and_folders_keep_their_shape() {
        let from = outside(&[
            ("zoe.md", "---\nname: Zoe\n---\nYou are Zoe."),
            ("notes.md", "# Notes"),
            ("night.yaml", "agents: []\n"),
            ("pack/a/b.txt", "b"),
            ("pack/.hidden", "x"),
        ]);
        let to = outside(&[]);
        let paths = ["zoe.md", "notes.md", "night.yaml", "pack"].map(|name| from.path().join(name));
        let imported = import(to.path(), &paths, None);
        assert_eq!(imported.problems, []);
        assert_eq!(
            imported.paths,
            ["agents/zoe.md", "artifacts/notes.md", "scenes/night.yaml", "artifacts/pack/a/b.txt"]
        );
        let into = import(to.path(), &paths[..1], Some("memory"));
        assert_eq!(into.paths, ["memory/zoe.md"]);
    }

    #[test]
    fn nothing_is_written_over_and_the_same_is_not_copied_twice() {
        let from = outside(&[("notes.md", "new")]);
        let to = outside(&[("artifacts/notes.md", "old")]);
        let paths = [from.path().join("notes.md")];
        assert_eq!(import(to.path(), &paths, None).paths, ["artifacts/notes-2.md"]);
        assert_eq!(import(to.path(), &paths, None).paths, ["artifacts/notes-2.md"]);
        assert_eq!(fs::read_to_string(to.path().join("artifacts/notes.md")).expect("it is there"), "old");
    }

    #[test]
    fn what_may_hold_a_secret_stays_outside() {
        let key = format!("use sk-{}", "a1B2c3D4e5F6g7H8i9J0k");
        let from = outside(&[
            ("keys.env", "x"),
            ("pack/id_rsa", "x"),
            ("pack/passwords.txt", "x"),
            ("pack/how.md", &key),
            ("pack/fine.md", "x"),
        ]);
        let to = outside(&[]);
        let imported = import(to.path(), &["keys.env", "pack"].map(|name| from.path().join(name)), None);
        assert_eq!(imported.paths, ["artifacts/pack/fine.md"]);
        assert_eq!(imported.problems.len(), 4, "{:?}", imported.problems);
    }

    #[test]
    fn what_cannot_be_used_is_told_and_nothing_leaves_the_workspace() {
        let from = outside(&[("x.md", "x")]);
        let to = outside(&[]);
        let gone = from.path().join("gone.md");
        let imported = import(to.path(), &[gone], None);
        assert!(imported.paths.is_empty() && imported.problems.len() == 1);
        for folder in ["../elsewhere", ".workshop", "sessions"] {
            let imported = import(to.path(), &[from.path().join("x.md")], Some(folder));
            assert!(imported.paths.is_empty(), "{folder}");
            assert_eq!(imported.problems.len(), 1, "{folder}");
        }
    }
}
