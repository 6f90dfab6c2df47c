//! The session of a piece of work: as much of it as is sent to a model, and the file that a person reads.

use serde::Serialize;

use super::activation::{Activation, Ending, Thread};
use crate::mind::{PromptMessage, Role};

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
    task: &'a str,
    started_by: &'a str,
    depth: u32,
    run: String,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
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
    format!("sessions/{}.{}.session.yaml", crate::base::text::slug(&activation.agent), activation.key.id())
}

/// The session as a person reads it.
pub fn to_yaml(
    activation: &Activation,
    thread: Option<&Thread>,
    parent: Option<&Thread>,
    ending: Option<&Ending>,
) -> String {
    let (status, why) = match ending {
        None if activation.question().is_some() => ("waiting", activation.question().map(|(_, _, why)| why)),
        None if activation.has_begun() => ("running", None),
        None => ("queued", None),
        Some(Ending::Completed { .. }) => ("completed", None),
        Some(Ending::Failed { why }) => ("failed", Some(why.as_str())),
        Some(Ending::Aborted { why, .. }) => ("aborted", Some(why.as_str())),
    };
    let messages = activation.messages.iter().map(|message| Line {
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
        task: &activation.input,
        started_by: parent.map_or("user", |parent| &parent.agent),
        depth: thread.map_or(0, |thread| thread.depth),
        run: thread.map_or(activation.key, |thread| thread.root).id().to_string(),
        status,
        why,
        turns: activation.turn,
        messages: messages.collect(),
    };
    serde_yaml::to_string(&file).unwrap_or_else(|error| format!("# this session could not be written: {error}\n"))
}

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
