//! The user interface around and above the room: panels, overlays, notices and keyboard shortcuts. It is drawn with
//! `egui` from a [`RoomModel`](crate::view::model::RoomModel) and returns the person's actions as [`Command`]s.
//!
//! The folders depend on one another in one direction: `shell` → `panes` → `commands` → `state` → `widgets`.

pub mod approval_card;
mod approval_preview;
mod approval_reader;
pub mod commands;
pub mod context;
pub mod faces;
pub mod menus;
pub mod panes;
pub mod server_form;
pub mod shell;
pub mod slash_commands;
pub mod state;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
pub mod testing_keyboard;
mod texts;
pub mod widgets;

pub use commands::Command;
pub use context::ViewerContext;
pub use state::UiState;
