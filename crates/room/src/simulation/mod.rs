//! The room with no model in it: states, queues, walking, noticing and meeting. Asks the mind to think
//! through [`ThinkDue`] and hears back through [`ThinkDone`]; knows nothing of prompts, models or files.
//!
//! Pure rules: [`state`], [`queue`], [`steering`], [`space`], [`conversation_rules`]. A tick: timers ring
//! (`attention`), whoever is at leisure takes up an action (`actions`), conversations go on (`conversations`),
//! everyone who walks takes a step (`motion`); at its end the room hears what was thought and changed (`reactions`).

mod actions;
pub mod activity;
mod attention;
pub mod body;
mod commands;
mod context;
pub mod conversation;
pub mod conversation_rules;
mod conversation_state;
mod conversations;
mod finishing;
mod furnishing;
pub mod interest;
mod motion;
pub mod origin;
pub mod posture;
pub mod queue;
mod reactions;
pub mod relating;
mod rest;
mod saved;
pub mod settings;
pub mod space;
pub mod state;
pub mod steering;
mod visit;
mod visiting;
mod walking;

pub use activity::{
    ActivityId, CameToWork, CompactionWanted, Explain, NewsHeard, Summons, SummonsWithdrawn, TaskCommand, Think,
    ThinkDone, ThinkDue, ThinkOutcome, ThinkPutOff,
};
pub use body::{Activity, AgentState, Doing, Home, Position, Queue, Space, Walk};
pub use conversation::{
    Conversation, ConversationCommand, ConversationEnded, ConversationKind, Conversations, Utterance,
};
pub use conversations::session_of;
pub use furnishing::FurnishCommand;
pub use interest::{Interest, Moment, PendingInterest, Place, Quote, Reason, WakeAgent};
pub use motion::{Passed, Reacted};
pub use origin::Origin;
pub use posture::Posture;
pub use queue::{Action, ActionQueue, QueuedAction};
pub use relating::{RelationshipCommand, relationships};
pub use rest::{Rest, SetRest, begin_run};
pub use settings::{AttentionSettings, ConversationSettings, MovementSettings};
pub use state::{Fsm, State};
pub use visit::Visit;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::{AgentCommand, BehaviourFollows};
pub use crate::base::Urgency;
use crate::element::{ElementChanged, Elements};
use crate::schedule::door::InputExt;
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems, room_goes_on, saved as sections};
use crate::workspace::{SceneEdit, SceneWrite, SettingsExt};

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    app.add_settings::<MovementSettings>().add_settings::<AttentionSettings>().add_settings::<ConversationSettings>();
    app.add_input::<ConversationCommand>()
        .add_input::<RelationshipCommand>()
        .add_input::<FurnishCommand>()
        .add_input::<SetRest>();
    app.add_tick_message::<ThinkDue>()
        .add_tick_message::<CameToWork>()
        .add_tick_message::<ThinkDone>()
        .add_tick_message::<ThinkPutOff>()
        .add_tick_message::<Explain>()
        .add_tick_message::<Summons>()
        .add_tick_message::<SummonsWithdrawn>()
        .add_tick_message::<WakeAgent>()
        .add_tick_message::<NewsHeard>()
        .add_tick_message::<CompactionWanted>()
        .add_tick_message::<ConversationEnded>()
        .add_tick_message::<Reacted>()
        .add_tick_message::<AgentCommand>()
        .add_tick_message::<BehaviourFollows>()
        .add_tick_message::<ElementChanged>()
        .add_tick_message::<SceneEdit>()
        .add_tick_message::<SceneWrite>();
    app.init_resource::<body::AttentionCalendar>()
        .init_resource::<Space>()
        .init_resource::<crate::places::Claims>()
        .init_resource::<motion::Reactions>()
        .init_resource::<origin::LastChanges>()
        .init_resource::<conversation_state::ConversationState>()
        .init_resource::<Rest>()
        .init_resource::<Conversations>()
        .init_resource::<crate::agent::Roster>()
        .init_resource::<Elements>()
        .init_resource::<crate::element::MessageCount>()
        .init_resource::<crate::log::EventLog>();
    app.add_observer(body::settle_in).add_observer(body::move_out).add_observer(conversations::forget_departed);
    let during = |phase| InPhase(phase, Floor::Simulation);
    app.add_systems(
        Tick,
        (
            rest::rest_or_live_on,
            commands::behave,
            commands::obey,
            commands::lead_conversations,
            relating::relate,
            furnishing::follow_scene,
            furnishing::furnish,
        )
            .chain()
            .in_set(during(WorkshopSystems::Ingest)),
    );
    app.add_systems(
        Tick,
        (
            body::look_about,
            actions::hold_places,
            attention::ring,
            actions::drain,
            conversations::converse,
            motion::step_out,
            motion::part,
            motion::walk.pipe(actions::arrive),
        )
            .chain()
            .run_if(room_goes_on)
            .in_set(during(WorkshopSystems::Simulate)),
    );
    app.add_systems(
        Tick,
        (reactions::hear_thoughts, reactions::hear_summons, reactions::watch, reactions::wake, reactions::hear_wishes)
            .chain()
            .in_set(during(WorkshopSystems::Record)),
    );
    sections::register::<saved::SimulationSaved>(app);
}

/// Whether nothing goes on that anybody called for: no action or task waits, nobody reads, works, talks,
/// goes to tell something or cools down. Agents that a person holds do not count.
pub fn is_idle(world: &mut World) -> bool {
    is_idle_but(world, |_| false)
}

/// The same, where nobody at work counts either: their work may wait for somebody outside.
pub fn is_idle_beside_work(world: &mut World) -> bool {
    is_idle_but(world, |state| matches!(state, State::Working | State::Waiting))
}

fn is_idle_but(world: &mut World, is_left_out: impl Fn(State) -> bool) -> bool {
    let quiet = conversation_state::is_quiet(
        world.resource::<conversation_state::ConversationState>(),
        world.resource::<Conversations>(),
    );
    let nobody_reads = world.resource::<Rest>().holds();
    let mut agents = world.query::<(&AgentState, &Queue, &Activity)>();
    quiet
        && agents.iter(world).all(|(state, queue, activity)| {
            let rests = conversations::rests(state.0.state()) && !state.0.is_on_errand();
            let nothing_waits =
                (nobody_reads || queue.0.is_empty()) && activity.work.is_empty() && activity.awaited.is_none();
            let is_at_work = !matches!(activity.doing, Doing::Attending { .. });
            (is_at_work && is_left_out(state.0.state())) || (rests && (nothing_waits || state.0.is_held()))
        })
}

/// Whether agents may talk to each other: the master switch.
pub fn talk_is_on(world: &World) -> bool {
    world.resource::<conversation_state::ConversationState>().switched_on()
}

/// How many agents are at what, for a status in one sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BusyCounts {
    /// Agents that walk to an element to read it, or read it.
    pub reading: usize,
    /// Agents in a conversation.
    pub conversing: usize,
    /// Agents at a task or summing up.
    pub working: usize,
    /// Actions queued, over all agents.
    pub queued: usize,
}

/// Counts who is at what.
pub fn busy_counts(world: &mut World) -> BusyCounts {
    let mut agents = world.query::<(&AgentState, &Queue)>();
    agents.iter(world).fold(BusyCounts::default(), |mut counts, (state, queue)| {
        match state.0.state() {
            State::Reading => counts.reading += 1,
            State::Conversing => counts.conversing += 1,
            State::Working => counts.working += 1,
            _ => {}
        }
        counts.queued += queue.0.len();
        counts
    })
}

#[cfg(test)]
mod collecting_tests;
#[cfg(test)]
mod held_tests;
#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod watching_tests;
