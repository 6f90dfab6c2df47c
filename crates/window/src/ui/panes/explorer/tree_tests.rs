//! Tests of the tree's rows: examples and properties.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::workspace::vfs::{FileInfo, WorkspacePath};

/// Returns an existing file.
pub(in crate::ui::panes::explorer) fn file(path: &str, version: u64) -> FileInfo {
    let kind = WorkspacePath::new(path).map_or(crate::workspace::vfs::FileKind::Unknown, |path| path.kind());
    FileInfo { path: path.to_owned(), kind, size: 1_234, modified_ms: 1_000_000, version, is_there: true }
}

/// Returns a deleted file.
pub(in crate::ui::panes::explorer) fn deleted_file(path: &str, version: u64) -> FileInfo {
    FileInfo { is_there: false, size: 0, ..file(path, version) }
}

fn none() -> BTreeSet<String> {
    BTreeSet::new()
}

fn tree_of(files: Vec<FileInfo>, filter: &str, folded: &[&str], is_bin_open: bool) -> Tree {
    let folded = folded.iter().map(|folder| (*folder).to_owned()).collect();
    let mut tree = Tree::default();
    tree.update(&Arc::new(files), filter, &folded, is_bin_open);
    tree
}

/// Returns the rows as indented text.
fn shown(tree: &Tree) -> Vec<String> {
    let name = |row: &Row| match row.kind {
        RowKind::Folder(folder) => format!("{}/", file_name(tree.folder_path(folder))),
        RowKind::File(file) => file_name(&tree.file(file).path).to_owned(),
        RowKind::Bin => "[bin]".to_owned(),
        RowKind::Deleted(file) => format!("({})", tree.file(file).path),
    };
    tree.rows().iter().map(|row| format!("{}{}", "  ".repeat(row.depth), name(row))).collect()
}

fn sample() -> Vec<FileInfo> {
    vec![
        file("README.md", 1),
        file("agents-old/x.md", 1),
        file("agents/ada.md", 2),
        file("agents/team/bo.md", 1),
        file("artifacts/Alpha.md", 1),
        file("artifacts/beta.md", 4),
        deleted_file("artifacts/gone.md", 3),
        deleted_file("never.md", 0),
    ]
}

#[test]
fn folders_come_first_and_deleted_files_come_last() {
    let tree = tree_of(sample(), "", &[], true);
    let rows = [
        "agents/",
        "  team/",
        "    bo.md",
        "  ada.md",
        "agents-old/",
        "  x.md",
        "artifacts/",
        "  Alpha.md",
        "  beta.md",
        "README.md",
        "[bin]",
        "  (artifacts/gone.md)",
    ];
    assert_eq!(shown(&tree), rows, "files without versions cannot be restored and are not listed");
    assert_eq!(tree.count(), (6, 6));
}

#[test]
fn collapsed_folders_and_the_collapsed_bin_hide_their_contents() {
    let tree = tree_of(sample(), "", &["agents", "artifacts"], false);
    assert_eq!(shown(&tree), ["agents/", "agents-old/", "  x.md", "artifacts/", "README.md", "[bin]"]);
    assert_eq!(tree_of(vec![deleted_file("a.md", 0)], "", &[], true).rows(), []);
}

#[test]
fn a_search_expands_the_folders_of_its_matches() {
    let tree = tree_of(sample(), "BETA", &["artifacts"], false);
    assert_eq!(shown(&tree), ["artifacts/", "  beta.md"]);
    assert_eq!(tree.count(), (6, 1));
    let tree = tree_of(sample(), "gone", &[], false);
    assert_eq!(shown(&tree), ["[bin]", "  (artifacts/gone.md)"], "deleted files are found too");
    assert_eq!(tree.count(), (6, 0));
    let tree = tree_of(sample(), "md agents/", &[], false);
    assert_eq!(tree.count().1, 2, "words may occur anywhere in the path");
    assert!(!tree.filter().is_fuzzy());
    let tree = tree_of(sample(), "artbt", &[], false);
    assert_eq!(shown(&tree), ["artifacts/", "  beta.md"], "fuzzy matches if no path contains the word");
    assert!(tree.filter().is_fuzzy());
    let tree = tree_of(sample(), "zzz", &[], false);
    assert_eq!((shown(&tree), tree.filter().best()), (Vec::new(), None));
}

#[test]
fn the_best_match_prefers_an_exact_name() {
    let files =
        || vec![file("ada/x.md", 1), file("agents/ada-2.md", 1), file("agents/ada.md", 1), file("b/cada.md", 1)];
    for (typed, best) in [
        ("ada", "agents/ada.md"),
        ("ada.md", "agents/ada.md"),
        ("ada-", "agents/ada-2.md"),
        ("ada/", "ada/x.md"),
        ("cad", "b/cada.md"),
        ("agents ada", "agents/ada.md"),
        ("bcd", "b/cada.md"),
    ] {
        let tree = tree_of(files(), typed, &[], false);
        assert_eq!(tree.filter().best().map(|at| tree.file(at).path.as_str()), Some(best), "{typed}");
    }
}

#[test]
fn rows_are_rebuilt_only_after_changes() {
    let (files, mut tree) = (Arc::new(sample()), Tree::default());
    let folded: BTreeSet<String> = ["agents".to_owned()].into();
    assert!(tree.update(&files, "", &none(), false));
    for (filter, folds, is_bin_open, made) in [
        ("", &none(), false, 1),
        ("", &folded, false, 2),
        ("", &folded, false, 2),
        ("  ", &folded, false, 2),
        ("a", &folded, false, 3),
        ("a", &folded, true, 4),
        ("", &folded, true, 5),
    ] {
        assert!(!tree.update(&files, filter, folds, is_bin_open));
        assert_eq!(tree.revision(), made, "{filter:?}");
    }
    assert!(tree.update(&Arc::new(sample()), "", &folded, true), "other files");
}

#[test]
fn unusual_paths_and_unsorted_files_are_supported() {
    let deep = "a/".repeat(5_000) + "x";
    let long = "ü".repeat(2_000);
    let paths = ["z.md", "", "/", "a//b", "/x", "b/", deep.as_str(), long.as_str(), "a/é/ж.md", "a/b.md", "a/a/x.md"];
    let files: Vec<FileInfo> = paths.iter().map(|path| FileInfo { path: (*path).to_owned(), ..file("x", 1) }).collect();
    let tree = tree_of(files, "", &[], false);
    let count = tree.rows().iter().filter(|row| matches!(row.kind, RowKind::File(_))).count();
    assert_eq!(count, paths.len());
    for path in paths {
        assert_eq!(tree.existing(path).map(|file| file.path.as_str()), Some(path));
        assert!(tree.find(&RowTarget::File(path.to_owned())).is_some());
    }
    assert_eq!(tree_of(Vec::new(), "x", &[], true).rows(), []);
}

#[test]
fn ten_thousand_files_are_searched_in_time() {
    let files: Vec<FileInfo> =
        (0..10_000).map(|number| file(&format!("artifacts/part-{:03}/note-{number:05}.md", number / 100), 1)).collect();
    let (files, mut tree) = (Arc::new(files), Tree::default());
    let began = Instant::now();
    tree.update(&files, "", &none(), false);
    assert_eq!(tree.rows().len(), 10_000 + 100 + 1);
    for (typed, found) in [("n", 10_000), ("no", 10_000), ("note-0123", 10), ("note-01234", 1), ("note-01", 1_000)] {
        tree.update(&files, typed, &none(), false);
        assert_eq!(tree.count().1, found);
    }
    // A generous limit, even for a debug build on a slow machine: it catches quadratic work without flakiness.
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

fn paths() -> impl Strategy<Value = Vec<FileInfo>> {
    let part = prop::sample::select(vec!["a", "b", "a-b", "A", "plan", "plan.md", "ü", "10"]);
    let path = prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"));
    prop::collection::btree_map(path, (any::<bool>(), 0..3_u64), 0..40).prop_map(|files| {
        let made = |(path, (is_there, version)): (String, (bool, u64))| {
            if is_there { file(&path, version) } else { deleted_file(&path, version) }
        };
        files.into_iter().map(made).collect()
    })
}

fn counted(tree: &Tree, wanted: impl Fn(RowKind) -> Option<usize>) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for file in tree.rows().iter().filter_map(|row| wanted(row.kind)) {
        *counts.entry(tree.file(file).path.as_str()).or_default() += 1;
    }
    counts
}

fn existing(what: RowKind) -> Option<usize> {
    if let RowKind::File(file) = what { Some(file) } else { None }
}

fn deleted(what: RowKind) -> Option<usize> {
    if let RowKind::Deleted(file) = what { Some(file) } else { None }
}

proptest! {
    #[test]
    fn every_file_appears_exactly_once_when_all_is_expanded(files in paths()) {
        let tree = tree_of(files.clone(), "", &[], true);
        let wanted = |is_there: bool| -> BTreeMap<&str, usize> {
            let these = files.iter().filter(|file| file.is_there == is_there && (is_there || file.version > 0));
            these.map(|file| (file.path.as_str(), 1)).collect()
        };
        prop_assert_eq!(counted(&tree, existing), wanted(true));
        prop_assert_eq!(counted(&tree, deleted), wanted(false));
        let folders: Vec<&str> = tree.folder_paths().collect();
        prop_assert_eq!(folders.iter().collect::<BTreeSet<_>>().len(), folders.len(), "every folder is listed once");
        for row in tree.rows() {
            prop_assert_eq!(tree.find(&tree.target_of(*row)).map(|index| tree.rows()[index]), Some(*row));
        }
    }

    #[test]
    fn collapsing_a_folder_hides_exactly_the_files_below_it(files in paths(), which in any::<prop::sample::Index>()) {
        let open = tree_of(files.clone(), "", &[], false);
        let folders: Vec<String> = open.folder_paths().map(str::to_owned).collect();
        if !folders.is_empty() {
            let folder = which.get(&folders);
            let folded = tree_of(files, "", &[folder], false);
            let left: Vec<&str> = counted(&open, existing).into_keys().filter(|path| !is_below(path, folder)).collect();
            prop_assert_eq!(counted(&folded, existing).into_keys().collect::<Vec<_>>(), left);
            let at = folded.find(&RowTarget::Folder(folder.clone()));
            prop_assert!(at.is_some(), "the folder itself is still listed");
        }
    }

    #[test]
    fn a_filter_finds_all_paths_with_the_words(files in paths(), words in prop::collection::vec("[abpln./]{1,3}", 1..3)) {
        let typed = words.join(" ");
        let tree = tree_of(files.clone(), &typed, &["a", "b"], false);
        let holds = |file: &&FileInfo| {
            let path = file.path.to_lowercase();
            words.iter().all(|word| path.contains(word.as_str()))
        };
        let is_known = |file: &&FileInfo| file.is_there || file.version > 0;
        let wanted: BTreeSet<&str> =
            files.iter().filter(holds).filter(is_known).map(|file| file.path.as_str()).collect();
        let found: BTreeSet<&str> = counted(&tree, existing).into_keys().chain(counted(&tree, deleted).into_keys()).collect();
        if files.iter().any(|file| holds(&file)) {
            prop_assert_eq!(found, wanted);
        } else {
            let letters: Vec<char> = words.concat().chars().collect();
            for path in found {
                let lower = path.to_lowercase();
                let mut rest = lower.chars();
                prop_assert!(letters.iter().all(|letter| rest.any(|other| other == *letter)), "{}", path);
            }
        }
    }

    #[test]
    fn incremental_typing_finds_the_same_as_the_whole_text(files in paths(), typed in "[abpln./ ]{1,6}") {
        let files = Arc::new(files);
        let mut slowly = Tree::default();
        for (at, letter) in typed.char_indices() {
            slowly.update(&files, &typed[..at + letter.len_utf8()], &BTreeSet::new(), false);
        }
        let mut at_once = Tree::default();
        at_once.update(&files, &typed, &BTreeSet::new(), false);
        prop_assert_eq!(slowly.rows(), at_once.rows());
        prop_assert_eq!(slowly.filter().best(), at_once.filter().best());
    }
}
