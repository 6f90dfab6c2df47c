//! The workspace's part of the saved world: the known texts, unsaved changes and problems, so that a reopened room
//! neither loses a change nor reports the same thing twice.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scene::SceneWrite;
use super::scene_file::SceneDoc;
use super::scene_state::SceneState;
use super::trust::WorkspaceTrust;
use super::unsaved::Unsaved;
use super::{KnownFiles, Problems, UnreadableFiles};
use crate::base::Problem;
use crate::base::hash::content_hash;
use crate::schedule::Section;

#[derive(Serialize, Deserialize)]
pub(super) struct WorkspaceSaved {
    /// The hash of each known text; the texts themselves are in [`super::RoomStart`].
    files: BTreeMap<String, u64>,
    unsaved: Unsaved,
    waiting: Vec<SceneWrite>,
    /// The last readable version of the scene, while its text cannot be read.
    scene: Option<Value>,
    problems: BTreeMap<String, Vec<Problem>>,
    #[serde(default, skip_serializing_if = "UnreadableFiles::is_empty")]
    unreadable: UnreadableFiles,
    /// For the recovery of a room that was killed; a room that is opened gets it from the person's own file.
    #[serde(default, skip_serializing_if = "WorkspaceTrust::is_everything")]
    trust: WorkspaceTrust,
}

impl Section for WorkspaceSaved {
    const NAME: &'static str = "workspace";

    fn save(world: &mut World) -> Self {
        let scene = world.resource::<SceneState>();
        let hash = |(path, text): (&String, &String)| (path.clone(), content_hash(text.as_bytes()));
        Self {
            files: world.resource::<KnownFiles>().all().iter().map(hash).collect(),
            unsaved: world.resource::<Unsaved>().clone(),
            waiting: scene.waiting.clone(),
            scene: (!scene.readable).then(|| scene.doc.root.clone()),
            problems: world.resource::<Problems>().0.clone(),
            unreadable: world.resource::<UnreadableFiles>().clone(),
            trust: world.resource::<WorkspaceTrust>().clone(),
        }
    }

    fn load(self, world: &mut World) {
        *world.resource_mut::<Unsaved>() = self.unsaved;
        world.resource_mut::<Problems>().0 = self.problems;
        *world.resource_mut::<UnreadableFiles>() = self.unreadable;
        *world.resource_mut::<WorkspaceTrust>() = self.trust;
        let mut scene = world.resource_mut::<SceneState>();
        scene.waiting = self.waiting;
        if let Some(root) = self.scene {
            scene.doc = SceneDoc::from_data(root);
        }
    }
}
