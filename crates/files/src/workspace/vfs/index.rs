//! An index of the files, made from the folders alone, and a cache of texts that were read recently.
//!
//! Neither is authoritative: the disk is. A folder whose modification time changed is read again before it is listed,
//! and a cached text is only used while its file looks unchanged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::unsaved_copies;
use super::path::WorkspacePath;
use super::resolve::{PathError, Root};
use crate::safe_fs::{self, EntryKind, EntryMetadata, Folder};

/// The uncertainty of a modification time, in nanoseconds: a folder or file that changed within this time before it was
/// examined may change again without a new time, since the clocks of file systems are coarse.
pub(super) const CLOCK_COARSE_NS: i64 = 2_000_000_000;
/// The maximum number of folders in the index; further ones are not searched.
const MAX_FOLDERS: usize = 20_000;

/// The metadata of a file, known without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// The size in bytes.
    pub(super) size: u64,
    /// The modification time in nanoseconds since 1970; [`UNSEEN`] if another program created the file and it was not
    /// read yet.
    pub(super) modified_ns: i64,
}

/// The modification time of a file that was not examined yet.
pub(super) const UNSEEN: i64 = i64::MIN;

#[derive(Clone, Copy, Debug)]
struct KnownFolder {
    modified_ns: i64,
    looked_ns: i64,
}

/// How thoroughly a folder is examined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanDepth {
    /// Only names are compared with those in the index.
    Names,
    /// The size and time of every file are read.
    Sizes,
    /// Like `Sizes`, and leftovers of interrupted writes are removed.
    Clearing,
}

/// Files that were added or removed since the last check.
#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) came: Vec<String>,
    pub(super) went: Vec<String>,
}

/// The files of the workspace.
#[derive(Default)]
pub(super) struct Index {
    files: BTreeMap<String, Entry>,
    folders: BTreeMap<String, KnownFolder>,
    /// Files that were found to be missing and whose deletion was not examined yet.
    missing: std::collections::BTreeSet<String>,
    total_bytes: u64,
    texts: Texts,
    /// Files beside which a displaced text was found after the process was killed, with the path where that text is
    /// kept.
    pub(super) kept: Vec<(String, String)>,
}

impl Index {
    /// Scans every folder. Files that cannot be addressed (odd names, links, hidden files) are left out, and leftovers
    /// of interrupted writes are removed.
    pub(super) fn walk(root: &Root) -> Self {
        Self::look_with(root, ScanDepth::Clearing)
    }

    /// Scans every folder without changing anything, for processes that do not own the files.
    pub(super) fn scan_read_only(root: &Root) -> Self {
        Self::look_with(root, ScanDepth::Sizes)
    }

    fn look_with(root: &Root, depth: ScanDepth) -> Self {
        let mut index = Self::default();
        index.look_into(root, "", depth, &mut Difference::default());
        index
    }

    /// Whether there may be unscanned folders because there are too many.
    pub(super) fn has_unknown_folders(&self) -> bool {
        self.folders.len() >= MAX_FOLDERS
    }

    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    pub(super) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    pub(super) fn get(&self, path: &str) -> Option<Entry> {
        self.files.get(path).copied()
    }

    /// Iterates over all files, sorted by path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.files.iter().map(|(path, entry)| (path.as_str(), *entry))
    }

    /// Iterates over the paths that start with `prefix`, sorted.
    pub(super) fn paths_under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let from = self.files.range::<str, _>((std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded));
        from.map(|(path, _)| path.as_str()).take_while(move |path| path.starts_with(prefix))
    }

    /// Records the current metadata of a file.
    pub(super) fn note(&mut self, path: &str, found: &EntryMetadata) {
        let entry = Entry { size: found.size, modified_ns: found.modified_ns };
        self.missing.remove(path);
        let old = self.files.insert(path.to_owned(), entry);
        self.total_bytes = self.total_bytes.saturating_sub(old.map_or(0, |old| old.size)).saturating_add(entry.size);
    }

    /// Removes a file. Returns whether it was in the index, or was found to be missing since it was last examined.
    pub(super) fn forget(&mut self, path: &str) -> bool {
        let was_missing = self.missing.remove(path);
        self.remove(path) || was_missing
    }

    fn remove(&mut self, path: &str) -> bool {
        self.texts.drop_text(path);
        let old = self.files.remove(path);
        self.total_bytes = self.total_bytes.saturating_sub(old.map_or(0, |old| old.size));
        old.is_some()
    }

    /// Removes a file that is not in its folder any more, and remembers that its deletion is to be examined.
    fn note_missing(&mut self, path: String, difference: &mut Difference) {
        self.remove(&path);
        self.missing.insert(path.clone());
        difference.went.push(path);
    }

    /// Scans changed folders again if they may contain paths with this prefix.
    pub(super) fn refresh(&mut self, root: &Root, prefix: &str) -> Difference {
        let mut difference = Difference::default();
        let mut due: Vec<String> = vec![String::new()];
        let parents = prefix.match_indices('/').map(|(at, _)| prefix[..at].to_owned());
        due.extend(parents.filter(|folder| self.folders.contains_key(folder)));
        let below = self.folders.range::<str, _>((std::ops::Bound::Excluded(prefix), std::ops::Bound::Unbounded));
        due.extend(below.map(|(folder, _)| folder.clone()).take_while(|folder| folder.starts_with(prefix)));
        for folder in due {
            let Some(known) = self.folders.get(&folder).copied() else { continue };
            match root.folder().metadata_following_links(&folder) {
                Ok(found) if found.kind != EntryKind::Folder => self.forget_folder(&folder, &mut difference),
                Ok(found) => {
                    let is_settled = known.looked_ns.saturating_sub(known.modified_ns) > CLOCK_COARSE_NS;
                    if found.modified_ns != known.modified_ns || !is_settled {
                        self.look_into(root, &folder, ScanDepth::Names, &mut difference);
                    }
                }
                Err(_) => self.forget_folder(&folder, &mut difference),
            }
        }
        difference
    }

    /// Examines every file again. Returns the paths that were added, deleted or appear changed.
    pub(super) fn compare(&mut self, root: &Root) -> Vec<String> {
        let now = Self::scan_read_only(root);
        let mut changed: Vec<String> = now
            .files
            .iter()
            .filter(|(path, entry)| self.files.get(*path) != Some(*entry))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(self.files.keys().filter(|path| !now.files.contains_key(*path)).cloned());
        changed.extend(self.missing.iter().filter(|path| !now.files.contains_key(*path)).cloned());
        for path in &changed {
            if !self.files.contains_key(path) {
                self.files.insert(path.clone(), Entry { size: 0, modified_ns: UNSEEN });
            }
        }
        self.folders = now.folders;
        changed
    }

    /// Returns the text of a file: from the cache if the file appears unchanged, else from disk.
    pub(super) fn read(
        &mut self,
        root: &Root,
        path: &WorkspacePath,
        most: u64,
    ) -> Result<(Arc<str>, EntryMetadata), PathError> {
        // The cached text was read without following links, so it does not matter that this comparison may follow one.
        if let Some(known) = self.texts.get(path.as_str()).filter(|known| known.is_settled)
            && let Ok(found) = root.folder().metadata_following_links(path.as_str())
            && found.kind == EntryKind::File
            && found.names == 1
            && known.found.is_same_as(&found)
        {
            return Ok((known.text.clone(), found));
        }
        let (text, found) = root.read(path, most)?;
        let text: Arc<str> = text.into();
        self.cache(path.as_str(), text.clone(), found);
        Ok((text, found))
    }

    /// Adds a text to the cache.
    pub(super) fn cache(&mut self, path: &str, text: Arc<str>, found: EntryMetadata) {
        let is_settled = now_ns().saturating_sub(found.modified_ns) > CLOCK_COARSE_NS;
        self.texts.put(path, CachedText { text, found, is_settled, used: 0 });
    }

    /// Sets the memory limit of cached texts, in bytes.
    pub(super) fn limit_memory(&mut self, bytes: usize) {
        self.texts.most = bytes;
        self.texts.make_room();
    }

    /// Returns the memory used by cached texts, in bytes.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.texts.bytes
    }

    fn forget_folder(&mut self, folder: &str, difference: &mut Difference) {
        let prefix = format!("{folder}/");
        let gone: Vec<String> = self.paths_under(&prefix).map(str::to_owned).collect();
        gone.into_iter().for_each(|path| self.note_missing(path, difference));
        self.folders.retain(|path, _| path != folder && !path.starts_with(&prefix));
    }

    /// Reads the names in a folder, and scans its new subfolders.
    fn look_into(&mut self, root: &Root, folder: &str, depth: ScanDepth, difference: &mut Difference) {
        let opened = match root.walk(folder) {
            Ok(opened) => opened,
            Err(_) => return self.forget_folder(folder, difference),
        };
        let opened = opened.as_ref().unwrap_or(root.folder());
        let looked_ns = now_ns();
        let modified_ns = opened.metadata_following_links("").map_or(UNSEEN, |found| found.modified_ns);
        let Ok(entries) = opened.entries() else { return };
        self.folders.insert(folder.to_owned(), KnownFolder { modified_ns, looked_ns });
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut here: Vec<String> = Vec::new();
        let mut folders: Vec<String> = Vec::new();
        for (name, kind) in entries {
            if name.starts_with('.') {
                if depth == ScanDepth::Clearing && kind == EntryKind::File {
                    self.clear_hidden(root, opened, &prefix, &name);
                }
                continue;
            }
            let path = format!("{prefix}{name}");
            // Names that no path can spell are ignored.
            let is_known = self.files.contains_key(&path) || self.folders.contains_key(&path);
            if !is_known && WorkspacePath::new(&path).map_or(true, |normal| normal.as_str() != path) {
                continue;
            }
            match kind {
                EntryKind::File if depth != ScanDepth::Names => {
                    if let Ok(found) = opened.metadata(&name)
                        && found.kind == EntryKind::File
                        && found.names == 1
                    {
                        self.note(&path, &found);
                    }
                }
                EntryKind::File => here.push(path),
                EntryKind::Folder => folders.push(path),
                EntryKind::Link | EntryKind::Other => {}
            }
        }
        if depth == ScanDepth::Names {
            self.compare_names(&prefix, &here, &folders, difference);
        }
        for path in folders {
            if !self.folders.contains_key(&path) && self.folders.len() < MAX_FOLDERS {
                self.look_into(root, &path, depth, difference);
            }
        }
    }

    /// Removes the temporary files of an interrupted write. A text that another program may have written is always
    /// kept.
    fn clear_hidden(&mut self, root: &Root, folder: &Folder, prefix: &str, name: &str) {
        if safe_fs::is_incomplete_temporary(name) {
            // Nothing refers to this file; if it cannot be removed, the next start tries again.
            let _ = folder.remove(name);
            return;
        }
        let Some(file) = safe_fs::original_of_placing(name) else { return };
        let path = format!("{prefix}{file}");
        let is_same = |left: u64| safe_fs::hash_of(folder, file).is_ok_and(|there| there == Some(left));
        let cleared = match safe_fs::hash_of(folder, name) {
            Ok(Some(left)) if is_same(left) => folder.remove(name),
            _ => unsaved_copies::keep_file(root.folder(), folder, name, &path)
                .map(|place| self.kept.push((path.clone(), place))),
        };
        if let Err(error) = cleared {
            tracing::warn!("the remains of an interrupted save next to {path} could not be moved: {error}");
        }
    }

    fn compare_names(&mut self, prefix: &str, files: &[String], folders: &[String], difference: &mut Difference) {
        let names: std::collections::BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let is_direct = |path: &str| !path[prefix.len()..].contains('/');
        let gone: Vec<String> = self
            .paths_under(prefix)
            .filter(|path| is_direct(path) && !names.contains(path))
            .map(str::to_owned)
            .collect();
        gone.into_iter().for_each(|path| self.note_missing(path, difference));
        for path in files {
            if !self.files.contains_key(path) {
                self.files.insert(path.clone(), Entry { size: 0, modified_ns: UNSEEN });
                difference.came.push(path.clone());
            }
        }
        let lost: Vec<String> = self
            .folders
            .keys()
            .filter(|path| !path.is_empty() && path.starts_with(prefix) && is_direct(path) && !folders.contains(path))
            .cloned()
            .collect();
        for folder in lost {
            self.forget_folder(&folder, difference);
        }
    }
}

/// The time in nanoseconds since 1970, to compare with modification times.
pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[derive(Clone)]
struct CachedText {
    text: Arc<str>,
    found: EntryMetadata,
    /// Whether a later change of the file would change its modification time.
    is_settled: bool,
    used: u64,
}

/// The cached texts. The least recently used are evicted.
#[derive(Default)]
struct Texts {
    kept: BTreeMap<String, CachedText>,
    by_use: BTreeMap<u64, String>,
    uses: u64,
    bytes: usize,
    most: usize,
}

impl Texts {
    fn get(&mut self, path: &str) -> Option<&CachedText> {
        self.uses += 1;
        let kept = self.kept.get_mut(path)?;
        let path = self.by_use.remove(&kept.used)?;
        kept.used = self.uses;
        self.by_use.insert(self.uses, path);
        Some(kept)
    }

    fn put(&mut self, path: &str, mut kept: CachedText) {
        self.drop_text(path);
        if kept.text.len() > self.most / 8 {
            return;
        }
        self.uses += 1;
        kept.used = self.uses;
        self.bytes += kept.text.len();
        self.by_use.insert(self.uses, path.to_owned());
        self.kept.insert(path.to_owned(), kept);
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.bytes > self.most {
            let Some((_, path)) = self.by_use.pop_first() else { return };
            if let Some(kept) = self.kept.remove(&path) {
                self.bytes -= kept.text.len();
            }
        }
    }

    fn drop_text(&mut self, path: &str) {
        if let Some(kept) = self.kept.remove(path) {
            self.by_use.remove(&kept.used);
            self.bytes -= kept.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn workspace() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in [
            ("artifacts/plan.md", "plan"),
            ("artifacts/deep/a.md", "a"),
            ("agents/ada.md", "ada"),
            (".workshop/x", "hidden"),
            ("artifacts/.draft", "hidden"),
            ("artifacts/.0123.workshop-writing", "left over"),
            ("artifacts/NUL.md", "cannot be named"),
        ] {
            let full = folder.path().join(path);
            fs::create_dir_all(full.parent().expect("it should be in the folder")).expect("folders can be made");
            fs::write(full, text).expect("files can be written");
        }
        let root = Root::open(folder.path()).expect("it should exist");
        (folder, root)
    }

    fn paths(index: &Index, prefix: &str) -> Vec<String> {
        index.paths_under(prefix).map(str::to_owned).collect()
    }

    #[test]
    fn a_scan_finds_addressable_files_and_removes_leftovers() {
        let (folder, root) = workspace();
        let index = Index::walk(&root);
        assert_eq!(paths(&index, ""), ["agents/ada.md", "artifacts/deep/a.md", "artifacts/plan.md"]);
        assert_eq!(paths(&index, "artifacts/p"), ["artifacts/plan.md"]);
        assert_eq!((index.count(), index.total_bytes()), (3, 8));
        assert!(!folder.path().join("artifacts/.0123.workshop-writing").exists());
        assert!(folder.path().join("artifacts/.draft").exists());
    }

    #[test]
    fn listing_finds_added_and_deleted_files() {
        let (folder, root) = workspace();
        let mut index = Index::walk(&root);
        fs::create_dir_all(folder.path().join("notes/new")).expect("folders can be made");
        fs::write(folder.path().join("notes/new/b.md"), "b").expect("files can be written");
        fs::write(folder.path().join("artifacts/deep/c.md"), "c").expect("files can be written");
        fs::remove_file(folder.path().join("artifacts/deep/a.md")).expect("it should exist");
        let difference = index.refresh(&root, "artifacts/");
        assert_eq!(difference.went, ["artifacts/deep/a.md"]);
        assert_eq!(difference.came, ["notes/new/b.md", "artifacts/deep/c.md"]);
        fs::remove_dir_all(folder.path().join("notes")).expect("it should exist");
        assert_eq!(index.refresh(&root, "").went, ["notes/new/b.md"]);
        assert_eq!(paths(&index, ""), ["agents/ada.md", "artifacts/deep/c.md", "artifacts/plan.md"]);
    }

    #[test]
    fn a_cached_text_equals_the_one_on_disk() {
        let (folder, root) = workspace();
        let mut index = Index::walk(&root);
        index.limit_memory(1000);
        let path = WorkspacePath::new("artifacts/plan.md").expect("it is a path");
        let read = |index: &mut Index| index.read(&root, &path, 100).expect("it should exist").0.to_string();
        assert_eq!(read(&mut index), "plan");
        // The same length and modification time.
        fs::write(folder.path().join("artifacts/plan.md"), "PLAN").expect("files can be written");
        assert_eq!(read(&mut index), "PLAN");
        assert_eq!(read(&mut index), "PLAN");
    }

    #[test]
    fn the_text_cache_is_limited_and_evicts_the_least_recently_used() {
        let (_folder, root) = workspace();
        let mut index = Index::walk(&root);
        index.limit_memory(80);
        let found =
            root.metadata(&WorkspacePath::new("artifacts/plan.md").expect("it is a path")).expect("it should exist");
        for number in 0..20 {
            index.cache(&format!("{number}"), "ten bytes.".into(), found);
            index.texts.get("0");
        }
        assert_eq!(index.memory(), 80);
        assert!(index.texts.kept.contains_key("0") && !index.texts.kept.contains_key("5"));
        index.cache("large", "eleven byte".into(), found);
        assert!(!index.texts.kept.contains_key("large"));
    }
}
