//! Splits long texts into parts that are edited one at a time, because a text field lays out everything that it
//! contains. A short text is one part.

use std::ops::Range;

/// Approximate maximum number of lines of a part.
pub const PART_LINES: usize = 1_500;
/// Approximate maximum size of a part in bytes.
pub const PART_BYTES: usize = 64 * 1024;
/// Lines longer than this are split, because a whole line is laid out again on every key press.
pub const LINE_BYTES: usize = 16 * 1024;
/// A part that has grown beyond this multiple of its maximum is split again.
const MAX_GROWTH: usize = 2;

/// The start of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartStart {
    /// Byte offset in the whole text.
    pub byte: usize,
    /// Line in the whole text, counted from 0.
    pub line: usize,
}

/// The parts of a text, one of which is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunks {
    starts: Vec<PartStart>,
    /// The end of the whole text.
    end: PartStart,
    open: usize,
    /// The text of the open part.
    pub text: String,
}

impl Default for Chunks {
    fn default() -> Self {
        Self::of("", 0)
    }
}

impl Chunks {
    /// Splits a text and opens the part that contains the byte `at`.
    pub fn of(text: &str, at: usize) -> Self {
        let mut starts = vec![PartStart { byte: 0, line: 0 }];
        let mut position = PartStart { byte: 0, line: 0 };
        let mut part_start = position;
        for line in text.split_inclusive('\n') {
            let is_full = position.line - part_start.line >= PART_LINES
                || position.byte + line.len() - part_start.byte > PART_BYTES;
            if is_full && position.byte > part_start.byte {
                starts.push(position);
                part_start = position;
            }
            let mut rest = line;
            while rest.len() > LINE_BYTES {
                let cut = rest.floor_char_boundary(LINE_BYTES);
                rest = &rest[cut..];
                position.byte += cut;
                starts.push(position);
                part_start = position;
            }
            position.byte += rest.len();
            position.line += usize::from(line.ends_with('\n'));
        }
        let mut chunks = Self { starts, end: position, open: 0, text: String::new() };
        chunks.open(text, at);
        chunks
    }

    fn open(&mut self, whole: &str, at: usize) {
        self.open = self.starts.partition_point(|start| start.byte <= at).saturating_sub(1);
        whole[self.range()].clone_into(&mut self.text);
    }

    /// Returns the number of parts.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the index of the open part.
    pub fn number(&self) -> usize {
        self.open
    }

    /// Returns the start of the open part.
    pub fn start(&self) -> PartStart {
        self.starts[self.open]
    }

    /// Returns the start of the part with this index.
    pub fn start_of(&self, number: usize) -> Option<PartStart> {
        self.starts.get(number).copied()
    }

    /// Returns the number of lines of the whole text.
    pub fn lines(&self) -> usize {
        self.end.line + 1
    }

    fn next_start(&self) -> PartStart {
        self.starts.get(self.open + 1).copied().unwrap_or(self.end)
    }

    /// Returns the byte range of the open part in the whole text.
    pub fn range(&self) -> Range<usize> {
        self.start().byte..self.next_start().byte
    }

    /// Replaces the open part in the whole text by its edited text. If the part has grown too long, splits the text
    /// again, opens the part that contains the byte `at` of the old part, and returns `true`.
    pub fn write_back(&mut self, whole: &mut String, at: usize) -> bool {
        let range = self.range();
        let lines_before = count_lines(&whole[range.clone()]);
        let lines = count_lines(&self.text);
        let is_long = self.text.len() > PART_BYTES * MAX_GROWTH || lines > PART_LINES * MAX_GROWTH;
        whole.replace_range(range.clone(), &self.text);
        if is_long {
            *self = Self::of(whole, range.start + at);
            return true;
        }
        let shift = |place: &mut PartStart| {
            place.byte = place.byte + self.text.len() - range.len();
            place.line = place.line + lines - lines_before;
        };
        self.starts[self.open + 1..].iter_mut().for_each(shift);
        shift(&mut self.end);
        false
    }

    /// Opens the part that contains this line, counted from 0. Returns whether another part was open.
    pub fn open_line(&mut self, whole: &str, line: usize) -> bool {
        // The part before the first one that starts on a later line contains the line, or at least its end.
        let next = self.starts.iter().position(|start| start.line > line).unwrap_or(self.starts.len());
        let first_of_line = self.starts[..next].iter().position(|start| start.line == line);
        let number = match first_of_line {
            // That part may start in the middle of the line.
            Some(index) if index > 0 && !whole[..self.starts[index].byte].ends_with('\n') => index - 1,
            Some(index) => index,
            None => next.saturating_sub(1),
        };
        self.open_part(whole, number)
    }

    /// Opens the part with this index. Returns whether another part was open.
    pub fn open_part(&mut self, whole: &str, number: usize) -> bool {
        let number = number.min(self.starts.len() - 1);
        let changes = number != self.open;
        if changes {
            self.open(whole, self.starts[number].byte);
        }
        changes
    }

    /// Opens the part that contains this byte. Returns whether another part was open.
    pub fn open_byte(&mut self, whole: &str, byte: usize) -> bool {
        let number = self.starts.partition_point(|start| start.byte <= byte).saturating_sub(1);
        self.open_part(whole, number)
    }

    /// Returns the characters of a line of the whole text, relative to the open part.
    pub fn char_range_of_line(&self, line: usize) -> Range<usize> {
        let mut within = line.saturating_sub(self.start().line);
        let mut at = 0;
        for text in self.text.split_inclusive('\n') {
            let characters = text.trim_end_matches('\n').chars().count();
            if within == 0 {
                return at..at + characters;
            }
            within -= 1;
            at += text.chars().count();
        }
        at..at
    }
}

/// Returns the number of line breaks in a text.
pub fn count_lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(count: usize) -> String {
        (0..count).map(|line| format!("line {line}\n")).collect()
    }

    #[test]
    fn a_short_text_is_one_part() {
        let chunks = Chunks::of("a\nb", 0);
        assert_eq!((chunks.count(), chunks.lines(), chunks.text.as_str()), (1, 2, "a\nb"));
        assert_eq!(chunks.char_range_of_line(1), 2..3);
        assert_eq!(Chunks::default().text, "");
    }

    #[test]
    fn a_long_text_has_many_parts_and_every_line_can_be_opened() {
        let text = lines(20_000);
        let mut chunks = Chunks::of(&text, 0);
        assert_eq!(chunks.count(), 14);
        assert!(chunks.open_line(&text, 4_321));
        let range = chunks.char_range_of_line(4_321);
        assert_eq!(&chunks.text[range], "line 4321");
        assert!(chunks.open_byte(&text, text.len()));
        assert_eq!(chunks.number(), 13);
    }

    #[test]
    fn editing_a_part_shifts_the_following_parts() {
        let mut text = lines(3_000);
        let mut chunks = Chunks::of(&text, 0);
        chunks.text.insert_str(0, "new\n");
        assert!(!chunks.write_back(&mut text, 4));
        assert!(text.starts_with("new\nline 0\n"));
        chunks.open_line(&text, 2_500);
        let range = chunks.char_range_of_line(2_500);
        assert_eq!(&chunks.text[range], "line 2499");
        assert_eq!(chunks.lines(), 3_002);
    }

    #[test]
    fn a_part_that_grows_too_long_is_split() {
        let mut text = String::new();
        let mut chunks = Chunks::of(&text, 0);
        chunks.text = lines(9_000);
        let at = chunks.text.len();
        assert!(chunks.write_back(&mut text, at));
        assert_eq!((text == lines(9_000), chunks.number()), (true, chunks.count() - 1));
    }

    #[test]
    fn a_very_long_line_is_split_between_characters() {
        let text = "ä".repeat(200_000);
        let mut chunks = Chunks::of(&text, 0);
        assert!(chunks.count() > 5);
        assert_eq!(chunks.lines(), 1);
        chunks.open_byte(&text, 100_001);
        assert!(chunks.text.len() <= LINE_BYTES);
        assert!(chunks.open_line(&text, 0));
        assert_eq!(chunks.number(), 0);
    }

    proptest! {
        #[test]
        fn the_parts_add_up_to_the_text(text in "([a-zä\n]{0,30}\n?){0,6}", at in 0..200_usize) {
            let at = text.floor_char_boundary(at.min(text.len()));
            let mut chunks = Chunks::of(&text, at);
            let mut whole = String::new();
            for number in 0..chunks.count() {
                chunks.open_part(&text, number);
                whole.push_str(&chunks.text);
            }
            prop_assert_eq!(&whole, &text);
            prop_assert_eq!(chunks.lines(), count_lines(&text) + 1);
        }
    }
}
