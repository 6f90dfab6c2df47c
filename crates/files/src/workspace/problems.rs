//! The current problems of the workspace, by source.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;

use crate::base::Problem;

/// The problems of one source. They replace the previous report of the same source; an empty list means that there are
/// no problems.
#[derive(Message, Clone, Debug)]
pub struct ProblemReport {
    /// The source: a file's path, a setting, a provider.
    pub source: String,
    /// Its current problems.
    pub problems: Vec<Problem>,
}

/// All current problems, by source. Written by this module only.
#[derive(Resource, Default, Debug)]
pub struct Problems(pub(super) BTreeMap<String, Vec<Problem>>);

impl Problems {
    /// Iterates over all problems, sorted by source.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.values().flatten()
    }
}
