//! The section `workflow` of `settings.yaml`: limits of workflows.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::limits::Limits;
use crate::workspace::{Range, SettingsSection};

/// How much of workflows runs at once, and how large the outputs of steps may be.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowSettings {
    /// Steps of one workflow that agents work on at the same time; `kernel.concurrency` limits all work.
    pub max_parallel_steps: u32,
    /// List entries that one step can be repeated for.
    pub for_each_at_most: u32,
    /// Characters of one output of a step.
    pub output_chars_at_most: usize,
    /// Workflows that run at the same time.
    pub runs_at_most: u32,
    /// How many times one workflow can be triggered per hour of simulated time.
    pub triggered_per_hour: u32,
    /// Finished workflows that are kept for display.
    pub finished_known: u32,
    /// The minimum time between saves of a workflow's progress; long ones are saved less often.
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
    /// The limits of a run.
    pub fn limits(&self) -> Limits {
        Limits {
            parallel: self.max_parallel_steps as usize,
            for_each: self.for_each_at_most as usize,
            output_chars: self.output_chars_at_most,
        }
    }
}
