//! Chooses what is worth remembering, and what to do with it among known memories: by the words of a sentence, and by
//! the similarity of texts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::data::{WordList, known};
use super::text::{bare, is_stop_word, sentences, words};
use crate::gateway::provider::ProviderRequest;
use crate::knowledge::consolidation::{Act, Case, Decision, decide_offline};
use crate::knowledge::{MemoryKind, Relation};
use crate::mind::context::{CurrentRequest, Line};
use crate::mind::transcript::TOPIC;

/// So many memories come of one look back.
const MEMORIES_AT_MOST: usize = 4;
/// A sentence with fewer words says too little to be understood by itself, and one with more says too much.
const WORDS: std::ops::RangeInclusive<usize> = 5..=40;
/// How many words at the start of a sentence must not point at something outside of it.
const POINTING_WORDS: usize = 4;
/// The kinds of memories, what is to be remembered first in front.
const ORDER: [MemoryKind; 4] = [MemoryKind::Mistake, MemoryKind::Procedure, MemoryKind::Preference, MemoryKind::Fact];
/// What a result of a tool begins with where it was not done.
const FAILED: [&str; 2] = ["error", "denied"];

/// The answer, where it is asked what is worth remembering.
pub fn answer(request: &ProviderRequest) -> Option<String> {
    match request.prompt.asked.as_deref()? {
        CurrentRequest::Learn { lines, .. } => Some(json!(worth_remembering(lines)).to_string()),
        CurrentRequest::Weigh { cases } => Some(Value::Array(weighed(cases)).to_string()),
        _ => None,
    }
}

/// What is worth remembering: mistakes first, then what is done how, what somebody likes, what is so.
fn worth_remembering(lines: &[Line]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<(MemoryKind, String)> = Vec::new();
    // What a conversation is about was not said in it.
    for line in lines.iter().filter(|line| *line.by != *TOPIC && !is_call(&line.text)) {
        for sentence in sentences(&line.text) {
            let Some(kind) = kind_of(&sentence) else { continue };
            if seen.insert(bare(&sentence)) {
                found.push((kind, sentence.trim().to_owned()));
            }
        }
    }
    // What was said first stands first among those of a kind.
    found.sort_by_key(|(kind, _)| ORDER.iter().position(|one| one == kind));
    found.truncate(MEMORIES_AT_MOST);
    found.into_iter().map(|(kind, content)| json!({ "content": content, "kind": kind })).collect()
}

/// Whether a line is the call of a tool: its name and an object.
fn is_call(line: &str) -> bool {
    line.split_once(" {").is_some_and(|(tool, _)| !tool.contains(' '))
}

/// What kind of memory a sentence is; none where it is not worth remembering: a question, a greeting, or something that
/// is only true for the moment.
fn kind_of(sentence: &str) -> Option<MemoryKind> {
    let sentence = sentence.trim();
    let words: Vec<String> = words(sentence).map(str::to_lowercase).collect();
    let is_for_now = sentence.ends_with(['?', '!']);
    // What leans on a sentence before it cannot be understood by itself.
    let leans = words.first().is_some_and(|first| known().leaning.has(first))
        || words.iter().take(POINTING_WORDS).any(|word| known().pointing.has(word));
    if is_for_now || leans || !WORDS.contains(&words.len()) {
        return None;
    }
    let has = |list: &WordList| words.iter().any(|word| list.has(word));
    let failed = words.first().is_some_and(|first| FAILED.contains(&first.as_str()));
    // Somebody's own doings are over when they are told.
    let is_about_self = words.iter().any(|word| known().selves.has(word));
    if failed || has(&known().mistakes) {
        return Some(MemoryKind::Mistake);
    }
    if is_about_self {
        return None;
    }
    if has(&known().preferences) {
        return Some(MemoryKind::Preference);
    }
    if has(&known().procedures) {
        return Some(MemoryKind::Procedure);
    }
    let names_something = sentence.split_whitespace().skip(1).any(is_particular);
    let states = words.iter().any(|word| known().states.has(word));
    let says_much = words.iter().filter(|word| !is_stop_word(word)).count() >= 3;
    (names_something && states && says_much).then_some(MemoryKind::Fact)
}

/// A number, or a name: what makes a sentence say something of its own.
fn is_particular(token: &str) -> bool {
    let core = token.trim_matches(|c: char| !c.is_alphanumeric());
    core.chars().any(|c| c.is_ascii_digit()) || core.chars().next().is_some_and(char::is_uppercase)
}

/// The same decisions as without a model, in the form in which a model is asked for them.
fn weighed(cases: &[Case]) -> Vec<Value> {
    let entry = |decision: Decision| {
        let candidate = decision.case + 1;
        match decision.act {
            Act::Add { edges, .. } => {
                let related = edges.iter().filter(|edge| edge.relation == Relation::RelatesTo);
                let related: Vec<&str> = related.map(|edge| &*edge.target).collect();
                json!({ "candidate": candidate, "act": "ADD", "relates_to": related })
            }
            Act::Update { id, candidate: said } => {
                json!({ "candidate": candidate, "act": "UPDATE", "id": id, "content": said.content })
            }
            Act::Delete { id } => json!({ "candidate": candidate, "act": "DELETE", "id": id }),
            Act::Keep { id } => json!({ "candidate": candidate, "act": "KEEP", "id": id }),
            Act::Skip => json!({ "candidate": candidate, "act": "SKIP" }),
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
        let found = worth_remembering(&lines);
        let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        found.iter().map(|one| (word(one, "kind"), word(one, "content"))).collect()
    }

    #[test]
    fn what_holds_beyond_the_moment_is_remembered_mistakes_first() {
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
            "Next to it is 'The budget for the opening is 400, and nobody has checked the figure'.",
            "If this needs a legend, we have drawn the map wrong.",
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
