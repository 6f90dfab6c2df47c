//! Texts that could not be saved to their file are kept in `.workshop/unsaved`, where a person can find them.

use std::io;

use crate::base::unique_names;
use crate::safe_fs::{self, Folder};

/// The name of the folder in `.workshop`.
const FOLDER: &str = "unsaved";
/// The path of the folder for messages.
pub(super) const PLACE: &str = ".workshop/unsaved";

fn folder(root: &Folder) -> io::Result<Folder> {
    safe_fs::open_own_folder(&safe_fs::open_own_folder(root, ".workshop")?, FOLDER)
}

/// Iterates over possible names of the copy of a file: its path with `_` for `/`, then numbered.
fn names(path: &str) -> impl Iterator<Item = String> + use<> {
    unique_names::candidates(&path.replace('/', "_")).take(1000)
}

fn no_name() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{PLACE} already has a thousand copies of it"))
}

/// Stores a copy of a text, unless an identical one exists. Returns its path, relative to the workspace.
pub(super) fn keep_text(root: &Folder, path: &str, text: &str) -> io::Result<String> {
    let folder = folder(root)?;
    let hash = Some(crate::base::hash::content_hash(text.as_bytes()));
    for name in names(path) {
        if safe_fs::hash_of(&folder, &name)? == hash {
            return Ok(format!("{PLACE}/{name}"));
        }
        if folder.metadata(&name).is_ok() {
            continue;
        }
        let beside = safe_fs::temporary_name(&name);
        safe_fs::write_temporary(&folder, &beside, text.as_bytes(), None)?;
        folder.move_new(&beside, &folder, &name)?;
        folder.sync()?;
        return Ok(format!("{PLACE}/{name}"));
    }
    Err(no_name())
}

/// Moves a file to the folder. Returns its new path, relative to the workspace.
pub(super) fn keep_file(root: &Folder, from: &Folder, name: &str, path: &str) -> io::Result<String> {
    let folder = folder(root)?;
    for free in names(path) {
        match from.move_new(name, &folder, &free) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            moved => {
                moved?;
                folder.sync()?;
                return Ok(format!("{PLACE}/{free}"));
            }
        }
    }
    Err(no_name())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn copies_are_stored_once_and_never_overwritten() {
        let made = tempfile::tempdir().expect("a temporary folder can be made");
        let root = Folder::open(made.path()).expect("it should exist");
        let keep = |text: &str| keep_text(&root, "boards/a.md", text).expect("it can be kept");
        assert_eq!(
            [keep("one"), keep("two"), keep("one")].join(" "),
            ".workshop/unsaved/boards_a.md .workshop/unsaved/boards_a-2.md .workshop/unsaved/boards_a.md"
        );
        fs::write(made.path().join("hidden"), "three").expect("files can be written");
        assert_eq!(
            keep_file(&root, &root, "hidden", "boards/a.md").expect("it can be moved"),
            ".workshop/unsaved/boards_a-3.md"
        );
        let text = fs::read_to_string(made.path().join(".workshop/unsaved/boards_a-3.md"));
        assert_eq!(text.expect("it should exist"), "three");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_stored_through_a_link() {
        let (made, elsewhere) = (tempfile::tempdir(), tempfile::tempdir());
        let (made, elsewhere) = (made.expect("folders can be made"), elsewhere.expect("folders can be made"));
        std::os::unix::fs::symlink(elsewhere.path(), made.path().join(".workshop")).expect("links can be made");
        let root = Folder::open(made.path()).expect("it should exist");
        assert!(keep_text(&root, "boards/a.md", "one").is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).expect("it should exist").count(), 0);
    }
}
