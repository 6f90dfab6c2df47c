//! The file of an archive that is being written. After a failed write it accepts the rest without writing it: the
//! library completes an archive even when it is given up, and panics or prints an error of its own if it cannot.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::rc::Rc;

/// The first error of writing an archive; shared, because the library owns the file meanwhile.
pub(super) type WriteFailure = Rc<Cell<Option<io::ErrorKind>>>;

/// The file of an archive.
pub(super) struct ArchiveFile {
    out: BufWriter<File>,
    /// Where the next byte goes, and the length so far, as if every write had succeeded.
    position: u64,
    length: u64,
    failure: WriteFailure,
}

impl ArchiveFile {
    pub(super) fn new(file: File, failure: WriteFailure) -> Self {
        Self { out: BufWriter::new(file), position: 0, length: 0, failure }
    }

    /// Waits until everything is on disk.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }

    /// Acts on the file, unless an earlier attempt failed; then the result is `given_up`.
    fn attempt<T>(&mut self, given_up: T, act: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>) -> io::Result<T> {
        if self.failure.get().is_some() {
            return Ok(given_up);
        }
        act(&mut self.out).inspect_err(|error| {
            // The caller repeats an interrupted write.
            if error.kind() != io::ErrorKind::Interrupted {
                self.failure.set(Some(error.kind()));
            }
        })
    }
}

impl Write for ArchiveFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.attempt(bytes.len(), |out| out.write(bytes))?;
        self.position += written as u64;
        self.length = self.length.max(self.position);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), BufWriter::flush)
    }
}

impl Seek for ArchiveFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        let position = position.ok_or(io::ErrorKind::InvalidInput)?;
        self.attempt(position, |out| out.seek(SeekFrom::Start(position)))?;
        self.position = position;
        Ok(position)
    }
}

#[cfg(test)]
mod tests {
    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn an_archive_on_a_full_disk_fails_once_and_can_be_given_up() {
        for files in 1..4 {
            let full = File::options().write(true).open("/dev/full").expect("Linux has one");
            let failure = WriteFailure::default();
            let mut zip = ZipWriter::new(ArchiveFile::new(full, Rc::clone(&failure)));
            let mut errors = 0;
            for number in 0..files {
                let text: Vec<u8> =
                    (0..200_000_u32).flat_map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
                let begun = zip.start_file(format!("{number}.md"), SimpleFileOptions::default());
                errors += usize::from(begun.is_err() || zip.write_all(&text).is_err());
            }
            assert_eq!(failure.get(), Some(io::ErrorKind::StorageFull));
            assert!(errors >= 1);
            drop(zip);
        }
    }

    #[test]
    fn an_archive_is_written_as_without_it() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("a.zip");
        let failure = WriteFailure::default();
        let file = File::create(&path).expect("files can be made");
        let mut zip = ZipWriter::new(ArchiveFile::new(file, Rc::clone(&failure)));
        zip.start_file("a.md", SimpleFileOptions::default()).expect("it can begin");
        zip.write_all(b"a text").expect("it can be written");
        zip.finish().expect("it can be finished").finish().expect("it can be synced");
        let mut read = zip::ZipArchive::new(File::open(&path).expect("it should exist")).expect("it is an archive");
        let text = io::read_to_string(read.by_name("a.md").expect("it is in it")).expect("it can be read");
        assert_eq!((text.as_str(), failure.get()), ("a text", None));
    }
}
