//! Files on disk that try to lead out of the workspace.

use std::fs;

use proptest::prelude::*;

use super::super::path::tests::{HOSTILE, any_path};
use super::*;
use crate::base::hash::content_hash;

const SECRET: &str = "what nobody in the workspace may read";

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).expect("it is a path of the workspace")
}

/// Creates a folder with a workspace in `in` and a secret beside it.
fn trap() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (inside, out) = (folder.path().join("in"), folder.path().join("out"));
    for made in [inside.join("artifacts/deep"), out.join("deep")] {
        fs::create_dir_all(made).expect("folders can be made");
    }
    for (place, text) in [
        (out.join("secret.md"), SECRET),
        (out.join("deep/secret.md"), SECRET),
        (inside.join("artifacts/a.md"), "inside"),
        (inside.join("artifacts/deep/b.md"), "inside"),
    ] {
        fs::write(place, text).expect("files can be written");
    }
    let root = Root::open(&inside).expect("the workspace is there");
    (folder, root)
}

#[cfg(unix)]
fn with_links(folder: &tempfile::TempDir) {
    use std::os::unix::fs::symlink;
    let (inside, out) = (folder.path().join("in"), folder.path().join("out"));
    for (target, link) in [
        (out.clone(), "link"),
        (out.join("secret.md"), "secret.md"),
        (out.join("deep"), "artifacts/deep/up"),
        (out.join("nothing.md"), "artifacts/new.md"),
        (inside.join("artifacts"), "same"),
        (inside.join("artifacts/a.md"), "artifacts/same.md"),
        (std::path::PathBuf::from("../.."), "artifacts/parent"),
        (std::path::PathBuf::from("loop"), "loop"),
    ] {
        symlink(target, inside.join(link)).expect("links can be made");
    }
    fs::hard_link(out.join("secret.md"), inside.join("hard.md")).expect("links can be made");
}

#[cfg(unix)]
#[test]
fn links_are_followed_neither_to_read_nor_to_write() {
    let (folder, root) = trap();
    with_links(&folder);
    for given in [
        "link/secret.md",
        "link/deep/secret.md",
        "secret.md",
        "artifacts/deep/up/secret.md",
        "artifacts/new.md",
        "same/a.md",
        "artifacts/same.md",
        "artifacts/parent/out/secret.md",
        "loop",
        "loop/a.md",
    ] {
        let path = path(given);
        assert!(matches!(root.read(&path, 1000), Err(PathError::Link)), "{given}");
        assert!(matches!(root.metadata(&path), Err(PathError::Link)), "{given}");
        assert!(matches!(root.write_temporary(&path, ".x", "evil"), Err(PathError::Link)), "{given}");
        assert!(root.read(&path, 1000).expect_err("it is a link").is_refusal());
    }
    assert!(matches!(root.read(&path("hard.md"), 1000), Err(PathError::OtherName)));
    assert!(matches!(root.write_temporary(&path("hard.md"), ".x", "evil"), Err(PathError::OtherName)));
    assert!(matches!(root.rename(&path("artifacts/a.md"), &path("link/a.md")), Err(PathError::Link)));
    assert!(matches!(root.take_away(&path("link/secret.md"), ".x", 0), Err(PathError::Link)));
    assert!(!folder.path().join("out/nothing.md").exists());
    assert_eq!(fs::read_to_string(folder.path().join("out/secret.md")).expect("it should exist"), SECRET);
    assert_eq!(
        fs::read_dir(folder.path().join("out")).expect("it should exist").count(),
        2,
        "nothing came to be outside"
    );
}

#[cfg(unix)]
#[test]
fn an_open_folder_stays_the_same_if_its_path_becomes_a_link() {
    let (folder, root) = trap();
    let inside = folder.path().join("in");
    root.with_folder_of(&path("artifacts/a.md"), |opened| {
        fs::rename(inside.join("artifacts"), inside.join("moved")).expect("it can be renamed");
        std::os::unix::fs::symlink(folder.path().join("out"), inside.join("artifacts")).expect("links can be made");
        opened.create("late.md")?;
        assert!(opened.open_file("secret.md").is_err());
        Ok(())
    })
    .expect("the folder is open");
    assert!(inside.join("moved/late.md").exists() && !folder.path().join("out/late.md").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn only_the_exact_name_is_accepted_where_case_is_ignored() {
    let (folder, mut root) = trap();
    root.is_case_blind = true;
    fs::write(folder.path().join("in/artifacts/u\u{308}.md"), "decomposed").expect("files can be written");
    let artifacts = root.walk("artifacts").expect("it should exist").expect("it is not the workspace");
    assert!(root.check_spelling(&artifacts, "a.md").is_ok() && root.check_spelling(&artifacts, "A.md").is_ok());
    assert_eq!(root.read(&path("artifacts/a.md"), 100).expect("it should exist").0, "inside");
    root.write_temporary(&path("artifacts/A.md"), ".x", "new").expect("nothing should exist there");
    root.put_in_place(&path("artifacts/A.md"), ".x", None).expect("nothing should exist there");
    assert_eq!(root.read(&path("artifacts/a.md"), 100).expect("it should exist").0, "inside");
}

#[cfg(unix)]
#[test]
fn pipes_and_folders_are_not_texts_and_never_block() {
    let (folder, root) = trap();
    let pipe = folder.path().join("in/pipe.md");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("pipes can be made");
    assert!(matches!(root.read(&path("pipe.md"), 1000), Err(PathError::NotAFile)));
    assert!(matches!(root.read(&path("artifacts"), 1000), Err(PathError::IsFolder)));
    assert!(matches!(root.read(&path("artifacts/a.md/b.md"), 1000), Err(PathError::NotAFolder)));
    assert!(matches!(root.read(&path("artifacts/none.md"), 1000), Err(PathError::Missing)));
    assert!(matches!(root.read(&path("none/none.md"), 1000), Err(PathError::Missing)));
    fs::write(folder.path().join("in/latin.md"), b"ok\n\xe9").expect("files can be written");
    assert!(matches!(root.read(&path("latin.md"), 1000), Err(PathError::NotText { line: 2 })));
    assert!(matches!(root.read(&path("artifacts/a.md"), 3), Err(PathError::TooLarge { most: 3 })));
}

#[test]
fn a_text_is_replaced_atomically_and_keeps_the_permissions() {
    let (folder, root) = trap();
    let (old, new) = (path("artifacts/a.md"), path("notes/new/b.md"));
    for (path, over) in [(&old, Some(content_hash(b"inside"))), (&new, None)] {
        root.write_temporary(path, ".beside", "new").expect("it can be written");
        assert!(folder.path().join("in").join(path.folder()).join(".beside").exists());
        let placed = root.put_in_place(path, ".beside", over).expect("it can be put in place");
        assert_eq!(placed, Replacement::Replaced);
        assert_eq!(root.read(path, 1000).expect("it should exist").0, "new");
    }
    assert!(
        matches!(root.rename(&old, &new), Err(PathError::Failed(error)) if error.kind() == io::ErrorKind::AlreadyExists)
    );
    root.rename(&old, &path("notes/c.md")).expect("nothing should exist there");
    let taken = |over: &str| root.take_away(&path("notes/c.md"), ".x", content_hash(over.as_bytes()));
    assert_eq!(taken("old").expect("it should exist"), Replacement::Conflict, "what changed meanwhile stays");
    assert_eq!(taken("new").expect("it should exist"), Replacement::Replaced);
    assert!(matches!(root.metadata(&path("notes/c.md")), Err(PathError::Missing)));
}

/// Checks one accepted path in a workspace full of links: everything that is read or written is inside.
fn stays_inside(folder: &tempfile::TempDir, root: &Root, given: &str) {
    let Ok(path) = WorkspacePath::new(given) else { return };
    if let Ok((text, _)) = root.read(&path, 10_000) {
        assert_ne!(text, SECRET, "{given:?} reads the secret");
    }
    if root.write_temporary(&path, ".beside", "evil").is_ok() {
        let beside = folder.path().join("in").join(path.folder()).join(".beside");
        let real = beside.canonicalize().expect("it was written");
        assert!(real.starts_with(folder.path().join("in").canonicalize().expect("it should exist")), "{given:?}");
        root.drop_beside(&path, ".beside");
    }
}

#[cfg(unix)]
#[test]
fn no_hostile_path_reaches_the_secret() {
    let (folder, root) = trap();
    with_links(&folder);
    HOSTILE.iter().for_each(|given| stays_inside(&folder, &root, given));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[cfg(unix)]
    #[test]
    fn no_accepted_path_leads_outside(givens in proptest::collection::vec(any_path(), 20)) {
        let (folder, root) = trap();
        with_links(&folder);
        for given in &givens {
            stays_inside(&folder, &root, given);
        }
        let secret = fs::read_to_string(folder.path().join("out/secret.md")).expect("it should exist");
        prop_assert_eq!(secret, SECRET);
        prop_assert_eq!(fs::read_dir(folder.path().join("out")).expect("it should exist").count(), 2);
    }
}

#[cfg(unix)]
#[test]
fn folders_by_path_refuse_links_like_folders_by_handle() {
    use crate::safe_fs::FolderByPath as ByPath;
    let (folder, _) = trap();
    with_links(&folder);
    let root = ByPath::open(&folder.path().join("in")).expect("it should exist");
    assert!(root.child("link").is_err() && root.open_file("secret.md").is_err());
    assert_eq!(root.metadata("link").map(|found| found.kind).ok(), Some(EntryKind::Link));
    let artifacts = root.child("artifacts").expect("it is a folder");
    assert!(artifacts.open_file("same.md").is_err() && artifacts.create("new.md").is_err());
    assert_eq!(artifacts.open_file("a.md").map(|(_, found)| found.size).ok(), Some(6));
    root.make_child("notes").expect("folders can be made");
    let notes = root.child("notes").expect("it was made");
    artifacts.move_new("a.md", &notes, "b.md").expect("nothing should exist there");
    artifacts.create(".x").expect("files can be made");
    artifacts.replace(".x", "c.md").expect("it should exist");
    assert!(artifacts.move_new("c.md", &notes, "b.md").is_err(), "something is there");
    artifacts.remove("c.md").expect("it should exist");
    artifacts.sync().expect("it can be synced");
    let entries = notes.entries().expect("it can be read");
    assert_eq!(entries, [("b.md".to_owned(), EntryKind::File)]);
    assert!(root.peek("notes/b.md").is_ok());
}
