//! Modules: files of TypeScript in an agent's folder that give it tools, words for its prompt and work in the background.
//!
//! Every file directly in `modules/` is a module; those in folders below are there to be imported. Each module has a
//! runtime of its own, in which it stays. One that throws, hangs or misses a method is named and left out; the others
//! go on.

mod folder;
mod set;

#[cfg(test)]
mod tests;

pub use folder::{ModuleFolder, ModuleProblem};
pub use set::{ModuleEvent, ModuleOptions, ModuleSet, ModuleState};
