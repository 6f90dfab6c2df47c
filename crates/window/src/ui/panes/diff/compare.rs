//! Computes the difference of two texts as rows of lines. Pure and bounded in time; applying the rows gives the second
//! text exactly.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use similar::{DiffTag, TextDiff};

/// The time limit for comparing lines; the rest counts as replaced.
const LINES_AT_MOST: Duration = Duration::from_millis(100);
/// The time limit for comparing the words of one line.
const WORDS_AT_MOST: Duration = Duration::from_millis(5);
/// Words are marked in lines that are no longer than this.
const MARKED_LINE_BYTES: usize = 1_000;
/// And the limit of text in total.
const MARKED_BYTES: usize = 200_000;
/// Lines with less in common than a quarter are simply others: marks would be confetti.
const LEAST_IN_COMMON: usize = 4;
/// How many unchanged lines are shown around a change.
const CONTEXT_LINES: usize = 3;
/// Shorter stretches are not worth folding.
const FOLDED_LINES: usize = 4;
/// What is further right in a line is not shown.
pub(super) const SHOWN_CHARS: usize = 4_000;

/// A line, counted from 0, and the bytes in it that differ from the line beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Which line.
    pub line: usize,
    /// What differs, in bytes of the line.
    pub marks: Vec<Range<usize>>,
}

/// Lines that belong side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// The same in both texts: the old line and the new one.
    Same(usize, usize),
    /// What went and what came in its place.
    Changed(Option<Place>, Option<Place>),
}

/// How one text became another.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// All lines of both texts, in order.
    pub rows: Vec<Row>,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub gone: usize,
    old: Vec<Range<usize>>,
    new: Vec<Range<usize>>,
}

impl Comparison {
    /// Compares two texts.
    pub(super) fn of(old: &str, new: &str) -> Self {
        let (old_lines, new_lines) = (lines(old), lines(new));
        let old_slices: Vec<&str> = old_lines.iter().map(|range| &old[range.clone()]).collect();
        let new_slices: Vec<&str> = new_lines.iter().map(|range| &new[range.clone()]).collect();
        let diff = TextDiff::configure().timeout(LINES_AT_MOST).diff_slices(&old_slices, &new_slices);
        let mut made = Self::default();
        let mut left_to_mark = MARKED_BYTES;
        for op in diff.ops() {
            let (olds, news) = (op.old_range(), op.new_range());
            if op.tag() == DiffTag::Equal {
                made.rows.extend(olds.zip(news).map(|(old, new)| Row::Same(old, new)));
                continue;
            }
            made.gone += olds.len();
            made.added += news.len();
            for index in 0..olds.len().max(news.len()) {
                let at = |range: &Range<usize>| (index < range.len()).then(|| range.start + index);
                let (old, new) = (at(&olds), at(&news));
                let (old_marks, new_marks) = match (old, new) {
                    (Some(old), Some(new)) => marks(old_slices[old], new_slices[new], &mut left_to_mark),
                    _ => Default::default(),
                };
                let place = |line: Option<usize>, marks| line.map(|line| Place { line, marks });
                made.rows.push(Row::Changed(place(old, old_marks), place(new, new_marks)));
            }
        }
        (made.old, made.new) = (old_lines, new_lines);
        made
    }

    /// Whether nothing changed.
    pub(super) fn is_same(&self) -> bool {
        self.added + self.gone == 0
    }

    /// A line of the old text as it is shown: without its end and without what is too far right.
    pub(super) fn old_line<'a>(&self, old: &'a str, line: usize) -> &'a str {
        shown(old, self.old.get(line))
    }

    /// A line of the new text as it is shown.
    pub(super) fn new_line<'a>(&self, new: &'a str, line: usize) -> &'a str {
        shown(new, self.new.get(line))
    }

    /// Whether a text does not end with a line's end although it holds something: with its last line.
    pub(super) fn bare_end(text: &str, is_last: bool) -> bool {
        is_last && !text.is_empty() && !text.ends_with('\n')
    }

    /// Whether this is the last line of the old text, or of the new one.
    pub(super) fn is_last(&self, is_new: bool, line: usize) -> bool {
        line + 1 == if is_new { self.new.len() } else { self.old.len() }
    }

    /// How many lines the longer text has.
    pub(super) fn longest(&self) -> usize {
        self.old.len().max(self.new.len())
    }

    /// Rows and folded stretches in the order in which they are seen; stretches in `unfolded` (by their first row)
    /// are seen row by row.
    pub(super) fn seen(&self, unfolded: &BTreeSet<usize>) -> Vec<SeenRow> {
        let mut seen = Vec::new();
        let mut at = 0;
        while at < self.rows.len() {
            let is_same = |row: &Row| matches!(row, Row::Same(..));
            let run = self.rows[at..].iter().take_while(|row| is_same(row)).count();
            if run == 0 {
                seen.push(SeenRow::Row(at));
                at += 1;
                continue;
            }
            // Nothing changed above the first stretch and below the last one.
            let above = if at == 0 { 0 } else { CONTEXT_LINES };
            let below = if at + run == self.rows.len() { 0 } else { CONTEXT_LINES };
            let folded = run.saturating_sub(above + below);
            let first = at + above;
            if folded < FOLDED_LINES || unfolded.contains(&first) {
                seen.extend((at..at + run).map(SeenRow::Row));
            } else {
                seen.extend((at..first).map(SeenRow::Row));
                seen.push(SeenRow::Fold { first, count: folded });
                seen.extend((first + folded..at + run).map(SeenRow::Row));
            }
            at += run;
        }
        seen
    }
}

/// What is seen of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SeenRow {
    /// A row, by its place.
    Row(usize),
    /// Rows that are alike, from the first of them on.
    Fold {
        /// The first of them.
        first: usize,
        /// How many.
        count: usize,
    },
}

/// The positions of the lines of a text, each with its end.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.len();
        start = range.end;
        range
    });
    lines.collect()
}

fn shown<'a>(text: &'a str, range: Option<&Range<usize>>) -> &'a str {
    let line = range.and_then(|range| text.get(range.clone())).unwrap_or_default();
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    // A character is four bytes at most, so only lines that may be too long are counted.
    if line.len() <= SHOWN_CHARS {
        return line;
    }
    line.char_indices().nth(SHOWN_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// What differs within two lines, in bytes of each.
fn marks(old: &str, new: &str, left: &mut usize) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let bytes = old.len() + new.len();
    if old.len() > MARKED_LINE_BYTES || new.len() > MARKED_LINE_BYTES || bytes > *left {
        return Default::default();
    }
    *left -= bytes;
    let (old_words, new_words) = (words(old), words(new));
    let diff = TextDiff::configure().timeout(WORDS_AT_MOST).diff_slices(&old_words, &new_words);
    let starts = |words: &[&str]| -> Vec<usize> {
        let ends = words.iter().scan(0, |at, word| {
            *at += word.len();
            Some(*at)
        });
        std::iter::once(0).chain(ends).collect()
    };
    let (old_starts, new_starts) = (starts(&old_words), starts(&new_words));
    let mut marked = (Vec::new(), Vec::new());
    let mut in_common = 0;
    for op in diff.ops() {
        let (olds, news) = (op.old_range(), op.new_range());
        if op.tag() == DiffTag::Equal {
            in_common += old_words[olds].iter().map(|word| word.trim().len()).sum::<usize>();
            continue;
        }
        if !olds.is_empty() {
            marked.0.push(old_starts[olds.start]..old_starts[olds.end]);
        }
        if !news.is_empty() {
            marked.1.push(new_starts[news.start]..new_starts[news.end]);
        }
    }
    let is_alike = in_common * LEAST_IN_COMMON >= old.trim().len().max(new.trim().len());
    if is_alike { marked } else { Default::default() }
}

/// Words, and the characters between them one by one.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    for (at, character) in line.char_indices() {
        let is_word = character.is_alphanumeric() || character == '_';
        if at > start && !(is_word && in_word) {
            words.push(&line[start..at]);
            start = at;
        }
        in_word = is_word;
    }
    if start < line.len() {
        words.push(&line[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The old or the new text of the rows.
    fn text_of(rows: &[Row], text: &str, is_new: bool) -> String {
        let all = lines(text);
        let line = |row: &Row| match row {
            Row::Same(old, new) => Some(if is_new { *new } else { *old }),
            Row::Changed(old, new) => (if is_new { new } else { old }).as_ref().map(|place| place.line),
        };
        rows.iter().filter_map(line).map(|line| &text[all[line].clone()]).collect()
    }

    fn check(old: &str, new: &str) -> Comparison {
        let made = Comparison::of(old, new);
        assert_eq!(text_of(&made.rows, old, false), old);
        assert_eq!(text_of(&made.rows, new, true), new);
        made
    }

    #[test]
    fn applied_to_the_old_text_it_gives_the_new_one() {
        let table = [
            ("", ""),
            ("", "a\n"),
            ("a\n", ""),
            ("a\nb\nc\n", "a\nB\nc\n"),
            ("a\nb", "a\nb\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("\n\n\n", "\n"),
            ("один\nдва\n", "один\nтри\nдва\n"),
        ];
        for (old, new) in table {
            let made = check(old, new);
            assert_eq!(made.is_same(), old == new, "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_missing_end_of_the_last_line_is_a_difference() {
        let made = check("a\nb", "a\nb\n");
        assert_eq!((made.gone, made.added), (1, 1));
        assert!(made.is_last(false, 1) && Comparison::bare_end("a\nb", true));
        assert!(!Comparison::bare_end("a\nb\n", true) && !Comparison::bare_end("", true));
    }

    #[test]
    fn words_that_differ_are_marked_where_lines_are_alike() {
        let made = check("the red house stands here\n", "the blue house stands here\n");
        let [Row::Changed(Some(old), Some(new))] = made.rows.as_slice() else { panic!("{:?}", made.rows) };
        assert_eq!((old.marks.len(), new.marks.len()), (1, 1));
        assert_eq!((old.marks[0].clone(), new.marks[0].clone()), (4..7, 4..8));
        let made = check("nothing\n", "an entirely other sentence\n");
        let [Row::Changed(Some(old), Some(new))] = made.rows.as_slice() else { panic!("{:?}", made.rows) };
        assert!(old.marks.is_empty() && new.marks.is_empty());
        let made = check("grün ist gut und schön\n", "grün ist böse und schön\n");
        let [Row::Changed(_, Some(new))] = made.rows.as_slice() else { panic!("{:?}", made.rows) };
        assert_eq!(&"grün ist böse und schön"[new.marks[0].clone()], "böse");
    }

    #[test]
    fn huge_and_binary_like_texts_are_compared_in_bearable_time() {
        let old: String = (0..60_000).map(|line| format!("{} line\n", line * 7 % 1_013)).collect();
        let new: String = (0..60_000).map(|line| format!("{} line\n", line * 11 % 1_019)).collect();
        check(&old, &new);
        let one_line = "\u{0}\u{1}\u{fffd}".repeat(200_000);
        let made = check(&one_line, &format!("{one_line}x"));
        assert_eq!(made.old_line(&one_line, 0).chars().count(), SHOWN_CHARS);
    }

    #[test]
    fn long_stretches_that_are_alike_are_folded_until_they_are_wanted() {
        let old: String = (0..200).map(|line| format!("line {line}\n")).collect();
        let new = old.replace("line 100\n", "line one hundred\n");
        let made = check(&old, &new);
        let seen = made.seen(&BTreeSet::new());
        let folds: Vec<SeenRow> = seen.iter().copied().filter(|row| matches!(row, SeenRow::Fold { .. })).collect();
        assert_eq!(folds, [SeenRow::Fold { first: 0, count: 97 }, SeenRow::Fold { first: 104, count: 96 }]);
        assert_eq!(seen.len(), 2 + 7);
        assert_eq!(made.seen(&BTreeSet::from([0])).len(), 97 + 1 + 7);
        assert_eq!(check("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").seen(&BTreeSet::new()).len(), 5, "too short to fold");
    }
}
