//! Going back behind what an agent did to files: which pieces of work it did, what undoing them comes to for each file,
//! and putting the files back as a change of the person's that can itself be taken back.
//!
//! Reading order: `past` (what happened to each file, and the points an agent's history can go back to), `plan` (what
//! undoing means for one file: pure), `carry_out` (doing it, and the record by which it is taken back).

mod carry_out;
mod past;
mod plan;
#[cfg(test)]
mod tests;

pub use carry_out::{
    NotDone, UndoError, Undone, UndoneFile, carry_out, last_undone, take_back, turn_undone, unified_diff,
};
pub use past::{AgentPast, Pasts, Point};
pub use plan::{Act, Deed, FilePlan, Outcome, Story, UndoPlan, plan_file, reverted};
