//! Records of an agent besides its sessions: its last state (`state/agent-state.json`) and a daily log
//! (`logs/YYYY-MM-DD.log`). Neither is required: a failed write is reported, the chat continues, and the write is
//! retried with the next line.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::{ExitStatus, output};
use super::agent_folder::DataFolders;
use super::data_files;
use super::events::AgentEvent;
use super::history::now;
use crate::base::text::{one_line, truncate};

/// The name of the file with the agent's last state.
const STATE_FILE: &str = "agent-state.json";
/// The maximum length of a log line, in characters.
const LINE_CHARS: usize = 400;
/// The maximum number of unwritten lines that are kept; the oldest are dropped.
const MAX_UNWRITTEN_LINES: usize = 1_000;

/// The journal of one agent and session.
pub(super) struct Journal {
    state: PathBuf,
    logs: PathBuf,
    session: String,
    unwritten: RefCell<Unwritten>,
}

/// What could not be written yet.
#[derive(Default)]
struct Unwritten {
    /// Log lines, oldest first, each with its file.
    lines: VecDeque<(PathBuf, String)>,
    /// The number of lines that were dropped because there were too many.
    dropped: usize,
    /// The files whose write errors were already reported.
    reported: Vec<PathBuf>,
}

impl Journal {
    pub(super) fn new(folders: &DataFolders, session: &str) -> Self {
        Self {
            state: folders.state.join(STATE_FILE),
            logs: folders.logs.clone(),
            session: session.to_owned(),
            unwritten: RefCell::default(),
        }
    }

    /// The state file and today's log file.
    pub(super) fn files(&self) -> [PathBuf; 2] {
        [self.state.clone(), self.log_file()]
    }

    fn log_file(&self) -> PathBuf {
        let today = now();
        self.logs.join(format!("{}.log", today.split('T').next().unwrap_or_default()))
    }

    /// Appends a line to today's log.
    pub(super) fn line(&self, what: &str) {
        let line = format!("{} [{}] {}\n", now(), self.session, truncate(&one_line(what), LINE_CHARS));
        let mut unwritten = self.unwritten.borrow_mut();
        unwritten.lines.push_back((self.log_file(), line));
        if unwritten.lines.len() > MAX_UNWRITTEN_LINES {
            unwritten.lines.pop_front();
            unwritten.dropped += 1;
        }
        unwritten.write();
    }

    /// Writes the lines that could not be written before. Returns an error message if some still cannot.
    pub(super) fn close(&self) -> Option<String> {
        let mut unwritten = self.unwritten.borrow_mut();
        unwritten.write();
        let lost = unwritten.lines.len() + unwritten.dropped;
        (lost > 0).then(|| format!("{lost} lines of the log in {} could not be written", self.logs.display()))
    }

    /// Logs an event.
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

    /// Logs the end of a task and updates the state file.
    pub(super) fn task_over(&self, agent: &str, exit: ExitStatus, reason: &str, turns: u32) {
        let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        self.line(&format!("{} after {turns} turns{because}", exit.word()));
        let mut state = read_state(&self.state);
        let tasks = state.get("tasks").and_then(Value::as_u64).unwrap_or(0).saturating_add(1);
        let new: [(&str, Value); 6] = [
            ("agent", agent.into()),
            ("session", self.session.as_str().into()),
            ("lastActive", now().into()),
            ("lastEnding", exit.word().into()),
            ("lastTurns", turns.into()),
            ("tasks", tasks.into()),
        ];
        // Keys of other programs are kept.
        state.extend(new.map(|(key, value)| (key.to_owned(), value)));
        let text = serde_json::to_string_pretty(&state).unwrap_or_default() + "\n";
        let written = data_files::write(&self.state, &text);
        self.unwritten.borrow_mut().report_once(&self.state, written);
    }
}

impl Unwritten {
    /// Writes lines, oldest first, until a write fails.
    fn write(&mut self) {
        while let Some((file, line)) = self.lines.front() {
            let written = data_files::append(file, line);
            let (file, is_written) = (file.clone(), written.is_ok());
            self.report_once(&file, written);
            if !is_written {
                return;
            }
            self.lines.pop_front();
        }
    }

    /// Reports a write error once per file, and again only if a write succeeded in between.
    fn report_once(&mut self, file: &Path, written: std::io::Result<()>) {
        let is_reported = self.reported.iter().any(|reported| reported == file);
        match written {
            Ok(()) => self.reported.retain(|reported| reported != file),
            Err(_) if is_reported => {}
            Err(error) => {
                output::note(&format!("problem: {} could not be written: {error}; it is tried again", file.display()));
                self.reported.push(file.to_owned());
            }
        }
    }
}

fn read_state(path: &Path) -> Map<String, Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_file_counts_tasks_and_keeps_other_keys() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        let folders = DataFolders { sessions: at("sessions"), state: at("state"), logs: at("logs") };
        fs::create_dir(at("state")).expect("there is room");
        fs::write(at("state").join(STATE_FILE), "{\"mood\": \"good\", \"tasks\": 2}").expect("there is room");
        let journal = Journal::new(&folders, "main");
        journal.line("user: How is it?\nReally?");
        journal.task_over("weather", ExitStatus::Done, "", 2);
        let state = read_state(&journal.state);
        assert_eq!((state["mood"].as_str(), state["tasks"].as_u64()), (Some("good"), Some(3)));
        assert_eq!(state["lastEnding"], "done");
        let log = fs::read_to_string(journal.log_file()).expect("there should be one");
        assert!(log.contains("[main] user: How is it? Really?\n") && log.contains("done after 2 turns"), "{log}");
    }

    #[test]
    fn lines_that_could_not_be_written_come_before_the_next_one() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        let journal =
            Journal::new(&DataFolders { sessions: at("sessions"), state: at("state"), logs: at("logs") }, "main");
        fs::write(at("logs"), "a file where the folder is to be").expect("there is room");
        journal.line("one");
        journal.line("two");
        assert!(journal.close().is_some_and(|lost| lost.contains("2 lines")));
        fs::remove_file(at("logs")).expect("it is there");
        journal.line("three");
        let log = fs::read_to_string(journal.log_file()).expect("there should be one");
        let texts: Vec<&str> = log.lines().filter_map(|line| line.rsplit_once(' ').map(|(_, texts)| texts)).collect();
        assert_eq!(texts, ["one", "two", "three"]);
        assert_eq!(journal.close(), None);
    }

    #[test]
    fn the_number_of_unwritten_lines_is_bounded() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        let journal =
            Journal::new(&DataFolders { sessions: at("sessions"), state: at("state"), logs: at("logs") }, "main");
        fs::write(at("logs"), "").expect("there is room");
        (0..MAX_UNWRITTEN_LINES + 5).for_each(|_| journal.line("x"));
        assert_eq!(journal.unwritten.borrow().lines.len(), MAX_UNWRITTEN_LINES);
        assert!(journal.close().is_some_and(|lost| lost.contains(&format!("{} lines", MAX_UNWRITTEN_LINES + 5))));
    }
}
