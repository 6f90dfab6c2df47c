//! The first stage of a request: some parts of a prompt have to be looked up outside. Each such part creates an order;
//! the code that looks it up reads its orders in [`orders_of`](super::pending::PendingRequests::orders_of) in each tick
//! and answers with a [`PartGathered`] through the door, many ticks later if necessary. Orders are saved with the room,
//! so that the same order is still pending after a restart; cancelled ones are removed. Nothing is looked up during a
//! replay.
//!
//! A part that is late, refused or fails is left out, and the record and the prompt say so.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::MindContext;
use super::context_builder::RoomParams;
use super::parts::{PromptParts, Slot};
use super::prompt::{LeftOut, PromptOrigin};
use super::work_messages::WorkDue;
use crate::base::{ActivationKey, AgentKey, Id, RequestId, Seq};
use crate::schedule::{Input, ticks};
use crate::simulation::{ActivityId, Explain, Think, ThinkDone, ThinkDue, ThinkOutcome, Urgency};

/// The permanent id of a request for one part of one prompt.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct GatherKey {
    /// The request that waits for it.
    pub request: RequestId,
    /// The part, by its word.
    pub part: Id,
}

/// An order that a prompt waits for.
#[derive(Clone, PartialEq, Debug)]
pub struct GatherOrder<'a> {
    /// Names it.
    pub key: GatherKey,
    /// Whose prompt it is.
    pub agent: AgentKey,
    /// What is asked, as the part's provider put it.
    pub query: &'a Value,
}

/// The result of an order: the text of the part, or why there is none. An input.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartGathered {
    /// To which order.
    pub key: GatherKey,
    /// The text, or the reason in words.
    pub outcome: Result<String, String>,
}

impl Input for PartGathered {
    const KIND: &'static str = "part_gathered";
}

/// A request whose prompt is still being gathered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Gathering {
    due: HeldRequest,
    /// What was asked for, by part.
    pub(super) wanted: BTreeMap<Id, OrderStatus>,
    /// From this tick on nothing more is waited for.
    pub(super) until_tick: u64,
}

/// What is requested once everything is gathered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HeldRequest {
    /// What an agent in the room thinks about.
    Think { agent: AgentKey, activity: ActivityId, think: Think, urgency: Urgency, cause: Seq },
    /// A step of work.
    Work(Box<WorkDue>),
}

impl HeldRequest {
    /// What an agent in the room thinks about.
    pub(super) fn think(due: &ThinkDue) -> Self {
        let ThinkDue { agent, activity, ref think, urgency, cause } = *due;
        Self::Think { agent, activity, think: think.clone(), urgency, cause }
    }

    /// Who, in which of its activities, and the record that it comes from.
    fn about(&self) -> (AgentKey, ActivityId, Seq) {
        match self {
            Self::Think { agent, activity, cause, .. } => (*agent, *activity, *cause),
            Self::Work(due) => (due.agent, due.activity, due.cause),
        }
    }
}

/// The status of an order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrderStatus {
    /// It is to come.
    Open { query: Value },
    /// It came.
    Here { text: String },
    /// It will not come.
    Missing { why: String },
}

/// What was gathered for a prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    pub(super) texts: BTreeMap<Id, String>,
    missing: Vec<(Id, String)>,
}

impl Gathered {
    /// What is not in the prompt, and why.
    pub(super) fn left_out(&self, parts: &PromptParts) -> Vec<LeftOut> {
        let origin = |id: &Id| parts.get(id).map_or_else(|| PromptOrigin::of(id), |provider| provider.origin());
        self.missing.iter().map(|(id, why)| LeftOut { origin: origin(id), why: why.clone() }).collect()
    }
}

impl Gathering {
    /// The requests to make before a prompt can be composed; `None` if nothing is missing. Slots whose content was
    /// already sent are not requested again.
    pub(super) fn of(
        room: &RoomParams,
        context: &MindContext,
        due: HeldRequest,
        is_told: impl Fn(Slot) -> bool,
    ) -> Option<Self> {
        let of_part = room.parts.iter().filter(|provider| !is_told(provider.slot));
        let wanted = of_part.filter_map(|provider| {
            let query = provider.query(context)?;
            Some((provider.id.clone(), OrderStatus::Open { query }))
        });
        let wanted: BTreeMap<Id, OrderStatus> = wanted.collect();
        let until_tick = room.clock.tick() + ticks(room.settings.gather_secs);
        (!wanted.is_empty()).then_some(Self { due, wanted, until_tick })
    }

    /// Whether anything is still to come.
    pub(super) fn is_open(&self) -> bool {
        self.wanted.values().any(|wanted| matches!(wanted, OrderStatus::Open { .. }))
    }

    /// In which of its agent's activities.
    pub(super) fn activity(&self) -> ActivityId {
        self.due.about().1
    }

    /// Whose prompt it is.
    pub(super) fn agent(&self) -> AgentKey {
        self.due.about().0
    }

    /// The record that it comes from.
    pub(super) fn cause(&self) -> Seq {
        self.due.about().2
    }

    /// The piece of work that it is for.
    pub(super) fn activation(&self) -> Option<ActivationKey> {
        if let HeldRequest::Work(due) = &self.due { Some(due.activation) } else { None }
    }

    /// The one answer to what was thought about, where it was in the room.
    pub(super) fn done(self, outcome: ThinkOutcome) -> Option<ThinkDone> {
        let HeldRequest::Think { agent, activity, think, cause, .. } = self.due else { return None };
        Some(ThinkDone { agent, activity, think: Some(think), outcome, cause })
    }

    /// Why the agent waits.
    pub(super) fn explain(&self, parts: &PromptParts) -> Explain {
        let labels = self.wanted.keys().map(|id| parts.get(id).map_or(&**id, |provider| &*provider.label));
        let why = format!("waiting for part of its prompt: {}", labels.collect::<Vec<_>>().join(", "));
        let (agent, activity, cause) = self.due.about();
        Explain { agent, activity, why: why.into(), for_person: false, cause: Some(cause) }
    }

    /// The request to make now, with what was gathered for it.
    pub(super) fn finish(self) -> (HeldRequest, Gathered) {
        let mut gathered = Gathered::default();
        for (id, wanted) in self.wanted {
            match wanted {
                OrderStatus::Here { text } => drop(gathered.texts.insert(id, text)),
                OrderStatus::Missing { why } => gathered.missing.push((id, why)),
                OrderStatus::Open { .. } => {}
            }
        }
        (self.due, gathered)
    }
}
