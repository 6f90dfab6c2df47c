//! The files of a folder that scripts, modules and build files load, directly or through each other: what their texts
//! name is looked up on disk.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::code_references::{CodeReference, is_code_name, references};
use super::seen_file::{CodeText, SeenFile, look};
use crate::base::globs;
use crate::base::paths::{file_name, folder_of};

/// The maximum number of files that are loaded by one command.
const MAX_LOADED: usize = 500;
/// The maximum number of names that are looked up for one command.
const MAX_REFERENCES: usize = 20_000;
/// The maximum number of files in the folder; in a larger one, files are not found by their names alone.
const MAX_FILES: usize = 50_000;
/// The maximum number of files that one name or pattern can mean.
const MAX_MEANT: usize = 100;
/// The maximum number of files that are looked for outside of the list.
const MAX_UNLISTED: usize = 100_000;
/// The maximum depth of folders.
const MAX_DEPTH: usize = 16;
/// Folders of installed packages and of what programs make; only what is named with its whole path is found there.
const LARGE_FOLDERS: [&str; 7] = [".git", ".workshop", "node_modules", "__pycache__", ".venv", "venv", "target"];
/// Files that a program loads wherever they are.
const LOADED_EVERYWHERE: [&str; 1] = ["conftest.py"];

/// The files of a folder.
#[derive(Default)]
pub(super) struct CodeFolder {
    root: PathBuf,
    /// The paths of the files by their names.
    by_name: BTreeMap<String, Vec<String>>,
    /// The folders whose files are not among them.
    unwalked: BTreeSet<String>,
    /// The folders that are repositories of git; empty for the folder itself.
    pub(super) repositories: Vec<String>,
    is_complete: bool,
    /// The number of files that were looked for outside of the list.
    unlisted: Cell<usize>,
}

impl CodeFolder {
    /// Lists the files below a folder.
    pub(super) fn of(root: &Path) -> Self {
        let mut folder = Self { root: root.to_owned(), is_complete: true, ..Self::default() };
        let mut due = VecDeque::from([(String::new(), 0)]);
        let mut count = 0;
        while let Some((below, depth)) = due.pop_front() {
            let Ok(entries) = fs::read_dir(root.join(&below)) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
                if name == ".git" {
                    folder.repositories.push(below.clone());
                }
                let Ok(kind) = entry.file_type() else { continue };
                let is_link_to_folder = kind.is_symlink() && entry.path().is_dir();
                if kind.is_dir() && depth < MAX_DEPTH && !LARGE_FOLDERS.contains(&&*name) {
                    due.push_back((path, depth + 1));
                } else if kind.is_dir() || is_link_to_folder {
                    folder.unwalked.insert(path);
                } else {
                    count += 1;
                    folder.by_name.entry(name).or_default().push(path);
                }
            }
            if count > MAX_FILES {
                folder.is_complete = false;
                break;
            }
        }
        folder.by_name.values_mut().for_each(|paths| paths.sort_unstable());
        folder.repositories.sort_unstable();
        folder
    }

    /// Whether there is a file at a path.
    fn has(&self, path: &str) -> bool {
        let named = self.by_name.get(file_name(path)).map_or(&[][..], Vec::as_slice);
        if named.binary_search_by(|one| one.as_str().cmp(path)).is_ok() {
            return true;
        }
        let mut above = std::iter::successors(Some(folder_of(path)), |folder| {
            let folder: &str = folder;
            (!folder.is_empty()).then(|| folder_of(folder))
        });
        let is_unlisted = !self.is_complete || above.any(|folder| self.unwalked.contains(folder));
        if !is_unlisted || self.unlisted.get() >= MAX_UNLISTED {
            return false;
        }
        self.unlisted.set(self.unlisted.get() + 1);
        self.root.join(path).is_file()
    }

    /// The files that a name can mean in a file of `folder`, for a command that runs in `running_in`.
    fn meant(&self, reference: &CodeReference, folder: &str, running_in: &str) -> BTreeSet<String> {
        let bases = BTreeSet::from([folder, running_in, ""]);
        let mut found = BTreeSet::new();
        for path in &reference.paths {
            for path in bases.iter().filter_map(|base| joined(base, path)) {
                if path.contains(['*', '?']) {
                    let all = self.by_name.values().flatten().filter(|file| globs::matches(&path, file));
                    found.extend(all.take(MAX_MEANT).cloned());
                } else if self.has(&path) {
                    found.insert(path);
                }
            }
        }
        if !found.is_empty() || !reference.is_distinct {
            return found;
        }
        // It may be composed of parts, or be searched for in other folders.
        let named = |path: &String| self.by_name.get(file_name(path)).into_iter().flatten();
        for path in &reference.paths {
            let end = format!("/{}", path.trim_start_matches("../"));
            found.extend(named(path).filter(|file| file.ends_with(&end)).take(MAX_MEANT).cloned());
        }
        if found.is_empty() {
            found.extend(reference.paths.iter().flat_map(named).take(MAX_MEANT).cloned());
        }
        found
    }

    /// What the files with these texts load, directly or through each other, without themselves.
    pub(super) fn loaded_by(
        &self,
        roots: &BTreeMap<String, CodeText>,
        named: &BTreeSet<String>,
        running_in: &str,
    ) -> BTreeMap<String, SeenFile> {
        let mut visited: BTreeSet<String> = named.clone();
        let mut loaded = BTreeMap::new();
        let mut due: VecDeque<(String, CodeText)> =
            roots.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
        let everywhere = LOADED_EVERYWHERE.iter().filter(|name| named.iter().any(|path| file_name(path) == **name));
        for path in everywhere.flat_map(|name| self.by_name.get(*name)).flatten() {
            self.add(path, true, &mut visited, &mut loaded, &mut due);
        }
        let mut left = MAX_REFERENCES;
        while let Some((path, text)) = due.pop_front() {
            for reference in references(&path, &text.text).into_iter().take(left) {
                left -= 1;
                for meant in self.meant(&reference, folder_of(&path), running_in) {
                    self.add(&meant, reference.is_loaded, &mut visited, &mut loaded, &mut due);
                }
            }
        }
        loaded
    }

    fn add(
        &self,
        path: &str,
        is_loaded: bool,
        visited: &mut BTreeSet<String>,
        loaded: &mut BTreeMap<String, SeenFile>,
        due: &mut VecDeque<(String, CodeText)>,
    ) {
        // A file that is only data where one text names it may be loaded by another.
        if loaded.len() >= MAX_LOADED || visited.contains(path) {
            return;
        }
        let Some((file, text)) = look(&self.root, path) else { return };
        let is_script = text.is_executable || text.text.starts_with("#!");
        if text.is_binary || !(is_loaded || is_code_name(path) || is_script) {
            return;
        }
        visited.insert(path.to_owned());
        loaded.insert(path.to_owned(), SeenFile { is_loaded: true, ..file });
        due.push_back((path.to_owned(), text));
    }
}

/// A path relative to a folder, without `.` and `..`; `None` if it leads outside.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that a command which names these files loads, of a folder with these files.
    fn loaded(files: &[(&str, &str)], named: &[&str], running_in: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        let named: BTreeSet<String> = named.iter().map(|path| (*path).to_owned()).collect();
        let texts = named.iter().filter_map(|path| Some((path.clone(), look(folder.path(), path)?.1))).collect();
        CodeFolder::of(folder.path()).loaded_by(&texts, &named, running_in).into_keys().collect()
    }

    #[test]
    fn what_scripts_load_is_found_through_each_other() {
        let files = [
            ("build.sh", ". parts/lib.sh\ncat notes.md > made\n"),
            ("parts/lib.sh", "python3 \"$HERE/../tools/tool.py\"\n"),
            ("tools/tool.py", "import helper\nfrom pkg import thing\nopen('runs', 'a')\n"),
            ("tools/helper.py", "import json\n"),
            ("tools/pkg/__init__.py", ""),
            ("tools/pkg/thing.py", ""),
            ("notes.md", "tools/other.py"),
            ("tools/other.py", ""),
            ("runs", "x"),
            ("made", "x"),
        ];
        let expected =
            ["parts/lib.sh", "tools/helper.py", "tools/pkg/__init__.py", "tools/pkg/thing.py", "tools/tool.py"];
        assert_eq!(loaded(&files, &["build.sh"], ""), expected);
    }

    #[test]
    fn a_module_that_hides_one_of_the_system_is_found() {
        let tool = ("tools/tool.py", "import json\n");
        assert_eq!(loaded(&[tool], &["tools/tool.py"], ""), [] as [&str; 0]);
        assert_eq!(loaded(&[tool, ("tools/json.py", "")], &["tools/tool.py"], ""), ["tools/json.py"]);
    }

    #[test]
    fn what_build_tools_load_is_found() {
        let files = [
            ("web/package.json", "{ \"scripts\": { \"test\": \"node scripts/test\" } }"),
            ("web/scripts/test.js", "require('../src/app')"),
            ("web/src/app.js", "module.exports = 1"),
        ];
        assert_eq!(loaded(&files, &["web/package.json"], "web"), ["web/scripts/test.js", "web/src/app.js"]);
        let files = [
            ("Makefile", "include mk/*.mk\ntest:\n\t./run x.csv\n"),
            ("mk/rules.mk", "all:\n\tsh tools/go\n"),
            ("run", "#!/bin/sh\n"),
            ("tools/go", "echo go\n"),
            ("x.csv", "1,2"),
        ];
        assert_eq!(loaded(&files, &["Makefile"], ""), ["mk/rules.mk", "run", "tools/go"]);
        let files = [("conftest.py", ""), ("tests/a/conftest.py", "from shared import x"), ("tests/a/shared.py", "")];
        let expected = ["tests/a/conftest.py", "tests/a/shared.py"];
        assert_eq!(loaded(&files, &["conftest.py"], ""), expected);
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
            ("build.rs", "fn main() {}"),
            ("crates/one/Cargo.toml", "[package]\n"),
            ("crates/one/build.rs", "fn main() {}"),
            ("crates/one/src/lib.rs", ""),
        ];
        let expected = ["build.rs", "crates/one/Cargo.toml", "crates/one/build.rs"];
        assert_eq!(loaded(&files, &["Cargo.toml"], ""), expected);
    }

    #[test]
    fn nothing_outside_and_no_program_that_a_build_made_is_loaded() {
        assert_eq!(joined("a/b", "../c.sh").as_deref(), Some("a/c.sh"));
        assert_eq!(joined("a", "../../c.sh"), None);
        let made = [("Makefile", "test:\n\tcc -o app app.c && sh app\n"), ("app", "\0elf"), ("app.c", "")];
        assert_eq!(loaded(&made, &["Makefile"], ""), [] as [&str; 0]);
    }
}
