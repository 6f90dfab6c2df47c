//! What a tool call comes to, once its arguments are checked.

use serde::{Deserialize, Serialize};

use super::words;
use crate::base::text;
use crate::gate::{Act, Surroundings};
use crate::workspace::vfs::FileOperation;

/// Of what a call does so many characters are shown.
const TARGET_CHARS: usize = 80;

/// A call that can be carried out, if the gate lets it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolPlan {
    /// The tool's name.
    pub tool: String,
    /// What is to be done.
    pub work: Work,
}

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum Work {
    /// An order to files.
    File {
        /// The order.
        operation: FileOperation,
        /// Of a text that is read: which lines are shown.
        excerpt: Option<Excerpt>,
    },
    /// Another agent is started.
    Spawn {
        /// The file that defines it: `agents/researcher.md`.
        path: String,
        /// The whole text of that file, with what it inherits written out.
        content: String,
        /// What it is to do.
        task: String,
    },
    /// An agent that is there is started.
    Start {
        /// Its name as it was given: the id of an agent, or the name of its file.
        name: String,
        /// What it is to do.
        task: String,
    },
    /// The agent that started this one is told something.
    Signal {
        /// What.
        message: String,
    },
}

/// Some lines of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Excerpt {
    /// The first, counted from 1.
    pub first_line: usize,
    /// How many; all that follow where absent.
    pub lines: Option<usize>,
}

impl ToolPlan {
    /// What it touches, for the gate to judge.
    pub fn act(&self, there: &dyn Surroundings) -> Act {
        match &self.work {
            Work::File { operation, .. } => Act::of_files(&self.tool, operation, there, super::names()),
            Work::Spawn { path, content, .. } => Act::of_spawn(&self.tool, path, content, there, super::names()),
            Work::Start { name, .. } => {
                let id = started(name, there).unwrap_or_default();
                Act::of_start(&self.tool, &id, there, super::names())
            }
            Work::Signal { .. } => Act::of_signal(&self.tool),
        }
    }

    /// What an agent does while this is carried out, for the screen: a verb and on what.
    pub fn doing(&self) -> (&'static str, String) {
        let (verb, target) = match &self.work {
            Work::File { operation, .. } => doing_files(operation),
            Work::Spawn { path, .. } => ("starting", words::file_name(path)),
            Work::Start { name, .. } => ("starting", name.as_str()),
            Work::Signal { message } => ("reporting", message.as_str()),
        };
        let start: String = target.chars().take(TARGET_CHARS * 4).collect();
        (verb, text::truncate(&text::one_line(&start), TARGET_CHARS))
    }
}

/// The id of the agent that is meant by a name: an id, or the name of its file, with or without what it ends in.
pub fn started(name: &str, there: &dyn Surroundings) -> Option<String> {
    let name = name.trim();
    let stem = name.strip_prefix("./").unwrap_or(name);
    let stem = stem.strip_prefix("agents/").unwrap_or(stem);
    let endings = [".agent.yaml", ".agent.yml", ".md", ".mdx"];
    let stem = endings.iter().find_map(|ending| stem.strip_suffix(ending)).unwrap_or(stem);
    let stem = stem.strip_suffix("/agent").unwrap_or(stem);
    let last = stem.rsplit('/').next().unwrap_or(stem);
    let ids = [name.to_owned(), stem.to_owned(), last.to_owned(), text::slug(stem), text::slug(last)];
    ids.into_iter().find(|id| there.profile(id).is_some())
}

fn doing_files(operation: &FileOperation) -> (&'static str, &str) {
    match operation {
        FileOperation::Read { path } | FileOperation::ReadLines { path, .. } => ("reading", path),
        FileOperation::Write { path, .. } | FileOperation::Save { path, .. } => ("writing", path),
        FileOperation::Append { path, .. } => ("adding to", path),
        FileOperation::Edit { path, .. } => ("editing", path),
        FileOperation::List { prefix } if prefix.is_empty() => ("listing", "all files"),
        FileOperation::List { prefix } => ("listing", prefix),
        FileOperation::Search { text: Some(text), .. } => ("searching for", text),
        FileOperation::Search { glob, .. } => ("searching", glob.as_deref().unwrap_or("all files")),
        FileOperation::Delete { path } => ("deleting", path),
        FileOperation::Rename { from, .. } => ("renaming", from),
        FileOperation::Restore { path, .. } => ("restoring", path),
        FileOperation::Record { path, .. } => ("recording", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_says_what_is_being_done_on_one_short_line() {
        let plan = |work| ToolPlan { tool: "any".into(), work };
        let file = |operation| plan(Work::File { operation, excerpt: None });
        let spec = "artifacts/spec.md".to_owned();
        let write = file(FileOperation::Write { path: spec.clone(), content: "x".into() });
        assert_eq!(write.doing(), ("writing", spec));
        assert_eq!(file(FileOperation::List { prefix: String::new() }).doing(), ("listing", "all files".into()));
        let spawn = Work::Spawn { path: "agents/ada.md".into(), content: String::new(), task: String::new() };
        assert_eq!(plan(spawn).doing(), ("starting", "ada.md".into()));
        let long = plan(Work::Signal { message: "done\n".repeat(1_000) }).doing().1;
        assert!(long.chars().count() <= TARGET_CHARS && !long.contains('\n'));
    }
}
