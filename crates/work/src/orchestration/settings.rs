//! The sections `channels` and `blackboard` of `settings.yaml`: limits of channels and blackboards.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::workspace::{Range, SettingsSection};

/// Limits of channels.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct ChannelSettings {
    /// Channels at the same time.
    pub channels_at_most: usize,
    /// Agents that listen to one channel.
    pub subscribers_at_most: usize,
    /// Messages of a channel that can wait for a listener; further ones are refused with an error.
    pub messages_at_most: usize,
    /// Total characters of the messages that wait for a listener.
    pub chars_at_most: usize,
    /// Messages of a channel that are kept after all its listeners have received them.
    pub history_at_most: usize,
    /// Messages that an agent receives per turn; the others follow on its next turn.
    pub told_per_turn: usize,
    /// How many times one message may lead to another by waking an agent; further ones are refused, with a warning for
    /// the person.
    pub hops_at_most: u32,
    /// How many messages of a channel a message board shows.
    pub shown_on_board: usize,
    /// The minimum time between changes of such a board.
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

/// Limits of blackboards.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BlackboardSettings {
    /// Entries on the blackboard of one run.
    pub entries_at_most: usize,
    /// Earlier values kept of an entry.
    pub history_at_most: usize,
    /// Blackboards of finished runs that can still be viewed.
    pub ended_at_most: usize,
    /// Entries kept from finished runs for later ones; the oldest are dropped.
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
