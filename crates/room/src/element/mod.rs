//! Elements: things on the canvas that contain information. Their content, the acts on it, and messages about changes.
//!
//! A kind of element is one file (its content, acts, changes and colour) and one line in [`kinds::KINDS`], or one call
//! of [`kinds::register`].

pub mod act;
mod agent_file_edits;
pub mod change;
pub mod content;
pub mod directory;
pub mod editing;
pub mod inbox;
mod instructions;
mod items;
pub mod kind;
pub mod kinds;
pub mod lifecycle;
mod list_file;
pub mod mail;
mod merging;
pub mod message_ids;
pub mod messageboard;
pub mod pin;
pub mod pinboard;
pub mod privacy;
mod problem_reports;
#[cfg(test)]
mod properties;
pub mod recent_changes;
pub mod rulebook;
mod saved;
pub mod settings;
pub mod task_act;
pub mod taskboard;
#[cfg(test)]
mod tests;
pub mod text_content;

pub use act::{ActContext, ActKind, Actor, ElementAct, Marker, News, Offer};
pub use change::{ChangeKind, ElementChange, ItemNews, Wake};
pub use content::{Content, Element, ElementChanged, ElementEdit, ElementRefused, HeldContent, ItemLost, Reader};
pub use directory::Elements;
pub use editing::owns;
pub use items::{ItemList, ListAct};
pub use kind::Kind;
pub use lifecycle::ElementCommand;
pub use mail::{Mail, MailAct, MailStatus};
pub use message_ids::MessageCount;
pub use pin::{Pin, PinAct};
pub use privacy::{Privacy, PrivatePlaces};
pub use recent_changes::{RecentChange, RecentChanges};
pub use settings::ElementSettings;
pub use task_act::{TaskAct, TaskPlace};
pub use text_content::TextAct;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::{AgentAdded, AgentRemoved, ProfileChanged, TopElementHeight};
use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::workspace::{FileWritten, SettingsExt};

/// Registers the systems, resources and messages of elements.
pub fn plugin(app: &mut App) {
    app.add_settings::<ElementSettings>();
    app.add_input::<ElementCommand>().add_input::<ElementEdit>();
    app.add_tick_message::<ElementChanged>()
        .add_tick_message::<ElementRefused>()
        .add_tick_message::<ItemLost>()
        // Owned by lower layers, which also register them.
        .add_tick_message::<FileWritten>()
        .add_tick_message::<TopElementHeight>();
    app.init_resource::<Elements>()
        .init_resource::<MessageCount>()
        .init_resource::<editing::EditsRead>()
        .init_resource::<editing::Unwritten>()
        .init_resource::<problem_reports::Reported>()
        .init_resource::<directory::HeldBack>()
        .init_resource::<directory::Departed>()
        .init_resource::<RecentChanges>()
        .init_resource::<privacy::PrivatePlaces>();
    app.add_systems(
        Tick,
        (
            lifecycle::apply_scene_edits,
            (merging::follow_files, merging::follow_own_writes).chain(),
            lifecycle::apply_commands,
            privacy::note_places,
            editing::set_readers.run_if(owners_may_differ),
            editing::apply_edits,
            lifecycle::report_reach,
            instructions::report_unshown,
        )
            .chain()
            .in_set(InPhase(WorkshopSystems::Ingest, Layer::Element)),
    );
    app.add_systems(
        Tick,
        (editing::apply_edits, editing::write_back).chain().in_set(InPhase(WorkshopSystems::Apply, Layer::Element)),
    );
    sections::register::<saved::ElementsSaved>(app);
}

/// Whether agents or elements were added, removed or changed since the last check.
fn owners_may_differ(
    mut added: MessageReader<AgentAdded>,
    mut removed: MessageReader<AgentRemoved>,
    mut profiles: MessageReader<ProfileChanged>,
    mut elements: MessageReader<ElementChanged>,
) -> bool {
    let arranged =
        |changed: &ElementChanged| matches!(changed.change.as_str(), ElementChange::ADDED | ElementChange::REARRANGED);
    let news = added.read().count() + removed.read().count() + profiles.read().count();
    // Each reader is read to its end; otherwise old messages would be seen again.
    elements.read().filter(|changed| arranged(changed)).count() + news > 0
}
