//! The world's current scene, independent of its file.

use bevy::ecs::prelude::*;

use super::scene::SceneWrite;
use super::scene_file::SceneDoc;

/// The world's current scene. Written by this module only.
#[derive(Resource, Default, Debug)]
pub struct SceneState {
    /// The path of its file, relative to the workspace.
    pub path: String,
    /// The data, including the room's own changes.
    pub doc: SceneDoc,
    /// Whether the file's text can be read; if not, `doc` is the last readable version.
    pub readable: bool,
    /// Writes that are not applied to the text yet.
    pub(super) waiting: Vec<SceneWrite>,
}

impl SceneState {
    /// Whether the text of the file matches the scene that the room uses.
    pub fn is_readable(&self) -> bool {
        self.readable
    }
}
