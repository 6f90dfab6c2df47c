//! An agent's session with a model in short form, and when it is compacted.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::message::{PromptMessage, Role};
use super::settings::MindSettings;
use crate::base::Backoff;
use crate::base::text::{estimate_tokens, truncate};
use crate::schedule::ticks;

/// An agent's session. Written by this module only.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Requests in short form and replies, oldest first.
    pub messages: Vec<PromptMessage>,
    /// Replies since the last compaction.
    pub turns: u32,
    /// Whether a compaction is requested or running.
    pub wanted: bool,
    /// The number of consecutive failed compactions.
    pub failures: u32,
    /// The tick before which no compaction is requested.
    pub not_before: u64,
}

impl Session {
    /// Appends the request, the reply and its effects. The room reports the effects, not the agent, which would
    /// otherwise learn to claim them instead of acting.
    pub fn append(&mut self, asked: &str, answered: &str, done: &[String], settings: &MindSettings) {
        let chars = settings.max_session_message_chars;
        if !self.merge_repeated(asked, answered, chars) {
            self.push_text(Role::User, asked, chars);
            self.push_text(Role::Assistant, answered, chars);
        }
        if !done.is_empty() {
            self.push_text(Role::User, &format!("({})", done.join("; ")), chars);
        }
        let over = self.messages.len().saturating_sub(settings.max_session_messages);
        self.messages.drain(..over);
        self.turns += 1;
    }

    /// Appends the reply to the last one if the request repeats the one before, such as to read the same board. Returns
    /// whether it did.
    fn merge_repeated(&mut self, asked: &str, answered: &str, chars: usize) -> bool {
        let [.., before, last] = &mut self.messages[..] else { return false };
        let is_same = (before.role, last.role) == (Role::User, Role::Assistant) && before.text == asked;
        let fits = last.text.chars().count() + answered.chars().count() < chars;
        if is_same && fits && !answered.is_empty() {
            last.text.push('\n');
            last.text.push_str(answered);
        }
        is_same && fits
    }

    /// Appends a text to the last message if it has the same role, or adds a message.
    fn push_text(&mut self, role: Role, text: &str, chars: usize) {
        if text.is_empty() {
            return;
        }
        match self.messages.last_mut().filter(|last| last.role == role) {
            Some(last) => last.text = truncate(&format!("{}\n{text}", last.text), chars),
            None => self.messages.push(PromptMessage::plain(role, truncate(text, chars))),
        }
    }

    /// Notes that an effect of the last reply was refused after all.
    pub fn note_refused(&mut self, why: &str) {
        if let Some(last) = self.messages.last_mut().filter(|last| last.role == Role::User) {
            last.text.push_str(&format!(" (refused: {why})"));
        }
    }

    /// Returns the estimated tokens of the session.
    pub fn tokens(&self) -> u32 {
        self.messages.iter().map(|message| estimate_tokens(&message.text)).sum()
    }

    /// Whether the session is long enough to be compacted.
    pub fn is_long(&self, settings: &MindSettings) -> bool {
        self.turns >= settings.compact_after_turns || self.tokens() > settings.compact_above_tokens
    }

    /// Whether a compaction is to be requested now; returns `true` once and remembers it.
    pub fn wants_compaction(&mut self, settings: &MindSettings, now_ticks: u64) -> bool {
        if self.wanted || now_ticks < self.not_before || !self.is_long(settings) {
            return false;
        }
        // An agent's session is compacted after eight turns or 6,000 tokens, unless the settings say otherwise.
        rule!("long-sessions-are-compacted");
        self.wanted = true;
        true
    }

    /// Keeps only the last messages after a compaction. Returns the number removed.
    pub fn compacted(&mut self, settings: &MindSettings) -> usize {
        let mut gone = self.messages.len().saturating_sub(settings.compaction_keeps_messages);
        // A reply stays together with its request.
        while gone > 0 && self.messages.get(gone).is_some_and(|first| first.role == Role::Assistant) {
            gone -= 1;
        }
        self.messages.drain(..gone);
        *self = Self { messages: std::mem::take(&mut self.messages), ..Self::default() };
        gone
    }

    /// Schedules a retry after a failed compaction, with growing delays. Returns the tick of the retry.
    pub fn compaction_failed(&mut self, settings: &MindSettings, now_ticks: u64) -> u64 {
        let backoff = Backoff::new(settings.min_compaction_retry_delay_secs, settings.max_compaction_retry_delay_secs);
        let secs = backoff.wait_secs(self.failures) as f32;
        self.failures = self.failures.saturating_add(1);
        self.wanted = false;
        self.not_before = now_ticks + ticks(secs);
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
    fn a_long_session_requests_compaction_once() {
        checks_rule!("long-sessions-are-compacted");
        let mut session = Session::default();
        for turn in 0..8 {
            assert!(!session.wants_compaction(&settings(), turn), "not after {turn} turns");
            session.append(&format!("You read News {turn}."), "Noted.", &[], &settings());
        }
        assert!(session.wants_compaction(&settings(), 9));
        assert!(!session.wants_compaction(&settings(), 10), "it is asked for already");
        let mut long = Session::default();
        for turn in 0..7 {
            long.append(&format!("{turn}{}", "x".repeat(9_000)), &"y".repeat(9_000), &[], &settings());
        }
        assert!(long.turns < 8 && long.tokens() > 6_000 && long.is_long(&settings()));
    }

    #[test]
    fn after_a_compaction_the_last_two_messages_stay() {
        let mut session = Session::default();
        (0..9).for_each(|turn| session.append(&format!("asked {turn}"), &format!("answer {turn}"), &[], &settings()));
        assert_eq!(session.compacted(&settings()), 16);
        assert_eq!(session.messages.len(), 2);
        assert_eq!(session.messages[1].text, "answer 8");
        assert!(!session.is_long(&settings()));
    }

    fn texts(session: &Session) -> Vec<&str> {
        session.messages.iter().map(|message| message.text.as_str()).collect()
    }

    #[test]
    fn the_room_reports_effects_and_repeated_reads_are_merged() {
        let mut session = Session::default();
        session.append("You read Ideas.", "Tea is fine.", &[], &settings());
        session.append(
            "You read Ideas.",
            "So is coffee.",
            &["you pinned “Tea”".into(), "you voted for p1".into()],
            &settings(),
        );
        session.append("Bob said: “Hm?”", "", &["you noted “hm”".into()], &settings());
        session.append("You read News.", "Good.", &[], &settings());
        let told = [
            "You read Ideas.",
            "Tea is fine.\nSo is coffee.",
            "(you pinned “Tea”; you voted for p1)\nBob said: “Hm?”\n(you noted “hm”)\nYou read News.",
            "Good.",
        ];
        assert_eq!(texts(&session), told);
        session.append("You read Ideas.", "Yes.", &["you pinned “x”".into()], &settings());
        session.note_refused("this is already pinned as p3");
        assert_eq!(texts(&session).last(), Some(&"(you pinned “x”) (refused: this is already pinned as p3)"));
    }

    #[test]
    fn a_failed_compaction_keeps_everything_and_waits_longer_each_time() {
        let mut session = Session::default();
        (0..8).for_each(|turn| session.append(&format!("asked {turn}"), "answered", &[], &settings()));
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
        assert_eq!(waits[7], ticks(settings().max_compaction_retry_delay_secs));
    }
}
