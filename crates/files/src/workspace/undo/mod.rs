//! Undoes an agent's changes of files: lists its activations, computes the effect of undoing them on each file, and
//! restores the files as a change by the person that can itself be reverted.
//!
//! Reading order: `agent_history` (the history of each file, and the points to which an agent's work can be undone),
//! `plan` (the effect of undoing on one file: pure), `apply_plan` (applying it, and the record for reverting it).

mod agent_history;
mod apply_plan;
mod plan;
#[cfg(test)]
mod tests;

pub use agent_history::{AgentHistories, AgentHistory, RestorePoint};
pub use apply_plan::{
    SkippedFile, UndoError, UndoRecord, UndoneFile, apply_plan, last_undone, revert_latest, toggle_undone, unified_diff,
};
pub use plan::{FileAction, FilePlan, FileTimeline, Outcome, TimelineEntry, UndoPlan, plan_file, revert};
