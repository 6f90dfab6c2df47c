//! Hashes of content and of the whole world that are the same on every machine.

use std::io;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Returns the hash that identifies the content of a file. Not for secrets.
pub fn content_hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// A writer that hashes everything written to it into one 64-bit number; values can be serialised directly into it.
#[derive(Default)]
pub struct HashWriter(Xxh3Default);

impl HashWriter {
    /// Returns the hash of everything written.
    pub fn digest(&self) -> u64 {
        self.0.digest()
    }
}

impl io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
