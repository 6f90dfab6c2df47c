//! Agents in a folder: `agent.mdx` with its own tools, `skills/`, `heartbeat.md` and `modules/`.
//!
//! This crate is independent of the room and the network, and takes and returns plain data: texts are parsed to
//! documents with problems, and the engine runs a document's code on its own thread, passing every request to the
//! outside to the caller.

#[macro_use]
extern crate workshop_foundation;

pub mod document;
pub mod engine;
pub mod heartbeat;
pub mod modules;
pub mod skills;
pub mod source;

// Re-exports of the layers below.
pub(crate) use workshop_foundation::{base, text};
