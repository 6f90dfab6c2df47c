//! Replaces the text of a file without losing a concurrent save by another program: the new text is written next to the
//! file and synced, the two files are exchanged atomically, and then the old one is checked. If it is not the text that
//! was to be replaced, another program saved in between, and its file is put back.

use std::fs::File;
use std::io::{self, Read, Write};

use super::{EntryKind, Folder};
use crate::base::hash::content_hash;

/// The suffix of a file that is still being written.
const WRITING: &str = ".workshop-writing";
/// The suffix of a complete file while it is exchanged: at that moment, it may contain another program's save.
const PLACING: &str = ".workshop-placing";
/// The maximum size of this program's own texts in bytes: a larger file was written by another program.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum length in bytes of a name that is used unchanged as part of a hidden name.
const MAX_NAME_BYTES: usize = 180;

/// The result of replacing a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// The new text is in place.
    Replaced,
    /// The file got someone else's text after it was last read; that text was left in place, and the new one was
    /// discarded.
    Conflict,
}

/// Returns a hidden name in the same folder for the new text of a file.
pub fn temporary_name(name: &str) -> String {
    if name.len() > MAX_NAME_BYTES {
        return format!(".{:016x}{WRITING}", content_hash(name.as_bytes()));
    }
    format!(".{name}{WRITING}")
}

/// Whether a hidden file was never completely written, so that it can be deleted.
pub fn is_incomplete_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(WRITING)
}

/// Returns the name of the original file if `name` is the temporary name during an exchange. After a kill at that
/// moment, it contains the old text, the new text, or a text that someone else had just saved.
pub fn original_of_placing(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.strip_suffix(PLACING)
}

/// Returns the hidden name under which the text at `beside` is exchanged with a file.
pub fn placing_name(beside: &str) -> String {
    format!("{}{PLACING}", beside.strip_suffix(WRITING).unwrap_or(beside))
}

/// Writes a new file under a hidden name, with the permissions of `like`, if given, and waits until it is on disk.
pub fn write_temporary(folder: &Folder, beside: &str, text: &[u8], like: Option<&File>) -> io::Result<()> {
    remove_if_there(folder, beside)?;
    let mut file = folder.create(beside)?;
    let written = like
        .map_or(Ok(()), |like| like.metadata().and_then(|like| file.set_permissions(like.permissions())))
        .and_then(|()| file.write_all(text))
        .and_then(|()| file.sync_all());
    written.inspect_err(|_| {
        // The error is sufficient; leftovers are cleaned up at the next start.
        let _ = folder.remove(beside);
    })
}

/// Replaces `name` by the file at `beside`, if its text still has this hash (`None`: if the file still does not exist),
/// and waits until that is on disk. In any case, no file is left under the hidden name.
pub fn atomic_replace(folder: &Folder, beside: &str, name: &str, over: Option<u64>) -> io::Result<Replacement> {
    Ok(atomic_replace_watched(folder, beside, name, over, &mut |_| {})?.0)
}

/// Like [`atomic_replace`]. Also returns the replaced file, open for reading: a program that still had it open may go on
/// writing into it, and only there.
pub fn atomic_replace_keeping(
    folder: &Folder,
    beside: &str,
    name: &str,
    over: Option<u64>,
) -> io::Result<(Replacement, Option<File>)> {
    atomic_replace_watched(folder, beside, name, over, &mut |_| {})
}

/// Like [`atomic_replace`]; a test can act after each step.
pub(super) fn atomic_replace_watched(
    folder: &Folder,
    beside: &str,
    name: &str,
    over: Option<u64>,
    after: &mut dyn FnMut(usize),
) -> io::Result<(Replacement, Option<File>)> {
    let placing = placing_name(beside);
    remove_if_there(folder, &placing)?;
    let Some(over) = over else {
        let moved = folder.move_new(beside, folder, name);
        return match moved {
            Ok(()) => folder.sync().map(|()| (Replacement::Replaced, None)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => discard_as_conflict(folder, beside),
            Err(error) => Err(error),
        };
    };
    folder.move_new(beside, folder, &placing)?;
    let ours = observe(folder, &placing)?;
    // Most concurrent saves happen while the new text is written. A reader at that moment must not see the new text and
    // then overwrite it with the save: the files are only exchanged if no other save is known.
    if observe(folder, name).ok().and_then(|seen| seen.hash) != Some(over) {
        return discard_as_conflict(folder, &placing);
    }
    after(0);
    let placed = match folder.exchange(&placing, name) {
        Ok(()) => after_exchange(folder, &placing, name, over, ours, after)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => discard_as_conflict(folder, &placing)?,
        Err(error) if error.kind() == io::ErrorKind::Unsupported => check_and_replace(folder, &placing, name, over)?,
        Err(error) => {
            let _ = folder.remove(&placing);
            return Err(error);
        }
    };
    folder.sync()?;
    Ok(placed)
}

/// Examines the file that was exchanged; if another program saved in between, its newest text is put back.
fn after_exchange(
    folder: &Folder,
    placing: &str,
    name: &str,
    over: u64,
    ours: SeenFile,
    after: &mut dyn FnMut(usize),
) -> io::Result<(Replacement, Option<File>)> {
    if observe(folder, placing)?.hash == Some(over) {
        // Without the handle, what another program still writes into the file cannot be seen; it is replaced anyway.
        let replaced = folder.open_file(placing).ok().map(|(file, _)| file);
        folder.remove(placing)?;
        return Ok((Replacement::Replaced, replaced));
    }
    let (mut put, mut step) = (ours, 1);
    loop {
        after(step);
        let newest = observe(folder, placing)?;
        match folder.exchange(placing, name) {
            // The file was deleted meanwhile: the text that was saved last is restored.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                folder.move_new(placing, folder, name)?;
                return Ok((Replacement::Conflict, None));
            }
            exchanged => exchanged?,
        }
        // The file that is replaced now is the previous one, unless another program has saved the file again.
        if observe(folder, placing)? == put {
            return discard_as_conflict(folder, placing);
        }
        (put, step) = (newest, step + 1);
    }
}

/// If files cannot be exchanged atomically: checks the file again, and renames immediately afterwards.
fn check_and_replace(folder: &Folder, placing: &str, name: &str, over: u64) -> io::Result<(Replacement, Option<File>)> {
    if observe(folder, name).ok().and_then(|seen| seen.hash) != Some(over) {
        return discard_as_conflict(folder, placing);
    }
    let replaced = folder.open_file(name).ok().map(|(file, _)| file);
    folder.replace(placing, name)?;
    Ok((Replacement::Replaced, replaced))
}

fn discard_as_conflict(folder: &Folder, beside: &str) -> io::Result<(Replacement, Option<File>)> {
    folder.remove(beside)?;
    Ok((Replacement::Conflict, None))
}

/// The observed state of a file: its identity and its content.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SeenFile {
    number: u64,
    /// The hash of the text; `None` if it is not a text of a reasonable size.
    hash: Option<u64>,
}

/// Returns the hash of the text in a file; `None` if there is no readable file.
pub fn hash_of(folder: &Folder, name: &str) -> io::Result<Option<u64>> {
    match observe(folder, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        seen => Ok(seen?.hash),
    }
}

fn observe(folder: &Folder, name: &str) -> io::Result<SeenFile> {
    let found = folder.metadata(name)?;
    let seen = |hash| Ok(SeenFile { number: found.number, hash });
    if found.kind != EntryKind::File || found.size > MAX_BYTES {
        return seen(None);
    }
    let mut bytes = Vec::new();
    let read = folder.open_file(name).and_then(|(file, _)| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    // A file that cannot be read was written by another program.
    seen(read.ok().map(|_| content_hash(&bytes)))
}

pub(super) fn remove_if_there(folder: &Folder, name: &str) -> io::Result<()> {
    match folder.remove(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(text: Option<&str>) -> (tempfile::TempDir, Folder) {
        let made = tempfile::tempdir().expect("a temporary folder can be made");
        if let Some(text) = text {
            fs::write(made.path().join("a.md"), text).expect("files can be written");
        }
        let folder = Folder::open(made.path()).expect("it should exist");
        (made, folder)
    }

    fn names(made: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(made.path()).expect("it should exist").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn text(made: &tempfile::TempDir) -> Option<String> {
        fs::read_to_string(made.path().join("a.md")).ok()
    }

    fn hash(text: &str) -> u64 {
        content_hash(text.as_bytes())
    }

    /// Saves like an editor: writes beside the file and renames over it.
    fn save(made: &tempfile::TempDir, text: &str) {
        fs::write(made.path().join("theirs"), text).expect("files can be written");
        fs::rename(made.path().join("theirs"), made.path().join("a.md")).expect("it can be renamed");
    }

    fn put(folder: &Folder, over: Option<u64>, after: &mut dyn FnMut(usize)) -> Replacement {
        let beside = temporary_name("a.md");
        write_temporary(folder, &beside, b"ours", None).expect("it can be written");
        atomic_replace_watched(folder, &beside, "a.md", over, after).expect("it can be placed").0
    }

    #[test]
    fn a_text_only_replaces_the_one_that_was_checked() {
        let (made, folder) = folder(Some("old"));
        assert_eq!(put(&folder, Some(hash("old")), &mut |_| {}), Replacement::Replaced);
        assert_eq!((text(&made).as_deref(), names(&made)), (Some("ours"), vec!["a.md".to_owned()]));
        assert_eq!(put(&folder, Some(hash("old")), &mut |_| {}), Replacement::Conflict);
        assert_eq!(put(&folder, None, &mut |_| {}), Replacement::Conflict);
        assert_eq!(names(&made), ["a.md"]);
        fs::remove_file(made.path().join("a.md")).expect("it should exist");
        assert_eq!(put(&folder, Some(hash("ours")), &mut |_| {}), Replacement::Conflict, "taken away is not put back");
        assert_eq!(names(&made), Vec::<String>::new());
        assert_eq!(put(&folder, None, &mut |_| {}), Replacement::Replaced);
    }

    #[test]
    fn a_save_while_the_new_text_is_written_stays_in_place() {
        let (made, folder) = folder(Some("theirs"));
        let mut steps = 0;
        assert_eq!(put(&folder, Some(hash("old")), &mut |_| steps += 1), Replacement::Conflict);
        assert_eq!((steps, text(&made).as_deref(), names(&made)), (0, Some("theirs"), vec!["a.md".to_owned()]));
    }

    #[test]
    fn a_save_at_any_step_is_kept_and_the_last_one_wins() {
        // Somebody saves at these steps, either by renaming or directly into the file.
        for saves in 0..16_usize {
            for in_place in [false, true] {
                let (made, folder) = folder(Some("old"));
                let mut last = None;
                let placing = put(&folder, Some(hash("old")), &mut |step| {
                    if saves >> step & 1 == 1 && step < 4 {
                        let theirs = format!("theirs {step}");
                        if in_place {
                            fs::write(made.path().join("a.md"), &theirs).expect("files can be written");
                        } else {
                            save(&made, &theirs);
                        }
                        last = Some(theirs);
                    }
                });
                let expected = last.clone().unwrap_or_else(|| "ours".to_owned());
                assert_eq!(names(&made), ["a.md"], "{saves:b}");
                assert_eq!(text(&made), Some(expected), "{saves:b} in place: {in_place}");
                let is_crossed = last.is_some();
                assert_eq!(placing == Replacement::Conflict, is_crossed, "{saves:b}");
            }
        }
    }

    #[test]
    fn a_deletion_in_between_is_kept_unless_something_was_saved() {
        let (made, folder) = folder(Some("old"));
        let gone = || fs::remove_file(made.path().join("a.md")).expect("it should exist");
        assert_eq!(put(&folder, Some(hash("old")), &mut |_| gone()), Replacement::Conflict);
        assert_eq!(names(&made), Vec::<String>::new());
        save(&made, "old");
        let placing =
            put(&folder, Some(hash("old")), &mut |step| if step == 0 { save(&made, "theirs") } else { gone() });
        assert_eq!((placing, text(&made).as_deref()), (Replacement::Conflict, Some("theirs")));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_still_written_into_a_replaced_file_can_be_read() {
        let (made, folder) = folder(Some("first half, "));
        let mut theirs = File::options().append(true).open(made.path().join("a.md")).expect("it should exist");
        let beside = temporary_name("a.md");
        write_temporary(&folder, &beside, b"ours", None).expect("it can be written");
        let over = Some(hash("first half, "));
        let (placed, replaced) = atomic_replace_keeping(&folder, &beside, "a.md", over).expect("it can be placed");
        theirs.write_all(b"second half").expect("files can be written");
        let mut text = String::new();
        replaced.expect("it was open").read_to_string(&mut text).expect("it can be read");
        assert_eq!((placed, text.as_str()), (Replacement::Replaced, "first half, second half"));
    }

    #[cfg(unix)]
    #[test]
    fn links_under_hidden_names_are_deleted_and_not_followed() {
        let (made, folder) = folder(Some("old"));
        let (outside, far) = super::tests::folder(Some("far"));
        drop(far);
        let target = outside.path().join("a.md");
        for name in [temporary_name("a.md"), placing_name(&temporary_name("a.md"))] {
            std::os::unix::fs::symlink(&target, made.path().join(name)).expect("links can be made");
        }
        assert_eq!(put(&folder, Some(hash("old")), &mut |_| {}), Replacement::Replaced);
        assert_eq!(text(&made).as_deref(), Some("ours"));
        assert!(!made.path().join("a.md").is_symlink());
        assert_eq!(text(&outside).as_deref(), Some("far"));
    }

    #[test]
    fn hidden_names_are_distinguished() {
        let beside = temporary_name("a.md");
        assert!(is_incomplete_temporary(&beside) && original_of_placing(&beside).is_none());
        assert_eq!(original_of_placing(&placing_name(&beside)), Some("a.md"));
        assert!(!is_incomplete_temporary("a.workshop-writing") && original_of_placing("a.md").is_none());
        assert!(temporary_name(&"x".repeat(250)).len() < 255);
    }
}
