//! Reads some lines of a file that is too large to be read as a whole. The file is scanned from its beginning, up to a
//! limit.

use std::io::{BufRead, BufReader, Read};

use super::order::FileAnswer;
use super::path::quoted;

/// The maximum number of bytes of a file that are scanned.
const MAX_SCANNED_BYTES: u64 = 256 * 1024 * 1024;
/// The maximum number of bytes in one answer.
const MAX_SHOWN_BYTES: usize = 40_000;

/// Returns at most `lines_at_most` lines of `file`, starting at `from_line`. The error is a sentence.
pub(super) fn lines(
    path: &str,
    file: impl Read,
    from_line: usize,
    lines_at_most: Option<usize>,
) -> Result<FileAnswer, String> {
    let mut scan = Scan::new(from_line.max(1), lines_at_most.unwrap_or(usize::MAX).max(1));
    let mut reader = BufReader::with_capacity(64 * 1024, file.take(MAX_SCANNED_BYTES + 1));
    let mut scanned = 0;
    while scan.next_line.is_none() {
        let chunk = reader.fill_buf().map_err(|error| format!("{} cannot be read: {error}.", quoted(path)))?;
        let length = chunk.len();
        if length == 0 {
            break;
        }
        scan.take(chunk);
        reader.consume(length);
        scanned += length as u64;
        if scanned > MAX_SCANNED_BYTES && scan.next_line.is_none() {
            let most = MAX_SCANNED_BYTES / (1024 * 1024);
            return Err(format!("line {from_line} of {} is beyond its first {most} MiB.", quoted(path)));
        }
    }
    scan.answer(path)
}

/// The state of a scan.
struct Scan {
    from_line: usize,
    lines_at_most: usize,
    /// The current line, counted from 1.
    line: usize,
    shown: Vec<u8>,
    /// The offset in the shown bytes at which the current line starts.
    line_start: usize,
    /// The number of bytes of the current line that are not shown.
    hidden: usize,
    /// Whether the current line has any bytes yet.
    has_begun: bool,
    next_line: Option<usize>,
}

impl Scan {
    fn new(from_line: usize, lines_at_most: usize) -> Self {
        let (shown, line_start, hidden, has_begun, next_line) = (Vec::new(), 0, 0, false, None);
        Self { from_line, lines_at_most, line: 1, shown, line_start, hidden, has_begun, next_line }
    }

    fn take(&mut self, chunk: &[u8]) {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.line >= self.from_line && !self.show(part) {
                self.next_line = Some(self.line);
                return;
            }
            self.has_begun = !part.ends_with(b"\n");
            if !self.has_begun {
                self.line += 1;
                self.line_start = self.shown.len();
                if self.hidden > 0 {
                    self.next_line = Some(self.line);
                    return;
                }
            }
        }
    }

    /// Shows a part of the current line. `false` if the line is left for the next call.
    fn show(&mut self, part: &[u8]) -> bool {
        if self.line - self.from_line >= self.lines_at_most {
            return false;
        }
        let room = MAX_SHOWN_BYTES - self.shown.len();
        if part.len() > room && self.line_start > 0 {
            self.shown.truncate(self.line_start);
            return false;
        }
        self.shown.extend_from_slice(&part[..part.len().min(room)]);
        let letters = part.strip_suffix(b"\n").unwrap_or(part).len();
        self.hidden += letters.saturating_sub(room);
        true
    }

    fn answer(mut self, path: &str) -> Result<FileAnswer, String> {
        let end = match std::str::from_utf8(&self.shown) {
            Ok(_) => self.shown.len(),
            // A character is cut in two at the end of the shown bytes.
            Err(error) if error.error_len().is_none() && self.hidden > 0 => error.valid_up_to(),
            Err(_) => return Err(format!("{} is not UTF-8 text; file tools skip it.", quoted(path))),
        };
        self.hidden += self.shown.len() - end;
        self.shown.truncate(end);
        let mut content = String::from_utf8(self.shown).unwrap_or_default();
        if content.contains('\0') {
            return Err(format!("{} is not text; file tools skip it.", quoted(path)));
        }
        if self.hidden > 0 {
            content.push_str(&format!("\n[… cut, {} more bytes in this line]\n", self.hidden));
        }
        let count = self.next_line.is_none().then(|| self.line - usize::from(!self.has_begun));
        Ok(FileAnswer::Lines { path: path.to_owned(), content, next_line: self.next_line, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, from_line: usize, lines_at_most: Option<usize>) -> (String, Option<usize>, Option<usize>) {
        match lines("a.md", text.as_bytes(), from_line, lines_at_most) {
            Ok(FileAnswer::Lines { content, next_line, count, .. }) => (content, next_line, count),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_found_at_any_position() {
        let text: String = (1..=300_000).map(|number| format!("line {number}\n")).collect();
        assert_eq!(read(&text, 250_000, Some(2)), ("line 250000\nline 250001\n".into(), Some(250_002), None));
        assert_eq!(read(&text, 300_000, None), ("line 300000\n".into(), None, Some(300_000)));
        assert_eq!(read(&text, 300_001, None), (String::new(), None, Some(300_000)));
        assert_eq!(read("a\nb", 2, Some(9)), ("b".into(), None, Some(2)));
    }

    #[test]
    fn continued_reading_returns_everything_once() {
        let text: String = (0..20_000).map(|number| format!("zeile {number} ü\n")).collect();
        let (mut whole, mut from) = (String::new(), Some(1));
        while let Some(line) = from {
            let (shown, next, _) = read(&text, line, None);
            assert!(shown.len() <= MAX_SHOWN_BYTES);
            whole += &shown;
            from = next;
        }
        assert_eq!(whole, text);
    }

    #[test]
    fn an_endless_line_is_cut_and_binary_data_is_refused() {
        let text = format!("{}\nlast", "ü".repeat(100_000));
        let (shown, next, _) = read(&text, 1, None);
        assert!(shown.contains("[… cut, 160000 more bytes in this line]"));
        assert_eq!(next, Some(2));
        assert_eq!(read(&text, 2, None).0, "last");
        assert!(lines("a", &b"\xff\xfe"[..], 1, None).is_err() && lines("a", &b"a\0b"[..], 1, None).is_err());
    }
}
