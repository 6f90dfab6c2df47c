//! Agents that work together: what they say to each other in channels, and what stands on the blackboard of a run.
//!
//! In reading order: the rules ([`channels`], [`blackboard`]), what a person does about them ([`command`]), what is
//! carried out of it (`carrying_out`), who hears what and when (`delivering`), what stays when a run is over
//! ([`kept`], `keeping`), boards that show a channel (`showing`), and the words for models ([`words`]). What agents hand over to
//! each other is work, and the kernel's. Files that chain agents are [`workflow`]s.

pub mod blackboard;
mod carrying_out;
pub mod channels;
pub mod command;
mod delivering;
mod keeping;
pub mod kept;
mod saved;
pub mod settings;
mod showing;
pub mod words;
pub mod workflow;

pub use blackboard::{Blackboards, Entry, RunBoard};
pub use channels::{Channel, ChannelMessage, Channels};
pub use command::TogetherCommand;
pub use keeping::KeptBoard;
pub use kept::{KeptEntries, KeptEntry};
pub use settings::{BlackboardSettings, ChannelSettings};
pub use showing::Shown;

use workflow::BeforeWorkflows;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::AgentRemoved;
use crate::element::ElementEdit;
use crate::kernel::WorkNews;
use crate::schedule::door::InputExt;
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::simulation::WakeAgent;
use crate::tools::{AnswerOrders, TOGETHER, ToolOutcome, Tools};
use crate::workspace::{FileChanged, ProblemReport, SceneEdit, SceneWrite, SettingsExt};

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    app.add_settings::<ChannelSettings>().add_settings::<BlackboardSettings>();
    app.init_resource::<Channels>().init_resource::<Blackboards>().init_resource::<showing::Shown>();
    app.init_resource::<KeptBoard>().init_resource::<keeping::Unkept>();
    app.add_input::<TogetherCommand>();
    // Owned by floors below, which register them too.
    app.add_tick_message::<AgentRemoved>()
        .add_tick_message::<ToolOutcome>()
        .add_tick_message::<WorkNews>()
        .add_tick_message::<WakeAgent>()
        .add_tick_message::<ElementEdit>()
        .add_tick_message::<SceneEdit>()
        .add_tick_message::<FileChanged>()
        .add_tick_message::<ProblemReport>()
        .add_tick_message::<SceneWrite>();
    app.world_mut().resource_mut::<Tools>().add_executor(TOGETHER);
    let during = |phase| InPhase(phase, Floor::Orchestration);
    app.add_systems(
        Tick,
        (
            carrying_out::answer.in_set(AnswerOrders).in_set(BeforeWorkflows::Answer),
            (
                showing::follow_scene,
                keeping::follow_file,
                keeping::apply_commands,
                carrying_out::apply_commands,
                delivering::deliver,
            )
                .chain()
                .in_set(during(WorkshopSystems::Ingest))
                .in_set(BeforeWorkflows::Ingest),
            // The kernel has forgotten by now what is over; what is written is taken up in the last phase.
            (keeping::keep, showing::show)
                .chain()
                .in_set(during(WorkshopSystems::Decide))
                .in_set(BeforeWorkflows::Decide),
        ),
    );
    sections::register::<saved::OrchestrationSaved>(app);
    app.add_plugins(workflow::plugin);
}
