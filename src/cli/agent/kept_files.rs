//! Writing the files that an agent's chats leave behind: atomically where a file is replaced, and tried again where the
//! computer was only interrupted or busy.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// How often a write is tried.
const ATTEMPTS: u32 = 3;

/// Replaces a file: readers see either the old one or the new one. Its folder is created.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("json.part");
    tried(|| {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&beside, text)?;
        fs::rename(&beside, path)
    })
}

/// Adds a text to the end of a file. It and its folder are created.
pub(super) fn append(path: &Path, text: &str) -> io::Result<()> {
    tried(|| {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        // In one piece, or not at all: a part of it would be there twice after the next attempt.
        OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
    })
}

/// Tries again what may only have been disturbed; what cannot work is not tried again.
fn tried(mut act: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let mut attempt = 1;
    loop {
        let error = match act() {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        // A folder may have been removed between its making and its use; a program that looks at files may hold one.
        let may_pass = matches!(
            error.kind(),
            ErrorKind::Interrupted
                | ErrorKind::WouldBlock
                | ErrorKind::NotFound
                | ErrorKind::ResourceBusy
                | ErrorKind::PermissionDenied
        );
        if !may_pass || attempt >= ATTEMPTS {
            return Err(error);
        }
        attempt += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_disturbed_is_tried_again_and_what_cannot_work_is_not() {
        let count = |kind: ErrorKind, passes_at: u32| {
            let mut attempts = 0;
            let done = tried(|| {
                attempts += 1;
                if attempts >= passes_at { Ok(()) } else { Err(kind.into()) }
            });
            (attempts, done.is_ok())
        };
        assert_eq!(count(ErrorKind::Interrupted, 2), (2, true));
        assert_eq!(count(ErrorKind::ResourceBusy, 9), (ATTEMPTS, false));
        assert_eq!(count(ErrorKind::StorageFull, 2), (1, false));
    }

    #[test]
    fn folders_are_created_and_a_text_is_added_at_the_end() {
        let folder = tempfile::tempdir().expect("there is room");
        let (log, state) = (folder.path().join("logs/today.log"), folder.path().join("state/x.json"));
        append(&log, "one\n").and_then(|()| append(&log, "two\n")).expect("it can be written");
        assert_eq!(fs::read_to_string(&log).expect("it is there"), "one\ntwo\n");
        write(&state, "1").and_then(|()| write(&state, "2")).expect("it can be written");
        assert_eq!(fs::read_to_string(&state).expect("it is there"), "2");
        assert_eq!(fs::read_dir(folder.path().join("state")).expect("it is there").count(), 1);
    }
}
