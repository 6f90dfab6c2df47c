//! What MCP servers and coding agents have in common, whichever protocol they use: a person allows exactly one
//! definition, it is started with a minimal environment, read line by line within limits, and ended with everything
//! that it started.
//!
//! In reading order: what a person allowed ([`consent`]) and the files of the workspace that this covers
//! (`named_files`), the person's variables in definitions (`variables`), the process (`process`), its lines (`lines`),
//! and its texts as they are displayed (`display_text`).

pub mod consent;
mod display_text;
mod failure;
mod lines;
mod named_files;
pub(super) mod process;
mod variables;

pub use consent::{Consent, allow_peer, consent_of, forbid_label, forbid_peer};
pub(super) use display_text::plain;
pub use failure::SetupFailure;
pub(super) use lines::LimitedLines;
pub use named_files::named_paths;
pub(super) use variables::expanded;
