//! An agent's use of a piece of furniture, as data.

use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use crate::navigation::Use;

/// An agent's visit to a piece of furniture.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// Where it is there.
    pub at: Vec2,
    /// For what.
    pub used_for: Use,
    /// The tick at which it has been there for long enough; nothing while it is on its way.
    pub until: Option<u64>,
}
