//! What the room knows of Slack: which connections the person has set up, and what comes from them, as inputs, so that a
//! replay has the same messages without Slack.

use bevy::ecs::message::{Message, MessageReader};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::gateway::requests::dispatch::GatewayEnvironment;
use crate::gateway::slack::{SlackAccess, SlackPoll, SlackPost};
use crate::schedule::{Input, InputQueue};

/// An event from Slack. An input.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum SlackNews {
    /// The available connections changed.
    Access {
        /// The connections.
        access: SlackAccess,
    },
    /// The result of a message.
    Posted {
        /// The id of the message.
        id: Id,
        /// The result.
        post: SlackPost,
    },
    /// The result of checking the channels.
    Looked {
        /// The result.
        look: Box<SlackPoll>,
    },
}

impl Input for SlackNews {
    const KIND: &'static str = "slack";
}

/// Admits the available connections, before inputs are admitted. Only in a live room.
pub(in crate::gateway) fn report_access(
    (surroundings, access): (Res<GatewayEnvironment>, Res<SlackAccess>),
    mut queue: ResMut<InputQueue<SlackNews>>,
) {
    if surroundings.is_changed() {
        let now = SlackAccess::of(&surroundings.0);
        if !now.has_same_connections(&access) {
            queue.push(SlackNews::Access { access: now });
        }
    }
}

/// Applies changes of the available connections.
pub(in crate::gateway) fn apply_slack_access(mut news: MessageReader<SlackNews>, mut access: ResMut<SlackAccess>) {
    for news in news.read() {
        if let SlackNews::Access { access: now } = news {
            *access = SlackAccess { sent_before: access.sends, ..*now };
        }
    }
}
