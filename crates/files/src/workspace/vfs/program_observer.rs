//! Observes which files a program of an agent changes, for those who start the program.

use std::collections::BTreeMap;

use super::index::now_ns;
use super::running_programs::{ChangedByProgram, ProgramOwner};
use super::service::FileHandle;
use crate::base::{Author, Id};

/// Observes what a program changes. Usable on any thread that may block.
#[derive(Clone)]
pub struct ProgramObserver {
    files: FileHandle,
    /// Who runs the program.
    pub owner: ProgramOwner,
}

impl ProgramObserver {
    /// Creates an observer for a program of an agent.
    pub fn new(files: FileHandle, author: Author, activation: Option<Id>) -> Self {
        Self { files, owner: ProgramOwner { author, activation, is_confined: false } }
    }

    /// Returns the agents that wrote the present texts of these files, by path. Nobody, if the workspace was closed.
    pub fn agent_writers(&self, paths: Vec<String>) -> BTreeMap<String, Id> {
        self.files.agent_writers(paths).unwrap_or_default()
    }

    /// Returns the wanted files whose present texts agents wrote. None, if the workspace was closed.
    pub fn agent_files(&self, is_wanted: fn(&str) -> bool) -> Vec<String> {
        self.files.agent_files(is_wanted).unwrap_or_default()
    }

    /// Examines all files before the program starts. Returns `None` if the workspace was closed.
    pub fn begin(self) -> Option<ObservedProgram> {
        let number = self.files.begin_program(self.owner)?;
        Some(ObservedProgram { files: self.files, number: Some(number) })
    }
}

impl PartialEq for ProgramObserver {
    fn eq(&self, other: &Self) -> bool {
        self.owner == other.owner
    }
}

impl std::fmt::Debug for ProgramObserver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ProgramObserver").field(&self.owner).finish()
    }
}

/// A program whose changes are attributed to its agent until this is ended or dropped.
pub struct ObservedProgram {
    files: FileHandle,
    /// `None` once it was ended.
    number: Option<u64>,
}

impl ObservedProgram {
    /// The program has just ended. Waits until all files were examined, and returns what it changed.
    pub fn end(mut self) -> ChangedByProgram {
        let ended_ns = now_ns();
        self.number.take().and_then(|number| self.files.end_program(number, ended_ns)).unwrap_or_default()
    }
}

impl Drop for ObservedProgram {
    fn drop(&mut self) {
        if let Some(number) = self.number.take() {
            self.files.forget_program(number);
        }
    }
}
