//! The preview of a call for the person who decides about it: one sentence, and the exact details, of which nothing is
//! cut or hidden. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::desk::{self, DESK};
use super::knowledge::{self, KNOWLEDGE};
use super::plan::{ToolPlan, Work};
use crate::agent::formats::format_of;
use crate::base::text;
use crate::base::visible_text::{visible, visible_in_order};
use crate::gate::{DeclaredTouch, GateContext, TouchEffect};
use crate::workspace::vfs::FileOperation;

/// The maximum length of a target in a sentence, in characters.
const TARGET_CHARS: usize = 120;
/// How many targets of one call a sentence names.
const TARGETS_NAMED: usize = 2;

/// A preview of a call's effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "shows", rename_all = "snake_case")]
pub enum Preview {
    /// A file gets a complete new text; its current content, if any, is not known here.
    Write {
        /// The path of the file.
        path: String,
        /// The new text.
        text: String,
    },
    /// A file's text is changed, or a passage of it if the whole is not known.
    Change {
        /// The path of the file.
        path: String,
        /// The current text.
        old: String,
        /// The new text.
        new: String,
    },
    /// A text is appended to a file.
    Addition {
        /// The path of the file.
        path: String,
        /// The appended text.
        text: String,
    },
    /// A file is deleted.
    Deletion {
        /// The path of the file.
        path: String,
        /// Its text, if known.
        text: Option<String>,
    },
    /// A file is renamed.
    Rename {
        /// The current path.
        from: String,
        /// The new path.
        to: String,
    },
    /// Files are changed by a patch.
    Patch {
        /// The patch in the format of `diff -u`.
        text: String,
    },
    /// An agent is created and gets a task.
    NewAgent {
        /// The path of its file.
        path: String,
        /// The whole text of that file.
        text: String,
        /// The task.
        task: String,
    },
    /// An existing agent gets a task.
    Task {
        /// The agent.
        agent: String,
        /// The task.
        task: String,
    },
    /// A command is executed.
    Command {
        /// The command line.
        line: String,
        /// The folder in which it runs, if given.
        folder: Option<String>,
    },
    /// A web address is requested.
    Address {
        /// The address.
        address: String,
        /// Other parameters: names and values.
        details: Vec<(String, String)>,
    },
    /// A tool is called with these arguments.
    Arguments {
        /// Names and values.
        rows: Vec<(String, String)>,
    },
}

/// The intention of this call, in words that follow "wants to".
pub fn describe_intent(plan: &ToolPlan, there: &dyn GateContext) -> String {
    let words = match &plan.work {
        Work::File { operation: FileOperation::MergeWorktree { .. }, .. } if !plan.touches.is_empty() => {
            wants_of_touches(plan)
        }
        Work::File { operation, .. } => wants_of_files(operation, there),
        Work::Spawn { path, content, .. } => match agent_name(path, content) {
            Some(name) => format!("create an agent: {name}"),
            None => format!("create an agent: {path}"),
        },
        Work::Start { name, .. } => match there.profile(name) {
            Some((_, profile)) => format!("start the agent {}", profile.name),
            None => format!("start the agent {name}"),
        },
        Work::Signal { .. } => "report to the agent that started it".to_owned(),
        Work::Delegate { name, .. } => match there.profile(name) {
            Some((_, profile)) => format!("hand a task over to {}", profile.name),
            None => format!("hand a task over to {name}"),
        },
        Work::Order { order } if *plan.executor == *DESK => {
            desk::wants(order).unwrap_or_else(|| wants_of_touches(plan))
        }
        Work::Order { order } if *plan.executor == *KNOWLEDGE => {
            knowledge::wants(order).unwrap_or_else(|| wants_of_touches(plan))
        }
        Work::Order { .. } => wants_of_touches(plan),
    };
    visible_in_order(&short(&visible(&words), TARGET_CHARS * 3)).into_owned()
}

/// Returns the beginning and the end of a long text, because what matters can be at either; the details show all of it.
fn short(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let end = most / 3;
    let beginning: String = text.chars().take(most - end - 3).collect();
    let ending: String = text.chars().skip(count - end).collect();
    format!("{} … {}", beginning.trim_end(), ending.trim_start())
}

fn wants_of_files(operation: &FileOperation, there: &dyn GateContext) -> String {
    let short = |path: &str| short(path, TARGET_CHARS);
    let agent_at = |path: &str| agent_name(path, there.text(path)?);
    let change = |path: &str| match agent_at(path) {
        Some(name) => format!("change the agent {name} ({})", short(path)),
        None => format!("change {}", short(path)),
    };
    match operation {
        FileOperation::Read { path } | FileOperation::ReadLines { path, .. } => format!("read {}", short(path)),
        FileOperation::List { prefix } if prefix.is_empty() => "list all files".to_owned(),
        FileOperation::List { prefix } => format!("list the files in {}", short(prefix)),
        FileOperation::Search { text: Some(words), glob: Some(glob) } => {
            format!("search for \"{}\" in {}", short(words), short(glob))
        }
        FileOperation::Search { text: Some(words), .. } => format!("search all files for \"{}\"", short(words)),
        FileOperation::Search { glob, .. } => {
            format!("look for files: {}", short(glob.as_deref().unwrap_or("all of them")))
        }
        FileOperation::Write { path, .. } if there.text(path).is_some() => change(path),
        FileOperation::Write { path, content } => match agent_name(path, content) {
            Some(name) => format!("create an agent: {name}"),
            None => format!("write {}", short(path)),
        },
        FileOperation::Edit { path, .. } | FileOperation::EditWith { path, .. } => change(path),
        FileOperation::Append { path, .. } => format!("add to {}", short(path)),
        FileOperation::CreateFolder { path } => format!("create the folder {}", short(path)),
        FileOperation::Delete { path } | FileOperation::DeleteUnchanged { path, .. } => match agent_at(path) {
            Some(name) => format!("delete the agent {name} ({})", short(path)),
            None => format!("delete {}", short(path)),
        },
        FileOperation::Rename { from, to } => format!("rename {} to {}", short(from), short(to)),
        FileOperation::Restore { path, .. } => format!("restore an earlier version of {}", short(path)),
        FileOperation::Save { path, .. } | FileOperation::Record { path, .. } | FileOperation::KeepRecord { path } => {
            format!("write {}", short(path))
        }
        FileOperation::CommitWorktree { .. } => "commit the changes in its copy".to_owned(),
        FileOperation::MergeWorktree { .. } => "merge the changes in its copy into the workspace".to_owned(),
    }
}

/// The name of the agent that a file with this text defines.
fn agent_name(path: &str, content: &str) -> Option<String> {
    let profile = (format_of(path)?.read)(path, content).profile;
    Some(short(text::one_line(&profile.name).as_str(), TARGET_CHARS))
}

/// Describes a call by its declared touches, because only its executor knows its effect.
fn wants_of_touches(plan: &ToolPlan) -> String {
    let one = |touch: &DeclaredTouch| {
        let target = short(touch.target.trim(), TARGET_CHARS);
        match touch.kind.as_str() {
            "file.read" => format!("read {target}"),
            "file.find" => "look through files".to_owned(),
            "file.write" | "profile.write" => format!("change {target}"),
            "file.delete" => format!("delete {target}"),
            "file.rename" => format!("rename {target}"),
            "process.run" => format!("run `{target}`"),
            "net.fetch" => format!("fetch {target}"),
            "copy.merge" => format!("merge its changes into the workspace: {target}"),
            "mcp.call" => format!("call {target}"),
            "tool.run" => format!("use its own tool {target}"),
            "message.send" => format!("send a message to {target}"),
            "message.read" => format!("listen to {target}"),
            "agent.spawn" | "agent.start" => format!("start the agent {target}"),
            _ if target.is_empty() => format!("use the tool {}", plan.tool),
            _ => format!("use the tool {} on {target}", plan.tool),
        }
    };
    let mut all: Vec<String> = plan.touches.iter().take(TARGETS_NAMED).map(one).collect();
    if plan.touches.len() > TARGETS_NAMED {
        all.push(format!("{} more", plan.touches.len() - TARGETS_NAMED));
    }
    if all.is_empty() { format!("use the tool {}", plan.tool) } else { all.join(" and ") }
}

impl Preview {
    /// The preview of a call with these arguments from the model.
    pub fn of(plan: &ToolPlan, arguments: &Value, there: &dyn GateContext) -> Self {
        match &plan.work {
            Work::File { operation: FileOperation::MergeWorktree { .. }, .. } => Self::of_merge(plan, arguments),
            Work::File { operation, .. } => Self::of_files(operation, arguments, there),
            Work::Spawn { path, content, task } => {
                Self::NewAgent { path: path.clone(), text: content.clone(), task: task.clone() }
            }
            Work::Start { name, task, .. } => Self::Task { agent: name.clone(), task: task.clone() },
            Work::Signal { .. } | Work::Delegate { .. } => Self::arguments(arguments),
            Work::Order { order } => Self::of_order(plan, order, arguments),
        }
    }

    fn of_files(operation: &FileOperation, arguments: &Value, there: &dyn GateContext) -> Self {
        match operation {
            FileOperation::Write { path, content } | FileOperation::Save { path, content, .. } => {
                match there.text(path) {
                    Some(old) => Self::Change { path: path.clone(), old: old.to_owned(), new: content.clone() },
                    None => Self::Write { path: path.clone(), text: content.clone() },
                }
            }
            FileOperation::Edit { path, old, new } => {
                // If the passage does not occur exactly once, the call will fail, or a newer text is on disk.
                let known = there.text(path).filter(|text| text.matches(old.as_str()).count() == 1);
                let whole = known.map(|text| (text.to_owned(), text.replacen(old.as_str(), new, 1)));
                let (old, new) = whole.unwrap_or_else(|| (old.clone(), new.clone()));
                Self::Change { path: path.clone(), old, new }
            }
            FileOperation::Append { path, text } => Self::Addition { path: path.clone(), text: text.clone() },
            FileOperation::Delete { path } | FileOperation::DeleteUnchanged { path, .. } => {
                Self::Deletion { path: path.clone(), text: there.text(path).map(str::to_owned) }
            }
            FileOperation::Rename { from, to } => Self::Rename { from: from.clone(), to: to.clone() },
            _ => Self::arguments(arguments),
        }
    }

    fn of_merge(plan: &ToolPlan, arguments: &Value) -> Self {
        match plan.touches.as_slice() {
            [DeclaredTouch { becomes: TouchEffect::Text { content }, .. }] => Self::Patch { text: content.clone() },
            _ => Self::arguments(arguments),
        }
    }

    fn of_order(plan: &ToolPlan, order: &Value, arguments: &Value) -> Self {
        let [touch] = plan.touches.as_slice() else { return Self::arguments(arguments) };
        match touch.kind.as_str() {
            "process.run" => {
                let keys = ["folder", "cwd", "directory", "working_directory"];
                let folder = keys.iter().find_map(|key| order.get(key).or(arguments.get(key))?.as_str());
                Self::Command { line: touch.target.clone(), folder: folder.map(str::to_owned) }
            }
            "net.fetch" => {
                let mut details = rows(arguments);
                details.retain(|(_, value)| *value != touch.target);
                Self::Address { address: touch.target.clone(), details }
            }
            _ => Self::arguments(arguments),
        }
    }

    /// A preview of plain arguments.
    pub fn arguments(arguments: &Value) -> Self {
        Self::Arguments { rows: rows(arguments) }
    }

    /// The file whose current text would make the preview more detailed.
    pub fn unknown_file(&self) -> Option<&str> {
        match self {
            Self::Write { path, .. } | Self::Deletion { path, text: None } => Some(path),
            _ => None,
        }
    }

    /// The same preview, given the current text of that file.
    #[must_use]
    pub fn with_current_text(self, now: &str) -> Self {
        match self {
            Self::Write { path, text } => Self::Change { path, old: now.to_owned(), new: text },
            Self::Deletion { path, text: None } => Self::Deletion { path, text: Some(now.to_owned()) },
            other => other,
        }
    }

    /// The text that would be written, run or sent; `None` if the call has several parts or none.
    pub fn main_text(&self) -> Option<&str> {
        match self {
            Self::Write { text, .. } | Self::Addition { text, .. } | Self::Patch { text } => Some(text),
            Self::NewAgent { text, .. } => Some(text),
            Self::Change { new, .. } => Some(new),
            Self::Task { task, .. } => Some(task),
            Self::Command { line, .. } => Some(line),
            Self::Address { address, .. } => Some(address),
            Self::Deletion { .. } | Self::Rename { .. } | Self::Arguments { .. } => None,
        }
    }
}

fn rows(arguments: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match arguments {
        Value::Object(keys) => keys.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        other => vec![("arguments".to_owned(), text(other))],
    }
}

#[cfg(test)]
#[path = "proposal_tests.rs"]
mod tests;
