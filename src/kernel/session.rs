//! The session of a piece of work: as much of it as is sent to a model, and the file that a person reads.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::activation::{Activation, Ending, Thread};
use crate::mind::{PromptMessage, Role, ToolCall};
use crate::workspace::vfs::records::records_of;

/// Results of tools that are always sent whole, counted from the end.
const NEWEST_RESULTS: usize = 6;
/// Shorter results are not worth leaving out.
const SHORT_CHARS: usize = 300;

/// The messages as they are sent: beyond so many characters, older results of tools are left out, with a word that
/// says so. Nothing that anybody said is left out, and every call keeps its answer.
pub fn fitted(messages: &[PromptMessage], chars_at_most: usize) -> Vec<PromptMessage> {
    let mut fitted = messages.to_vec();
    let mut chars: usize = fitted.iter().map(size).sum();
    let results: Vec<usize> =
        fitted.iter().enumerate().filter(|(_, message)| message.role == Role::Tool).map(|(at, _)| at).collect();
    let older = results.len().saturating_sub(NEWEST_RESULTS);
    for at in results.into_iter().take(older) {
        if chars <= chars_at_most {
            break;
        }
        let Some(message) = fitted.get_mut(at) else { break };
        let long = message.text.chars().count();
        if long <= SHORT_CHARS {
            continue;
        }
        message.text = format!("[… left out, {long} characters; call the tool again if you need it]");
        chars = chars.saturating_sub(long) + size(message);
    }
    fitted
}

/// Whether the last result of this very call is one of those that are not sent any more.
pub(super) fn is_left_out(messages: &[PromptMessage], chars_at_most: usize, call: &ToolCall) -> bool {
    let sent = fitted(messages, chars_at_most);
    let (mut open, mut left_out) = (VecDeque::new(), false);
    for (message, sent) in messages.iter().zip(&sent) {
        if message.role != Role::Tool {
            open = message.tool_calls.iter().collect();
        } else if let Some(answered) = open.pop_front()
            && (&answered.name, &answered.arguments) == (&call.name, &call.arguments)
        {
            left_out = message.text != sent.text;
        }
    }
    left_out
}

fn size(message: &PromptMessage) -> usize {
    let arguments: usize = message.tool_calls.iter().map(|call| call.arguments.to_string().chars().count()).sum();
    message.text.chars().count() + arguments
}

/// What stands in `sessions/<agent>.<activation>.session.yaml`.
#[derive(Serialize)]
struct SessionFile<'a> {
    activation: String,
    agent: &'a str,
    profile: &'a str,
    scene: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    task: &'a str,
    started_by: &'a str,
    depth: u32,
    run: String,
    turns: u32,
    messages: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    by: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<&'a str>,
}

#[derive(Serialize)]
struct CallLine<'a> {
    id: &'a str,
    tool: &'a str,
    arguments: &'a serde_json::Value,
}

/// Where a session is kept.
pub fn path(activation: &Activation) -> String {
    format!("{}{}.session.yaml", records_of(&activation.agent), activation.key.id())
}

/// The session as a person reads it, of work in this scene.
pub fn to_yaml(
    scene: &str,
    activation: &Activation,
    thread: Option<&Thread>,
    parent: Option<&Thread>,
    ending: Option<&Ending>,
) -> String {
    let (status, why) = match ending {
        None if activation.question().is_some() => ("waiting", activation.question().map(|(_, _, why)| why)),
        None if activation.has_begun() => ("running", activation.cap_hold.as_ref().map(|hold| hold.why.as_str())),
        None => ("queued", None),
        Some(ending) => (ending.word(), ending.why()),
    };
    let messages = activation.messages_so_far();
    let messages = messages.iter().map(|message| Line {
        by: match message.role {
            Role::User => "room",
            Role::Assistant => "agent",
            Role::Tool => "tool",
        },
        text: &message.text,
        calls: message
            .tool_calls
            .iter()
            .map(|call| CallLine { id: &call.id, tool: &call.name, arguments: &call.arguments })
            .collect(),
        answers: message.answers.as_deref(),
    });
    let file = SessionFile {
        activation: activation.key.id().to_string(),
        agent: &activation.agent,
        profile: &activation.profile,
        scene,
        status,
        why,
        task: &activation.input,
        started_by: parent.map_or("user", |parent| &parent.agent),
        depth: thread.map_or(0, |thread| thread.depth),
        run: thread.map_or(activation.key, |thread| thread.root).id().to_string(),
        turns: activation.turn,
        messages: messages.collect(),
    };
    serde_yaml::to_string(&file).unwrap_or_else(|error| format!("# this session could not be written: {error}\n"))
}

/// What the head of a session's file says of its work.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct SessionHead {
    /// The piece of work: `act-7`.
    pub activation: String,
    /// Whose.
    pub agent: String,
    /// In which scene; empty where an older version wrote it.
    #[serde(default)]
    pub scene: String,
    /// How far it is.
    pub status: String,
    /// What it is.
    #[serde(default)]
    pub task: String,
}

impl SessionHead {
    /// Reads the beginning of a session's file; `None` where that is something else.
    pub fn read(text: &str) -> Option<Self> {
        let head = text.find("\nmessages:").map_or(text, |end| &text[..end]);
        serde_yaml::from_str(head).ok()
    }
}

/// The text of a session's file whose work was dropped, for this reason.
pub fn dropped(text: &str, why: &str) -> String {
    let end = text.find("\nmessages:").unwrap_or(text.len());
    let why = serde_yaml::to_string(&why).unwrap_or_default();
    let mut is_reason = false;
    let mut head = Vec::new();
    for line in text[..end].lines() {
        // A reason may run over several lines; those after the first are indented.
        is_reason = line.starts_with("why:") || (is_reason && line.starts_with(' '));
        if line.starts_with("status: ") {
            head.push(format!("status: {DROPPED}\nwhy: {}", why.trim_end()));
        } else if !is_reason {
            head.push(line.to_owned());
        }
    }
    head.join("\n") + &text[end..]
}

/// The word for work that was given up because nothing of it was known any more.
pub const DROPPED: &str = "dropped";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mind::ToolCall;

    fn result(text: &str) -> PromptMessage {
        let call = ToolCall::new("c", "vfs_read", json!({}));
        PromptMessage::result(&call, text)
    }

    #[test]
    fn the_head_of_a_session_is_read_and_marked_as_dropped() {
        let text = "activation: act-7\nagent: ada\nprofile: ada\nscene: scenes/a.yaml\nstatus: waiting\nwhy: 'a: b'\n\
                    task: |-\n  Write it.\n  status: running\nstarted_by: user\nmessages:\n- by: room\n  text: 'status: x'\n";
        let head = SessionHead::read(text).expect("it is one");
        assert_eq!((head.activation.as_str(), head.scene.as_str()), ("act-7", "scenes/a.yaml"));
        assert_eq!((head.status.as_str(), head.task.as_str()), ("waiting", "Write it.\nstatus: running"));
        let marked = dropped(text, "it: is gone");
        let head = SessionHead::read(&marked).expect("it still is one");
        assert_eq!((head.status.as_str(), head.task.as_str()), (DROPPED, "Write it.\nstatus: running"));
        assert!(marked.contains("why: 'it: is gone'\n") && !marked.contains("a: b"), "{marked}");
        assert!(marked.ends_with("messages:\n- by: room\n  text: 'status: x'\n"), "{marked}");
        assert_eq!(SessionHead::read("notes of mine"), None);
    }

    #[test]
    fn older_results_are_left_out_when_a_session_grows_long_and_nothing_else() {
        let mut messages = vec![PromptMessage::words(Role::User, "x".repeat(5_000))];
        messages.extend((0..10).map(|_| result(&"y".repeat(1_000))));
        let whole = fitted(&messages, 100_000);
        assert_eq!(whole, messages);
        let cut = fitted(&messages, 12_000);
        assert_eq!(cut.len(), messages.len());
        assert_eq!(cut[0], messages[0]);
        let left_out = cut.iter().filter(|message| message.text.starts_with("[… left out, 1000 characters")).count();
        assert_eq!(left_out, 4, "as many as needed, the oldest, never one of the newest six");
        assert!(cut[1].text.starts_with("[…") && cut[10].text.starts_with('y'));
    }
}
