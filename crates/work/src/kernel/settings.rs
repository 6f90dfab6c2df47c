//! The section `kernel` of `settings.yaml`: limits on parallel work, its depth and its duration.

use crate::workspace::SettingsSection;

settings! {
    /// How much work runs at once, and when a piece of work is stopped.
    pub struct KernelSettings {
        /// The number of pieces of work that run at the same time.
        pub max_concurrent_activations: u32 = 3, in 1.0..=1_000.0, once "concurrency";
        /// How deep agents may start agents; an agent that a person starts has depth 0.
        pub max_depth: u32 = 5, in 0.0..=1_000_000.0, once "depth_at_most";
        /// The number of agents that one agent may start in one run.
        pub max_fan_out: u32 = 5, in 0.0..=1_000_000.0, once "fan_out_at_most";
        /// The maximum number of model calls in one piece of work.
        pub max_turns: u32 = 50, in 1.0..=10_000.0, once "turns_at_most";
        /// The number of steps without progress after which work is stopped; after each but the last, the agent is
        /// warned.
        pub max_strikes: u32 = 2, in 1.0..=1_000.0, once "strikes_at_most";
        /// Consecutive replies of one piece of work that may be cut off at the output limit; it continues after each,
        /// and ends after one more.
        pub max_cut_replies: u32 = 4, in 0.0..=1_000_000.0, once "cut_replies_at_most";
        /// Pieces of work that may wait or run in total.
        pub max_activations: u32 = 10_000, in 0.0..=1_000_000.0, once "activations_at_most";
        /// How many times a temporary failure of a provider in simulated time is retried; others wait at the gateway.
        pub max_retries: u32 = 3, in 0.0..=1_000_000.0, once "retries_at_most";
        /// The delay before the first such retry; doubles each time.
        pub min_retry_delay_secs: f32 = 10.0, in 0.0..=604_800.0, once "retry_secs";
        /// How long everything waits after a rate limit in simulated time that does not say how long.
        pub rate_limit_secs: f32 = 30.0, in 0.0..=604_800.0;
        /// Characters of a session that are sent; the oldest are left out beyond that, or sooner if the model takes
        /// less (`gateway.context_tokens`).
        pub max_session_chars: usize = 120_000, in 1_000.0..=100_000_000.0, once "session_chars_at_most";
        /// The minimum time between saves of a changed session; long ones are saved less often. All are saved when the
        /// room is closed.
        pub session_write_secs: f32 = 5.0, in 0.0..=604_800.0;
    }
}

impl SettingsSection for KernelSettings {
    const NAME: &'static str = "kernel";
}
