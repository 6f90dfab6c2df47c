//! The saved state of the simulation: everything that decides what happens next.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{Activity, AgentState, AttentionCalendar, Home, Position, Queue, Route, SpatialIndex, Walk};
use super::conversation::Conversations;
use super::conversation_state::ConversationState;
use super::motion::{LastReactions, Reactions};
use super::provenance::LastChanges;
use super::rest_mode::RestMode;
use super::steering::Course;
use crate::agent::{Agent, Roster};
use crate::base::AgentKey;
use crate::navigation::Claims;
use crate::schedule::{AgentRandom, Section};
use crate::workspace::Decor;

#[derive(Serialize, Deserialize)]
struct AgentSaved {
    key: AgentKey,
    position: Position,
    home: Home,
    course: Course,
    #[serde(default)]
    route: Route,
    state: AgentState,
    queue: Queue,
    #[serde(rename = "life")]
    activity: Activity,
    random: AgentRandom,
    reactions: LastReactions,
}

/// The saved section of the simulation.
#[derive(Serialize, Deserialize)]
pub(super) struct SimulationSaved {
    agents: Vec<AgentSaved>,
    awake: Vec<AgentKey>,
    talks: ConversationState,
    conversations: Conversations,
    #[serde(default)]
    rest: RestMode,
    #[serde(default)]
    last_changes: LastChanges,
    #[serde(default)]
    claims: Claims,
    /// The furniture of the room; absent in rooms that were saved before furniture was an obstacle.
    #[serde(default)]
    decor: Option<Vec<Decor>>,
}

impl Section for SimulationSaved {
    const NAME: &'static str = "simulation";

    fn save(world: &mut World) -> Self {
        let everyone: Vec<(AgentKey, Entity)> = world.resource::<Roster>().iter().collect();
        let agents = everyone.into_iter().filter_map(|(key, entity)| save_agent(world, key, entity)).collect();
        let conversations = world.resource::<Conversations>();
        let mut awake = world.resource::<AttentionCalendar>().awake.clone();
        awake.sort_unstable();
        awake.dedup();
        Self {
            agents,
            awake,
            talks: world.resource::<ConversationState>().clone(),
            conversations: Conversations {
                running: conversations.running.clone(),
                earlier: conversations.earlier.clone(),
            },
            rest: *world.resource::<RestMode>(),
            last_changes: world.resource::<LastChanges>().clone(),
            claims: world.resource::<Claims>().clone(),
            decor: world.resource::<SpatialIndex>().decor.clone(),
        }
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self.rest);
        let mut space = SpatialIndex { decor: self.decor, ..SpatialIndex::default() };
        world.insert_resource(self.claims);
        let mut reactions = Reactions::default();
        for saved in self.agents {
            let Some(entity) = world.resource::<Roster>().entity(saved.key) else { continue };
            let AgentSaved { key, position, home, course, route, state, queue, activity, random, reactions: last } =
                saved;
            space.place(key, position.0);
            let index = key.0 as usize;
            if last != LastReactions::default() {
                reactions.0.resize(reactions.0.len().max(index + 1), LastReactions::default());
                reactions.0[index] = last;
            }
            let walk = Walk { key, course };
            world.entity_mut(entity).insert((position, home, (walk, route), state, queue, activity, random));
        }
        // An agent that was added together with this world was not saved by this layer: it stays where it was added.
        let mut newcomers = world.query::<(&Agent, &Position)>();
        for (agent, position) in newcomers.iter(world) {
            if space.position(agent.key).is_none() {
                space.place(agent.key, position.0);
            }
        }
        let mut calendar = AttentionCalendar::default();
        calendar.awake = self.awake;
        let mut activities = world.query::<(&Agent, &Activity)>();
        calendar.restore(activities.iter(world).map(|(agent, activity)| (agent.key, activity)));
        world.insert_resource(calendar);
        world.insert_resource(space);
        world.insert_resource(reactions);
        world.insert_resource(self.talks);
        world.insert_resource(self.conversations);
        world.insert_resource(self.last_changes);
    }
}

fn save_agent(world: &World, key: AgentKey, entity: Entity) -> Option<AgentSaved> {
    let agent = world.get_entity(entity).ok()?;
    Some(AgentSaved {
        key,
        position: *agent.get::<Position>()?,
        home: *agent.get::<Home>()?,
        course: agent.get::<Walk>()?.course,
        route: agent.get::<Route>()?.clone(),
        state: agent.get::<AgentState>()?.clone(),
        queue: agent.get::<Queue>()?.clone(),
        activity: agent.get::<Activity>()?.clone(),
        random: agent.get::<AgentRandom>()?.clone(),
        reactions: world.resource::<Reactions>().0.get(key.0 as usize).cloned().unwrap_or_default(),
    })
}
