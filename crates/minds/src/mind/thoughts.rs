//! The questions that are under way, and what of the mind outlives the process.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::feedback::Feedback;
use super::question::{CallKind, ModelRequest, PromptPart};
use super::session::Session;
use super::unseen::UnseenTold;
use crate::agent::Roster;
use crate::base::{ActivationKey, AgentKey, ElementKey, Id, RequestId, Seq};
use crate::schedule::Section;
use crate::simulation::{ActivityId, Think};

/// A question that was asked and not answered yet, with what its answer will need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PendingThought {
    /// The question. Its words are with the gateway, which keeps them until it is answered.
    pub(super) request: Asked,
    /// What there is to think about.
    pub(super) think: Think,
    /// The moment in short, for the session.
    pub(super) asked: String,
    /// The element that is read, as the model sees it.
    pub(super) reading: Option<ReadVersion>,
    /// The mail in the prompt: which inbox, which pieces.
    pub(super) mail_shown: Vec<(Id, Vec<Id>)>,
    /// The remarks that the prompt passes on.
    pub(super) feedback: Vec<String>,
    /// The piece of work that asked, and which of its questions this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) work: Option<(ActivationKey, u32)>,
    /// How much of a session was sent.
    #[serde(default)]
    pub(super) sent: Sent,
}

/// How much of a session was sent, and might have been, in characters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Sent {
    pub(super) chars: usize,
    pub(super) chars_at_most: usize,
}

/// A question without its words.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) id: RequestId,
    pub(super) agent: AgentKey,
    pub(super) activity: ActivityId,
    pub(super) kind: CallKind,
    pub(super) cause: Seq,
}

impl From<&ModelRequest> for Asked {
    fn from(request: &ModelRequest) -> Self {
        let ModelRequest { id, agent, activity, kind, cause, .. } = *request;
        Self { id, agent, activity, kind, cause }
    }
}

/// What a model is shown of an element.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ReadVersion {
    pub(super) element: ElementKey,
    pub(super) version: u32,
    /// Whether all of it that is new was in the prompt; what was left out is still news.
    pub(super) whole: bool,
    pub(super) summary: String,
    /// Whether only its owner may read it.
    pub(super) private: bool,
}

/// All questions that are under way. Written by this module only.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Thoughts {
    pub(super) next_request: u64,
    pub(super) pending: BTreeMap<RequestId, PendingThought>,
    /// When to look again whether a session is to be summed up, after that failed.
    pub(super) retries: BTreeSet<(u64, AgentKey)>,
    /// What agents at work were told when they began, by their work.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) told: BTreeMap<ActivationKey, Vec<PromptPart>>,
}

impl Thoughts {
    /// The questions of an agent that are under way, oldest first.
    pub fn pending_of(&self, agent: AgentKey) -> impl Iterator<Item = RequestId> {
        self.pending.values().filter(move |thought| thought.request.agent == agent).map(|thought| thought.request.id)
    }

    /// Whose questions are under way; who has several comes several times.
    pub fn asking(&self) -> impl Iterator<Item = AgentKey> {
        self.pending.values().map(|thought| thought.request.agent)
    }

    /// How many questions are under way.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub(super) fn new_id(&mut self) -> RequestId {
        self.next_request += 1;
        RequestId(self.next_request)
    }
}

/// What of this floor outlives the process.
#[derive(Serialize, Deserialize)]
pub(super) struct MindSaved {
    agents: Vec<(AgentKey, Session, Feedback)>,
    thoughts: Thoughts,
    #[serde(default)]
    unseen: UnseenTold,
}

impl Section for MindSaved {
    const NAME: &'static str = "mind";

    fn save(world: &mut World) -> Self {
        let roster = world.resource::<Roster>();
        let agents = roster.iter().filter_map(|(key, entity)| {
            Some((key, world.get::<Session>(entity)?.clone(), world.get::<Feedback>(entity)?.clone()))
        });
        let (thoughts, unseen) = (world.resource::<Thoughts>().clone(), world.resource::<UnseenTold>().clone());
        Self { agents: agents.collect(), thoughts, unseen }
    }

    fn load(self, world: &mut World) {
        for (key, session, feedback) in self.agents {
            if let Some(entity) = world.resource::<Roster>().entity(key) {
                world.entity_mut(entity).insert((session, feedback));
            }
        }
        world.insert_resource(self.thoughts);
        world.insert_resource(self.unseen);
    }
}
