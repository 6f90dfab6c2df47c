//! The files of a folder, listed only where a name has to be looked up: single folders, or all of them if a file is
//! looked for by its name alone. Each folder is read at most once.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::code_gaps::{CodeGaps, CodeLimits};
use super::code_references::is_code_name;
use crate::base::globs;
use crate::base::paths::{file_name, folder_of};

/// Folders of installed packages and of what programs make; only what is named with its whole path is found there.
const LARGE_FOLDERS: [&str; 7] = [".git", ".workshop", "node_modules", "__pycache__", ".venv", "venv", "target"];
/// What a repository of git has in its folder.
const REPOSITORY: &str = ".git";

/// The files of a folder.
pub(in crate::gateway) struct CodeFolder {
    pub(in crate::gateway) root: PathBuf,
    pub(in crate::gateway) limits: CodeLimits,
    /// What could not be followed.
    pub(in crate::gateway) gaps: CodeGaps,
    /// The folders that were listed; `None` for one that is not there or cannot be read.
    listings: RefCell<BTreeMap<String, Option<Rc<Listing>>>>,
    index: OnceCell<Index>,
    /// The number of files and folders that were listed.
    entries: Cell<usize>,
}

/// What is directly in a folder.
#[derive(Debug, Default)]
pub(in crate::gateway) struct Listing {
    /// The names of the files, and of links to files.
    pub(in crate::gateway) files: BTreeSet<String>,
    /// The names of the folders.
    pub(in crate::gateway) folders: BTreeSet<String>,
    /// The names of links to folders.
    pub(in crate::gateway) links: BTreeSet<String>,
}

/// The files in all folders that are searched for a name.
#[derive(Default)]
struct Index {
    /// The paths of the files by their names, sorted.
    by_name: BTreeMap<String, Vec<String>>,
    /// The links to folders, which are not followed.
    links: Vec<String>,
}

impl CodeFolder {
    /// Prepares to look up files below a folder. Nothing is read yet.
    pub(in crate::gateway) fn of(root: &Path) -> Self {
        Self::within(root, CodeLimits::default())
    }

    /// Prepares to look up files below a folder, within these limits.
    pub(in crate::gateway) fn within(root: &Path, limits: CodeLimits) -> Self {
        let (listings, index) = (RefCell::default(), OnceCell::new());
        Self { root: root.to_owned(), limits, gaps: CodeGaps::default(), listings, index, entries: Cell::new(0) }
    }

    /// What is directly in a folder; `None` if there is no such folder or it cannot be read.
    pub(in crate::gateway) fn listing(&self, folder: &str) -> Option<Rc<Listing>> {
        if let Some(listing) = self.listings.borrow().get(folder) {
            return listing.clone();
        }
        let listing = self.read(folder).map(Rc::new);
        self.listings.borrow_mut().insert(folder.to_owned(), listing.clone());
        listing
    }

    fn read(&self, folder: &str) -> Option<Listing> {
        if !folder.is_empty() {
            let (above, name) = (self.listing(folder_of(folder))?, file_name(folder));
            if !above.folders.contains(name) && !above.links.contains(name) {
                return None;
            }
        }
        if self.entries.get() >= self.limits.entries {
            self.gaps.add(format!("more than {} files and folders would have to be listed", self.limits.entries));
            return None;
        }
        let shown = || if folder.is_empty() { "the top folder".to_owned() } else { format!("the folder {folder}") };
        let entries = match fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) => {
                self.gaps.add(format!("{} cannot be read: {error}", shown()));
                return None;
            }
        };
        let mut listing = Listing::default();
        for entry in entries {
            let Ok(entry) = entry else {
                self.gaps.add(format!("{} cannot be read to its end", shown()));
                break;
            };
            self.entries.set(self.entries.get() + 1);
            if self.entries.get() > self.limits.entries {
                self.gaps.add(format!("more than {} files and folders would have to be listed", self.limits.entries));
                break;
            }
            let name = match entry.file_name().into_string() {
                Ok(name) => name,
                Err(name) => {
                    let name = name.to_string_lossy().into_owned();
                    if is_code_name(&name) {
                        self.gaps.add(format!("{} has a file whose name is not UTF-8: {name}", shown()));
                    }
                    continue;
                }
            };
            let Ok(kind) = entry.file_type() else { continue };
            match () {
                () if kind.is_dir() => listing.folders.insert(name),
                () if kind.is_symlink() && entry.path().is_dir() => listing.links.insert(name),
                () => listing.files.insert(name),
            };
        }
        Some(listing)
    }

    /// Whether there is a file at a path.
    pub(in crate::gateway) fn has(&self, path: &str) -> bool {
        self.listing(folder_of(path)).is_some_and(|listing| listing.files.contains(file_name(path)))
    }

    /// The index of all files, for names without a folder.
    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            let mut due = VecDeque::from([(String::new(), 0)]);
            let mut count = 0;
            while let Some((folder, depth)) = due.pop_front() {
                let Some(listing) = self.listing(&folder) else { continue };
                count += listing.files.len();
                if count > self.limits.files {
                    self.gaps.add(format!("a file is looked for by its name among more than {}", self.limits.files));
                    break;
                }
                for name in &listing.files {
                    index.by_name.entry(name.clone()).or_default().push(joined_name(&folder, name));
                }
                index.links.extend(listing.links.iter().map(|name| joined_name(&folder, name)));
                let searched = listing.folders.iter().filter(|name| !LARGE_FOLDERS.contains(&name.as_str()));
                for name in searched {
                    if depth >= self.limits.depth {
                        self.gaps.add(format!("folders are more than {} deep", self.limits.depth));
                        break;
                    }
                    due.push_back((joined_name(&folder, name), depth + 1));
                }
            }
            index.by_name.values_mut().for_each(|paths| paths.sort_unstable());
            index
        })
    }

    /// The files with a name, in all folders that are searched and directly in folders that links name.
    pub(in crate::gateway) fn named(&self, name: &str) -> Vec<String> {
        let index = self.index();
        let linked = index.links.iter().map(|link| format!("{link}/{name}")).filter(|path| self.has(path));
        index.by_name.get(name).into_iter().flatten().cloned().chain(linked).collect()
    }

    /// The files that match a pattern.
    pub(in crate::gateway) fn matching(&self, pattern: &str) -> Vec<String> {
        let folder = folder_of(pattern);
        if folder.contains(['*', '?']) || pattern.contains("**") {
            let all = self.index().by_name.values().flatten();
            return all.filter(|file| globs::matches(pattern, file)).cloned().collect();
        }
        let Some(listing) = self.listing(folder) else { return Vec::new() };
        let all = listing.files.iter().map(|name| joined_name(folder, name));
        all.filter(|file| globs::matches(pattern, file)).collect()
    }

    /// The folders that are repositories of git; empty for the folder itself. No file is looked at for that.
    pub(in crate::gateway::programs) fn repositories(&self) -> Vec<String> {
        let mut repositories = Vec::new();
        let mut due = VecDeque::from([(String::new(), 0)]);
        let mut count = 0;
        while let Some((folder, depth)) = due.pop_front() {
            let entries = match fs::read_dir(self.root.join(&folder)) {
                Ok(entries) => entries,
                Err(error) => {
                    self.gaps.add(format!("repositories in {folder:?} cannot be looked for: {error}"));
                    continue;
                }
            };
            let mut below = Vec::new();
            for entry in entries.flatten() {
                count += 1;
                let name = entry.file_name();
                if name == REPOSITORY {
                    repositories.push(folder.clone());
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && let Some(name) = name.to_str().filter(|name| !LARGE_FOLDERS.contains(name))
                {
                    below.push(joined_name(&folder, name));
                }
            }
            if count > self.limits.entries {
                self.gaps.add(format!("repositories are looked for among more than {} files", self.limits.entries));
                break;
            }
            if depth >= self.limits.depth && !below.is_empty() {
                self.gaps.add(format!("repositories are looked for {} folders deep", self.limits.depth));
                continue;
            }
            below.sort_unstable();
            due.extend(below.into_iter().map(|folder| (folder, depth + 1)));
        }
        repositories.sort_unstable();
        repositories
    }
}

/// The path of a name in a folder.
pub(super) fn joined_name(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A path relative to a folder, without `.` and `..`; `None` if it leads outside.
pub(in crate::gateway) fn joined(folder: &str, path: &str) -> Option<String> {
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

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for path in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
            fs::write(path, "").expect("files can be written");
        }
        folder
    }

    #[test]
    fn only_the_folders_in_which_a_file_can_be_are_listed() {
        let made = folder_with(&["a/b/c.sh", "a/d.sh", "e/f.sh", "g.sh"]);
        let folder = CodeFolder::of(made.path());
        assert!(folder.has("a/b/c.sh") && folder.has("g.sh"));
        assert!(!folder.has("a/b/none.sh") && !folder.has("none/x.sh") && !folder.has("a/d.sh/x"));
        assert!(!folder.listings.borrow().contains_key("e"), "nothing there was asked for");
        assert_eq!(folder.matching("a/*.sh"), ["a/d.sh"]);
        assert!(folder.index.get().is_none(), "no file was looked for by its name alone");
        assert_eq!(folder.named("f.sh"), ["e/f.sh"]);
        assert_eq!(folder.matching("*/*.sh"), ["a/d.sh", "e/f.sh"]);
        assert_eq!(folder.gaps.described(), None);
    }

    #[test]
    fn repositories_are_found_without_listing_files() {
        let made = folder_with(&["sub/.git/config", "a.sh", "node_modules/x/.git/config"]);
        let folder = CodeFolder::of(made.path());
        assert_eq!(folder.repositories(), ["sub"]);
        assert!(folder.listings.borrow().is_empty() && folder.index.get().is_none());
    }

    #[test]
    fn nothing_ends_silently_at_a_limit() {
        let made = folder_with(&["a/1.sh", "a/2.sh", "a/b/3.sh", "sub/.git/config"]);
        let limits = CodeLimits::default;
        for (limits, reason) in [
            (CodeLimits { files: 2, ..limits() }, "by its name among more than 2"),
            (CodeLimits { entries: 2, ..limits() }, "more than 2 files and folders would have to be listed"),
            (CodeLimits { depth: 1, ..limits() }, "more than 1 deep"),
        ] {
            let folder = CodeFolder::within(made.path(), limits);
            folder.named("none.sh");
            let reasons = folder.gaps.described().unwrap_or_default();
            assert!(reasons.contains(reason), "{reason} in {reasons}");
        }
        for (limits, reason) in [
            (CodeLimits { entries: 2, ..limits() }, "repositories are looked for among more than 2 files"),
            (CodeLimits { depth: 0, ..limits() }, "repositories are looked for 0 folders deep"),
        ] {
            let folder = CodeFolder::within(made.path(), limits);
            folder.repositories();
            let reasons = folder.gaps.described().unwrap_or_default();
            assert!(reasons.contains(reason), "{reason} in {reasons}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_in_linked_folders_are_found_and_loops_end() {
        let made = folder_with(&["real/lib/x.sh", "a.sh"]);
        let outside = folder_with(&["helper.py"]);
        std::os::unix::fs::symlink(".", made.path().join("loop")).expect("links can be made");
        std::os::unix::fs::symlink(outside.path(), made.path().join("out")).expect("links can be made");
        let folder = CodeFolder::of(made.path());
        assert_eq!(folder.named("helper.py"), ["out/helper.py"]);
        assert!(folder.has("loop/loop/a.sh") && !folder.has("loop/none.sh"));
        assert_eq!(folder.named("x.sh"), ["real/lib/x.sh"]);
    }

    #[test]
    fn paths_are_joined_within_the_folder() {
        assert_eq!(joined("a/b", "../c.sh").as_deref(), Some("a/c.sh"));
        assert_eq!(joined("a", "../../c.sh"), None);
    }
}
