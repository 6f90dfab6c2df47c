//! Text shown to a person who decides about it: every character is visible in its place, and the original can be found
//! again. Pure.
//!
//! What an agent wants to run or write is untrusted. A carriage return, an escape sequence, a change of the writing
//! direction, a pile of accents or ten thousand blanks could hide a part of it, move it out of sight, or make it read as
//! something else. So all of these are written out between ‹ and ›: `‹CR›`, `‹U+202E›`, `‹900 blanks›`. The sign ‹
//! itself is written as `‹U+2039›`, so that no text can look like one of these notes.

use std::borrow::Cow;
use std::fmt::Write;

use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use sha2::{Digest, Sha256};

use super::text_normalization::is_invisible;

/// The sign at the beginning of a note about characters.
const OPEN: char = '‹';
/// The sign at the end of it.
const CLOSE: char = '›';
/// Longer runs of blanks at the beginning of a line are written as their number.
const MAX_INDENT: usize = 40;
/// Longer runs of blanks within a line are written as their number.
const MAX_GAP: usize = 12;
/// Longer runs of empty lines are written as their number.
const MAX_EMPTY_LINES: usize = 3;
/// The maximum number of marks, such as accents, above or below one letter.
const MAX_MARKS: usize = 3;
/// The control characters that are shown by name.
const NAMED: [(char, &str); 5] = [('\n', "LF"), ('\r', "CR"), ('\t', "tab"), ('\u{1b}', "ESC"), ('\0', "NUL")];

/// Returns a text on one line, with every character visible.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| (b'!'..=b'~').contains(&byte);
    let mut bytes = text.bytes().peekable();
    // Single blanks between plain characters, as in most texts.
    let mut before = false;
    let is_ordinary = loop {
        match bytes.next() {
            None => break before || text.is_empty(),
            Some(byte) if is_plain(byte) => before = true,
            Some(b' ') if before => before = false,
            Some(_) => break false,
        }
    };
    if is_ordinary {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    // The number of marks that the last letter carries; `None` if the last character cannot carry any.
    let mut marks: Option<usize> = None;
    while let Some(character) = characters.next() {
        let is_first = shown.is_empty();
        match character {
            ' ' => {
                let mut count = 1;
                while characters.next_if_eq(&' ').is_some() {
                    count += 1;
                }
                let most = if is_first { MAX_INDENT } else { MAX_GAP };
                if characters.peek().is_none() || count > most {
                    let _ = write!(shown, "{OPEN}{count} {}{CLOSE}", if count == 1 { "blank" } else { "blanks" });
                } else {
                    shown.extend(std::iter::repeat_n(' ', count));
                }
                marks = None;
            }
            mark if is_mark(mark) && !is_invisible(mark) => match &mut marks {
                Some(count) if *count < MAX_MARKS => {
                    *count += 1;
                    shown.push(mark);
                }
                _ => push_note(&mut shown, mark),
            },
            hidden if is_hidden(hidden) => {
                push_note(&mut shown, hidden);
                marks = None;
            }
            plain => {
                shown.push(plain);
                marks = Some(0);
            }
        }
    }
    Cow::Owned(shown)
}

/// Returns the lines of a text, with every character visible. A text that ends with a line break has an empty last line.
pub fn visible_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('\n').map(visible)
}

/// Replaces runs of empty lines by their number. `kind_if_empty` returns what an empty line has to have in common with the
/// others of a run, and `None` for other lines.
pub fn without_long_gaps<Line, Kind: PartialEq>(
    lines: Vec<Line>,
    kind_if_empty: impl Fn(&Line) -> Option<Kind>,
    with_text: impl Fn(Line, String) -> Line,
) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::with_capacity(lines.len());
    let mut run = 0;
    let end_run = |kept: &mut Vec<Line>, run: usize| {
        if run > MAX_EMPTY_LINES {
            kept.truncate(kept.len() - (run - 1));
            if let Some(line) = kept.pop() {
                kept.push(with_text(line, format!("{OPEN}{run} empty lines{CLOSE}")));
            }
        }
    };
    for line in lines {
        let kind = kind_if_empty(&line);
        if run == 0 || kind.is_none() || kept.last().and_then(&kind_if_empty) != kind {
            end_run(&mut kept, run);
            run = 0;
        }
        run += usize::from(kind.is_some());
        kept.push(line);
    }
    end_run(&mut kept, run);
    kept
}

/// Finds the original of lines that [`visible_lines`] and [`without_long_gaps`] returned.
pub fn original<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let lines: Vec<String> = lines.into_iter().map(original_line).collect();
    lines.join("\n")
}

fn original_line(shown: &str) -> String {
    let mut text = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(start) = rest.find(OPEN) {
        text.push_str(&rest[..start]);
        let note = &rest[start + OPEN.len_utf8()..];
        let end = note.find(CLOSE).unwrap_or(note.len());
        push_meant(&mut text, &note[..end]);
        rest = note.get(end + CLOSE.len_utf8()..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// Adds the characters that a note stands for.
fn push_meant(text: &mut String, note: &str) {
    let character = |code: &str| u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
    match note.split_once(' ') {
        Some((count, "blank" | "blanks")) => text.push_str(&" ".repeat(count.parse().unwrap_or_default())),
        Some((count, "empty lines")) => text.push_str(&"\n".repeat(count.parse::<usize>().unwrap_or(1) - 1)),
        _ => match note.strip_prefix("U+") {
            Some(code) => text.extend(character(code)),
            None => text.extend(NAMED.iter().find(|(_, name)| *name == note).map(|(character, _)| *character)),
        },
    }
}

/// Breaks a visible line into pieces of at most `width` characters, before a blank where there is one. Joined, the pieces
/// are the line again.
pub fn wrapped(line: &str, width: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), line);
    while let Some((end, _)) = rest.char_indices().nth(width.max(1)) {
        let is_inside_note = rest[..end].rfind(OPEN).filter(|start| *start > 0 && !rest[*start..end].contains(CLOSE));
        let blank = || rest[..end].rfind(' ').filter(|at| *at > end / 2);
        // A mark stays with its letter.
        let letter =
            || rest[..end].char_indices().rev().take(8).map(|(at, _)| at).find(|at| !starts_with_mark(&rest[*at..]));
        let at = match is_inside_note.or_else(blank) {
            Some(at) => at,
            None if starts_with_mark(&rest[end..]) => letter().filter(|at| *at > 0).unwrap_or(end),
            None => end,
        };
        // No piece ends with a blank, which an editor could remove.
        let at = Some(rest[..at].trim_end_matches(' ').len()).filter(|at| *at > 0).unwrap_or(end);
        pieces.push(&rest[..at]);
        rest = &rest[at..];
    }
    pieces.push(rest);
    pieces
}

/// Whether the words of a line may be shown in another order than they are in, because it has letters of scripts that
/// are written from right to left beside others.
pub fn is_reordered(line: &str) -> bool {
    line.chars().any(is_right_to_left) && line.chars().any(|c| c.is_alphanumeric() && !is_right_to_left(c))
}

/// Returns a visible line as it is, or [`in_logical_order`] if its words could be shown in another order.
pub fn visible_in_order(line: &str) -> Cow<'_, str> {
    if is_reordered(line) { Cow::Owned(in_logical_order(line)) } else { Cow::Borrowed(line) }
}

/// Returns a visible line with every letter that is written from right to left as its number, so that it is shown in the
/// order in which it is.
pub fn in_logical_order(line: &str) -> String {
    let mut shown = String::with_capacity(line.len() * 2);
    for character in line.chars() {
        if is_right_to_left(character) { push_note(&mut shown, character) } else { shown.push(character) }
    }
    shown
}

/// Returns the SHA-256 of a text in hexadecimal digits, with which a person can compare it.
pub fn sha256_of(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Writes out a character between the signs.
pub(super) fn push_note(shown: &mut String, character: char) {
    let _ = match NAMED.iter().find(|(named, _)| *named == character) {
        Some((_, name)) => write!(shown, "{OPEN}{name}{CLOSE}"),
        None => write!(shown, "{OPEN}U+{:04X}{CLOSE}", u32::from(character)),
    };
}

/// Whether a character is written out: it is invisible, looks like a blank, has no agreed appearance, or begins a note.
fn is_hidden(character: char) -> bool {
    character == OPEN
        // The sign of further rows of a long line.
        || character == '↳'
        || is_invisible(character)
        || matches!(character,
            // A braille pattern without dots, a music sign without a note, and signs that format others.
            '\u{2800}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{1bca0}'..='\u{1bca3}' | '\u{16fe4}'
            | '\u{13430}'..='\u{1345f}' | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
            | '\u{8e2}' | '\u{110bd}' | '\u{110cd}'
            // Private use.
            | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// Whether a character is drawn on top of the one before it.
fn is_mark(character: char) -> bool {
    !character.is_ascii()
        && (CanonicalCombiningClassMapBorrowed::new().get_u8(character) != 0
            || matches!(character, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
                | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'))
}

fn starts_with_mark(text: &str) -> bool {
    text.chars().next().is_some_and(is_mark)
}

/// Whether a character is a letter or digit of a script that is written from right to left.
fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{5be}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
#[path = "visible_text_tests.rs"]
mod tests;
