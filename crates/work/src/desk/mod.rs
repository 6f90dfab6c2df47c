//! The desk: what agents and a person keep in files between them, as tasks.

pub mod approvals;
pub mod tasks;

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    app.add_plugins(approvals::plugin);
}
