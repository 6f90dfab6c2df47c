//! Commands of a person to the room: carrying, pausing and sending agents home, and conversations.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde_json::{Map, Value, json};

use super::components::{AgentQuery, AgentQueryItem};
use super::context::SimContext;
use super::conversation::{ConversationCommand, ConversationKind, Conversations, Utterance};
use super::conversation_rules::{self, Proposal};
use super::conversation_state::ConversationState;
use super::conversations::{end, refuse, session_of};
use super::provenance::Provenance;
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind};
use crate::agent::spawn_position::tenths;
use crate::agent::{AgentCommand, BehaviourFollows};
use crate::base::{Author, ConversationKey, Id, Seq};
use crate::log::EventDraft;
use crate::log::events::{Input, Message, Warning};
use crate::workspace::{SceneEdit, SceneWrite};

/// Applies a person's commands about agents.
pub(super) fn apply_commands(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut commands: MessageReader<AgentCommand>,
    mut writes: MessageWriter<SceneWrite>,
) {
    for command in commands.read() {
        let id = match command {
            AgentCommand::Add { .. } | AgentCommand::Remove { .. } => continue,
            AgentCommand::SetBehaviour { agent, .. }
            | AgentCommand::SetHome { agent, .. }
            | AgentCommand::Place { agent, .. }
            | AgentCommand::PickUp { agent }
            | AgentCommand::Carry { agent, .. }
            | AgentCommand::PutDown { agent }
            | AgentCommand::Pause { agent }
            | AgentCommand::Resume { agent } => agent,
        };
        let entity = sim.roster.key(id).and_then(|key| sim.roster.entity(key));
        let Some(Ok(mut body)) = entity.map(|entity| bodies.get_mut(entity)) else {
            let cause = sim.log.write(EventDraft::of(&Input::Agent(command.into())));
            warn_unknown_agent(&mut sim, id, cause);
            continue;
        };
        apply_command(&mut sim, &mut body, command, &mut writes);
    }
}

/// Applies changes of agents' behaviour in their files and the scene.
pub(super) fn apply_behaviour_changes(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut follows: MessageReader<BehaviourFollows>,
) {
    for BehaviourFollows { agent, behaviour } in follows.read() {
        let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        if body.activity.behaviour != *behaviour {
            body.activity.behaviour = *behaviour;
            sim.transition(&mut body, StateEvent::Behave(*behaviour), None);
        }
    }
}

fn warn_unknown_agent(sim: &mut SimContext, id: &Id, cause: Seq) {
    let warning = Warning::new(format!("there is no agent {id}")).with_remedy("use the id of an agent in the room");
    sim.log.write(EventDraft::of(&warning).cause(cause));
}

fn apply_command(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    command: &AgentCommand,
    writes: &mut MessageWriter<SceneWrite>,
) {
    if let AgentCommand::Carry { position, .. } = command {
        if body.state.0.state() == State::Dragged && position.is_finite() {
            body.position.0 = *position;
            sim.space.place(body.agent.key, *position);
        }
        return;
    }
    let cause = sim.write(body, None, &Input::Agent(command.into()));
    match command {
        AgentCommand::SetBehaviour { behaviour, .. } => {
            body.activity.behaviour = *behaviour;
            sim.transition(body, StateEvent::Behave(*behaviour), cause);
            writes.write(agent_keys(body, "behaviour", json!(behaviour)));
        }
        AgentCommand::SetHome { position, .. } if position.is_finite() => {
            body.home.0 = tenths(*position);
            writes.write(agent_keys(body, "position", place(body.home.0)));
            go_home(sim, body);
        }
        AgentCommand::Place { position, .. } if position.is_finite() => {
            put_down(sim, body, *position, writes);
            // An agent that was walking somewhere while idle does not continue there.
            go_home(sim, body);
        }
        AgentCommand::PickUp { .. } => sim.transition(body, StateEvent::PickedUp, cause),
        AgentCommand::PutDown { .. } if body.state.0.state() == State::Dragged => {
            put_down(sim, body, body.position.0, writes);
            sim.transition(body, StateEvent::PutDown, cause);
        }
        AgentCommand::Pause { .. } => sim.transition(body, StateEvent::Paused, cause),
        AgentCommand::Resume { .. } => sim.transition(body, StateEvent::Resumed, cause),
        _ => {}
    }
}

/// Puts an agent down; the position becomes its home, rounded to a tenth of a unit as in the scene file.
fn put_down(sim: &mut SimContext, body: &mut AgentQueryItem, position: Vec2, writes: &mut MessageWriter<SceneWrite>) {
    body.position.0 = tenths(position);
    body.home.0 = body.position.0;
    sim.space.place(body.agent.key, body.position.0);
    // An agent inside an obstacle steps out of it.
    sim.calendar.stopped.push(body.agent.key);
    writes.write(agent_keys(body, "position", place(body.home.0)));
}

/// Sends an idle agent home.
fn go_home(sim: &mut SimContext, body: &mut AgentQueryItem) {
    if !body.state.0.is_available() {
        return;
    }
    sim.apply_state(body);
    let arrive = sim.movement.arrive_units;
    let kind = match body.state.0.lower() {
        State::Wandering => WalkKind::Stroll,
        State::Idle => WalkKind::Home,
        _ => return,
    };
    sim.walk_to(body, Course::to(kind, body.home.0, arrive));
}

fn place(position: Vec2) -> Value {
    let tenth = |along: f32| (f64::from(along) * 10.0).round() / 10.0;
    json!([tenth(position.x), tenth(position.y)])
}

fn agent_keys(body: &AgentQueryItem, key: &str, value: Value) -> SceneWrite {
    SceneWrite::Agent { id: body.agent.id.clone(), keys: Map::from_iter([(key.to_owned(), value)]) }
}

/// The conversation that waits to continue this one.
fn continued(talks: &mut ConversationState, conversation: ConversationKey) -> Option<&mut Proposal> {
    talks.waiting.iter_mut().find(|proposal| proposal.continues == Some(conversation))
}

/// Applies a person's commands about conversations, and changes of relationships in the scene.
pub(super) fn apply_conversation_commands(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut talks: ResMut<ConversationState>,
    mut conversations: ResMut<Conversations>,
    mut commands: MessageReader<ConversationCommand>,
    mut edits: MessageReader<SceneEdit>,
) {
    for edit in edits.read() {
        if let SceneEdit::Relationships(ties) = edit {
            talks.ties.clone_from(ties);
        }
    }
    for command in commands.read() {
        let cause = sim.log.write(EventDraft::of(&Input::Talk(command.into())));
        match command {
            ConversationCommand::Start { participants, topic } => {
                let mut keys = Vec::new();
                for id in participants {
                    match sim.roster.key(id) {
                        Some(key) if !keys.contains(&key) => keys.push(key),
                        Some(_) => {}
                        None => warn_unknown_agent(&mut sim, id, cause),
                    }
                }
                let refusal = if keys.len() < 2 {
                    Some("a conversation needs two agents")
                } else {
                    let proposal = Proposal {
                        id: talks.next_proposal(),
                        kind: ConversationKind::Task,
                        participants: keys,
                        topic: topic.clone(),
                        news: None,
                        deadline: None,
                        cause,
                        origin: Provenance::outside(cause, sim.now()),
                        continues: None,
                        unanswered: Vec::new(),
                    };
                    let most = sim.conversation.max_waiting_conversations;
                    conversation_rules::enqueue(&mut talks.waiting, proposal, most)
                        .err()
                        .map(|_| "too many are waiting to start")
                };
                if let Some(why) = refusal {
                    let (topic, why) = (Some(topic.clone()), Some(why.into()));
                    let warning = Warning { topic, why, ..Warning::new("a conversation did not start") };
                    sim.log.write(EventDraft::of(&warning).cause(cause));
                }
            }
            ConversationCommand::Speak { conversation, text } => {
                let tick = sim.now();
                if let Some(running) = conversations.running.get_mut(conversation) {
                    let id = sim.messages.issue(&sim.log);
                    running.said.push(Utterance { by: Author::user(), text: text.clone(), tick, id: Some(id) });
                    if let Some(turn) = talks.turns.get_mut(conversation) {
                        (turn.origin, turn.silences) = (Provenance::outside(cause, tick), 0);
                        turn.last_speaker = None;
                    }
                    let message = Message { by: Some(Author::user().0), text: text.clone(), id: Some(id.id()) };
                    let draft = EventDraft::of(&message).session(session_of(*conversation));
                    sim.log.write(draft.cause(cause));
                } else if let Some(again) = continued(&mut talks, *conversation) {
                    again.origin = Provenance::outside(cause, tick);
                    let id = sim.messages.issue(&sim.log);
                    again.unanswered.push(Utterance { by: Author::user(), text: text.clone(), tick, id: Some(id) });
                    let message = Message { by: Some(Author::user().0), text: text.clone(), id: Some(id.id()) };
                    let draft = EventDraft::of(&message).session(session_of(*conversation));
                    sim.log.write(draft.cause(cause));
                } else {
                    let what = "nobody heard it: the conversation has ended";
                    let warning = Warning { text: Some(text.clone()), ..Warning::new(what) };
                    sim.log.write(EventDraft::of(&warning).cause(cause));
                }
            }
            ConversationCommand::Stop { conversation } => {
                let again = talks.waiting.iter().position(|proposal| proposal.continues == Some(*conversation));
                if let Some(again) = again.map(|index| talks.waiting.remove(index)) {
                    refuse(&mut sim, &mut bodies, &again, "a person ended it");
                }
                let mut table = (&mut sim, &mut bodies, &mut *talks, &mut *conversations);
                end(&mut table, *conversation, "a person ended it", Some(cause));
            }
            ConversationCommand::Switch { on } => (talks.switch, talks.switch_record) = (Some(*on), Some(cause)),
        }
    }
}
