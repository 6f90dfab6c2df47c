//! The files of the workspace that a command would run, so that a permission never covers other code
//! ([`command_code`]).
//!
//! In reading order: one such file (`seen_file`), the names in its text (`code_references`), where they are looked up
//! (`code_folder`, `installed_packages`), the sources that tools find by themselves (`source_tools`, `source_kinds`),
//! all files that are loaded in the end (`loaded_code`), programs that a repository's settings name
//! (`repository_programs`), and the limits of all this (`code_gaps`).

pub(in crate::gateway) mod code_folder;
mod code_gaps;
pub(in crate::gateway) mod code_references;
pub mod command_code;
mod installed_packages;
pub(in crate::gateway) mod loaded_code;
mod repository_programs;
pub(in crate::gateway) mod seen_file;
pub(in crate::gateway) mod source_kinds;
pub(in crate::gateway) mod source_tools;
