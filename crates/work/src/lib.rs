//! Work of agents: tools, the gate that checks what agents do with them, the kernel that runs pieces of work, what
//! agents share when they work together, and the task files that they and a person keep.

#[macro_use]
extern crate workshop_foundation;

pub mod desk;
pub mod gate;
pub mod kernel;
pub mod learning;
pub mod orchestration;
pub mod tools;

// Re-exports of the layers below, so that paths are the same in every crate.
pub(crate) use workshop_files::workspace;
pub(crate) use workshop_foundation::{base, log, schedule, text};
pub(crate) use workshop_knowledge::knowledge;
pub(crate) use workshop_mdx::{document, engine, heartbeat, modules};
pub(crate) use workshop_minds::{gateway, memory, mind};
pub(crate) use workshop_room::{agent, element, simulation};
