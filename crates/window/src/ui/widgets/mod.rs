//! Shared widgets of the panes: controls, icons, Markdown, merge conflicts, formatting of numbers and states, and fuzzy
//! search.

pub mod conflicts;
mod controls;
pub mod dialog;
pub mod edge_panel;
pub mod focus;
pub mod fuzzy_search;
pub mod icons;
mod long_text;
pub mod markdown;
pub mod menu;
pub mod provider_health;
pub mod room_status;
pub mod text_format;
mod texts;

pub use controls::*;
pub use long_text::long_text;
