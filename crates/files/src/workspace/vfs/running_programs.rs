//! The programs of agents that are running, with what each changed so far, and the texts of files before they started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::protected_paths::guarded;
use super::index::Entry;
use crate::base::{Author, Id};

/// Who runs a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramOwner {
    /// The agent.
    pub author: Author,
    /// The activation that the program is part of.
    pub activation: Option<Id>,
    /// Whether a sandbox keeps the program from writing protected files.
    pub is_confined: bool,
}

/// The files that a program changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangedByProgram {
    /// Their paths, sorted.
    pub paths: Vec<String>,
    /// The number of further files.
    pub more: usize,
}

/// The programs that are running, and the texts of files before they started.
#[derive(Default)]
pub(super) struct Programs {
    /// In order of their start.
    pub(super) running: Vec<RunningProgram>,
    pub(super) started: u64,
    pub(super) earlier: EarlierTexts,
}

/// A program that is running.
pub(super) struct RunningProgram {
    pub(super) number: u64,
    pub(super) owner: ProgramOwner,
    pub(super) ended_ns: Option<i64>,
    /// What it did to each file, for which the newest version is its own.
    pub(super) changed: BTreeMap<String, LastChange>,
    pub(super) new_files: usize,
    pub(super) more: usize,
}

/// The last change of a file by a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastChange {
    Wrote { version: u64 },
    Deleted,
}

/// The author of a change that was found while programs were running.
pub(super) struct ProgramAuthor {
    pub(super) number: u64,
    pub(super) owner: ProgramOwner,
    /// Other agents whose programs may have made the change.
    pub(super) others: Vec<Id>,
}

impl Programs {
    /// The program that may have made a change.
    pub(super) fn author_of(&self, path: &str, changed_ns: Option<i64>) -> Option<ProgramAuthor> {
        let may_have = |program: &&RunningProgram| {
            let could_write = !program.owner.is_confined || guarded(path).is_none();
            let was_running = program.ended_ns.zip(changed_ns).is_none_or(|(ended, changed)| changed <= ended);
            could_write && was_running
        };
        let newest = self.running.iter().rev().find(may_have)?;
        let agents: BTreeSet<&Id> =
            self.running.iter().filter(may_have).map(|program| &program.owner.author.0).collect();
        let others = agents.into_iter().filter(|agent| **agent != newest.owner.author.0).cloned().collect();
        Some(ProgramAuthor { number: newest.number, owner: newest.owner.clone(), others })
    }

    /// The agent whose program may have made a change.
    pub(super) fn agent_of(&self, path: &str, changed_ns: Option<i64>) -> Option<Author> {
        self.author_of(path, changed_ns).map(|author| author.owner.author)
    }

    /// The running program with this number.
    pub(super) fn program(&mut self, number: u64) -> Option<&mut RunningProgram> {
        self.running.iter_mut().find(|program| program.number == number)
    }
}

/// The texts of files without a history, as they were before programs started.
#[derive(Default)]
pub(super) struct EarlierTexts {
    pub(super) texts: BTreeMap<String, (Entry, Option<Arc<str>>)>,
}

impl EarlierTexts {
    /// The size of all texts, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.texts.values().filter_map(|(_, text)| text.as_ref()).map(|text| text.len()).sum()
    }
}
