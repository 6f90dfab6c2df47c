//! Builds the transcript of a piece of work or a conversation, from which memories are extracted. Pure.

use super::context::Line;
use super::headings;
use super::message::{PromptMessage, Role};
use crate::base::Id;
use crate::base::text::{one_line, truncate};

/// Maximum number of lines: the first, which gives the topic, and the newest.
const MAX_LINES: usize = 80;
/// Maximum length of a line in characters.
const LINE_CHARS: usize = 800;
/// The author of the line with a conversation's topic.
pub const TOPIC: &str = "topic";
/// The author of the line with the task of a piece of work.
const TASK: &str = "task";

/// Creates a line; `None` if the text is empty.
pub fn line(by: &Id, text: &str, by_person: bool) -> Option<Line> {
    let text = truncate(one_line(text).trim(), LINE_CHARS);
    (!text.is_empty()).then(|| Line { by: by.clone(), text, by_person })
}

/// Keeps the first line and the newest ones.
pub fn bounded(mut lines: Vec<Line>) -> Vec<Line> {
    let beyond = lines.len().saturating_sub(MAX_LINES);
    lines.drain(1.min(lines.len())..(1 + beyond).min(lines.len()));
    lines
}

/// Returns the transcript of the last piece of work in a session: task, replies, tool calls and results. Empty if no
/// tool was called.
pub fn work_transcript(messages: &[PromptMessage], name: &Id) -> Vec<Line> {
    let is_task = |message: &PromptMessage| message.role == Role::User && message.text.starts_with(headings::TASK);
    let start = messages.iter().rposition(is_task).unwrap_or(0);
    if messages[start..].iter().all(|message| message.tool_calls.is_empty()) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for message in &messages[start..] {
        match message.role {
            Role::User => lines.extend(line(&TASK.into(), message.text.trim_start_matches(headings::TASK), false)),
            Role::Assistant => {
                lines.extend(line(name, &message.text, false));
                let calls = message.tool_calls.iter();
                lines.extend(calls.filter_map(|call| line(name, &format!("{} {}", call.name, call.arguments), false)));
            }
            Role::Tool => lines.extend(line(&tool_of(message, &messages[start..]), &message.text, false)),
        }
    }
    bounded(lines)
}

/// Returns the name of the tool that returned a result.
fn tool_of(result: &PromptMessage, messages: &[PromptMessage]) -> Id {
    let mut calls = messages.iter().flat_map(|message| &message.tool_calls);
    let call = calls.find(|call| Some(&call.id) == result.answers.as_ref());
    call.map_or_else(|| "tool".into(), |call| call.name.as_str().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mind::ToolCall;

    #[test]
    fn a_work_transcript_has_the_task_and_what_followed() {
        let call = ToolCall::new("c-1", "vfs_read", json!({ "path": "a.md" }));
        let messages = [
            PromptMessage::plain(Role::User, "Your task: an older one"),
            PromptMessage::plain(Role::Assistant, "Done."),
            PromptMessage::plain(Role::User, "Your task: count\nthe chairs"),
            PromptMessage::calls("I look.", vec![call.clone()]),
            PromptMessage::result(&call, "12 chairs"),
            PromptMessage::plain(Role::Assistant, " "),
        ];
        let lines = work_transcript(&messages, &"Ada".into());
        let told: Vec<String> = lines.iter().map(|line| format!("{}: {}", line.by, line.text)).collect();
        let called = "Ada: vfs_read {\"path\":\"a.md\"}";
        assert_eq!(told, ["task: count the chairs", "Ada: I look.", called, "vfs_read: 12 chairs"]);
        assert!(work_transcript(&messages[..2], &"Ada".into()).is_empty(), "nothing was done");
    }

    #[test]
    fn a_long_transcript_keeps_the_first_and_the_newest_lines() {
        let lines = (0..200).filter_map(|number| line(&"Ada".into(), &format!("line {number}"), false)).collect();
        let kept = bounded(lines);
        assert_eq!((kept.len(), kept[0].text.as_str(), kept[1].text.as_str()), (80, "line 0", "line 121"));
        assert_eq!(kept[79].text, "line 199");
    }
}
