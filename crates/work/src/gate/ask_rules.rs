//! The rules that require approval for an act: as data, as text, and with the permissions that a person may grant
//! beyond this act. Pure.
//!
//! A permission for a task covers the same kind of touch under the same rules. A permanent permission is written to
//! the settings as a rule ([`AllowRule`]). Approvals that the gate requires regardless of the settings can only be
//! given once.

use serde::{Deserialize, Serialize};

use super::allow_rules::{AllowRule, server_of};
use super::commands::pattern_for;
use super::safety::SafetyMode;
use super::touch::TouchKind;
use crate::base::text;

/// The maximum length of a reason in characters; names and globs in it come from files.
const MAX_REASON_CHARS: usize = 600;

/// A rule that requires approval for a part of an act.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct AskRule {
    /// The source of the rule.
    pub source: AskSource,
    /// The kind of touch.
    pub kind: TouchKind,
    /// The target: a path, an id, an address or a command line; empty for everything of this kind.
    pub target: String,
}

/// The source of a rule that requires approval.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum AskSource {
    /// The safety mode of the agent or of an agent above it.
    SafetyMode {
        /// The mode.
        mode: SafetyMode,
        /// Whether the mode is the agent's own.
        is_own: bool,
    },
    /// A setting for a kind of touch.
    Setting {
        /// The key in `gate`.
        key: String,
        /// The value of the setting.
        word: String,
    },
    /// A glob in `gate.ask`.
    Listed {
        /// The glob.
        glob: String,
    },
    /// The default: no setting allows this kind of touch.
    Unset {
        /// The reason.
        why: String,
    },
    /// A part of the settings that could not be understood.
    NotUnderstood,
    /// The gate itself, which requires approval regardless of the settings.
    EachTime {
        /// The reason.
        why: String,
    },
}

impl AskSource {
    /// The reason as a clause about the agent, such as "its safety mode is safe".
    pub fn because(&self) -> String {
        match self {
            Self::SafetyMode { mode, is_own: true } => format!("its safety mode is {}", mode.as_str()),
            Self::SafetyMode { mode, is_own: false } => {
                format!("the safety mode is {} for an agent that started it", mode.as_str())
            }
            Self::Setting { key, word } => format!("the workspace's settings say {key}: {word}"),
            Self::Listed { glob } => format!("the workspace's settings list {glob} under ask"),
            Self::Unset { why } | Self::EachTime { why } => why.clone(),
            Self::NotUnderstood => "the workspace's settings could not be read completely".to_owned(),
        }
    }

    /// Whether approval is required each time, whatever a person allowed before.
    pub(super) fn asks_each_time(&self) -> bool {
        matches!(self, Self::NotUnderstood | Self::EachTime { .. })
    }
}

impl AskRule {
    /// The rule that a permission for the task covers; `None` if approval is required each time. Inside the workspace
    /// it covers the same kind of touch, outside of it the same command or server.
    pub fn for_task(&self) -> Option<Self> {
        if self.source.asks_each_time() {
            return None;
        }
        let target = match self.kind.as_str() {
            "file.read" | "file.find" | "file.write" | "file.delete" | "file.rename" | "profile.write"
            | "agent.spawn" | "agent.start" | "agent.signal" | "message.send" | "message.read" => String::new(),
            "net.fetch" => server_of(&self.target).unwrap_or(&self.target).to_owned(),
            _ => self.target.clone(),
        };
        let source = match &self.source {
            // The mode may be that of the agent or of one above it.
            AskSource::SafetyMode { mode, .. } => AskSource::SafetyMode { mode: *mode, is_own: true },
            other => other.clone(),
        };
        Some(Self { source, kind: self.kind.clone(), target })
    }

    /// The action that the rule is about, as a verb phrase such as "change files".
    fn doing(&self) -> String {
        let doing = match self.kind.as_str() {
            "file.read" | "file.find" => "read files",
            "file.write" => "change files",
            "file.delete" => "delete files",
            "file.rename" => "rename files",
            "profile.write" => "change agents' files",
            "agent.spawn" | "agent.start" => "start agents",
            "agent.signal" => "report to the agent that started it",
            "message.send" => "send messages",
            "message.read" => "listen to messages",
            "session.edit" => return format!("edit the session {}", shown(&self.target)),
            "message.post" => return format!("send messages to {}", shown(&self.target)),
            "process.run" => return format!("run {}", shown(&self.target)),
            "net.fetch" => return format!("fetch from {}", shown(&self.target)),
            "tool.run" => return format!("use its tool {}", shown(&self.target)),
            "mcp.call" => return format!("call {}", shown(&self.target)),
            other => return format!("do the same ({other} {})", shown(&self.target)),
        };
        match &self.source {
            AskSource::Listed { glob } => format!("{doing} at {glob}"),
            _ => doing.to_owned(),
        }
    }
}

/// The reasons of all rules as one clause about the agent, without a full stop.
pub fn because(rules: &[AskRule]) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for rule in rules {
        let reason = rule.source.because();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    text::truncate(&text::one_line(&reasons.join(", and ")), MAX_REASON_CHARS)
}

/// The rules that a permission for the task covers; `None` if any of them requires approval each time.
pub fn for_task(rules: &[AskRule]) -> Option<Vec<AskRule>> {
    let mut granted: Vec<AskRule> = rules.iter().map(AskRule::for_task).collect::<Option<_>>()?;
    granted.sort();
    granted.dedup();
    (!granted.is_empty()).then_some(granted)
}

/// Describes the actions that a permission covers, such as "start agents and change agents' files".
pub fn granted_words<'a>(granted: impl IntoIterator<Item = &'a AskRule>) -> String {
    let mut doing: Vec<String> = Vec::new();
    for rule in granted {
        let words = rule.doing();
        if !doing.contains(&words) {
            doing.push(words);
        }
    }
    match doing.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => doing.concat(),
    }
}

/// The narrowest useful rules for a permanent permission; `None` if any rule requires approval each time or cannot be
/// expressed.
pub fn permanent_rules(tool: &str, rules: &[AskRule]) -> Option<Vec<String>> {
    let mut written: Vec<String> = Vec::new();
    // A rule for new agents also covers their files.
    let starts_first = rules.iter().filter(|rule| rule.kind == TouchKind::AGENT_SPAWN);
    for rule in starts_first.chain(rules.iter().filter(|rule| rule.kind != TouchKind::AGENT_SPAWN)) {
        if rule.source.asks_each_time() {
            return None;
        }
        let covers =
            |text: &String| AllowRule::parse(text).is_some_and(|one| one.covers(tool, &rule.kind, &rule.target));
        if !written.iter().any(covers) {
            written.push(AllowRule::narrowest(tool, &rule.kind, &rule.target)?);
        }
    }
    (!written.is_empty()).then_some(written)
}

/// The command pattern that a person could allow permanently; `None` if any rule is not about a command, requires
/// approval each time, or applies regardless of the rules for commands.
pub fn pattern(rules: &[AskRule]) -> Option<String> {
    let line = &rules.first()?.target;
    let is_ruled = |rule: &AskRule| {
        let is_careful = matches!(rule.source, AskSource::SafetyMode { mode: SafetyMode::Safe, .. });
        rule.kind == TouchKind::PROCESS_RUN && rule.target == *line && !rule.source.asks_each_time() && !is_careful
    };
    if rules.iter().all(is_ruled) { pattern_for(line) } else { None }
}

fn shown(target: &str) -> String {
    text::truncate(&text::one_line(target), 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(source: AskSource, kind: TouchKind, target: &str) -> AskRule {
        AskRule { source, kind, target: target.into() }
    }

    fn safe(kind: TouchKind, target: &str) -> AskRule {
        rule(AskSource::SafetyMode { mode: SafetyMode::Safe, is_own: true }, kind, target)
    }

    fn each_time(target: &str) -> AskRule {
        rule(AskSource::EachTime { why: "a scene carries settings".into() }, TouchKind::FILE_WRITE, target)
    }

    #[test]
    fn each_reason_is_given_once() {
        let rules = [safe(TouchKind::AGENT_SPAWN, "agents/a.md"), safe(TouchKind::PROFILE_WRITE, "agents/a.md")];
        assert_eq!(because(&rules), "its safety mode is safe");
        let rules = [safe(TouchKind::FILE_WRITE, "scenes/a.yaml"), each_time("scenes/a.yaml")];
        assert_eq!(because(&rules), "its safety mode is safe, and a scene carries settings");
    }

    #[test]
    fn a_permission_for_a_task_covers_the_same_kind_of_touch_under_the_same_rule() {
        let (one, other) = (safe(TouchKind::FILE_WRITE, "a.md"), safe(TouchKind::FILE_WRITE, "b.md"));
        assert_eq!(one.for_task(), other.for_task());
        assert_ne!(one.for_task(), safe(TouchKind::FILE_DELETE, "a.md").for_task());
        let listed = rule(AskSource::Listed { glob: "a.*".into() }, TouchKind::FILE_WRITE, "a.md");
        assert_ne!(one.for_task(), listed.for_task());
        assert_eq!(granted_words(&for_task(&[one, listed]).unwrap()), "change files and change files at a.*");
    }

    #[test]
    fn outside_the_workspace_a_permission_for_a_task_covers_the_same_command_or_server() {
        let run = |line: &str| safe(TouchKind::PROCESS_RUN, line).for_task();
        assert_ne!(run("cargo test"), run("rm -r ."));
        let fetch = |address: &str| safe(TouchKind::NET_FETCH, address).for_task().map(|rule| rule.target);
        assert_eq!(fetch("https://example.org/a?b").as_deref(), Some("https://example.org"));
        assert_ne!(fetch("https://example.org/a"), fetch("https://example.org.evil.net/a"));
        assert_ne!(fetch("https://example.org/a"), fetch("https://example.org@evil.net/a"));
    }

    #[test]
    fn approvals_required_each_time_can_only_be_given_once() {
        let rules = [safe(TouchKind::FILE_WRITE, "scenes/a.yaml"), each_time("scenes/a.yaml")];
        assert_eq!((for_task(&rules), permanent_rules("vfs_write", &rules)), (None, None));
        assert_eq!((for_task(&[]), permanent_rules("vfs_write", &[])), (None, None));
    }

    #[test]
    fn permanent_permissions_are_as_narrow_as_is_useful() {
        let rules = |tool: &str, rules: &[AskRule]| permanent_rules(tool, rules);
        let write = rules("vfs_write", &[safe(TouchKind::FILE_WRITE, "artifacts/a.md")]);
        assert_eq!(write, Some(vec!["vfs_write(artifacts/a.md)".to_owned()]));
        let new = [safe(TouchKind::PROFILE_WRITE, "agents/a.md"), safe(TouchKind::AGENT_SPAWN, "agents/a.md")];
        assert_eq!(rules("spawn_agent", &new), Some(vec!["spawn_agent(agents/*.md)".to_owned()]));
        let fetch = rules("web_fetch", &[safe(TouchKind::NET_FETCH, "https://example.org/a")]);
        assert_eq!(fetch, Some(vec!["web_fetch(https://example.org/**)".to_owned()]));
        let run = rules("execute_command", &[safe(TouchKind::PROCESS_RUN, "cargo test")]);
        assert_eq!(run, Some(vec!["execute_command(cargo test)".to_owned()]));
        assert_eq!(rules("odd", &[safe(TouchKind::new("radio.send"), "x")]), None, "what it does is not known");
        assert_eq!(rules("vfs_write", &[safe(TouchKind::FILE_WRITE, "notes/*.md")]), None, "it would name more");
    }
}
