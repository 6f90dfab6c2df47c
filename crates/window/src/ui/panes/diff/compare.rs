//! Computes the difference of two texts as rows of lines. Pure and bounded in time; the rows contain both texts
//! completely.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use similar::{DiffTag, TextDiff};

/// The time limit for comparing lines; the rest counts as replaced.
const LINES_TIMEOUT: Duration = Duration::from_millis(100);
/// The time limit for comparing the words of one line.
const WORDS_TIMEOUT: Duration = Duration::from_millis(5);
/// The maximum length of a line in which changed words are marked.
const MARKED_LINE_BYTES: usize = 1_000;
/// The maximum total length of such lines.
const MARKED_BYTES: usize = 200_000;
/// Words are marked only in lines that have at least a quarter in common.
const COMMON_DIVISOR: usize = 4;
/// The number of unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// The minimum number of unchanged lines to collapse.
const MIN_COLLAPSED_LINES: usize = 4;
/// The maximum number of characters of a line; the rest is not shown.
pub(super) const MAX_LINE_CHARS: usize = 4_000;

/// A changed line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ChangedLine {
    /// The line number, from 0.
    pub line: usize,
    /// The byte ranges of changed words.
    pub marks: Vec<Range<usize>>,
}

/// Lines that are shown side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// An unchanged line, with its old and new number.
    Same(usize, usize),
    /// A removed line and the line that replaced it; either may be absent.
    Changed(Option<ChangedLine>, Option<ChangedLine>),
}

/// The difference of two texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// All lines of both texts, in order.
    pub rows: Vec<Row>,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    old: Vec<Range<usize>>,
    new: Vec<Range<usize>>,
}

impl Comparison {
    /// Compares two texts.
    pub(super) fn of(old: &str, new: &str) -> Self {
        let (old_lines, new_lines) = (lines(old), lines(new));
        let old_slices: Vec<&str> = old_lines.iter().map(|range| &old[range.clone()]).collect();
        let new_slices: Vec<&str> = new_lines.iter().map(|range| &new[range.clone()]).collect();
        let diff = TextDiff::configure().timeout(LINES_TIMEOUT).diff_slices(&old_slices, &new_slices);
        let mut comparison = Self::default();
        let mut mark_budget = MARKED_BYTES;
        for op in diff.ops() {
            let (olds, news) = (op.old_range(), op.new_range());
            if op.tag() == DiffTag::Equal {
                comparison.rows.extend(olds.zip(news).map(|(old, new)| Row::Same(old, new)));
                continue;
            }
            comparison.removed += olds.len();
            comparison.added += news.len();
            for index in 0..olds.len().max(news.len()) {
                let at = |range: &Range<usize>| (index < range.len()).then(|| range.start + index);
                let (old, new) = (at(&olds), at(&news));
                let (old_marks, new_marks) = match (old, new) {
                    (Some(old), Some(new)) => marks(old_slices[old], new_slices[new], &mut mark_budget),
                    _ => Default::default(),
                };
                let place = |line: Option<usize>, marks| line.map(|line| ChangedLine { line, marks });
                comparison.rows.push(Row::Changed(place(old, old_marks), place(new, new_marks)));
            }
        }
        (comparison.old, comparison.new) = (old_lines, new_lines);
        comparison
    }

    /// Whether nothing changed.
    pub(super) fn is_same(&self) -> bool {
        self.added + self.removed == 0
    }

    /// Returns a line of the old text without its newline, cut to [`MAX_LINE_CHARS`].
    pub(super) fn old_line<'a>(&self, old: &'a str, line: usize) -> &'a str {
        visible_text(old, self.old.get(line))
    }

    /// Returns a line of the new text without its newline, cut to [`MAX_LINE_CHARS`].
    pub(super) fn new_line<'a>(&self, new: &'a str, line: usize) -> &'a str {
        visible_text(new, self.new.get(line))
    }

    /// Whether a non-empty text lacks a newline at its end, for its last line.
    pub(super) fn lacks_newline(text: &str, is_last: bool) -> bool {
        is_last && !text.is_empty() && !text.ends_with('\n')
    }

    /// Whether this is the last line of the old or new text.
    pub(super) fn is_last(&self, is_new: bool, line: usize) -> bool {
        line + 1 == if is_new { self.new.len() } else { self.old.len() }
    }

    /// Returns the number of lines of the longer text.
    pub(super) fn max_line_count(&self) -> usize {
        self.old.len().max(self.new.len())
    }

    /// Returns the visible rows and collapsed sections in order. Sections in `unfolded`, by their first row, are
    /// expanded.
    pub(super) fn visible_rows(&self, unfolded: &BTreeSet<usize>) -> Vec<VisibleRow> {
        let mut visible = Vec::new();
        let mut at = 0;
        while at < self.rows.len() {
            let is_same = |row: &Row| matches!(row, Row::Same(..));
            let run = self.rows[at..].iter().take_while(|row| is_same(row)).count();
            if run == 0 {
                visible.push(VisibleRow::Row(at));
                at += 1;
                continue;
            }
            // The first section has no change above it, and the last one none below it.
            let above = if at == 0 { 0 } else { CONTEXT_LINES };
            let below = if at + run == self.rows.len() { 0 } else { CONTEXT_LINES };
            let folded = run.saturating_sub(above + below);
            let first = at + above;
            if folded < MIN_COLLAPSED_LINES || unfolded.contains(&first) {
                visible.extend((at..at + run).map(VisibleRow::Row));
            } else {
                visible.extend((at..first).map(VisibleRow::Row));
                visible.push(VisibleRow::Fold { first, count: folded });
                visible.extend((first + folded..at + run).map(VisibleRow::Row));
            }
            at += run;
        }
        visible
    }
}

/// A visible part of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VisibleRow {
    /// A row, by index.
    Row(usize),
    /// A collapsed section of unchanged rows.
    Fold {
        /// The index of the first row.
        first: usize,
        /// The number of rows.
        count: usize,
    },
}

/// Returns the byte ranges of the lines of a text, including newlines.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.len();
        start = range.end;
        range
    });
    lines.collect()
}

fn visible_text<'a>(text: &'a str, range: Option<&Range<usize>>) -> &'a str {
    let line = range.and_then(|range| text.get(range.clone())).unwrap_or_default();
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    // A character has at least one byte, so only longer lines need to be counted.
    if line.len() <= MAX_LINE_CHARS {
        return line;
    }
    line.char_indices().nth(MAX_LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// Returns the byte ranges that differ in two lines; none if they have too little in common.
fn marks(old: &str, new: &str, budget: &mut usize) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let bytes = old.len() + new.len();
    if old.len() > MARKED_LINE_BYTES || new.len() > MARKED_LINE_BYTES || bytes > *budget {
        return Default::default();
    }
    *budget -= bytes;
    let (old_words, new_words) = (words(old), words(new));
    let diff = TextDiff::configure().timeout(WORDS_TIMEOUT).diff_slices(&old_words, &new_words);
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
    let is_alike = in_common * COMMON_DIVISOR >= old.trim().len().max(new.trim().len());
    if is_alike { marked } else { Default::default() }
}

/// Splits a line into words and the single characters between them.
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

    /// Returns the old or new text of the rows.
    fn text_of(rows: &[Row], text: &str, is_new: bool) -> String {
        let all = lines(text);
        let line = |row: &Row| match row {
            Row::Same(old, new) => Some(if is_new { *new } else { *old }),
            Row::Changed(old, new) => (if is_new { new } else { old }).as_ref().map(|place| place.line),
        };
        rows.iter().filter_map(line).map(|line| &text[all[line].clone()]).collect()
    }

    fn check(old: &str, new: &str) -> Comparison {
        let comparison = Comparison::of(old, new);
        assert_eq!(text_of(&comparison.rows, old, false), old);
        assert_eq!(text_of(&comparison.rows, new, true), new);
        comparison
    }

    #[test]
    fn rows_reproduce_both_texts() {
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
            let comparison = check(old, new);
            assert_eq!(comparison.is_same(), old == new, "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_missing_newline_at_the_end_is_a_difference() {
        let comparison = check("a\nb", "a\nb\n");
        assert_eq!((comparison.removed, comparison.added), (1, 1));
        assert!(comparison.is_last(false, 1) && Comparison::lacks_newline("a\nb", true));
        assert!(!Comparison::lacks_newline("a\nb\n", true) && !Comparison::lacks_newline("", true));
    }

    #[test]
    fn changed_words_are_marked_in_similar_lines() {
        let comparison = check("the red house stands here\n", "the blue house stands here\n");
        let [Row::Changed(Some(old), Some(new))] = comparison.rows.as_slice() else { panic!("{:?}", comparison.rows) };
        assert_eq!((old.marks.len(), new.marks.len()), (1, 1));
        assert_eq!((old.marks[0].clone(), new.marks[0].clone()), (4..7, 4..8));
        let comparison = check("nothing\n", "an entirely other sentence\n");
        let [Row::Changed(Some(old), Some(new))] = comparison.rows.as_slice() else { panic!("{:?}", comparison.rows) };
        assert!(old.marks.is_empty() && new.marks.is_empty());
        let comparison = check("grün ist gut und schön\n", "grün ist böse und schön\n");
        let [Row::Changed(_, Some(new))] = comparison.rows.as_slice() else { panic!("{:?}", comparison.rows) };
        assert_eq!(&"grün ist böse und schön"[new.marks[0].clone()], "böse");
    }

    #[test]
    fn huge_and_binary_like_texts_are_compared_in_time() {
        let old: String = (0..60_000).map(|line| format!("{} line\n", line * 7 % 1_013)).collect();
        let new: String = (0..60_000).map(|line| format!("{} line\n", line * 11 % 1_019)).collect();
        check(&old, &new);
        let one_line = "\u{0}\u{1}\u{fffd}".repeat(200_000);
        let comparison = check(&one_line, &format!("{one_line}x"));
        assert_eq!(comparison.old_line(&one_line, 0).chars().count(), MAX_LINE_CHARS);
    }

    #[test]
    fn long_unchanged_sections_are_collapsed_until_expanded() {
        let old: String = (0..200).map(|line| format!("line {line}\n")).collect();
        let new = old.replace("line 100\n", "line one hundred\n");
        let comparison = check(&old, &new);
        let visible = comparison.visible_rows(&BTreeSet::new());
        let folds: Vec<VisibleRow> =
            visible.iter().copied().filter(|row| matches!(row, VisibleRow::Fold { .. })).collect();
        assert_eq!(folds, [VisibleRow::Fold { first: 0, count: 97 }, VisibleRow::Fold { first: 104, count: 96 }]);
        assert_eq!(visible.len(), 2 + 7);
        assert_eq!(comparison.visible_rows(&BTreeSet::from([0])).len(), 97 + 1 + 7);
        assert_eq!(
            check("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").visible_rows(&BTreeSet::new()).len(),
            5,
            "too short to fold"
        );
    }
}
