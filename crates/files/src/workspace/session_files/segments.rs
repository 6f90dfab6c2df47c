//! A YAML text as segments, each kept byte for byte: the keys of a mapping with everything that belongs to them, and
//! the entries of a list below one of them.

use super::super::yaml;

/// A key with everything below it, up to the next key at the same depth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment<'a> {
    /// The key; empty for the text before the first key.
    pub key: &'a str,
    /// The text, including line breaks.
    pub text: &'a str,
}

/// Splits a mapping whose keys are indented by `indent`. Comments and empty lines belong to the key above them.
pub fn pieces(text: &str, indent: usize) -> Vec<Segment<'_>> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(key) = key_of(line, indent) {
            found.push((at, key));
        }
        at += line.len();
    }
    let mut pieces = Vec::with_capacity(found.len() + 1);
    let first = found.first().map_or(text.len(), |(start, _)| *start);
    if first > 0 {
        pieces.push(Segment { key: "", text: &text[..first] });
    }
    for (place, (start, key)) in found.iter().enumerate() {
        let end = found.get(place + 1).map_or(text.len(), |(next, _)| *next);
        pieces.push(Segment { key, text: &text[*start..end] });
    }
    pieces
}

/// Returns the key that begins on a line with this indentation.
fn key_of(line: &str, indent: usize) -> Option<&str> {
    let rest = line.get(indent..)?;
    let is_key = |first: char| first.is_ascii_alphanumeric() || first == '_';
    if !line[..indent].bytes().all(|byte| byte == b' ') || !rest.starts_with(is_key) {
        return None;
    }
    let (key, behind) = rest.split_once(':')?;
    let is_word = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (is_word && (behind.is_empty() || behind.starts_with([' ', '\n', '\r', '\t']))).then_some(key)
}

/// Splits a list below a key: the text before the first entry (including the key's own line), the indentation of the
/// entries, and the entries. `None` if the list is written in another style.
pub fn entries(piece: &str) -> Option<(&str, usize, Vec<&str>)> {
    let mut starts = Vec::new();
    let mut indent = None;
    let mut at = 0;
    for (number, line) in piece.split_inclusive('\n').enumerate() {
        let body = line.trim_start_matches(' ');
        let depth = line.len() - body.len();
        let is_entry = body.starts_with("- ") || matches!(body.trim_end(), "-");
        if number > 0 && is_entry && *indent.get_or_insert(depth) == depth {
            starts.push(at);
        }
        at += line.len();
    }
    let Some(first) = starts.first().copied() else {
        let value = piece.split_once(':').map(|(_, value)| value)?;
        let is_empty = value.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || line == "[]" || line.starts_with('#')
        });
        return is_empty.then_some((piece, 2, Vec::new()));
    };
    let all = starts.iter().enumerate().map(|(place, start)| {
        let end = starts.get(place + 1).copied().unwrap_or(piece.len());
        &piece[*start..end]
    });
    Some((&piece[..first], indent.unwrap_or(2), all.collect()))
}

/// Changes the indentation of a text from `from` to `to` spaces.
pub fn moved(text: &str, from: usize, to: usize) -> String {
    if from == to {
        return text.to_owned();
    }
    let old = " ".repeat(from);
    let move_line = |line: &str| match line.strip_prefix(old.as_str()) {
        Some(rest) if !rest.trim().is_empty() => format!("{}{rest}", " ".repeat(to)),
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(move_line).collect()
}

/// Replaces a top-level key of a mapping, or appends it.
pub fn with_key(text: &str, key: &str, value: &serde_json::Value) -> String {
    let crlf = text.contains("\r\n");
    let new = format!("{key}:{}\n", yaml::block(value, 2));
    let new = if crlf { new.replace('\n', "\r\n") } else { new };
    let all = pieces(text, 0);
    let mut is_there = false;
    let mut result = String::with_capacity(text.len() + new.len());
    for piece in &all {
        if piece.key == key && !is_there {
            is_there = true;
            result += &keeping_comments(piece.text, &new);
        } else {
            result += piece.text;
        }
    }
    if !is_there {
        if !result.is_empty() && !result.ends_with('\n') {
            result += if crlf { "\r\n" } else { "\n" };
        }
        result += &new;
    }
    result
}

/// Returns the new text of a key, with the comment on its line and the comments and empty lines below it.
fn keeping_comments(old: &str, new: &str) -> String {
    let is_aside = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let aside = lines.iter().skip(1).rev().take_while(|line| is_aside(line)).count();
    let comment = lines.first().filter(|_| lines.len() == 1 + aside).and_then(|line| comment_of(line));
    let mut text = match comment {
        Some(comment) if new.trim_end().lines().count() == 1 => {
            let end = if new.ends_with("\r\n") { "\r\n" } else { "\n" };
            format!("{} {}{end}", new.trim_end(), comment)
        }
        _ => new.to_owned(),
    };
    text.extend(lines[lines.len() - aside..].iter().copied());
    text
}

/// Returns the comment after a value on one line.
fn comment_of(line: &str) -> Option<&str> {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('#', None) if line[..at].ends_with([' ', '\t']) => return Some(line[at..].trim_end()),
            _ => {}
        }
    }
    None
}
