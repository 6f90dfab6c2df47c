//! The section `workflow` of `settings.yaml`: limits of workflows.

use super::limits::Limits;
use crate::workspace::SettingsSection;

settings! {
    /// How much of workflows runs at once, and how large the outputs of steps may be.
    pub struct WorkflowSettings {
        /// Steps of one workflow that agents work on at the same time; `kernel.max_concurrent_activations` limits all work.
        pub max_parallel_steps: u32 = 4, in 1.0..=1_000.0;
        /// List entries that one step can be repeated for.
        pub max_for_each: u32 = 50, in 1.0..=10_000.0, once "for_each_at_most";
        /// Characters of one output of a step.
        pub max_output_chars: usize = 20_000, in 100.0..=1_000_000.0, once "output_chars_at_most";
        /// Workflows that run at the same time.
        pub max_runs: u32 = 20, in 1.0..=1_000.0, once "runs_at_most";
        /// How many times one workflow can be triggered per hour of simulated time.
        pub max_triggered_per_hour: u32 = 12, in 0.0..=1_000_000.0, once "triggered_per_hour";
        /// Finished workflows that are kept for display.
        pub max_finished: u32 = 20, in 0.0..=1_000_000.0, once "finished_known";
        /// The minimum time between saves of a workflow's progress; long ones are saved less often.
        pub state_write_secs: f32 = 5.0, in 0.0..=604_800.0;
    }
}

impl SettingsSection for WorkflowSettings {
    const NAME: &'static str = "workflow";
}

impl WorkflowSettings {
    /// The limits of a run.
    pub fn limits(&self) -> Limits {
        Limits {
            parallel: self.max_parallel_steps as usize,
            for_each: self.max_for_each as usize,
            output_chars: self.max_output_chars,
        }
    }
}
