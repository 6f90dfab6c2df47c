//! Divides long texts into parts that are edited one at a time, because a text field lays out everything that it
//! contains. A short text is one part.

use std::ops::Range;

/// A part has about so many lines.
pub const PART_LINES: usize = 1_500;
/// A part has about so many bytes.
pub const PART_BYTES: usize = 64 * 1024;
/// A line longer than this is divided: it is laid out as a whole with every letter that is typed into it.
pub const LINE_BYTES: usize = 16 * 1024;
/// A chunk that has grown beyond this multiple of its measure is split again.
const STRETCH: usize = 2;

/// Where a part begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartStart {
    /// Byte in the whole text.
    pub byte: usize,
    /// Line in the whole text, counted from 0.
    pub line: usize,
}

/// How a text is divided, and which part is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunks {
    starts: Vec<PartStart>,
    /// The end of the whole text.
    end: PartStart,
    open: usize,
    /// What stands in the open part.
    pub text: String,
}

impl Default for Chunks {
    fn default() -> Self {
        Self::of("", 0)
    }
}

impl Chunks {
    /// Divides a text and opens the part that holds this byte.
    pub fn of(text: &str, at: usize) -> Self {
        let mut starts = vec![PartStart { byte: 0, line: 0 }];
        let mut here = PartStart { byte: 0, line: 0 };
        let mut begun = here;
        for line in text.split_inclusive('\n') {
            let is_full = here.line - begun.line >= PART_LINES || here.byte + line.len() - begun.byte > PART_BYTES;
            if is_full && here.byte > begun.byte {
                starts.push(here);
                begun = here;
            }
            let mut left = line;
            while left.len() > LINE_BYTES {
                let cut = left.floor_char_boundary(LINE_BYTES);
                left = &left[cut..];
                here.byte += cut;
                starts.push(here);
                begun = here;
            }
            here.byte += left.len();
            here.line += usize::from(line.ends_with('\n'));
        }
        let mut pages = Self { starts, end: here, open: 0, text: String::new() };
        pages.open(text, at);
        pages
    }

    fn open(&mut self, whole: &str, at: usize) {
        self.open = self.starts.partition_point(|start| start.byte <= at).saturating_sub(1);
        whole[self.range()].clone_into(&mut self.text);
    }

    /// How many parts there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Which part is open, counted from 0.
    pub fn number(&self) -> usize {
        self.open
    }

    /// Where the open part begins.
    pub fn start(&self) -> PartStart {
        self.starts[self.open]
    }

    /// Where this part begins.
    pub fn start_of(&self, number: usize) -> Option<PartStart> {
        self.starts.get(number).copied()
    }

    /// Lines of the whole text.
    pub fn lines(&self) -> usize {
        self.end.line + 1
    }

    fn after(&self) -> PartStart {
        self.starts.get(self.open + 1).copied().unwrap_or(self.end)
    }

    /// The bytes of the whole text that the open part was taken from.
    pub fn range(&self) -> Range<usize> {
        self.start().byte..self.after().byte
    }

    /// Writes the open part, as it stands in the field, into the whole text. Where it grew too long, the text is
    /// divided anew around this byte of the part; whether it was.
    pub fn write_back(&mut self, whole: &mut String, at: usize) -> bool {
        let range = self.range();
        let lines_before = count_lines(&whole[range.clone()]);
        let lines = count_lines(&self.text);
        let is_long = self.text.len() > PART_BYTES * STRETCH || lines > PART_LINES * STRETCH;
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

    /// Opens the part that holds this line, counted from 0.
    pub fn open_line(&mut self, whole: &str, line: usize) -> bool {
        // The first part that begins on a later line comes after it; a divided line begins in the part before.
        let next = self.starts.iter().position(|start| start.line > line).unwrap_or(self.starts.len());
        let first_of_line = self.starts[..next].iter().position(|start| start.line == line);
        let wanted = match first_of_line {
            // That part may begin within the line.
            Some(index) if index > 0 && !whole[..self.starts[index].byte].ends_with('\n') => index - 1,
            Some(index) => index,
            None => next.saturating_sub(1),
        };
        self.go_to(whole, wanted)
    }

    /// Opens a part by its number. Whether another one was open.
    pub fn go_to(&mut self, whole: &str, number: usize) -> bool {
        let number = number.min(self.starts.len() - 1);
        let moves = number != self.open;
        if moves {
            self.open(whole, self.starts[number].byte);
        }
        moves
    }

    /// Opens the part that holds this byte. Whether another one was open.
    pub fn open_byte(&mut self, whole: &str, byte: usize) -> bool {
        let number = self.starts.partition_point(|start| start.byte <= byte).saturating_sub(1);
        self.go_to(whole, number)
    }

    /// The characters of the open part at which a line of the whole text begins and ends.
    pub fn characters_of_line(&self, line: usize) -> Range<usize> {
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

/// Ends of lines in a text.
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
        let pages = Chunks::of("a\nb", 0);
        assert_eq!((pages.count(), pages.lines(), pages.text.as_str()), (1, 2, "a\nb"));
        assert_eq!(pages.characters_of_line(1), 2..3);
        assert_eq!(Chunks::default().text, "");
    }

    #[test]
    fn a_long_text_is_many_and_each_line_is_found() {
        let text = lines(20_000);
        let mut pages = Chunks::of(&text, 0);
        assert_eq!(pages.count(), 14);
        assert!(pages.open_line(&text, 4_321));
        let range = pages.characters_of_line(4_321);
        assert_eq!(&pages.text[range], "line 4321");
        assert!(pages.open_byte(&text, text.len()));
        assert_eq!(pages.number(), 13);
    }

    #[test]
    fn what_is_written_moves_what_comes_after() {
        let mut text = lines(3_000);
        let mut pages = Chunks::of(&text, 0);
        pages.text.insert_str(0, "new\n");
        assert!(!pages.write_back(&mut text, 4));
        assert!(text.starts_with("new\nline 0\n"));
        pages.open_line(&text, 2_500);
        let range = pages.characters_of_line(2_500);
        assert_eq!(&pages.text[range], "line 2499");
        assert_eq!(pages.lines(), 3_002);
    }

    #[test]
    fn a_part_that_grows_too_long_is_divided() {
        let mut text = String::new();
        let mut pages = Chunks::of(&text, 0);
        pages.text = lines(9_000);
        let at = pages.text.len();
        assert!(pages.write_back(&mut text, at));
        assert_eq!((text == lines(9_000), pages.number()), (true, pages.count() - 1));
    }

    #[test]
    fn one_endless_line_is_divided_between_characters() {
        let text = "ä".repeat(200_000);
        let mut pages = Chunks::of(&text, 0);
        assert!(pages.count() > 5);
        assert_eq!(pages.lines(), 1);
        pages.open_byte(&text, 100_001);
        assert!(pages.text.len() <= LINE_BYTES);
        assert!(pages.open_line(&text, 0));
        assert_eq!(pages.number(), 0);
    }

    proptest! {
        #[test]
        fn parts_are_the_text(text in "([a-zä\n]{0,30}\n?){0,6}", at in 0..200_usize) {
            let at = text.floor_char_boundary(at.min(text.len()));
            let mut pages = Chunks::of(&text, at);
            let mut whole = String::new();
            for number in 0..pages.count() {
                pages.go_to(&text, number);
                whole.push_str(&pages.text);
            }
            prop_assert_eq!(&whole, &text);
            prop_assert_eq!(pages.lines(), count_lines(&text) + 1);
        }
    }
}
