//! Words and time: ids, problems and text; a file system in which no link is followed; the clock, the schedule and the
//! one door by which everything comes in.

pub mod base;
pub mod log;
pub mod safe_fs;
pub mod schedule;
