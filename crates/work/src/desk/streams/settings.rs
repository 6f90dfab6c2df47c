//! The section `inbox` of `settings.yaml`: who receives the messages of streams.

use std::collections::BTreeMap;

use crate::workspace::SettingsSection;

settings! {
    /// Who receives messages from streams, and how many at a time.
    #[derive(Eq)]
    pub struct InboxSettings {
        /// The agent or inbox that receives a stream, by stream name (`slack-messages` for
        /// `inbox/slack-messages.jsonl`); a planner receives all others.
        pub to: BTreeMap<String, String> = BTreeMap::new();
        /// Messages of one stream that are handled at the same time; others wait in the file.
        pub max_concurrent_messages: u32 = 50, in 1.0..=1_000.0, once "at_once";
    }
}

impl SettingsSection for InboxSettings {
    const NAME: &'static str = "inbox";
}
