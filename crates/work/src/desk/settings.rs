//! The section `tasks` of `settings.yaml`: limits on tasks that become work by themselves.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// Whether tasks in files become work, and how many at a time.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskSettings {
    /// Whether an open task that names an agent becomes that agent's work by itself.
    pub begin: bool,
    /// Tasks from files that agents work on at the same time; `kernel.concurrency` limits all work.
    pub at_once: u32,
    /// How many times agents may answer each other's messages before this is stopped.
    pub message_hops_at_most: u32,
    /// Whether a planner in the room is asked regularly about progress while work is open;
    /// `storage/planner-checkin.yaml` sets how often.
    pub planner_checkins: bool,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self { begin: true, at_once: 8, message_hops_at_most: 12, planner_checkins: true }
    }
}

impl SettingsSection for TaskSettings {
    const NAME: &'static str = "tasks";
    const RANGES: &'static [Range] =
        &[Range::of("at_once", 1.0, 1_000.0), Range::of("message_hops_at_most", 1.0, 1_000.0)];
}
