//! Tools, the gate that judges what agents want to do with them, and the kernel that sees work through.

pub mod gate;
pub mod kernel;
pub mod tools;

// The floors below, by the names that everything knows them by.
pub(crate) use workshop_files::workspace;
pub(crate) use workshop_foundation::{base, log, schedule};
pub(crate) use workshop_minds::{gateway, mind};
pub(crate) use workshop_room::{agent, element, simulation};
