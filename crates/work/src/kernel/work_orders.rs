//! Work ordered by higher floors, as data: the orders and the replies.
//!
//! Orders are written in [`Ingest`](crate::schedule::WorkshopSystems::Ingest) and processed in the same tick; replies
//! are sent in the same tick, too, so that nothing is in transit when a room is saved.

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use crate::base::{ActivationKey, Id, Seq};
use crate::mind::Ending;

/// What the floor that ordered work adds to it besides the task.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkTerms {
    /// The model that is asked in place of the agent's own.
    pub model: Option<String>,
    /// Questions to it in one piece of work, where that is less than the settings say.
    pub turns_at_most: Option<u32>,
    /// Tools beside those of the agent; who may use none at all has none of them.
    pub tools: Vec<String>,
    /// Whether its session is kept when the work is over, for whoever goes on with it.
    pub is_kept: bool,
    /// The agent whose result it goes on with, by id: whoever takes the work goes over there.
    pub from: Option<Id>,
    /// The element at which the task is found, by id: whoever takes the work goes there before all else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Id>,
    /// Whether whoever ordered it has it looked back at together with other work, so that nobody learns from it alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_part_of_more: bool,
}

impl WorkTerms {
    /// Whether they say nothing.
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Work that is ordered from an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkWanted {
    /// The id of the order; its outcome is reported under this id.
    pub order: Id,
    /// Who is to do it: an agent by id, or a profile by id or file.
    pub agent: Id,
    /// What is to be done.
    pub task: String,
    /// Who wants it, as the log says it.
    pub by: Id,
    /// What it is lent.
    pub terms: WorkTerms,
    /// The record that it comes from.
    pub cause: Seq,
}

/// An order of a higher floor to the kernel.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub enum WorkOrder {
    /// An agent is to do something, as a run of its own.
    Begin(Box<WorkWanted>),
    /// A further message to the agent in a session that was kept.
    GoOn {
        /// Names the order.
        order: Id,
        /// Which session.
        thread: ActivationKey,
        /// Its text.
        text: String,
        /// Its author, as in the log.
        by: Id,
        /// The record that it comes from.
        cause: Seq,
    },
    /// A session is to be kept after its work has ended, for the agent that continues it.
    Keep {
        /// Which.
        thread: ActivationKey,
    },
    /// Nobody continues a session that was kept.
    LetGo {
        /// Which.
        thread: ActivationKey,
    },
    /// A piece of work is to end.
    End {
        /// Which.
        activation: ActivationKey,
        /// Why.
        why: String,
    },
}

/// The replies about such work. Each order is answered with the first or the second; each work ends with the third,
/// once.
#[derive(Message, Clone, PartialEq, Debug)]
pub enum WorkAnswer {
    /// An agent has it.
    Begun {
        /// Which order.
        order: Id,
        /// The piece of work.
        activation: ActivationKey,
        /// Its session.
        thread: ActivationKey,
        /// Who has it, by id.
        agent: Id,
    },
    /// Nobody does it.
    Refused {
        /// Which order.
        order: Id,
        /// Why.
        why: String,
    },
    /// A piece of work has ended, whoever ordered it.
    Ended {
        /// Which.
        activation: ActivationKey,
        /// How.
        ending: Ending,
        /// The record of its end.
        cause: Seq,
    },
}
