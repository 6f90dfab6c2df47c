//! Reading files that a person, or anybody, may have put there: ordinary files only, at most so many bytes, and never
//! waiting for a pipe.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file to read, if it is an ordinary one. A link is followed to an ordinary file.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file"))
    }
}

/// What stands in an ordinary file, if it has at most so many bytes.
pub fn read(path: &Path, bytes_at_most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(bytes_at_most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_at_most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {bytes_at_most} bytes")));
    }
    Ok(bytes)
}

/// The same as text.
pub fn read_text(path: &Path, bytes_at_most: u64) -> io::Result<String> {
    String::from_utf8(read(path, bytes_at_most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_files_are_read_and_only_so_far() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "tea").expect("files can be written");
        assert_eq!(read_text(&file, 3).expect("it is short"), "tea");
        assert_eq!(read(&file, 2).expect_err("it is longer").kind(), io::ErrorKind::FileTooLarge);
        assert!(read(folder.path(), 10).is_err(), "a folder");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_device_is_an_error_at_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("pipes can be made");
        let zero = folder.path().join("zero");
        std::os::unix::fs::symlink("/dev/zero", &zero).expect("links can be made");
        for path in [pipe, zero] {
            assert_eq!(read(&path, 10).expect_err("it is none").kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
    }
}
