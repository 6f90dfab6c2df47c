//! Requests of code to the outside, as data: the caller checks, answers and records them.

use serde::{Deserialize, Serialize};

/// A request that waits for its answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostCall {
    /// Tells it from the other requests of the same call; counted from 1.
    pub id: u64,
    /// The number of the order of a module whose code asks; 0 for a tool of a document, and for code of a module that
    /// runs in the background.
    #[serde(default, skip_serializing_if = "is_none")]
    pub order: u64,
    /// What is asked.
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
        /// In capitals.
        method: String,
        /// An absolute address whose scheme is `http` or `https`.
        url: String,
        /// Names in small letters, each with its value.
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// What is sent.
        #[serde(default)]
        body: Option<String>,
    },
    /// `readFile(path)`.
    ReadFile {
        /// As the code wrote it; the host resolves it in the agent's folder.
        path: String,
    },
    /// `writeFile(path, content)`.
    WriteFile {
        /// As the code wrote it.
        path: String,
        /// The whole new content.
        content: String,
    },
    /// `ctx.prompt(message)` of a module: the message goes through the agent's loop.
    Prompt {
        /// What is said to the agent.
        message: String,
    },
}

/// The host's answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HostAnswer {
    /// What a server answered, whatever its status.
    Response {
        /// The status, as `200`.
        status: u16,
        /// The address that answered in the end.
        url: String,
        /// Names in small letters, each with its value.
        headers: Vec<(String, String)>,
        /// The body as it came.
        body: Vec<u8>,
    },
    /// The text of a file, or what the agent said.
    Text {
        /// The text.
        text: String,
    },
    /// It was done.
    Done,
    /// It was not done: refused by the gate or by a person, or it failed. The code sees an error with these words.
    Refused {
        /// Why, as one sentence.
        reason: String,
    },
}
