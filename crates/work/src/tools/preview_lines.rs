//! The lines in which a preview is shown to a person, wherever it is shown: all of them, with every character visible.
//! Pure.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::proposal::Preview;
use crate::base::visible_text::{
    in_logical_order, is_reordered, original, sha256_of, visible, visible_in_order, visible_lines, without_long_gaps,
    wrapped,
};

/// The size of a text, in characters and in lines, above which its heading says how long it is.
const LONG_TEXT: (usize, usize) = (200, 20);
/// The number of digits of a hash that a heading shows.
const HASH_DIGITS: usize = 16;
/// How many unchanged lines are shown around a change.
const LINES_AROUND: usize = 2;

/// A line of the preview.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PreviewLine {
    /// The kind of line.
    pub mark: PreviewLineKind,
    /// The text, with every character visible.
    pub text: String,
}

/// What the rows of a long line begin with, after the first one.
pub const CONTINUATION: &str = "  ↳ ";

impl PreviewLine {
    /// The line as plain text, in rows of at most `width` characters: added, removed and unchanged lines are
    /// distinguished by their first characters, and so are the further rows of a long line.
    pub fn rows(&self, width: usize) -> Vec<String> {
        let lead = match self.mark {
            PreviewLineKind::Heading => "",
            PreviewLineKind::Plain => "  | ",
            PreviewLineKind::Added => "  + ",
            PreviewLineKind::Removed => "  - ",
            PreviewLineKind::Gap => "  ",
        };
        let mut rows: Vec<String> = self.pieces(width.saturating_sub(CONTINUATION.chars().count())).collect();
        if let Some(first) = rows.first_mut() {
            first.insert_str(0, lead);
        }
        if self.mark == PreviewLineKind::Heading
            && let Some(last) = rows.last_mut()
        {
            last.push(':');
        }
        rows
    }

    /// The text in pieces of at most `width` characters; all but the first begin with [`CONTINUATION`].
    pub fn pieces(&self, width: usize) -> impl Iterator<Item = String> {
        let piece = |(index, piece): (usize, &str)| {
            if index == 0 { piece.to_owned() } else { format!("{CONTINUATION}{piece}") }
        };
        wrapped(&self.text, width.max(1)).into_iter().enumerate().map(piece)
    }
}

/// The kind of a preview line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewLineKind {
    /// A heading for the lines below it.
    Heading,
    /// An unchanged line.
    Plain,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// A note of the program.
    Gap,
}

/// Finds the texts, as they were, in the rows of a preview. Of a comparison, these are the lines that are shown.
pub fn texts_of_rows<'a>(rows: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut texts: Vec<Vec<String>> = Vec::new();
    let mut is_text = false;
    for row in rows {
        if let Some(more) = row.strip_prefix(CONTINUATION) {
            let line = texts.last_mut().and_then(|text| text.last_mut()).filter(|_| is_text);
            line.into_iter().for_each(|line| line.push_str(more));
        } else if let Some(rest) = row.strip_prefix("  ") {
            let line = ["|", "+", "-"].iter().find_map(|sign| rest.strip_prefix(sign));
            let line = line.and_then(|line| line.strip_prefix(' ').or(line.is_empty().then_some("")));
            is_text = line.is_some();
            texts.last_mut().into_iter().for_each(|text| text.extend(line.map(str::to_owned)));
        } else {
            is_text = false;
            texts.push(Vec::new());
        }
    }
    let texts = texts.iter().filter(|text| !text.is_empty());
    texts.map(|text| original(text.iter().map(String::as_str))).collect()
}

impl Preview {
    /// The lines of the preview as shown to a person: all of them, with every character visible.
    pub fn lines(&self) -> Vec<PreviewLine> {
        let mut lines = Vec::new();
        match self {
            Self::Write { path, text } => {
                file(&mut lines, &format!("The whole text of {path}"), PreviewLineKind::Added, text);
            }
            Self::Change { path, old, new } => changed(&mut lines, path, old, new),
            Self::Addition { path, text } => {
                file(&mut lines, &format!("At the end of {path}"), PreviewLineKind::Added, text);
            }
            Self::Deletion { path, text } => {
                let text = text.as_deref().unwrap_or_default();
                let heading = format!("{path} is deleted; its versions are kept");
                file(&mut lines, &heading, PreviewLineKind::Removed, text);
            }
            Self::Rename { from, to } => {
                heading(&mut lines, "The file is called");
                put(&mut lines, PreviewLineKind::Removed, from);
                put(&mut lines, PreviewLineKind::Added, to);
            }
            Self::Patch { text } => {
                let size = size_of(text, false);
                if !size.is_empty() {
                    heading(&mut lines, &format!("All changes{size}"));
                }
                patch(&mut lines, text);
            }
            Self::NewAgent { path, text, task } => {
                titled(&mut lines, "Its task", task);
                file(&mut lines, &format!("Its file {path}"), PreviewLineKind::Added, text);
            }
            Self::Task { agent, task } => titled(&mut lines, &format!("The task for {agent}"), task),
            Self::Command { line, folder } => {
                titled(&mut lines, "Command", line);
                let folder = folder.as_deref().filter(|folder| !folder.is_empty());
                titled(&mut lines, "In the folder", folder.unwrap_or("of the workspace"));
            }
            Self::Address { address, details } => {
                titled(&mut lines, "Address", address);
                list(&mut lines, details);
            }
            Self::Arguments { rows } => list(&mut lines, rows),
        }
        let kind = |line: &PreviewLine| line.text.is_empty().then_some(line.mark);
        without_long_gaps(lines, kind, |line, text| PreviewLine { text, ..line })
    }
}

fn heading(lines: &mut Vec<PreviewLine>, text: &str) {
    // Rows that begin with blanks are those of a text.
    let text = visible_in_order(&visible(text)).replacen(' ', if text.starts_with(' ') { "‹1 blank›" } else { " " }, 1);
    lines.push(PreviewLine { mark: PreviewLineKind::Heading, text });
}

/// Adds a heading, with the size of the text if it is long, and the text.
fn titled(lines: &mut Vec<PreviewLine>, title: &str, text: &str) {
    heading(lines, &format!("{title}{}", size_of(text, false)));
    put(lines, PreviewLineKind::Plain, text);
}

/// Adds the whole text of a file. If all of its lines end in the way of Windows, the heading says so instead of each line.
fn file(lines: &mut Vec<PreviewLine>, title: &str, mark: PreviewLineKind, text: &str) {
    let unix = with_unix_line_ends(text);
    heading(lines, &format!("{title}{}", size_of(text, unix.is_some())));
    if !text.is_empty() {
        put(lines, mark, unix.as_deref().unwrap_or(text));
    }
}

/// Returns a text with the line ends of Unix, if all of its lines end in the way of Windows.
fn with_unix_line_ends(text: &str) -> Option<String> {
    let breaks = text.matches('\n').count();
    let is_windows = breaks > 0 && breaks == text.matches("\r\n").count() && breaks == text.matches('\r').count();
    is_windows.then(|| text.replace("\r\n", "\n"))
}

/// What a heading says about a text: its size and hash, if it is long, and its line ends, if they are those of Windows.
fn size_of(text: &str, is_windows: bool) -> String {
    let (chars, lines) = (text.chars().count(), text.matches('\n').count() + 1);
    let mut parts = Vec::new();
    if chars > LONG_TEXT.0 || lines > LONG_TEXT.1 {
        let in_lines = if lines == 1 { "one line".to_owned() } else { format!("{lines} lines") };
        parts.push(format!("{chars} characters in {in_lines}, SHA-256 {}…", &sha256_of(text)[..HASH_DIGITS]));
    }
    parts.extend(is_windows.then(|| "all lines end with CR LF".to_owned()));
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

fn put(lines: &mut Vec<PreviewLine>, mark: PreviewLineKind, text: &str) {
    visible_lines(text).for_each(|line| push(lines, mark, line.into_owned()));
}

/// Adds a visible line, and how it reads from left to right if it is shown in another order.
fn push(lines: &mut Vec<PreviewLine>, mark: PreviewLineKind, text: String) {
    let in_order = is_reordered(&text).then(|| format!("(in the order in which it is: {})", in_logical_order(&text)));
    lines.push(PreviewLine { mark, text });
    lines.extend(in_order.map(|text| PreviewLine { mark: PreviewLineKind::Gap, text }));
}

fn list(lines: &mut Vec<PreviewLine>, rows: &[(String, String)]) {
    for (name, value) in rows {
        titled(lines, name, value);
    }
}

/// Adds a patch, with a heading for each file. Hunks are parsed by their line counts, so that no content looks like a
/// heading.
fn patch(lines: &mut Vec<PreviewLine>, text: &str) {
    let (mut old, mut left) = ("", (0_usize, 0_usize));
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        let sign = line.chars().next();
        let is_text = left != (0, 0) && matches!(sign, Some(' ' | '+' | '-'));
        if is_text {
            left.0 = left.0.saturating_sub(usize::from(sign != Some('+')));
            left.1 = left.1.saturating_sub(usize::from(sign != Some('-')));
            let mark = match sign {
                Some('+') => PreviewLineKind::Added,
                Some('-') => PreviewLineKind::Removed,
                _ => PreviewLineKind::Plain,
            };
            push(lines, mark, visible(&line[1..]).into_owned());
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = path;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            heading(
                lines,
                &match (old.strip_prefix("a/"), path.strip_prefix("b/")) {
                    (Some(path), None) => format!("{path} is deleted; its versions are kept"),
                    (None, Some(path)) => format!("{path} is new"),
                    (_, path) => path.unwrap_or_default().to_owned(),
                },
            );
        } else if let Some(numbers) = line.strip_prefix("@@ -") {
            left = lines_of_hunk(numbers).unwrap_or_default();
            if !begins_file(numbers) {
                lines.push(PreviewLine { mark: PreviewLineKind::Gap, text: "…".to_owned() });
            }
        } else {
            lines.push(PreviewLine { mark: PreviewLineKind::Gap, text: visible(line).into_owned() });
        }
    }
}

/// The number of old and new lines in a hunk, from its header: `1,3 +1,4 @@`.
fn lines_of_hunk(numbers: &str) -> Option<(usize, usize)> {
    let (old, rest) = numbers.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

/// Whether a hunk begins with the first line of its file, so that there is nothing unchanged before it.
fn begins_file(numbers: &str) -> bool {
    let first = numbers.split([',', ' ']).next().and_then(|first| first.parse::<usize>().ok());
    first.is_some_and(|first| first <= 1)
}

/// Adds the lines in which two texts of a file differ, with some context.
fn changed(lines: &mut Vec<PreviewLine>, path: &str, old: &str, new: &str) {
    let unix = with_unix_line_ends(old).zip(with_unix_line_ends(new));
    heading(lines, &format!("{path}{}", size_of(new, unix.is_some())));
    let (old, new) = unix.as_ref().map_or((old, new), |(old, new)| (old.as_str(), new.as_str()));
    let is_end_changed = old.ends_with('\n') != new.ends_with('\n');
    let diff = TextDiff::from_lines(old, new);
    for (index, group) in diff.grouped_ops(LINES_AROUND).iter().enumerate() {
        if index > 0 {
            lines.push(PreviewLine { mark: PreviewLineKind::Gap, text: "…".to_owned() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Equal => PreviewLineKind::Plain,
                ChangeTag::Delete => PreviewLineKind::Removed,
                ChangeTag::Insert => PreviewLineKind::Added,
            };
            // Such a difference treats a carriage return as the end of a line, too.
            let whole = change.value();
            let line = whole.strip_suffix('\n').unwrap_or(whole);
            push(lines, mark, visible(line).into_owned());
            if is_end_changed && !whole.ends_with(['\n', '\r']) {
                lines.push(PreviewLine { mark: PreviewLineKind::Gap, text: "(no line break at the end)".to_owned() });
            }
        }
    }
}
