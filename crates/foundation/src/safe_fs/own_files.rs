//! Files that belong to this program: the lock, the database, drafts, saved texts. What exists at their path is checked
//! first: a link, a pipe or a folder is rejected with an error, never followed, waited for or written to.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::atomic_replace::remove_if_there;
use super::{EntryKind, EntryMetadata, Folder, temporary_name, write_temporary};

/// Creates the error for something else in the place of one of our files.
fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.to_owned())
}

/// Checks that the entry is a regular file with one hard link; the error says what it is instead.
fn check(found: &EntryMetadata) -> io::Result<()> {
    match found.kind {
        EntryKind::File if found.names > 1 => Err(wrong("it has a second name (a hard link); remove it")),
        EntryKind::File => Ok(()),
        EntryKind::Folder => Err(wrong("it is a folder where a file should be; move it away")),
        EntryKind::Link => Err(wrong("it is a link, which is not followed here; remove it")),
        EntryKind::Other => Err(wrong("it is a pipe or a device, not a file; remove it")),
    }
}

fn folder_of(path: &Path) -> io::Result<(Folder, &str)> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| wrong("its name is not valid text"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Folder::open(folder)?, name))
}

/// Opens one of our folders in another one, or creates it; a link or a file in its place is an error.
pub fn open_own_folder(parent: &Folder, name: &str) -> io::Result<Folder> {
    match parent.metadata(name) {
        Ok(found) if found.kind == EntryKind::Link => Err(wrong("it is a link, which is not followed here; remove it")),
        Ok(found) if found.kind != EntryKind::Folder => {
            Err(wrong("it is not a folder; move it away to have it created again"))
        }
        Ok(_) => parent.child(name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            parent.make_child(name)?;
            parent.child(name)
        }
        Err(error) => Err(error),
    }
}

/// Checks that a path is a regular file or does not exist. For files that a library opens by itself.
pub fn check_own(path: &Path) -> io::Result<()> {
    match folder_of(path).and_then(|(folder, name)| folder.metadata(name)) {
        Ok(found) => check(&found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens one of our files for reading and writing, or creates it.
pub fn open_own(path: &Path) -> io::Result<File> {
    let (folder, name) = folder_of(path)?;
    if let Ok(found) = folder.metadata(name) {
        check(&found)?;
    }
    let (file, found) = folder.open_own(name)?;
    check(&found)?;
    Ok(file)
}

/// Creates a new file below a folder, and missing folders on the way; no link is followed. `path` has `/` between its
/// components.
pub fn create_new(root: &Path, path: &str) -> io::Result<File> {
    let (folder, name) = folder_below(root, path)?;
    folder.create(name)
}

/// Opens the folder of a path below another, and creates it if necessary. Also returns the name in it.
fn folder_below<'a>(root: &Path, path: &'a str) -> io::Result<(Folder, &'a str)> {
    let (way, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut folder = Folder::open(root)?;
    for part in way.split('/').filter(|part| !part.is_empty()) {
        folder = open_own_folder(&folder, part)?;
    }
    Ok((folder, name))
}

/// Moves a file below a folder to another path there, which must not exist. Missing folders are created, and no link in
/// either path is followed.
pub fn move_below(root: &Path, from: &str, to: &str) -> io::Result<()> {
    let (old, old_name) = folder_below(root, from)?;
    let (new, new_name) = folder_below(root, to)?;
    old.move_new(old_name, &new, new_name)?;
    new.sync()?;
    old.sync()
}

/// Writes a new file: beside its final path, synced, and moved there when it is complete. An existing file is left
/// alone. The path is treated as by [`create_new`].
pub fn write_new<T, E: From<io::Error>>(
    root: &Path,
    path: &str,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    let (folder, name) = folder_below(root, path)?;
    if folder.metadata(name).is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
    }
    let beside = temporary_name(name);
    remove_if_there(&folder, &beside)?;
    let file = folder.create(&beside)?;
    let written = write(&file).and_then(|told| {
        file.sync_all()?;
        folder.move_new(&beside, &folder, name)?;
        folder.sync()?;
        Ok(told)
    });
    if written.is_err() {
        // The error is sufficient; leftovers are cleaned up at the next start.
        let _ = folder.remove(&beside);
    }
    written
}

/// Opens a regular file for reading that any program may have created. Links are followed, because a person may keep a
/// file elsewhere; a pipe or a device is an error and never blocks.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let path = path.canonicalize()?;
    let (folder, name) = folder_of(&path)?;
    let (file, found) = folder.open_file(name)?;
    if found.kind == EntryKind::File { Ok(file) } else { Err(wrong("it is not a regular file")) }
}

/// Reads a regular file of at most `bytes_at_most` bytes.
pub fn read_bytes(path: &Path, bytes_at_most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(bytes_at_most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_at_most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is too large, with more than {bytes_at_most} bytes"),
        ));
    }
    Ok(bytes)
}

/// Reads a text file; `None` if there is no such file.
pub fn read_text(path: &Path, bytes_at_most: u64) -> io::Result<Option<String>> {
    let bytes = match read_bytes(path, bytes_at_most) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Replaces the text of a file atomically, in a folder that is created if necessary. A link in its place is replaced,
/// not followed.
pub fn replace_text(path: &Path, text: &str) -> io::Result<()> {
    replace_bytes(path, text.as_bytes())
}

/// Like [`replace_text`], for bytes.
pub fn replace_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let (folder, name) = folder_of(path)?;
    let old = match folder.metadata(name) {
        Ok(found) if found.kind == EntryKind::Folder => return check(&found),
        Ok(found) if found.is_read_only => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is marked read-only"));
        }
        Ok(found) if found.kind == EntryKind::File => folder.open_file(name).ok().map(|(file, _)| file),
        _ => None,
    };
    let beside = temporary_name(name);
    write_temporary(&folder, &beside, bytes, old.as_ref())?;
    folder.replace(&beside, name)?;
    folder.sync()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder can be made")
    }

    fn pipe(path: &Path) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).expect("pipes can be made");
    }

    #[test]
    fn obstacles_in_place_of_our_files_are_reported_and_left_alone() {
        let (made, elsewhere) = (folder(), folder());
        let far = elsewhere.path().join("far");
        fs::write(&far, "far").expect("files can be written");
        let at = |name: &str| made.path().join(name);
        symlink(&far, at("link")).expect("links can be made");
        symlink(elsewhere.path().join("nothing"), at("dangling")).expect("links can be made");
        fs::hard_link(&far, at("hard")).expect("links can be made");
        fs::create_dir(at("folder")).expect("folders can be made");
        pipe(&at("pipe"));
        for name in ["link", "dangling", "hard", "folder", "pipe"] {
            assert!(open_own(&at(name)).is_err() && check_own(&at(name)).is_err(), "{name}");
        }
        assert!(!elsewhere.path().join("nothing").exists());
        assert_eq!(fs::read_to_string(&far).expect("it should exist"), "far");
        assert!(check_own(&at("none")).is_ok() && open_own(&at("none")).is_ok());
    }

    #[test]
    fn replacing_replaces_a_link_and_not_its_target() {
        let (made, elsewhere) = (folder(), folder());
        let (far, link) = (elsewhere.path().join("far"), made.path().join("a.json"));
        fs::write(&far, "far").expect("files can be written");
        symlink(&far, &link).expect("links can be made");
        replace_text(&link, "ours").expect("it can be written");
        assert_eq!(fs::read_to_string(&far).expect("it should exist"), "far");
        assert_eq!(fs::read_to_string(&link).expect("it should exist"), "ours");
        replace_text(&made.path().join("new/b.json"), "b").expect("folders are made");
    }

    #[test]
    fn reading_never_blocks_and_is_limited() {
        let made = folder();
        pipe(&made.path().join("pipe"));
        symlink("/dev/zero", made.path().join("zero")).expect("links can be made");
        fs::write(made.path().join("large"), "x".repeat(100)).expect("files can be written");
        for (name, kind) in [
            ("pipe", io::ErrorKind::InvalidInput),
            ("zero", io::ErrorKind::InvalidInput),
            ("large", io::ErrorKind::FileTooLarge),
        ] {
            assert_eq!(read_text(&made.path().join(name), 10).expect_err("it is bounded").kind(), kind, "{name}");
        }
        assert!(open_regular(made.path()).is_err(), "a folder");
        assert_eq!(read_text(&made.path().join("none"), 10).expect("nothing is valid, too"), None);
        assert_eq!(read_text(&made.path().join("large"), 100).expect("it is small").map(|text| text.len()), Some(100));
    }

    #[test]
    fn new_files_are_created_in_the_folder_and_never_through_a_link() {
        let (made, elsewhere) = (folder(), folder());
        symlink(elsewhere.path(), made.path().join("exports")).expect("links can be made");
        assert!(create_new(made.path(), "exports/a.zip").is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).expect("it should exist").count(), 0);
        create_new(made.path(), "a/b/c.txt").expect("folders are made");
        assert!(create_new(made.path(), "a/b/c.txt").is_err(), "what is there stays");
    }

    #[test]
    fn a_new_file_appears_only_when_it_is_complete() {
        let made = folder();
        let whole = write_new(made.path(), "exports/a.txt", |mut file| io::Write::write_all(&mut file, b"whole"));
        whole.expect("it can be written");
        let path = made.path().join("exports/a.txt");
        assert_eq!(fs::read_to_string(&path).expect("it should exist"), "whole");
        let again = write_new(made.path(), "exports/a.txt", |mut file| io::Write::write_all(&mut file, b"other"));
        assert_eq!(again.expect_err("it exists already").kind(), io::ErrorKind::AlreadyExists);
        let half = write_new(made.path(), "exports/b.txt", |mut file| {
            io::Write::write_all(&mut file, b"half")?;
            Err::<(), _>(io::Error::other("the disk is full"))
        });
        assert!(half.is_err());
        assert_eq!(fs::read_to_string(&path).expect("it should exist"), "whole");
        assert_eq!(fs::read_dir(made.path().join("exports")).expect("it should exist").count(), 1);
    }
}
