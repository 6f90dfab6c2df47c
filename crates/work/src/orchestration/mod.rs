//! Collaboration of agents: channels for messages, and the blackboard of a run.
//!
//! In reading order: the rules ([`channels`], [`blackboard`]), a person's commands ([`command`]), applying them
//! (`operations`), delivery (`delivery`), entries archived after a run ([`board_archive_file`], `board_archive`),
//! boards that show a channel (`channel_boards`), and the texts for models ([`result_text`]). Handing tasks over to
//! other agents is part of the kernel. Files that chain agents are in [`workflow`].

pub mod blackboard;
mod board_archive;
pub mod board_archive_file;
mod channel_boards;
pub mod channels;
pub mod command;
mod delivery;
mod operations;
pub mod result_text;
mod saved;
pub mod settings;
pub mod workflow;

pub use blackboard::{Blackboards, Entry, RunBoard};
pub use board_archive::BoardArchive;
pub use board_archive_file::{ArchivedEntries, ArchivedEntry};
pub use channel_boards::BoardChannels;
pub use channels::{Channel, ChannelMessage, Channels};
pub use command::CollaborationCommand;
pub use settings::{BlackboardSettings, ChannelSettings};

use workflow::BeforeWorkflows;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::AgentRemoved;
use crate::element::ElementEdit;
use crate::gateway::ExchangeAccepted;
use crate::kernel::WorkNotice;
use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::simulation::WakeAgent;
use crate::tools::{AnswerOrders, COLLABORATION, OrderOutcome, Tools};
use crate::workspace::{FileChanged, ProblemReport, SceneEdit, SceneWrite, SettingsExt};

/// Registers the systems, resources and messages of channels, blackboards and workflows.
pub fn plugin(app: &mut App) {
    app.add_settings::<ChannelSettings>().add_settings::<BlackboardSettings>();
    app.init_resource::<Channels>().init_resource::<Blackboards>().init_resource::<channel_boards::BoardChannels>();
    app.init_resource::<BoardArchive>().init_resource::<board_archive::UnarchivedEntries>();
    app.add_input::<CollaborationCommand>();
    // Owned by lower layers, which also register them.
    app.add_tick_message::<AgentRemoved>()
        .add_tick_message::<OrderOutcome>()
        .add_tick_message::<WorkNotice>()
        .add_tick_message::<WakeAgent>()
        .add_tick_message::<ElementEdit>()
        .add_tick_message::<SceneEdit>()
        .add_tick_message::<FileChanged>()
        .add_tick_message::<ProblemReport>()
        .add_tick_message::<SceneWrite>()
        .add_tick_message::<ExchangeAccepted>();
    app.world_mut().resource_mut::<Tools>().add_executor(COLLABORATION);
    let during = |phase| InPhase(phase, Layer::Orchestration);
    app.add_systems(
        Tick,
        (
            operations::answer.in_set(AnswerOrders).in_set(BeforeWorkflows::Answer),
            (
                channel_boards::apply_scene_edits,
                board_archive::follow_file,
                board_archive::apply_commands,
                operations::apply_commands,
                delivery::deliver,
            )
                .chain()
                .in_set(during(WorkshopSystems::Ingest))
                .in_set(BeforeWorkflows::Ingest),
            // The kernel has dropped ended runs by now; element edits are received in the last phase.
            (board_archive::archive_finished, channel_boards::show)
                .chain()
                .in_set(during(WorkshopSystems::Decide))
                .in_set(BeforeWorkflows::Decide),
        ),
    );
    sections::register::<saved::OrchestrationSaved>(app);
    app.add_plugins(workflow::plugin);
}
