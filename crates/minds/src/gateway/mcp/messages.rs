//! Messages between the world and the pool of MCP servers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::McpAnswer;
use super::elicitation::{McpElicitation, McpReply};
use super::failure::McpFailure;
use super::offer::McpOffer;
use super::sampling::McpSampling;
use super::settings::McpTerms;
use crate::agent::McpServer;
use crate::base::Id;
use crate::workspace::vfs::ProgramObserver;

/// A command from the world to the pool.
#[derive(Clone, PartialEq, Debug)]
pub enum McpCommand {
    /// Connects a server, and reconnects it when the connection is lost. One that failed permanently is tried again.
    Connect {
        /// The server.
        server: Box<McpServer>,
        /// Its timeouts and limits.
        terms: Box<McpTerms>,
    },
    /// Ends a server that is no longer needed.
    Release {
        /// The key of the server.
        key: Id,
    },
    /// Makes a request to a server.
    Call {
        /// The id of the call.
        id: Id,
        /// The key of the server.
        key: Id,
        /// The request.
        request: Box<McpRequest>,
        /// Observes which files of the workspace the server changes during the call; `None` if it changes none.
        observer: Option<Box<ProgramObserver>>,
    },
    /// Answers a question that a server asked during a call.
    Answer {
        /// The id of the call.
        id: Id,
        /// The key of the server.
        key: Id,
        /// The number of the question.
        number: u64,
        /// The answer.
        reply: McpReply,
    },
    /// Cancels a call, which still gets its result.
    Cancel {
        /// The id of the call.
        id: Id,
    },
}

/// A request to a server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum McpRequest {
    /// Call a tool.
    Tool {
        /// The server's name of the tool.
        name: String,
        /// The arguments.
        arguments: Map<String, Value>,
    },
    /// Read a resource.
    Resource {
        /// The URI of the resource.
        uri: String,
    },
    /// Get a prompt.
    Prompt {
        /// The name of the prompt.
        name: String,
        /// The arguments.
        arguments: Map<String, Value>,
    },
}

/// An event from the pool to the world.
#[derive(Clone, PartialEq, Debug)]
pub enum McpEvent {
    /// The current status of a server.
    Standing {
        /// The key of the server.
        key: Id,
        /// The status.
        news: McpStatus,
    },
    /// Progress of a call.
    Progress {
        /// The id of the call.
        id: Id,
        /// The message.
        text: String,
    },
    /// A server asks a person something during a call.
    Asks {
        /// The id of the call.
        id: Id,
        /// The question.
        question: Box<McpElicitation>,
    },
    /// A server asks a model something during a call.
    Samples {
        /// The id of the call.
        id: Id,
        /// The question.
        question: Box<McpSampling>,
    },
    /// The result of a call; every call gets exactly one.
    Done {
        /// The id of the call.
        id: Id,
        /// The result.
        outcome: Result<McpAnswer, McpFailure>,
    },
}

/// The status of a server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum McpStatus {
    /// The server is connected; sent again whenever its offer changes.
    Ready {
        /// Everything that it offers.
        offer: Box<McpOffer>,
    },
    /// The server is not connected.
    Failed {
        /// The reason.
        failure: McpFailure,
        /// Whether connecting is retried automatically.
        tries_again: bool,
    },
}
