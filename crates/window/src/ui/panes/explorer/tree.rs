//! The files of the workspace as rows of a tree: plain data, rebuilt only when the files, the filter or the folded
//! folders change.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::filter::Filter;
use crate::workspace::vfs::FileInfo;

/// What a row shows; files and folders by their places in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowWhat {
    /// A folder.
    Folder(usize),
    /// A file that is there.
    File(usize),
    /// The heading over what is gone.
    Bin,
    /// A deleted file that can be restored.
    Gone(usize),
}

/// A row of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// How many folders it lies in.
    pub depth: usize,
    /// What it shows.
    pub what: RowWhat,
}

/// What a row stands for, whatever the tree looks like by then.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RowTarget {
    /// A folder, by path.
    Folder(String),
    /// A file that is there, by path.
    File(String),
    /// The heading over what is gone.
    Bin,
    /// A file that is gone, by path.
    Gone(String),
}

/// A folder, known by the files in it.
#[derive(Clone, Debug, Default)]
struct Folder {
    /// A file somewhere in it; the first bytes of that file's path are the folder's.
    witness: usize,
    bytes: usize,
    parent: usize,
    depth: usize,
    folders: Vec<usize>,
    files: Vec<usize>,
    /// Files in it and in the folders in it.
    total: usize,
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: Arc<Vec<FileInfo>>,
    is_sorted: bool,
    /// The workspace itself is the first; a folder comes after its parent.
    folders: Vec<Folder>,
    /// In which folder each file lies.
    folder_of: Vec<usize>,
    gone: Vec<usize>,
    filter: Filter,
    folded: BTreeSet<String>,
    is_bin_open: bool,
    rows: Vec<Row>,
    times_made: u64,
}

impl Tree {
    /// Brings the rows up to date. Whether the files are others than before.
    pub fn update(
        &mut self,
        files: &Arc<Vec<FileInfo>>,
        filter: &str,
        folded: &BTreeSet<String>,
        is_bin_open: bool,
    ) -> bool {
        let has_other_files = self.times_made == 0 || !Arc::ptr_eq(files, &self.files);
        if has_other_files {
            self.plant(files);
        }
        let has_other_hits = self.filter.look(&self.files, filter, has_other_files);
        if has_other_files || has_other_hits || *folded != self.folded || is_bin_open != self.is_bin_open {
            self.folded.clone_from(folded);
            self.is_bin_open = is_bin_open;
            self.make_rows();
        }
        has_other_files
    }

    /// The rows, from top to bottom.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How often rows were made.
    pub fn times_made(&self) -> u64 {
        self.times_made
    }

    /// The file of a row.
    pub fn file(&self, index: usize) -> &FileInfo {
        &self.files[index]
    }

    /// All files, those that are gone as well.
    pub fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// The file at a path, there or gone.
    pub fn info(&self, path: &str) -> Option<&FileInfo> {
        if self.is_sorted {
            let found = self.files.binary_search_by(|file| file.path.as_str().cmp(path));
            return found.ok().map(|index| &self.files[index]);
        }
        self.files.iter().find(|file| file.path == path)
    }

    /// The file at a path, if it is there.
    pub fn there(&self, path: &str) -> Option<&FileInfo> {
        self.info(path).filter(|file| file.is_there)
    }

    /// A folder's path.
    pub fn folder_path(&self, folder: usize) -> &str {
        let folder = &self.folders[folder];
        if folder.bytes == 0 { "" } else { &self.files[folder.witness].path[..folder.bytes] }
    }

    /// How many files lie in a folder and in the folders in it.
    pub fn total_in(&self, folder: usize) -> usize {
        self.folders[folder].total
    }

    /// Whether what a folder holds is shown.
    pub fn is_open(&self, folder: usize) -> bool {
        self.filter.is_on() || !self.folded.contains(self.folder_path(folder))
    }

    /// Whether what is gone is shown.
    pub fn is_bin_open(&self) -> bool {
        self.filter.is_on() || self.is_bin_open
    }

    /// Files that are there, and how many of them are shown by the filter.
    pub fn count(&self) -> (usize, usize) {
        let all = self.folders.first().map_or(0, |root| root.total);
        let shown = self.filter.hits().map_or(all, |hits| hits.iter().filter(|hit| self.files[**hit].is_there).count());
        (all, shown)
    }

    /// Files that are gone.
    pub fn gone_count(&self) -> usize {
        self.gone.len()
    }

    /// What is looked for.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Every folder, by path.
    pub fn folder_paths(&self) -> impl Iterator<Item = &str> {
        (1..self.folders.len()).map(|folder| self.folder_path(folder))
    }

    /// Paths of the files below a folder.
    pub fn below(&self, folder: &str) -> Vec<String> {
        let lies_below = |file: &&FileInfo| file.is_there && lies_in(&file.path, folder);
        self.files.iter().filter(lies_below).map(|file| file.path.clone()).collect()
    }

    /// What a row stands for.
    pub fn spot(&self, row: Row) -> RowTarget {
        match row.what {
            RowWhat::Folder(folder) => RowTarget::Folder(self.folder_path(folder).to_owned()),
            RowWhat::File(file) => RowTarget::File(self.files[file].path.clone()),
            RowWhat::Bin => RowTarget::Bin,
            RowWhat::Gone(file) => RowTarget::Gone(self.files[file].path.clone()),
        }
    }

    /// Whether a row stands for this.
    pub fn is_at(&self, row: Row, spot: &RowTarget) -> bool {
        match (row.what, spot) {
            (RowWhat::Folder(folder), RowTarget::Folder(path)) => self.folder_path(folder) == path,
            (RowWhat::File(file), RowTarget::File(path)) | (RowWhat::Gone(file), RowTarget::Gone(path)) => {
                self.files[file].path == *path
            }
            (RowWhat::Bin, RowTarget::Bin) => true,
            _ => false,
        }
    }

    /// The row of something. Looks through all rows: for a key, not for every frame.
    pub fn find(&self, spot: &RowTarget) -> Option<usize> {
        self.rows.iter().position(|row| self.is_at(*row, spot))
    }

    /// Learns which folders there are.
    fn plant(&mut self, files: &Arc<Vec<FileInfo>>) {
        self.files = files.clone();
        self.is_sorted = files.is_sorted_by(|one, other| one.path <= other.path);
        let mut order: Vec<usize> = (0..files.len()).collect();
        if !self.is_sorted {
            order.sort_by(|one, other| files[*one].path.cmp(&files[*other].path));
        }
        self.gone = order.iter().copied().filter(|file| !files[*file].is_there && files[*file].version > 0).collect();
        self.folders = vec![Folder::default()];
        self.folder_of = vec![0; files.len()];
        // Sorted by path, all files of a folder are together: only the folders around the last one can continue.
        let mut open = vec![0];
        for file in order.into_iter().filter(|file| files[*file].is_there) {
            let path = &files[file].path;
            let goes_on = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            while open.len() > 1 && !goes_on(self.folder_path(open[open.len() - 1])) {
                open.pop();
            }
            let parent = self.dig(file, &mut open);
            self.folders[parent].files.push(file);
            self.folder_of[file] = parent;
        }
        self.sort_and_count();
    }

    /// Makes the folders that lead to a file; the innermost.
    fn dig(&mut self, file: usize, open: &mut Vec<usize>) -> usize {
        let files = self.files.clone();
        let path = &files[file].path;
        let mut parent = open[open.len() - 1];
        let mut from = if parent == 0 { 0 } else { self.folders[parent].bytes + 1 };
        while let Some(length) = path[from..].find('/') {
            let bytes = from + length;
            let folder = Folder { witness: file, bytes, parent, depth: open.len() - 1, ..Folder::default() };
            self.folders.push(folder);
            let new = self.folders.len() - 1;
            self.folders[parent].folders.push(new);
            open.push(new);
            parent = new;
            from = bytes + 1;
        }
        parent
    }

    fn sort_and_count(&mut self) {
        for folder in (0..self.folders.len()).rev() {
            let mut inner = std::mem::take(&mut self.folders[folder].folders);
            inner.sort_by_cached_key(|inner| name_of(self.folder_path(*inner)).to_lowercase());
            let mut files = std::mem::take(&mut self.folders[folder].files);
            files.sort_by_cached_key(|file| name_of(&self.files[*file].path).to_lowercase());
            let below: usize = inner.iter().map(|inner| self.folders[*inner].total).sum();
            let own = &mut self.folders[folder];
            own.total = below + files.len();
            (own.folders, own.files) = (inner, files);
        }
    }

    fn make_rows(&mut self) {
        self.times_made += 1;
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let hits = self.filter.hits().map(|hits| self.hit_marks(hits));
        let is_hit = |file: usize| hits.as_ref().is_none_or(|(files, _)| files[file]);
        let has_hit = |folder: usize| hits.as_ref().is_none_or(|(_, folders)| folders[folder]);
        // A folder's own files come after its subfolders.
        enum Due {
            Folder(usize),
            Files(usize),
        }
        let mut due = vec![Due::Folder(0)];
        while let Some(next) = due.pop() {
            match next {
                Due::Folder(folder) if !has_hit(folder) => {}
                Due::Folder(folder) => {
                    let depth = self.folders[folder].depth;
                    if folder != 0 {
                        rows.push(Row { depth, what: RowWhat::Folder(folder) });
                    }
                    if folder == 0 || self.is_open(folder) {
                        due.push(Due::Files(folder));
                        due.extend(self.folders[folder].folders.iter().rev().map(|inner| Due::Folder(*inner)));
                    }
                }
                Due::Files(folder) => {
                    let own = &self.folders[folder];
                    let depth = if folder == 0 { 0 } else { own.depth + 1 };
                    let shown = own.files.iter().filter(|file| is_hit(**file));
                    rows.extend(shown.map(|file| Row { depth, what: RowWhat::File(*file) }));
                }
            }
        }
        let mut gone = self.gone.iter().filter(|file| is_hit(**file)).peekable();
        if gone.peek().is_some() {
            rows.push(Row { depth: 0, what: RowWhat::Bin });
            if self.is_bin_open() {
                rows.extend(gone.map(|file| Row { depth: 1, what: RowWhat::Gone(*file) }));
            }
        }
        self.rows = rows;
    }

    /// Which files are hits, and which folders lead to one.
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

/// The last part of a path.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder that a path lies in; empty for the workspace itself.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders that a path lies in, the outermost first.
pub fn folders_around(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(move |(at, _)| &path[..at])
}

/// Whether a path lies somewhere in a folder.
pub fn lies_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
pub(super) mod tests;
