//! Converts a byte offset of a text to its line and column.

/// A position in a text as editors show it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

/// The start offsets of a text's lines. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes a text.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends_line = |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        let starts = (0..bytes.len()).filter(|at| ends_line(*at)).map(|at| at + 1);
        Self { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// Returns the line of a byte offset, counted from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte)
    }

    /// Returns the line and the column of a byte offset of the indexed text.
    pub fn position(&self, text: &str, byte: usize) -> Position {
        let line = self.line(byte);
        let start = self.starts[line - 1];
        let column = text.get(start..byte).map_or(1, |before| before.chars().count() + 1);
        Position { line, column }
    }

    /// Returns the byte offset at which a line begins, counted from 1; `None` after the last line.
    pub fn start_of(&self, line: usize) -> Option<usize> {
        self.starts.get(line.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_break_counts_once() {
        let text = "a\r\nü b\rc\n\nd";
        let index = LineIndex::new(text);
        let at = |needle: &str| {
            let position = index.position(text, text.find(needle).unwrap());
            (position.line, position.column)
        };
        assert_eq!(at("a"), (1, 1));
        assert_eq!(at("b"), (2, 3), "columns count characters");
        assert_eq!(at("c"), (3, 1));
        assert_eq!(at("d"), (5, 1));
        assert_eq!(index.start_of(3), text.find('c'));
        assert_eq!(index.start_of(0), None);
        assert_eq!(index.start_of(9), None);
    }

    #[test]
    fn an_empty_text_has_one_line() {
        assert_eq!(LineIndex::new("").position("", 0), Position { line: 1, column: 1 });
    }
}
