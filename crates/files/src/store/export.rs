//! Exports the event log as JSON Lines, one object per line, which is a format that other programs rely on.

use std::io::{self, BufWriter, Write};

use super::error::StoreError;
use super::reader::Reader;
use crate::base::JobControl;
use crate::base::terminal_text::printable_json;
use crate::log::EventRecord;

/// Why a log could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The log could not be read.
    #[error("{0}; {remedy}", remedy = .0.remedy())]
    Store(#[from] StoreError),
    /// The lines could not be written to the destination.
    #[error("could not write the exported log: {0}")]
    Write(#[from] io::Error),
    /// The export was cancelled.
    #[error("it was cancelled")]
    Cancelled,
}

/// Writes the events of a run, or of all runs. Returns the number of events.
pub fn export_events(
    reader: &Reader,
    run: Option<&str>,
    out: impl Write,
    control: &JobControl,
) -> Result<u64, ExportError> {
    let mut out = BufWriter::new(out);
    let mut count = 0;
    reader.for_each_event(run, |event| {
        if control.is_cancelled() {
            return Err(ExportError::Cancelled);
        }
        count += 1;
        write_line(&mut out, &event).map_err(ExportError::from)
    })?;
    out.flush()?;
    Ok(count)
}

/// Writes one event as one line that is safe to print in a terminal.
pub fn write_line(out: &mut impl Write, event: &EventRecord) -> io::Result<()> {
    let line = serde_json::to_string(event)?;
    // Data is written as it was stored: a line break or tab can only be white space between tokens, because JSON
    // escapes them in strings.
    let mut line = printable_json(&line).replace(['\n', '\r', '\t'], " ");
    line.push('\n');
    out.write_all(line.as_bytes())
}
