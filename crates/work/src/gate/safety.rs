//! Safety modes: the values of `safety_mode:` in a profile, and the actions that need approval in each.
//!
//! | mode | needs approval |
//! |---|---|
//! | `safe` (or `ask`) | everything that changes something: writing, deleting, renaming, starting an agent |
//! | `balanced` | deleting, renaming, starting an agent, writing an agent's file |
//! | `auto` (the default) | nothing, unless the workspace's policy says so |
//!
//! Access outside the workspace (commands, addresses, MCP servers) needs approval in every mode unless the workspace's
//! policy allows it. An unknown mode is treated as `safe`.

use serde::{Deserialize, Serialize};

/// The permissions of an agent without a person's approval, most careful first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SafetyMode {
    /// Every change needs approval.
    Safe,
    /// Actions that are hard to undo or create agents need approval.
    Balanced,
    /// The mode requires no approvals.
    #[default]
    Auto,
}

impl SafetyMode {
    /// The mode with this name in any case; `None` if there is none.
    pub fn from_name(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "safe" | "ask" => Some(Self::Safe),
            "balanced" => Some(Self::Balanced),
            "auto" => Some(Self::Auto),
            _ => None,
        }
    }

    /// The name of the mode in a profile.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Balanced => "balanced",
            Self::Auto => "auto",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::MIN_SAFETY_MODE;

    #[test]
    fn safety_modes_round_trip_through_their_names() {
        for mode in [SafetyMode::Safe, SafetyMode::Balanced, SafetyMode::Auto] {
            assert_eq!(SafetyMode::from_name(&mode.as_str().to_uppercase()), Some(mode));
        }
        assert_eq!(SafetyMode::from_name(MIN_SAFETY_MODE), Some(SafetyMode::Safe));
        assert_eq!(SafetyMode::from_name("yolo"), None);
    }
}
