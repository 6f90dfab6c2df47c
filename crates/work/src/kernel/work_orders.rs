//! Work ordered by higher layers, as data: orders and answers.
//!
//! Orders are written in [`Ingest`](crate::schedule::WorkshopSystems::Ingest) and processed and answered in the same
//! tick, so that no order is in transit when a room is saved.

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use crate::base::{ActivationKey, Id, Seq};
use crate::mind::Ending;

/// The terms of ordered work.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkTerms {
    /// The model to use instead of the agent's own.
    pub model: Option<String>,
    /// The maximum number of model requests per activation, if it is lower than in the settings.
    pub turns_at_most: Option<u32>,
    /// Additional tools. An agent without any rights gets none of them.
    pub tools: Vec<String>,
    /// Whether the session is kept after the work has ended, because it will be continued.
    pub is_kept: bool,
    /// The id of the agent whose result the work continues with. The worker walks to that agent first.
    pub from: Option<Id>,
    /// The id of the element that belongs to the task. The worker walks to that element first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Id>,
    /// Whether the work is evaluated together with other work, so that nothing is learned from it alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_part_of_more: bool,
}

impl WorkTerms {
    /// Whether these are the default terms.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Work that is ordered from an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkWanted {
    /// The id of the order, which is repeated in its answer.
    pub order: Id,
    /// The worker: the id of an agent, or the id or file of a profile.
    pub agent: Id,
    /// The task text.
    pub task: String,
    /// Who ordered the work, as recorded in the log.
    pub by: Id,
    /// The terms of the work.
    pub terms: WorkTerms,
    /// The log record that caused the order.
    pub cause: Seq,
}

/// An order from a higher layer to the kernel.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub enum WorkOrder {
    /// Starts work as a run of its own.
    Begin(Box<WorkWanted>),
    /// Continues a kept session with a further message.
    Continue {
        /// The id of the order.
        order: Id,
        /// The thread of the session.
        thread: ActivationKey,
        /// The message text.
        text: String,
        /// The author of the message, as recorded in the log.
        by: Id,
        /// The log record that caused the order.
        cause: Seq,
    },
    /// Keeps a session after its work has ended, because it will be continued.
    Keep {
        /// The thread of the session.
        thread: ActivationKey,
    },
    /// Stops keeping a session.
    Release {
        /// The thread of the session.
        thread: ActivationKey,
    },
    /// Ends a piece of work.
    End {
        /// The key of the work.
        activation: ActivationKey,
        /// The reason.
        why: String,
    },
}

/// An answer to an order, or the end of work. Each order is answered with `Begun` or `Refused`; each piece of work
/// ends with `Ended` once.
#[derive(Message, Clone, PartialEq, Debug)]
pub enum WorkAnswer {
    /// The work was queued.
    Begun {
        /// The id of the order.
        order: Id,
        /// The key of the work.
        activation: ActivationKey,
        /// The thread of its session.
        thread: ActivationKey,
        /// The id of the agent that does the work.
        agent: Id,
    },
    /// The order was refused.
    Refused {
        /// The id of the order.
        order: Id,
        /// The reason.
        why: String,
    },
    /// A piece of work has ended, whether it was ordered or not.
    Ended {
        /// The key of the work.
        activation: ActivationKey,
        /// The thread of its session.
        thread: ActivationKey,
        /// The id of the agent that did the work.
        agent: Id,
        /// How it ended.
        ending: Ending,
        /// The log record of its end.
        cause: Seq,
    },
}

impl WorkAnswer {
    /// The id of the order that was carried out or refused.
    pub fn order(&self) -> Option<&Id> {
        match self {
            Self::Begun { order, .. } | Self::Refused { order, .. } => Some(order),
            Self::Ended { .. } => None,
        }
    }
}
