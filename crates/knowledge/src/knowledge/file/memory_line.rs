//! The grammar of a memory line: `- the memory <!-- k-1a2b kind=fact tags=a,b … -->`.

use super::escaping::{from_line, from_word, to_line, to_word};
use crate::base::calendar::{parse_stamp, stamp};
use crate::knowledge::memory::{
    DEFAULT_IMPORTANCE, DEFAULT_WEIGHT, Edge, Memory, Relation, Source, hundredths, is_id, normalize,
};

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";
/// The maximum indentation; a line with more is a part of the line above it.
const MAX_INDENT: usize = 3;

/// A line that contains a memory.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MemoryLine {
    /// The memory; its id is empty if the line has none.
    pub(super) memory: Memory,
    /// The number of bytes before the text: indentation and bullet.
    pub(super) head: usize,
    /// The byte offset of the end of the text, before spaces and the program's part.
    pub(super) text_end: usize,
    /// Unknown words of the program's part.
    pub(super) unknown: Vec<String>,
    /// The original length of the content, if it was shortened.
    pub(super) cut_from: Option<usize>,
}

/// A parsed line.
pub(super) enum Parsed {
    /// A memory.
    Memory(Box<MemoryLine>),
    /// An invalid memory: the problem, and what to do about it.
    Broken(String, &'static str),
    /// Any other line.
    Other,
}

/// Parses a line without its line break. `template` gives the defaults of fields that the line does not contain.
pub(super) fn parse(line: &str, template: &Memory) -> Parsed {
    let Some(head) = head_of(line) else { return Parsed::Other };
    let rest = &line[head..];
    let opened = rest.rmatch_indices(OPEN).find(|(at, _)| rest[at + OPEN.len()..].trim_start().starts_with("k-"));
    let (text, machine) = match opened {
        None => (rest, None),
        Some((at, _)) => match rest[at + OPEN.len()..].trim_end().strip_suffix(CLOSE) {
            Some(machine) if !machine.contains(CLOSE) => (&rest[..at], Some(machine)),
            _ => return broken("<!-- is not closed on this line", "end the line with -->"),
        },
    };
    let text = text.trim_end();
    let tidied = normalize(&from_line(text));
    if tidied.text.is_empty() {
        return broken("the line is empty after the dash", "write the memory, or delete the line");
    }
    let mut memory = Memory { content: tidied.text, ..template.clone() };
    let unknown = match machine.map_or(Ok(Vec::new()), |machine| read_machine(machine, &mut memory)) {
        Ok(unknown) => unknown,
        Err((what, remedy)) => return Parsed::Broken(what, remedy),
    };
    let text_end = head + text.len();
    Parsed::Memory(Box::new(MemoryLine { memory, head, text_end, unknown, cut_from: tidied.cut_from }))
}

fn broken(what: &str, remedy: &'static str) -> Parsed {
    Parsed::Broken(what.to_owned(), remedy)
}

/// Returns the number of bytes before the text of a list line; `None` for any other line.
fn head_of(line: &str) -> Option<usize> {
    let bare = line.trim_start_matches('\u{feff}').trim_start_matches(' ');
    let indent = line.trim_start_matches('\u{feff}').len() - bare.len();
    let after = bare.strip_prefix(['-', '*', '+'])?;
    let is_rule = after.trim_end().chars().all(|c| c == '-' || c == '*' || c == ' ') && after.trim().len() > 1;
    let is_list = (after.is_empty() || after.starts_with([' ', '\t'])) && indent <= MAX_INDENT && !is_rule;
    is_list.then(|| line.len() - after.trim_start().len())
}

type Wrong = (String, &'static str);

fn read_machine(machine: &str, memory: &mut Memory) -> Result<Vec<String>, Wrong> {
    let mut words = machine.split_ascii_whitespace();
    let id = words.next().unwrap_or_default();
    if !is_id(id) {
        let what = format!("{id:?} is not a valid id");
        return Err((what, "an id is k- plus letters, digits and dashes; or delete the part from <!-- to -->"));
    }
    memory.id = id.into();
    let mut unknown = Vec::new();
    for word in words {
        match word.split_once('=') {
            None if word == "pinned" => memory.pinned = true,
            Some((key, value)) => {
                let is_known =
                    read_value(key, value, memory).map_err(|what| (format!("{key}: {what}"), remedy(key)))?;
                if !is_known {
                    unknown.push(word.to_owned());
                }
            }
            None => unknown.push(word.to_owned()),
        }
    }
    Ok(unknown)
}

fn remedy(key: &str) -> &'static str {
    match key {
        "created" | "updated" => "write it as 2026-11-24T14:05:09, or delete the word",
        "importance" => "write a number from 0 to 1, or delete the word",
        "kind" => "write one of these, or delete the word",
        _ => "fix the word, or delete it",
    }
}

/// Parses the value of a key. Returns whether the key is known.
fn read_value(key: &str, value: &str, memory: &mut Memory) -> Result<bool, String> {
    let text = || from_word(value).ok_or_else(|| format!("{value:?} has an invalid % escape"));
    let time = || parse_stamp(value).map(Some).ok_or_else(|| format!("{value:?} is not a valid time"));
    match key {
        "kind" => memory.kind = value.parse().map_err(|error| format!("{error}"))?,
        "tags" => {
            let tags: Option<Vec<String>> = value.split(',').filter(|tag| !tag.is_empty()).map(from_word).collect();
            memory.tags = tags.ok_or_else(|| format!("{value:?} has an invalid % escape"))?;
        }
        "created" => memory.created = time()?,
        "updated" => memory.updated = time()?,
        "importance" => memory.importance = share(value)?,
        "by" if memory.shared => memory.agent = text()?.into(),
        "run" => memory.source.run = Some(text()?.into()),
        "session" => memory.source.session = Some(text()?.into()),
        "record" => memory.source.record = Some(value.parse().map_err(|_| format!("{value:?} is not a number"))?),
        _ => {
            let Ok(relation) = key.parse::<Relation>() else { return Ok(false) };
            for edge in value.split(',').filter(|edge| !edge.is_empty()) {
                memory.edges.push(edge_of(relation, edge)?);
            }
        }
    }
    Ok(true)
}

fn share(value: &str) -> Result<f32, String> {
    let number = value.parse::<f32>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(hundredths).ok_or_else(|| format!("{value:?} is not a number from 0 to 1"))
}

fn edge_of(relation: Relation, text: &str) -> Result<Edge, String> {
    let (target, weight) = match text.split_once(':') {
        Some((target, weight)) => (target, share(weight)?),
        None => (text, DEFAULT_WEIGHT),
    };
    if !is_id(target) {
        return Err(format!("{target:?} is not a memory id"));
    }
    Ok(Edge { relation, target: target.into(), weight })
}

fn word_of(edge: &Edge) -> String {
    if edge.weight == DEFAULT_WEIGHT { edge.target.to_string() } else { format!("{}:{}", edge.target, edge.weight) }
}

/// Returns the line of a memory, without a line break.
pub(super) fn render(memory: &Memory) -> String {
    format!("- {}{}", to_line(&memory.content), machine(memory, &[]))
}

/// Returns the line with a changed memory; unchanged parts are preserved byte for byte.
pub(super) fn rendered_again(line: &str, old: &MemoryLine, memory: &Memory) -> String {
    let text = match memory.content == old.memory.content {
        true => line[old.head..old.text_end].to_owned(),
        false => to_line(&memory.content),
    };
    format!("{}{text}{}", &line[..old.head], machine(memory, &old.unknown))
}

/// Returns the part for the program, which follows the text and is invisible in rendered Markdown.
fn machine(memory: &Memory, unknown: &[String]) -> String {
    let mut words = vec![memory.id.to_string(), format!("kind={}", memory.kind)];
    let list = |words: Vec<String>| words.join(",");
    if !memory.tags.is_empty() {
        words.push(format!("tags={}", list(memory.tags.iter().map(|tag| to_word(tag)).collect())));
    }
    words.extend(memory.created.map(|secs| format!("created={}", stamp(secs))));
    words.extend(memory.updated.map(|secs| format!("updated={}", stamp(secs))));
    if memory.importance != DEFAULT_IMPORTANCE {
        words.push(format!("importance={}", memory.importance));
    }
    if memory.shared {
        words.push(format!("by={}", to_word(&memory.agent)));
    }
    let Source { run, session, record } = &memory.source;
    words.extend(run.iter().map(|run| format!("run={}", to_word(run))));
    words.extend(session.iter().map(|session| format!("session={}", to_word(session))));
    words.extend(record.iter().map(|record| format!("record={record}")));
    for relation in Relation::ALL {
        let edges = memory.edges.iter().filter(|edge| edge.relation == relation);
        let edges: Vec<String> = edges.map(word_of).collect();
        if !edges.is_empty() {
            words.push(format!("{}={}", relation.as_str(), list(edges)));
        }
    }
    words.extend(memory.pinned.then(|| "pinned".to_owned()));
    words.extend(unknown.iter().cloned());
    format!(" {OPEN} {} {CLOSE}", words.join(" "))
}
