//! What an agent carries with it: the memory slots.

pub mod slots;

pub use slots::{Memory, MemoryAct, MemoryEdit, Seen};

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
