//! All workflow runs of a room, running and finished, and the timers of triggers. Saved with the room.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::format::WorkflowFile;
use super::run_files::RunFile;
use super::run_key::RunKey;
use super::run_state::Run;
use crate::base::{Problem, RunTag};
use crate::schedule::Section;
use crate::workspace::KnownFiles;
use crate::workspace::vfs::{OwnedOrders, PendingFileOrders};

/// The workflows of the workspace, by file, derived from the known files. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default)]
pub struct Workflows {
    pub(super) files: BTreeMap<String, WorkflowFile>,
    /// Problems that depend on agents and other workflows, by file.
    pub(super) problems: BTreeMap<String, Vec<Problem>>,
    pub(super) is_read: bool,
    /// Texts saved by a person that the room has not read yet.
    pub(super) edited: BTreeMap<String, String>,
}

impl Workflows {
    /// All workflows, by file.
    pub fn files(&self) -> &BTreeMap<String, WorkflowFile> {
        &self.files
    }

    /// The text of a file, including a person's change that the room has not read yet.
    pub fn text<'a>(&'a self, known: &'a KnownFiles, path: &str) -> Option<&'a str> {
        self.edited.get(path).map(String::as_str).or_else(|| known.text(path))
    }

    /// All problems of a file.
    pub fn problems(&self, path: &str) -> Vec<Problem> {
        let own = self.files.get(path).map(|file| file.problems.clone()).unwrap_or_default();
        own.into_iter().chain(self.problems.get(path).cloned().unwrap_or_default()).collect()
    }
}

/// The state of a run's progress file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Written {
    /// Whether the run has changed since the last write.
    pub(super) is_behind: bool,
    /// The tick of the last write; 0 if never written.
    pub(super) tick: u64,
    /// The size at the last write.
    pub(super) bytes: u64,
}

/// The timer of a triggered workflow.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Timer {
    /// The tick in which it is due, if triggered by time.
    pub(super) due: Option<u64>,
    /// The ticks of its recent starts by a trigger.
    pub(super) began: VecDeque<u64>,
    /// Whether starting too often was already reported.
    pub(super) is_told: bool,
}

/// All known runs. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowRuns {
    pub(super) runs: BTreeMap<RunKey, Run>,
    /// The number of the newest run ever started in the room.
    pub(super) newest: u64,
    pub(super) written: BTreeMap<RunKey, Written>,
    pub(super) timers: BTreeMap<String, Timer>,
    /// The file orders under way.
    #[serde(skip_serializing_if = "OwnedOrders::is_empty")]
    pub(super) file_orders: OwnedOrders<RunFile>,
}

impl WorkflowRuns {
    /// All known runs, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.values()
    }

    /// A run.
    pub fn get(&self, key: RunKey) -> Option<&Run> {
        self.runs.get(&key)
    }

    /// Whether a run is running, or waits for a person.
    pub fn is_running(&self) -> bool {
        self.runs.values().any(Run::is_running)
    }

    /// Whether a run has unfinished steps other than those that wait for a person.
    pub fn is_at_work(&self) -> bool {
        let is_at_work =
            |run: &Run| run.is_running() && (run.active().next().is_some() || run.asked().next().is_none());
        self.runs.values().any(is_at_work)
    }

    /// The key of the next run, started in this run of the room.
    pub(super) fn next_key(&mut self, room: RunTag) -> RunKey {
        self.newest += 1;
        RunKey::new(self.newest, room)
    }

    /// Drops the oldest finished runs beyond this number.
    pub(super) fn forget(&mut self, known: usize) {
        let is_over = |(_, run): &(&RunKey, &Run)| !run.is_running() && run.result.is_some();
        let over: Vec<RunKey> = self.runs.iter().filter(is_over).map(|(key, _)| *key).collect();
        for key in over.iter().take(over.len().saturating_sub(known)) {
            self.runs.remove(key);
            self.written.remove(key);
        }
    }
}

impl Section for WorkflowRuns {
    const NAME: &'static str = "workflows";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(mut self, world: &mut World) {
        if let Some(under_way) = world.get_resource::<PendingFileOrders>() {
            self.file_orders.adopt(under_way, RunFile::of_key);
        }
        world.insert_resource(self);
    }
}
