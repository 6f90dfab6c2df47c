//! The pending requests and the saved state of the mind.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::act_calls::OfferedActs;
use super::feedback::Feedback;
use super::gather_stage::{GatherKey, GatherOrder, Gathered, Gathering, HeldRequest, OrderStatus};
use super::prompt::PromptPart;
use super::request::{CallKind, ModelRequest};
use super::session::Session;
use super::tool_models::RefusedTools;
use super::truncation_report::TruncationReports;
use crate::agent::Roster;
use crate::base::{ActivationKey, AgentKey, ElementKey, Id, RequestId, Seq};
use crate::schedule::Section;
use crate::simulation::{ActivityId, Think};

/// A request without an answer yet, with the data needed to handle the answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PendingRequest {
    /// The request without its texts, which the gateway keeps until it is answered.
    pub(super) request: RequestHead,
    /// The subject of the request.
    #[serde(rename = "think")]
    pub(super) subject: Subject,
    /// The request in short form, for the session.
    pub(super) asked: String,
    /// The version of the element that the model was shown.
    pub(super) reading: Option<ShownVersion>,
    /// The mail in the prompt: inbox id and mail ids.
    pub(super) mail_shown: Vec<(Id, Vec<Id>)>,
    /// The remarks in the prompt.
    pub(super) feedback: Vec<String>,
    /// The piece of work and the number of its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) work: Option<(ActivationKey, u32)>,
    /// The length of the session that was sent.
    #[serde(default)]
    pub(super) sent: Sent,
    /// The functions for acts that the model was offered.
    #[serde(default, skip_serializing_if = "OfferedActs::is_empty")]
    pub(super) acts: OfferedActs,
}

/// The subject of a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Subject {
    /// A thought of an agent in the room.
    Thought(Think),
    /// A step of work.
    Work { think: WorkWord, activation: ActivationKey },
    /// A side request: its key, and the piece of work that it ends with, if any.
    Aside {
        think: AsideWord,
        key: Id,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of_work: Option<ActivationKey>,
    },
}

/// The tag of a side request in the saved state.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum AsideWord {
    #[serde(rename = "aside")]
    Aside,
}

/// The tag of work in the saved state.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum WorkWord {
    #[serde(rename = "work")]
    Work,
}

impl Subject {
    /// Creates the subject of a step of work.
    pub(super) fn of_work(activation: ActivationKey) -> Self {
        Self::Work { think: WorkWord::Work, activation }
    }

    /// Creates the subject of a side request.
    pub(super) fn of_aside(key: Id, of_work: Option<ActivationKey>) -> Self {
        Self::Aside { think: AsideWord::Aside, key, of_work }
    }

    /// Returns the piece of work that a side request ends with.
    pub(super) fn aside_of_work(&self) -> Option<ActivationKey> {
        if let Self::Aside { of_work, .. } = self { *of_work } else { None }
    }

    /// Returns the key of a side request.
    pub(super) fn side_request_key(&self) -> Option<&Id> {
        if let Self::Aside { key, .. } = self { Some(key) } else { None }
    }

    /// Returns the thought, if it is one.
    pub(super) fn thought(&self) -> Option<&Think> {
        if let Self::Thought(think) = self { Some(think) } else { None }
    }

    /// Converts into the thought, if it is one.
    pub(super) fn into_thought(self) -> Option<Think> {
        if let Self::Thought(think) = self { Some(think) } else { None }
    }
}

/// The length of the session that was sent, and its limit, in characters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Sent {
    pub(super) chars: usize,
    pub(super) chars_at_most: usize,
}

/// A request without its texts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct RequestHead {
    pub(super) id: RequestId,
    pub(super) agent: AgentKey,
    pub(super) activity: ActivityId,
    pub(super) kind: CallKind,
    pub(super) cause: Seq,
}

impl From<&ModelRequest> for RequestHead {
    fn from(request: &ModelRequest) -> Self {
        let ModelRequest { id, agent, activity, kind, cause, .. } = *request;
        Self { id, agent, activity, kind, cause }
    }
}

/// The version of an element that a model is shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ShownVersion {
    pub(super) element: ElementKey,
    pub(super) version: u32,
    /// Whether the prompt contained everything new; otherwise the element still counts as unread.
    pub(super) whole: bool,
    pub(super) summary: String,
    /// Whether only the element's owner may read it.
    pub(super) private: bool,
}

/// All pending requests. Written by this module only.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingRequests {
    pub(super) next_request: u64,
    #[serde(rename = "pending")]
    pub(super) asked: BTreeMap<RequestId, PendingRequest>,
    /// The requests whose prompts are still being gathered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) gathering: BTreeMap<RequestId, Gathering>,
    /// The ticks at which failed compactions are retried, by agent.
    pub(super) retries: BTreeSet<(u64, AgentKey)>,
    /// The changing parts in the first prompt of each piece of work.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) told: BTreeMap<ActivationKey, Vec<PromptPart>>,
    /// The models that refused functions.
    #[serde(skip_serializing_if = "RefusedTools::is_empty")]
    pub(super) refused_tools: RefusedTools,
}

impl PendingRequests {
    /// Returns the sent requests of an agent's activities, oldest first, without side requests.
    pub fn asked_by(&self, agent: AgentKey) -> impl Iterator<Item = RequestId> {
        let own = self.asked.values().filter(move |waiting| waiting.request.agent == agent);
        own.filter(|waiting| waiting.subject.side_request_key().is_none()).map(|waiting| waiting.request.id)
    }

    /// Returns the agent of each request of an activity, without side requests; an agent with several requests occurs
    /// several times.
    pub fn agents_with_requests(&self) -> impl Iterator<Item = AgentKey> {
        let asked = self.asked.values().filter(|waiting| waiting.subject.side_request_key().is_none());
        asked.map(|waiting| waiting.request.agent).chain(self.gathering.values().map(Gathering::agent))
    }

    /// Whether a work request is sent or being gathered.
    pub fn asks_for_work(&self) -> bool {
        let is_gathered = self.gathering.values().any(|gathering| gathering.activation().is_some());
        is_gathered || self.asked.values().any(|waiting| waiting.work.is_some())
    }

    /// Returns the number of pending requests.
    pub fn len(&self) -> usize {
        self.asked.len() + self.gathering.len()
    }

    /// Whether there are no pending requests.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.gathering.is_empty()
    }

    /// Returns the pending orders for a part, oldest first.
    pub fn orders_of<'a>(&'a self, part: &'a str) -> impl Iterator<Item = GatherOrder<'a>> {
        self.gathering.iter().filter_map(move |(request, gathering)| gather_order(*request, gathering, part))
    }

    /// Returns the pending order with this key.
    pub fn order(&self, key: &GatherKey) -> Option<GatherOrder<'_>> {
        gather_order(key.request, self.gathering.get(&key.request)?, &key.part)
    }

    /// Returns the agent and the causing log record of a request that is being gathered.
    pub fn gathered_for(&self, request: RequestId) -> Option<(AgentKey, Seq)> {
        self.gathering.get(&request).map(|gathering| (gathering.agent(), gathering.cause()))
    }

    /// Removes and returns the requests without pending orders.
    pub(super) fn take_gathered(&mut self) -> Vec<(RequestId, HeldRequest, Gathered)> {
        let all_here: Vec<RequestId> =
            self.gathering.iter().filter(|(_, gathering)| !gathering.is_open()).map(|(id, _)| *id).collect();
        let taken = all_here.into_iter().filter_map(|id| Some((id, self.gathering.remove(&id)?.finish())));
        taken.map(|(id, (due, gathered))| (id, due, gathered)).collect()
    }

    /// Removes and returns an agent's oldest requests until a new one fits. Work is never given up, because it has
    /// limits of its own.
    pub(super) fn make_room(&mut self, agent: AgentKey, at_most: usize) -> Vec<(RequestId, GivenUp)> {
        let asked = self.asked.values().filter(|one| one.request.agent == agent && one.work.is_none());
        let asked = asked.filter(|one| one.subject.side_request_key().is_none());
        let gathering = self.gathering.iter().filter(|(_, one)| one.agent() == agent && one.activation().is_none());
        let mut own: Vec<RequestId> = asked.map(|one| one.request.id).chain(gathering.map(|(id, _)| *id)).collect();
        own.sort_unstable();
        own.truncate((own.len() + 1).saturating_sub(at_most.max(1)));
        let take = |id: RequestId| {
            let asked = self.asked.remove(&id).map(|one| GivenUp::Asked(Box::new(one)));
            let given_up = asked.or_else(|| self.gathering.remove(&id).map(GivenUp::Gathering))?;
            Some((id, given_up))
        };
        own.into_iter().filter_map(take).collect()
    }

    pub(super) fn new_id(&mut self) -> RequestId {
        self.next_request += 1;
        RequestId(self.next_request)
    }
}

/// Returns the order for a part of a prompt that is being gathered, if it is pending.
fn gather_order<'a>(request: RequestId, gathering: &'a Gathering, part: &str) -> Option<GatherOrder<'a>> {
    let (id, wanted) = gathering.wanted.get_key_value(part)?;
    let OrderStatus::Open { query } = wanted else { return None };
    let key = GatherKey { request, part: id.clone() };
    Some(GatherOrder { key, agent: gathering.agent(), query })
}

/// A request that was cancelled for a newer one.
pub(super) enum GivenUp {
    /// It was sent to a model.
    Asked(Box<PendingRequest>),
    /// Its prompt was still being gathered.
    Gathering(Gathering),
}

/// The saved state of this layer.
#[derive(Serialize, Deserialize)]
pub(super) struct MindSaved {
    agents: Vec<(AgentKey, Session, Feedback)>,
    #[serde(rename = "thoughts")]
    pending: PendingRequests,
    #[serde(default)]
    unseen: TruncationReports,
}

impl Section for MindSaved {
    const NAME: &'static str = "mind";

    fn save(world: &mut World) -> Self {
        let roster = world.resource::<Roster>();
        let agents = roster.iter().filter_map(|(key, entity)| {
            Some((key, world.get::<Session>(entity)?.clone(), world.get::<Feedback>(entity)?.clone()))
        });
        let (pending, unseen) =
            (world.resource::<PendingRequests>().clone(), world.resource::<TruncationReports>().clone());
        Self { agents: agents.collect(), pending, unseen }
    }

    fn load(self, world: &mut World) {
        for (key, session, feedback) in self.agents {
            if let Some(entity) = world.resource::<Roster>().entity(key) {
                world.entity_mut(entity).insert((session, feedback));
            }
        }
        world.insert_resource(self.pending);
        world.insert_resource(self.unseen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_requests_of_older_saves_are_read_and_written_unchanged() {
        let head = r#""request":{"id":7,"agent":1,"activity":4,"kind":"task","cause":9}"#;
        let rest = r#""asked":"","reading":null,"mail_shown":[],"feedback":[]"#;
        let sent = r#""sent":{"chars":0,"chars_at_most":0}"#;
        for (think, is_work) in [
            (r#"{"think":"work","activation":12}"#, true),
            (r#"{"think":"read","element":3}"#, false),
            (r#"{"think":"turn","conversation":2}"#, false),
            (r#"{"think":"compact"}"#, false),
        ] {
            let saved = format!(r#"{{{head},"think":{think},{rest},{sent}}}"#);
            let question: PendingRequest = serde_json::from_str(&saved).expect("it was saved so");
            assert_eq!(question.subject.thought().is_none(), is_work);
            assert_eq!(serde_json::to_string(&question).expect("it can be saved"), saved);
        }
    }
}
