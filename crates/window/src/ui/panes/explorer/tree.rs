//! The files of the workspace as rows of a tree: plain data, rebuilt only when the files, the filter or the folded
//! folders change.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::filter::Filter;
use crate::base::paths::file_name;
use crate::workspace::vfs::FileInfo;

/// The kind of a row, with the index of its file or folder in the [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// A folder.
    Folder(usize),
    /// An existing file.
    File(usize),
    /// The bin, which contains the deleted files.
    Bin,
    /// A deleted file that can be restored.
    Deleted(usize),
}

/// A row of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The number of folders around it.
    pub depth: usize,
    /// The content of the row.
    pub kind: RowKind,
}

/// The identity of a row, which stays valid when the tree is rebuilt.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RowTarget {
    /// A folder, by path.
    Folder(String),
    /// An existing file, by path.
    File(String),
    /// The bin, which contains the deleted files.
    Bin,
    /// A deleted file, by path.
    Deleted(String),
}

/// A folder, derived from the paths of the files in it.
#[derive(Clone, Debug, Default)]
struct Folder {
    /// Index of any file below the folder; the folder's path is that file's path cut to `path_len`.
    sample_file: usize,
    path_len: usize,
    parent: usize,
    depth: usize,
    folders: Vec<usize>,
    files: Vec<usize>,
    /// The number of files below the folder, at any depth.
    total: usize,
}

/// The workspace tree and the rows that it shows.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: Arc<Vec<FileInfo>>,
    is_sorted: bool,
    /// All folders; the root comes first and every folder comes after its parent.
    folders: Vec<Folder>,
    /// The folder of each file, as an index into `folders`.
    folder_of: Vec<usize>,
    deleted: Vec<usize>,
    filter: Filter,
    folded: BTreeSet<String>,
    is_bin_open: bool,
    rows: Vec<Row>,
    revision: u64,
}

impl Tree {
    /// Updates the rows. Returns whether the list of files was replaced.
    pub fn update(
        &mut self,
        files: &Arc<Vec<FileInfo>>,
        filter: &str,
        folded: &BTreeSet<String>,
        is_bin_open: bool,
    ) -> bool {
        let files_changed = self.revision == 0 || !Arc::ptr_eq(files, &self.files);
        if files_changed {
            self.rebuild_folders(files);
        }
        let hits_changed = self.filter.update(&self.files, filter, files_changed);
        if files_changed || hits_changed || *folded != self.folded || is_bin_open != self.is_bin_open {
            self.folded.clone_from(folded);
            self.is_bin_open = is_bin_open;
            self.rebuild_rows();
        }
        files_changed
    }

    /// The visible rows from top to bottom.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The number of times that the rows have been rebuilt.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the file with this index.
    pub fn file(&self, index: usize) -> &FileInfo {
        &self.files[index]
    }

    /// All files, including deleted ones.
    pub fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// Returns the existing or deleted file at `path`.
    pub fn info(&self, path: &str) -> Option<&FileInfo> {
        if self.is_sorted {
            let found = self.files.binary_search_by(|file| file.path.as_str().cmp(path));
            return found.ok().map(|index| &self.files[index]);
        }
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns the file at `path` if it exists.
    pub fn existing(&self, path: &str) -> Option<&FileInfo> {
        self.info(path).filter(|file| file.is_there)
    }

    /// Returns the path of a folder; empty for the root.
    pub fn folder_path(&self, folder: usize) -> &str {
        let folder = &self.folders[folder];
        if folder.path_len == 0 { "" } else { &self.files[folder.sample_file].path[..folder.path_len] }
    }

    /// Returns the number of files below a folder, at any depth.
    pub fn total_in(&self, folder: usize) -> usize {
        self.folders[folder].total
    }

    /// Whether a folder is expanded. A search expands all folders.
    pub fn is_open(&self, folder: usize) -> bool {
        self.filter.is_active() || !self.folded.contains(self.folder_path(folder))
    }

    /// Whether the bin is expanded.
    pub fn is_bin_open(&self) -> bool {
        self.filter.is_active() || self.is_bin_open
    }

    /// Returns the number of existing files, and how many of them match the filter.
    pub fn count(&self) -> (usize, usize) {
        let all = self.folders.first().map_or(0, |root| root.total);
        let shown = self.filter.hits().map_or(all, |hits| hits.iter().filter(|hit| self.files[**hit].is_there).count());
        (all, shown)
    }

    /// The number of deleted files that can be restored.
    pub fn deleted_count(&self) -> usize {
        self.deleted.len()
    }

    /// The search filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The paths of all folders except the root.
    pub fn folder_paths(&self) -> impl Iterator<Item = &str> {
        (1..self.folders.len()).map(|folder| self.folder_path(folder))
    }

    /// Returns the paths of the existing files below a folder, at any depth.
    pub fn files_below(&self, folder: &str) -> Vec<String> {
        let lies_below = |file: &&FileInfo| file.is_there && is_below(&file.path, folder);
        self.files.iter().filter(lies_below).map(|file| file.path.clone()).collect()
    }

    /// Returns the identity of a row.
    pub fn target_of(&self, row: Row) -> RowTarget {
        match row.kind {
            RowKind::Folder(folder) => RowTarget::Folder(self.folder_path(folder).to_owned()),
            RowKind::File(file) => RowTarget::File(self.files[file].path.clone()),
            RowKind::Bin => RowTarget::Bin,
            RowKind::Deleted(file) => RowTarget::Deleted(self.files[file].path.clone()),
        }
    }

    /// Whether a row shows `target`.
    pub fn is_at(&self, row: Row, target: &RowTarget) -> bool {
        match (row.kind, target) {
            (RowKind::Folder(folder), RowTarget::Folder(path)) => self.folder_path(folder) == path,
            (RowKind::File(file), RowTarget::File(path)) | (RowKind::Deleted(file), RowTarget::Deleted(path)) => {
                self.files[file].path == *path
            }
            (RowKind::Bin, RowTarget::Bin) => true,
            _ => false,
        }
    }

    /// Returns the index of the row that shows `target`. Scans all rows: not for use in every frame.
    pub fn find(&self, target: &RowTarget) -> Option<usize> {
        self.rows.iter().position(|row| self.is_at(*row, target))
    }

    /// Rebuilds the folders from the list of files.
    fn rebuild_folders(&mut self, files: &Arc<Vec<FileInfo>>) {
        self.files = files.clone();
        self.is_sorted = files.is_sorted_by(|one, other| one.path <= other.path);
        let mut order: Vec<usize> = (0..files.len()).collect();
        if !self.is_sorted {
            order.sort_by(|one, other| files[*one].path.cmp(&files[*other].path));
        }
        self.deleted =
            order.iter().copied().filter(|file| !files[*file].is_there && files[*file].version > 0).collect();
        self.folders = vec![Folder::default()];
        self.folder_of = vec![0; files.len()];
        // In path order the files of a folder are adjacent, so only the current folder and its ancestors can continue.
        let mut open = vec![0];
        for file in order.into_iter().filter(|file| files[*file].is_there) {
            let path = &files[file].path;
            let contains_path = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            while open.len() > 1 && !contains_path(self.folder_path(open[open.len() - 1])) {
                open.pop();
            }
            let parent = self.push_folders_of(file, &mut open);
            self.folders[parent].files.push(file);
            self.folder_of[file] = parent;
        }
        self.sort_and_count();
    }

    /// Adds the missing folders of a file's path and returns the innermost.
    fn push_folders_of(&mut self, file: usize, open: &mut Vec<usize>) -> usize {
        let files = self.files.clone();
        let path = &files[file].path;
        let mut parent = open[open.len() - 1];
        let mut from = if parent == 0 { 0 } else { self.folders[parent].path_len + 1 };
        while let Some(length) = path[from..].find('/') {
            let path_len = from + length;
            let folder = Folder { sample_file: file, path_len, parent, depth: open.len() - 1, ..Folder::default() };
            self.folders.push(folder);
            let new = self.folders.len() - 1;
            self.folders[parent].folders.push(new);
            open.push(new);
            parent = new;
            from = path_len + 1;
        }
        parent
    }

    fn sort_and_count(&mut self) {
        for folder in (0..self.folders.len()).rev() {
            let mut inner = std::mem::take(&mut self.folders[folder].folders);
            inner.sort_by_cached_key(|inner| file_name(self.folder_path(*inner)).to_lowercase());
            let mut files = std::mem::take(&mut self.folders[folder].files);
            files.sort_by_cached_key(|file| file_name(&self.files[*file].path).to_lowercase());
            let below: usize = inner.iter().map(|inner| self.folders[*inner].total).sum();
            let own = &mut self.folders[folder];
            own.total = below + files.len();
            (own.folders, own.files) = (inner, files);
        }
    }

    fn rebuild_rows(&mut self) {
        self.revision += 1;
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let hits = self.filter.hits().map(|hits| self.hit_marks(hits));
        let is_hit = |file: usize| hits.as_ref().is_none_or(|(files, _)| files[file]);
        let has_hit = |folder: usize| hits.as_ref().is_none_or(|(_, folders)| folders[folder]);
        // A folder's own files come after its subfolders.
        enum Pending {
            Folder(usize),
            Files(usize),
        }
        let mut pending = vec![Pending::Folder(0)];
        while let Some(next) = pending.pop() {
            match next {
                Pending::Folder(folder) if !has_hit(folder) => {}
                Pending::Folder(folder) => {
                    let depth = self.folders[folder].depth;
                    if folder != 0 {
                        rows.push(Row { depth, kind: RowKind::Folder(folder) });
                    }
                    if folder == 0 || self.is_open(folder) {
                        pending.push(Pending::Files(folder));
                        pending.extend(self.folders[folder].folders.iter().rev().map(|inner| Pending::Folder(*inner)));
                    }
                }
                Pending::Files(folder) => {
                    let own = &self.folders[folder];
                    let depth = if folder == 0 { 0 } else { own.depth + 1 };
                    let shown = own.files.iter().filter(|file| is_hit(**file));
                    rows.extend(shown.map(|file| Row { depth, kind: RowKind::File(*file) }));
                }
            }
        }
        let mut deleted = self.deleted.iter().filter(|file| is_hit(**file)).peekable();
        if deleted.peek().is_some() {
            rows.push(Row { depth: 0, kind: RowKind::Bin });
            if self.is_bin_open() {
                rows.extend(deleted.map(|file| Row { depth: 1, kind: RowKind::Deleted(*file) }));
            }
        }
        self.rows = rows;
    }

    /// Returns which files match, and which folders contain a match.
    fn hit_marks(&self, hits: &[usize]) -> (Vec<bool>, Vec<bool>) {
        let (mut files, mut folders) = (vec![false; self.files.len()], vec![false; self.folders.len()]);
        folders[0] = true;
        for hit in hits {
            files[*hit] = true;
            let mut folder = if self.files[*hit].is_there { self.folder_of[*hit] } else { 0 };
            while !folders[folder] {
                folders[folder] = true;
                folder = self.folders[folder].parent;
            }
        }
        (files, folders)
    }
}

/// Iterates over the ancestor folders of a path, outermost first.
pub fn ancestor_folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(move |(at, _)| &path[..at])
}

/// Whether a path is below a folder, at any depth.
pub fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
pub(super) mod tests;
