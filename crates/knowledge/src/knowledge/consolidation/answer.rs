//! Parses a model's answer, even if it is embedded in prose or a code block, or uses unusual keys and capitals.

use serde_json::Value;

use super::objects::FoundObjects;
use super::{Candidate, CandidateAction, Case, Decision, add};
use crate::base::Id;
use crate::base::text_normalization::folded_text;
use crate::knowledge::memory::{Edge, MemoryKind, Relation, hundredths, normalize};

/// The maximum number of candidates that are used of one answer.
const MAX_CANDIDATES: usize = 20;
/// The keys under which models give the text of a memory.
const CONTENT_KEYS: [&str; 4] = ["content", "memory", "text", "fact"];
/// The keys with which the object of a memory begins.
const BEGINNING_KEYS: [&str; 7] = ["content", "memory", "text", "fact", "kind", "type", "importance"];
/// The keys under which models give an action.
const ACT_KEYS: [&str; 5] = ["act", "action", "operation", "decision", "event"];
/// The keys under which models number a candidate.
const NUMBER_KEYS: [&str; 3] = ["candidate", "number", "index"];
/// The maximum number of tags of a candidate.
const MAX_TAGS: usize = 8;

/// Why an answer cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AnswerError {
    /// It contains no list.
    #[error("the model did not answer with a JSON list of memories: try again, or choose a model that follows formats")]
    NoList,
    /// Every memory in it is malformed.
    #[error(
        "the model's answer could not be read: it is malformed, or was cut off by a limit on its length: try again, or \
         choose a model that follows formats"
    )]
    Malformed,
}

/// The candidates in an answer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParsedCandidates {
    /// The candidates, in order.
    pub candidates: Vec<Candidate>,
    /// What was left out of them, as a clause for the log.
    pub left_out: Option<String>,
}

/// Parses the candidates in an answer. Those without content and duplicates are left out.
pub fn parse_candidates(answer: &str) -> Result<ParsedCandidates, AnswerError> {
    let content_of = |value: &Value| match value {
        Value::String(content) => Some(content.clone()),
        value => field(value, &CONTENT_KEYS).and_then(Value::as_str).map(str::to_owned),
    };
    let is_item = |value: &Value| value.is_object() && content_of(value).is_some();
    let found = FoundObjects::in_answer(answer, is_item, |start| names_one(start, &BEGINNING_KEYS));
    if found.items.is_empty() && !found.has_list && found.lost == 0 {
        return Err(AnswerError::NoList);
    }
    if found.items.is_empty() && found.lost > 0 {
        return Err(AnswerError::Malformed);
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    for value in found.items {
        let candidate = Candidate::new(&content_of(&value).unwrap_or_default());
        let is_known = candidates.iter().any(|one| folded_text(&one.content) == folded_text(&candidate.content));
        if candidate.content.is_empty() || is_known {
            continue;
        }
        candidates.push(described(candidate, &value));
    }
    let count = candidates.len();
    candidates.truncate(MAX_CANDIDATES);
    let too_many = (count > MAX_CANDIDATES)
        .then(|| format!("the model named {count} memories, of which the first {MAX_CANDIDATES} were used"));
    let malformed = match found.lost {
        0 => None,
        1 => Some("one memory in the model's answer was malformed or cut off and was lost".to_owned()),
        lost => Some(format!("{lost} memories in the model's answer were malformed or cut off and were lost")),
    };
    let left_out = [too_many, malformed].into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
    Ok(ParsedCandidates { candidates, left_out })
}

/// Whether the beginning of an object names one of these keys.
fn names_one(start: &str, keys: &[&str]) -> bool {
    let start = start.to_ascii_lowercase();
    keys.iter().any(|key| start.contains(&format!("\"{key}\"")))
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

/// Parses a model's decisions about all candidates. Each candidate gets one decision about itself, and one for each known
/// memory that it makes untrue. A candidate without a usable decision is added, so that an invalid answer never loses
/// one, and so is one of which the model only says that it makes a known memory untrue. Only memories that were shown
/// with a candidate can change, and no pinned ones.
pub fn decide(cases: &[Case], answer: &str) -> Vec<Decision> {
    let is_item = |value: &Value| field(value, &ACT_KEYS).is_some() || field(value, &NUMBER_KEYS).is_some();
    let values = FoundObjects::in_answer(answer, is_item, |start| names_one(start, &ACT_KEYS)).items;
    let mut decided: Vec<Vec<Decision>> = vec![Vec::new(); cases.len()];
    for (place, value) in values.iter().enumerate() {
        let named = field(value, &NUMBER_KEYS).and_then(number);
        let case = match named {
            Some(named) if named >= 1.0 => (named as usize).checked_sub(1),
            Some(_) => None,
            None => Some(place),
        };
        let Some(index) = case.filter(|index| *index < cases.len()) else { continue };
        decided[index].push(decision(index, &cases[index], value));
    }
    let decided = decided.into_iter().zip(cases).enumerate();
    once(decided.flat_map(|(index, (decisions, case))| of_candidate(index, case, decisions)).collect(), cases)
}

/// Returns the decision about a candidate itself, which comes first so that nothing is lost if the rest fails, and the
/// removals of memories that it makes untrue.
fn of_candidate(index: usize, case: &Case, decisions: Vec<Decision>) -> Vec<Decision> {
    let is_removal = |decision: &Decision| matches!(decision.act, CandidateAction::Delete { .. });
    let (mut removals, own): (Vec<Decision>, Vec<Decision>) = decisions.into_iter().partition(is_removal);
    let own = own.into_iter().next().unwrap_or_else(|| {
        let told = removals.is_empty().then(|| "the model did not say what to do about it, so it was added".to_owned());
        Decision { case: index, act: add(&case.candidate), told }
    });
    // A memory that the candidate is merged with, or that already says the same, is not removed.
    if let CandidateAction::Update { id: kept, .. } | CandidateAction::Keep { id: kept } = &own.act {
        removals.retain(|removal| removed(removal) != Some(kept));
    }
    std::iter::once(own).chain(removals).collect()
}

fn removed(decision: &Decision) -> Option<&Id> {
    match &decision.act {
        CandidateAction::Delete { id } => Some(id),
        _ => None,
    }
}

/// Makes sure that a known memory is changed only once; another candidate that would change it is added instead. New
/// memories have no relations to removed ones.
fn once(mut decisions: Vec<Decision>, cases: &[Case]) -> Vec<Decision> {
    let mut changed: Vec<Id> = Vec::new();
    decisions.retain_mut(|decision| {
        let (CandidateAction::Update { id, .. } | CandidateAction::Delete { id }) = &decision.act else { return true };
        let is_first = !changed.contains(id);
        if is_first {
            changed.push(id.clone());
        } else if removed(decision).is_none() {
            decision.told = Some(format!("{id} is already changed by another candidate, so this one was added"));
            decision.act = add(&cases[decision.case].candidate);
        } else {
            // Its own decision comes before it.
            return false;
        }
        true
    });
    let gone: Vec<Id> = decisions.iter().filter_map(removed).cloned().collect();
    for decision in &mut decisions {
        match &mut decision.act {
            CandidateAction::Add { edges, .. } => edges.retain(|edge| !gone.contains(&edge.target)),
            CandidateAction::Keep { id } if gone.contains(id) => {
                decision.told = Some(format!("{id}, which says the same, is removed, so this one was added"));
                decision.act = add(&cases[decision.case].candidate);
            }
            _ => {}
        }
    }
    decisions
}

fn decision(index: usize, case: &Case, value: &Value) -> Decision {
    let word = field(value, &ACT_KEYS).and_then(Value::as_str);
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
