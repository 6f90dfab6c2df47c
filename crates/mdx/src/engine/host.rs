//! Requests of code to its host, as data: the caller checks, answers and records them.

use serde::{Deserialize, Serialize};

/// A request that waits for its answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostCall {
    /// The number of the request in its call, counted from 1.
    pub id: u64,
    /// The number of the module order whose code makes the request; 0 for a tool of a document, and for background code
    /// of a module.
    #[serde(default, skip_serializing_if = "is_none")]
    pub order: u64,
    /// The request.
    pub request: HostRequest,
}

fn is_none(order: &u64) -> bool {
    *order == 0
}

/// A request to the host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HostRequest {
    /// `fetch(url, options)`.
    Fetch {
        /// The method, in upper case.
        method: String,
        /// An absolute `http` or `https` URL.
        url: String,
        /// The headers: names in lower case, and values.
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// The body, if any.
        #[serde(default)]
        body: Option<String>,
    },
    /// `readFile(path)`.
    ReadFile {
        /// The path as the code wrote it; the host resolves it in the agent's folder.
        path: String,
    },
    /// `writeFile(path, content)`.
    WriteFile {
        /// The path as the code wrote it.
        path: String,
        /// The new content.
        content: String,
    },
    /// `ctx.prompt(message)` of a module: the message goes through the agent's loop.
    Prompt {
        /// The message to the agent.
        message: String,
    },
}

/// The host's answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HostAnswer {
    /// The response of a server, whatever its status.
    Response {
        /// The status, such as `200`.
        status: u16,
        /// The URL of the final response.
        url: String,
        /// The headers: names in lower case, and values.
        headers: Vec<(String, String)>,
        /// The body.
        body: Vec<u8>,
    },
    /// The text of a file, or the agent's reply.
    Text {
        /// The text.
        text: String,
    },
    /// The request succeeded.
    Done,
    /// The request was refused by the gate or a person, or failed. The code gets an error with this message.
    Refused {
        /// The reason, as one sentence.
        reason: String,
    },
}
