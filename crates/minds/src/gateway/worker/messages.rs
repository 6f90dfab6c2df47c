//! Messages between the world and the worker.

use crossbeam_channel::Sender;

use super::live_replies::LiveCall;
use crate::base::{Id, RequestId};
use crate::gateway::programs::sandbox::attribute_reports::AttributesPutBack;
use crate::gateway::providers::provider::ProviderRequest;
use crate::gateway::settings::{Choice, Terms};
use crate::gateway::trust::followed_trust::TrustCommand;
use crate::mind::{Completion, Effort, ModelFailure, ScriptPlace};
use crate::workspace::WorkspaceTrust;

/// The free capacity below which pieces of text wait, because the ends of answers must always find room.
const ROOM_FOR_ENDS: usize = 512;

/// A command from the world to the worker.
#[derive(Clone, PartialEq, Debug)]
pub enum GatewayCommand {
    /// Send a request to a provider.
    Complete {
        /// The id of the request.
        id: RequestId,
        /// The request.
        request: Box<ProviderRequest>,
        /// The provider and the model.
        choice: Choice,
        /// The terms of the call.
        terms: Box<Terms>,
    },
    /// Cancel a request, which still gets its result.
    Cancel {
        /// The id of the request.
        id: RequestId,
    },
    /// A command about the person's file about the workspace.
    Trust(TrustCommand),
    /// An activation has ended: a coding agent that works on it is stopped, and its session is closed.
    WorkOver {
        /// The activation.
        work: Id,
    },
    /// Stop the worker.
    Shutdown,
}

/// An event from the worker to the world.
#[derive(Clone, PartialEq, Debug)]
pub enum GatewayEvent {
    /// A request was sent; repeated before each retry, which starts from the beginning.
    Started {
        /// The id of the request.
        id: RequestId,
    },
    /// Text arrived; for the screen only. Pieces may be merged and delayed.
    Delta {
        /// The id of the request.
        id: RequestId,
        /// The text since the last piece.
        text: String,
    },
    /// A coding agent reported more of its thinking; for the screen only.
    Thought {
        /// The id of the request.
        id: RequestId,
        /// The text since the last piece.
        text: String,
    },
    /// A tool is being called, or more of its arguments arrived; for the screen only.
    Calling {
        /// The id of the request.
        id: RequestId,
        /// The index of the call in the answer.
        position: usize,
        /// The call so far.
        call: LiveCall,
    },
    /// Guarded files were changed while coding agents ran, and put back.
    PutBack(AttributesPutBack),
    /// What the person trusts of the workspace, read from their file.
    TrustRead(WorkspaceTrust),
    /// A request has ended.
    Finished {
        /// The id of the request.
        id: RequestId,
        /// The reply, or why there is none.
        outcome: Result<Completion, ModelFailure>,
        /// How long it took.
        latency: Latency,
        /// The attempts and the usage.
        effort: Effort,
        /// The position in the agent's script, if one was played.
        script: Option<ScriptPlace>,
    },
}

/// The latency of an answer, and whose clock it is measured by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Latency {
    /// The seconds of simulated time that the answer takes.
    Simulated(f32),
    /// The real milliseconds that the answer took.
    Outside(u64),
}

/// Whether there is room for a piece of text in the queue.
pub(super) fn has_room(events: &Sender<GatewayEvent>) -> bool {
    events.len() < ROOM_FOR_ENDS
}
