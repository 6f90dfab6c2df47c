//! Modules: TypeScript files in an agent's folder that give it tools, prompt text and background work.
//!
//! Every file directly in `modules/` is a module, except files that modules share; other files of the agent's folder
//! can be imported. Each module has its own long-lived runtime. A module that throws, hangs or lacks a method is
//! reported and ignored; the others continue.

mod folder;
mod set;

#[cfg(all(test, not(feature = "typescript")))]
mod no_typescript_tests;
#[cfg(all(test, feature = "typescript"))]
mod tests;

pub use folder::{ModuleFolder, ModuleProblem, is_code, may_be_imported};
pub use set::{ModuleEvent, ModuleOptions, ModuleSet, ModuleState};
