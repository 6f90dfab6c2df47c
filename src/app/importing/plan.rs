//! Plans an import: the role of each file in the workspace, and its destination.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::scan::{Found, Place, list_files};
use super::{Destination, Item, Kind, MAX_BYTES, MAX_NUMBERS, Plan};
use crate::agent::agent_file::{AgentFile, DOCUMENT_OF_FOLDER, stem};
use crate::agent::formats::format_of;
use crate::agent::markdown::{IdentityHints, identity_hints};
use crate::base::text::slug;
use crate::base::{Problem, unique_names};
use crate::modules::may_be_imported;
use crate::safe_fs;
use crate::tools;
use crate::workspace::layout::{self, MAX_FILE_BYTES, MAX_SCENE_BYTES};
use crate::workspace::protected_paths::AGENT_ENDINGS;
use crate::workspace::vfs::path::{PathAccess, WorkspacePath};
use crate::workspace::{secrets, yaml};

/// Maximum depth of subfolders that are kept for an agent file.
const FOLDERS_KEPT: usize = 4;

/// Plans an import from these paths.
pub fn plan(workspace: &Path, paths: &[PathBuf], destination: Destination<'_>) -> Plan {
    let mut planning = Planning {
        workspace,
        real_workspace: workspace.canonicalize().ok(),
        destination,
        plan: Plan::default(),
        taken: BTreeSet::new(),
        read: AgentCounts::default(),
    };
    for path in paths {
        planning.place(list_files(path));
    }
    let Planning { mut plan, read, .. } = planning;
    plan.notes = read.notes();
    plan.items.sort_by(|one, other| (one.kind, &one.to).cmp(&(other.kind, &other.to)));
    plan
}

struct Planning<'a> {
    workspace: &'a Path,
    real_workspace: Option<PathBuf>,
    destination: Destination<'a>,
    plan: Plan,
    /// Destinations that are already planned.
    taken: BTreeSet<String>,
    read: AgentCounts,
}

impl Planning<'_> {
    fn place(&mut self, mut place: Place) {
        self.plan.left_out.append(&mut place.left_out);
        // Files of the workspace itself need not be imported.
        place.files.retain(|file| match self.own_path(&file.path) {
            Some(path) => {
                self.add_existing(file, path);
                false
            }
            None => true,
        });
        let top = place.folder.clone().unwrap_or_default();
        if matches!(self.destination, Destination::Folder(_)) || place.folder.is_none() {
            place.files.iter().for_each(|file| self.chosen(file, &top));
            return;
        }
        let skills = skills(&place.files, &top);
        let documents = documents(&place.files);
        let (mut known, mut others) = (Vec::new(), Vec::new());
        for file in place.files {
            match self.kind_of(&file, &top, &documents, &skills) {
                Some(what) => known.push((file, what)),
                None => others.push(file),
            }
        }
        if self.destination == Destination::Room {
            // A file that is merely beside a collection of agents does not belong to it.
            if !known.iter().any(|(_, what)| what.kind == Kind::Agent) {
                return known.iter().map(|(file, _)| file).chain(&others).for_each(|file| self.for_room(file, false));
            }
        } else if known.is_empty() && !place.is_repository {
            others.iter().for_each(|file| self.chosen(file, &top));
            return;
        }
        self.plan.beside += others.len();
        for (file, what) in known {
            self.add(&file.path, what);
        }
    }

    /// Handles a file that is already in the workspace: usable in a room like an imported one, otherwise left out.
    fn add_existing(&mut self, file: &Found, path: String) {
        let kind = match format_of(&path) {
            Some(_) => Kind::Agent,
            None if path.starts_with("scenes/") => Kind::Scene,
            None => Kind::File,
        };
        if self.destination == Destination::Room && kind != Kind::File {
            let from = file.path.clone();
            self.plan.items.push(Item { from, to: path, kind, is_there: true, name: None, text: None });
        } else {
            self.plan.beside += 1;
        }
    }

    /// The workspace path of a file that the room knows.
    fn own_path(&self, file: &Path) -> Option<String> {
        let inside = self.real_workspace.as_deref().zip(file.canonicalize().ok());
        let inside =
            inside.and_then(|(workspace, file)| Some(file.strip_prefix(workspace).ok()?.to_str()?.replace('\\', "/")));
        inside.filter(|path| layout::is_used_by_room(path))
    }

    /// Handles a file that is dropped into a room, by itself or in a folder.
    fn for_room(&mut self, file: &Found, is_chosen: bool) {
        let name = file.below.last().map(String::as_str).unwrap_or_default();
        let lower = name.to_lowercase();
        let place = || file.path.display().to_string();
        let is_yaml = lower.ends_with(".yaml") || lower.ends_with(".yml");
        let to = place_of_one(file, name);
        let format = format_of(&to);
        if !is_chosen && (lower == "readme.md" || (format.is_none() && !is_yaml)) {
            self.plan.beside += 1;
            return;
        }
        if format.is_none() && !is_yaml {
            let remedy = "drop Markdown files (.md, .mdx) or NAME.agent.yaml, one agent in each";
            return self.plan.left_out.push(Problem::warning(place(), "it is not an agent file", remedy));
        }
        let most = if is_yaml { MAX_SCENE_BYTES } else { MAX_FILE_BYTES };
        let text = match safe_fs::read_text(&file.path, most as u64) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => {
                let remedy = format!("save it as UTF-8 text of at most {} KiB", most >> 10);
                let problem = Problem::warning(place(), format!("it could not be read: {error}"), remedy);
                return self.plan.left_out.push(problem);
            }
        };
        let what = match format {
            Some(format) => {
                let agent = Some((format.read)(&to, &text));
                PlannedFile { kind: Kind::Agent, to, agent, text: None }
            }
            None if is_scene(&text) => scene(name),
            None => {
                let what = "it is neither an agent nor a scene";
                let remedy =
                    "a scene lists its elements: and agents:; an agent is a Markdown file (.md) or a NAME.agent.yaml";
                return self.plan.left_out.push(Problem::warning(place(), what, remedy));
            }
        };
        self.add(&file.path, what);
    }

    /// Handles a single chosen file, or one of a folder without a special meaning.
    fn chosen(&mut self, file: &Found, top: &str) {
        if self.destination == Destination::Room {
            return self.for_room(file, true);
        }
        let name = file.below.last().map(String::as_str).unwrap_or_default();
        let lower = name.to_lowercase();
        let in_folder = [top].into_iter().filter(|top| !top.is_empty()).chain(file.below.iter().map(String::as_str));
        let below = in_folder.collect::<Vec<_>>().join("/");
        let plain = |to: String| PlannedFile { kind: Kind::File, to, agent: None, text: None };
        let what = match self.destination {
            Destination::Folder("") => plain(below),
            Destination::Folder(folder) => plain(format!("{folder}/{below}")),
            _ => {
                let text = || safe_fs::read_text(&file.path, MAX_BYTES).ok().flatten().unwrap_or_default();
                let is_yaml = lower.ends_with(".yaml") || lower.ends_with(".yml");
                match rules_of(&file.below, &text).or_else(|| agent_of(&file.path, &place_of_one(file, name), false)) {
                    Some(what) => what,
                    None if is_yaml && is_scene(&text()) => scene(name),
                    None => plain(format!("artifacts/{below}")),
                }
            }
        };
        self.add(&file.path, what);
    }

    /// The kind of a file in a folder that contains agents, skills or rules; `None` if it is none of them.
    fn kind_of(
        &self,
        file: &Found,
        top: &str,
        documents: &BTreeMap<Vec<String>, bool>,
        skills: &BTreeMap<Vec<String>, String>,
    ) -> Option<PlannedFile> {
        let (name, folders) = file.below.split_last()?;
        for length in (0..=folders.len()).rev() {
            let Some(has_modules) = documents.get(&folders[..length]) else { continue };
            let inside = &file.below[length..];
            if belongs_to_document(inside) || (*has_modules && may_be_imported(&inside.join("/"))) {
                let to = place_of_agent(top, &folders[..length], &inside.join("/"));
                return Some(PlannedFile { kind: Kind::File, to, agent: None, text: None });
            }
        }
        for length in (0..=folders.len()).rev() {
            if let Some(skill) = skills.get(&folders[..length]) {
                let to = format!("skills/{skill}/{}", file.below[length..].join("/"));
                return Some(PlannedFile { kind: Kind::Skill, to, agent: None, text: None });
            }
        }
        let text = || safe_fs::read_text(&file.path, MAX_FILE_BYTES as u64).ok().flatten().unwrap_or_default();
        rules_of(&file.below, &text).or_else(|| agent_of(&file.path, &place_of_agent(top, folders, name), true))
    }

    fn add(&mut self, file: &Path, what: PlannedFile) {
        let place = || file.display().to_string();
        // Imported files can be read by agents and exported with the workspace, so the same rule for secrets applies.
        if let Some(why) = secrets::secret_by_name(&what.to) {
            let problem = Problem::warning(place(), why, "copy it by hand if it holds none");
            return self.plan.left_out.push(problem);
        }
        let is_key = safe_fs::open_regular(file).and_then(|mut file| secrets::reads_key(&mut file)).unwrap_or(false);
        if is_key {
            let problem = Problem::warning(place(), "it holds what looks like a key", "remove the key first");
            return self.plan.left_out.push(problem);
        }
        let refused = |what: String, remedy: &str| Problem::warning(place(), what, remedy);
        let wanted = match WorkspacePath::new(&what.to) {
            Ok(path) if path.reach() == PathAccess::Open => path,
            Ok(path) => {
                let problem = refused(format!("files cannot be imported into '{path}'"), "choose a folder");
                return self.plan.left_out.push(problem);
            }
            Err(refusal) => return self.plan.left_out.push(refused(refusal.to_string(), "rename it")),
        };
        let bytes = match &what.text {
            Some(text) => Ok(text.clone().into_bytes()),
            None => safe_fs::read_bytes(file, MAX_BYTES),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                let problem = refused(format!("it could not be read: {error}"), "check that you can read it");
                return self.plan.left_out.push(problem);
            }
        };
        let Some((to, is_there)) = self.free(wanted.as_str(), &bytes) else { return };
        if self.destination == Destination::Room && to != wanted.as_str() {
            let what = format!("'{wanted}' already exists with different content");
            return self.plan.left_out.push(refused(what, "rename the file and drop it again"));
        }
        let name = what.agent.as_ref().map(|agent| agent.profile.name.clone());
        if let Some(agent) = &what.agent {
            self.read.agent(agent);
        }
        self.plan.items.push(Item { from: file.to_owned(), to, kind: what.kind, is_there, name, text: what.text });
    }

    /// The destination of a file: the wanted path if it is free or has the same content, otherwise the next numbered
    /// one. `None` if the same content is imported already.
    fn free(&mut self, wanted: &str, bytes: &[u8]) -> Option<(String, bool)> {
        for path in unique_names::candidates(wanted).take(MAX_NUMBERS) {
            if self.taken.contains(&path) {
                let is_same = |item: &Item| item.to == path && same(item, bytes);
                if self.plan.items.iter().any(is_same) {
                    return None;
                }
                continue;
            }
            let full = self.workspace.join(&path);
            let is_free = full.symlink_metadata().is_err();
            let is_there = !is_free && safe_fs::read_bytes(&full, MAX_BYTES).is_ok_and(|there| there == bytes);
            if is_free || is_there {
                self.taken.insert(path.clone());
                return Some((path, is_there));
            }
        }
        None
    }
}

fn same(item: &Item, bytes: &[u8]) -> bool {
    match &item.text {
        Some(text) => text.as_bytes() == bytes,
        None => safe_fs::read_bytes(&item.from, MAX_BYTES).is_ok_and(|there| there == bytes),
    }
}

/// The role of a file and its wanted destination.
struct PlannedFile {
    kind: Kind,
    to: String,
    agent: Option<AgentFile>,
    text: Option<String>,
}

/// A scene gets a plain file name.
fn scene(name: &str) -> PlannedFile {
    let stem = slug(name.rsplit_once('.').map_or(name, |(stem, _)| stem));
    let stem = if stem.is_empty() { "scene" } else { stem.as_str() };
    PlannedFile { kind: Kind::Scene, to: format!("scenes/{stem}.yaml"), agent: None, text: None }
}

fn is_scene(text: &str) -> bool {
    let data = yaml::parse(text).unwrap_or_default();
    ["elements", "agents"].iter().any(|list| data.get(list).is_some_and(serde_json::Value::is_array))
}

/// The agent that a file defines. Files in folders need a name and a description, a chosen file only front matter.
fn agent_of(file: &Path, to: &str, strictly: bool) -> Option<PlannedFile> {
    let format = format_of(to)?;
    let text = safe_fs::read_text(file, MAX_FILE_BYTES as u64).ok()??;
    let agent = (format.read)(to, &text);
    let lower = to.to_ascii_lowercase();
    let is_agent_format = lower.ends_with(".mdx") || AGENT_ENDINGS.iter().any(|ending| lower.ends_with(ending));
    // The extension alone marks such a file as an agent.
    let hints = if is_agent_format {
        IdentityHints { has_keys: true, has_name: true, has_description: true }
    } else {
        identity_hints(&text)
    };
    let is_one = if strictly { hints.has_name && hints.has_description } else { hints.has_keys };
    (is_one && !agent.malformed).then(|| PlannedFile {
        kind: Kind::Agent,
        to: to.to_owned(),
        agent: Some(agent),
        text: None,
    })
}

/// The destination of an agent from these subfolders, which distinguish agents with the same name.
fn place_of_agent(top: &str, folders: &[String], name: &str) -> String {
    let is_agent_format = |part: &&str| !part.starts_with('.') && !matches!(*part, "agents" | "");
    let parts: Vec<&str> =
        [top].into_iter().chain(folders.iter().map(String::as_str)).filter(is_agent_format).collect();
    let first = parts.len().min(1);
    let rest = &parts[first..];
    let kept = parts[..first].iter().chain(&rest[rest.len().saturating_sub(FOLDERS_KEPT)..]).copied();
    ["agents"].into_iter().chain(kept).chain([name]).collect::<Vec<_>>().join("/")
}

/// The destination of a single chosen agent file; a folder agent keeps the name of its folder.
fn place_of_one(file: &Found, name: &str) -> String {
    let folder = file.path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    match folder.filter(|folder| name.eq_ignore_ascii_case(DOCUMENT_OF_FOLDER) && *folder != "agents") {
        Some(folder) => format!("agents/{folder}/{DOCUMENT_OF_FOLDER}"),
        None => format!("agents/{name}"),
    }
}

/// The folders that are agents (they contain a document), each with whether it has modules, which may import other
/// files of the folder.
fn documents(files: &[Found]) -> BTreeMap<Vec<String>, bool> {
    let document = |file: &Found| {
        let (name, folders) = file.below.split_last()?;
        name.eq_ignore_ascii_case(DOCUMENT_OF_FOLDER).then(|| folders.to_vec())
    };
    let with_modules: BTreeSet<&[String]> = files
        .iter()
        .filter_map(|file| {
            let (name, folders) = file.below.split_last()?;
            let (folder, folders) = folders.split_last()?;
            (folder == "modules" && name.ends_with(".ts")).then_some(folders)
        })
        .collect();
    let documents = files.iter().filter_map(document);
    documents.map(|folders| (folders.clone(), with_modules.contains(&*folders))).collect()
}

/// Whether a file in an agent's folder is imported with it: its heartbeat, skills and modules, but not its sessions and
/// memories.
fn belongs_to_document(inside: &[String]) -> bool {
    match inside {
        [name] => name == "heartbeat.md",
        [folder, .., name] => folder == "skills" || (folder == "modules" && name.ends_with(".ts")),
        [] => false,
    }
}

/// The folders that are skills (they contain a SKILL.md), each with its name.
fn skills(files: &[Found], top: &str) -> BTreeMap<Vec<String>, String> {
    let skill = |file: &Found| {
        let (name, folders) = file.below.split_last()?;
        let skill = folders.last().map_or(top, String::as_str);
        (name == "SKILL.md").then(|| (folders.to_vec(), skill.to_owned()))
    };
    files.iter().filter_map(skill).collect()
}

/// Instructions for agents of other products: their content is imported, without what is specific to those products.
fn rules_of(below: &[String], text: &dyn Fn() -> String) -> Option<PlannedFile> {
    let (name, folders) = below.split_last()?;
    let lower = name.to_lowercase();
    let is_rule = lower.ends_with(".mdc") || (lower.ends_with(".md") && folders == [".cursor", "rules"]);
    let is_instructions = folders.is_empty() && matches!(name.as_str(), "AGENTS.md" | "CLAUDE.md" | "GEMINI.md");
    if !is_rule && !is_instructions {
        return None;
    }
    let text = crate::agent::front_matter::normalise(&text());
    let text = crate::agent::front_matter::below(&text).to_owned();
    Some(PlannedFile { kind: Kind::Rules, to: format!("boards/{}.md", stem(name)), agent: None, text: Some(text) })
}

/// Counts of imported agents, for the notes of the plan.
#[derive(Default)]
struct AgentCounts {
    agents: usize,
    loosely: usize,
    missing: BTreeMap<String, usize>,
    wanting: usize,
}

impl AgentCounts {
    fn agent(&mut self, agent: &AgentFile) {
        self.agents += 1;
        self.loosely += usize::from(!agent.problems.is_empty());
        let missing = tools::builtin().names().missing(&agent.profile);
        self.wanting += usize::from(!missing.is_empty());
        for tool in missing {
            *self.missing.entry(tool).or_default() += 1;
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let list = if self.wanting == 1 { "agent lists" } else { "agents list" };
        if self.wanting > 0 {
            let named = tools::most_wanted(self.missing.iter().map(|(tool, count)| (tool.as_str(), *count)).collect());
            notes.push(format!("{} {list} tools that are not available: {named}", self.wanting));
        }
        match self.loosely {
            0 => {}
            1 => notes.push("1 agent has a line that could not be read as meant; its note says which".to_owned()),
            many => {
                notes.push(format!("{many} agents have a line that could not be read as meant; their notes say which"))
            }
        }
        notes
    }
}
