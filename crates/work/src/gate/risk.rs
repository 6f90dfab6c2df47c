//! The risk of an act that needs approval, with its reasons, derived from the kinds of its touches. Pure.

use serde::{Deserialize, Serialize};

use super::ask_rules::{AskRule, AskSource};

/// The level of a risk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskLevel {
    /// Everything can be undone here.
    #[default]
    Low,
    /// It has costs, or changes the behaviour of other agents.
    Medium,
    /// It has effects that this program cannot undo.
    High,
}

impl RiskLevel {
    /// The name of the level.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The risk of an act, and its reasons as clauses.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Risk {
    /// The highest level of all touches.
    pub level: RiskLevel,
    /// The reasons, most serious first.
    pub reasons: Vec<String>,
}

impl Risk {
    /// The risk of an act with these rules. `goes_out` is whether the person's input is passed to an external program.
    pub fn of(rules: &[AskRule], goes_out: bool) -> Self {
        let mut all: Vec<(RiskLevel, String)> = rules.iter().flat_map(of_rule).collect();
        if goes_out {
            all.push((RiskLevel::Medium, "your input is sent to an external program".to_owned()));
        }
        all.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        let level = all.first().map_or(RiskLevel::Low, |(level, _)| *level);
        let mut reasons: Vec<String> = Vec::new();
        for (_, reason) in all {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Self { level, reasons }
    }

    /// A one-line summary, such as "high: a program runs on this computer".
    pub fn summary(&self) -> String {
        match self.reasons.is_empty() {
            true => self.level.as_str().to_owned(),
            false => format!("{}: {}", self.level.as_str(), self.reasons.join("; ")),
        }
    }
}

fn of_rule(rule: &AskRule) -> impl Iterator<Item = (RiskLevel, String)> {
    let (level, why) = match rule.kind.as_str() {
        "file.read" | "file.find" | "message.read" => (RiskLevel::Low, "it only reads"),
        "file.write" | "file.rename" => (RiskLevel::Low, "all versions of the file are kept"),
        "copy.write" => (RiskLevel::Low, "it stays in the agent's worktree"),
        "copy.merge" => (RiskLevel::Medium, "workspace files change; all versions are kept"),
        "agent.signal" | "message.send" => (RiskLevel::Low, "it stays in this room"),
        "session.edit" => (RiskLevel::Medium, "another agent continues from this text; the old text is kept"),
        "message.post" => (RiskLevel::High, "a message is sent outside and cannot be undone"),
        "file.delete" => (RiskLevel::Medium, "a file is deleted; its versions are kept"),
        "profile.write" => (RiskLevel::Medium, "it changes what an agent is"),
        "agent.spawn" | "agent.start" => (RiskLevel::Medium, "another agent starts working, at extra cost"),
        "tool.run" => (RiskLevel::Low, "code from the agent's file runs in a sandbox"),
        "net.fetch" => (RiskLevel::Medium, "data leaves this computer"),
        "process.run" => (RiskLevel::High, "a program runs on this computer"),
        "mcp.call" => (RiskLevel::High, "an external program acts, and its actions cannot be undone here"),
        _ => (RiskLevel::Medium, "its effects are unknown"),
    };
    let always = match &rule.source {
        AskSource::EachTime { why } => Some((RiskLevel::Medium, why.clone())),
        _ => None,
    };
    std::iter::once((level, why.to_owned())).chain(always)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{SafetyMode, TouchKind};

    fn rule(kind: TouchKind) -> AskRule {
        let source = AskSource::SafetyMode { mode: SafetyMode::Safe, is_own: true };
        AskRule { source, kind, target: "x".into() }
    }

    #[test]
    fn the_highest_risk_applies_and_each_reason_is_given_once() {
        let risk =
            Risk::of(&[rule(TouchKind::FILE_WRITE), rule(TouchKind::PROCESS_RUN), rule(TouchKind::FILE_WRITE)], false);
        assert_eq!(risk.summary(), "high: a program runs on this computer; all versions of the file are kept");
        assert_eq!(Risk::of(&[], false).summary(), "low");
        assert_eq!(Risk::of(&[], true).level, RiskLevel::Medium);
    }

    #[test]
    fn approvals_required_each_time_are_never_low_risk() {
        let source = AskSource::EachTime { why: "a scene carries settings".into() };
        let risk = Risk::of(&[AskRule { source, ..rule(TouchKind::FILE_WRITE) }], false);
        assert_eq!((risk.level, risk.reasons[0].as_str()), (RiskLevel::Medium, "a scene carries settings"));
    }

    #[test]
    fn every_known_kind_has_its_own_reason() {
        for kind in TouchKind::KNOWN {
            let risk = Risk::of(&[rule(kind.clone())], false);
            assert!(!risk.summary().contains("unknown"), "{kind:?}");
        }
    }
}
