//! Summarises a session by quoting its most important statements, for when older messages are dropped.

use super::data::fragments;
use super::draft::Draft;
use super::phrases::rank_sentences;
use super::prompt_reader::ParsedPrompt;
use super::text::{are_similar, clause, normalized, sentences};
use crate::base::text::{estimate_tokens, truncate};
use crate::mind::headings;

/// Maximum size of a summary in tokens.
const MAX_SUMMARY_TOKENS: u32 = 390;
/// Maximum length of a summary line in characters.
const MAX_LINE_CHARS: usize = 220;

/// Summarises a session, one statement per line: agreements and promises first, then interactions, statements of
/// others, actions, rules, and the lines of an earlier summary.
pub fn of_session(prompt: &ParsedPrompt) -> Draft {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |label: &str, text: &str, max: usize| {
        let line = format!("{label}: {}", clause(text, 34));
        let count = lines.iter().filter(|line| line.starts_with(label)).count();
        let is_new = normalized(text).len() > 3 && lines.iter().all(|line| !are_similar(line, text));
        if count < max && is_new {
            lines.push(truncate(&line, MAX_LINE_CHARS));
        }
    };
    let own_sentences: Vec<String> = prompt.own_replies.iter().rev().flat_map(|text| sentences(text)).collect();
    for note in prompt.notes.iter().rev().filter(|note| note.starts_with("Agreed")) {
        add("Open", note, 3);
    }
    for promise in own_sentences.iter().filter(|sentence| sentence.contains("I will ")) {
        add("Open", promise, 5);
    }
    for interaction in prompt.interactions.iter().rev() {
        add("People", interaction, 4);
    }
    for (label, text) in statements_of_others(prompt) {
        add(&label, &text, 2);
    }
    let is_action = |sentence: &&String| fragments().deeds.iter().any(|part| sentence.contains(part));
    for action in own_sentences.iter().filter(is_action) {
        add("Done", action, 6);
    }
    for note in prompt.notes.iter().rev().filter(|note| note.starts_with("Dealt with")) {
        add("Done", note, 6);
    }
    for rule in rank_sentences(&prompt.rules, &prompt.interests, &prompt.name) {
        add("Rule", &rule, 3);
    }
    for line in prompt.summary.iter().filter(|line| !line.starts_with("Rule:")) {
        let (label, text) = line.split_once(": ").unwrap_or(("Earlier", line));
        add(if label.len() < 24 { label } else { "Earlier" }, text, 4);
    }
    if lines.is_empty() {
        lines.push(format!("{} has nothing to keep from this session yet.", prompt.name));
    }
    let mut tokens = 0;
    let fits = |line: &String| {
        tokens += estimate_tokens(line) + 1;
        tokens <= MAX_SUMMARY_TOKENS
    };
    let mut draft = Draft::default();
    lines.into_iter().take_while(fits).for_each(|line| draft.line(line));
    draft
}

/// Returns label and most relevant sentence of earlier requests and statements of others, the latest first.
fn statements_of_others(prompt: &ParsedPrompt) -> Vec<(String, String)> {
    // A session keeps earlier requests in short form, one line each.
    let lines = prompt.earlier_requests.iter().rev().flat_map(|request| request.lines().rev());
    lines.filter_map(|line| parse_entry(line, prompt)).take(10).collect()
}

/// Parses an earlier request in short form, such as “Bram said: “Tea?”” or “Your task: “Count””; `None` for others.
fn parse_entry(line: &str, prompt: &ParsedPrompt) -> Option<(String, String)> {
    let unquoted = |text: &str| {
        let text = text.trim();
        let inside = text.strip_prefix('“').map(|rest| rest.trim_end_matches('.'));
        inside.and_then(|rest| rest.strip_suffix('”')).unwrap_or(text).to_owned()
    };
    if let Some(task) = line.strip_prefix(headings::TASK) {
        return Some(("Task given".to_owned(), unquoted(task)));
    }
    if let Some(why) = line.strip_prefix(headings::WOKEN) {
        return Some(("I was called".to_owned(), unquoted(why)));
    }
    let (name, text) = line.split_once(" said: ")?;
    let best = rank_sentences(&sentences(&unquoted(text)), &prompt.interests, &prompt.name).into_iter().next()?;
    Some((format!("{name} said"), best))
}
