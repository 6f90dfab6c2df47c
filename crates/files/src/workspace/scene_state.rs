//! The scene as the world knows it, independent of its file.

use bevy::ecs::prelude::*;

use super::scene::SceneWrite;
use super::scene_file::SceneDoc;

/// The scene as the world knows it. Written by this module only.
#[derive(Resource, Default, Debug)]
pub struct SceneState {
    /// Its file, relative to the workspace.
    pub path: String,
    /// What it says, the room's own changes included.
    pub doc: SceneDoc,
    /// Whether the file's text can be read; if not, `doc` is what it said last.
    pub readable: bool,
    /// Writes that the text does not have yet.
    pub(super) waiting: Vec<SceneWrite>,
}

impl SceneState {
    /// Whether the text of the file matches the scene that the room uses.
    pub fn is_readable(&self) -> bool {
        self.readable
    }
}
