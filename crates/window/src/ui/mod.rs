//! Everything around and over the room: panels, overlays, notices, keys. Drawn with `egui` from a
//! [`RoomModel`](crate::view::model::RoomModel); what a person does comes out as [`Command`]s.

pub mod canvas;
pub mod canvas_menu;
pub mod command;
pub mod debug_overlay;
pub mod dialogs;
pub mod diff;
pub mod dock;
pub mod editor;
pub mod event_log;
pub mod explorer;
pub mod file_asking;
pub mod graph;
pub mod help;
pub mod icons;
pub mod inspector;
pub mod keys;
pub mod kit;
pub mod library;
pub mod markdown;
pub mod notice_list;
pub mod notices;
pub mod overlays;
pub mod palette;
mod panes;
pub mod provider;
pub mod provider_health;
pub mod run_bar;
pub mod settings;
pub mod shelf;
pub mod shell;
pub mod sidebar;
pub mod state;
pub mod studio;
#[cfg(test)]
pub mod testing;
pub mod top_bar;
pub mod undo;
pub mod words;

pub use command::Command;
pub use state::UiState;
