//! What is recorded about an agent besides its sessions: its last state (`state/agent-state.json`), and a daily log
//! (`logs/YYYY-MM-DD.log`). Neither is required: a failed write is reported, and the chat continues.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::Ending;
use super::agent_folder::Kept;
use super::events::AgentEvent;
use super::history::now;
use crate::base::text::{one_line, truncate};

/// What the file is called that says what an agent was at last.
const STATE_FILE: &str = "agent-state.json";
/// The maximum length of a log line, in characters.
const LINE_CHARS: usize = 400;

/// The files of the journal.
pub(super) struct Journal {
    state: PathBuf,
    logs: PathBuf,
    session: String,
}

impl Journal {
    pub(super) fn new(kept: &Kept, session: &str) -> Self {
        Self { state: kept.state.join(STATE_FILE), logs: kept.logs.clone(), session: session.to_owned() }
    }

    /// The files that are written today.
    pub(super) fn files(&self) -> [PathBuf; 2] {
        [self.state.clone(), self.log_file()]
    }

    fn log_file(&self) -> PathBuf {
        let today = now();
        self.logs.join(format!("{}.log", today.split('T').next().unwrap_or_default()))
    }

    /// Adds a line to the log of today.
    pub(super) fn line(&self, what: &str) {
        let line = format!("{} [{}] {}\n", now(), self.session, truncate(&one_line(what), LINE_CHARS));
        let file = self.log_file();
        warn_if_failed(&file, added(&file, &line));
    }

    /// Notes what happened.
    pub(super) fn event(&self, event: &AgentEvent) {
        match event {
            AgentEvent::MessageEnd { content, .. } if !content.is_empty() => {
                self.line(&format!("assistant: {content}"))
            }
            AgentEvent::ToolExecutionStart { name, args, .. } => self.line(&format!("calls {name} {args}")),
            AgentEvent::ToolExecutionUpdate { name, partial_result, .. } => {
                self.line(&format!("{name}: {partial_result}"));
            }
            AgentEvent::ToolExecutionEnd { name, result, is_error, .. } => {
                let word = if *is_error { "failed" } else { "answered" };
                self.line(&format!("{name} {word}: {result}"));
            }
            _ => {}
        }
    }

    /// Notes how a task ended, in how many turns.
    pub(super) fn task_over(&self, agent: &str, ending: Ending, reason: &str, turns: u32) {
        let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        self.line(&format!("{} after {turns} turns{because}", ending.word()));
        let mut state = read_state(&self.state);
        let tasks = state.get("tasks").and_then(Value::as_u64).unwrap_or(0).saturating_add(1);
        let new: [(&str, Value); 6] = [
            ("agent", agent.into()),
            ("session", self.session.as_str().into()),
            ("lastActive", now().into()),
            ("lastEnding", ending.word().into()),
            ("lastTurns", turns.into()),
            ("tasks", tasks.into()),
        ];
        // What others keep there stays.
        state.extend(new.map(|(key, value)| (key.to_owned(), value)));
        let text = serde_json::to_string_pretty(&state).unwrap_or_default() + "\n";
        warn_if_failed(&self.state, written(&self.state, &text));
    }
}

fn read_state(path: &Path) -> Map<String, Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn added(file: &Path, line: &str) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
}

fn written(file: &Path, text: &str) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    let beside = file.with_extension("json.part");
    fs::write(&beside, text)?;
    fs::rename(&beside, file)
}

fn warn_if_failed(file: &Path, written: std::io::Result<()>) {
    if let Err(error) = written {
        tracing::warn!("{} could not be written: {error}", file.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_was_at_last_is_counted_on_and_what_others_keep_stays() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        let kept = Kept { sessions: at("sessions"), state: at("state"), logs: at("logs") };
        fs::create_dir(at("state")).expect("there is room");
        fs::write(at("state").join(STATE_FILE), "{\"mood\": \"good\", \"tasks\": 2}").expect("there is room");
        let journal = Journal::new(&kept, "main");
        journal.line("user: How is it?\nReally?");
        journal.task_over("weather", Ending::Done, "", 2);
        let state = read_state(&journal.state);
        assert_eq!((state["mood"].as_str(), state["tasks"].as_u64()), (Some("good"), Some(3)));
        assert_eq!(state["lastEnding"], "done");
        let log = fs::read_to_string(journal.log_file()).expect("there should be one");
        assert!(log.contains("[main] user: How is it? Really?\n") && log.contains("done after 2 turns"), "{log}");
    }
}
