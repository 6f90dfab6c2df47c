//! The section `tasks` of `settings.yaml`: limits on tasks that become work by themselves.

use crate::workspace::SettingsSection;

settings! {
    /// Whether tasks in files become work, and how many at a time.
    pub struct TaskSettings {
        /// Whether an open task that names an agent becomes that agent's work by itself.
        pub begin: bool = true;
        /// Tasks from files that agents work on at the same time; `kernel.max_concurrent_activations` limits all work.
        pub max_concurrent_tasks: u32 = 8, in 1.0..=1_000.0, once "at_once";
        /// How many times agents may answer each other's messages before this is stopped.
        pub max_message_hops: u32 = 12, in 1.0..=1_000.0, once "message_hops_at_most";
        /// Whether a planner in the room is asked regularly about progress while work is open;
        /// `storage/planner-checkin.yaml` sets how often.
        pub planner_checkins: bool = true;
    }
}

impl SettingsSection for TaskSettings {
    const NAME: &'static str = "tasks";
}
