//! A task file as lines: where each begins and ends, which are inside a comment or a code block, and which are
//! headings. The format is line-based, and a fence or comment that is never closed hides none of the tasks below it,
//! whereas a Markdown parser would treat all of them as code.

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
    Code,
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

/// Marks the lines of comments and code blocks that begin at the left margin and are closed.
fn mark_apart(text: &str, lines: &mut [Line]) {
    // Remembers that no further end of a comment, or of each kind of fence, follows.
    let (mut no_comment_end, mut no_fence_end) = (false, [false; 2]);
    let mut at = 0;
    while at < lines.len() {
        let line = shown(text, &lines[at]);
        let fence = ["```", "~~~"].into_iter().position(|fence| line.starts_with(fence));
        let (end, kind) = if line.starts_with("<!--") && !no_comment_end {
            let closes = |line: &str| line.trim_end().ends_with("-->");
            let end = (at..lines.len()).find(|at| closes(shown(text, &lines[*at])));
            no_comment_end = end.is_none();
            (end, Kind::Comment)
        } else if let Some(fence) = fence.filter(|fence| !no_fence_end[*fence]) {
            let sign = ["```", "~~~"][fence];
            let end = (at + 1..lines.len()).find(|at| shown(text, &lines[*at]).trim_end() == sign);
            no_fence_end[fence] = end.is_none();
            (end, Kind::Code)
        } else {
            (None, Kind::Body)
        };
        let Some(end) = end else {
            at += 1;
            continue;
        };
        lines[at..=end].iter_mut().for_each(|line| line.kind = kind);
        at = end + 1;
    }
}

fn shown<'a>(text: &'a str, line: &Line) -> &'a str {
    &text[line.start..line.text_end]
}
