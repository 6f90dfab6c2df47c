//! Going back behind what an agent did to files: which pieces of work it did, what undoing them comes to for each file,
//! and putting the files back as a change of the person's that can itself be taken back.
//!
//! Reading order: `agent_history` (what happened to each file, and the points an agent's history can go back to),
//! `plan` (what undoing means for one file: pure), `apply_plan` (doing it, and the record by which it is taken back).

mod agent_history;
mod apply_plan;
mod plan;
#[cfg(test)]
mod tests;

pub use agent_history::{AgentHistories, AgentHistory, RestorePoint};
pub use apply_plan::{
    SkippedFile, UndoError, Undone, UndoneFile, apply_plan, last_undone, take_back, turn_undone, unified_diff,
};
pub use plan::{FileAction, FilePlan, FileTimeline, Outcome, TimelineEntry, UndoPlan, plan_file, reverted};
