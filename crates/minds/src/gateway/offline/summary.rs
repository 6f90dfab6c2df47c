//! Summing up a session: what is kept when older messages go, taken word for word from what was there.

use super::draft::Draft;
use super::moment::{Moment, pins};
use super::phrases::ranked;
use super::reading::Reading;
use super::text::{alike, bare, clause, sentences};
use crate::base::text::{estimate_tokens, truncate};
use crate::mind::CallKind;

/// A summary costs at most so many tokens.
const SUMMARY_TOKENS: u32 = 390;
/// Most characters of one line of it.
const LINE_CHARS: usize = 220;

/// The summary of a session, each line one thing: what was agreed and promised first, then people, what was
/// read, what was done, the rules that bore on it, and what an earlier summary said.
pub fn of_session(reading: &Reading) -> Draft {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |lead: &str, text: &str, most: usize| {
        let line = format!("{lead}: {}", clause(text, 34));
        let of_kind = lines.iter().filter(|line| line.starts_with(lead)).count();
        let is_new = bare(text).len() > 3 && lines.iter().all(|line| !alike(line, text));
        if of_kind < most && is_new {
            lines.push(truncate(&line, LINE_CHARS));
        }
    };
    let mine: Vec<String> = reading.said.iter().rev().flat_map(|text| sentences(text)).collect();
    for note in reading.notes.iter().rev().filter(|note| note.starts_with("Agreed")) {
        add("Open", note, 3);
    }
    for promise in mine.iter().filter(|sentence| sentence.contains("I will ")) {
        add("Open", promise, 5);
    }
    for person in reading.interactions.iter().rev() {
        add("People", person, 4);
    }
    for (label, text) in heard(reading) {
        add(&label, &text, 2);
    }
    let is_deed = |sentence: &&String| {
        ["vote", "pinboard", "pass it on", "hears of it"].iter().any(|deed| sentence.contains(deed))
    };
    for deed in mine.iter().filter(is_deed) {
        add("Done", deed, 6);
    }
    for note in reading.notes.iter().rev().filter(|note| note.starts_with("Dealt with")) {
        add("Done", note, 6);
    }
    for rule in ranked(&reading.rules, &reading.interests, &reading.name) {
        add("Rule", &rule, 3);
    }
    for line in reading.knows.iter().filter(|line| !line.starts_with("Rule:")) {
        let (lead, text) = line.split_once(": ").unwrap_or(("Earlier", line));
        add(if lead.len() < 24 { lead } else { "Earlier" }, text, 4);
    }
    if lines.is_empty() {
        lines.push(format!("{} has nothing to keep from this session yet.", reading.name));
    }
    within_limit(lines)
}

fn within_limit(lines: Vec<String>) -> Draft {
    let mut draft = Draft::default();
    let mut tokens = 0;
    for line in lines {
        tokens += estimate_tokens(&line) + 1;
        if tokens > SUMMARY_TOKENS {
            break;
        }
        draft.line(line);
    }
    draft
}

fn pin_texts(content: &str) -> String {
    pins(content).into_iter().map(|pin| format!("{} ({} by {})\n", pin.text, pin.id, pin.author)).collect()
}

/// What was read and what others said: where, and the sentence that matters most, the latest first.
fn heard(reading: &Reading) -> Vec<(String, String)> {
    let of = |asked: &str| match Moment::parse(asked, CallKind::Task, &reading.name) {
        Moment::Element { label, kind, content } => {
            let content = if kind == "pinboard" { pin_texts(&content) } else { content };
            let best = ranked(&sentences(&content), &reading.interests, &reading.name).into_iter().next()?;
            Some((format!("{label} says"), best))
        }
        Moment::Talk { said, .. } => {
            let (name, text) = said.into_iter().rev().find(|(name, _)| *name != reading.name)?;
            let best = ranked(&sentences(&text), &reading.interests, &reading.name).into_iter().next()?;
            Some((format!("{name} said"), best))
        }
        Moment::Task(task) => in_short(&task, reading),
        Moment::Woken { why, .. } => Some(("I was called".to_owned(), why)),
        Moment::Compaction => None,
    };
    // A session keeps its moments in short, a line each; a moment that stands there whole is one.
    let lines = reading.asked.iter().rev().flat_map(|asked| match asked.contains("\n\n") {
        true => vec![asked.as_str()],
        false => asked.lines().rev().collect(),
    });
    lines.filter_map(of).take(10).collect()
}

/// A moment as a session keeps it: “You read News.”, “Bram said: “Tea?””, “Your task: “Count””.
fn in_short(line: &str, reading: &Reading) -> Option<(String, String)> {
    let quoted = |text: &str| text.trim().trim_start_matches('“').trim_end_matches('”').to_owned();
    match line.split_once(" said: ") {
        Some((name, text)) => {
            let best = ranked(&sentences(&quoted(text)), &reading.interests, &reading.name).into_iter().next()?;
            Some((format!("{name} said"), best))
        }
        None if ["You read ", "You began ", "("].iter().any(|start| line.starts_with(start)) => None,
        None => Some(("Task given".to_owned(), quoted(line))),
    }
}
