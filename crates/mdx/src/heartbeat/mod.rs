//! Heartbeats: when an agent wakes up by itself, from the schedule and routines in `heartbeat.md`.
//!
//! Nothing here reads a clock: the time and the time zone are arguments, so that a simulated year behaves like a real
//! one; only [`utc_to_local`] reads the zone of this computer. Missed times (during sleep, before the start, in a
//! daylight-saving gap) are due once.

mod due;
mod read;
mod trigger;
mod trigger_parser;

#[cfg(test)]
mod tests;

pub use due::{ClockReading, Due, due, due_by_clock, due_by_reading, utc_to_local};
pub use read::{Heartbeat, Routine, read};
pub use trigger::Trigger;
pub use trigger_parser::{EXAMPLES, TriggerError, parse as parse_trigger};
