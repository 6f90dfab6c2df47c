//! The section `slack` of `settings.yaml`: which channels are read, and how often.

use std::time::Duration;

use crate::workspace::SettingsSection;

settings! {
    /// Which channels of Slack are read, and how often. Applies if `SLACK_BOT_TOKEN` or `SLACK_WEBHOOK_URL` is set
    /// outside the workspace; otherwise, messages are only exchanged through files.
    pub struct SlackSettings {
        /// The channels to read, by name (`#ops`) or Slack id; if empty, none. The bot must be a member of them.
        pub channels: Vec<String> = Vec::new();
        /// Seconds of real time between checks of the channels.
        pub interval_secs: f64 = 10.0, in 0.1..=86_400.0;
        /// When a channel is read for the first time, messages up to this many seconds old are read.
        pub first_look_back_secs: f64 = 3_600.0, in 0.0..=31_536_000.0;
        /// The channel to which the webhook of `SLACK_WEBHOOK_URL` posts, as Slack shows it. A webhook only posts to
        /// the channel that it was created for, so messages to other channels are not sent with it.
        pub webhook_channel: Option<String> = None;
        /// Seconds within which Slack must answer.
        pub timeout_secs: f64 = 20.0, in 0.1..=600.0;
    }
}

impl SettingsSection for SlackSettings {
    const NAME: &'static str = "slack";
}

/// The maximum number of channels that are read.
const MAX_CHANNELS: usize = 50;

impl SlackSettings {
    /// Returns the channels to read, without duplicates.
    pub fn read_channels(&self) -> Vec<&str> {
        let mut channels: Vec<&str> = Vec::new();
        for channel in self.channels.iter().map(|channel| channel.trim()).filter(|channel| !channel.is_empty()) {
            if channels.len() < MAX_CHANNELS && !channels.contains(&channel) {
                channels.push(channel);
            }
        }
        channels
    }

    /// Returns the timeout of a request.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_secs.clamp(0.1, 600.0))
    }

    /// Returns the interval between checks of the channels.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_secs_f64(self.interval_secs.clamp(0.1, 86_400.0))
    }

    /// Returns the maximum age of messages when a channel is read for the first time.
    pub(super) fn first_look_back(&self) -> Duration {
        Duration::from_secs_f64(self.first_look_back_secs.clamp(0.0, 31_536_000.0))
    }
}
