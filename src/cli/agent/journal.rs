//! What is recorded about an agent besides its sessions: its last state (`state/agent-state.json`), and a daily log
//! (`logs/YYYY-MM-DD.log`). Neither is required: a failed write is told, the chat continues, and it is tried again with the
//! next line.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::{Ending, output};
use super::agent_folder::Kept;
use super::events::AgentEvent;
use super::history::now;
use super::kept_files;
use crate::base::text::{one_line, truncate};

/// What the file is called that says what an agent was at last.
const STATE_FILE: &str = "agent-state.json";
/// The maximum length of a log line, in characters.
const LINE_CHARS: usize = 400;
/// So many lines are kept that could not be written; the oldest are dropped.
const LINES_KEPT: usize = 1_000;

/// The files of the journal.
pub(super) struct Journal {
    state: PathBuf,
    logs: PathBuf,
    session: String,
    unwritten: RefCell<Unwritten>,
}

/// What could not be written.
#[derive(Default)]
struct Unwritten {
    /// Lines of the log, the oldest first, each with its file.
    lines: VecDeque<(PathBuf, String)>,
    /// How many of them were dropped because there were too many.
    dropped: usize,
    /// The files of which a person was told that they cannot be written.
    told: Vec<PathBuf>,
}

impl Journal {
    pub(super) fn new(kept: &Kept, session: &str) -> Self {
        Self {
            state: kept.state.join(STATE_FILE),
            logs: kept.logs.clone(),
            session: session.to_owned(),
            unwritten: RefCell::default(),
        }
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
        let mut unwritten = self.unwritten.borrow_mut();
        unwritten.lines.push_back((self.log_file(), line));
        if unwritten.lines.len() > LINES_KEPT {
            unwritten.lines.pop_front();
            unwritten.dropped += 1;
        }
        unwritten.write();
    }

    /// Writes what could not be written before; says what still cannot be.
    pub(super) fn close(&self) -> Option<String> {
        let mut unwritten = self.unwritten.borrow_mut();
        unwritten.write();
        let lost = unwritten.lines.len() + unwritten.dropped;
        (lost > 0).then(|| format!("{lost} lines of the log in {} could not be written", self.logs.display()))
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
        self.line(&format!("{} after {turns} turns{because}", ending.as_str()));
        let mut state = read_state(&self.state);
        let tasks = state.get("tasks").and_then(Value::as_u64).unwrap_or(0).saturating_add(1);
        let new: [(&str, Value); 6] = [
            ("agent", agent.into()),
            ("session", self.session.as_str().into()),
            ("lastActive", now().into()),
            ("lastEnding", ending.as_str().into()),
            ("lastTurns", turns.into()),
            ("tasks", tasks.into()),
        ];
        // What others keep there stays.
        state.extend(new.map(|(key, value)| (key.to_owned(), value)));
        let text = serde_json::to_string_pretty(&state).unwrap_or_default() + "\n";
        let written = kept_files::write(&self.state, &text);
        self.unwritten.borrow_mut().report_once(&self.state, written);
    }
}

impl Unwritten {
    /// Writes lines, the oldest first, as far as that works.
    fn write(&mut self) {
        while let Some((file, line)) = self.lines.front() {
            let written = kept_files::append(file, line);
            let (file, is_written) = (file.clone(), written.is_ok());
            self.report_once(&file, written);
            if !is_written {
                return;
            }
            self.lines.pop_front();
        }
    }

    /// Says once that a file cannot be written, and once more if that happens again after it could be.
    fn report_once(&mut self, file: &Path, written: std::io::Result<()>) {
        let is_told = self.told.iter().any(|told| told == file);
        match written {
            Ok(()) => self.told.retain(|told| told != file),
            Err(_) if is_told => {}
            Err(error) => {
                output::note(&format!("problem: {} could not be written: {error}; it is tried again", file.display()));
                self.told.push(file.to_owned());
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

    #[test]
    fn lines_that_could_not_be_written_come_before_the_next_one() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        let journal = Journal::new(&Kept { sessions: at("sessions"), state: at("state"), logs: at("logs") }, "main");
        fs::write(at("logs"), "a file where the folder is to be").expect("there is room");
        journal.line("one");
        journal.line("two");
        assert!(journal.close().is_some_and(|lost| lost.contains("2 lines")));
        fs::remove_file(at("logs")).expect("it is there");
        journal.line("three");
        let log = fs::read_to_string(journal.log_file()).expect("there should be one");
        let said: Vec<&str> = log.lines().filter_map(|line| line.rsplit_once(' ').map(|(_, said)| said)).collect();
        assert_eq!(said, ["one", "two", "three"]);
        assert_eq!(journal.close(), None);
    }

    #[test]
    fn what_cannot_be_written_for_long_is_bounded() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        let journal = Journal::new(&Kept { sessions: at("sessions"), state: at("state"), logs: at("logs") }, "main");
        fs::write(at("logs"), "").expect("there is room");
        (0..LINES_KEPT + 5).for_each(|_| journal.line("x"));
        assert_eq!(journal.unwritten.borrow().lines.len(), LINES_KEPT);
        assert!(journal.close().is_some_and(|lost| lost.contains(&format!("{} lines", LINES_KEPT + 5))));
    }
}
