//! Foundations shared by all packages: ids, problems and text; how files that people write are read; a file system that
//! follows no links; the event log; and the clock, the schedule and the single entry point for outside input.

#[macro_use]
pub mod base;
pub mod log;
pub mod safe_fs;
pub mod schedule;
pub mod text;
