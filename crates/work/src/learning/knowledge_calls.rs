//! Answers requests about knowledge: recalling memories for a prompt, and tool calls that search or add memories. Every
//! answer is limited to memories that the agent may know.

use serde_json::json;

use super::files::{KnowledgeFiles, KnowledgeFilesError};
use super::settings::KnowledgeSettings;
use crate::base::calendar::stamp;
use crate::base::text::{one_line, truncate};
use crate::base::{Author, Id};
use crate::knowledge::consolidation::{Candidate, CandidateAction, Case, Decision, Similar, decide_offline};
use crate::knowledge::memory::derive_id;
use crate::knowledge::{Edge, Filter, Memory, MemoryKind, Owner, Recalled, Relation, ScoreParts, Source, Viewer};
use crate::log::events::{Knowledge, RecalledScore, enum_name};
use crate::memory::{RecalledMemory, Reminder};
use crate::tools::{KnowledgeOrder, OrderReport, ToolOutput};

/// The maximum length of a memory in the log, in characters.
pub(super) const LOGGED_CHARS: usize = 300;
/// The maximum length of a memory in prompts and answers, in characters.
const MEMORY_CHARS: usize = 1_000;
/// How many known memories are compared with a candidate.
pub(super) const MAX_SIMILAR: usize = 5;
/// Memories with a lower similarity to a candidate are not compared with it.
const MIN_SIMILARITY: f32 = 0.4;
/// The length of a date without the time.
const DAY_CHARS: usize = "2026-11-24".len();

/// Returns the memories for a prompt, as the text of its part.
pub(super) fn recall(
    files: &mut KnowledgeFiles,
    agent: &Id,
    about: &str,
    (now, settings, chars_at_most): (i64, &KnowledgeSettings, usize),
) -> String {
    let viewer = Viewer::Agent(agent.clone());
    let found = files.known().recall(&viewer, about, now, settings.max_recalled_memories, Filter::default());
    let is_near = |parts: &ScoreParts| {
        let is_alike = parts.similarity.is_some_and(|similarity| similarity >= settings.min_similarity);
        is_alike || parts.coverage >= settings.min_coverage
    };
    let recalled: Vec<RecalledMemory> = found.iter().filter(|found| is_near(&found.parts)).map(recalled).collect();
    let mut reminder = Reminder { about: about.to_owned(), memories: recalled };
    // Removes whole memories, because cut JSON could not be parsed.
    while reminder.to_json().chars().count() > chars_at_most {
        reminder.memories.pop();
    }
    let recalled = &reminder.memories;
    let ids: Vec<Id> = recalled.iter().map(|memory| memory.id.clone()).collect();
    note_recalled(files, &ids, now);
    reminder.to_json()
}

/// Counts that memories were recalled. A failure, as on a full disk, is logged and does not prevent the recall.
fn note_recalled(files: &mut KnowledgeFiles, ids: &[Id], now: i64) {
    if let Err(error) = files.note_recalled(ids.iter().map(|id| &**id), now) {
        tracing::warn!("recall counts could not be saved: {error}");
    }
}

fn recalled(found: &Recalled<'_>) -> RecalledMemory {
    let memory = &found.entry.memory;
    RecalledMemory {
        id: memory.id.clone(),
        content: truncate(&one_line(&memory.content), MEMORY_CHARS),
        kind: memory.kind,
        day: memory.dated().map(day),
        shared_by: memory.shared.then(|| memory.agent.clone()),
        source: memory.source.clone(),
        score: score_of(found),
    }
}

/// A recalled memory with the components of its score.
pub(super) fn score_of(found: &Recalled<'_>) -> RecalledScore {
    let memory = &found.entry.memory;
    let ScoreParts { similarity, coverage, relevance, recency, importance, .. } = found.parts;
    RecalledScore {
        id: memory.id.clone(),
        text: logged(&memory.content),
        score: found.score,
        similarity,
        coverage,
        relevance,
        recency,
        importance,
        shared_by: memory.shared.then(|| memory.agent.clone()),
        run: memory.source.run.clone(),
        session: memory.source.session.clone(),
    }
}

fn day(secs: i64) -> String {
    stamp(secs).chars().take(DAY_CHARS).collect()
}

/// A memory's text as shown in the log.
pub(super) fn logged(content: &str) -> String {
    truncate(&one_line(content), LOGGED_CHARS)
}

/// The caller of a tool.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The agent.
    pub(super) agent: Id,
    /// A permanent id of the call: the ids of its results are derived from it.
    pub(super) call: Id,
    /// Where the memory comes from.
    pub(super) source: Source,
    /// The room's date and time, in seconds since 1970.
    pub(super) now: i64,
}

/// Executes a tool call and returns its result.
pub(super) fn execute(files: &mut KnowledgeFiles, caller: &Caller, order: &KnowledgeOrder) -> OrderReport {
    let done = match order {
        KnowledgeOrder::Query { question, kinds, limit } => Ok(find(files, caller, question, kinds, *limit)),
        KnowledgeOrder::Contribute { content, kind, tags, importance, is_private, relations } => {
            let usual = Candidate::new(content);
            let importance = importance.map_or(usual.importance, |hundredths| hundredths as f32 / 100.0);
            let candidate = Candidate { kind: *kind, tags: tags.clone(), importance, ..usual };
            match edges(files, caller, relations, *is_private) {
                Ok(edges) => contribute(files, caller, (candidate, edges), *is_private),
                Err(why) => return OrderReport::Failed { why },
            }
        }
    };
    match done {
        Ok(output) => OrderReport::Done { output },
        Err(error) => OrderReport::Failed { why: error.to_string() },
    }
}

fn find(files: &mut KnowledgeFiles, caller: &Caller, question: &str, kinds: &[MemoryKind], limit: usize) -> ToolOutput {
    let viewer = Viewer::Agent(caller.agent.clone());
    let filter = Filter { kinds: kinds.to_vec(), ..Filter::default() };
    let found: Vec<RecalledMemory> =
        files.known().recall(&viewer, question, caller.now, limit, filter).iter().map(recalled).collect();
    let text = if found.is_empty() {
        "No memories about this.".to_owned()
    } else {
        found.iter().map(|memory| format!("- {}: {}", memory.id, memory.line())).collect::<Vec<_>>().join("\n")
    };
    let ids: Vec<Id> = found.iter().map(|memory| memory.id.clone()).collect();
    note_recalled(files, &ids, caller.now);
    let memories: Vec<&RecalledScore> = found.iter().map(|memory| &memory.score).collect();
    let event = Knowledge::Recalled { about: logged(question), memories: memories.into_iter().cloned().collect() };
    output(text, &event)
}

/// The result of a call, with its log event.
fn output(text: String, event: &Knowledge) -> ToolOutput {
    ToolOutput { text, data: Some(json!({ EVENT: event })), ..ToolOutput::default() }
}

/// The key of the log event in the data of a result.
pub(super) const EVENT: &str = "knowledge";

/// The key of contradictions in the data of a result.
pub(super) const CONTRADICTIONS: &str = "contradictions";

/// Converts the relations of a call into edges; the error says which one is invalid.
fn edges(
    files: &KnowledgeFiles,
    caller: &Caller,
    relations: &[(Relation, Id)],
    is_private: bool,
) -> Result<Vec<Edge>, String> {
    let viewer = Viewer::Agent(caller.agent.clone());
    let edge = |(relation, target): &(Relation, Id)| {
        let known = files.known().index().get(&viewer, target);
        let known = known.ok_or_else(|| {
            format!(
                "there is no memory {target} that you know; find ids with \
            knowledge_query"
            )
        })?;
        // A shared text must not name private memories.
        if !is_private && !known.memory.shared {
            return Err(format!("only you know {target}: share its content first, or add this memory with private"));
        }
        Ok(Edge { relation: *relation, target: target.clone(), weight: 1.0 })
    };
    relations.iter().map(edge).collect()
}

/// Describes the edges of a memory that contradict another memory.
fn contradictions_of(files: &KnowledgeFiles, memory: &Memory) -> Vec<String> {
    let against = memory.edges.iter().filter(|edge| edge.relation == Relation::Contradicts);
    let words = |edge: &Edge| {
        let (known, new) = (logged(&content_of(files, &edge.target)), logged(&memory.content));
        format!("two memories contradict each other: {} ({new}) and {} ({known})", memory.id, edge.target)
    };
    against.map(words).collect()
}

fn contribute(
    files: &mut KnowledgeFiles,
    caller: &Caller,
    (candidate, stated): (Candidate, Vec<Edge>),
    is_private: bool,
) -> Result<ToolOutput, KnowledgeFilesError> {
    let memory = Memory {
        // The same call always makes the same memory, however often it is executed.
        id: derive_id(&caller.call, &candidate.content, 0),
        shared: !is_private,
        source: caller.source.clone(),
        ..candidate.clone().into_memory(&caller.agent, Some(caller.now))
    };
    let by = Author::agent(&caller.agent);
    if let Some(there) = files.known().index().get(&Viewer::Agent(caller.agent.clone()), &memory.id) {
        let event = added(&there.memory);
        return Ok(output(format!("Saved as {}.", memory.id), &event));
    }
    // What another agent or a person shared is never changed in their name.
    let mut similar = similar_of(files, &Owner::of(&memory), &caller.agent, &candidate);
    similar.iter_mut().for_each(|similar| similar.memory.pinned |= similar.memory.agent != caller.agent);
    let act = decide_offline(&[Case { candidate, similar }]).into_iter().next().map(|decision| decision.act);
    match act.unwrap_or(CandidateAction::Skip) {
        CandidateAction::Keep { id } => {
            let known = content_of(files, &id);
            let event = Knowledge::Known { id: id.clone(), text: logged(&memory.content) };
            Ok(output(format!("This is already known, as {id}: {known}"), &event))
        }
        CandidateAction::Update { id, candidate } => {
            let event = rewrite(files, &id, &candidate, caller)?;
            Ok(output(format!("It adds to {id}, which is now: {}", candidate.content), &event))
        }
        // The agent explicitly asked for it, so it is saved even if it is very short.
        act @ (CandidateAction::Add { .. } | CandidateAction::Skip | CandidateAction::Delete { .. }) => {
            let found = if let CandidateAction::Add { edges, .. } = act { edges } else { Vec::new() };
            // The agent's own statement about two memories takes precedence over their similarity.
            let found = found.into_iter().filter(|edge| stated.iter().all(|one| one.target != edge.target));
            let mut edges: Vec<Edge> = stated.iter().cloned().chain(found).collect();
            edges.sort_by(|one, other| one.target.cmp(&other.target));
            let memory = Memory { edges, ..memory };
            files.add(&memory, &by)?;
            let contradictions = contradictions_of(files, &memory);
            let who = if is_private { "you alone" } else { "everybody" };
            let mut answer = output(format!("Saved as {}, for {who}.", memory.id), &added(&memory));
            if let Some(data) = answer.data.as_mut().filter(|_| !contradictions.is_empty()) {
                data[CONTRADICTIONS] = json!(contradictions);
            }
            Ok(answer)
        }
    }
}

/// The log event of a new memory.
pub(super) fn added(memory: &Memory) -> Knowledge {
    Knowledge::Added {
        id: memory.id.clone(),
        kind: enum_name(memory.kind),
        text: logged(&memory.content),
        shared: memory.shared,
    }
}

/// The text of a memory; empty if there is none with this id.
fn content_of(files: &KnowledgeFiles, id: &str) -> String {
    let entry = files.known().index().get(&Viewer::Person, id);
    entry.map(|entry| entry.memory.content.clone()).unwrap_or_default()
}

/// The memories in the owner's file that are most similar to a candidate.
pub(super) fn similar_of(files: &KnowledgeFiles, owner: &Owner, agent: &Id, candidate: &Candidate) -> Vec<Similar> {
    let Some(meaning) = files.known().embed(&candidate.content) else { return Vec::new() };
    let near = files.known().index().similar(&Viewer::Agent(agent.clone()), &meaning, MAX_SIMILAR * 2);
    let of_owner = near.into_iter().filter(|(entry, _)| Owner::of(&entry.memory) == *owner);
    let similar = of_owner.map(|(entry, similarity)| Similar { memory: entry.memory.clone(), similarity });
    similar.take(MAX_SIMILAR).collect()
}

/// Finds the memories similar to each candidate. Shared memories are included so that they are not added again; they
/// are marked as pinned, because this agent may not change them.
pub(super) fn compare(files: &KnowledgeFiles, agent: &Id, candidates: &[Candidate]) -> Vec<Case> {
    let case = |candidate: &Candidate| {
        let own = similar_of(files, &Owner::Agent(agent.clone()), agent, candidate);
        let shared = similar_of(files, &Owner::Shared, agent, candidate);
        let shared = shared.into_iter().map(|similar| {
            let memory = Memory { pinned: true, ..similar.memory };
            Similar { memory, ..similar }
        });
        let mut similar: Vec<Similar> = own.into_iter().chain(shared).collect();
        similar.sort_by(|one, other| other.similarity.total_cmp(&one.similarity));
        similar.retain(|similar| similar.similarity >= MIN_SIMILARITY);
        similar.truncate(MAX_SIMILAR);
        Case { candidate: candidate.clone(), similar }
    };
    candidates.iter().map(case).collect()
}

/// Applies the decisions about a lesson on behalf of the agent. Returns the log events and the contradictions found.
/// Idempotent.
pub(super) fn apply_decisions(
    files: &mut KnowledgeFiles,
    caller: &Caller,
    decisions: &[Decision],
) -> Result<(Vec<Knowledge>, Vec<String>), KnowledgeFilesError> {
    let (mut events, mut contradictions) = (Vec::new(), Vec::new());
    let by = Author::agent(&caller.agent);
    let viewer = Viewer::Agent(caller.agent.clone());
    let may_change = |files: &KnowledgeFiles, id: &str| {
        let entry = files.known().index().get(&viewer, id);
        entry.is_some_and(|entry| !entry.memory.shared && !entry.memory.pinned)
    };
    for decision in decisions {
        match &decision.act {
            CandidateAction::Add { candidate, edges } => {
                let memory = Memory {
                    id: derive_id(&caller.call, &candidate.content, caller.now),
                    source: caller.source.clone(),
                    edges: edges.clone(),
                    ..candidate.clone().into_memory(&caller.agent, Some(caller.now))
                };
                if files.known().index().get(&viewer, &memory.id).is_none() {
                    files.add(&memory, &by)?;
                }
                contradictions.extend(contradictions_of(files, &memory));
                events.push(added(&memory));
            }
            CandidateAction::Update { id, candidate } if may_change(files, id) => {
                events.push(rewrite(files, id, candidate, caller)?);
            }
            CandidateAction::Delete { id } if may_change(files, id) => {
                let text = logged(&content_of(files, id));
                files.forget(id, &by)?;
                events.push(Knowledge::Forgotten { id: id.clone(), text });
            }
            // Memories that a person pinned or removed meanwhile stay as they are.
            CandidateAction::Update { .. }
            | CandidateAction::Delete { .. }
            | CandidateAction::Keep { .. }
            | CandidateAction::Skip => {}
        }
    }
    Ok((events, contradictions))
}

/// Changes the text of a memory of the caller and returns the log event. The new text has the source of the call: the
/// earlier one does not contain it.
fn rewrite(
    files: &mut KnowledgeFiles,
    id: &Id,
    candidate: &Candidate,
    caller: &Caller,
) -> Result<Knowledge, KnowledgeFilesError> {
    let before = content_of(files, id);
    let event = Knowledge::Updated { id: id.clone(), text: logged(&candidate.content), before: logged(&before) };
    let Some(entry) = files.known().index().get(&Viewer::Person, id) else { return Ok(event) };
    let known = entry.memory.clone();
    let new_tags = candidate.tags.iter().filter(|tag| !known.tags.contains(tag)).cloned();
    let tags = known.tags.iter().cloned().chain(new_tags).collect();
    let memory = Memory {
        content: candidate.content.clone(),
        importance: known.importance.max(candidate.importance),
        updated: Some(caller.now),
        source: caller.source.clone(),
        tags,
        ..known
    };
    files.update(&memory, &Author::agent(&caller.agent))?;
    Ok(event)
}
