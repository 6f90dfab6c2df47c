//! Workflows: files that chain agents.
//!
//! In reading order: templates with placeholders ([`mod@template`]), outputs of steps ([`value`]), conditions on them
//! ([`condition`]); a workflow as data ([`definition`]), parsed from its file ([`mod@format`], `front_matter_keys`),
//! checked ([`check`], [`graph`]), and turned into a plan ([`plan`]); a run of a workflow ([`run_key`], [`run_state`]),
//! advanced by a state machine without access to the world ([`engine`], `run_events`, `participants`, `stopping`);
//! questions to people ([`person_step`]), prompts for agents ([`step_prompt`]) and the outputs in their answers
//! (`reply_parser`); the files of a run ([`run_record`], and `run_files` for its file orders) and its review
//! ([`run_review`]). The `systems` pass events in the room to the runs and execute their actions, with access to the
//! room (`access`); triggers and commands that start runs are in `starting`.

mod access;
pub mod answer;
pub mod check;
pub mod command;
pub mod condition;
pub mod definition;
pub mod edit;
pub mod engine;
pub mod format;
mod front_matter_keys;
pub mod graph;
pub mod limits;
mod output_tool;
mod participants;
pub mod person_step;
pub mod plan;
mod reply_parser;
mod run_events;
mod run_files;
pub mod run_key;
pub mod run_record;
pub mod run_review;
pub mod run_state;
pub mod runs;
pub mod settings;
pub mod starting;
pub mod step_prompt;
mod stopping;
mod systems;
pub mod template;
pub mod value;

pub use access::runs_at_rest;
pub use answer::PersonAnswer;
pub use command::WorkflowCommand;
pub use person_step::{PersonQuestion, StepKey};
pub use run_key::RunKey;
pub use run_review::RunReview;
pub use run_state::{Run, RunStatus, StepStatus};
pub use runs::{WorkflowRuns, Workflows};
pub use settings::WorkflowSettings;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::kernel::{WorkAnswer, WorkOrder};
use crate::memory::MemoryEdit;
use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::tools::{AnswerOrders, OrderOutcome, Tools};
use crate::workspace::SettingsExt;

/// The other systems of this layer by phase; the systems of workflows run after them.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BeforeWorkflows {
    /// Systems that answer orders.
    Answer,
    /// Systems that receive external input.
    Ingest,
    /// Systems that decide.
    Decide,
}

/// Registers the systems, resources and messages of workflows.
pub fn plugin(app: &mut App) {
    app.add_settings::<WorkflowSettings>();
    app.init_resource::<Workflows>().init_resource::<WorkflowRuns>();
    app.add_input::<WorkflowCommand>();
    app.add_tick_message::<RunReview>();
    // Owned by lower layers, which also register them.
    app.add_tick_message::<WorkOrder>()
        .add_tick_message::<WorkAnswer>()
        .add_tick_message::<MemoryEdit>()
        .add_tick_message::<OrderOutcome>();
    let mut tools = app.world_mut().get_resource_or_init::<Tools>();
    tools.register(output_tool::tool()).expect("no tool of the house has this name");
    tools.add_executor(step_prompt::GIVE_OUTPUT);
    app.add_systems(
        Tick,
        (
            // Before answered orders are closed and the kernel receives the outcomes.
            systems::answer_calls.in_set(AnswerOrders).after(BeforeWorkflows::Answer),
            (systems::follow_files, systems::advance_runs)
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Orchestration))
                .after(BeforeWorkflows::Ingest),
            systems::apply_work_answers
                .in_set(InPhase(WorkshopSystems::Decide, Layer::Orchestration))
                .after(BeforeWorkflows::Decide),
        ),
    );
    sections::register::<WorkflowRuns>(app);
}
