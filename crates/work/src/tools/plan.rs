//! The plan of a tool call with checked arguments: its executor, its work, the resources that it touches, and its
//! description on the screen.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hand_over::Terms;
use crate::base::visible_text::visible;
use crate::base::{Id, paths, text};
use crate::gate::{Act, DeclaredTouch, GateContext, ToolNames, TouchEffect, TouchKind, file_touches};
use crate::log::events;
use crate::workspace::vfs::{ChangedInWorktree, FileOperation, WorktreeChanges};

/// The maximum length of a description of a call, in characters.
const TARGET_CHARS: usize = 80;
/// How many touches of a call are logged, and the maximum length of each in characters.
const TOUCHES_LOGGED: usize = 16;
const TOUCH_CHARS: usize = 1_000;

/// The executor of file orders.
pub const FILES: &str = "files";
/// The executor of orders about agents: the kernel itself.
pub const AGENTS: &str = "agents";

/// The plan of a call, executed if the gate allows it. Created once, and kept with the call until it is answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolPlan {
    /// The name of the tool.
    pub tool: String,
    /// The executor.
    pub executor: Id,
    /// The work to execute.
    pub work: Work,
    /// The resources that it touches, for the gate to judge.
    pub touches: Vec<DeclaredTouch>,
    /// The description of the call on the screen.
    pub doing: CallDescription,
}

/// What an agent does while a call is executed: "reading artifacts/spec.md".
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallDescription {
    /// The verb.
    pub verb: String,
    /// The object, in one short line.
    pub target: String,
}

impl CallDescription {
    /// Creates a description; the object is cut to one short line.
    pub fn new(verb: &str, target: &str) -> Self {
        let start: String = target.chars().take(TARGET_CHARS * 4).collect();
        Self { verb: verb.to_owned(), target: text::truncate(&text::one_line(&start), TARGET_CHARS) }
    }
}

impl std::fmt::Display for CallDescription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.verb, self.target)
    }
}

/// The name of an agent file as models use it: its path below the folder of agents, such as `researcher.md`.
pub fn agent_file_name(path: &str) -> &str {
    path.strip_prefix("agents/").unwrap_or(path)
}

/// The plan that a tool makes for a call, without the name of the tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    executor: Id,
    work: Work,
    touches: Vec<DeclaredTouch>,
    doing: CallDescription,
}

impl Planned {
    /// A file order, with an excerpt if only some lines are read.
    pub fn files(operation: FileOperation, excerpt: Option<Excerpt>) -> Self {
        let (verb, target) = doing_files(&operation);
        let (touches, doing) = (file_touches(&operation), CallDescription::new(verb, target));
        Self { executor: FILES.into(), work: Work::File { operation, excerpt }, touches, doing }
    }

    /// The merge of exactly these changes from the agent's copy into the workspace.
    pub fn merge(changes: &WorktreeChanges) -> Self {
        let merged: Vec<&str> =
            (changes.files.iter().filter(|file| file.left_out.is_none())).map(|file| file.path.as_str()).collect();
        let (added, removed) = changes.files.iter().fold((0, 0), |(added, removed), file| {
            if file.left_out.is_none() { (added + file.added, removed + file.removed) } else { (added, removed) }
        });
        let named = text::truncate(&merged.join(", "), TARGET_CHARS);
        let files = if merged.len() == 1 { "1 file".to_owned() } else { format!("{} files", merged.len()) };
        let replaces = if changes.files.iter().any(is_replacement) { REPLACES_WORKSPACE } else { "" };
        let target = format!("{files} (+{added} -{removed}){replaces}: {named}");
        let becomes = TouchEffect::Text { content: patch_of(changes) };
        Self {
            executor: FILES.into(),
            touches: vec![DeclaredTouch::new(TouchKind::COPY_MERGE, &*target).becoming(becomes)],
            doing: CallDescription::new("proposing", &target),
            work: Work::File { operation: FileOperation::MergeWorktree { hash: changes.hash }, excerpt: None },
        }
    }

    /// The start of an agent with a new file.
    pub fn spawn(path: String, content: String, task: String) -> Self {
        let becomes = TouchEffect::Text { content: content.clone() };
        Self {
            executor: AGENTS.into(),
            touches: vec![DeclaredTouch::new(TouchKind::AGENT_SPAWN, &*path).becoming(becomes)],
            doing: CallDescription::new("starting", agent_file_name(&path)),
            work: Work::Spawn { path, content, task },
        }
    }

    /// The start of an existing agent, by the id of its profile, or by the name to search for.
    pub fn start(name: String, agent: Option<Id>, task: String) -> Self {
        Self {
            executor: AGENTS.into(),
            touches: vec![DeclaredTouch::new(TouchKind::AGENT_START, &*name)],
            doing: CallDescription::new("starting", &name),
            work: Work::Start { name, agent, task },
        }
    }

    /// A message to the agent that started this one.
    pub fn signal(message: String, terms: Terms) -> Self {
        Self {
            executor: AGENTS.into(),
            touches: vec![DeclaredTouch::new(TouchKind::AGENT_SIGNAL, "")],
            doing: CallDescription::new("reporting", &message),
            work: Work::Signal { message, terms },
        }
    }

    /// A task handed over to the agent with this name, or one with this profile if it is already known.
    pub fn delegate(name: String, agent: Option<Id>, task: String, terms: Terms) -> Self {
        Self {
            executor: AGENTS.into(),
            touches: vec![DeclaredTouch::new(TouchKind::AGENT_START, &*name)],
            doing: CallDescription::new("handing over to", agent.as_deref().unwrap_or(&name)),
            work: Work::Delegate { name, agent, task, terms },
        }
    }

    /// An order to any other executor, as JSON. What it touches must be declared, or the gate denies it; `verb` and
    /// `target` describe it on the screen.
    pub fn order(executor: &str, order: Value, touches: Vec<DeclaredTouch>, (verb, target): (&str, &str)) -> Self {
        Self {
            executor: executor.into(),
            work: Work::Order { order },
            touches,
            doing: CallDescription::new(verb, target),
        }
    }

    /// The plan of a call of this tool.
    pub fn of(self, tool: &str) -> ToolPlan {
        let Self { executor, work, touches, doing } = self;
        ToolPlan { tool: tool.to_owned(), executor, work, touches, doing }
    }
}

/// The work of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum Work {
    /// A file order.
    File {
        /// The operation.
        operation: FileOperation,
        /// The lines to show if a text is read.
        excerpt: Option<Excerpt>,
    },
    /// Creates and starts another agent.
    Spawn {
        /// The path of its file, such as `agents/researcher.md`.
        path: String,
        /// The whole text of that file, including inherited values.
        content: String,
        /// The task.
        task: String,
    },
    /// Starts an existing agent.
    Start {
        /// Its name as given: the id of an agent or the name of its file. The id of its profile once the agent is
        /// resolved.
        name: String,
        /// The resolved agent.
        #[serde(default)]
        agent: Option<Id>,
        /// The task.
        task: String,
    },
    /// Sends a message to the agent that started this one.
    Signal {
        /// The message.
        message: String,
        /// The terms.
        #[serde(default)]
        terms: Terms,
    },
    /// Hands a task over to an agent in the room.
    Delegate {
        /// Its name as given; the id of its profile once the agent is resolved.
        name: String,
        /// The resolved agent.
        #[serde(default)]
        agent: Option<Id>,
        /// The task.
        task: String,
        /// The terms.
        #[serde(default)]
        terms: Terms,
    },
    /// An order to another executor.
    Order {
        /// The order as JSON.
        order: Value,
    },
}

/// A range of lines of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Excerpt {
    /// The first line, from 1.
    pub first_line: usize,
    /// The number of lines; all that follow if `None`.
    pub lines: Option<usize>,
    /// Whether the lines are returned as data, all or none, instead of as text with notes on omissions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_data: bool,
}

impl ToolPlan {
    /// The act to judge, resolved against the present state of the workspace.
    pub fn act(&self, there: &dyn GateContext, names: &ToolNames) -> Act {
        Act::of(&self.tool, &self.touches, there, names)
    }

    /// What it touches, in the form for the log.
    pub fn logged_touches(&self) -> Vec<events::Touch> {
        let logged = |touch: &DeclaredTouch| {
            events::Touch::new(touch.kind.to_string(), text::truncate(&touch.target, TOUCH_CHARS))
        };
        self.touches.iter().take(TOUCHES_LOGGED).map(logged).collect()
    }
}

/// Resolves a name to the id of an agent: an id, or the name of its file with or without extension.
pub fn started(name: &str, there: &dyn GateContext) -> Option<String> {
    let name = name.trim();
    let stem = name.strip_prefix("./").unwrap_or(name);
    let stem = stem.strip_prefix("agents/").unwrap_or(stem);
    let endings = [".agent.yaml", ".agent.yml", ".md", ".mdx"];
    let stem = endings.iter().find_map(|ending| stem.strip_suffix(ending)).unwrap_or(stem);
    let stem = stem.strip_suffix("/agent").unwrap_or(stem);
    let last = paths::file_name(stem);
    let ids = [name.to_owned(), stem.to_owned(), last.to_owned(), text::slug(stem), text::slug(last)];
    ids.into_iter().find(|id| there.profile(id).is_some())
}

/// What a proposal is called that replaces what the workspace has, because both changed the same lines.
pub const REPLACES_WORKSPACE: &str = ", replacing what the workspace has";

fn is_replacement(file: &ChangedInWorktree) -> bool {
    file.is_conflict && file.left_out.is_none()
}

/// The patch that a person decides about, with a list of the files that are not part of it and the reasons.
fn patch_of(changes: &WorktreeChanges) -> String {
    let mut patch = changes.diff.clone();
    for file in changes.files.iter().filter(|file| is_replacement(file)) {
        let path = visible(&file.path);
        patch.push_str(&format!(
            "conflict: {path} (the same lines were changed in the workspace: to allow this replaces what the workspace \
             has now, as shown; to refuse it keeps that)\n"
        ));
    }
    for file in &changes.files {
        if let Some(why) = &file.left_out {
            patch.push_str(&format!("not merged: {} ({why})\n", visible(&file.path)));
        }
    }
    patch
}

fn doing_files(operation: &FileOperation) -> (&'static str, &str) {
    match operation {
        FileOperation::Read { path } | FileOperation::ReadLines { path, .. } => ("reading", path),
        FileOperation::Write { path, .. } | FileOperation::Save { path, .. } => ("writing", path),
        FileOperation::Append { path, .. } => ("adding to", path),
        FileOperation::CreateFolder { path } => ("creating the folder", path),
        FileOperation::Edit { path, .. } | FileOperation::EditWith { path, .. } => ("editing", path),
        FileOperation::List { prefix } if prefix.is_empty() => ("listing", "all files"),
        FileOperation::List { prefix } => ("listing", prefix),
        FileOperation::Search { text: Some(text), .. } => ("searching for", text),
        FileOperation::Search { glob, .. } => ("searching", glob.as_deref().unwrap_or("all files")),
        FileOperation::Delete { path } | FileOperation::DeleteUnchanged { path, .. } => ("deleting", path),
        FileOperation::Rename { from, .. } => ("renaming", from),
        FileOperation::Restore { path, .. } => ("restoring", path),
        FileOperation::Record { path, .. } | FileOperation::KeepRecord { path } => ("recording", path),
        FileOperation::CommitWorktree { what } => ("committing", what),
        FileOperation::MergeWorktree { .. } => ("proposing", "the changes in its copy"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_described_in_one_short_line() {
        let doing = |planned: Planned| (planned.doing.verb.clone(), planned.doing.target);
        let spec = "artifacts/spec.md".to_owned();
        let write = Planned::files(FileOperation::Write { path: spec.clone(), content: "x".into() }, None);
        assert_eq!(write.doing.to_string(), "writing artifacts/spec.md");
        let list = Planned::files(FileOperation::List { prefix: String::new() }, None);
        assert_eq!(doing(list), ("listing".into(), "all files".into()));
        let spawn = Planned::spawn("agents/ada.md".into(), String::new(), String::new());
        assert_eq!(doing(spawn), ("starting".into(), "ada.md".into()));
        let long = doing(Planned::signal("done\n".repeat(1_000), Terms::default())).1;
        assert!(long.chars().count() <= TARGET_CHARS && !long.contains('\n'));
    }

    #[test]
    fn logged_touches_are_limited() {
        let edit = FileOperation::Edit { path: "a.md".into(), old: "x".into(), new: "y".into() };
        let touches = Planned::files(edit, None).of("vfs_edit").logged_touches();
        assert_eq!(touches, [events::Touch::new("file.read", "a.md"), events::Touch::new("file.write", "a.md")]);
        let many = vec![DeclaredTouch::new(TouchKind::NET_FETCH, "x".repeat(5_000)); 500];
        let touches = Planned::order("web", Value::Null, many, ("fetching", "pages")).of("fetch").logged_touches();
        assert_eq!((touches.len(), touches[0].target.chars().count()), (TOUCHES_LOGGED, TOUCH_CHARS));
    }
}
