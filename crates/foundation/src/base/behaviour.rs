//! What an agent does when nothing calls: a word that scene files, profiles and the room share.

use serde::{Deserialize, Serialize};

/// What an agent does when nothing calls.
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
