//! The furniture of the room: from the scene, and as a person arranges it.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::SpatialIndex;
use crate::log::events::{self, Furnishing};
use crate::log::{EventDraft, EventLog};
use crate::schedule::Input;
use crate::workspace::{Decor, DecorChange, SceneEdit, SceneState, SceneWrite};

/// A person's change of the furniture. As an input it is recorded.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FurnishCommand(pub DecorChange);

impl Input for FurnishCommand {
    const KIND: &'static str = "decor";
}

/// Converts a command to its form in the log.
impl From<&FurnishCommand> for events::Input {
    fn from(command: &FurnishCommand) -> Self {
        let (decor, did) = match &command.0 {
            DecorChange::Add { decor, .. } => (decor, Furnishing::Added),
            DecorChange::Change { now, .. } => (now, Furnishing::Changed),
            DecorChange::Remove { decor } => (decor, Furnishing::Removed),
        };
        Self::Furnished { furniture: decor.kind.clone(), did }
    }
}

/// Applies changes of furniture in the scene file.
pub(super) fn apply_scene_edits(mut space: ResMut<SpatialIndex>, mut edits: MessageReader<SceneEdit>) {
    for edit in edits.read() {
        if let SceneEdit::Decor(decor) = edit {
            space.decor = Some(decor.clone());
            space.rearranged = true;
        }
    }
}

/// Applies a person's changes of furniture, in the room and in its scene.
pub(super) fn apply_furnish_commands(
    mut space: ResMut<SpatialIndex>,
    scene: Option<Res<SceneState>>,
    mut log: ResMut<EventLog>,
    mut commands: MessageReader<FurnishCommand>,
    mut writes: MessageWriter<SceneWrite>,
) {
    for command in commands.read() {
        let cause = log.write(EventDraft::of(&events::Input::from(command)));
        let of_scene = || scene.as_ref().map_or_else(Vec::new, |scene| Decor::all_of(&scene.doc.root));
        match command.0.apply(space.decor.get_or_insert_with(of_scene)) {
            Ok(()) => {
                space.rearranged = true;
                writes.write(SceneWrite::Decor(command.0.clone()));
            }
            Err(why) => {
                let remedy = "check the furniture in the room, or decor: in the scene";
                log.write(EventDraft::of(&events::Warning::new(why).with_remedy(remedy)).cause(cause));
            }
        }
    }
}
