//! A task file as lines: where each begins and ends, which are inside a comment or a code block, and which are
//! headings. The format is line-based, and a fence or comment that is never closed hides none of the tasks below it,
//! whereas a Markdown parser would treat all of them as code. A closed fence of any length and indentation holds text.

use crate::text::fence::Fence;

/// A line of the text; all offsets are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    /// The end of the line without its line break.
    pub(super) text_end: usize,
    /// The end of the line including its line break.
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// The role of a line in a task file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It may belong to a task.
    Body,
    /// It is inside a comment.
    Comment,
    /// It is inside a code block.
    Code {
        /// The indentation of the block, if it belongs to a list item; otherwise 0.
        within: usize,
    },
    /// It is a heading of this level.
    Heading { level: usize, is_todo: bool },
}

/// Splits a text into lines.
pub(super) fn split(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::with_capacity(text.len() / 24);
    let mut start = 0;
    for raw in text.split_inclusive('\n') {
        let end = start + raw.len();
        let shown = raw.strip_suffix('\n').map_or(raw, |line| line.strip_suffix('\r').unwrap_or(line));
        let kind = heading(shown).unwrap_or(Kind::Body);
        lines.push(Line { start, text_end: start + shown.len(), end, kind });
        start = end;
    }
    mark_apart(text, &mut lines);
    lines
}

/// Parses a heading, which needs a space after `#`: a line that begins with `#tag` is none.
fn heading(line: &str) -> Option<Kind> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let words = rest.trim().trim_end_matches('#').trim_end();
    Some(Kind::Heading { level, is_todo: words.eq_ignore_ascii_case("todo") })
}

/// Marks the lines of comments that begin at the left margin, and of code blocks, if they are closed.
fn mark_apart(text: &str, lines: &mut [Line]) {
    let mut search = FenceSearch::default();
    let mut no_comment_end = false;
    // Whether the lines that are indented by up to three spaces belong to a list item above.
    let mut is_in_item = false;
    let mut at = 0;
    while at < lines.len() {
        let line = shown(text, &lines[at]);
        let indent = indent_of(line);
        let (end, kind) = if line.starts_with("<!--") && !no_comment_end {
            let closes = |line: &str| line.trim_end().ends_with("-->");
            let end = (at..lines.len()).find(|at| closes(shown(text, &lines[*at])));
            no_comment_end = end.is_none();
            (end, Kind::Comment)
        } else if let Some(fence) = opening(line) {
            // A block inside of a list item ends with the item at the latest.
            let within = match is_behind_dash(line) {
                true => indent + 2,
                false if indent > 3 || is_in_item => indent,
                false => 0,
            };
            (search.end_of(fence, text, lines, at, within), Kind::Code { within })
        } else {
            (None, Kind::Body)
        };
        let Some(end) = end else {
            if !line.trim().is_empty() && indent < 2 {
                is_in_item = line.trim_start().starts_with("- ");
            }
            at += 1;
            continue;
        };
        let first = if is_behind_dash(line) { at + 1 } else { at };
        lines[first..=end].iter_mut().for_each(|line| line.kind = kind);
        is_in_item = first > at || (is_in_item && indent > 0);
        at = end + 1;
    }
}

/// Parses a line that opens a code block, also as the whole text of a list item.
fn opening(line: &str) -> Option<Fence> {
    let text = line.trim_start_matches([' ', '\t']);
    Fence::opening(text.strip_prefix("- ").unwrap_or(text))
}

/// Whether the line that opens a code block is that of a list item.
fn is_behind_dash(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with("- ")
}

/// Remembers which fences are not closed, so that a text full of them is not searched again and again.
#[derive(Default)]
struct FenceSearch {
    unclosed: Vec<Unclosed>,
}

struct Unclosed {
    fence: Fence,
    within: usize,
    /// The line up to which nothing closes it.
    until: usize,
}

impl FenceSearch {
    /// Returns the line that closes the fence in line `at`, before any line that is indented less than `within`.
    fn end_of(&mut self, fence: Fence, text: &str, lines: &[Line], at: usize, within: usize) -> Option<usize> {
        self.unclosed.retain(|earlier| earlier.until > at);
        let is_covered = |earlier: &Unclosed| {
            earlier.fence.sign == fence.sign && earlier.fence.length <= fence.length && earlier.within <= within
        };
        if self.unclosed.iter().any(is_covered) {
            return None;
        }
        let is_outside = |line: &str| indent_of(line) < within && !line.trim().is_empty();
        let mut next = at + 1;
        while let Some(line) = lines.get(next).map(|line| shown(text, line)).filter(|line| !is_outside(line)) {
            if fence.is_closed_by(line) {
                return Some(next);
            }
            next += 1;
        }
        self.unclosed.push(Unclosed { fence, within, until: next });
        None
    }
}

/// The width of the blanks before a line; a tab counts as one level.
fn indent_of(line: &str) -> usize {
    let blanks = line.chars().take_while(|blank| matches!(blank, ' ' | '\t'));
    blanks.map(|blank| if blank == '\t' { 2 } else { 1 }).sum()
}

fn shown<'a>(text: &'a str, line: &Line) -> &'a str {
    &text[line.start..line.text_end]
}
