//! Reads and writes the small files in a person's config folder. Files are written so that other users of the computer
//! cannot read them, and programs that change them at once take turns.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::base::Problem;
use crate::safe_fs;

/// The maximum size of a person's file, in bytes.
pub(in crate::gateway) const MAX_FILE_BYTES: u64 = 64 * 1024;
/// The name of the file in a folder of the person that is locked while a file there is changed.
const LOCK: &str = ".lock";
/// How long a change waits for its turn: changes take milliseconds.
const TURN_WAIT: Duration = Duration::from_secs(10);
/// How often it asks for its turn.
const TURN_INTERVAL: Duration = Duration::from_millis(5);

/// Reads a small file of the person; `None` if there is no such file.
pub(in crate::gateway) fn read_small(path: &Path) -> Result<Option<String>, Problem> {
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

/// The turn to change a person's file: until it is dropped, no other thread or program changes a file in its folder
/// through one. What is read in it is still there when it is written.
pub(in crate::gateway) struct Turn {
    file: PathBuf,
    /// The lock of the folder; `None` if the file system has no locks.
    _lock: Option<File>,
}

impl Turn {
    /// Waits for the turn to change a file, whose folder is created if necessary. At most one turn for a folder can be
    /// held by a thread.
    pub(in crate::gateway) fn take(file: &Path) -> io::Result<Self> {
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let lock = safe_fs::open_own(&folder.join(LOCK))?;
        let until = Instant::now() + TURN_WAIT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { file: file.to_owned(), _lock: Some(lock) }),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(TURN_INTERVAL),
                Err(TryLockError::WouldBlock) => {
                    let what = format!("another program has been changing files in {} for too long", folder.display());
                    return Err(io::Error::new(io::ErrorKind::WouldBlock, what));
                }
                // Not every file system can lock files; without locks, two programs must not change one at once.
                Err(TryLockError::Error(_)) => return Ok(Self { file: file.to_owned(), _lock: None }),
            }
        }
    }

    /// Writes the file atomically. It is never readable for anyone but its owner.
    pub(in crate::gateway) fn write(&self, text: &str) -> io::Result<()> {
        // If the person keeps the file elsewhere, behind a link, the link is kept.
        let file = &self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
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
        let done =
            out.write_all(text.as_bytes()).and_then(|()| out.sync_all()).and_then(|()| fs::rename(&beside, file));
        if done.is_err() {
            // The temporary file is removed after a failure.
            let _ = fs::remove_file(&beside);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_many_threads_are_all_kept() {
        const THREADS: usize = 6;
        const EACH: usize = 5;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("config/list.txt");
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let file = &file;
                scope.spawn(move || {
                    for index in 0..EACH {
                        let turn = Turn::take(file).expect("turns end");
                        let text = read_small(file).expect("it is never half-written").unwrap_or_default();
                        turn.write(&format!("{text}{thread}-{index}\n")).expect("it can be written");
                    }
                });
            }
        });
        let text = read_small(&file).expect("it can be read").unwrap_or_default();
        let lines: std::collections::BTreeSet<&str> = text.lines().collect();
        assert_eq!((lines.len(), text.lines().count()), (THREADS * EACH, THREADS * EACH));
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_a_file_and_a_link_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (far, link) = (folder.path().join("far.txt"), folder.path().join("config/list.txt"));
        fs::create_dir(folder.path().join("config")).expect("folders can be made");
        fs::write(&far, "old").expect("files can be written");
        std::os::unix::fs::symlink(&far, &link).expect("links can be made");
        Turn::take(&link).and_then(|turn| turn.write("new")).expect("it can be written");
        assert_eq!(fs::read_to_string(&far).expect("it should exist"), "new");
        assert!(link.is_symlink());
        let mode = fs::metadata(&far).expect("it should exist").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
