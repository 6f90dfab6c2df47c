//! Tests of the tree's rows, by examples and by invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::workspace::vfs::{FileInfo, WorkspacePath};

/// A file that exists.
pub(in crate::ui::panes::explorer) fn file(path: &str, version: u64) -> FileInfo {
    let kind = WorkspacePath::new(path).map_or(crate::workspace::vfs::FileKind::Unknown, |path| path.kind());
    FileInfo { path: path.to_owned(), kind, size: 1_234, modified_ms: 1_000_000, version, is_there: true }
}

/// A file that was deleted.
pub(in crate::ui::panes::explorer) fn gone(path: &str, version: u64) -> FileInfo {
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

/// The rows as they would be read aloud.
fn shown(tree: &Tree) -> Vec<String> {
    let name = |row: &Row| match row.what {
        RowWhat::Folder(folder) => format!("{}/", name_of(tree.folder_path(folder))),
        RowWhat::File(file) => name_of(&tree.file(file).path).to_owned(),
        RowWhat::Bin => "[bin]".to_owned(),
        RowWhat::Gone(file) => format!("({})", tree.file(file).path),
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
        gone("artifacts/gone.md", 3),
        gone("never.md", 0),
    ]
}

#[test]
fn folders_come_first_and_what_is_gone_comes_last() {
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
    assert_eq!(shown(&tree), rows, "what has no version cannot be had back and is not offered");
    assert_eq!(tree.count(), (6, 6));
}

#[test]
fn a_folded_folder_and_the_bin_hide_what_they_hold() {
    let tree = tree_of(sample(), "", &["agents", "artifacts"], false);
    assert_eq!(shown(&tree), ["agents/", "agents-old/", "  x.md", "artifacts/", "README.md", "[bin]"]);
    assert_eq!(tree_of(vec![gone("a.md", 0)], "", &[], true).rows(), []);
}

#[test]
fn looking_for_a_file_unfolds_the_folders_that_lead_to_it() {
    let tree = tree_of(sample(), "BETA", &["artifacts"], false);
    assert_eq!(shown(&tree), ["artifacts/", "  beta.md"]);
    assert_eq!(tree.count(), (6, 1));
    let tree = tree_of(sample(), "gone", &[], false);
    assert_eq!(shown(&tree), ["[bin]", "  (artifacts/gone.md)"], "what is gone is found as well");
    assert_eq!(tree.count(), (6, 0));
    let tree = tree_of(sample(), "md agents/", &[], false);
    assert_eq!(tree.count().1, 2, "words may stand anywhere in the path");
    assert!(!tree.filter().is_by_letters());
    let tree = tree_of(sample(), "artbt", &[], false);
    assert_eq!(shown(&tree), ["artifacts/", "  beta.md"], "letters in this order, where no path holds the word");
    assert!(tree.filter().is_by_letters());
    let tree = tree_of(sample(), "zzz", &[], false);
    assert_eq!((shown(&tree), tree.filter().best()), (Vec::new(), None));
}

#[test]
fn the_best_is_what_is_called_so() {
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
fn rows_are_made_again_only_when_something_changed() {
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
        assert_eq!(tree.times_made(), made, "{filter:?}");
    }
    assert!(tree.update(&Arc::new(sample()), "", &folded, true), "other files");
}

#[test]
fn strange_paths_and_no_order_do_no_harm() {
    let deep = "a/".repeat(5_000) + "x";
    let long = "ü".repeat(2_000);
    let paths = ["z.md", "", "/", "a//b", "/x", "b/", deep.as_str(), long.as_str(), "a/é/ж.md", "a/b.md", "a/a/x.md"];
    let files: Vec<FileInfo> = paths.iter().map(|path| FileInfo { path: (*path).to_owned(), ..file("x", 1) }).collect();
    let tree = tree_of(files, "", &[], false);
    let count = tree.rows().iter().filter(|row| matches!(row.what, RowWhat::File(_))).count();
    assert_eq!(count, paths.len());
    for path in paths {
        assert_eq!(tree.there(path).map(|file| file.path.as_str()), Some(path));
        assert!(tree.find(&RowTarget::File(path.to_owned())).is_some());
    }
    assert_eq!(tree_of(Vec::new(), "x", &[], true).rows(), []);
}

#[test]
fn ten_thousand_files_are_looked_through_at_once() {
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
    // Far above the time that it takes unoptimized on a slow machine: it is to fail for quadratic work, and not by
    // chance.
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

fn paths() -> impl Strategy<Value = Vec<FileInfo>> {
    let part = prop::sample::select(vec!["a", "b", "a-b", "A", "plan", "plan.md", "ü", "10"]);
    let path = prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"));
    prop::collection::btree_map(path, (any::<bool>(), 0..3_u64), 0..40).prop_map(|files| {
        let made = |(path, (is_there, version)): (String, (bool, u64))| {
            if is_there { file(&path, version) } else { gone(&path, version) }
        };
        files.into_iter().map(made).collect()
    })
}

fn counted(tree: &Tree, wanted: impl Fn(RowWhat) -> Option<usize>) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for file in tree.rows().iter().filter_map(|row| wanted(row.what)) {
        *counts.entry(tree.file(file).path.as_str()).or_default() += 1;
    }
    counts
}

fn there(what: RowWhat) -> Option<usize> {
    if let RowWhat::File(file) = what { Some(file) } else { None }
}

fn lost(what: RowWhat) -> Option<usize> {
    if let RowWhat::Gone(file) = what { Some(file) } else { None }
}

proptest! {
    #[test]
    fn everything_appears_exactly_once_when_everything_is_unfolded(files in paths()) {
        let tree = tree_of(files.clone(), "", &[], true);
        let wanted = |is_there: bool| -> BTreeMap<&str, usize> {
            let these = files.iter().filter(|file| file.is_there == is_there && (is_there || file.version > 0));
            these.map(|file| (file.path.as_str(), 1)).collect()
        };
        prop_assert_eq!(counted(&tree, there), wanted(true));
        prop_assert_eq!(counted(&tree, lost), wanted(false));
        let folders: Vec<&str> = tree.folder_paths().collect();
        prop_assert_eq!(folders.iter().collect::<BTreeSet<_>>().len(), folders.len(), "a folder stands there once");
        for row in tree.rows() {
            prop_assert_eq!(tree.find(&tree.spot(*row)).map(|index| tree.rows()[index]), Some(*row));
        }
    }

    #[test]
    fn folding_hides_exactly_what_is_below(files in paths(), which in any::<prop::sample::Index>()) {
        let open = tree_of(files.clone(), "", &[], false);
        let folders: Vec<String> = open.folder_paths().map(str::to_owned).collect();
        if !folders.is_empty() {
            let folder = which.get(&folders);
            let folded = tree_of(files, "", &[folder], false);
            let left: Vec<&str> = counted(&open, there).into_keys().filter(|path| !lies_in(path, folder)).collect();
            prop_assert_eq!(counted(&folded, there).into_keys().collect::<Vec<_>>(), left);
            let at = folded.find(&RowTarget::Folder(folder.clone()));
            prop_assert!(at.is_some(), "the folder itself stays");
        }
    }

    #[test]
    fn a_filter_finds_what_holds_the_words(files in paths(), words in prop::collection::vec("[abpln./]{1,3}", 1..3)) {
        let typed = words.join(" ");
        let tree = tree_of(files.clone(), &typed, &["a", "b"], false);
        let holds = |file: &&FileInfo| {
            let path = file.path.to_lowercase();
            words.iter().all(|word| path.contains(word.as_str()))
        };
        let is_known = |file: &&FileInfo| file.is_there || file.version > 0;
        let wanted: BTreeSet<&str> =
            files.iter().filter(holds).filter(is_known).map(|file| file.path.as_str()).collect();
        let found: BTreeSet<&str> = counted(&tree, there).into_keys().chain(counted(&tree, lost).into_keys()).collect();
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
    fn typing_on_finds_the_same_as_typing_at_once(files in paths(), typed in "[abpln./ ]{1,6}") {
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
