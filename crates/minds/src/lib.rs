//! Minds: the memory and thinking of agents, the gateway (the only access to models), and the offline brain, which
//! needs no model.

#[macro_use]
extern crate workshop_foundation;

pub mod gateway;
pub mod memory;
pub mod mind;
pub mod offline;

// Re-exports of the layers below, so that paths are the same in every crate.
pub(crate) use workshop_files::workspace;
pub(crate) use workshop_foundation::{base, log, safe_fs, schedule, text};
pub(crate) use workshop_knowledge::knowledge;
pub(crate) use workshop_room::{agent, element, simulation};
