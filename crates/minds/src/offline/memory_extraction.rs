//! Extracts memories from a transcript by word lists, and consolidates them with existing ones by text similarity.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::data::{WordList, word_lists};
use super::text::{is_stop_word, normalized, sentences, words};
use crate::gateway::provider::ProviderRequest;
use crate::knowledge::consolidation::{CandidateAction, Case, Decision, decide_offline};
use crate::knowledge::{MemoryKind, Relation};
use crate::mind::context::{CurrentRequest, Line};
use crate::mind::transcript::TOPIC;

/// Maximum number of memories extracted from one transcript.
const MAX_MEMORIES: usize = 4;
/// Number of words of a memory: a shorter sentence is not understandable by itself, a longer one is too specific.
const SENTENCE_WORDS: std::ops::RangeInclusive<usize> = 5..=40;
/// The kinds of memories, the most important one first.
const KIND_PRIORITY: [MemoryKind; 4] =
    [MemoryKind::Mistake, MemoryKind::Procedure, MemoryKind::Preference, MemoryKind::Fact];
/// The first word, in lower case, of the result of a failed tool call.
const FAILURE_PREFIXES: [&str; 2] = ["error", "denied"];

/// Answers a request to extract or to consolidate memories; `None` for any other request.
pub fn answer(request: &ProviderRequest) -> Option<String> {
    match request.prompt.asked.as_deref()? {
        CurrentRequest::Learn { lines, .. } => Some(json!(extract_memories(lines)).to_string()),
        CurrentRequest::Weigh { cases } => Some(Value::Array(consolidation_decisions(cases)).to_string()),
        _ => None,
    }
}

/// Extracts the memories in a transcript: mistakes first, then procedures, preferences and facts.
fn extract_memories(lines: &[Line]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<(MemoryKind, String)> = Vec::new();
    // The topic line of a transcript is not a statement.
    for line in lines.iter().filter(|line| *line.by != *TOPIC && !is_call(&line.text)) {
        for sentence in sentences(&line.text) {
            let Some(kind) = kind_of(&sentence) else { continue };
            if seen.insert(normalized(&sentence)) {
                found.push((kind, sentence.trim().to_owned()));
            }
        }
    }
    // The sort is stable: memories of a kind keep their order in the transcript.
    found.sort_by_key(|(kind, _)| KIND_PRIORITY.iter().position(|one| one == kind));
    found.truncate(MAX_MEMORIES);
    found.into_iter().map(|(kind, content)| json!({ "content": content, "kind": kind })).collect()
}

/// Whether a line is a tool call: a name and a JSON object.
fn is_call(line: &str) -> bool {
    line.split_once(" {").is_some_and(|(tool, _)| !tool.contains(' '))
}

/// Returns the kind of memory that a sentence is, or `None` for a question, a greeting or something only true at the
/// moment.
fn kind_of(sentence: &str) -> Option<MemoryKind> {
    let sentence = sentence.trim();
    let words: Vec<String> = words(sentence).map(str::to_lowercase).collect();
    let is_for_now = sentence.ends_with(['?', '!']);
    // A sentence that refers to an earlier one is not understandable by itself.
    let refers_back = words.first().is_some_and(|first| word_lists().leaning.has(first));
    if is_for_now || refers_back || !SENTENCE_WORDS.contains(&words.len()) {
        return None;
    }
    let has = |list: &WordList| words.iter().any(|word| list.has(word));
    let failed = words.first().is_some_and(|first| FAILURE_PREFIXES.contains(&first.as_str()));
    // The speaker's own actions are over by the time they are mentioned.
    let is_about_self = words.iter().any(|word| word_lists().selves.has(word));
    if failed || has(&word_lists().mistakes) {
        return Some(MemoryKind::Mistake);
    }
    if is_about_self {
        return None;
    }
    if has(&word_lists().preferences) {
        return Some(MemoryKind::Preference);
    }
    if has(&word_lists().procedures) {
        return Some(MemoryKind::Procedure);
    }
    let names_something = sentence.split_whitespace().skip(1).any(is_number_or_name);
    let states = words.iter().any(|word| word_lists().states.has(word));
    let says_much = words.iter().filter(|word| !is_stop_word(word)).count() >= 3;
    (names_something && states && says_much).then_some(MemoryKind::Fact)
}

/// Whether a word contains a digit or starts with a capital letter.
fn is_number_or_name(token: &str) -> bool {
    let core = token.trim_matches(|c: char| !c.is_alphanumeric());
    core.chars().any(|c| c.is_ascii_digit()) || core.chars().next().is_some_and(char::is_uppercase)
}

/// Returns the decisions of the consolidation without a model, in the JSON format that a model is asked for.
fn consolidation_decisions(cases: &[Case]) -> Vec<Value> {
    let entry = |decision: Decision| {
        let candidate = decision.case + 1;
        match decision.act {
            CandidateAction::Add { edges, .. } => {
                let related = edges.iter().filter(|edge| edge.relation == Relation::RelatesTo);
                let related: Vec<&str> = related.map(|edge| &*edge.target).collect();
                json!({ "candidate": candidate, "act": "ADD", "relates_to": related })
            }
            CandidateAction::Update { id, candidate: memory } => {
                json!({ "candidate": candidate, "act": "UPDATE", "id": id, "content": memory.content })
            }
            CandidateAction::Delete { id } => json!({ "candidate": candidate, "act": "DELETE", "id": id }),
            CandidateAction::Keep { id } => json!({ "candidate": candidate, "act": "KEEP", "id": id }),
            CandidateAction::Skip => json!({ "candidate": candidate, "act": "SKIP" }),
        }
    };
    decide_offline(cases).into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(lines: &[&str]) -> Vec<(String, String)> {
        let lines: Vec<Line> =
            lines.iter().map(|text| Line { by: "Ada".into(), text: (*text).into(), by_person: false }).collect();
        let found = extract_memories(&lines);
        let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        found.iter().map(|one| (word(one, "kind"), word(one, "content"))).collect()
    }

    #[test]
    fn lasting_statements_are_remembered_mistakes_first() {
        let found = kinds(&[
            "Hello Bram, how are you today?",
            "The proxy listens on port 8080 of the server.",
            "Dana prefers short lists over long paragraphs.",
            "Never edit the generated file schema.rs by hand.",
            "Error: the build failed because the folder out was missing.",
            "The proxy listens on port 8080 of the server.",
            "I look at the plan for the autumn fair now.",
        ]);
        let kinds: Vec<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["mistake", "procedure", "preference", "fact"], "{found:?}");
    }

    #[test]
    fn chatter_questions_and_calls_are_not_worth_remembering() {
        let found = kinds(&[
            "What a lovely morning this is, Bram!",
            "Shall we meet at the fountain on Friday?",
            "vfs_read {\"path\":\"artifacts/Plan.md\"} is what it called for the 3rd time",
            "Agreed.",
            "I am going to read the board now, Bram.",
            "And there is 'The budget for the opening is 400', on the same board.",
            "It touches what stands on News: 'Somebody offers 30 chairs'.",
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
