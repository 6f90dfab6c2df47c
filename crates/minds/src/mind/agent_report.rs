//! The report of a coding agent about its turn, besides the text: calls of its own tools, plan, costs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::Id;

/// The report of one answer. It contains the agent's own claims, which are not verified.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentReport {
    /// New or changed calls of its own tools, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<AgentToolCall>,
    /// Its reasoning, for people to read; never sent to another agent or a model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// Images in the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<AgentImage>,
    /// The plan, if it changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanStep>,
    /// The agent's own session for this work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
    /// A sentence for a person about content that was lost because its session could not be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// The options it offers, if they changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AgentOption>,
    /// The commands it accepts at the beginning of a prompt, if they changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<OwnCommand>,
    /// Programs that the room ran for it and that have ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<RanInTerminal>,
    /// Characters sent with this request; the agent keeps earlier messages itself.
    pub sent_chars: usize,
    /// Cost since its last report, in millionths of a dollar; `None` if it reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
}

/// An image in an agent's answer or in the result of a call.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentImage {
    /// The media type: `image/png`.
    pub media_type: String,
    /// The content in base64.
    pub base64: String,
}

/// The media types that every vendor accepts, with the first characters of their content in base64.
const COMMON_KINDS: [(&str, &str); 4] =
    [("image/png", "iVBORw0KGgo"), ("image/jpeg", "/9j/"), ("image/gif", "R0lGOD"), ("image/webp", "UklGR")];

impl AgentImage {
    /// Whether every vendor accepts an image: its media type is common, and its content matches the type. Vendors
    /// reject the whole request for any other image.
    pub fn is_common(media_type: &str, base64: &str) -> bool {
        let begins = |(kind, begin): &(&str, &str)| media_type == *kind && base64.starts_with(begin);
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        COMMON_KINDS.iter().any(begins) && base64.len().is_multiple_of(4) && base64.bytes().all(is_base64)
    }
}

/// The images in tool results, for coding agents that accept images.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultImages {
    /// The images by call id.
    pub of_calls: BTreeMap<String, Vec<AgentImage>>,
    /// The session file, which also has the images.
    pub kept_in: String,
}

impl ResultImages {
    /// Whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.of_calls.is_empty()
    }
}

/// The session that a coding agent keeps for a piece of work: it is resumed after the agent or the room was stopped.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSession {
    /// The key of the agent that has the session.
    pub agent: Id,
    /// The agent's id for it.
    pub id: String,
    /// The total cost that the agent reports for it, in millionths of a dollar.
    pub paid_micro_usd: u64,
}

/// An option of a coding agent, such as its mode or its model.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentOption {
    /// The agent's id for it.
    pub id: String,
    /// The display name.
    pub name: String,
    /// The id of the selected value.
    pub current: String,
    /// The possible values.
    pub values: Vec<AgentOptionValue>,
}

/// A command of a coding agent: `/NAME` at the beginning of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnCommand {
    /// The name without the leading slash.
    pub name: String,
    /// The agent's description of it.
    pub about: String,
}

/// A possible value of an option.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentOptionValue {
    /// The agent's id for it.
    pub id: String,
    /// The display name.
    pub name: String,
    /// Whether it is a mode in which the agent asks for permission less often.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_less: bool,
}

/// A call of one of the agent's own tools.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentToolCall {
    /// The agent's id for it.
    pub id: String,
    /// The agent's description of the call.
    pub title: String,
    /// The kind of tool as in the protocol: `read`, `edit`, `execute`, …
    pub kind: String,
    /// The status as in the protocol: `pending`, `in_progress`, `completed`, `failed`.
    pub status: String,
    /// The paths of the files it names, relative to the workspace if they are inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The file changes that the agent reports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<OwnChange>,
    /// The number of images in the result, which are not kept.
    #[serde(skip_serializing_if = "is_none")]
    pub images: u32,
    /// Whether it failed because the system did not let the agent write something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_refused_access: bool,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

impl AgentToolCall {
    /// Whether the agent reports that the call has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed")
    }
}

/// A change of a file, as the agent reports it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnChange {
    /// The path of the file.
    pub path: String,
    /// The beginning of the old text; `None` for a new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The beginning of the new text.
    pub new: String,
}

/// A program that the room ran for the agent in a terminal; not a claim of the agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RanInTerminal {
    /// The command line.
    pub command: String,
    /// The exit code, if the program exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The reason it ended: `exited`, `timed_out`, `said_too_much`, `killed`, `ended_by_the_room_or_the_agent`.
    pub end: String,
    /// The run time in seconds.
    pub secs: f64,
    /// The end of its output.
    pub said: String,
}

/// A step of the agent's plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanStep {
    /// The description of the step.
    pub text: String,
    /// The status: `pending`, `in_progress`, `completed`.
    pub status: String,
}

impl AgentReport {
    /// Returns the report with `map` applied to all of its texts.
    #[must_use]
    pub fn mapped(mut self, map: impl Fn(String) -> String) -> Self {
        let change = |text: &mut String| *text = map(std::mem::take(text));
        for call in &mut self.calls {
            change(&mut call.title);
            call.paths.iter_mut().for_each(change);
            for one in &mut call.changes {
                change(&mut one.path);
                one.old.iter_mut().for_each(change);
                change(&mut one.new);
            }
        }
        change(&mut self.thought);
        self.plan.iter_mut().for_each(|step| change(&mut step.text));
        for ran in &mut self.ran {
            change(&mut ran.command);
            change(&mut ran.said);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_images_that_every_vendor_accepts_are_common() {
        let image = AgentImage::is_common;
        assert!(image("image/png", "iVBORw0KGgo=") && image("image/jpeg", "/9j/4AAQ"));
        assert!(!image("image/jpeg", "iVBORw0KGgo="), "it is of another kind than it says");
        assert!(!image("image/svg+xml", "PHN2Zz4=") && !image("image/png", "aGk="));
        assert!(!image("image/png", "iVBORw0KGgo") && !image("image/png", "iVBORw0KGgo\n"));
    }
}
