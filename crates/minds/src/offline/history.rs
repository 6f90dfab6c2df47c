//! Parses the history of a task: its text, the tool calls with their results, and the messages of others since.

use std::collections::BTreeSet;

use crate::mind::{CallEnd, PromptMessage, Role, ToolCall, headings};

/// The prefix of a progress check.
const NUDGE: &str = "Progress check:";
/// Punctuation trimmed from words and paths.
pub const PUNCTUATION: &[char] =
    &['\'', '"', '“', '”', '‘', '’', '`', '(', ')', '[', ']', '<', '>', ',', ';', ':', '!', '?'];
/// Names under which some agents are offered a tool, each with the workshop's own name of it.
const TOOL_ALIASES: [(&str, &str); 4] = [
    ("read_file", "vfs_read"),
    ("write_file", "vfs_write"),
    ("list_directory", "vfs_list"),
    ("search_files", "vfs_search"),
];

/// Returns the workshop's own name of an offered tool.
pub fn canonical_tool_name(offered: &str) -> &str {
    TOOL_ALIASES.iter().find(|(alias, _)| *alias == offered).map_or(offered, |(_, canonical)| canonical)
}

/// An earlier tool call and its result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PastCall<'a> {
    call: &'a ToolCall,
    /// The message with the result; `None` if the history lacks it.
    result: Option<&'a PromptMessage>,
}

impl<'a> PastCall<'a> {
    /// Returns a string argument, or an empty string if there is none of that name.
    pub fn argument(&self, key: &str) -> &'a str {
        self.call.arguments[key].as_str().unwrap_or_default()
    }

    /// Returns the text of the result, empty if it is missing.
    pub fn result_text(&self) -> &'a str {
        self.result.map_or("", |result| &result.text)
    }

    /// Whether the tool call succeeded. Without a recorded end, a result that starts with “Error” is a failure.
    pub fn succeeded(&self) -> bool {
        let end = self.result.and_then(|result| result.end);
        end.map_or(!self.result_text().starts_with("Error"), |end| end != CallEnd::NotDone)
    }

    /// Returns the similar path that the result suggests for a missing file.
    pub fn suggested_path(&self) -> Option<String> {
        let (_, suggested) = self.result_text().split_once("Similar:")?;
        paths_in(suggested).into_iter().next().map(|(_, path)| path)
    }

    /// Returns the first sentence of the result, without a leading “Error:” and without its full stop.
    pub fn first_sentence(&self) -> &'a str {
        let line = self.result_text().lines().next().unwrap_or_default().trim();
        let line = line.strip_prefix("Error:").unwrap_or(line).trim();
        line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
    }
}

/// The parsed history of one task.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct History<'a> {
    /// The text of the task.
    pub task: &'a str,
    /// The tool calls, in order.
    pub past_calls: Vec<PastCall<'a>>,
    /// Sender and text of each signal, in order.
    pub signals: Vec<(&'a str, &'a str)>,
    /// The messages from channels, in order.
    pub channel_messages: Vec<&'a str>,
    /// Whether the last message is a progress check.
    pub is_nudged: bool,
    /// The agent's turns since the last user message.
    pub turns: usize,
}

impl<'a> History<'a> {
    /// Parses the messages of a session; only the last task counts.
    pub fn of(messages: &'a [PromptMessage]) -> Self {
        let mut history = Self::default();
        for message in messages {
            match message.role {
                Role::User => history.add_user_text(message.text.trim()),
                Role::Assistant => {
                    history.turns += 1;
                    history.past_calls.extend(message.tool_calls.iter().map(|call| PastCall { call, result: None }));
                }
                Role::Tool => {
                    let id = message.answers.as_deref();
                    let past = history.past_calls.iter_mut().rfind(|past| id == Some(past.call.id.as_str()));
                    if let Some(past) = past {
                        past.result = Some(message);
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
            // Earlier results and the file of the task follow its text.
            let appended = [headings::TASK_BEFORE, headings::TASK_PLACE].map(|heading| format!("\n\n{heading}"));
            let end = appended.iter().filter_map(|heading| task.find(heading)).min().unwrap_or(task.len());
            // A new task starts a new history.
            *self = Self { task: task[..end].trim(), ..Self::default() };
        } else if let Some((from, words)) = text.strip_prefix(headings::SIGNAL).and_then(|rest| rest.split_once(':')) {
            self.signals.push((from.trim(), words.trim()));
        } else if text.starts_with(headings::NEWS) {
            self.channel_messages.push(text);
        } else if !self.is_nudged && self.task.is_empty() && self.past_calls.is_empty() {
            self.task = text;
        }
    }

    /// Returns the calls of a tool, in order.
    pub fn calls(&self, tool: &str) -> impl DoubleEndedIterator<Item = &PastCall<'a>> {
        self.past_calls.iter().filter(move |past| canonical_tool_name(&past.call.name) == tool)
    }

    /// Returns the number of different agents that have signalled.
    pub fn signal_sender_count(&self) -> usize {
        self.signals.iter().map(|(from, _)| from).collect::<BTreeSet<_>>().len()
    }

    /// Returns the last attempt to read a path, or the attempt at the path that it suggested, if it failed.
    pub fn read_attempt(&self, path: &str) -> Option<&PastCall<'a>> {
        let read = |path: &str| self.calls("vfs_read").rfind(|call| call.argument("path") == path);
        let call = read(path)?;
        let suggested = call.suggested_path().filter(|suggested| !call.succeeded() && suggested != path);
        suggested.and_then(|suggested| read(&suggested)).or(Some(call))
    }
}

/// Returns the relative file paths in a text, each with the lower-case word before it.
pub fn paths_in(text: &str) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    let mut before = String::new();
    for word in text.split_whitespace() {
        let trimmed = word.trim_matches(PUNCTUATION).trim_end_matches('.').trim_matches(PUNCTUATION);
        let name = trimmed.rsplit('/').next().unwrap_or_default();
        let has_extension = name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
        });
        let is_path = has_extension && (trimmed.contains('/') || name.ends_with(".md")) && !trimmed.contains("://");
        if is_path && !trimmed.starts_with('/') {
            paths.push((before.clone(), trimmed.to_owned()));
        }
        before = trimmed.to_lowercase();
    }
    paths
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_history_is_parsed_into_calls_and_signals() {
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
        assert_eq!((history.past_calls.len(), history.turns), (2, 1));
        assert!(!history.past_calls[0].succeeded() && history.past_calls[1].succeeded());
        assert_eq!(history.past_calls[0].suggested_path().as_deref(), Some("artifacts/a.md"));
        assert_eq!(history.past_calls[0].first_sentence(), "'a.md' not found");
        let signalled = PromptMessage::plain(Role::User, "Signal from ben-1: it is in artifacts/ben.md.");
        let messages = [&messages[..], &[signalled.clone(), signalled]].concat();
        let history = History::of(&messages);
        assert_eq!((history.signals.len(), history.signal_sender_count(), history.turns), (2, 1, 0));
        let nudged = [PromptMessage::plain(Role::User, "Progress check: so?")];
        assert!(History::of(&[&messages[..], &nudged[..]].concat()).is_nudged);
    }

    #[test]
    fn paths_are_found_with_the_preceding_word() {
        let text = "Read 'notes/plan.md', then write to artifacts/a-b.md. See https://x.org/a.md and 3.5 of it.";
        let found = [("read", "notes/plan.md"), ("to", "artifacts/a-b.md")];
        assert_eq!(paths_in(text), found.map(|(before, path)| (before.to_owned(), path.to_owned())));
    }

    #[test]
    fn success_is_the_recorded_end_or_else_the_absence_of_an_error_text() {
        let call = ToolCall::new("1", "vfs_read", json!({ "path": "a.md" }));
        let succeeded = |text: &str, end: Option<CallEnd>| {
            let messages =
                [PromptMessage::calls("", vec![call.clone()]), PromptMessage::result(&call, text).ended(end)];
            History::of(&messages).past_calls[0].succeeded()
        };
        for text in ["", "# Errors\nwere found", "Written to 'a.md' (12 chars)", "The guests may not come."] {
            assert!(succeeded(text, None), "{text}");
        }
        assert!(!succeeded("Error: depth limit 5/5.", None));
        assert!(!succeeded("It may not.", Some(CallEnd::NotDone)));
        assert!(succeeded("Errors of the past: a history.", Some(CallEnd::Done)), "a file may hold any words");
    }
}
