//! The room: agents, elements, and the interactions between them, without models or databases.

#[macro_use]
extern crate workshop_foundation;

pub mod agent;
pub mod element;
pub mod navigation;
pub mod simulation;

// Re-exports of the layers below, so that paths are the same in every crate.
pub(crate) use workshop_files::workspace;
pub(crate) use workshop_foundation::{base, log, schedule, text};
pub(crate) use workshop_knowledge::knowledge;
pub(crate) use workshop_mdx::{document, engine, skills, source};
