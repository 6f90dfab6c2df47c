//! The room: agents, elements, and what happens between them, without models or databases.

pub mod agent;
pub mod element;
pub mod navigation;
pub mod simulation;

// The floors below, by the names that everything knows them by.
pub(crate) use workshop_files::workspace;
pub(crate) use workshop_foundation::{base, log, schedule};
pub(crate) use workshop_knowledge::knowledge;
pub(crate) use workshop_mdx::{document, engine, skills, source};
