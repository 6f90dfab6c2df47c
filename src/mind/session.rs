//! The running exchange of one agent with a model, in short form, and when it is summed up.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::question::{PromptMessage, Role};
use super::settings::MindSettings;
use crate::base::text::{estimate_tokens, truncate};
use crate::schedule::ticks;

/// An agent's session. Written by this module only.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// What it was asked, in short, and what it answered; oldest first.
    pub messages: Vec<PromptMessage>,
    /// Replies since it was last summed up.
    pub turns: u32,
    /// Whether a compaction was asked for and is still to come.
    pub wanted: bool,
    /// Compactions that failed one after another.
    pub failures: u32,
    /// No compaction is asked for before this tick.
    pub not_before: u64,
}

impl Session {
    /// Appends what was asked and what was answered.
    pub fn append(&mut self, asked: &str, answered: &str, settings: &MindSettings) {
        for (role, text) in [(Role::User, asked), (Role::Assistant, answered)] {
            let text = truncate(text, settings.session_message_chars_at_most);
            self.messages.push(PromptMessage::words(role, text));
        }
        let over = self.messages.len().saturating_sub(settings.session_messages_at_most);
        self.messages.drain(..over);
        self.turns += 1;
    }

    /// An estimate of what the whole session costs.
    pub fn tokens(&self) -> u32 {
        self.messages.iter().map(|message| estimate_tokens(&message.text)).sum()
    }

    /// Whether it has grown long.
    pub fn is_long(&self, settings: &MindSettings) -> bool {
        self.turns >= settings.compact_after_turns || self.tokens() > settings.compact_above_tokens
    }

    /// Whether a compaction is to be asked for now; says so once.
    pub fn wants_compaction(&mut self, settings: &MindSettings, now_ticks: u64) -> bool {
        let wants = !self.wanted && now_ticks >= self.not_before && self.is_long(settings);
        self.wanted |= wants;
        wants
    }

    /// It was summed up: only the last messages stay. Returns how many went.
    pub fn compacted(&mut self, settings: &MindSettings) -> usize {
        let gone = self.messages.len().saturating_sub(settings.compaction_keeps_messages);
        self.messages.drain(..gone);
        *self = Self { messages: std::mem::take(&mut self.messages), ..Self::default() };
        gone
    }

    /// Summing up failed: everything stays, and it is tried again later, each time later. Returns when, in ticks.
    pub fn compaction_failed(&mut self, settings: &MindSettings, now_ticks: u64) -> u64 {
        let doublings = self.failures.min(16);
        let secs = settings.compaction_retry_secs * f32::from(2_u8).powi(i32::try_from(doublings).unwrap_or(16));
        self.failures = self.failures.saturating_add(1);
        self.wanted = false;
        self.not_before = now_ticks + ticks(secs.min(settings.compaction_retry_at_most_secs));
        self.not_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> MindSettings {
        MindSettings::default()
    }

    #[test]
    fn eight_turns_or_six_thousand_tokens_make_it_long_and_it_asks_once() {
        let mut session = Session::default();
        for turn in 0..8 {
            assert!(!session.wants_compaction(&settings(), turn), "not after {turn} turns");
            session.append("You read News.", "Noted.", &settings());
        }
        assert!(session.wants_compaction(&settings(), 9));
        assert!(!session.wants_compaction(&settings(), 10), "it is asked for already");
        let mut long = Session::default();
        for _ in 0..7 {
            long.append(&"x".repeat(9_000), &"y".repeat(9_000), &settings());
        }
        assert!(long.turns < 8 && long.tokens() > 6_000 && long.is_long(&settings()));
    }

    #[test]
    fn after_a_compaction_the_last_two_messages_stay() {
        let mut session = Session::default();
        (0..9).for_each(|turn| session.append("asked", &format!("answer {turn}"), &settings()));
        assert_eq!(session.compacted(&settings()), 16);
        assert_eq!(session.messages.len(), 2);
        assert_eq!(session.messages[1].text, "answer 8");
        assert!(!session.is_long(&settings()));
    }

    #[test]
    fn a_failed_compaction_keeps_everything_and_waits_longer_each_time() {
        let mut session = Session::default();
        (0..8).for_each(|_| session.append("asked", "answered", &settings()));
        let before = session.messages.clone();
        let mut waits = Vec::new();
        for _ in 0..8 {
            assert!(session.wants_compaction(&settings(), session.not_before));
            let now = session.not_before;
            waits.push(session.compaction_failed(&settings(), now) - now);
            assert!(!session.wants_compaction(&settings(), session.not_before - 1));
        }
        assert_eq!(session.messages, before);
        assert!(waits[0] >= ticks(30.0) && waits[1] == 2 * waits[0] && waits[2] == 4 * waits[0]);
        assert_eq!(waits[7], ticks(settings().compaction_retry_at_most_secs));
    }
}
