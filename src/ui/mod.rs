//! Everything around and over the room: panels, overlays, notices, keys. Drawn with `egui` from a
//! [`RoomModel`](crate::view::model::RoomModel); what a person does comes out as [`Command`]s.

pub mod canvas;
pub mod canvas_menu;
pub mod command;
pub mod shell;
pub mod state;
pub mod undo;

pub use command::Command;
pub use state::UiState;
