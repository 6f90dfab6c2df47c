//! The first stage of a request: some parts of a prompt are looked up outside the world. Each creates an order; the
//! code that looks it up reads its orders with [`orders_of`](super::pending::PendingRequests::orders_of) in each tick
//! and answers with the input [`PartGathered`], possibly many ticks later. Orders are saved with the room, so that they
//! are still pending after a restart. There are no look-ups during a replay.
//!
//! A part that is late or fails is left out, which the record and the prompt mention.

use std::collections::BTreeMap;
use std::fmt;

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

/// The stable id of an order: one part of one prompt.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct GatherKey {
    /// The request that waits for it.
    pub request: RequestId,
    /// The id of the part.
    pub part: Id,
}

impl fmt::Display for GatherKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.request, self.part)
    }
}

/// An order that a prompt waits for.
#[derive(Clone, PartialEq, Debug)]
pub struct GatherOrder<'a> {
    /// The id of the order.
    pub key: GatherKey,
    /// The agent whose prompt it is for.
    pub agent: AgentKey,
    /// The query, as the part's provider made it.
    pub query: &'a Value,
}

/// The result of an order: the text of the part or an error. An input.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartGathered {
    /// The id of the order.
    pub key: GatherKey,
    /// The text, or an error message.
    pub outcome: Result<String, String>,
}

impl Input for PartGathered {
    const KIND: &'static str = "part_gathered";
}

/// A request whose prompt is still being gathered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Gathering {
    due: HeldRequest,
    /// The orders by part.
    pub(super) wanted: BTreeMap<Id, OrderStatus>,
    /// The tick of the deadline.
    pub(super) until_tick: u64,
}

/// The request to make once everything is gathered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HeldRequest {
    /// A thought of an agent in the room.
    Think { agent: AgentKey, activity: ActivityId, think: Think, urgency: Urgency, cause: Seq },
    /// A step of work.
    Work(Box<WorkDue>),
}

impl HeldRequest {
    /// Holds a thought of an agent in the room.
    pub(super) fn think(due: &ThinkDue) -> Self {
        let ThinkDue { agent, activity, ref think, urgency, cause } = *due;
        Self::Think { agent, activity, think: think.clone(), urgency, cause }
    }

    /// Returns the agent, its activity, and the log record that caused the request.
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
    /// The order is pending.
    Open { query: Value },
    /// The text has arrived.
    Here { text: String },
    /// The order failed or was late.
    Missing { why: String },
}

/// The texts gathered for a prompt, and the parts without one.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    pub(super) texts: BTreeMap<Id, String>,
    missing: Vec<(Id, String)>,
}

impl Gathered {
    /// Returns the parts that are not in the prompt, with the reason.
    pub(super) fn left_out(&self, parts: &PromptParts) -> Vec<LeftOut> {
        let origin = |id: &Id| parts.get(id).map_or_else(|| PromptOrigin::of(id), |provider| provider.origin());
        self.missing.iter().map(|(id, why)| LeftOut { origin: origin(id), why: why.clone() }).collect()
    }
}

impl Gathering {
    /// Returns the orders to make before a prompt can be composed; `None` if there are none. Slots whose content was
    /// already sent are not ordered again.
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

    /// Whether an order is still pending.
    pub(super) fn is_open(&self) -> bool {
        self.wanted.values().any(|wanted| matches!(wanted, OrderStatus::Open { .. }))
    }

    /// Returns the activity that the request belongs to.
    pub(super) fn activity(&self) -> ActivityId {
        self.due.about().1
    }

    /// Returns the agent whose prompt it is.
    pub(super) fn agent(&self) -> AgentKey {
        self.due.about().0
    }

    /// Returns the log record that caused the request.
    pub(super) fn cause(&self) -> Seq {
        self.due.about().2
    }

    /// Returns the piece of work that it is for, if any.
    pub(super) fn activation(&self) -> Option<ActivationKey> {
        if let HeldRequest::Work(due) = &self.due { Some(due.activation) } else { None }
    }

    /// Returns the answer to a thought; `None` for work.
    pub(super) fn done(self, outcome: ThinkOutcome) -> Option<ThinkDone> {
        let HeldRequest::Think { agent, activity, think, cause, .. } = self.due else { return None };
        Some(ThinkDone { agent, activity, think: Some(think), outcome, cause })
    }

    /// Returns the message that explains why the agent waits.
    pub(super) fn explain(&self, parts: &PromptParts) -> Explain {
        let labels = self.wanted.keys().map(|id| parts.get(id).map_or(&**id, |provider| &*provider.label));
        let why = format!("waiting for part of its prompt: {}", labels.collect::<Vec<_>>().join(", "));
        let (agent, activity, cause) = self.due.about();
        Explain { agent, activity, why: why.into(), for_person: false, cause: Some(cause) }
    }

    /// Returns the request to make, with the gathered texts.
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
