//! Writes the data files of a chat: replaces files atomically, and retries after transient I/O errors.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// How often a write is attempted.
const ATTEMPTS: u32 = 3;

/// Replaces a file atomically: readers see either the old text or the new one. Creates its folder.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let part_file = path.with_extension("json.part");
    with_retries(|| {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&part_file, text)?;
        fs::rename(&part_file, path)
    })
}

/// Appends a text to a file. Creates the file and its folder.
pub(super) fn append(path: &Path, text: &str) -> io::Result<()> {
    with_retries(|| {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        // With a single write: after a partial write, a retry would repeat the beginning.
        OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
    })
}

/// Runs `operation` again after errors that may be transient.
fn with_retries(mut operation: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let mut attempt = 1;
    loop {
        let error = match operation() {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        // The folder may have been removed after its creation, or another program may hold the file for a moment.
        let is_transient = matches!(
            error.kind(),
            ErrorKind::Interrupted
                | ErrorKind::WouldBlock
                | ErrorKind::NotFound
                | ErrorKind::ResourceBusy
                | ErrorKind::PermissionDenied
        );
        if !is_transient || attempt >= ATTEMPTS {
            return Err(error);
        }
        attempt += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_transient_errors_are_retried() {
        let count = |kind: ErrorKind, passes_at: u32| {
            let mut attempts = 0;
            let done = with_retries(|| {
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
    fn folders_are_created_and_a_text_is_appended() {
        let folder = tempfile::tempdir().expect("there is room");
        let (log, state) = (folder.path().join("logs/today.log"), folder.path().join("state/x.json"));
        append(&log, "one\n").and_then(|()| append(&log, "two\n")).expect("it can be written");
        assert_eq!(fs::read_to_string(&log).expect("it is there"), "one\ntwo\n");
        write(&state, "1").and_then(|()| write(&state, "2")).expect("it can be written");
        assert_eq!(fs::read_to_string(&state).expect("it is there"), "2");
        assert_eq!(fs::read_dir(folder.path().join("state")).expect("it is there").count(), 1);
    }
}
