//! What other crates add to every room of their program: tools, parts of prompts, inputs, events, systems.

use std::sync::{PoisonError, RwLock};

use bevy::app::App;

/// What was added in this program. It is code and not state of a room, so that a run with it can be replayed wherever it
/// is added.
static ADDED: RwLock<Vec<fn(&mut App)>> = RwLock::new(Vec::new());

/// Adds this to every room that is made from now on, before anything of the room is restored or replayed. A program calls
/// this before it opens a room or calls [`cli::main`](crate::cli::main), once for each extension.
pub fn extend(add: fn(&mut App)) {
    ADDED.write().unwrap_or_else(PoisonError::into_inner).push(add);
}

/// Adds everything that was added in this program to a room.
pub(super) fn add_to(app: &mut App) {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner).clone();
    added.into_iter().for_each(|add| add(app));
}
