//! The content of the workspace files that a command runs: those that it names and those that these load. It is looked at
//! before a person is asked, and compared at the moment in which the command starts, so that a permission never covers
//! other code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::code_folder::CodeFolder;
use super::code_gaps::CodeLimits;
use super::loaded_code::loaded_by;
use super::repository_programs;
use super::seen_file::{CodeConcern, SeenFile, Unseen, look};
use super::source_kinds::SourceFolder;
use crate::base::Id;

/// The number of bytes of all files of a command that are kept.
const MAX_TEXTS_BYTES: usize = 256 * 1024;

/// Stands for code that could not be followed whole, among the paths of the files. No file has this path.
const NOT_FOLLOWED: &str = ".";

/// The contents of files by path; `None` for a file that does not exist or cannot be read.
pub type SeenCode = BTreeMap<String, Option<SeenFile>>;

/// What to do with the files that a command runs, before it starts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeCheck {
    /// The paths of the files that the command names.
    pub files: BTreeSet<String>,
    /// The folder in which it runs, relative to the workspace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The sources that it compiles or runs without naming each.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub sources: BTreeSet<SourceFolder>,
    /// Whether it may run sources that changed, so that they are not looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs_edited: bool,
    /// Why it may name more files than these; empty if it does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<String>,
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
    /// Whether the command runs no code of the workspace, so that it just starts.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.sources.is_empty()
    }

    /// Looks at the files in this folder once, as before a command starts.
    pub fn look_once(&self, workspace: &Path) -> SeenCode {
        self.look_in(workspace)
    }

    /// Looks at the files in this folder. Returns their contents unless they are the expected ones. In an agent's copy
    /// of the workspace, which is at `copy`, the files of the workspace itself are returned as well.
    pub(in crate::gateway::programs) fn unexpected(
        &self,
        workspace: &Path,
        copy: Option<&str>,
        agent_writers: impl Fn(Vec<String>) -> BTreeMap<String, Id>,
    ) -> Option<SeenCode> {
        if self.is_empty() {
            return None;
        }
        let mut seen = match copy {
            None => self.look_in(workspace),
            Some(copy) => {
                let in_copy = self.look_in(&workspace.join(copy));
                let originals = in_copy.keys().filter(|path| !is_repository(path) && *path != NOT_FOLLOWED);
                let limits = CodeLimits::default();
                let original = |path: &str| look(workspace, path, &limits).ok().map(|(file, _)| file);
                let originals: SeenCode = originals.map(|path| (path.clone(), original(path))).collect();
                in_copy.into_iter().map(|(path, file)| (format!("{copy}/{path}"), file)).chain(originals).collect()
            }
        };
        if self.expected.as_ref() == Some(&hashes(&seen)) {
            return None;
        }
        // A permission for a command does not hold for a script that changed, or that it loads since: you are asked again.
        rule!("changed-scripts-are-asked-again");
        let is_file = |file: &Option<SeenFile>| file.as_ref().is_some_and(|file| file.concern.is_none());
        let there = seen.iter().filter(|(_, file)| is_file(file)).map(|(path, _)| path.clone()).collect();
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
        let (repositories, files): (Vec<&String>, Vec<&String>) =
            self.files.iter().partition(|path| is_repository(path));
        for path in &files {
            let found = match look(root, path, &folder.limits) {
                Ok((file, text)) => {
                    texts.insert((*path).clone(), text);
                    Some(file)
                }
                Err(Unseen::Missing) => None,
                Err(Unseen::Unreadable(why)) => {
                    folder.gaps.add(format!("{path}: {why}"));
                    None
                }
            };
            seen.insert((*path).clone(), found);
        }
        // Commands of git name only their repository, for which no file has to be listed.
        if !files.is_empty() || !self.sources.is_empty() {
            let sources = (!self.runs_edited).then_some(&self.sources);
            let loaded = loaded_by(&folder, &texts, &self.files, &self.folder, sources);
            seen.extend(loaded.into_iter().map(|(path, file)| (path, Some(file))));
        }
        if !repositories.is_empty() {
            let below = folder.repositories();
            seen.extend(repositories.into_iter().map(|path| {
                let programs = repository_programs::look(root, path, &below, &folder.gaps);
                (path.clone(), programs)
            }));
        }
        self.unnamed.iter().for_each(|reason| folder.gaps.add(reason.as_str()));
        seen.extend(folder.gaps.described().map(|reasons| (NOT_FOLLOWED.to_owned(), Some(not_followed(reasons)))));
        seen
    }
}

/// What stands for code that could not be followed whole.
fn not_followed(reasons: String) -> SeenFile {
    let hash = blake3::hash(reasons.as_bytes()).to_hex().to_string();
    SeenFile { hash, text: reasons, concern: Some(CodeConcern::NotFollowed), ..SeenFile::default() }
}

/// Leaves out texts that are too much together, those of loaded files that are of no concern first.
fn limit_texts(seen: &mut SeenCode) {
    let mut files: Vec<&mut SeenFile> = seen.values_mut().flatten().collect();
    files.sort_by_key(|file| (file.concern != Some(CodeConcern::NotFollowed), file.is_loaded, file.concern.is_none()));
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
    use super::super::source_kinds::SourceKind;
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

    #[test]
    fn sources_are_expected_and_a_new_one_is_noticed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
            std::fs::write(path, text).expect("it can be written");
        };
        write("Cargo.toml", "[package]");
        write("src/lib.rs", "fn one() {}");
        let source = SourceFolder { folder: String::new(), kind: SourceKind::Rust };
        let mut check = CodeCheck { sources: [source].into(), ..check(&["Cargo.toml"]) };
        let seen = check.unexpected(folder.path(), None, nobody).expect("nothing is expected yet");
        assert!(seen["src/lib.rs"].as_ref().is_some_and(|file| file.is_loaded && file.text == "fn one() {}"));
        check.expected = Some(hashes(&seen));
        assert_eq!(check.unexpected(folder.path(), None, nobody), None);
        write("src/lib.rs", "fn two() {}");
        assert!(check.unexpected(folder.path(), None, nobody).is_some());
        write("src/lib.rs", "fn one() {}");
        write("src/more.rs", "");
        assert!(check.unexpected(folder.path(), None, nobody).is_some_and(|now| now.contains_key("src/more.rs")));
    }

    #[test]
    fn code_that_is_not_followed_whole_is_said_with_its_reason_also_in_a_copy() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let copy = ".workshop/worktrees/ada/files";
        std::fs::create_dir_all(folder.path().join(copy)).expect("folders can be made");
        for path in ["run.sh".to_owned(), format!("{copy}/run.sh")] {
            std::fs::write(folder.path().join(path), "echo one").expect("it can be written");
        }
        let check = CodeCheck { unnamed: vec!["it names too much".to_owned()], ..check(&["run.sh"]) };
        for (copy, path) in [(None, NOT_FOLLOWED.to_owned()), (Some(copy), format!("{copy}/{NOT_FOLLOWED}"))] {
            let seen = check.unexpected(folder.path(), copy, nobody).expect("nothing is expected yet");
            let unfollowed: Vec<&String> = seen
                .iter()
                .filter(|(_, file)| file.as_ref().is_some_and(|file| file.concern == Some(CodeConcern::NotFollowed)))
                .map(|(path, _)| path)
                .collect();
            assert_eq!(unfollowed, [&path]);
            assert_eq!(seen[&path].as_ref().map(|file| &*file.text), Some("it names too much"));
            // What a person allowed starts: they were told.
            let expected = CodeCheck { expected: Some(hashes(&seen)), ..check.clone() };
            assert_eq!(expected.unexpected(folder.path(), copy, nobody), None);
        }
    }
}
