//! When an agent wakes by itself: `heartbeat.md` with its schedule and its routines.
//!
//! Nothing here looks at a clock: the moment and the time zone are arguments, so that a simulated year wakes as a real
//! one does. What was missed (asleep, not started, in a gap of daylight saving) is due once.

mod due;
mod read;
mod trigger;
mod trigger_parser;

#[cfg(test)]
mod tests;

pub use due::{Due, due, due_by_clock};
pub use read::{Heartbeat, Routine, read};
pub use trigger::Trigger;
pub use trigger_parser::{EXAMPLES, NotUnderstood, parse as parse_trigger};
