//! Agents that are one folder: `agent.mdx` with its own tools, `skills/`, `heartbeat.md` and `modules/`.
//!
//! Everything here is data in, data out, and knows neither the room nor the network: texts become documents with
//! problems, and the engine runs a document's code on a thread of its own, where everything outside is asked of whoever
//! started the call.

pub mod document;
pub mod engine;
pub mod heartbeat;
pub mod modules;
pub mod skills;
pub mod source;
