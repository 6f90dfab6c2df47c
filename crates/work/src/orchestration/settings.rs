//! How much agents may say to each other: sections `channels` and `blackboard` of `settings.yaml`.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// How much is said in channels.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct ChannelSettings {
    /// Channels at the same time.
    pub channels_at_most: usize,
    /// Agents that listen to one channel.
    pub subscribers_at_most: usize,
    /// Messages of a channel that wait for somebody who listens; one more is refused, and whoever says it is told.
    pub messages_at_most: usize,
    /// Characters of those messages.
    pub chars_at_most: usize,
    /// Messages of a channel that are still known after everybody has heard them.
    pub history_at_most: usize,
    /// Messages that an agent is told with one turn; the others come with its next one.
    pub told_per_turn: usize,
    /// How often one message may lead to another by waking an agent; what comes after that is refused, and a person is told.
    pub hops_at_most: u32,
    /// A message board that shows a channel shows so many of its messages.
    pub shown_on_board: usize,
    /// Such a board changes at most so often.
    pub board_secs: f32,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Self {
            channels_at_most: 64,
            subscribers_at_most: 200,
            messages_at_most: 1_000,
            chars_at_most: 400_000,
            history_at_most: 50,
            told_per_turn: 30,
            hops_at_most: 6,
            shown_on_board: 12,
            board_secs: 5.0,
        }
    }
}

impl SettingsSection for ChannelSettings {
    const NAME: &'static str = "channels";
    const RANGES: &'static [Range] = &[
        Range::of("channels_at_most", 0.0, 10_000.0),
        Range::of("subscribers_at_most", 1.0, 100_000.0),
        Range::of("messages_at_most", 1.0, 1_000_000.0),
        Range::of("chars_at_most", 1_000.0, 100_000_000.0),
        Range::of("history_at_most", 0.0, 10_000.0),
        Range::of("told_per_turn", 1.0, 1_000.0),
        Range::of("shown_on_board", 1.0, 100.0),
    ];
}

/// How much stands on blackboards.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BlackboardSettings {
    /// Entries on the blackboard of one run.
    pub entries_at_most: usize,
    /// Earlier values that are known of an entry.
    pub history_at_most: usize,
    /// Blackboards of runs that are over and can still be looked at.
    pub ended_at_most: usize,
    /// Entries that are kept of runs that are over, for later runs; the oldest give way.
    pub kept_at_most: usize,
}

impl Default for BlackboardSettings {
    fn default() -> Self {
        Self { entries_at_most: 200, history_at_most: 10, ended_at_most: 10, kept_at_most: 200 }
    }
}

impl SettingsSection for BlackboardSettings {
    const NAME: &'static str = "blackboard";
    const RANGES: &'static [Range] = &[
        Range::of("entries_at_most", 0.0, 10_000.0),
        Range::of("history_at_most", 0.0, 1_000.0),
        Range::of("ended_at_most", 0.0, 1_000.0),
        Range::of("kept_at_most", 1.0, 2_000.0),
    ];
}
