//! The history of a session with one agent, as a JSON list in `sessions/ID/history.json`: the person's messages, the
//! agent's answers, and tool calls with their results.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::CliError;
use super::data_files;
use crate::base::calendar;
use crate::mind::ToolCall;

/// The file name of a session's history.
const FILE: &str = "history.json";
/// The maximum size of a history, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum length of a session name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The role of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaker {
    User,
    Assistant,
    /// The result of a tool.
    Tool,
}

/// A tool call of a message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct CalledTool {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

impl From<&ToolCall> for CalledTool {
    fn from(call: &ToolCall) -> Self {
        Self { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.clone() }
    }
}

/// One message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) role: Speaker,
    pub(super) content: String,
    /// The tool calls of the agent's message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<CalledTool>,
    /// For a tool result: the id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
    /// For a tool result: whether the tool failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) is_error: Option<bool>,
    /// The time in UTC: `2026-01-31T10:20:30Z`.
    #[serde(default)]
    pub(super) timestamp: String,
}

impl Entry {
    /// A message with the current time.
    pub(super) fn text(role: Speaker, content: impl Into<String>) -> Self {
        let (content, timestamp) = (content.into(), now());
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None, is_error: None, timestamp }
    }

    /// A tool result with the current time.
    pub(super) fn result(call: &str, content: impl Into<String>, is_error: bool) -> Self {
        let answers = Some(call.to_owned());
        Self { tool_call_id: answers, is_error: Some(is_error), ..Self::text(Speaker::Tool, content) }
    }
}

/// The current time in UTC: `2026-01-31T10:20:30Z`.
pub(super) fn now() -> String {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    calendar::stamp(i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX)) + "Z"
}

/// The history of one session.
pub(super) struct History {
    path: PathBuf,
    pub(super) entries: Vec<Entry>,
    /// Whether some entries are not in the file yet.
    is_unwritten: bool,
}

impl History {
    fn new(path: PathBuf, entries: Vec<Entry>) -> Self {
        Self { path, entries, is_unwritten: false }
    }

    /// The path of a session's history.
    pub(super) fn path(sessions: &Path, session: &str) -> PathBuf {
        sessions.join(session).join(FILE)
    }

    /// Reads the history of a session; empty if there is no file yet.
    pub(super) fn read(sessions: &Path, session: &str) -> Result<Self, CliError> {
        let path = Self::path(sessions, session);
        let shown = path.display().to_string();
        let hint = "fix the file, or move it away to start the session over";
        let text = match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::new(path, Vec::new())),
            Ok(found) if found.len() > MAX_BYTES => {
                return Err(CliError::failed(format!("{shown} is larger than {MAX_BYTES} bytes")).hint(hint));
            }
            _ => fs::read_to_string(&path).map_err(|error| CliError::failed(format!("{shown}: {error}")).hint(hint))?,
        };
        let entries = if text.trim().is_empty() { Ok(Vec::new()) } else { serde_json::from_str(&text) };
        let unreadable = |error| CliError::failed(format!("{shown} is not a valid history: {error}")).hint(hint);
        Ok(Self::new(path, entries.map_err(unreadable)?))
    }

    /// Writes the file atomically: readers see either the old text or the new one. After an error, the next call writes
    /// all entries.
    pub(super) fn write(&mut self) -> Result<(), CliError> {
        let failed =
            |error: std::io::Error| CliError::failed(format!("{} could not be written: {error}", self.path.display()));
        self.is_unwritten = true;
        let text = serde_json::to_string_pretty(&self.entries).map_err(CliError::failed)? + "\n";
        data_files::write(&self.path, &text).map_err(failed)?;
        self.is_unwritten = false;
        Ok(())
    }

    /// Writes the file if the last write failed.
    pub(super) fn write_rest(&mut self) -> Result<(), CliError> {
        if self.is_unwritten { self.write() } else { Ok(()) }
    }

    /// The session as a session file of the room (YAML).
    pub(super) fn to_session_file(&self, agent: &str, session: &str) -> Result<String, CliError> {
        let messages: Vec<Value> = self.entries.iter().map(message).collect();
        let text = json!({ "session_id": session, "agent_id": agent, "messages": messages });
        serde_yaml::to_string(&text).map_err(CliError::failed)
    }
}

/// Converts an entry to a message of a session file.
fn message(entry: &Entry) -> Value {
    let call = |call: &CalledTool| json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": call.arguments } });
    let mut message = json!({ "role": entry.role, "content": entry.content });
    if !entry.tool_calls.is_empty() {
        message["tool_calls"] = entry.tool_calls.iter().map(call).collect();
    }
    if let Some(answers) = &entry.tool_call_id {
        message["tool_call_id"] = answers.as_str().into();
    }
    message
}

/// The names of all sessions in a folder, sorted.
pub(super) fn sessions_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.path().join(FILE).is_file());
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// Checks the name of a session, which is also a folder name.
pub(super) fn parse_session(name: &str) -> Result<String, String> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.is_empty() || name.len() > MAX_NAME_CHARS || name.starts_with('.') || !name.chars().all(is_plain) {
        return Err(format!("use letters, digits, -, _ and ., at most {MAX_NAME_CHARS} characters"));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::session_files::parse;

    #[test]
    fn a_history_round_trips_and_converts_to_a_session_file() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut history = History::read(folder.path(), "main").expect("none is an empty one");
        let call = CalledTool { id: "call-1".into(), name: "forecast".into(), arguments: json!({ "city": "Ulm" }) };
        history.entries = vec![
            Entry::text(Speaker::User, "How is it?\n# not a comment"),
            Entry { tool_calls: vec![call], ..Entry::text(Speaker::Assistant, "") },
            Entry::result("call-1", "rain: \"heavy\"", false),
            Entry::text(Speaker::Assistant, "It rains."),
        ];
        history.write().expect("it can be written");
        let read = History::read(folder.path(), "main").expect("it can be read");
        assert_eq!(read.entries, history.entries);
        assert_eq!(sessions_in(folder.path()), ["main"]);
        let session = parse(&read.to_session_file("weather", "weather.main").expect("it is text")).expect("it fits");
        assert_eq!((session.agent_id.as_str(), session.messages.len()), ("weather", 4));
        assert_eq!(session.messages[1].tool_calls[0].arguments, json!({ "city": "Ulm" }));
        assert_eq!(session.messages[2].content, "rain: \"heavy\"");
        assert!(!session.begins(), "nothing is asked");
    }

    #[test]
    fn a_failed_write_is_reported_and_retried() {
        let folder = tempfile::tempdir().expect("there is room");
        let sessions = folder.path().join("sessions");
        let mut history = History::read(&sessions, "main").expect("none is an empty one");
        history.entries.push(Entry::text(Speaker::User, "Hi"));
        fs::write(&sessions, "a file where the folder is to be").expect("there is room");
        let error = history.write().expect_err("there is no folder");
        assert!(error.what.is_some_and(|what| what.contains("history.json could not be written")));
        assert!(history.write_rest().is_err());
        fs::remove_file(&sessions).expect("it is there");
        history.write_rest().expect("it can be written now");
        assert_eq!(History::read(&sessions, "main").expect("it can be read").entries, history.entries);
        fs::remove_dir_all(&sessions).expect("it is there");
        history.write_rest().expect("nothing is left to write");
        assert!(!sessions.exists());
    }

    #[test]
    fn histories_of_the_reference_are_read_and_invalid_ones_are_errors() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = History::path(folder.path(), "main");
        fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("there is room");
        let text = r#"[{"role":"user","content":"Hi","timestamp":"2026-02-08T10:00:00.000Z"}]"#;
        fs::write(&path, text).expect("there is room");
        assert_eq!(History::read(folder.path(), "main").expect("it fits").entries[0].content, "Hi");
        fs::write(&path, "[{]").expect("there is room");
        let error = History::read(folder.path(), "main").err().expect("it is no JSON");
        assert!(error.what.is_some_and(|what| what.contains("history.json")) && error.hint.is_some());
    }

    #[test]
    fn a_session_name_is_a_safe_folder_name() {
        for name in ["main", "work-2", "a.b_c"] {
            assert_eq!(parse_session(name).as_deref(), Ok(name));
        }
        for name in ["", "..", ".x", "a/b", "a b", "ü"] {
            assert!(parse_session(name).is_err(), "{name}");
        }
    }
}
