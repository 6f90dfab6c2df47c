//! A task file as lines: where each begins and ends, which are inside a comment or a code block, and which are
//! headings. The format is line-based, and a fence or comment that is never closed hides none of the tasks below it: a
//! Markdown parser would take all of them for code.

/// A line of the text; all places are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    /// The end of its content.
    pub(super) text_end: usize,
    /// Where it ends, with its line end.
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// The role of a line in a task file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It may be about tasks.
    Body,
    /// It lies in a comment.
    Comment,
    /// It lies in a block of code.
    Code,
    /// It is a heading of this level.
    Heading { level: usize, is_todo: bool },
}

/// The lines of a text.
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

/// A heading has a space behind its signs: a line that begins with `#tag` is none.
fn heading(line: &str) -> Option<Kind> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let words = rest.trim().trim_end_matches('#').trim_end();
    Some(Kind::Heading { level, is_todo: words.eq_ignore_ascii_case("todo") })
}

/// Marks comments and blocks of code that begin at the left margin. One that is never closed is none.
fn mark_apart(text: &str, lines: &mut [Line]) {
    // From where on each sort of end is known not to come any more.
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
