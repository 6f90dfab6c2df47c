//! What a call declares to touch: kinds of touch by name, and the default rule of each.
//!
//! The list of kinds is open: a tool may name a kind that is unknown here. Such a kind needs approval in every safety
//! mode, unless the workspace's policy has a rule for it.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::safety::SafetyMode;
use super::verdict::Verdict;
use crate::base::Id;
use crate::gateway::mcp::McpHints;

/// A kind of touch, such as `file.write`: lower case, the domain before the point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct TouchKind(Cow<'static, str>);

/// What is said of a kind by default, beyond the workspace's policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TouchDefaults {
    /// What is said where the workspace's policy says nothing.
    pub rule: Verdict,
    /// The most lenient safety mode that asks, whatever the policy allows; none of them where absent.
    pub asked_in: Option<SafetyMode>,
    /// Whether anything is different afterwards.
    pub changes: bool,
    /// Why a person is asked where the policy says nothing.
    pub why: &'static str,
}

impl TouchKind {
    /// A file is read.
    pub const FILE_READ: Self = Self(Cow::Borrowed("file.read"));
    /// Files are named or searched; judged as reading.
    pub const FILE_FIND: Self = Self(Cow::Borrowed("file.find"));
    /// A file gets another text.
    pub const FILE_WRITE: Self = Self(Cow::Borrowed("file.write"));
    /// A file is taken away.
    pub const FILE_DELETE: Self = Self(Cow::Borrowed("file.delete"));
    /// A file gets another path.
    pub const FILE_RENAME: Self = Self(Cow::Borrowed("file.rename"));
    /// What an agent is changes.
    pub const PROFILE_WRITE: Self = Self(Cow::Borrowed("profile.write"));
    /// An agent is started with a new file.
    pub const AGENT_SPAWN: Self = Self(Cow::Borrowed("agent.spawn"));
    /// An agent that is there is started; judged as starting one.
    pub const AGENT_START: Self = Self(Cow::Borrowed("agent.start"));
    /// A message to the agent that started this one.
    pub const AGENT_SIGNAL: Self = Self(Cow::Borrowed("agent.signal"));
    /// A message to others in the room.
    pub const MESSAGE_SEND: Self = Self(Cow::Borrowed("message.send"));
    /// What others in the room say is heard.
    pub const MESSAGE_READ: Self = Self(Cow::Borrowed("message.read"));
    /// A message leaves the workshop.
    pub const MESSAGE_POST: Self = Self(Cow::Borrowed("message.post"));
    /// What another agent has said and done is replaced.
    pub const SESSION_EDIT: Self = Self(Cow::Borrowed("session.edit"));
    /// A command is run.
    pub const PROCESS_RUN: Self = Self(Cow::Borrowed("process.run"));
    /// Something is fetched from an address, or sent there.
    pub const NET_FETCH: Self = Self(Cow::Borrowed("net.fetch"));
    /// A tool of an MCP server is called.
    pub const MCP_CALL: Self = Self(Cow::Borrowed("mcp.call"));

    /// A tool of the agent's own document works something out; what it wants of the outside is another touch.
    pub const TOOL_RUN: Self = Self(Cow::Borrowed("tool.run"));

    /// A file of the agent's own copy is changed, deleted or renamed.
    pub const COPY_WRITE: Self = Self(Cow::Borrowed("copy.write"));
    /// What an agent did in its own copy comes into the workspace.
    pub const COPY_MERGE: Self = Self(Cow::Borrowed("copy.merge"));

    /// The kinds that are known, each once.
    pub const KNOWN: [Self; 19] = [
        Self::COPY_WRITE,
        Self::COPY_MERGE,
        Self::FILE_READ,
        Self::FILE_FIND,
        Self::FILE_WRITE,
        Self::FILE_DELETE,
        Self::FILE_RENAME,
        Self::PROFILE_WRITE,
        Self::AGENT_SPAWN,
        Self::AGENT_START,
        Self::AGENT_SIGNAL,
        Self::MESSAGE_SEND,
        Self::MESSAGE_READ,
        Self::MESSAGE_POST,
        Self::SESSION_EDIT,
        Self::PROCESS_RUN,
        Self::NET_FETCH,
        Self::MCP_CALL,
        Self::TOOL_RUN,
    ];

    /// The kind of this name, whether it is known or not.
    pub fn new(name: &str) -> Self {
        Self(Cow::Owned(name.trim().to_lowercase()))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is said of it by default.
    pub fn defaults(&self) -> TouchDefaults {
        let inside = |asked_in, changes| TouchDefaults { rule: Verdict::Allow, asked_in, changes, why: "" };
        let outside = |asked_in| TouchDefaults {
            rule: Verdict::Ask,
            asked_in: Some(asked_in),
            changes: true,
            why: "it reaches outside the workspace",
        };
        match self.as_str() {
            "file.read" | "file.find" | "agent.signal" | "message.read" | "tool.run" => inside(None, false),
            "copy.write" => inside(None, true),
            "copy.merge" => TouchDefaults { why: "it changes the workspace itself", ..outside(SafetyMode::Balanced) },
            "file.write" | "message.send" => inside(Some(SafetyMode::Safe), true),
            "file.delete" | "file.rename" | "profile.write" | "agent.spawn" | "agent.start" => {
                inside(Some(SafetyMode::Balanced), true)
            }
            "session.edit" => TouchDefaults {
                rule: Verdict::Ask,
                asked_in: Some(SafetyMode::Balanced),
                changes: true,
                why: "it changes what another agent continues from",
            },
            "net.fetch" | "mcp.call" => outside(SafetyMode::Safe),
            "process.run" | "message.post" => outside(SafetyMode::Balanced),
            _ => TouchDefaults { why: "its effects are unknown", ..outside(SafetyMode::Balanced) },
        }
    }

    /// What is said of it in a safety mode where the workspace's policy says nothing.
    pub fn default_verdict(&self, mode: SafetyMode) -> Verdict {
        self.defaults().rule.max(self.mode_verdict(mode))
    }

    /// What a safety mode says of it: it asks, it never forbids.
    pub fn mode_verdict(&self, mode: SafetyMode) -> Verdict {
        let is_asked = self.defaults().asked_in.is_some_and(|most_lenient| mode <= most_lenient);
        if is_asked { Verdict::Ask } else { Verdict::Allow }
    }

    /// The verb for this kind of access.
    pub fn verb(&self) -> &str {
        match self.as_str() {
            "copy.write" => "changing in its own copy",
            "copy.merge" => "merging",
            "process.run" => "running",
            "net.fetch" => "fetching",
            "mcp.call" => "calling",
            "tool.run" => "using its tool",
            "message.send" => "sending a message to",
            "message.post" => "sending a message out to",
            "message.read" => "listening to",
            "session.edit" => "editing session",
            other => other,
        }
    }
}

impl From<String> for TouchKind {
    fn from(name: String) -> Self {
        Self::new(&name)
    }
}

impl From<TouchKind> for String {
    fn from(kind: TouchKind) -> Self {
        kind.0.into_owned()
    }
}

impl fmt::Display for TouchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something that a call says that it touches. What its tool leaves out, the gate takes for the worst that it could be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeclaredTouch {
    /// In which way.
    pub kind: TouchKind,
    /// What: a path of the workspace, an id, an address, a command line. May be empty.
    #[serde(default)]
    pub target: String,
    /// What becomes of it, where that counts for the judgement.
    #[serde(default)]
    pub becomes: TouchEffect,
}

/// What becomes of something that is touched.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "becomes", rename_all = "snake_case")]
pub enum TouchEffect {
    /// It is not said.
    #[default]
    Unknown,
    /// A file with this whole text.
    Text {
        /// The text.
        content: String,
    },
    /// A file in which one passage is replaced.
    Passage {
        /// The passage.
        old: String,
        /// What takes its place.
        new: String,
    },
    /// A file at another path.
    Path {
        /// The path.
        to: String,
    },
    /// A tool of an MCP server that is called.
    Called {
        /// The server, as people know it.
        server: String,
        /// The tool, as the server calls it.
        tool: String,
        /// The server's key.
        key: Id,
        /// What the server says of it.
        hints: McpHints,
    },
}

impl DeclaredTouch {
    /// A touch of which no more is said.
    pub fn new(kind: TouchKind, target: impl Into<String>) -> Self {
        Self { kind, target: target.into(), becomes: TouchEffect::Unknown }
    }

    /// The same, with what becomes of it.
    pub fn becoming(self, becomes: TouchEffect) -> Self {
        Self { becomes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_outside_and_what_nobody_knows_is_asked_about_in_every_mode() {
        let modes = [SafetyMode::Auto, SafetyMode::Balanced, SafetyMode::Safe];
        for kind in ["process.run", "net.fetch", "mcp.call", "door.open", "", "file.chmod", "anything"] {
            let verdicts = modes.map(|mode| TouchKind::new(kind).default_verdict(mode));
            assert_eq!(verdicts, [Verdict::Ask; 3], "{kind}");
        }
        for kind in TouchKind::KNOWN {
            let verdicts = modes.map(|mode| kind.default_verdict(mode));
            assert!(verdicts.is_sorted(), "{kind}: a more careful mode asks whenever a less careful one does");
            assert_eq!(kind.mode_verdict(SafetyMode::Auto), Verdict::Allow, "{kind}");
        }
        assert_eq!(TouchKind::MESSAGE_SEND.default_verdict(SafetyMode::Balanced), Verdict::Allow);
    }

    #[test]
    fn a_kind_is_one_however_it_is_written() {
        assert_eq!(TouchKind::new(" File.Write "), TouchKind::FILE_WRITE);
        let read: TouchKind = serde_json::from_str("\"NET.fetch\"").unwrap();
        assert_eq!(
            (read.clone(), serde_json::to_string(&read).unwrap()),
            (TouchKind::NET_FETCH, "\"net.fetch\"".into())
        );
    }
}
