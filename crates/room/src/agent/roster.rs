//! The agents in the room: adding and removing them, and finding one by id or key.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use crate::base::{AgentKey, Behaviour, Id, Seq};
use crate::log::events::AgentInput;
use crate::schedule::Input;

/// One running instance of a profile. Higher layers add the entity's other components when it is created (`On<Add,
/// Agent>`).
#[derive(Component, Clone, Debug)]
pub struct Agent {
    /// Its key in the room.
    pub key: AgentKey,
    /// Its id in the scene.
    pub id: Id,
    /// The id of its profile.
    pub profile: Id,
    /// Its name on screen and in prompts: the profile's, with a number if several agents share one.
    pub name: Id,
    /// The position at which it was added, which is its home until a person moves it.
    pub start: Vec2,
    /// Its initial idle behaviour, from the scene or its profile.
    pub start_behaviour: Behaviour,
    /// The log record of its addition.
    pub added: Seq,
}

/// A command about agents by a person or the scene file. As an input it is recorded.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum AgentCommand {
    /// Adds an agent to the room.
    Add {
        /// Its id; derived from the profile if absent.
        id: Option<Id>,
        /// The id of its profile.
        profile: Id,
        /// The position at which it was dropped.
        position: Vec2,
        /// Its idle behaviour; that of the profile if absent.
        behaviour: Option<Behaviour>,
        /// Whether it is placed exactly there, instead of above the elements.
        exactly: bool,
    },
    /// Removes an agent from the room. Its memories are kept in case it returns with this id.
    Remove {
        /// The id of the agent.
        agent: Id,
    },
    /// Changes its idle behaviour.
    SetBehaviour {
        /// The id of the agent.
        agent: Id,
        /// The new behaviour.
        behaviour: Behaviour,
    },
    /// Gives it a new home and sends it there.
    SetHome {
        /// The id of the agent.
        agent: Id,
        /// The new home.
        position: Vec2,
        /// Who does this, if not the person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Id>,
    },
    /// Moves it at once to a new home.
    Place {
        /// The id of the agent.
        agent: Id,
        /// The new home.
        position: Vec2,
    },
    /// Lifts it off the floor. The window ends a drag with a single [`Place`](Self::Place); this and the next two only
    /// occur in older recordings.
    PickUp {
        /// The id of the agent.
        agent: Id,
    },
    /// Moves it while it is lifted.
    Carry {
        /// The id of the agent.
        agent: Id,
        /// The new position.
        position: Vec2,
    },
    /// Puts it down; that position is its new home.
    PutDown {
        /// The id of the agent.
        agent: Id,
    },
    /// Pauses it in place until it is resumed.
    Pause {
        /// The id of the agent.
        agent: Id,
    },
    /// Resumes it.
    Resume {
        /// The id of the agent.
        agent: Id,
    },
}

/// Converts a command to its form in the log.
impl From<&AgentCommand> for AgentInput {
    fn from(command: &AgentCommand) -> Self {
        use AgentCommand as Command;
        let place = |position: &Vec2| position.to_array().map(f64::from);
        match command.clone() {
            Command::Add { id, profile, position, behaviour, exactly } => {
                Self::Add { id, profile, position: place(&position), behaviour, exactly }
            }
            Command::Remove { agent } => Self::Remove { agent },
            Command::SetBehaviour { agent, behaviour } => Self::SetBehaviour { agent, behaviour },
            Command::SetHome { agent, position, by } => Self::SetHome { agent, position: place(&position), by },
            Command::Place { agent, position } => Self::Place { agent, position: place(&position) },
            Command::PickUp { agent } => Self::PickUp { agent },
            Command::Carry { agent, position } => Self::Carry { agent, position: place(&position) },
            Command::PutDown { agent } => Self::PutDown { agent },
            Command::Pause { agent } => Self::Pause { agent },
            Command::Resume { agent } => Self::Resume { agent },
        }
    }
}

impl AgentCommand {
    /// The id of the agent concerned; the id of the profile for an added agent without an id.
    pub fn agent(&self) -> &Id {
        match self {
            Self::Add { id, profile, .. } => id.as_ref().unwrap_or(profile),
            Self::Remove { agent }
            | Self::SetBehaviour { agent, .. }
            | Self::SetHome { agent, .. }
            | Self::Place { agent, .. }
            | Self::PickUp { agent }
            | Self::Carry { agent, .. }
            | Self::PutDown { agent }
            | Self::Pause { agent }
            | Self::Resume { agent } => agent,
        }
    }
}

impl Input for AgentCommand {
    const KIND: &'static str = "agent";
}

/// An agent was added to the room.
#[derive(Message, Clone, Debug)]
pub struct AgentAdded {
    /// Its key.
    pub agent: AgentKey,
    /// The log record of its addition.
    pub cause: Seq,
}

/// An agent left the room.
#[derive(Message, Clone, Debug)]
pub struct AgentRemoved {
    /// Its key, which no entity has any more.
    pub agent: AgentKey,
    /// Its id.
    pub id: Id,
    /// The log record of its removal.
    pub cause: Seq,
}

/// An agent's behaviour changed because of its file or the scene. Not written to the scene.
#[derive(Message, Clone, Debug)]
pub struct BehaviourFollows {
    /// The key of the agent.
    pub agent: AgentKey,
    /// The new behaviour.
    pub behaviour: Behaviour,
}

/// A profile was registered, changed, renamed or withdrawn.
#[derive(Message, Clone, Debug)]
pub struct ProfileChanged {
    /// The id of the profile.
    pub profile: Id,
}

/// The agents in the room, by key and by id. Written by this module only.
#[derive(Resource, Default, Debug)]
pub struct Roster {
    entities: Vec<Option<Entity>>,
    ids: Vec<Option<Id>>,
    keys: BTreeMap<Id, AgentKey>,
}

impl Roster {
    /// The entity of a key, if it is still in the room.
    pub fn entity(&self, agent: AgentKey) -> Option<Entity> {
        self.entities.get(agent.0 as usize).copied().flatten()
    }

    /// The key of an id, if it is in the room.
    pub fn key(&self, id: &str) -> Option<AgentKey> {
        self.keys.get(id).copied()
    }

    /// The id of a key, if it is still in the room.
    pub fn id(&self, agent: AgentKey) -> Option<&Id> {
        self.ids.get(agent.0 as usize)?.as_ref()
    }

    /// All agents in the room, in order of key.
    pub fn iter(&self) -> impl Iterator<Item = (AgentKey, Entity)> + '_ {
        (0..).map(AgentKey).zip(&self.entities).filter_map(|(key, entity)| Some((key, (*entity)?)))
    }

    /// The agents in the room, in order of key.
    pub fn agents<'a>(&'a self, agents: &'a Query<'_, '_, &Agent>) -> impl Iterator<Item = &'a Agent> {
        self.iter().filter_map(|(_, entity)| agents.get(entity).ok())
    }

    /// The number of agents in the room.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no agent is in the room.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key that the next agent will get.
    pub fn next_key(&self) -> AgentKey {
        AgentKey(u32::try_from(self.entities.len()).expect("a room never has four billion agents"))
    }

    /// Adds an agent that came into the room.
    pub fn insert(&mut self, key: AgentKey, id: Id, entity: Entity) {
        let index = key.0 as usize;
        if self.entities.len() <= index {
            self.entities.resize(index + 1, None);
        }
        self.ids.resize(self.entities.len(), None);
        self.entities[index] = Some(entity);
        self.ids[index] = Some(id.clone());
        self.keys.insert(id, key);
    }

    /// Ensures that no key below this one is issued again.
    pub(crate) fn count_on_from(&mut self, next: AgentKey) {
        let length = self.entities.len().max(next.0 as usize);
        self.entities.resize(length, None);
    }

    /// Removes an agent that left the room.
    pub fn remove(&mut self, key: AgentKey, id: &str) {
        if let Some(entity) = self.entities.get_mut(key.0 as usize) {
            *entity = None;
        }
        if let Some(id) = self.ids.get_mut(key.0 as usize) {
            *id = None;
        }
        self.keys.remove(id);
    }
}
