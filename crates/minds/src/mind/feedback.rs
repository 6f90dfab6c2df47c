//! Feedback for an agent about its replies, so that no intent is refused silently.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// Remarks for the next prompt, oldest first. Written by this module only.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Feedback(Vec<String>);

impl Feedback {
    /// Returns the remarks, oldest first.
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// Adds a remark; the oldest is dropped if there are more than `at_most`.
    pub(super) fn add(&mut self, remark: String, at_most: usize) {
        if !self.0.contains(&remark) {
            self.0.push(remark);
        }
        let over = self.0.len().saturating_sub(at_most);
        self.0.drain(..over);
    }

    /// Removes the remarks that the agent has received.
    pub(super) fn remove_delivered(&mut self, lines: &[String]) {
        self.0.retain(|line| !lines.contains(line));
    }
}
