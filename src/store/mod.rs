//! What happened, kept: the event log and the journal of inputs in SQLite. Knows no domain logic.

pub mod event;
pub mod log;

pub use event::{EventDraft, EventKind, EventRecord};
pub use log::EventLog;

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
