//! Programs that are started here. Commands of agents run in `agent_programs`, with the parts that all programs share
//! (`process`); the [`sandbox`] decides what each can reach, and [`code`] finds the files of the workspace that a
//! command would run.

mod agent_programs;
pub mod code;
mod git_protection;
pub(super) mod process;
pub mod sandbox;

pub(super) use agent_programs::{LAST_WORDS, MAX_SAID, ProgramPlace, begin_observing, end_observing, run, start};
pub use agent_programs::{ProgramEnd, ProgramEnded, ProgramOrder, ProgramSettings};
