//! Answers requests about knowledge: what an agent recalls, what it finds with a tool, and the result of what it adds.
//! Every answer is limited to what the agent may know.

use serde_json::json;

use super::files::{KnowledgeFiles, KnowledgeFilesError};
use super::settings::KnowledgeSettings;
use crate::base::calendar::stamp;
use crate::base::text::{one_line, truncate};
use crate::base::{Author, Id};
use crate::knowledge::consolidation::{Act, Candidate, Case, Decision, Similar, decide_offline};
use crate::knowledge::memory::made_id;
use crate::knowledge::{Edge, Filter, Memory, MemoryKind, Owner, Recalled, Relation, ScoreParts, Source, Viewer};
use crate::log::events::{Knowledge, RecalledScore, word};
use crate::memory::{RecalledMemory, Reminder};
use crate::tools::{KnowledgeOrder, ToolNews, ToolOutput};

/// Characters of a memory in the log.
pub(super) const LOGGED_CHARS: usize = 300;
/// Characters of a memory in a prompt and in an answer.
const TOLD_CHARS: usize = 1_000;
/// How many known memories are compared with a candidate.
pub(super) const SIMILAR: usize = 5;
/// What is less alike than this has nothing to do with it.
const ALIKE_FROM: f32 = 0.4;
/// Characters of a date without the time.
const DAY_CHARS: usize = "2026-11-24".len();

/// What a prompt is to be reminded of, as the text of its part.
pub(super) fn recall(
    files: &mut KnowledgeFiles,
    agent: &Id,
    about: &str,
    (now, settings, chars_at_most): (i64, &KnowledgeSettings, usize),
) -> String {
    let viewer = Viewer::Agent(agent.clone());
    let found = files.known().recall(&viewer, about, now, settings.recalled_at_most, Filter::default());
    let is_near = |parts: &ScoreParts| {
        let is_alike = parts.similarity.is_some_and(|similarity| similarity >= settings.similarity_at_least);
        is_alike || parts.coverage >= settings.coverage_at_least
    };
    let recalled: Vec<RecalledMemory> = found.iter().filter(|found| is_near(&found.parts)).map(recalled).collect();
    let mut reminder = Reminder { about: about.to_owned(), memories: recalled };
    // Cut anywhere else it could not be read.
    while reminder.to_json().chars().count() > chars_at_most {
        reminder.memories.pop();
    }
    let recalled = &reminder.memories;
    let ids: Vec<Id> = recalled.iter().map(|memory| memory.id.clone()).collect();
    note_recalled(files, &ids, now);
    reminder.to_json()
}

/// Counts that memories were recalled. Where that cannot be kept, as on a full disk, they are recalled all the same.
fn note_recalled(files: &mut KnowledgeFiles, ids: &[Id], now: i64) {
    if let Err(error) = files.note_recalled(ids.iter().map(|id| &**id), now) {
        tracing::warn!("recall counts could not be saved: {error}");
    }
}

fn recalled(found: &Recalled<'_>) -> RecalledMemory {
    let memory = &found.entry.memory;
    RecalledMemory {
        id: memory.id.clone(),
        content: truncate(&one_line(&memory.content), TOLD_CHARS),
        kind: memory.kind,
        day: memory.dated().map(day),
        shared_by: memory.shared.then(|| memory.agent.clone()),
        source: memory.source.clone(),
        score: score_of(found),
    }
}

/// A memory that was found, with what its score is made of.
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

/// A memory as the log has it.
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
    /// Where it comes from.
    pub(super) source: Source,
    /// The room's date and time, in seconds since 1970.
    pub(super) now: i64,
}

/// The result of a tool call.
pub(super) fn carry_out(files: &mut KnowledgeFiles, caller: &Caller, order: &KnowledgeOrder) -> ToolNews {
    let done = match order {
        KnowledgeOrder::Query { question, kinds, limit } => Ok(find(files, caller, question, kinds, *limit)),
        KnowledgeOrder::Contribute { content, kind, tags, importance, is_private, relations } => {
            let usual = Candidate::new(content);
            let importance = importance.map_or(usual.importance, |hundredths| hundredths as f32 / 100.0);
            let candidate = Candidate { kind: *kind, tags: tags.clone(), importance, ..usual };
            match edges(files, caller, relations, *is_private) {
                Ok(edges) => contribute(files, caller, (candidate, edges), *is_private),
                Err(why) => return ToolNews::Failed { why },
            }
        }
    };
    match done {
        Ok(output) => ToolNews::Done { output },
        Err(error) => ToolNews::Failed { why: error.to_string() },
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
    let told = Knowledge::Recalled { about: logged(question), memories: memories.into_iter().cloned().collect() };
    output(text, &told)
}

/// The result of a call, and its log events.
fn output(text: String, told: &Knowledge) -> ToolOutput {
    ToolOutput { text, data: Some(json!({ TOLD: told })), ..ToolOutput::default() }
}

/// The key in an answer's data for the text to be logged.
pub(super) const TOLD: &str = "knowledge";

/// The key in an answer's data for memories that contradict each other.
pub(super) const CONTRADICTIONS: &str = "contradictions";

/// The relations that a call names, as edges; in words why one of them cannot be.
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

/// In words, which of these edges of a memory say that it contradicts another.
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
    (candidate, said): (Candidate, Vec<Edge>),
    is_private: bool,
) -> Result<ToolOutput, KnowledgeFilesError> {
    let memory = Memory {
        // The same call makes the same memory, however often it is carried out.
        id: made_id(&caller.call, &candidate.content, 0),
        shared: !is_private,
        source: caller.source.clone(),
        ..candidate.clone().into_memory(&caller.agent, Some(caller.now))
    };
    let by = Author::agent(&caller.agent);
    if let Some(there) = files.known().index().get(&Viewer::Agent(caller.agent.clone()), &memory.id) {
        let told = added(&there.memory);
        return Ok(output(format!("Saved as {}.", memory.id), &told));
    }
    let similar = similar_of(files, &Owner::of(&memory), &caller.agent, &candidate);
    let act = decide_offline(&[Case { candidate, similar }]).into_iter().next().map(|decision| decision.act);
    match act.unwrap_or(Act::Skip) {
        Act::Keep { id } => {
            let known = content_of(files, &id);
            let told = Knowledge::Known { id: id.clone(), text: logged(&memory.content) };
            Ok(output(format!("This is already known, as {id}: {known}"), &told))
        }
        Act::Update { id, candidate } => {
            let told = rewrite(files, &id, &candidate, caller.now, &by)?;
            Ok(output(format!("It adds to {id}, which is now: {}", candidate.content), &told))
        }
        // An exact match is intended, however short it is.
        act @ (Act::Add { .. } | Act::Skip | Act::Delete { .. }) => {
            let found = if let Act::Add { edges, .. } = act { edges } else { Vec::new() };
            // The agent's own statement about two memories takes precedence over their similarity.
            let found = found.into_iter().filter(|edge| said.iter().all(|one| one.target != edge.target));
            let mut edges: Vec<Edge> = said.iter().cloned().chain(found).collect();
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

/// What the log says of a new memory.
pub(super) fn added(memory: &Memory) -> Knowledge {
    Knowledge::Added {
        id: memory.id.clone(),
        kind: word(memory.kind),
        text: logged(&memory.content),
        shared: memory.shared,
    }
}

/// The text of a memory.
fn content_of(files: &KnowledgeFiles, id: &str) -> String {
    let entry = files.known().index().get(&Viewer::Person, id);
    entry.map(|entry| entry.memory.content.clone()).unwrap_or_default()
}

/// Known memories of one file that are most like something new: nobody else's are looked at.
pub(super) fn similar_of(files: &KnowledgeFiles, owner: &Owner, agent: &Id, candidate: &Candidate) -> Vec<Similar> {
    let Some(meaning) = files.known().embed(&candidate.content) else { return Vec::new() };
    let near = files.known().index().similar(&Viewer::Agent(agent.clone()), &meaning, SIMILAR * 2);
    let of_owner = near.into_iter().filter(|(entry, _)| Owner::of(&entry.memory) == *owner);
    let similar = of_owner.map(|(entry, similarity)| Similar { memory: entry.memory.clone(), similarity });
    similar.take(SIMILAR).collect()
}

/// What is known that is like each of several that may be worth remembering. What everybody knows is among it, so that
/// it is not remembered again, and may not be changed: it is not this agent's.
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
        similar.retain(|similar| similar.similarity >= ALIKE_FROM);
        similar.truncate(SIMILAR);
        Case { candidate: candidate.clone(), similar }
    };
    candidates.iter().map(case).collect()
}

/// Does what was decided about what an agent looked back at, as its own act; what the log says of it, and which
/// memories cannot both be true. What was done before is not done again.
pub(super) fn apply_decisions(
    files: &mut KnowledgeFiles,
    caller: &Caller,
    decisions: &[Decision],
) -> Result<(Vec<Knowledge>, Vec<String>), KnowledgeFilesError> {
    let (mut told, mut contradictions) = (Vec::new(), Vec::new());
    let by = Author::agent(&caller.agent);
    let viewer = Viewer::Agent(caller.agent.clone());
    let may_change = |files: &KnowledgeFiles, id: &str| {
        let entry = files.known().index().get(&viewer, id);
        entry.is_some_and(|entry| !entry.memory.shared && !entry.memory.pinned)
    };
    for decision in decisions {
        match &decision.act {
            Act::Add { candidate, edges } => {
                let memory = Memory {
                    id: made_id(&caller.call, &candidate.content, caller.now),
                    source: caller.source.clone(),
                    edges: edges.clone(),
                    ..candidate.clone().into_memory(&caller.agent, Some(caller.now))
                };
                if files.known().index().get(&viewer, &memory.id).is_none() {
                    files.add(&memory, &by)?;
                }
                contradictions.extend(contradictions_of(files, &memory));
                told.push(added(&memory));
            }
            Act::Update { id, candidate } if may_change(files, id) => {
                told.push(rewrite(files, id, candidate, caller.now, &by)?);
            }
            Act::Delete { id } if may_change(files, id) => {
                let text = logged(&content_of(files, id));
                files.forget(id, &by)?;
                told.push(Knowledge::Forgotten { id: id.clone(), text });
            }
            // What a person pinned meanwhile, or took away, stays so.
            Act::Update { .. } | Act::Delete { .. } | Act::Keep { .. } | Act::Skip => {}
        }
    }
    Ok((told, contradictions))
}

/// Lets a memory say something else; what the log says of it.
pub(super) fn rewrite(
    files: &mut KnowledgeFiles,
    id: &Id,
    candidate: &Candidate,
    now: i64,
    by: &Author,
) -> Result<Knowledge, KnowledgeFilesError> {
    let before = content_of(files, id);
    let told = Knowledge::Updated { id: id.clone(), text: logged(&candidate.content), before: logged(&before) };
    let Some(entry) = files.known().index().get(&Viewer::Person, id) else { return Ok(told) };
    let known = entry.memory.clone();
    let new_tags = candidate.tags.iter().filter(|tag| !known.tags.contains(tag)).cloned();
    let tags = known.tags.iter().cloned().chain(new_tags).collect();
    let memory = Memory {
        content: candidate.content.clone(),
        importance: known.importance.max(candidate.importance),
        updated: Some(now),
        tags,
        ..known
    };
    files.update(&memory, by)?;
    Ok(told)
}
