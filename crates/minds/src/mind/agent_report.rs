//! What a coding agent reports about its turn besides its text: its own tools that it used, its plan, its costs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::Id;

/// The complete report of one answer. Everything in it is the agent's own claim: nobody here has verified it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentReport {
    /// Tools of its own of which it told something new, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<OwnCall>,
    /// What it told of its thoughts: kept for people, and nobody's words. No other agent and no model is sent them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// Images of its answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<AgentImage>,
    /// Its plan, where it told of one anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanStep>,
    /// The session that it keeps of this piece of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
    /// What of its session could not be gone on with, in words for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// What it lets be chosen, where it told of that anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OwnOption>,
    /// The commands that it knows, where it told of them anew: what a prompt to it may begin with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<OwnCommand>,
    /// Programs that the room ran for it and that are over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<RanInTerminal>,
    /// Characters that were sent to it with this question: it keeps what was sent before.
    pub sent_chars: usize,
    /// What it says that it paid since it told last, in millionths of a dollar; none where it does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
}

/// An image in an agent's answer, or in the result of a call.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentImage {
    /// What kind of image: `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub base64: String,
}

/// The kinds of images that every vendor takes, with how their bytes begin in base64.
const COMMON_KINDS: [(&str, &str); 4] =
    [("image/png", "iVBORw0KGgo"), ("image/jpeg", "/9j/"), ("image/gif", "R0lGOD"), ("image/webp", "UklGR")];

impl AgentImage {
    /// Whether models accept an image of this kind with these bytes in base64: a kind that every vendor takes, and
    /// bytes that can be of that kind. A request with another one would be refused as a whole.
    pub fn is_common(media_type: &str, base64: &str) -> bool {
        let begins = |(kind, begin): &(&str, &str)| media_type == *kind && base64.starts_with(begin);
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        COMMON_KINDS.iter().any(begins) && base64.len().is_multiple_of(4) && base64.bytes().all(is_base64)
    }
}

/// Images in results of a coding agent's calls, for agents that accept images.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultImages {
    /// By the ids of the calls.
    pub of_calls: BTreeMap<String, Vec<AgentImage>>,
    /// The session's file, which has them as well.
    pub kept_in: String,
}

impl ResultImages {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of_calls.is_empty()
    }
}

/// The session that a coding agent keeps for a piece of work: it is resumed after the agent or the room was stopped.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSession {
    /// Which agent has it: exactly this one, by its key.
    pub agent: Id,
    /// The agent's name for it.
    pub id: String,
    /// What it says that it has paid in it, in millionths of a dollar.
    pub paid_micro_usd: u64,
}

/// An option of a coding agent, such as its mode or its model.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnOption {
    /// The agent's id for it.
    pub id: String,
    /// What it calls it.
    pub name: String,
    /// The id of what is chosen.
    pub current: String,
    /// What can be chosen.
    pub values: Vec<OwnValue>,
}

/// A command of a coding agent: `/NAME` at the beginning of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnCommand {
    /// Its name, without the stroke.
    pub name: String,
    /// What it does, as the agent says.
    pub about: String,
}

/// A possible value of an option.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnValue {
    /// The agent's id for it.
    pub id: String,
    /// What it calls it.
    pub name: String,
    /// Whether it is a mode in which the agent asks before less.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_less: bool,
}

/// A use of one of the agent's own tools.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnCall {
    /// The agent's name for it.
    pub id: String,
    /// What it says that it does.
    pub title: String,
    /// Which kind of tool, in the protocol's words: `read`, `edit`, `execute`, …
    pub kind: String,
    /// How far it is, in the protocol's words: `pending`, `in_progress`, `completed`, `failed`.
    pub status: String,
    /// The files that it names, in the workspace where they lie there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What it says that it changed in files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<OwnChange>,
    /// How many images came of it; they are not kept.
    #[serde(skip_serializing_if = "is_none")]
    pub images: u32,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

impl OwnCall {
    /// Whether the agent says that it is over.
    pub fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed")
    }
}

/// A change of a file, as the agent reports it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnChange {
    /// Which file.
    pub path: String,
    /// The beginning of the old text; `None` for a new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The beginning of the new text.
    pub new: String,
}

/// A program that the room ran for the agent in a terminal. This is known to the room itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RanInTerminal {
    /// Its words, on one line.
    pub command: String,
    /// Its exit code, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How it ended: `exited`, `timed_out`, `said_too_much`, `killed`, `ended_by_the_room_or_the_agent`.
    pub end: String,
    /// Seconds for which it ran.
    pub secs: f64,
    /// The end of what it said.
    pub said: String,
}

/// A step of the agent's plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanStep {
    /// What is to be done.
    pub text: String,
    /// How far it is: `pending`, `in_progress`, `completed`.
    pub status: String,
}

impl AgentReport {
    /// The same with every text of it changed in this way.
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
    fn models_are_sent_only_what_every_vendor_takes_for_an_image() {
        let image = AgentImage::is_common;
        assert!(image("image/png", "iVBORw0KGgo=") && image("image/jpeg", "/9j/4AAQ"));
        assert!(!image("image/jpeg", "iVBORw0KGgo="), "it is of another kind than it says");
        assert!(!image("image/svg+xml", "PHN2Zz4=") && !image("image/png", "aGk="));
        assert!(!image("image/png", "iVBORw0KGgo") && !image("image/png", "iVBORw0KGgo\n"));
    }
}
