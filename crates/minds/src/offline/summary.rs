//! Summarises a session: what is kept when older messages are dropped, quoted word for word.

use super::data::phrases;
use super::draft::Draft;
use super::phrases::ranked;
use super::prompt_reader::Reading;
use super::text::{alike, bare, clause, sentences};
use crate::base::text::{estimate_tokens, truncate};
use crate::mind::headings;

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
    let is_deed = |sentence: &&String| phrases().deeds.iter().any(|deed| sentence.contains(deed));
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
    let mut tokens = 0;
    let fits = |line: &String| {
        tokens += estimate_tokens(line) + 1;
        tokens <= SUMMARY_TOKENS
    };
    let mut draft = Draft::default();
    lines.into_iter().take_while(fits).for_each(|line| draft.line(line));
    draft
}

/// What was asked and what others said, the sentence that matters most of each, the latest first.
fn heard(reading: &Reading) -> Vec<(String, String)> {
    // A session keeps its moments in short, a line each.
    let lines = reading.asked.iter().rev().flat_map(|asked| asked.lines().rev());
    lines.filter_map(|line| in_short(line, reading)).take(10).collect()
}

/// A moment as a session keeps it: “You read News.”, “Bram said: “Tea?””, “Your task: “Count””.
fn in_short(line: &str, reading: &Reading) -> Option<(String, String)> {
    let bare = |text: &str| text.trim().trim_start_matches('“').trim_end_matches('”').to_owned();
    if let Some(task) = line.strip_prefix(headings::TASK) {
        return Some(("Task given".to_owned(), bare(task)));
    }
    if let Some(why) = line.strip_prefix(headings::WOKEN) {
        return Some(("I was called".to_owned(), bare(why)));
    }
    let (name, text) = line.split_once(" said: ")?;
    let best = ranked(&sentences(&bare(text)), &reading.interests, &reading.name).into_iter().next()?;
    Some((format!("{name} said"), best))
}
