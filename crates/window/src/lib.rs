//! Draws the room on screen, and the panels and dialogs around it.

#[macro_use]
extern crate workshop_foundation;

pub mod ui;
pub mod view;

// The crates below, under the module names used throughout this crate.
pub(crate) use workshop_files::{store, workspace};
pub(crate) use workshop_foundation::{base, log, safe_fs, schedule, text};
pub(crate) use workshop_knowledge::knowledge;
pub(crate) use workshop_mdx::{document, engine};
pub(crate) use workshop_minds::{gateway, memory, mind};
pub(crate) use workshop_room::{agent, element, navigation, simulation};
pub(crate) use workshop_work::{desk, gate, kernel, learning, orchestration, tools};
