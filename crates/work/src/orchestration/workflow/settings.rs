//! What bounds workflows: section `workflow` of `settings.yaml`.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::limits::Limits;
use crate::workspace::{Range, SettingsSection};

/// How much of workflows goes on at once, and how large what their steps give may be.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowSettings {
    /// Steps of one workflow that agents have at the same time; `kernel.concurrency` bounds all work.
    pub max_parallel_steps: u32,
    /// Entries of a list for each of which a step is done.
    pub for_each_at_most: u32,
    /// Characters of one output of a step.
    pub output_chars_at_most: usize,
    /// Workflows that go on at the same time.
    pub runs_at_most: u32,
    /// How often one workflow begins by itself in an hour of simulated time.
    pub triggered_per_hour: u32,
    /// Workflows that are over and still known, for whoever shows them.
    pub finished_known: u32,
    /// How far a workflow is, is written down again so long after the last time; of a long one more seldom.
    pub state_write_secs: f32,
}

impl Default for WorkflowSettings {
    fn default() -> Self {
        Self {
            max_parallel_steps: 4,
            for_each_at_most: 50,
            output_chars_at_most: 20_000,
            runs_at_most: 20,
            triggered_per_hour: 12,
            finished_known: 20,
            state_write_secs: 5.0,
        }
    }
}

impl SettingsSection for WorkflowSettings {
    const NAME: &'static str = "workflow";
    const RANGES: &'static [Range] = &[
        Range::of("max_parallel_steps", 1.0, 1_000.0),
        Range::of("for_each_at_most", 1.0, 10_000.0),
        Range::of("output_chars_at_most", 100.0, 1_000_000.0),
        Range::of("runs_at_most", 1.0, 1_000.0),
    ];
}

impl WorkflowSettings {
    /// What bounds a run.
    pub fn limits(&self) -> Limits {
        Limits {
            parallel: self.max_parallel_steps as usize,
            for_each: self.for_each_at_most as usize,
            output_chars: self.output_chars_at_most,
        }
    }
}
