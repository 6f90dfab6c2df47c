//! Workflows: files that chain agents.
//!
//! In reading order: texts with places for what is known later ([`template`]), what steps give ([`value`]), conditions
//! over it ([`condition`]); a workflow as data ([`definition`]), read from its file ([`format`], `keys`), looked at in view
//! of everything else ([`check`], [`graph`]), and made a plan ([`plan`]); a run of it ([`key`], [`state`]), brought on by a
//! machine that knows no world ([`engine`], `news`, `giving`, `stopping`), asking people ([`question`]), with the words for agents ([`task`]) and from them (`reply`), and kept in files
//! ([`record`]). The `systems` tell it what happened in the room and carry out what it says, by what they may touch of the
//! room (`access`); runs begin as `starting` says.

mod access;
pub mod answer;
pub mod check;
pub mod command;
pub mod condition;
pub mod definition;
pub mod edit;
pub mod engine;
pub mod format;
mod give_output;
mod giving;
pub mod graph;
pub mod key;
mod keys;
pub mod limits;
mod news;
pub mod plan;
pub mod question;
pub mod record;
mod reply;
pub mod runs;
pub mod settings;
pub mod starting;
pub mod state;
mod stopping;
mod systems;
pub mod task;
pub mod template;
pub mod value;

pub use access::runs_at_rest;
pub use answer::PersonAnswer;
pub use command::WorkflowCommand;
pub use key::RunKey;
pub use question::{PersonQuestion, StepKey};
pub use runs::{WorkflowRuns, Workflows};
pub use settings::WorkflowSettings;
pub use state::{Run, RunStatus, StepStatus};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::kernel::{WorkAnswer, WorkOrder};
use crate::memory::MemoryEdit;
use crate::schedule::door::InputExt;
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::tools::{AnswerOrders, ToolOutcome, Tools};
use crate::workspace::SettingsExt;

/// The other systems of this floor, phase by phase: those of workflows come after them.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BeforeWorkflows {
    /// Those that answer orders.
    Answer,
    /// Those that let in what came from outside.
    Ingest,
    /// Those that decide.
    Decide,
}

/// Adds workflows to the room.
pub fn plugin(app: &mut App) {
    app.add_settings::<WorkflowSettings>();
    app.init_resource::<Workflows>().init_resource::<WorkflowRuns>();
    app.add_input::<WorkflowCommand>();
    // Owned by floors below, which register them too.
    app.add_tick_message::<WorkOrder>()
        .add_tick_message::<WorkAnswer>()
        .add_tick_message::<MemoryEdit>()
        .add_tick_message::<ToolOutcome>();
    let mut tools = app.world_mut().get_resource_or_init::<Tools>();
    tools.register(give_output::tool()).expect("no tool of the house has this name");
    tools.add_executor(task::GIVE_OUTPUT);
    app.add_systems(
        Tick,
        (
            // Before the tools close what was answered, and the kernel takes it in.
            systems::answer_calls.in_set(AnswerOrders).after(BeforeWorkflows::Answer),
            (systems::follow_files, systems::bring_on)
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Floor::Orchestration))
                .after(BeforeWorkflows::Ingest),
            systems::take_answers
                .in_set(InPhase(WorkshopSystems::Decide, Floor::Orchestration))
                .after(BeforeWorkflows::Decide),
        ),
    );
    sections::register::<WorkflowRuns>(app);
}
