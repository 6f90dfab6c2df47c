//! What panes are built from: controls, icons, Markdown, conflicts of texts, numbers and states in words, and what is
//! meant by a few letters.

pub mod conflicts;
mod controls;
pub mod dialog;
pub mod edge_panel;
pub mod focus;
pub mod fuzzy_search;
pub mod icons;
pub mod markdown;
pub mod menu;
pub mod provider_health;
pub mod room_status;
pub mod text_format;
mod texts;

pub use controls::*;
