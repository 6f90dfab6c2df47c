//! The desk: what agents and a person keep in files between them, as tasks.

pub mod tasks;
