//! The touches that a tool call declares: their kinds by name, and the default rule of each kind.
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

/// A kind of touch, such as `file.write`: in lower case, with the domain before the dot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct TouchKind(Cow<'static, str>);

/// The default rules of a kind of touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TouchDefaults {
    /// The verdict if the workspace's policy has no rule.
    pub rule: Verdict,
    /// The most lenient safety mode that requires approval, whatever the policy allows; `None` if none does.
    pub asked_in: Option<SafetyMode>,
    /// Whether it changes anything.
    pub changes: bool,
    /// The reason for requiring approval if the policy has no rule.
    pub why: &'static str,
}

impl TouchKind {
    /// Reading a file.
    pub const FILE_READ: Self = Self(Cow::Borrowed("file.read"));
    /// Listing or searching files; checked like reading.
    pub const FILE_FIND: Self = Self(Cow::Borrowed("file.find"));
    /// Writing a file.
    pub const FILE_WRITE: Self = Self(Cow::Borrowed("file.write"));
    /// Deleting a file.
    pub const FILE_DELETE: Self = Self(Cow::Borrowed("file.delete"));
    /// Renaming a file.
    pub const FILE_RENAME: Self = Self(Cow::Borrowed("file.rename"));
    /// Changing an agent's profile.
    pub const PROFILE_WRITE: Self = Self(Cow::Borrowed("profile.write"));
    /// Starting an agent from a new file.
    pub const AGENT_SPAWN: Self = Self(Cow::Borrowed("agent.spawn"));
    /// Starting an existing agent; checked like starting a new one.
    pub const AGENT_START: Self = Self(Cow::Borrowed("agent.start"));
    /// Sending a message to the agent that started this one.
    pub const AGENT_SIGNAL: Self = Self(Cow::Borrowed("agent.signal"));
    /// Sending a message to others in the room.
    pub const MESSAGE_SEND: Self = Self(Cow::Borrowed("message.send"));
    /// Reading the messages of others in the room.
    pub const MESSAGE_READ: Self = Self(Cow::Borrowed("message.read"));
    /// Sending a message out of the workshop.
    pub const MESSAGE_POST: Self = Self(Cow::Borrowed("message.post"));
    /// Editing the session of another agent.
    pub const SESSION_EDIT: Self = Self(Cow::Borrowed("session.edit"));
    /// Running a command.
    pub const PROCESS_RUN: Self = Self(Cow::Borrowed("process.run"));
    /// Sending a request to a network address.
    pub const NET_FETCH: Self = Self(Cow::Borrowed("net.fetch"));
    /// Calling a tool of an MCP server.
    pub const MCP_CALL: Self = Self(Cow::Borrowed("mcp.call"));

    /// Running a tool from the agent's own document. Its access to anything else is a touch of its own.
    pub const TOOL_RUN: Self = Self(Cow::Borrowed("tool.run"));

    /// Changing, deleting or renaming a file in the agent's worktree.
    pub const COPY_WRITE: Self = Self(Cow::Borrowed("copy.write"));
    /// Merging the changes of the agent's worktree into the workspace.
    pub const COPY_MERGE: Self = Self(Cow::Borrowed("copy.merge"));

    /// All known kinds.
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

    /// The kind with this name, whether it is known or not.
    pub fn new(name: &str) -> Self {
        Self(Cow::Owned(name.trim().to_lowercase()))
    }

    /// The name of the kind.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The default rules of the kind.
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

    /// The verdict in a safety mode if the workspace's policy has no rule.
    pub fn default_verdict(&self, mode: SafetyMode) -> Verdict {
        self.defaults().rule.max(self.mode_verdict(mode))
    }

    /// The verdict of a safety mode, which may require approval but never denies.
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

/// A touch that a call declares. Anything that its tool leaves out is assumed to be the worst case.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeclaredTouch {
    /// The kind of touch.
    pub kind: TouchKind,
    /// The target: a path in the workspace, an id, an address or a command line. May be empty.
    #[serde(default)]
    pub target: String,
    /// The effect on the target, if it matters for the check.
    #[serde(default)]
    pub becomes: TouchEffect,
}

/// The effect of a touch on its target.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "becomes", rename_all = "snake_case")]
pub enum TouchEffect {
    /// Not declared.
    #[default]
    Unknown,
    /// The target is a file with this content.
    Text {
        /// The whole text.
        content: String,
    },
    /// A passage of the file is replaced.
    Passage {
        /// The old text of the passage.
        old: String,
        /// The new text of the passage.
        new: String,
    },
    /// The file is moved.
    Path {
        /// The new path.
        to: String,
    },
    /// The target is a command that runs in a folder of the workspace.
    RunsIn {
        /// The folder; empty for the top of the workspace.
        folder: String,
    },
    /// A tool of an MCP server is called.
    Called {
        /// The display name of the server.
        server: String,
        /// The name of the tool on the server.
        tool: String,
        /// The key of the server.
        key: Id,
        /// The server's hints about the tool.
        hints: McpHints,
    },
}

impl DeclaredTouch {
    /// A touch without a declared effect.
    pub fn new(kind: TouchKind, target: impl Into<String>) -> Self {
        Self { kind, target: target.into(), becomes: TouchEffect::Unknown }
    }

    /// A command that runs in this folder of the workspace.
    pub fn command(line: impl Into<String>, folder: impl Into<String>) -> Self {
        Self::new(TouchKind::PROCESS_RUN, line).becoming(TouchEffect::RunsIn { folder: folder.into() })
    }

    /// Sets the effect on the target.
    pub fn becoming(self, becomes: TouchEffect) -> Self {
        Self { becomes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_access_and_unknown_kinds_need_approval_in_every_mode() {
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
    fn kinds_ignore_case_and_surrounding_spaces() {
        assert_eq!(TouchKind::new(" File.Write "), TouchKind::FILE_WRITE);
        let read: TouchKind = serde_json::from_str("\"NET.fetch\"").unwrap();
        assert_eq!(
            (read.clone(), serde_json::to_string(&read).unwrap()),
            (TouchKind::NET_FETCH, "\"net.fetch\"".into())
        );
    }
}
