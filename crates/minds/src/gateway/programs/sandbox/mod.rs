//! The sandbox for programs that are started here: which kind this computer supports (`confinement`, `sandbox_trials`,
//! `sandbox_detection`), and for which servers and agents a person switched it off ([`unconfined`]).
//!
//! In reading order: what a program can see and write (`hidden_paths`, `program_access`), the process that starts and
//! ends it ([`supervisor`]), the kinds of sandbox (`bubblewrap` with `sandbox_root`; `landlock_access` with
//! `namespaces` and `confined_start`), and what is put back where neither keeps a program from changing the attributes
//! of guarded files (`guarded_attributes`, `attribute_watch`, `attribute_reports`).

pub(in crate::gateway) mod attribute_reports;
pub(in crate::gateway) mod attribute_watch;
mod bubblewrap;
#[cfg(target_os = "linux")]
mod confined_start;
mod confinement;
#[cfg(target_os = "linux")]
mod guarded_attributes;
mod hidden_paths;
#[cfg(target_os = "linux")]
mod landlock_access;
#[cfg(target_os = "linux")]
mod namespaces;
pub(super) mod program_access;
pub(in crate::gateway) mod sandbox_detection;
mod sandbox_root;
mod sandbox_trials;
pub mod supervisor;
pub mod unconfined;

pub(in crate::gateway) use confinement::own_program;
pub use confinement::{Confinement, Level, Limits, Rights, SANDBOX_VARIABLE, set_supervisor};
pub use supervisor::SUPERVISOR_ARGUMENT;
