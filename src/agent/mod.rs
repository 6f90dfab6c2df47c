//! Agents: what one is (its profile, from a file) and which are in the room (the roster).

pub mod profile;
pub mod registry;
pub mod roster;

pub use profile::AgentProfile;
pub use registry::Profiles;
pub use roster::{Agent, AgentAdded, AgentCommand, AgentRemoved, ProfileChanged, Roster};

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
