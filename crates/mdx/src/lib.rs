//! Agents in a folder: `agent.mdx` with its own tools, `skills/`, `heartbeat.md` and `modules/`.
//!
//! Everything here takes and returns data, and is independent of the room and the network: texts are parsed to
//! documents with problems, and the engine runs a document's code on its own thread, where everything outside is
//! requested from the caller.

pub mod document;
pub mod engine;
pub mod heartbeat;
pub mod modules;
pub mod skills;
pub mod source;
