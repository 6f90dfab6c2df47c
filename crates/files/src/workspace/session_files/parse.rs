//! Parses a session file. Errors have a line and a remedy.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::yaml;
use super::super::yaml_syntax::{line_of, parse_syntax};
use super::model::{MessageRole, SessionCall, SessionFault, SessionMessage, SessionText};
use crate::base::ActivationKey;

/// Whether a text is a session written by an older version of this program.
pub fn is_older(text: &str) -> bool {
    let head = text.find("\nmessages:").map_or(text, |end| &text[..end]);
    let mut keys = head.lines().filter(|line| !line.starts_with([' ', '#', '-']));
    text.starts_with("activation: ") && !keys.any(|line| line.starts_with("session_id:"))
}

/// Parses a session file.
pub fn parse(text: &str) -> Result<SessionText, SessionFault> {
    let data = yaml::parse(text).map_err(|error| {
        SessionFault::new(error.line, format!("invalid YAML: {}", error.what), "fix the line and save again")
    })?;
    let lines = lines_of_messages(text);
    let Value::Object(map) = &data else {
        let remedy = "write session_id, agent_id and messages as keys, as in other session files";
        return Err(SessionFault::new(Some(1), "it is not a session: it has no keys", remedy));
    };
    let word = |key: &str| map.get(key).and_then(text_of).filter(|word| !word.trim().is_empty());
    let Some(agent_id) = word("agent_id") else {
        let remedy = "add an agent_id: line with the agent's id";
        return Err(SessionFault::new(Some(1), "agent_id is missing", remedy));
    };
    let metadata = map.get("metadata").and_then(Value::as_object);
    let key = |name: &str| metadata?.get(name)?.as_str().and_then(ActivationKey::parse);
    let earlier = metadata.and_then(|map| map.get("earlier")?.as_array());
    let earlier = earlier.into_iter().flatten().filter_map(|one| ActivationKey::parse(one.as_str()?));
    let mut session = SessionText {
        session_id: word("session_id"),
        agent_id: agent_id.trim().to_owned(),
        thread: key("thread"),
        scene: metadata.and_then(|map| map.get("scene")?.as_str()).map(str::to_owned),
        activations: earlier.chain(key("activation")).collect(),
        written: metadata.and_then(|map| map.get("messages")?.as_u64()).and_then(|count| usize::try_from(count).ok()),
        messages: Vec::new(),
        lines: Vec::new(),
    };
    let messages = match map.get("messages") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(messages)) => messages,
        Some(_) => {
            let remedy = "write each message as an entry of a list: a dash, then role and content";
            return Err(SessionFault::new(None, "messages is not a list", remedy));
        }
    };
    for (at, value) in messages.iter().enumerate() {
        let line = lines.get(at).copied();
        session.messages.push(
            message(value)
                .map_err(|(what, remedy)| SessionFault::new(line, format!("message {} {what}", at + 1), remedy))?,
        );
        session.lines.push(line);
    }
    check_answers(&session)?;
    Ok(session)
}

/// Parses a single message, given as the text after its dash.
pub(super) fn parse_message(text: &str) -> Option<SessionMessage> {
    match yaml::parse(text).ok()? {
        Value::Array(items) => message(items.first().filter(|_| items.len() == 1)?).ok(),
        _ => None,
    }
}

fn message(value: &Value) -> Result<SessionMessage, (String, &'static str)> {
    let Value::Object(map) = value else {
        return Err(("has no keys".to_owned(), "give it a role and a content"));
    };
    let role = map.get("role").and_then(Value::as_str).unwrap_or_default().trim().to_lowercase();
    let Some(role) = MessageRole::from_name(&role) else {
        return Err((format!("has an unknown role: {role:?}"), "write role: user, assistant, tool or system"));
    };
    let content = content_of(map.get("content")).ok_or_else(|| {
        ("has content that is not text".to_owned(), "write the text after content:, or below content: |")
    })?;
    let calls = match map.get("tool_calls") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(calls)) => calls,
        Some(_) => {
            return Err((
                "has tool_calls that are not a list".to_owned(),
                "write each call as an entry of a \
            list",
            ));
        }
    };
    let calls: Option<Vec<SessionCall>> = calls.iter().map(call).collect();
    let tool_calls = calls.ok_or_else(|| {
        let what = "calls a tool without an id or a name".to_owned();
        (what, "write id, and function with name and arguments, for each call")
    })?;
    let tool_call_id = map.get("tool_call_id").and_then(text_of);
    if role == MessageRole::Tool && tool_call_id.is_none() {
        return Err(("is a tool result without a call".to_owned(), "add its tool_call_id"));
    }
    Ok(SessionMessage { role, content, tool_calls, tool_call_id })
}

fn call(value: &Value) -> Option<SessionCall> {
    let function = value.get("function");
    let name = function.and_then(|function| function.get("name")).or_else(|| value.get("name"))?;
    let arguments = function.and_then(|function| function.get("arguments")).or_else(|| value.get("arguments"));
    // Some programs write the arguments as a JSON string.
    let arguments = match arguments.cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new())) {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(map)) => Value::Object(map),
            _ => Value::String(text),
        },
        other => other,
    };
    Some(SessionCall { id: text_of(value.get("id")?)?, name: text_of(name)?, arguments })
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Returns the content of a message: a text, or the texts of its parts.
fn content_of(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::Array(parts)) => {
            let texts: Option<Vec<String>> = parts.iter().map(|part| text_of(part.get("text")?)).collect();
            texts.map(|texts| texts.join("\n"))
        }
        Some(value) => text_of(value),
    }
}

/// Checks that every tool result answers an earlier call.
fn check_answers(session: &SessionText) -> Result<(), SessionFault> {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in session.messages.iter().enumerate() {
        called.extend(message.tool_calls.iter().map(|call| call.id.as_str()));
        if let Some(answers) = message.tool_call_id.as_deref().filter(|id| !called.contains(id)) {
            let what = format!("message {} answers the call {answers:?}, which no earlier message makes", at + 1);
            let remedy = "remove this message as well, or restore the message with the call";
            return Err(SessionFault::new(session.lines[at], what, remedy));
        }
    }
    Ok(())
}

/// Returns the line of each message; fewer if the messages are written in an unknown style.
fn lines_of_messages(text: &str) -> Vec<usize> {
    let Ok(root) = parse_syntax(text) else { return Vec::new() };
    let Some(messages) = root.get("messages") else { return Vec::new() };
    messages.items().iter().map(|item| line_of(text, item.start)).collect()
}
