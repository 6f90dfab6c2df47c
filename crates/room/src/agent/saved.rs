//! The saved state of the agents: the profiles as the world knew them, and the agents in the room.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::lifecycle::{RosterState, TopmostElement, insert_entity, report, report_pending};
use super::registry::Profiles;
use super::roster::{Agent, Roster};
use crate::base::{AgentKey, Behaviour, Id, Seq};
use crate::schedule::{AgentRandom, Section};

/// The saved profiles, so that a loaded world continues with those that it knew.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ProfilesSaved(Profiles);

impl Section for ProfilesSaved {
    const NAME: &'static str = "profiles";

    fn save(world: &mut World) -> Self {
        Self(world.resource::<Profiles>().clone())
    }

    fn load(self, world: &mut World) {
        let paths: Vec<String> = self.0.paths().cloned().collect();
        world.insert_resource(self.0);
        let longer = super::longer_ids(world.resource::<Profiles>().with_longer_ids());
        report(world, longer.source, longer.problems);
        for path in paths {
            let problems = world.resource::<Profiles>().problems(&path);
            if !problems.is_empty() {
                report(world, path, problems);
            }
        }
    }
}

/// A saved agent.
#[derive(Serialize, Deserialize)]
struct AgentSaved {
    key: AgentKey,
    id: Id,
    profile: Id,
    name: Id,
    start: Vec2,
    start_behaviour: Behaviour,
    added: Seq,
    random: AgentRandom,
}

/// The saved agents, in order of key.
#[derive(Serialize, Deserialize)]
pub(super) struct AgentsSaved {
    next_key: AgentKey,
    topmost: TopmostElement,
    waiting: RosterState,
    agents: Vec<AgentSaved>,
}

impl Section for AgentsSaved {
    const NAME: &'static str = "agents";

    fn save(world: &mut World) -> Self {
        let roster = world.resource::<Roster>();
        let agents = roster.iter().filter_map(|(key, entity)| {
            let (agent, random) = (world.get::<Agent>(entity)?.clone(), world.get::<AgentRandom>(entity)?.clone());
            let Agent { id, profile, name, start, start_behaviour, added, .. } = agent;
            Some(AgentSaved { key, id, profile, name, start, start_behaviour, added, random })
        });
        Self {
            next_key: roster.next_key(),
            topmost: *world.resource::<TopmostElement>(),
            waiting: world.resource::<RosterState>().clone(),
            agents: agents.collect(),
        }
    }

    fn load(self, world: &mut World) {
        let present: Vec<Entity> = world.resource::<Roster>().iter().map(|(_, entity)| entity).collect();
        for entity in present {
            world.despawn(entity);
        }
        world.insert_resource(Roster::default());
        world.insert_resource(self.topmost);
        let mut waiting = self.waiting;
        waiting.reserve_names(self.agents.iter().map(|agent| agent.name.clone()));
        world.insert_resource(waiting);
        for saved in self.agents {
            let AgentSaved { key, id, profile, name, start, start_behaviour, added, random } = saved;
            insert_entity(world, Agent { key, id, profile, name, start, start_behaviour, added }, random);
        }
        world.resource_mut::<Roster>().count_on_from(self.next_key);
        report_pending(world);
    }
}
