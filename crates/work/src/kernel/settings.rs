//! The section `kernel` of `settings.yaml`: limits on parallel work, its depth and its duration.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// How much work runs at once, and when a piece of work is stopped.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelSettings {
    /// The number of pieces of work that run at the same time.
    pub concurrency: u32,
    /// How deep agents may start agents; an agent that a person starts has depth 0.
    pub depth_at_most: u32,
    /// The number of agents that one agent may start in one run.
    pub fan_out_at_most: u32,
    /// The maximum number of model calls in one piece of work.
    pub turns_at_most: u32,
    /// The number of steps without progress after which work is stopped; after each but the last, the agent is warned.
    pub strikes_at_most: u32,
    /// Consecutive replies of one piece of work that may be cut off at the output limit; it continues after each, and
    /// ends after one more.
    pub cut_replies_at_most: u32,
    /// Pieces of work that may wait or run in total.
    pub activations_at_most: u32,
    /// How many times a temporary failure of a provider in simulated time is retried; others wait at the gateway.
    pub retries_at_most: u32,
    /// The delay before the first such retry; doubles each time.
    pub retry_secs: f32,
    /// How long everything waits after a rate limit in simulated time that does not say how long.
    pub rate_limit_secs: f32,
    /// Characters of a session that are sent; the oldest are left out beyond that, or sooner if the model takes less
    /// (`gateway.context_tokens`).
    pub session_chars_at_most: usize,
    /// The minimum time between saves of a changed session; long ones are saved less often. All are saved when the room
    /// is closed.
    pub session_write_secs: f32,
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self {
            concurrency: 3,
            depth_at_most: 5,
            fan_out_at_most: 5,
            turns_at_most: 50,
            strikes_at_most: 2,
            cut_replies_at_most: 4,
            activations_at_most: 10_000,
            retries_at_most: 3,
            retry_secs: 10.0,
            rate_limit_secs: 30.0,
            session_chars_at_most: 120_000,
            session_write_secs: 5.0,
        }
    }
}

impl SettingsSection for KernelSettings {
    const NAME: &'static str = "kernel";
    const RANGES: &'static [Range] = &[
        Range::of("concurrency", 1.0, 1_000.0),
        Range::of("turns_at_most", 1.0, 10_000.0),
        Range::of("strikes_at_most", 1.0, 1_000.0),
        // With 0, no work could ever start.
        Range::of("activations_at_most", 0.0, 1_000_000.0),
        Range::of("session_chars_at_most", 1_000.0, 100_000_000.0),
    ];
}
