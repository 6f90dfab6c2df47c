//! The room: agents, elements, and what happens between them, without models or databases.

pub mod agent;
pub mod element;
pub mod navigation;
pub mod simulation;

// The modules of lower floors, under the names that all floors use.
pub(crate) use workshop_files::workspace;
pub(crate) use workshop_foundation::{base, log, schedule};
pub(crate) use workshop_knowledge::knowledge;
pub(crate) use workshop_mdx::{document, engine, skills, source};
