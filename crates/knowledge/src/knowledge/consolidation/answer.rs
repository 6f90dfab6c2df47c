//! Parses a model's answer, even if it is embedded in prose or a code block, or uses unusual keys and capitals.

use serde_json::Value;

use super::{Candidate, CandidateAction, Case, Decision, add};
use crate::base::Id;
use crate::base::text_normalization::folded_text;
use crate::knowledge::memory::{Edge, MemoryKind, Relation, hundredths, normalize};

/// The maximum number of candidates that are used of one answer.
const MAX_CANDIDATES: usize = 20;
/// The maximum number of tags of a candidate.
const MAX_TAGS: usize = 8;

/// Why an answer cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AnswerError {
    /// It contains no list.
    #[error("the model did not answer with a JSON list of memories: try again, or choose a model that follows formats")]
    NoList,
}

/// Parses the candidates in an answer. Those without content and duplicates are left out.
pub fn parse_candidates(answer: &str) -> Result<Vec<Candidate>, AnswerError> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for value in list_in(answer).ok_or(AnswerError::NoList)? {
        let content = match &value {
            Value::String(content) => Some(content.as_str()),
            value => field(value, &["content", "memory", "text", "fact"]).and_then(Value::as_str),
        };
        let candidate = Candidate::new(content.unwrap_or_default());
        let is_known = candidates.iter().any(|one| folded_text(&one.content) == folded_text(&candidate.content));
        if candidate.content.is_empty() || is_known {
            continue;
        }
        candidates.push(described(candidate, &value));
        if candidates.len() == MAX_CANDIDATES {
            break;
        }
    }
    Ok(candidates)
}

/// Adds the other properties that the model gives to a candidate.
fn described(candidate: Candidate, value: &Value) -> Candidate {
    let kind = field(value, &["kind", "type", "category"]).and_then(Value::as_str);
    let kind = kind.and_then(|kind| kind.trim().to_lowercase().parse::<MemoryKind>().ok());
    let importance = field(value, &["importance", "score"]).and_then(number);
    // Some models use a scale of ten or a hundred.
    let importance = importance.map(|given| {
        if given > 10.0 {
            given / 100.0
        } else if given > 1.0 {
            given / 10.0
        } else {
            given
        }
    });
    let tags = match field(value, &["tags", "keywords"]) {
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(tags)) => tags.split(',').map(str::to_owned).collect(),
        _ => candidate.tags,
    };
    let tags = tags.into_iter().map(|tag| normalize(&tag).text).filter(|tag| !tag.is_empty()).take(MAX_TAGS).collect();
    Candidate {
        kind: kind.unwrap_or(candidate.kind),
        importance: importance.map_or(candidate.importance, |given| hundredths(given as f32)),
        tags,
        ..candidate
    }
}

/// Parses a model's decisions about all candidates. A candidate without a usable decision is added, so that an invalid
/// answer never loses one. Only memories that were shown with a candidate can change, and no pinned ones.
pub fn decide(cases: &[Case], answer: &str) -> Vec<Decision> {
    let values = list_in(answer).unwrap_or_default();
    let mut decided: Vec<Option<Decision>> = vec![None; cases.len()];
    for (place, value) in values.iter().enumerate() {
        let named = field(value, &["candidate", "number", "index"]).and_then(number);
        let case = match named {
            Some(named) if named >= 1.0 => (named as usize).checked_sub(1),
            Some(_) => None,
            None => Some(place),
        };
        let Some(index) = case.filter(|index| *index < cases.len()) else { continue };
        if decided[index].is_none() {
            decided[index] = Some(decision(index, &cases[index], value));
        }
    }
    let undecided = |index: usize, case: &Case| {
        let told = Some("the model did not say what to do about it, so it was added".to_owned());
        Decision { case: index, act: add(&case.candidate), told }
    };
    let decided = decided.into_iter().zip(cases).enumerate();
    once(decided.map(|(index, (decision, case))| decision.unwrap_or_else(|| undecided(index, case))).collect(), cases)
}

/// Makes sure that only one candidate changes a known memory; another one that would change it is added instead.
fn once(mut decisions: Vec<Decision>, cases: &[Case]) -> Vec<Decision> {
    let mut changed: Vec<Id> = Vec::new();
    for decision in &mut decisions {
        let (CandidateAction::Update { id, .. } | CandidateAction::Delete { id }) = &decision.act else { continue };
        if changed.contains(id) {
            decision.told = Some(format!("{id} is already changed by another candidate, so this one was added"));
            decision.act = add(&cases[decision.case].candidate);
        } else {
            changed.push(id.clone());
        }
    }
    decisions
}

fn decision(index: usize, case: &Case, value: &Value) -> Decision {
    let word = field(value, &["act", "action", "operation", "decision", "event"]).and_then(Value::as_str);
    let word = word.unwrap_or_default().trim().to_uppercase();
    let id = field(value, &["id", "memory", "known", "target"]).and_then(Value::as_str).map(str::trim);
    let known = id.and_then(|id| case.similar.iter().find(|similar| *similar.memory.id == *id));
    let instead = |what: &str| {
        let told = Some(format!("{what}, so it was added"));
        Decision { case: index, act: add(&case.candidate), told }
    };
    let done = |act| Decision { case: index, act, told: None };
    match (word.as_str(), known) {
        ("ADD" | "NEW" | "CREATE", _) => {
            done(CandidateAction::Add { candidate: case.candidate.clone(), edges: edges(case, value) })
        }
        ("SKIP" | "IGNORE", _) => done(CandidateAction::Skip),
        ("KEEP" | "NONE" | "NOOP", Some(known)) => done(CandidateAction::Keep { id: known.memory.id.clone() }),
        // The candidate is marked as known without naming the memory: the most similar one is assumed.
        ("KEEP" | "NONE" | "NOOP", None) => match case.similar.first() {
            Some(first) => done(CandidateAction::Keep { id: first.memory.id.clone() }),
            None => instead("the model treated it as known, but nothing similar is known"),
        },
        ("UPDATE" | "DELETE" | "REMOVE", Some(known)) if known.memory.pinned => {
            instead(&format!("{} is pinned and can only be changed by a person", known.memory.id))
        }
        ("UPDATE", Some(known)) => {
            let content = field(value, &["content", "text", "new_content"]).and_then(Value::as_str).unwrap_or_default();
            let content = Some(normalize(content).text).filter(|content| !content.is_empty());
            let candidate = described(case.candidate.clone(), value);
            let candidate = Candidate { content: content.unwrap_or(candidate.content.clone()), ..candidate };
            done(CandidateAction::Update { id: known.memory.id.clone(), candidate })
        }
        ("DELETE" | "REMOVE", Some(known)) => done(CandidateAction::Delete { id: known.memory.id.clone() }),
        ("UPDATE" | "DELETE" | "REMOVE", None) => instead("the model named a memory that it was not shown"),
        _ => instead("the model named no known action"),
    }
}

/// Parses the relations of a new memory to those that were shown with it. Their weight is the similarity.
fn edges(case: &Case, value: &Value) -> Vec<Edge> {
    let mut edges = Vec::new();
    for relation in Relation::ALL {
        let targets = match field(value, &[relation.as_str()]) {
            Some(Value::Array(targets)) => targets.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(target)) => vec![target.as_str()],
            _ => Vec::new(),
        };
        for similar in &case.similar {
            if targets.iter().any(|target| *target.trim() == *similar.memory.id) {
                let weight = hundredths(similar.similarity);
                edges.push(Edge { relation, target: similar.memory.id.clone(), weight });
            }
        }
    }
    edges.sort_by(|one, other| (&one.target, one.relation).cmp(&(&other.target, other.relation)));
    edges
}

/// Returns the first of these keys that exists, ignoring case.
fn field<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    let object = value.as_object()?;
    keys.iter().find_map(|key| object.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
}

/// Returns the first JSON list in a text, otherwise the list in its first object, otherwise that object alone.
fn list_in(text: &str) -> Option<Vec<Value>> {
    let mut single = None;
    for (at, _) in text.match_indices(['[', '{']) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Array(list))) if list.iter().all(|one| one.is_object() || one.is_string()) => {
                return Some(list);
            }
            Some(Ok(Value::Object(object))) => {
                if let Some(list) =
                    object.values().find_map(|value| value.as_array().filter(|list| list.iter().all(Value::is_object)))
                {
                    return Some(list.clone());
                }
                // JSON Lines: objects without a list around them.
                let rest = values.map_while(Result::ok).filter(Value::is_object);
                single = Some(std::iter::once(Value::Object(object)).chain(rest).collect());
                break;
            }
            _ => {}
        }
    }
    single
}
