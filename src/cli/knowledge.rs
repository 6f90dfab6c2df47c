//! `workshop knowledge`: searches memories as an agent recalls them, shows them with their source, and forgets them.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::workspace_argument::{self, IfMissing, InWorkspace};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::opening::state_folder;
use crate::app::persons_clock::local_secs;
use crate::app::servers::embedder_of;
use crate::base::calendar::stamp;
use crate::base::text::{nearest, one_line, truncate};
use crate::base::{Author, Id, Severity};
use crate::knowledge::{Edge, Entry, Filter, Graph, KnowledgeBase, Memory, MemoryKind, Recalled, Viewer, memory_json};
use crate::learning::{EmbedderChoice, KnowledgeFiles};

/// The maximum length of a listed memory, in characters.
const LIST_CHARS: usize = 100;
/// The maximum number of listed problems; the others are counted.
const MAX_PROBLEMS: usize = 10;
/// The number of vectors per request to the embedding model.
const EMBEDDING_BATCH: usize = 256;
/// Computing more vectors than this is announced.
const ANNOUNCE_ABOVE: usize = 64;

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Search memories by meaning and keyword, best match first
    Query(SearchArguments),
    /// List memories
    List(ListArguments),
    /// Show a memory in full: its text, location, source and relations
    Show(MemoryArguments),
    /// Remove a memory from its file
    Forget(ForgetArguments),
    /// Rebuild the index from the files
    Reindex(InWorkspace),
    /// Write the memories as a graph: memory/knowledge/graph.json and graph.mmd
    Export(ExportArguments),
}

#[derive(Args)]
struct FilterArguments {
    /// Only what this agent knows: its own memories and the shared ones
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Only this kind: skill, fact, procedure, observation, mistake or preference; repeatable
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<MemoryKind>,
    /// Only with this tag; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only shared memories
    #[arg(long)]
    shared: bool,
}

impl FilterArguments {
    fn viewer(&self) -> Viewer {
        viewer(self.agent.as_deref())
    }

    fn filter(&self) -> Filter {
        let (kinds, tags) = (self.kinds.clone(), self.tags.clone());
        Filter { kinds, tags, is_shared: self.shared, ..Filter::default() }
    }
}

fn viewer(agent: Option<&str>) -> Viewer {
    agent.map_or(Viewer::Person, |agent| Viewer::Agent(agent.into()))
}

#[derive(Args)]
struct SearchArguments {
    /// The words to search for
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    choosing: FilterArguments,
    /// The maximum number of results
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct ListArguments {
    #[command(flatten)]
    choosing: FilterArguments,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct MemoryArguments {
    /// The id from the list, or an unambiguous prefix of it
    id: String,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct ForgetArguments {
    #[command(flatten)]
    chosen: MemoryArguments,
    /// Forget it even if it is pinned
    #[arg(long)]
    pinned: bool,
}

#[derive(Args)]
struct ExportArguments {
    /// Only what this agent knows: its own memories and the shared ones
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Print the graph as JSON, and write no file
    #[arg(long)]
    json: bool,
}

pub(super) fn knowledge(arguments: &Arguments) -> CliResult {
    match &arguments.command {
        Command::Query(searching) => query(searching),
        Command::List(listing) => list(listing),
        Command::Show(chosen) => show(chosen),
        Command::Forget(forgetting) => forget(forgetting),
        Command::Reindex(place) => reindex(place),
        Command::Export(exporting) => export(exporting),
    }
}

/// Opens the workspace's memories, and reports problems in their files.
fn open(named: Option<&PathBuf>) -> Result<KnowledgeFiles, CliError> {
    open_with(named, |_| EmbedderChoice::default())
}

/// The same with the embedding model from the settings, and with all vectors computed.
fn open_for_search(named: Option<&PathBuf>) -> Result<KnowledgeFiles, CliError> {
    let mut files = open_with(named, embedder_of)?;
    if let Some(why) = files.fallback_reason() {
        output::note(&format!("warning: memory search falls back to {}: {why}", files.known().embedder().model()));
    }
    compute_missing_vectors(&mut files)?;
    Ok(files)
}

/// Computes the missing vectors.
fn compute_missing_vectors(files: &mut KnowledgeFiles) -> Result<(), CliError> {
    let due = files.known().due();
    if due > ANNOUNCE_ABOVE {
        output::note(&format!("computing vectors for {due} memories with {} …", files.known().embedder().model()));
    }
    while files.known().due() > 0 {
        let before = files.known().due();
        files.catch_up(EMBEDDING_BATCH).map_err(CliError::failed)?;
        if files.known().due() == before {
            let why = files.known().embedder().unavailable_reason().unwrap_or_default();
            output::note(&format!("warning: {before} memories can only be found by keyword: {why}"));
            break;
        }
    }
    Ok(())
}

fn open_with(
    named: Option<&PathBuf>,
    embedder: impl FnOnce(&Path) -> EmbedderChoice,
) -> Result<KnowledgeFiles, CliError> {
    let folder = workspace_argument::workspace(named.map(PathBuf::as_path), IfMissing::Fail)?;
    let files = KnowledgeFiles::open(&folder, &state_folder(&folder), &embedder(&folder)).map_err(CliError::failed)?;
    let problems = files.problems();
    for problem in problems.iter().take(MAX_PROBLEMS) {
        let word = if problem.severity == Severity::Error { "error" } else { "warning" };
        output::note(&format!("{word}: {problem}"));
    }
    if problems.len() > MAX_PROBLEMS {
        output::note(&format!("and {} more", problems.len() - MAX_PROBLEMS));
    }
    Ok(files)
}

fn query(searching: &SearchArguments) -> CliResult {
    let files = open_for_search(searching.place.workspace.as_ref())?;
    let text = searching.text.join(" ");
    let choosing = &searching.choosing;
    let limit = usize::from(searching.limit);
    let found = files.known().recall(&choosing.viewer(), &text, local_secs(), limit, choosing.filter());
    if searching.place.json {
        output::json(&json!({ "query": text, "memories": found.iter().map(recalled_json).collect::<Vec<_>>() }))?;
    } else if found.is_empty() {
        output::note("no results");
    } else {
        let line = |one: &Recalled<'_>| format!("{:.2}  {}", one.score, line(&one.entry.memory));
        output::result(&found.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitStatus::Done)
}

fn list(listing: &ListArguments) -> CliResult {
    let files = open(listing.place.workspace.as_ref())?;
    let filter = listing.choosing.filter();
    let all = files.known().index().all(&listing.choosing.viewer());
    let mut all: Vec<&Memory> = all.into_iter().map(|entry| &entry.memory).filter(|one| filter.matches(one)).collect();
    all.sort_by(|one, other| {
        (!one.shared, &one.agent, one.created, &one.id).cmp(&(!other.shared, &other.agent, other.created, &other.id))
    });
    if listing.place.json {
        output::json(&json!({ "memories": all.iter().map(|memory| memory_json(memory)).collect::<Vec<_>>() }))?;
    } else if all.is_empty() {
        output::note("no memories yet; agents save what they learn, and you can add lines to memory/knowledge/");
    } else {
        output::result(&all.into_iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(ExitStatus::Done)
}

fn show(chosen: &MemoryArguments) -> CliResult {
    let files = open(chosen.place.workspace.as_ref())?;
    let known = files.known();
    let entry = choose(known, &chosen.id)?;
    let edges = known.index().edges_at(&Viewer::Person, &entry.memory.id);
    let place = known.line_of(&entry.memory).map(|(owner, line)| format!("{}:{line}", owner.place()));
    if chosen.place.json {
        let mut shown = memory_json(&entry.memory);
        shown["place"] = json!(place);
        shown["times_recalled"] = json!(entry.recalls.times);
        shown["last_recalled"] = json!(entry.recalls.last.map(stamp));
        shown["edges"] = edges.iter().map(|(from, edge)| edge_json(&from.memory.id, edge)).collect();
        output::json(&shown)?;
        return Ok(ExitStatus::Done);
    }
    output::result(&memory_details(entry, &edges, place.as_deref()))?;
    Ok(ExitStatus::Done)
}

fn memory_details(entry: &Entry, edges: &[(&Entry, &Edge)], place: Option<&str>) -> String {
    let memory = &entry.memory;
    let mut lines = vec![memory.content.clone(), String::new()];
    let mut add = |what: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("{:<11} {value}", format!("{what}:"))))
    };
    add("id", Some(memory.id.to_string()));
    add("owner", Some(if memory.shared { format!("shared, from {}", memory.agent) } else { memory.agent.to_string() }));
    add("kind", Some(memory.kind.to_string()));
    add("tags", Some(memory.tags.join(", ")).filter(|tags| !tags.is_empty()));
    add("importance", Some(format!("{:.2} of 1", memory.importance)));
    add("pinned", memory.pinned.then(|| "yes: agents never forget or rewrite it".to_owned()));
    add("place", place.map(str::to_owned));
    add("created", memory.created.map(stamp));
    add("updated", memory.updated.map(stamp));
    let source = &memory.source;
    let record = source.record.map(|record| format!("record {record}"));
    let parts = [source.run.as_deref().map(str::to_owned), source.session.as_deref().map(str::to_owned), record];
    add("from", Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", ")).filter(|from| !from.is_empty()));
    let last = entry.recalls.last.map(|last| format!("{} times, last {}", entry.recalls.times, stamp(last)));
    add("recalled", Some(last.unwrap_or_else(|| "never".to_owned())));
    for (from, edge) in edges {
        let word = edge.relation.as_str();
        lines.push(if from.memory.id == memory.id {
            format!("{word} {}", edge.target)
        } else {
            format!("{} {word} this", line(&from.memory))
        });
    }
    lines.join("\n")
}

fn forget(forgetting: &ForgetArguments) -> CliResult {
    let chosen = &forgetting.chosen;
    let mut files = open(chosen.place.workspace.as_ref())?;
    let memory = choose(files.known(), &chosen.id)?.memory.clone();
    if memory.pinned && !forgetting.pinned {
        let error = CliError::usage(format!("{} is pinned", memory.id));
        return Err(error.hint("forget it anyway with --pinned"));
    }
    let place = files.known().line_of(&memory).map(|(owner, line)| format!("{}:{line}", owner.place()));
    files.forget(&memory.id, &Author::user()).map_err(CliError::failed)?;
    if chosen.place.json {
        output::json(&json!({ "forgotten": memory_json(&memory), "place": place }))?;
    } else {
        output::result(&line(&memory))?;
    }
    let from = place.map(|place| format!(" from {place}")).unwrap_or_default();
    output::note(&format!("forgot it{from}; to restore it, add the line again"));
    Ok(ExitStatus::Done)
}

fn reindex(place: &InWorkspace) -> CliResult {
    let mut files = open_with(place.workspace.as_ref(), embedder_of)?;
    let read = files.reindex().map_err(CliError::failed)?;
    let to_make = files.known().due();
    compute_missing_vectors(&mut files)?;
    let embedded = read.embedded + to_make - files.known().due();
    let model = files.known().embedder().model();
    if place.json {
        output::json(&json!({ "memories": read.changed, "embedded": embedded, "model": model }))?;
    } else {
        output::result(&format!("{} memories indexed by {model}", read.changed))?;
    }
    Ok(ExitStatus::Done)
}

fn export(exporting: &ExportArguments) -> CliResult {
    let files = open(exporting.workspace.as_ref())?;
    let graph = Graph::of(files.known().index(), &viewer(exporting.agent.as_deref()));
    let json = graph.to_json();
    if exporting.json {
        output::json(&json)?;
        return Ok(ExitStatus::Done);
    }
    let text = serde_json::to_string_pretty(&json).map_err(CliError::failed)? + "\n";
    let written =
        [files.write_extra_file("graph.json", &text), files.write_extra_file("graph.mmd", &graph.to_mermaid())];
    for place in written {
        output::result(&place.map_err(CliError::failed)?)?;
    }
    let count = graph.contradictions().count();
    if count > 0 {
        output::note(&format!("{count} of the relations are contradictions; see graph.mmd"));
    }
    Ok(ExitStatus::Done)
}

/// Finds a memory by its id or an unambiguous prefix of it.
fn choose<'a>(known: &'a KnowledgeBase, wanted: &str) -> Result<&'a Entry, CliError> {
    if let Some(exact) = known.index().get(&Viewer::Person, wanted) {
        return Ok(exact);
    }
    let all = known.index().all(&Viewer::Person);
    let begin: Vec<&Entry> =
        all.iter().copied().filter(|entry| !wanted.is_empty() && entry.memory.id.starts_with(wanted)).collect();
    if let [one] = begin.as_slice() {
        return Ok(one);
    }
    let ids = |entries: &[&'a Entry]| entries.iter().map(|entry| entry.memory.id.clone()).collect::<Vec<Id>>();
    if begin.len() > 1 {
        let some = ids(&begin).into_iter().take(5).collect::<Vec<_>>().join(", ");
        return Err(CliError::usage(format!("{wanted:?} matches several memories: {some}")).hint(
            "use a longer prefix \
            of the id",
        ));
    }
    let error = CliError::usage(format!("there is no memory {wanted:?}"));
    Err(match nearest(wanted, ids(&all).iter().map(|id| &**id)) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("list them with: workshop knowledge list"),
    })
}

fn line(memory: &Memory) -> String {
    let whose = if memory.shared { "shared" } else { &memory.agent };
    let pin = if memory.pinned { ", pinned" } else { "" };
    let content = truncate(&one_line(&memory.content), LIST_CHARS);
    format!("{}  {whose}, {}{pin}: {content}", memory.id, memory.kind)
}

fn edge_json(from: &str, edge: &Edge) -> Value {
    json!({ "source_id": from, "target_id": edge.target, "relation": edge.relation.as_str(), "weight": edge.weight })
}

fn recalled_json(one: &Recalled<'_>) -> Value {
    let mut found = memory_json(&one.entry.memory);
    found["score"] = json!(one.score);
    found["parts"] = json!(one.parts);
    found
}
