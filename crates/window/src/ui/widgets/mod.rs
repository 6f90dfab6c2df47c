//! What panes are built from: controls, icons, Markdown, and numbers and states in words.

mod controls;
pub mod icons;
pub mod markdown;
pub mod provider_health;
pub mod words;

pub use controls::*;
