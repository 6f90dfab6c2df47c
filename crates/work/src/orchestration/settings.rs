//! The sections `channels` and `blackboard` of `settings.yaml`: limits of channels and blackboards.

use crate::workspace::SettingsSection;

settings! {
    /// Limits of channels.
    pub struct ChannelSettings {
        /// Channels at the same time.
        pub max_channels: usize = 64, in 0.0..=10_000.0, once "channels_at_most";
        /// Agents that listen to one channel.
        pub max_subscribers: usize = 200, in 1.0..=100_000.0, once "subscribers_at_most";
        /// Messages of a channel that can wait for a listener; further ones are refused with an error.
        pub max_messages: usize = 1_000, in 1.0..=1_000_000.0, once "messages_at_most";
        /// Total characters of the messages that wait for a listener.
        pub max_chars: usize = 400_000, in 1_000.0..=100_000_000.0, once "chars_at_most";
        /// Messages of a channel that are kept after all its listeners have received them.
        pub max_history: usize = 50, in 0.0..=10_000.0, once "history_at_most";
        /// Messages that an agent receives per turn; the others follow on its next turn.
        pub max_messages_per_turn: usize = 30, in 1.0..=1_000.0, once "told_per_turn";
        /// How many times one message may lead to another by waking an agent; further ones are refused, with a warning
        /// for the person.
        pub max_hops: u32 = 6, in 0.0..=1_000_000.0, once "hops_at_most";
        /// How many messages of a channel a message board shows.
        pub max_shown_on_board: usize = 12, in 1.0..=100.0, once "shown_on_board";
        /// The minimum time between changes of such a board.
        pub board_secs: f32 = 5.0, in 0.0..=604_800.0;
    }
}

impl SettingsSection for ChannelSettings {
    const NAME: &'static str = "channels";
}

settings! {
    /// Limits of blackboards.
    pub struct BlackboardSettings {
        /// Entries on the blackboard of one run.
        pub max_entries: usize = 200, in 0.0..=10_000.0, once "entries_at_most";
        /// Earlier values kept of an entry.
        pub max_history: usize = 10, in 0.0..=1_000.0, once "history_at_most";
        /// Blackboards of finished runs that can still be viewed.
        pub max_ended: usize = 10, in 0.0..=1_000.0, once "ended_at_most";
        /// Entries kept from finished runs for later ones; the oldest are dropped.
        pub max_kept: usize = 200, in 1.0..=2_000.0, once "kept_at_most";
    }
}

impl SettingsSection for BlackboardSettings {
    const NAME: &'static str = "blackboard";
}
