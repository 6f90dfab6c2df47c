//! The history of a task: the task, calls with their results, who signalled, and what to answer now.

use serde_json::Value;

use crate::mind::{PromptMessage, Role, headings};

/// How a nudge begins.
const NUDGE: &str = "Progress check:";
/// Other names under which tools are offered, with those by which they are known here.
const OTHER_NAMES: [(&str, &str); 4] = [
    ("read_file", "vfs_read"),
    ("write_file", "vfs_write"),
    ("list_directory", "vfs_list"),
    ("search_files", "vfs_search"),
];

/// The name by which a tool is known here.
pub fn known_as(offered: &str) -> &str {
    OTHER_NAMES.iter().find(|(other, _)| *other == offered).map_or(offered, |(_, known)| known)
}

/// A call and its result.
#[derive(Clone, PartialEq, Debug)]
pub struct Deed {
    id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// What the tool said; nothing where that was lost.
    pub result: String,
}

impl Deed {
    /// A text among the arguments.
    pub fn argument(&self, key: &str) -> &str {
        self.arguments.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the tool did what was asked.
    pub fn worked(&self) -> bool {
        !is_error(&self.result)
    }

    /// The path that the tool offers in place of one that is not there.
    pub fn similar(&self) -> Option<String> {
        let (_, offered) = self.result.split_once("Similar:")?;
        paths_in(offered).into_iter().next().map(|(_, path)| path)
    }

    /// The first sentence of what the tool said.
    pub fn words(&self) -> &str {
        let line = self.result.lines().next().unwrap_or_default().trim();
        let line = line.strip_prefix("Error:").unwrap_or(line).trim();
        line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
    }
}

/// What has to be answered now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pending {
    /// The task itself.
    Task,
    /// What tools said.
    Results,
    /// What a child said.
    Signal,
    /// Somebody asks how it goes.
    Nudge,
    /// Other words.
    Words,
}

/// A task and its history.
#[derive(Clone, PartialEq, Debug)]
pub struct History {
    /// The task in words.
    pub task: String,
    /// What was called, in order.
    pub deeds: Vec<Deed>,
    /// Who signalled what, in order.
    pub signals: Vec<(String, String)>,
    /// What was said in channels, in order.
    pub news: Vec<String>,
    /// What is to be answered now.
    pub pending: Pending,
    /// Own turns since the room spoke last.
    pub turns: usize,
}

impl History {
    /// Reads the history of a task.
    pub fn of(messages: &[PromptMessage]) -> Self {
        let mut history = Self {
            task: String::new(),
            deeds: Vec::new(),
            signals: Vec::new(),
            news: Vec::new(),
            pending: Pending::Words,
            turns: 0,
        };
        for message in messages {
            match message.role {
                Role::User => history.add_user_text(message.text.trim()),
                Role::Assistant => {
                    history.turns += 1;
                    let calls = message.tool_calls.iter().map(|call| Deed {
                        id: call.id.clone(),
                        tool: known_as(&call.name).to_owned(),
                        arguments: call.arguments.clone(),
                        result: String::new(),
                    });
                    history.deeds.extend(calls);
                }
                Role::Tool => {
                    let answers = message.answers.as_deref();
                    let deed = history.deeds.iter_mut().rev().find(|deed| answers == Some(deed.id.as_str()));
                    if let Some(deed) = deed {
                        deed.result.clone_from(&message.text);
                    }
                    history.pending = Pending::Results;
                }
            }
        }
        history
    }

    fn add_user_text(&mut self, text: &str) {
        if let Some(task) = text.strip_prefix(headings::TASK) {
            // What was done before it and in which file it stands is not a part of what is to be done.
            let behind = [headings::TASK_BEFORE, headings::TASK_PLACE].map(|heading| format!("\n\n{heading}"));
            let end = behind.iter().filter_map(|heading| task.find(heading)).min().unwrap_or(task.len());
            let task = &task[..end];
            // A new task has nothing to do with what was done for another.
            *self = Self { task: task.trim().to_owned(), pending: Pending::Task, ..Self::of(&[]) };
        } else if let Some((from, words)) = text.strip_prefix(headings::SIGNAL).and_then(|rest| rest.split_once(':')) {
            self.signals.push((from.trim().to_owned(), words.trim().to_owned()));
            self.pending = Pending::Signal;
        } else if text.starts_with(headings::NEWS) {
            self.news.push(text.to_owned());
            self.pending = Pending::Signal;
        } else if text.starts_with(NUDGE) {
            self.pending = Pending::Nudge;
        } else if self.task.is_empty() && self.deeds.is_empty() {
            self.task = text.to_owned();
            self.pending = Pending::Task;
        } else {
            self.pending = Pending::Words;
        }
        self.turns = 0;
    }

    /// The calls of a tool.
    pub fn calls<'a>(&'a self, tool: &'a str) -> impl DoubleEndedIterator<Item = &'a Deed> {
        self.deeds.iter().filter(move |deed| deed.tool == tool)
    }

    /// How many have signalled.
    pub fn heard_from(&self) -> usize {
        let mut names: Vec<_> = self.signals.iter().map(|(from, _)| from).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }

    /// The newest of the files that were tried in place of this one: tools offer paths that are like it.
    pub fn read_as(&self, path: &str) -> Option<&Deed> {
        let deed = self.calls("vfs_read").rfind(|deed| deed.argument("path") == path)?;
        match deed.similar().filter(|similar| !deed.worked() && similar != path) {
            Some(similar) => self.calls("vfs_read").rfind(|deed| deed.argument("path") == similar).or(Some(deed)),
            None => Some(deed),
        }
    }
}

/// Whether a tool says that it did not do what was asked. A file may hold any words, so only the start counts.
pub fn is_error(result: &str) -> bool {
    let start: String = result.trim_start().chars().take(200).flat_map(char::to_lowercase).collect();
    let first = start.lines().next().unwrap_or_default();
    let begins = ["error", "refused", "denied", "blocked", "not allowed", "not permitted", "there is no result"];
    let is_quoted = first.starts_with(['\'', '"', '“', '`']);
    begins.iter().any(|begin| first.starts_with(begin))
        || is_quoted && ["not found", "may not", "refused", "not allowed"].iter().any(|words| first.contains(words))
}

/// The paths in a text, each with the word before it in lower case.
pub fn paths_in(text: &str) -> Vec<(String, String)> {
    const MARKS: &[char] = &['\'', '"', '“', '”', '‘', '’', '`', '(', ')', '[', ']', '<', '>', ',', ';', ':', '!', '?'];
    let mut paths = Vec::new();
    let mut before = String::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(MARKS).trim_end_matches('.').trim_matches(MARKS);
        let name = bare.rsplit('/').next().unwrap_or_default();
        let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
        });
        let is_path = has_ending && (bare.contains('/') || name.ends_with(".md")) && !bare.contains("://");
        if is_path && !bare.starts_with('/') {
            paths.push((before.clone(), bare.to_owned()));
        }
        before = bare.to_lowercase();
    }
    paths
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mind::ToolCall;

    #[test]
    fn a_history_is_read_into_deeds_and_signals() {
        let (read, write) = (
            ToolCall::new("1", "vfs_read", json!({ "path": "a.md" })),
            ToolCall::new("2", "vfs_write", json!({ "path": "b.md" })),
        );
        let messages = [
            PromptMessage::words(Role::User, "Your task: an old one"),
            PromptMessage::words(Role::Assistant, "Done."),
            PromptMessage::words(Role::User, "Your task: Plan a launch party"),
            PromptMessage::calls("", vec![read.clone(), write.clone()]),
            PromptMessage::result(&write, "Written to 'b.md'."),
            PromptMessage::result(&read, "Error: 'a.md' not found. Similar: 'artifacts/a.md'. Available: [x]"),
        ];
        let history = History::of(&messages);
        assert_eq!((history.task.as_str(), history.pending), ("Plan a launch party", Pending::Results));
        assert_eq!((history.deeds.len(), history.turns), (2, 1));
        assert!(!history.deeds[0].worked() && history.deeds[1].worked());
        assert_eq!(history.deeds[0].similar().as_deref(), Some("artifacts/a.md"));
        assert_eq!(history.deeds[0].words(), "'a.md' not found");
        let signalled = PromptMessage::words(Role::User, "Signal from ben-1: it is in artifacts/ben.md.");
        let history = History::of(&[&messages[..], &[signalled.clone(), signalled]].concat());
        assert_eq!((history.pending, history.heard_from(), history.turns), (Pending::Signal, 1, 0));
    }

    #[test]
    fn paths_are_found_with_the_word_before_them() {
        let text = "Read 'notes/plan.md', then write to artifacts/a-b.md. See https://x.org/a.md and 3.5 of it.";
        let found = [("read", "notes/plan.md"), ("to", "artifacts/a-b.md")];
        assert_eq!(paths_in(text), found.map(|(before, path)| (before.to_owned(), path.to_owned())));
    }

    #[test]
    fn what_a_file_holds_is_no_error_of_the_tool() {
        for fine in ["", "# Errors\nwere found", "Written to 'a.md' (12 chars)", "The guests may not come."] {
            assert!(!is_error(fine), "{fine}");
        }
        for error in ["Error: depth limit 5/5.", "Refused: the path is outside", "'a.md' not found. Similar: 'b.md'."] {
            assert!(is_error(error), "{error}");
        }
    }
}
