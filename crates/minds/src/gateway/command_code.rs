//! The content of the workspace files that a command runs: those that it names and those that these load. It is looked at
//! before a person is asked, and compared at the moment in which the command starts, so that a permission never covers
//! other code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::loaded_code::CodeFolder;
use super::repository_programs;
use super::seen_file::{CodeConcern, SeenFile, look};
use crate::base::Id;

/// The number of bytes of all files of a command that are kept.
const MAX_TEXTS_BYTES: usize = 256 * 1024;

/// The contents of files by path; `None` for a file that does not exist or cannot be read.
pub type SeenCode = BTreeMap<String, Option<SeenFile>>;

/// What to do with the files that a command runs, before it starts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeCheck {
    /// The paths of the files that the command names; if there are none, the command just starts.
    pub files: BTreeSet<String>,
    /// The folder in which it runs, relative to the workspace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The hashes with which it may start; `None` to report the contents instead of starting it.
    pub expected: Option<BTreeMap<String, Option<String>>>,
}

/// Returns the hashes of these contents.
pub fn hashes(seen: &SeenCode) -> BTreeMap<String, Option<String>> {
    let hash = |file: &Option<SeenFile>| file.as_ref().map(|file| file.hash.clone());
    seen.iter().map(|(path, file)| (path.clone(), hash(file))).collect()
}

/// Whether the command line of a check names files of git's repositories, whose settings are looked at.
fn is_repository(path: &str) -> bool {
    path == ".git" || path.ends_with("/.git")
}

impl CodeCheck {
    /// Looks at the files in this folder. Returns their contents unless they are the expected ones. In an agent's copy
    /// of the workspace, which is at `copy`, the files of the workspace itself are returned as well.
    pub(super) fn unexpected(
        &self,
        workspace: &Path,
        copy: Option<&str>,
        agent_writers: impl Fn(Vec<String>) -> BTreeMap<String, Id>,
    ) -> Option<SeenCode> {
        if self.files.is_empty() {
            return None;
        }
        let mut seen = match copy {
            None => self.look_in(workspace),
            Some(copy) => {
                let in_copy = self.look_in(&workspace.join(copy));
                let originals = in_copy.keys().filter(|path| !is_repository(path));
                let originals: SeenCode =
                    originals.map(|path| (path.clone(), look(workspace, path).map(|(file, _)| file))).collect();
                in_copy.into_iter().map(|(path, file)| (format!("{copy}/{path}"), file)).chain(originals).collect()
            }
        };
        if self.expected.as_ref() == Some(&hashes(&seen)) {
            return None;
        }
        // A permission for a command does not hold for a script that changed, or that it loads since: you are asked again.
        rule!("changed-scripts-are-asked-again");
        let there = seen.iter().filter(|(_, file)| file.is_some()).map(|(path, _)| path.clone()).collect();
        for (path, agent) in agent_writers(there) {
            if let Some(Some(file)) = seen.get_mut(&path) {
                file.concern.get_or_insert(CodeConcern::WrittenBy(agent));
            }
        }
        limit_texts(&mut seen);
        Some(seen)
    }

    fn look_in(&self, root: &Path) -> SeenCode {
        let folder = CodeFolder::of(root);
        let (mut seen, mut texts) = (SeenCode::new(), BTreeMap::new());
        for path in &self.files {
            let found = match is_repository(path) {
                true => repository_programs::look(root, path, &folder.repositories),
                false => look(root, path).map(|(file, text)| {
                    texts.insert(path.clone(), text);
                    file
                }),
            };
            seen.insert(path.clone(), found);
        }
        let loaded = folder.loaded_by(&texts, &self.files, &self.folder);
        seen.extend(loaded.into_iter().map(|(path, file)| (path, Some(file))));
        seen
    }
}

/// Leaves out texts that are too much together, those of loaded files first.
fn limit_texts(seen: &mut SeenCode) {
    let mut files: Vec<&mut SeenFile> = seen.values_mut().flatten().collect();
    files.sort_by_key(|file| file.is_loaded);
    let mut bytes = 0;
    for file in files {
        bytes += file.text.len();
        if bytes > MAX_TEXTS_BYTES {
            (file.text, file.is_text_left_out) = (String::new(), true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nobody(_: Vec<String>) -> BTreeMap<String, Id> {
        BTreeMap::new()
    }

    fn check(files: &[&str]) -> CodeCheck {
        CodeCheck { files: files.iter().map(|path| (*path).to_owned()).collect(), ..CodeCheck::default() }
    }

    #[test]
    fn a_command_starts_only_with_the_expected_code() {
        checks_rule!("changed-scripts-are-asked-again");
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |text: &str| std::fs::write(folder.path().join("run.sh"), text).expect("it can be written");
        let mut check = check(&["run.sh", "none.sh"]);
        write("echo one");
        let unexpected = |check: &CodeCheck| check.unexpected(folder.path(), None, nobody);
        let seen = unexpected(&check).expect("nothing is expected yet");
        assert_eq!(seen["run.sh"].as_ref().map(|file| &*file.text), Some("echo one"));
        assert_eq!(seen["none.sh"], None);
        check.expected = Some(hashes(&seen));
        assert_eq!(unexpected(&check), None);
        write("echo two");
        assert!(unexpected(&check).is_some_and(|now| now["run.sh"] != seen["run.sh"]));
        write("echo one");
        std::fs::write(folder.path().join("none.sh"), "x").expect("it can be written");
        assert!(unexpected(&check).is_some(), "a new file may be run instead");
        assert_eq!(unexpected(&CodeCheck::default()), None);
    }

    #[test]
    fn what_the_code_loads_is_expected_too() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).expect("it can be written");
        write("run.sh", ". ./lib.sh");
        write("lib.sh", "echo one");
        let mut check = check(&["run.sh"]);
        let by_ada =
            |paths: Vec<String>| paths.into_iter().filter(|path| path == "lib.sh").map(|path| (path, "ada".into()));
        let seen = check.unexpected(folder.path(), None, |paths| by_ada(paths).collect());
        let seen = seen.expect("nothing is expected yet");
        let lib = seen["lib.sh"].as_ref().expect("it exists");
        assert!(lib.is_loaded && lib.text == "echo one", "{lib:?}");
        assert_eq!(lib.concern, Some(CodeConcern::WrittenBy("ada".into())));
        check.expected = Some(hashes(&seen));
        assert_eq!(check.unexpected(folder.path(), None, nobody), None);
        write("lib.sh", "echo two");
        assert!(check.unexpected(folder.path(), None, nobody).is_some());
    }

    #[test]
    fn in_a_copy_both_files_are_looked_at_and_secrets_are_not_shown() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let copy = ".workshop/worktrees/ada/files";
        std::fs::create_dir_all(folder.path().join(copy)).expect("folders can be made");
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).expect("it can be written");
        write("run.sh", "echo one");
        write(&format!("{copy}/run.sh"), ". ./.env");
        write(&format!("{copy}/.env"), "KEY=secret");
        let seen = check(&["run.sh"]).unexpected(folder.path(), Some(copy), nobody).expect("nothing is expected yet");
        let text = |path: &str| seen[path].as_ref().map(|file| file.text.clone());
        assert_eq!(text("run.sh").as_deref(), Some("echo one"));
        assert_eq!(text(&format!("{copy}/run.sh")).as_deref(), Some(". ./.env"));
        assert!(seen.values().flatten().all(|file| !file.text.contains("secret")), "{seen:?}");
        assert!(seen[&format!("{copy}/.env")].as_ref().is_some_and(|file| file.is_text_left_out));
    }
}
