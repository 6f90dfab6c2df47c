//! An agent's idle behaviour, as named in scene files, profiles and the room.

use serde::{Deserialize, Serialize};

/// What an agent does when it is idle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// Stays in place.
    Stationary,
    /// Strolls around its home.
    #[default]
    Wander,
    /// Walks in a circle around its home.
    Patrol,
}
