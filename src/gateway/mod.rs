//! The only module that knows tokio, HTTP and vendors: takes questions out, brings answers in.

pub mod offline;
pub mod provider;
pub mod scripted;

pub use offline::OfflineProvider;
pub use scripted::ScriptedProvider;

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
