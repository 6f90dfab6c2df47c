//! Updates a session's text: a person's text is kept byte for byte, new messages are appended, and only changed lines
//! of the head are rewritten.

use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::super::yaml;
use super::own_checksum::{is_own, sealed};
use super::parse::{parse, parse_message};
use super::segments::{Segment, entries, moved, pieces};

/// The keys of the head that the room updates; the others are written once.
const KEPT: [&str; 2] = ["status", "updated"];
/// The room's own keys of `metadata`; those that it no longer writes are removed.
const OWN_METADATA: [&str; 16] = [
    "work",
    "why",
    "activation",
    "thread",
    "earlier",
    "profile",
    "scene",
    "task",
    "started_by",
    "depth",
    "run",
    "turns",
    "tokens",
    "cost_usd",
    "messages",
    "checksum",
];

/// Updates the text of a file to the content of `ours`, provided that the room knows all of its current content.
/// Existing messages are kept as written.
pub fn brought_up_to_date(there: &str, ours: &str) -> String {
    let joined = join(there, ours).map(sealed);
    let says = |text: &str| parse(text).ok().map(|session| session.messages.iter().map(|one| one.identity()).collect());
    let wanted: Option<Vec<String>> = says(ours);
    joined.filter(|text| wanted.is_some() && says(text) == wanted).unwrap_or_else(|| ours.to_owned())
}

fn join(there: &str, ours: &str) -> Option<String> {
    let is_crlf = there.contains("\r\n");
    let (old, new) = (pieces(there, 0), pieces(ours, 0));
    let of = |key: &str| new.iter().find(|piece| piece.key == key);
    let mut result: Vec<String> = Vec::new();
    let mut messages_at = None;
    for piece in &old {
        let text = match (piece.key, of(piece.key)) {
            ("messages", Some(wanted)) => {
                messages_at = Some(result.len());
                messages(piece.text, wanted.text)?
            }
            ("metadata", Some(wanted)) => metadata(piece.text, wanted.text),
            (key, Some(wanted)) if KEPT.contains(&key) && !is_same(piece.text, wanted.text) => wanted.text.to_owned(),
            _ => piece.text.to_owned(),
        };
        result.push(if text.ends_with('\n') { text } else { text + "\n" });
    }
    let missing: String = new
        .iter()
        .filter(|piece| piece.key != "messages" && !old.iter().any(|there| there.key == piece.key))
        .map(|piece| piece.text)
        .collect();
    match messages_at {
        Some(at) => result.insert(at, missing),
        None => result.extend([missing, of("messages")?.text.to_owned()]),
    }
    let text = result.concat();
    Some(if is_crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text })
}

/// Whether two pieces have the same content.
fn is_same(one: &str, other: &str) -> bool {
    one == other || matches!((yaml::parse(one), yaml::parse(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns the resulting messages: existing ones as written, the others in the room's own style.
fn messages(there: &str, ours: &str) -> Option<String> {
    let (_, our_indent, wanted) = entries(ours)?;
    let (head, indent, old) = entries(there)?;
    if old.is_empty() || wanted.is_empty() {
        return Some(ours.to_owned());
    }
    let is_plain = |old: &str, new: &str| old == new && indent == our_indent;
    let same = |old: &str, new: &str| is_plain(old, new) || (identity(old).is_some() && identity(old) == identity(new));
    let first = old.iter().zip(&wanted).take_while(|(old, new)| same(old, new)).count();
    let (old_rest, new_rest) = (&old[first..], &wanted[first..]);
    let ended = |text: &str| if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let mut result: String = head.to_owned();
    result.extend(old[..first].iter().map(|text| ended(text)));
    let new = |text: &&str| moved(text, our_indent, indent);
    if old_rest.is_empty() || new_rest.is_empty() {
        result.extend(new_rest.iter().map(new));
        return Some(result);
    }
    let keys = |all: &[&str]| -> Vec<String> {
        all.iter().map(|text| identity(text).unwrap_or_else(|| format!("?{text}"))).collect()
    };
    for op in capture_diff_slices(Algorithm::Myers, &keys(old_rest), &keys(new_rest)) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                result.extend(old_rest[old_index..old_index + len].iter().map(|text| ended(text)));
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                result.extend(new_rest[new_index..new_index + new_len].iter().map(new));
            }
        }
    }
    Some(result)
}

fn identity(entry: &str) -> Option<String> {
    // A piece can be parsed as an entry if it begins at the left edge.
    let depth = entry.len() - entry.trim_start_matches(' ').len();
    parse_message(&moved(&entry.replace('\r', ""), depth, 0)).map(|message| message.identity())
}

/// Returns the `metadata` with the room's entries and those of others.
fn metadata(there: &str, ours: &str) -> String {
    let nested = |text: &str| -> usize {
        let below = text.split_inclusive('\n').skip(1).find(|line| !line.trim().is_empty());
        below.map_or(0, |line| line.len() - line.trim_start_matches(' ').len())
    };
    let indent = nested(there);
    if indent == 0 {
        return with_others(there, ours);
    }
    let moved_ours = moved(ours, 2, indent);
    let (old, new) = (pieces(there, indent), pieces(&moved_ours, indent));
    let of = |key: &str| new.iter().find(|piece| piece.key == key);
    let is_others =
        |piece: &&Segment<'_>| piece.key.is_empty() || of(piece.key).is_some() || !OWN_METADATA.contains(&piece.key);
    let kept = old.iter().filter(is_others).map(|piece| match of(piece.key) {
        Some(wanted) if !piece.key.is_empty() && !is_same(piece.text, wanted.text) => wanted.text,
        _ => piece.text,
    });
    let kept = kept.map(|text| if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") });
    let missing = new.iter().filter(|piece| !piece.key.is_empty() && !old.iter().any(|old| old.key == piece.key));
    kept.chain(missing.map(|piece| piece.text.to_owned())).collect()
}

/// Returns a `metadata` that was empty or written in braces in block style, with the keys of others.
fn with_others(there: &str, ours: &str) -> String {
    let Ok(Value::Object(map)) = yaml::parse(there) else { return ours.to_owned() };
    let Some(Value::Object(old)) = map.get("metadata") else { return ours.to_owned() };
    let others: Map<String, Value> = old
        .iter()
        .filter(|(key, _)| !OWN_METADATA.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    if others.is_empty() {
        return ours.to_owned();
    }
    format!("{ours}{}\n", yaml::block(&Value::Object(others), 2).trim_start_matches('\n'))
}

/// Returns the text of a session whose work ended like this while no room was open: `work` is the room's own status,
/// `status` that of the file format.
pub fn with_status(text: &str, status: &str, work: &str, why: &str) -> String {
    let was_own = is_own(text);
    let why = format!("  why: {}", yaml::block(&Value::String(why.replace('\n', " ")), 4).trim_start());
    let piece = |piece: &Segment<'_>| match piece.key {
        "status" => format!("status: {status}\n"),
        "metadata" => {
            let mut lines = String::new();
            for inner in pieces(piece.text, 2) {
                match inner.key {
                    "work" => lines += &format!("  work: {work}\n{why}\n"),
                    "why" => {}
                    _ => lines += inner.text,
                }
            }
            lines
        }
        _ => piece.text.to_owned(),
    };
    let changed = pieces(text, 0).iter().map(piece).collect();
    if was_own { sealed(changed) } else { changed }
}
