//! Reports problems of elements once, and withdraws them when they are fixed.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::Problem;
use crate::workspace::{ProblemReport, RoomStart};

/// The current problems of elements, by source; reported again after a world was loaded.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Reported(pub(super) BTreeMap<String, Vec<Problem>>);

pub(super) fn report(world: &mut World, id: &str, problems: Vec<Problem>) {
    let source = format!("element {id}");
    let mut reported = world.resource_mut::<Reported>();
    let was = reported.0.remove(&source);
    if problems.is_empty() && was.is_none() {
        return;
    }
    if !problems.is_empty() {
        reported.0.insert(source.clone(), problems.clone());
    }
    world.write_message(ProblemReport { source, problems });
}

pub(super) fn scene_path(world: &World) -> String {
    world.get_resource::<RoomStart>().map_or("scene", |start| start.scene.as_str()).to_owned()
}
