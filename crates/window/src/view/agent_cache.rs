//! Reads all agents of the room once per frame, reusing what has not changed since the last frame.

use std::sync::Arc;

use bevy::ecs::change_detection::{DetectChanges, Tick as ChangeTick};
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use bevy::platform::collections::HashSet;

use super::interpolation::Interpolation;
use super::model::{AgentView, RoomModel, look_of};
use crate::agent::{Agent, Profiles, Roster};
use crate::base::{AgentKey, ElementKey, Id};
use crate::mind::PendingRequests;
use crate::schedule::TICKS_PER_SEC;
use crate::simulation::{Activity, ActivityKind, AgentState, Held, Position, Posture, Queue, Seated, State, Walk};

/// Per-agent state that is kept between frames.
#[derive(Default)]
pub(super) struct AgentCache {
    interpolation: Interpolation,
    headings: Vec<Vec2>,
    /// The agents of the previous frame.
    agents: Vec<AgentView>,
    /// Change tick of the profiles from which the looks were derived.
    looks: Option<ChangeTick>,
}

impl AgentCache {
    /// Records the positions of all agents at this tick.
    pub(super) fn update(&mut self, world: &mut World, tick: u64) {
        let mut agents = world.query::<(&Agent, &Position)>();
        self.interpolation.update(tick, agents.iter(world).map(|(agent, position)| (agent.key, position.0)));
    }

    /// Takes back the agents of the previous frame so that their allocations are reused.
    pub(super) fn reuse(&mut self, agents: Vec<AgentView>) {
        self.agents = agents;
    }

    /// Returns all agents with positions interpolated by `share`, and whether agents came, left or changed their look
    /// since the previous frame.
    pub(super) fn read(&mut self, world: &World, share: f32, room: &RoomModel) -> (Vec<AgentView>, bool) {
        let roster = world.resource::<Roster>();
        let Some(profiles) = world.get_resource_ref::<Profiles>() else { return Default::default() };
        let look = |agent: &Agent| profiles.get(&agent.profile).map_or_else(|| agent.profile.clone(), look_of);
        let thinking: HashSet<AgentKey> = world.resource::<PendingRequests>().agents_with_requests().collect();
        let looks_changed = self.looks.replace(profiles.last_changed()) != Some(profiles.last_changed());
        let now = room.tick;
        let mut seen = std::mem::take(&mut self.agents);
        let (mut count, mut agents_changed) = (0, looks_changed);
        for (key, entity) in roster.iter() {
            let Ok(entity) = world.get_entity(entity) else { continue };
            let parts = entity.get_components::<(&Agent, &Position, &AgentState, &Queue, &Activity, &Walk)>();
            let Ok((agent, position, state, queue, activity, walk)) = parts else { continue };
            if seen.get(count).is_none_or(|view| view.key != key) {
                seen.truncate(count);
                seen.push(new_agent_view(agent, look(agent)));
                agents_changed = true;
            }
            let view = &mut seen[count];
            count += 1;
            if looks_changed || !Arc::ptr_eq(&view.profile, &agent.profile) {
                (view.profile, view.look) = (agent.profile.clone(), look(agent));
                agents_changed = true;
            }
            for (known, own) in [(&mut view.id, &agent.id), (&mut view.name, &agent.name)] {
                if !Arc::ptr_eq(known, own) {
                    *known = own.clone();
                }
            }
            view.position = if state.0.state() == State::Dragged {
                position.0
            } else {
                self.interpolation.place(key, position.0, share)
            };
            view.reads = match &activity.doing {
                ActivityKind::Reading { element, .. } => Some(*element),
                _ => None,
            };
            view.heading = self.heading(key, view.position, view.reads, activity, room);
            view.state = state.0.state();
            view.posture = Posture::of(view.state, walk, activity);
            view.holds = Held::of(view.posture, view.state, activity, element_kind(view.posture, view.reads, room));
            view.seated = Seated::of(view.posture, view.state, activity, position.0);
            view.walks = walk.course.moves() && !state.0.is_held();
            view.in_state_secs = now.saturating_sub(state.0.since_tick()) as f32 / TICKS_PER_SEC as f32;
            view.thinking = thinking.contains(&key);
            view.queued = queue.0.len();
            view.detail = None;
        }
        agents_changed |= count < seen.len();
        seen.truncate(count);
        (seen, agents_changed)
    }

    /// The direction an agent faces: toward the agent it talks to, the element it reads, or its last step.
    fn heading(
        &mut self,
        key: AgentKey,
        place: Vec2,
        reads: Option<ElementKey>,
        activity: &Activity,
        room: &RoomModel,
    ) -> Vec2 {
        let index = key.0 as usize;
        if self.headings.len() <= index {
            self.headings.resize(index + 1, Vec2::ZERO);
        }
        let step = self.interpolation.step(key);
        let toward = match activity.doing {
            ActivityKind::Talking { conversation } => {
                let found = room.conversations.binary_search_by_key(&conversation, |talk| talk.key);
                let talk = found.ok().map(|index| &room.conversations[index]);
                let others = talk.into_iter().flat_map(|talk| &talk.participants).filter(|other| **other != key);
                others.filter_map(|other| self.interpolation.last(*other)).next()
            }
            _ => reads.and_then(|element| room.element_of(element)).map(|element| element.position),
        };
        if step.length_squared() > 0.01 {
            self.headings[index] = step;
        } else if let Some(toward) = toward {
            self.headings[index] = toward - place;
        }
        self.headings[index]
    }
}

/// The kind of the element that is being read; looked up only for agents that are reading.
fn element_kind(posture: Posture, reads: Option<ElementKey>, room: &RoomModel) -> Option<&str> {
    let element = reads.filter(|_| posture == Posture::Reading)?;
    room.element_of(element).map(|element| &*element.kind)
}

/// An agent with its identity only; the caller fills in the rest.
fn new_agent_view(agent: &Agent, look: Id) -> AgentView {
    AgentView {
        key: agent.key,
        id: agent.id.clone(),
        name: agent.name.clone(),
        profile: agent.profile.clone(),
        look,
        position: Vec2::ZERO,
        heading: Vec2::ZERO,
        walks: false,
        posture: Posture::default(),
        holds: None,
        seated: None,
        state: State::default(),
        in_state_secs: 0.0,
        thinking: false,
        queued: 0,
        reads: None,
        detail: None,
    }
}
