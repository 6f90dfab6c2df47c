//! Reads and writes the small files in a person's config folder. Files are written so that other users of the computer
//! cannot read them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::base::Problem;
use crate::safe_fs;

/// The maximum size of a person's file, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Reads a small file of the person; `None` if there is no such file.
pub(super) fn read_small(path: &Path) -> Result<Option<String>, Problem> {
    let place = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        Problem::error(&place, format!("cannot be read: {error}"), "replace it with a text file that only you can read")
    };
    match safe_fs::read_text(path, MAX_FILE_BYTES) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            Err(Problem::error(&place, "is too large for such a list", "keep one line for each entry"))
        }
        Err(error) => Err(unreadable(error)),
    }
}

/// Writes a file atomically. It is never readable for anyone but its owner.
pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    // If the person keeps the file elsewhere, behind a link, the link is kept.
    let file = &file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".saving");
    let beside = file.with_file_name(name);
    // An existing file is not overwritten: it may be a link, or readable for others.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&beside)?;
    let done = out.write_all(text.as_bytes()).and_then(|()| out.sync_all()).and_then(|()| fs::rename(&beside, file));
    if done.is_err() {
        // The temporary file is removed after a failure.
        let _ = fs::remove_file(&beside);
    }
    done
}
