//! The history of a task: the task, the calls with their results, and what others said meanwhile.

use std::collections::BTreeSet;

use crate::mind::{CallEnd, PromptMessage, Role, ToolCall, headings};

/// How a nudge begins.
const NUDGE: &str = "Progress check:";
/// What stands around words and paths.
pub const MARKS: &[char] = &['\'', '"', '“', '”', '‘', '’', '`', '(', ')', '[', ']', '<', '>', ',', ';', ':', '!', '?'];
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
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Deed<'a> {
    call: &'a ToolCall,
    /// What the tool answered; nothing where that was lost.
    answer: Option<&'a PromptMessage>,
}

impl<'a> Deed<'a> {
    /// A text among the arguments.
    pub fn argument(&self, key: &str) -> &'a str {
        self.call.arguments[key].as_str().unwrap_or_default()
    }

    /// What the tool said.
    pub fn result(&self) -> &'a str {
        self.answer.map_or("", |answer| &answer.text)
    }

    /// Whether the tool did what was asked. Where it is only known in words, an error begins with its name.
    pub fn worked(&self) -> bool {
        let end = self.answer.and_then(|answer| answer.end);
        end.map_or(!self.result().starts_with("Error"), |end| end != CallEnd::NotDone)
    }

    /// The path that the tool offers in place of one that is not there.
    pub fn similar(&self) -> Option<String> {
        let (_, offered) = self.result().split_once("Similar:")?;
        paths_in(offered).into_iter().next().map(|(_, path)| path)
    }

    /// The first sentence of what the tool said.
    pub fn first_sentence(&self) -> &'a str {
        let line = self.result().lines().next().unwrap_or_default().trim();
        let line = line.strip_prefix("Error:").unwrap_or(line).trim();
        line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
    }
}

/// A task and its history.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct History<'a> {
    /// The task in words.
    pub task: &'a str,
    /// What was called, in order.
    pub deeds: Vec<Deed<'a>>,
    /// Who signalled what, in order.
    pub signals: Vec<(&'a str, &'a str)>,
    /// What was said in channels, in order.
    pub news: Vec<&'a str>,
    /// Whether somebody asks how it goes, and nothing happened since.
    pub is_nudged: bool,
    /// Own turns since the room spoke last.
    pub turns: usize,
}

impl<'a> History<'a> {
    /// Reads the history of a task.
    pub fn of(messages: &'a [PromptMessage]) -> Self {
        let mut history = Self::default();
        for message in messages {
            match message.role {
                Role::User => history.add_user_text(message.text.trim()),
                Role::Assistant => {
                    history.turns += 1;
                    history.deeds.extend(message.tool_calls.iter().map(|call| Deed { call, answer: None }));
                }
                Role::Tool => {
                    let answers = message.answers.as_deref();
                    let deed = history.deeds.iter_mut().rfind(|deed| answers == Some(deed.call.id.as_str()));
                    if let Some(deed) = deed {
                        deed.answer = Some(message);
                    }
                    history.is_nudged = false;
                }
            }
        }
        history
    }

    fn add_user_text(&mut self, text: &'a str) {
        self.is_nudged = text.starts_with(NUDGE);
        self.turns = 0;
        if let Some(task) = text.strip_prefix(headings::TASK) {
            // What was done before it and in which file it stands is not a part of what is to be done.
            let behind = [headings::TASK_BEFORE, headings::TASK_PLACE].map(|heading| format!("\n\n{heading}"));
            let end = behind.iter().filter_map(|heading| task.find(heading)).min().unwrap_or(task.len());
            // A new task has nothing to do with what was done for another.
            *self = Self { task: task[..end].trim(), ..Self::default() };
        } else if let Some((from, words)) = text.strip_prefix(headings::SIGNAL).and_then(|rest| rest.split_once(':')) {
            self.signals.push((from.trim(), words.trim()));
        } else if text.starts_with(headings::NEWS) {
            self.news.push(text);
        } else if !self.is_nudged && self.task.is_empty() && self.deeds.is_empty() {
            self.task = text;
        }
    }

    /// The calls of a tool.
    pub fn calls(&self, tool: &str) -> impl DoubleEndedIterator<Item = &Deed<'a>> {
        self.deeds.iter().filter(move |deed| known_as(&deed.call.name) == tool)
    }

    /// How many have signalled.
    pub fn heard_from(&self) -> usize {
        self.signals.iter().map(|(from, _)| from).collect::<BTreeSet<_>>().len()
    }

    /// The newest of the files that were tried in place of this one: tools offer paths that are like it.
    pub fn read_as(&self, path: &str) -> Option<&Deed<'a>> {
        let read = |path: &str| self.calls("vfs_read").rfind(|deed| deed.argument("path") == path);
        let deed = read(path)?;
        let similar = deed.similar().filter(|similar| !deed.worked() && similar != path);
        similar.and_then(|similar| read(&similar)).or(Some(deed))
    }
}

/// The paths in a text, each with the word before it in lower case.
pub fn paths_in(text: &str) -> Vec<(String, String)> {
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

    #[test]
    fn a_history_is_read_into_deeds_and_signals() {
        let (read, write) = (
            ToolCall::new("1", "vfs_read", json!({ "path": "a.md" })),
            ToolCall::new("2", "vfs_write", json!({ "path": "b.md" })),
        );
        let messages = [
            PromptMessage::plain(Role::User, "Your task: an old one"),
            PromptMessage::plain(Role::Assistant, "Done."),
            PromptMessage::plain(Role::User, "Your task: Plan a launch party"),
            PromptMessage::calls("", vec![read.clone(), write.clone()]),
            PromptMessage::result(&write, "Written to 'b.md'."),
            PromptMessage::result(&read, "Error: 'a.md' not found. Similar: 'artifacts/a.md'. Available: [x]"),
        ];
        let history = History::of(&messages);
        assert_eq!((history.task, history.is_nudged), ("Plan a launch party", false));
        assert_eq!((history.deeds.len(), history.turns), (2, 1));
        assert!(!history.deeds[0].worked() && history.deeds[1].worked());
        assert_eq!(history.deeds[0].similar().as_deref(), Some("artifacts/a.md"));
        assert_eq!(history.deeds[0].first_sentence(), "'a.md' not found");
        let signalled = PromptMessage::plain(Role::User, "Signal from ben-1: it is in artifacts/ben.md.");
        let messages = [&messages[..], &[signalled.clone(), signalled]].concat();
        let history = History::of(&messages);
        assert_eq!((history.signals.len(), history.heard_from(), history.turns), (2, 1, 0));
        let nudged = [PromptMessage::plain(Role::User, "Progress check: so?")];
        assert!(History::of(&[&messages[..], &nudged[..]].concat()).is_nudged);
    }

    #[test]
    fn paths_are_found_with_the_word_before_them() {
        let text = "Read 'notes/plan.md', then write to artifacts/a-b.md. See https://x.org/a.md and 3.5 of it.";
        let found = [("read", "notes/plan.md"), ("to", "artifacts/a-b.md")];
        assert_eq!(paths_in(text), found.map(|(before, path)| (before.to_owned(), path.to_owned())));
    }

    #[test]
    fn what_a_tool_did_is_known_by_its_end_and_else_by_its_words() {
        let call = ToolCall::new("1", "vfs_read", json!({ "path": "a.md" }));
        let worked = |text: &str, end: Option<CallEnd>| {
            let messages =
                [PromptMessage::calls("", vec![call.clone()]), PromptMessage::result(&call, text).ended(end)];
            History::of(&messages).deeds[0].worked()
        };
        for fine in ["", "# Errors\nwere found", "Written to 'a.md' (12 chars)", "The guests may not come."] {
            assert!(worked(fine, None), "{fine}");
        }
        assert!(!worked("Error: depth limit 5/5.", None));
        assert!(!worked("It may not.", Some(CallEnd::NotDone)));
        assert!(worked("Errors of the past: a history.", Some(CallEnd::Done)), "a file may hold any words");
    }
}
