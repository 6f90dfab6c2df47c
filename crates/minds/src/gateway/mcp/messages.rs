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

/// A command from the world to the pool.
#[derive(Clone, PartialEq, Debug)]
pub enum McpCommand {
    /// A server is needed: it is connected, and reconnected when it is lost. One that failed permanently is tried
    /// again.
    Connect {
        /// Which.
        server: Box<McpServer>,
        /// How it is treated.
        terms: Box<McpTerms>,
    },
    /// A server is not needed any more: it is ended.
    Release {
        /// Its key.
        key: Id,
    },
    /// Something is asked of a server.
    Call {
        /// Names the call.
        id: Id,
        /// The key of the server.
        key: Id,
        /// What is asked.
        request: Box<McpRequest>,
    },
    /// What a person or a model answers to a question that a server asked in the middle of a call.
    Answer {
        /// Of which call.
        id: Id,
        /// The key of the server.
        key: Id,
        /// Which question.
        number: u64,
        /// The answer.
        reply: McpReply,
    },
    /// A call is stopped; it still gets its end.
    Cancel {
        /// Which.
        id: Id,
    },
}

/// A request to a server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum McpRequest {
    /// To do something.
    Tool {
        /// The tool, as the server calls it.
        name: String,
        /// With what.
        arguments: Map<String, Value>,
    },
    /// The content of a resource.
    Resource {
        /// Its address.
        uri: String,
    },
    /// A prompt that it has ready.
    Prompt {
        /// Which.
        name: String,
        /// With what.
        arguments: Map<String, Value>,
    },
}

/// An event from the pool to the world.
#[derive(Clone, PartialEq, Debug)]
pub enum McpEvent {
    /// The current status of a server.
    Standing {
        /// Its key.
        key: Id,
        /// What is so.
        news: McpNews,
    },
    /// Progress of a call.
    Progress {
        /// Which.
        id: Id,
        /// How far it is.
        text: String,
    },
    /// A server asks a person something before it continues a call.
    Asks {
        /// With which.
        id: Id,
        /// What.
        question: Box<McpElicitation>,
    },
    /// A server calls a model before it continues a call.
    Samples {
        /// With which.
        id: Id,
        /// What.
        question: Box<McpSampling>,
    },
    /// A call has its end: every one gets exactly one.
    Done {
        /// Which.
        id: Id,
        /// Its result.
        outcome: Result<McpAnswer, McpFailure>,
    },
}

/// The status of a server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum McpNews {
    /// It is there, with all that it offers; again whenever that changes.
    Ready {
        /// What it offers.
        offer: Box<McpOffer>,
    },
    /// It is not there.
    Failed {
        /// Why.
        failure: McpFailure,
        /// Whether it is tried again by itself.
        tries_again: bool,
    },
}
