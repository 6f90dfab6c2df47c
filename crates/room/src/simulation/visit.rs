//! An agent's use of a piece of furniture, as data.

use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use crate::navigation::Use;

/// An agent's visit to a piece of furniture.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// The position of the agent there.
    pub at: Vec2,
    /// The use.
    pub used_for: Use,
    /// The tick at which the visit ends; `None` while the agent is on its way.
    pub until: Option<u64>,
}
