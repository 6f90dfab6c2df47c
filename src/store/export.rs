//! The event log as JSON Lines, one object per line, in the format that README and other programs rely on.

use std::io::{self, BufWriter, Write};

use super::error::StoreError;
use super::event::EventRecord;
use super::reader::Reader;

/// Why a log could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lines could not be written where they should go.
    #[error("could not write the exported log: {0}")]
    Write(#[from] io::Error),
}

/// Writes the events of a run, or of all, and says how many there were.
pub fn export_events(reader: &Reader, run: Option<&str>, out: impl Write) -> Result<u64, ExportError> {
    let mut out = BufWriter::new(out);
    let mut count = 0;
    reader.for_each_event(run, |event| {
        count += 1;
        write_line(&mut out, &event).map_err(ExportError::from)
    })?;
    out.flush()?;
    Ok(count)
}

/// Writes one event as one line.
pub fn write_line(out: &mut impl Write, event: &EventRecord) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    // Data is kept as it was given: a line break in it can only be blank space between its parts, because
    // inside of texts JSON writes `\n`.
    for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    line.push(b'\n');
    out.write_all(&line)
}
