//! Messages between the world and the worker.

use crossbeam_channel::Sender;

use super::keys::Environment;
use super::live_replies::LiveCall;
use super::mcp::{McpCommand, McpEvent};
use super::programs::{ProgramCommand, ProgramEnded};
use super::provider::ProviderRequest;
use super::settings::{Choice, Terms};
use super::slack::{SlackCommand, SlackEvent};
use super::web::{WebAnswered, WebCommand};
use crate::base::{Id, RequestId};
use crate::mind::{Completion, Effort, ModelFailure, ScriptPlace};

/// From here on pieces of text wait: the ends of answers must always find room.
const ROOM_FOR_ENDS: usize = 512;

/// A command from the world to the worker.
#[derive(Clone, PartialEq, Debug)]
pub enum GatewayCommand {
    /// Ask.
    Complete {
        /// Names the question.
        id: RequestId,
        /// The question.
        request: Box<ProviderRequest>,
        /// Who is asked, and which model.
        choice: Choice,
        /// How.
        terms: Box<Terms>,
    },
    /// Stop asking; the question still gets its end.
    Cancel {
        /// Which.
        id: RequestId,
    },
    /// Something about an MCP server.
    Mcp(McpCommand),
    /// Something about a program that an agent runs.
    Program(ProgramCommand),
    /// Something about a question to a server of the web.
    Web(WebCommand),
    /// Something about Slack.
    Slack(SlackCommand),
    /// A piece of work is over: a coding agent that was at it is stopped, and its session is closed.
    WorkOver {
        /// Which.
        work: Id,
    },
    /// Stop everything.
    Shutdown,
}

/// An event from the worker to the world.
#[derive(Clone, PartialEq, Debug)]
pub enum GatewayEvent {
    /// A question is on its way; again before each further try, which begins at nothing.
    Started {
        /// Which.
        id: RequestId,
    },
    /// Text came; for the screen only. Pieces may come joined and late.
    Delta {
        /// To which question.
        id: RequestId,
        /// The text since the last piece.
        text: String,
    },
    /// A coding agent reported more of its thinking; for the screen only.
    Thought {
        /// In the answer to which question.
        id: RequestId,
        /// The text since the last piece.
        text: String,
    },
    /// A tool is being called, or more of its arguments is known; for the screen only.
    Calling {
        /// In the answer to which question.
        id: RequestId,
        /// The how-manyeth call of the answer, from 0.
        position: usize,
        /// The call so far.
        call: LiveCall,
    },
    /// A person changed the keys, or the addresses of vendors.
    AccessChanged {
        /// What is so now.
        environment: Box<Environment>,
    },
    /// Something of an MCP server.
    Mcp(McpEvent),
    /// A program that an agent ran has ended.
    Program(ProgramEnded),
    /// A server of the web answered, or did not.
    Web(WebAnswered),
    /// Something of Slack.
    Slack(SlackEvent),
    /// A question has its answer.
    Finished {
        /// Which.
        id: RequestId,
        /// The reply, or why there is none.
        outcome: Result<Completion, ModelFailure>,
        /// How long it took.
        latency: Latency,
        /// What else it took.
        effort: Effort,
        /// Where the agent is in its script now, if one was played.
        script: Option<ScriptPlace>,
    },
}

/// The latency of an answer, and whose clock it is measured by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Latency {
    /// Seconds of simulated time that it is to take.
    Simulated(f32),
    /// Milliseconds that it took.
    Outside(u64),
}

/// Whether there is room for a piece of text in the channel.
pub(super) fn has_room(events: &Sender<GatewayEvent>) -> bool {
    events.len() < ROOM_FOR_ENDS
}
