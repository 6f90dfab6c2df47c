//! The current problems of the workspace, by where they were found.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;

use crate::base::Problem;

/// The problems found in one source. It replaces the previous report of the same source; an empty list means that there
/// are no problems.
#[derive(Message, Clone, Debug)]
pub struct ProblemReport {
    /// What was looked at: a file's path, a setting, a provider.
    pub source: String,
    /// What was found.
    pub problems: Vec<Problem>,
}

/// All current problems, by source. Written by this module only.
#[derive(Resource, Default, Debug)]
pub struct Problems(pub(super) BTreeMap<String, Vec<Problem>>);

impl Problems {
    /// All of them, in order of source.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.values().flatten()
    }
}
