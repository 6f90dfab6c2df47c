//! What an agent does when it has nothing to do: a word shared by scene files, profiles and the room.

use serde::{Deserialize, Serialize};

/// What an agent does when it has nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// Stays where it is.
    Stationary,
    /// Strolls about its home.
    #[default]
    Wander,
    /// Walks a circle about its home.
    Patrol,
}
