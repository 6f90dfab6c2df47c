//! The preview of a call for the person who decides about it: one sentence, and the exact details. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::desk::{self, DESK};
use super::knowledge::{self, KNOWLEDGE};
use super::plan::{ToolPlan, Work};
use crate::agent::formats::format_of;
use crate::base::text;
use crate::base::text_normalization::is_invisible;
use crate::gate::{DeclaredTouch, GateContext, TouchEffect};
use crate::workspace::vfs::FileOperation;

/// The maximum length of a target in a sentence, in characters.
const TARGET_CHARS: usize = 120;
/// How many targets of one call a sentence names.
const TARGETS_NAMED: usize = 2;
/// The maximum length of a shown text, in characters.
const TEXT_CHARS: usize = 60_000;
/// How many unchanged lines are shown around a change.
const LINES_AROUND: usize = 2;

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

/// A line of the preview.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PreviewLine {
    /// The kind of line.
    pub mark: PreviewLineKind,
    /// The text.
    pub text: String,
}

impl PreviewLine {
    /// The line as plain text: added, removed and unchanged lines are distinguished by their first character.
    pub fn marked(&self) -> String {
        let text = &self.text;
        match self.mark {
            PreviewLineKind::Heading => format!("{text}:"),
            PreviewLineKind::Plain => format!("  | {text}"),
            PreviewLineKind::Added => format!("  + {text}"),
            PreviewLineKind::Removed => format!("  - {text}"),
            PreviewLineKind::Gap => format!("  {text}"),
        }
    }
}

/// The kind of a preview line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PreviewLineKind {
    /// A heading for the lines below it.
    Heading,
    /// An unchanged line.
    Plain,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// A note about lines that are not shown.
    Gap,
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
    let words: String = words.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect();
    text::truncate(&text::one_line(&words), TARGET_CHARS * 3)
}

fn wants_of_files(operation: &FileOperation, there: &dyn GateContext) -> String {
    let short = |path: &str| text::truncate(path, TARGET_CHARS);
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
            format!("search for {:?} in {}", short(words), short(glob))
        }
        FileOperation::Search { text: Some(words), .. } => format!("search all files for {:?}", short(words)),
        FileOperation::Search { glob, .. } => {
            format!("look for files: {}", short(glob.as_deref().unwrap_or("all of them")))
        }
        FileOperation::Write { path, .. } if there.text(path).is_some() => change(path),
        FileOperation::Write { path, content } => match agent_name(path, content) {
            Some(name) => format!("create an agent: {name}"),
            None => format!("write {}", short(path)),
        },
        FileOperation::Edit { path, .. } => change(path),
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
    Some(text::truncate(&text::one_line(&profile.name), TARGET_CHARS))
}

/// Describes a call by its declared touches, because only its executor knows its effect.
fn wants_of_touches(plan: &ToolPlan) -> String {
    let one = |touch: &DeclaredTouch| {
        let target = text::truncate(&text::one_line(&touch.target), TARGET_CHARS);
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
                Self::NewAgent { path: path.clone(), text: shown(content), task: shown(task) }
            }
            Work::Start { name, task, .. } => Self::Task { agent: name.clone(), task: shown(task) },
            Work::Signal { .. } | Work::Delegate { .. } => Self::arguments(arguments),
            Work::Order { order } => Self::of_order(plan, order, arguments),
        }
    }

    fn of_files(operation: &FileOperation, arguments: &Value, there: &dyn GateContext) -> Self {
        match operation {
            FileOperation::Write { path, content } | FileOperation::Save { path, content, .. } => {
                match there.text(path) {
                    Some(old) => Self::Change { path: path.clone(), old: shown(old), new: shown(content) },
                    None => Self::Write { path: path.clone(), text: shown(content) },
                }
            }
            FileOperation::Edit { path, old, new } => {
                // If the passage does not occur exactly once, the call will fail, or a newer text is on disk.
                let known = there.text(path).filter(|text| text.matches(old.as_str()).count() == 1);
                let whole = known.map(|text| (text.to_owned(), text.replacen(old.as_str(), new, 1)));
                let (old, new) = whole.unwrap_or_else(|| (old.clone(), new.clone()));
                Self::Change { path: path.clone(), old: shown(&old), new: shown(&new) }
            }
            FileOperation::Append { path, text } => Self::Addition { path: path.clone(), text: shown(text) },
            FileOperation::Delete { path } | FileOperation::DeleteUnchanged { path, .. } => {
                Self::Deletion { path: path.clone(), text: there.text(path).map(shown) }
            }
            FileOperation::Rename { from, to } => Self::Rename { from: from.clone(), to: to.clone() },
            _ => Self::arguments(arguments),
        }
    }

    fn of_merge(plan: &ToolPlan, arguments: &Value) -> Self {
        match plan.touches.as_slice() {
            [DeclaredTouch { becomes: TouchEffect::Text { content }, .. }] => Self::Patch { text: shown(content) },
            _ => Self::arguments(arguments),
        }
    }

    fn of_order(plan: &ToolPlan, order: &Value, arguments: &Value) -> Self {
        let [touch] = plan.touches.as_slice() else { return Self::arguments(arguments) };
        match touch.kind.as_str() {
            "process.run" => {
                let keys = ["folder", "cwd", "directory", "working_directory"];
                let folder = keys.iter().find_map(|key| order.get(key).or(arguments.get(key))?.as_str());
                Self::Command { line: shown(&touch.target), folder: folder.map(shown) }
            }
            "net.fetch" => {
                let mut details = rows(arguments);
                details.retain(|(_, value)| *value != touch.target);
                Self::Address { address: shown(&touch.target), details }
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
            Self::Write { path, text } => Self::Change { path, old: shown(now), new: text },
            Self::Deletion { path, text: None } => Self::Deletion { path, text: Some(shown(now)) },
            other => other,
        }
    }

    /// The lines of the preview as shown to a person.
    pub fn lines(&self) -> Vec<PreviewLine> {
        let mut lines = Vec::new();
        match self {
            Self::Write { path, text } => {
                heading(&mut lines, format!("The whole text of {path}"));
                put(&mut lines, PreviewLineKind::Added, text);
            }
            Self::Change { path, old, new } => {
                heading(&mut lines, path.clone());
                changed(&mut lines, old, new);
            }
            Self::Addition { path, text } => {
                heading(&mut lines, format!("At the end of {path}"));
                put(&mut lines, PreviewLineKind::Added, text);
            }
            Self::Deletion { path, text } => {
                heading(&mut lines, format!("{path} is deleted; its versions are kept"));
                put(&mut lines, PreviewLineKind::Removed, text.as_deref().unwrap_or_default());
            }
            Self::Rename { from, to } => {
                heading(&mut lines, "The file is called".to_owned());
                put(&mut lines, PreviewLineKind::Removed, from);
                put(&mut lines, PreviewLineKind::Added, to);
            }
            Self::Patch { text } => patch(&mut lines, text),
            Self::NewAgent { path, text, task } => {
                heading(&mut lines, "Its task".to_owned());
                put(&mut lines, PreviewLineKind::Plain, task);
                heading(&mut lines, format!("Its file {path}"));
                put(&mut lines, PreviewLineKind::Added, text);
            }
            Self::Task { agent, task } => {
                heading(&mut lines, format!("The task for {agent}"));
                put(&mut lines, PreviewLineKind::Plain, task);
            }
            Self::Command { line, folder } => {
                heading(&mut lines, "Command".to_owned());
                put(&mut lines, PreviewLineKind::Plain, line);
                let folder = folder.as_deref().filter(|folder| !folder.is_empty());
                heading(&mut lines, "In the folder".to_owned());
                put(&mut lines, PreviewLineKind::Plain, folder.unwrap_or("of the workspace"));
            }
            Self::Address { address, details } => {
                heading(&mut lines, "Address".to_owned());
                put(&mut lines, PreviewLineKind::Plain, address);
                list(&mut lines, details);
            }
            Self::Arguments { rows } => list(&mut lines, rows),
        }
        lines
    }
}

fn heading(lines: &mut Vec<PreviewLine>, text: String) {
    lines.push(PreviewLine { mark: PreviewLineKind::Heading, text });
}

fn put(lines: &mut Vec<PreviewLine>, mark: PreviewLineKind, text: &str) {
    lines.extend(text.lines().map(|line| PreviewLine { mark, text: line.to_owned() }));
}

fn list(lines: &mut Vec<PreviewLine>, rows: &[(String, String)]) {
    for (name, value) in rows {
        heading(lines, name.clone());
        put(lines, PreviewLineKind::Plain, value);
    }
}

/// Adds a patch, with a heading for each file. Hunks are parsed by their line counts, so that no content looks like a
/// heading.
fn patch(lines: &mut Vec<PreviewLine>, text: &str) {
    let (mut old, mut left) = ("", (0_usize, 0_usize));
    for line in text.lines() {
        let sign = line.chars().next();
        let is_text = left != (0, 0) && matches!(sign, Some(' ' | '+' | '-'));
        if is_text {
            left.0 = left.0.saturating_sub(usize::from(sign != Some('+')));
            left.1 = left.1.saturating_sub(usize::from(sign != Some('-')));
            let mark = match sign {
                Some('+') => PreviewLineKind::Added,
                Some('-') => PreviewLineKind::Removed,
                _ => PreviewLineKind::Plain,
            };
            lines.push(PreviewLine { mark, text: line[1..].trim_end_matches('\r').to_owned() });
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = path;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            heading(
                lines,
                match (old.strip_prefix("a/"), path.strip_prefix("b/")) {
                    (Some(path), None) => format!("{path} is deleted; its versions are kept"),
                    (None, Some(path)) => format!("{path} is new"),
                    (_, path) => path.unwrap_or_default().to_owned(),
                },
            );
        } else if let Some(numbers) = line.strip_prefix("@@ -") {
            left = lines_of_hunk(numbers).unwrap_or_default();
            lines.push(PreviewLine { mark: PreviewLineKind::Gap, text: "…".to_owned() });
        } else {
            lines.push(PreviewLine { mark: PreviewLineKind::Gap, text: line.to_owned() });
        }
    }
}

/// The number of old and new lines in a hunk, from its header: `1,3 +1,4 @@`.
fn lines_of_hunk(numbers: &str) -> Option<(usize, usize)> {
    let (old, rest) = numbers.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

/// Adds the lines in which two texts differ, with some context.
fn changed(lines: &mut Vec<PreviewLine>, old: &str, new: &str) {
    let diff = TextDiff::from_lines(old, new);
    for (index, group) in diff.grouped_ops(LINES_AROUND).iter().enumerate() {
        if index > 0 {
            lines.push(PreviewLine { mark: PreviewLineKind::Gap, text: "…".to_owned() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Equal => PreviewLineKind::Plain,
                ChangeTag::Delete => PreviewLineKind::Removed,
                ChangeTag::Insert => PreviewLineKind::Added,
            };
            lines.push(PreviewLine { mark, text: change.value().trim_end_matches(['\n', '\r']).to_owned() });
        }
    }
}

fn rows(arguments: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| shown(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    match arguments {
        Value::Object(keys) => keys.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        other => vec![("arguments".to_owned(), text(other))],
    }
}

fn shown(given: &str) -> String {
    let chars = given.chars().count();
    if chars <= TEXT_CHARS {
        return given.to_owned();
    }
    let beginning: String = given.chars().take(TEXT_CHARS).collect();
    format!("{beginning}\n[… {} more characters are not shown here]", chars - TEXT_CHARS)
}

#[cfg(test)]
#[path = "proposal_tests.rs"]
mod tests;
