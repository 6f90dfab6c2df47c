//! The workspace folder: its layout, its files as the world knows them, settings, scenes, watching for edits by people,
//! and saving without rewriting what a person wrote.
//!
//! Reading order: [`layout`] (the folder), [`scene_file`] (text to data), [`scene_diff`] (what a person changed),
//! [`scene_patch`] (writing the room's changes into the text), [`vfs`] (the file service), [`room_sync`] and
//! `apply_service_events` (which connect them to the world), and `write_failures` (failed writes by the room itself).

mod accidental_edits;
pub mod answer_files;
mod apply_service_events;
pub mod archive;
mod archive_file;
pub mod cleaning;
mod decor;
pub mod files;
mod history_settings;
pub mod layout;
pub mod path;
pub mod problems;
pub mod protected_paths;
pub mod room_sync;
mod saved;
pub mod scene;
pub mod scene_diff;
pub mod scene_file;
mod scene_merge;
pub mod scene_patch;
mod scene_state;
pub mod secrets;
pub mod session_files;
pub mod settings;
mod settings_choice;
pub mod settings_edit;
mod settings_file;
pub mod settings_former;
pub mod settings_widenings;
pub mod starter;
pub mod task_files;
pub mod text_merge;
pub mod trust;
pub mod undo;
mod unsaved;
mod unsaved_copies;
pub mod vfs;
pub mod workflow_templates;
mod worktrees_known;
mod write_failures;

pub use answer_files::{Answer, AnswerError, AnswerFolder, AnswerWatcher};
pub use decor::{DECOR_SIDE, Decor, DecorChange, MAX_DECOR};
pub use files::{FileChanged, FileWritten, KnownFiles, RoomStart, UnreadableFiles};
pub use problems::{ProblemReport, Problems};
pub use room_sync::{begin, forget_saved, order_saves, save_now};
pub use scene::{AgentEntry, ElementEntry, Relationship, SceneEdit, SceneWrite};
pub use scene_state::SceneState;
pub use settings::{SettingsExt, SettingsSection, SettingsSections};
pub use settings_edit::SettingsEdit;
pub use trust::WorkspaceTrust;
pub use unsaved::Unsaved;
pub use vfs::{SaveReport, has_news};
pub use worktrees_known::WorktreesKnown;

/// The reader and writer of YAML, for the layers above.
pub use crate::text::{yaml, yaml_syntax};

use bevy::app::App;
use bevy::ecs::schedule::IntoScheduleConfigs;

use crate::log::EventLog;
use crate::schedule::inputs::{CollectInputs, InputExt};
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::store::HistoryLimits;

/// Adds the workspace to the room's app.
pub fn plugin(app: &mut App) {
    app.init_resource::<KnownFiles>()
        .init_resource::<UnreadableFiles>()
        .init_resource::<trust::WorkspaceTrust>()
        .init_resource::<trust::WaitingTexts>()
        .init_resource::<settings_file::SettingsRead>()
        .init_resource::<Problems>()
        .init_resource::<SceneState>()
        .init_resource::<SettingsSections>()
        .init_resource::<unsaved::Unsaved>()
        .init_resource::<EventLog>()
        .init_resource::<vfs::FileBridge>()
        .init_resource::<vfs::PendingFileOrders>()
        .init_resource::<vfs::UserCommandResults>()
        .init_resource::<WorktreesKnown>()
        .init_resource::<write_failures::FailedWrites>()
        .add_settings::<vfs::FileLimits>()
        .add_settings::<HistoryLimits>()
        // Saves are applied before later changes.
        .add_input::<SaveReport>()
        .add_input::<FileChanged>()
        .add_input::<SettingsEdit>()
        .add_input::<trust::TrustChanged>()
        .add_input::<vfs::OutsideChange>()
        .add_input::<vfs::RecordChanged>()
        .add_input::<vfs::FileOutcome>()
        .add_input::<vfs::FileCommand>()
        .add_tick_message::<trust::TrustAdded>()
        .add_tick_message::<vfs::FileOrder>()
        .add_tick_message::<ProblemReport>()
        .add_tick_message::<SceneEdit>()
        .add_tick_message::<SceneWrite>()
        .add_tick_message::<FileWritten>()
        .add_systems(Tick, vfs::collect.in_set(CollectInputs).in_set(vfs::FileReportsReceived))
        .add_systems(
            Tick,
            (
                settings_file::apply_trust,
                apply_service_events::apply_service_events,
                write_failures::try_again,
                settings_edit::apply_edits,
                vfs::give_orders,
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Workspace)),
        )
        .add_systems(
            Tick,
            (room_sync::write_scene, room_sync::keep_problems, vfs::send, history_settings::send_history_limits)
                .chain()
                .in_set(InPhase(WorkshopSystems::Record, Layer::Workspace)),
        );
    sections::register::<saved::WorkspaceSaved>(app);
    sections::register::<vfs::FilesSaved>(app);
    sections::register::<WorktreesKnown>(app);
    sections::register::<write_failures::FailedWrites>(app);
}
