//! What MCP servers and coding agents have in common, whichever protocol they speak: a person allows exactly one as it is
//! written down, it is started with little but that, heard line by line within bounds, and ended with all that it started.
//!
//! In reading order: what a person allowed ([`consent`]) and the files of the workspace that this covers
//! (`named_files`), variables of the person's in what is written down (`variables`), the process (`process`), its lines
//! (`lines`), and its words as they are shown (`display_text`).

pub mod consent;
mod display_text;
mod failure;
mod lines;
mod named_files;
pub(super) mod process;
mod variables;

pub use consent::{Consent, allow_peer, consent_of, forbid_peer};
pub(super) use display_text::plain;
pub use failure::SetupFailure;
pub(super) use lines::LimitedLines;
pub use named_files::named_paths;
pub(super) use variables::expanded;
