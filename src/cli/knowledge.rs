//! `workshop knowledge`: searches memories as an agent recalls them, shows them with their source, and forgets them.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::workspace_argument::{self, Absent, InWorkspace};
use super::{Complaint, Ending, Outcome, output};
use crate::app::opening::state_folder;
use crate::app::persons_clock::local_secs;
use crate::app::servers::embedder_of;
use crate::base::calendar::stamp;
use crate::base::text::{nearest, one_line, truncate};
use crate::base::{Author, Id, Severity};
use crate::knowledge::{Edge, Entry, Filter, Graph, KnowledgeBase, Memory, MemoryKind, Recalled, Viewer, memory_json};
use crate::learning::{EmbedderChoice, KnowledgeFiles};

/// How many characters of a memory a list shows.
const LIST_CHARS: usize = 100;
/// How many problems are listed; the others are counted.
const PROBLEMS_TOLD: usize = 10;
/// Vectors that are asked for in one go.
const MADE_AT_ONCE: usize = 256;
/// The creation of vectors is announced if there are more than this.
const TOLD_FROM: usize = 64;

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Search memories by meaning and keyword, best match first
    Query(Searching),
    /// List memories
    List(Listing),
    /// Show a memory in full: its text, location, source and relations
    Show(MemoryArguments),
    /// Remove a memory from its file
    Forget(Forgetting),
    /// Rebuild the index from the files
    Reindex(InWorkspace),
    /// Write the memories as a graph: memory/knowledge/graph.json and graph.mmd
    Export(Exporting),
}

#[derive(Args)]
struct Choosing {
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

impl Choosing {
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
struct Searching {
    /// The words to search for
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    choosing: Choosing,
    /// The maximum number of results
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    place: InWorkspace,
}

#[derive(Args)]
struct Listing {
    #[command(flatten)]
    choosing: Choosing,
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
struct Forgetting {
    #[command(flatten)]
    chosen: MemoryArguments,
    /// Forget it even if it is pinned
    #[arg(long)]
    pinned: bool,
}

#[derive(Args)]
struct Exporting {
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

pub(super) fn knowledge(arguments: &Arguments) -> Outcome {
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
fn open(named: Option<&PathBuf>) -> Result<KnowledgeFiles, Complaint> {
    opened(named, |_| EmbedderChoice::default())
}

/// The same with the model of embeddings that the settings name, and all vectors made.
fn open_to_compare(named: Option<&PathBuf>) -> Result<KnowledgeFiles, Complaint> {
    let mut files = opened(named, embedder_of)?;
    if let Some(why) = files.fallback_reason() {
        output::note(&format!("warning: memory search falls back to {}: {why}", files.known().embedder().model()));
    }
    make_all(&mut files)?;
    Ok(files)
}

/// Makes the vectors that are still to be made.
fn make_all(files: &mut KnowledgeFiles) -> Result<(), Complaint> {
    let due = files.known().due();
    if due > TOLD_FROM {
        output::note(&format!("computing vectors for {due} memories with {} …", files.known().embedder().model()));
    }
    while files.known().due() > 0 {
        let before = files.known().due();
        files.catch_up(MADE_AT_ONCE).map_err(Complaint::failed)?;
        if files.known().due() == before {
            let why = files.known().embedder().trouble().unwrap_or_default();
            output::note(&format!("warning: {before} memories can only be found by keyword: {why}"));
            break;
        }
    }
    Ok(())
}

fn opened(
    named: Option<&PathBuf>,
    embedder: impl FnOnce(&Path) -> EmbedderChoice,
) -> Result<KnowledgeFiles, Complaint> {
    let folder = workspace_argument::workspace(named.map(PathBuf::as_path), Absent::Refuse)?;
    let files = KnowledgeFiles::open(&folder, &state_folder(&folder), &embedder(&folder)).map_err(Complaint::failed)?;
    let problems = files.problems();
    for problem in problems.iter().take(PROBLEMS_TOLD) {
        let word = if problem.severity == Severity::Error { "error" } else { "warning" };
        output::note(&format!("{word}: {problem}"));
    }
    if problems.len() > PROBLEMS_TOLD {
        output::note(&format!("and {} more", problems.len() - PROBLEMS_TOLD));
    }
    Ok(files)
}

fn query(searching: &Searching) -> Outcome {
    let files = open_to_compare(searching.place.workspace.as_ref())?;
    let text = searching.text.join(" ");
    let choosing = &searching.choosing;
    let limit = usize::from(searching.limit);
    let found = files.known().recall(&choosing.viewer(), &text, local_secs(), limit, choosing.filter());
    if searching.place.json {
        output::json(&json!({ "query": text, "memories": found.iter().map(found_json).collect::<Vec<_>>() }))?;
    } else if found.is_empty() {
        output::note("no results");
    } else {
        let line = |one: &Recalled<'_>| format!("{:.2}  {}", one.score, line(&one.entry.memory));
        output::result(&found.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Ending::Done)
}

fn list(listing: &Listing) -> Outcome {
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
    Ok(Ending::Done)
}

fn show(chosen: &MemoryArguments) -> Outcome {
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
        return Ok(Ending::Done);
    }
    output::result(&shown(entry, &edges, place.as_deref()))?;
    Ok(Ending::Done)
}

fn shown(entry: &Entry, edges: &[(&Entry, &Edge)], place: Option<&str>) -> String {
    let memory = &entry.memory;
    let mut lines = vec![memory.content.clone(), String::new()];
    let mut say =
        |what: &str, said: Option<String>| lines.extend(said.map(|said| format!("{:<9} {said}", format!("{what}:"))));
    say("id", Some(memory.id.to_string()));
    say("whose", Some(if memory.shared { format!("shared, from {}", memory.agent) } else { memory.agent.to_string() }));
    say("kind", Some(memory.kind.to_string()));
    say("tags", Some(memory.tags.join(", ")).filter(|tags| !tags.is_empty()));
    say("matters", Some(format!("{:.2} of 1", memory.importance)));
    say("pinned", memory.pinned.then(|| "yes: agents never forget or rewrite it".to_owned()));
    say("place", place.map(str::to_owned));
    say("created", memory.created.map(stamp));
    say("updated", memory.updated.map(stamp));
    let source = &memory.source;
    let record = source.record.map(|record| format!("record {record}"));
    let parts = [source.run.as_deref().map(str::to_owned), source.session.as_deref().map(str::to_owned), record];
    say("from", Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", ")).filter(|from| !from.is_empty()));
    let last = entry.recalls.last.map(|last| format!("{} times, last {}", entry.recalls.times, stamp(last)));
    say("recalled", Some(last.unwrap_or_else(|| "never".to_owned())));
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

fn forget(forgetting: &Forgetting) -> Outcome {
    let chosen = &forgetting.chosen;
    let mut files = open(chosen.place.workspace.as_ref())?;
    let memory = choose(files.known(), &chosen.id)?.memory.clone();
    if memory.pinned && !forgetting.pinned {
        let complaint = Complaint::usage(format!("{} is pinned", memory.id));
        return Err(complaint.hint("forget it anyway with --pinned"));
    }
    let place = files.known().line_of(&memory).map(|(owner, line)| format!("{}:{line}", owner.place()));
    files.forget(&memory.id, &Author::user()).map_err(Complaint::failed)?;
    if chosen.place.json {
        output::json(&json!({ "forgotten": memory_json(&memory), "place": place }))?;
    } else {
        output::result(&line(&memory))?;
    }
    let from = place.map(|place| format!(" from {place}")).unwrap_or_default();
    output::note(&format!("forgot it{from}; to restore it, add the line again"));
    Ok(Ending::Done)
}

fn reindex(place: &InWorkspace) -> Outcome {
    let mut files = opened(place.workspace.as_ref(), embedder_of)?;
    let read = files.reindex().map_err(Complaint::failed)?;
    let to_make = files.known().due();
    make_all(&mut files)?;
    let embedded = read.embedded + to_make - files.known().due();
    let model = files.known().embedder().model();
    if place.json {
        output::json(&json!({ "memories": read.changed, "embedded": embedded, "model": model }))?;
    } else {
        output::result(&format!("{} memories indexed by {model}", read.changed))?;
    }
    Ok(Ending::Done)
}

fn export(exporting: &Exporting) -> Outcome {
    let files = open(exporting.workspace.as_ref())?;
    let graph = Graph::of(files.known().index(), &viewer(exporting.agent.as_deref()));
    let json = graph.to_json();
    if exporting.json {
        output::json(&json)?;
        return Ok(Ending::Done);
    }
    let text = serde_json::to_string_pretty(&json).map_err(Complaint::failed)? + "\n";
    let written =
        [files.write_extra_file("graph.json", &text), files.write_extra_file("graph.mmd", &graph.to_mermaid())];
    for place in written {
        output::result(&place.map_err(Complaint::failed)?)?;
    }
    let count = graph.contradictions().count();
    if count > 0 {
        output::note(&format!("{count} of the relations are contradictions; see graph.mmd"));
    }
    Ok(Ending::Done)
}

/// The memory that is meant: by its id, or by a beginning of it that is the beginning of no other.
fn choose<'a>(known: &'a KnowledgeBase, wanted: &str) -> Result<&'a Entry, Complaint> {
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
        return Err(Complaint::usage(format!("{wanted:?} matches several memories: {some}")).hint(
            "use a longer prefix \
            of the id",
        ));
    }
    let complaint = Complaint::usage(format!("there is no memory {wanted:?}"));
    Err(match nearest(wanted, ids(&all).iter().map(|id| &**id)) {
        Some(near) => complaint.hint(format!("did you mean {near}?")),
        None => complaint.hint("list them with: workshop knowledge list"),
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

fn found_json(one: &Recalled<'_>) -> Value {
    let mut found = memory_json(&one.entry.memory);
    found["score"] = json!(one.score);
    found["parts"] = json!(one.parts);
    found
}
