//! The common parts of MCP servers and coding agents, independent of their protocols: a person allows exactly one
//! definition; its process is started with a minimal environment, its output is read line by line within limits, and it
//! is ended with everything that it started.
//!
//! In reading order: the person's permissions ([`consent`]) and the files of the workspace that they cover
//! (`named_files`, `loaded_files`), the person's variables in definitions (`variables`), the process (`process`), its output lines
//! (`lines`), and cleaning its texts for display (`display_text`).

pub mod consent;
mod display_text;
mod failure;
mod lines;
mod loaded_files;
mod named_files;
pub(super) mod process;
mod variables;

pub use consent::{Consent, allow_peer, changed_code, consent_of, forbid_label, forbid_peer};
pub(super) use display_text::plain;
pub use failure::SetupFailure;
pub(super) use lines::LimitedLines;
pub use named_files::named_paths;
pub(super) use variables::expanded;
