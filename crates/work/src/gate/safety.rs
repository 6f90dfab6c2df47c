//! Safety modes: the values of `safety_mode:` in a profile, and what needs approval in each.
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

/// How much an agent may do without a person, most careful first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SafetyMode {
    /// A person is asked before anything changes.
    Safe,
    /// A person is asked before actions that are hard to undo or create agents.
    Balanced,
    /// Nobody is asked because of the mode.
    #[default]
    Auto,
}

impl SafetyMode {
    /// The mode that a word names, however it is spelt; nothing where there is no such mode.
    pub fn of_word(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "safe" | "ask" => Some(Self::Safe),
            "balanced" => Some(Self::Balanced),
            "auto" => Some(Self::Auto),
            _ => None,
        }
    }

    /// The word for it in a profile.
    pub fn word(self) -> &'static str {
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
    use crate::agent::LEAST_SAFETY_MODE;

    #[test]
    fn words_and_modes_go_both_ways() {
        for mode in [SafetyMode::Safe, SafetyMode::Balanced, SafetyMode::Auto] {
            assert_eq!(SafetyMode::of_word(&mode.word().to_uppercase()), Some(mode));
        }
        assert_eq!(SafetyMode::of_word(LEAST_SAFETY_MODE), Some(SafetyMode::Safe));
        assert_eq!(SafetyMode::of_word("yolo"), None);
    }
}
