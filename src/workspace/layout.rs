//! The folder on disk: what makes it a workspace, which of its files matter to a room, and reading them safely.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::files::FileContent;
use crate::base::Problem;

/// The file that makes a folder a workspace.
pub const SETTINGS_FILE: &str = "settings.yaml";
/// Where a workspace is made when none is named and the current folder is none.
pub const DEFAULT_FOLDER: &str = "my-workshop";
/// Larger files are left out.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;
/// Scenes may be larger: one entry for each of 100,000 agents takes some megabytes.
pub const MAX_SCENE_BYTES: usize = 9 * 1024 * 1024;
/// More files than this are left out.
pub const MAX_FILES: usize = 20_000;
/// Files further down than this are left out.
pub const MAX_DEPTH: usize = 8;

/// Whether a folder is a workspace.
pub fn is_workspace(folder: &Path) -> bool {
    folder.join(SETTINGS_FILE).is_file()
}

/// The workspace that is meant: the one named, else the current folder if it is one, else `my-workshop` in it.
/// It need not exist yet.
pub fn find(named: Option<&Path>, current: &Path) -> PathBuf {
    match named {
        Some(named) => current.join(named),
        None if is_workspace(current) => current.to_owned(),
        None => current.join(DEFAULT_FOLDER),
    }
}

/// Whether a file matters to a room, by its path relative to the workspace.
pub fn matters(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let odd = |part: &&str| part.is_empty() || part.starts_with('.') || part.contains(['\\', '\0']);
    if parts.len() > MAX_DEPTH || parts.iter().any(odd) {
        return false;
    }
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    match parts.as_slice() {
        [name] => *name == SETTINGS_FILE,
        ["scenes", _] => matches!(extension, "yaml" | "yml"),
        ["agents", ..] => matches!(extension, "md" | "mdx" | "yaml" | "yml"),
        ["boards", ..] => extension == "md",
        _ => false,
    }
}

/// A path below the workspace as this program writes it: relative, `/` between parts. The only place that does so.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// The text of every file that matters, and what is wrong with those that are left out.
pub fn read_folder(root: &Path) -> (BTreeMap<String, String>, Vec<Problem>) {
    let (paths, mut problems) = list(root);
    let mut files = BTreeMap::new();
    for path in paths {
        match read_file(root, &path) {
            FileContent::Text(text) => {
                files.insert(path, text);
            }
            FileContent::Removed => {}
            FileContent::Unusable { what, remedy } => problems.push(Problem::error(path, what, remedy)),
        }
    }
    (files, problems)
}

/// The paths of every file that matters, in order.
pub(super) fn list(root: &Path) -> (Vec<String>, Vec<Problem>) {
    let mut walk = Walk { root, paths: Vec::new(), problems: Vec::new(), seen: 0 };
    if root.join(SETTINGS_FILE).symlink_metadata().is_ok() {
        walk.paths.push(SETTINGS_FILE.to_owned());
    }
    for folder in ["scenes", "agents", "boards"] {
        walk.folder(&root.join(folder), 1);
    }
    walk.paths.sort();
    (walk.paths, walk.problems)
}

struct Walk<'a> {
    root: &'a Path,
    paths: Vec<String>,
    problems: Vec<Problem>,
    seen: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let place = relative(self.root, folder).unwrap_or_else(|| folder.display().to_string());
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) => {
                let what = format!("this folder cannot be read: {error}");
                self.problems.push(Problem::error(place, what, "check that it is a folder and that you may read it"));
                return;
            }
        };
        if depth > MAX_DEPTH {
            let what = format!("folders are nested more than {MAX_DEPTH} deep; what is below is left out");
            self.problems.push(Problem::warning(place, what, "move its files further up"));
            return;
        }
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            self.entry(&entry, depth);
        }
    }

    fn entry(&mut self, entry: &fs::DirEntry, depth: usize) {
        let path = entry.path();
        let Some(place) = relative(self.root, &path) else {
            let what = "a file's name is not UTF-8; it is left out";
            self.problems.push(Problem::warning(path.display().to_string(), what, "rename it"));
            return;
        };
        if entry.file_name().to_string_lossy().starts_with('.') {
            return;
        }
        self.seen += 1;
        if self.seen > MAX_FILES {
            if self.seen == MAX_FILES + 1 {
                let what = format!("there are more than {MAX_FILES} files; the rest is left out");
                self.problems.push(Problem::warning(place, what, "move what does not belong here elsewhere"));
            }
            return;
        }
        let Ok(kind) = entry.file_type() else { return };
        if kind.is_dir() {
            // Scenes stand in one folder, not below it.
            if !place.starts_with("scenes/") {
                self.folder(&path, depth + 1);
            }
        } else if kind.is_symlink() && path.is_dir() {
            let what = "a link to a folder is not followed";
            self.problems.push(Problem::warning(place, what, "put the folder itself here"));
        } else if matters(&place) {
            self.paths.push(place);
        }
    }
}

/// What stands in a file now.
pub(super) fn read_file(root: &Path, path: &str) -> FileContent {
    let full = root.join(path);
    let unusable = |what: String, remedy: &str| FileContent::Unusable { what, remedy: remedy.to_owned() };
    let cannot = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FileContent::Removed,
        _ => unusable(format!("cannot be read: {error}"), "check that you may read it"),
    };
    match inside(root, &full) {
        Ok(true) => {}
        Ok(false) => return unusable("is a link that leads out of the workspace".into(), "put the file itself here"),
        Err(error) => return cannot(error),
    }
    // Opening a pipe or a device could wait for ever.
    match fs::metadata(&full) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(metadata) if metadata.is_dir() => return FileContent::Removed,
        Ok(_) => return unusable("is not an ordinary file".into(), "put a text file here"),
        Err(error) => return cannot(error),
    }
    let most = if path.starts_with("scenes/") { MAX_SCENE_BYTES } else { MAX_FILE_BYTES };
    let mut bytes = Vec::new();
    let read = File::open(&full).and_then(|file| file.take(most as u64 + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => cannot(error),
        Ok(_) if bytes.len() > most => {
            unusable(format!("is larger than {} KiB", most / 1024), "split it, or move it out of the workspace")
        }
        Ok(_) => String::from_utf8(bytes).map_or_else(
            |error| {
                let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count();
                unusable(format!("is not UTF-8 text (line {line})"), "save it as UTF-8")
            },
            FileContent::Text,
        ),
    }
}

/// Whether a file, its links followed, lies in the workspace.
fn inside(root: &Path, full: &Path) -> std::io::Result<bool> {
    Ok(full.canonicalize()?.starts_with(root.canonicalize()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, bytes) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("folders can be made");
            fs::write(path, bytes).expect("files can be written");
        }
        folder
    }

    #[test]
    fn reads_what_matters_and_leaves_the_rest() {
        let folder = folder(&[
            ("settings.yaml", b"a: 1\r\n"),
            ("scenes/s.yaml", "\u{feff}name: ünï\n".as_bytes()),
            ("scenes/old/s.yaml", b"x"),
            ("agents/team/x/agent.mdx", b"hi"),
            ("agents/.ada.md.swp", b"x"),
            ("agents/ada.md~", b"x"),
            ("boards/notes/a.md", b"n"),
            ("README.md", b"x"),
        ]);
        let (files, problems) = read_folder(folder.path());
        let paths: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(paths, ["agents/team/x/agent.mdx", "boards/notes/a.md", "scenes/s.yaml", "settings.yaml"]);
        assert_eq!(
            (files["settings.yaml"].as_str(), files["scenes/s.yaml"].as_str()),
            ("a: 1\r\n", "\u{feff}name: ünï\n")
        );
        assert_eq!(problems, []);
        assert!(is_workspace(folder.path()) && !is_workspace(&folder.path().join("agents")));
    }

    #[test]
    fn what_cannot_be_used_is_named_and_left_out() {
        let large = vec![b'x'; MAX_FILE_BYTES + 1];
        let folder = folder(&[
            ("settings.yaml", b""),
            ("agents/large.md", &large),
            ("agents/latin.md", b"ok\n\xe9"),
            ("boards/x.md/y", b""),
        ]);
        let outside = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), folder.path().join("agents/out.md")).expect("links can be made");
            std::os::unix::fs::symlink(folder.path(), folder.path().join("agents/loop")).expect("links can be made");
        }
        let deep = folder.path().join("agents/a/b/c/d/e/f/g/h/i");
        fs::create_dir_all(&deep).expect("folders can be made");
        let (files, problems) = read_folder(folder.path());
        assert_eq!(files.keys().collect::<Vec<_>>(), ["settings.yaml"]);
        let all = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for expected in ["large.md: is larger than", "latin.md: is not UTF-8 text (line 2)", "nested more than 8"] {
            assert!(all.contains(expected), "{expected} in {all}");
        }
        #[cfg(unix)]
        assert!(
            all.contains("out.md: is a link that leads out") && all.contains("agents/loop: a link to a folder"),
            "{all}"
        );
        drop(outside);
    }

    #[test]
    fn finds_the_workspace_that_is_meant() {
        let folder = folder(&[("w/settings.yaml", b"")]);
        let current = folder.path();
        assert_eq!(find(Some(Path::new("other")), current), current.join("other"));
        assert_eq!(find(None, &current.join("w")), current.join("w"));
        assert_eq!(find(None, current), current.join("my-workshop"));
    }

    #[test]
    fn paths_that_try_to_leave_do_not_matter() {
        for path in [
            "../settings.yaml",
            "agents/../../x.md",
            "agents//x.md",
            "/agents/x.md",
            "agents/.x.md",
            "agents\\x.md",
            "boards/a.txt",
        ] {
            assert!(!matters(path), "{path}");
        }
    }
}
