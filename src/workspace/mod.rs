//! The folder that holds everything: its layout, its files as the world knows them, settings, scenes,
//! watching for a person's edits, and saving without ever rewriting what a person wrote.

pub mod files;
pub mod problems;
pub mod scene;
pub mod settings;

pub use files::{FileChanged, KnownFiles, RoomStart};
pub use problems::{ProblemReport, Problems};
pub use scene::{AgentEntry, ElementEntry, Relationship, SceneEdit, SceneWrite};
pub use settings::{SettingsExt, SettingsSection};

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
