//! The simulation of the room, without models: states, queues, walking, attention and conversations. It asks the mind
//! to think with [`ThinkDue`] and gets the result as [`ThinkDone`]; it knows nothing of prompts, models or files.
//!
//! Pure rules: [`state`], [`queue`], [`steering`], [`spatial_grid`], [`conversation_rules`]. In a tick, timers fire
//! (`attention`), idle agents start actions (`actions`), conversations continue (`conversations`), and walking agents
//! take a step (`motion`); at its end, the room processes thoughts and changes (`reactions`).

mod actions;
mod attention;
mod commands;
mod completion;
pub mod components;
mod context;
pub mod conversation;
pub mod conversation_rules;
mod conversation_state;
mod conversations;
mod furniture;
mod idle_visits;
pub mod interest;
pub mod mind_messages;
mod model_waits;
mod motion;
pub mod posture;
pub mod provenance;
pub mod queue;
mod reactions;
pub mod relationship_commands;
mod rest_mode;
mod saved;
pub mod settings;
pub mod spatial_grid;
pub mod state;
pub mod steering;
mod visit;
mod walking;

pub use components::{Activity, ActivityKind, AgentState, Home, Position, Queue, SpatialIndex, Walk};
pub use conversation::{
    Conversation, ConversationCommand, ConversationEnded, ConversationKind, Conversations, Utterance,
};
pub use conversations::session_of;
pub use furniture::FurnishCommand;
pub use interest::{Interest, PendingInterest, Place, Quote, Reason, WakeAgent, WakeRequest};
pub use mind_messages::{
    ActivityId, ArrivedForWork, CompactionWanted, Explain, FailureCause, ModelAvailability, ModelsChanged, NewsNoted,
    TaskCommand, Think, ThinkDone, ThinkDue, ThinkOutcome, ThinkPutOff, TryModel, WorkRequestWithdrawn, WorkRequested,
};
pub use model_waits::{WaitingForModel, waiting_for_model};
pub use motion::{Passed, Reacted};
pub use posture::{Held, Posture, Seated};
pub use provenance::Provenance;
pub use queue::{Action, ActionQueue, QueuedAction};
pub use relationship_commands::{RelationshipCommand, relationships};
pub use rest_mode::{RestMode, SetRestMode, begin_run};
pub use settings::{AttentionSettings, ConversationSettings, MovementSettings};
pub use state::{Fsm, State};
pub use visit::Visit;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::{AgentCommand, BehaviourFollows};
pub use crate::base::Urgency;
use crate::element::{ElementChanged, Elements};
use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, room_not_paused, saved as sections};
use crate::workspace::{SceneEdit, SceneWrite, SettingsExt};

/// Registers the systems, resources and messages of the simulation.
pub fn plugin(app: &mut App) {
    app.add_settings::<MovementSettings>().add_settings::<AttentionSettings>().add_settings::<ConversationSettings>();
    app.add_input::<ConversationCommand>()
        .add_input::<RelationshipCommand>()
        .add_input::<FurnishCommand>()
        .add_input::<SetRestMode>();
    app.add_tick_message::<ThinkDue>()
        .add_tick_message::<ArrivedForWork>()
        .add_tick_message::<ThinkDone>()
        .add_tick_message::<ThinkPutOff>()
        .add_tick_message::<ModelAvailability>()
        .add_tick_message::<TryModel>()
        .add_tick_message::<ModelsChanged>()
        .add_tick_message::<Explain>()
        .add_tick_message::<WorkRequested>()
        .add_tick_message::<WorkRequestWithdrawn>()
        .add_tick_message::<WakeAgent>()
        .add_tick_message::<NewsNoted>()
        .add_tick_message::<CompactionWanted>()
        .add_tick_message::<ConversationEnded>()
        .add_tick_message::<Reacted>()
        .add_tick_message::<AgentCommand>()
        .add_tick_message::<BehaviourFollows>()
        .add_tick_message::<ElementChanged>()
        .add_tick_message::<SceneEdit>()
        .add_tick_message::<SceneWrite>();
    app.init_resource::<components::AttentionCalendar>()
        .init_resource::<SpatialIndex>()
        .init_resource::<crate::navigation::Claims>()
        .init_resource::<motion::Reactions>()
        .init_resource::<provenance::LastChanges>()
        .init_resource::<conversation_state::ConversationState>()
        .init_resource::<RestMode>()
        .init_resource::<Conversations>()
        .init_resource::<crate::agent::Roster>()
        .init_resource::<Elements>()
        .init_resource::<crate::element::MessageCount>()
        .init_resource::<crate::log::EventLog>();
    app.add_observer(components::add_agent_components)
        .add_observer(components::remove_agent_position)
        .add_observer(conversations::forget_departed);
    let during = |phase| InPhase(phase, Layer::Simulation);
    app.add_systems(
        Tick,
        (
            rest_mode::apply_rest_mode,
            commands::apply_behaviour_changes,
            commands::apply_commands,
            commands::apply_conversation_commands,
            relationship_commands::apply_relationship_commands,
            furniture::apply_scene_edits,
            furniture::apply_furnish_commands,
        )
            .chain()
            .in_set(during(WorkshopSystems::Ingest)),
    );
    app.add_systems(
        Tick,
        (
            components::update_spatial_index,
            actions::release_places,
            attention::fire_timers,
            actions::start_next_actions,
            conversations::run_conversations,
            motion::step_out,
            motion::part,
            motion::walk.pipe(actions::arrive),
        )
            .chain()
            .run_if(room_not_paused)
            .in_set(during(WorkshopSystems::Simulate)),
    );
    app.add_systems(
        Tick,
        (
            reactions::record_reactions,
            model_waits::apply_model_waits,
            reactions::apply_think_results,
            model_waits::retry_given_up,
            reactions::apply_work_requests,
            reactions::wake_on_element_changes,
            reactions::wake,
            reactions::apply_news_and_compactions,
        )
            .chain()
            .in_set(during(WorkshopSystems::Record)),
    );
    sections::register::<saved::SimulationSaved>(app);
}

/// Whether the room is idle: no action or task is waiting, and no agent is reading, working, talking, on an errand or
/// cooling down. Agents held by a person do not count, and neither does what waits until a model can be called.
pub fn is_idle(world: &mut World) -> bool {
    is_idle_but(world, |_| false)
}

/// Like [`is_idle`], ignoring agents at work: their work may be waiting for something outside the room.
pub fn is_idle_beside_work(world: &mut World) -> bool {
    is_idle_but(world, |state| matches!(state, State::Working | State::Waiting))
}

fn is_idle_but(world: &mut World, is_left_out: impl Fn(State) -> bool) -> bool {
    let waits = |agent| {
        let entity = world.resource::<crate::agent::Roster>().entity(agent);
        entity.and_then(|entity| world.get::<Activity>(entity)).is_some_and(Activity::waits_for_model)
    };
    let quiet = conversation_state::is_quiet(
        world.resource::<conversation_state::ConversationState>(),
        world.resource::<Conversations>(),
        waits,
    );
    let nobody_reads = world.resource::<RestMode>().holds();
    let mut agents = world.query::<(&AgentState, &Queue, &Activity)>();
    quiet
        && agents.iter(world).all(|(state, queue, activity)| {
            // In a quiet room, whoever talks waits for the model of the speaker.
            let talks = matches!(activity.doing, ActivityKind::Talking { .. });
            let rests = talks || conversations::is_free_or_soon(state.0.state()) && !state.0.is_on_errand();
            let nobody_reads = nobody_reads || activity.waits_for_model();
            let nothing_waits =
                (nobody_reads || queue.0.is_empty()) && activity.work.is_empty() && activity.awaited.is_none();
            let is_at_work = !matches!(activity.doing, ActivityKind::Attending { .. });
            (is_at_work && is_left_out(state.0.state())) || (rests && (nothing_waits || state.0.is_held()))
        })
}

/// Whether agents may talk to each other: the master switch.
pub fn conversations_enabled(world: &World) -> bool {
    world.resource::<conversation_state::ConversationState>().switched_on()
}

/// The number of agents in each kind of activity, for a short status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BusyCounts {
    /// Agents that walk to an element to read it, or read it.
    pub reading: usize,
    /// Agents in a conversation.
    pub conversing: usize,
    /// Agents that work or compact their session.
    pub working: usize,
    /// Queued actions of all agents.
    pub queued: usize,
    /// The queued actions that wait until a model can be called.
    pub waiting_for_model: usize,
}

/// Counts agents by activity.
pub fn busy_counts(world: &mut World) -> BusyCounts {
    let mut agents = world.query::<(&AgentState, &Queue, &Activity)>();
    agents.iter(world).fold(BusyCounts::default(), |mut counts, (state, queue, activity)| {
        match state.0.state() {
            State::Reading => counts.reading += 1,
            State::Conversing => counts.conversing += 1,
            State::Working => counts.working += 1,
            _ => {}
        }
        counts.queued += queue.0.len();
        if activity.model_wait.is_some() {
            counts.waiting_for_model += queue.0.iter().filter(|queued| queued.action.needs_model()).count();
        }
        counts
    })
}

#[cfg(test)]
mod collecting_tests;
#[cfg(test)]
mod ended_actions_tests;
#[cfg(test)]
mod held_tests;
#[cfg(test)]
mod model_waits_tests;
#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod watching_tests;
