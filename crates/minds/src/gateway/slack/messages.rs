//! Messages about Slack between the world and the worker.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::settings::SlackSettings;
use crate::base::Id;
use crate::gateway::keys::{Environment, SLACK_BOT_TOKEN, SLACK_WEBHOOK_URL};
use crate::gateway::providers::genai_client::Timeouts;
use crate::gateway::providers::retry::RetryPolicy;
use crate::gateway::settings::GatewaySettings;
use crate::schedule::Section;

/// The variable with which the person sets another address of the Web API, such as a proxy.
pub const BASE_URL: &str = "SLACK_API_BASE_URL";
/// The address of the Web API.
pub const OWN_BASE_URL: &str = "https://slack.com/api/";

/// How messages are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlackSends {
    /// Written to files.
    #[default]
    Files,
    /// Over an incoming webhook.
    Webhook,
    /// Over the Web API.
    WebApi,
}

/// Which connections to Slack the person has set up. Part of the saved world; only inputs change it.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlackAccess {
    /// How messages are sent.
    pub sends: SlackSends,
    /// How messages were sent before the last change: one that was being sent then may have arrived.
    pub sent_before: SlackSends,
    /// Whether channels can be read.
    pub reads: bool,
}

impl SlackAccess {
    /// Returns the access that the person's keys allow.
    pub fn of(environment: &Environment) -> Self {
        let reads = environment.has_key(SLACK_BOT_TOKEN);
        let sends = match (reads, environment.has_key(SLACK_WEBHOOK_URL)) {
            (true, _) => SlackSends::WebApi,
            (false, true) => SlackSends::Webhook,
            (false, false) => SlackSends::Files,
        };
        Self { sends, sent_before: SlackSends::Files, reads }
    }

    /// Whether both have the same connections.
    pub fn has_same_connections(&self, other: &Self) -> bool {
        (self.sends, self.reads) == (other.sends, other.reads)
    }

    /// Whether a message that was being sent when the process ended may have arrived.
    pub fn may_have_sent(&self) -> bool {
        self.sends != SlackSends::Files || self.sent_before != SlackSends::Files
    }
}

impl Section for SlackAccess {
    const NAME: &'static str = "slack_access";

    fn save(world: &mut World) -> Self {
        *world.resource::<Self>()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

/// A message to be sent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SlackMessage {
    /// The channel or person as it was given: `#ops`, `@sarah`, or a Slack id.
    pub channel: String,
    /// The text, verbatim.
    pub text: String,
    /// The timestamp of the message that it replies to.
    pub thread: Option<String>,
}

/// The result of sending a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SlackPost {
    /// Slack received the message.
    Sent {
        /// The timestamp with which Slack identifies it; a webhook does not report it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ts: Option<String>,
        /// How it was sent.
        via: SlackSends,
    },
    /// Slack did not receive the message.
    NotSent {
        /// The reason.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// It is unknown whether Slack received the message: no answer arrived, and it is not sent again automatically.
    Unknown {
        /// Why it is unknown.
        what: String,
    },
}

/// A received message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlackArrival {
    /// The channel as it is named in the settings.
    pub channel: String,
    /// The author's name, or id if Slack did not return a name.
    pub from: String,
    /// The text.
    pub text: String,
    /// The timestamp that identifies it.
    pub ts: String,
    /// The timestamp of the message that it replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// A problem that prevents receiving messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlackTrouble {
    /// The problem.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// The result of checking the channels.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlackPoll {
    /// The new messages, oldest first.
    pub arrived: Vec<SlackArrival>,
    /// The timestamp of the newest message that was seen, by channel.
    pub seen: BTreeMap<String, String>,
    /// The problems, if any.
    pub troubles: Vec<SlackTrouble>,
}

/// The timeouts of requests to Slack.
#[derive(Clone, PartialEq, Debug)]
pub struct SlackTerms {
    /// The timeouts of one attempt.
    pub(in crate::gateway) patience: Timeouts,
    /// Its time limit in total.
    pub(in crate::gateway) total: Duration,
    /// The retry policy.
    pub(in crate::gateway) retry: RetryPolicy,
    /// The settings of the section `slack`.
    pub(in crate::gateway) settings: SlackSettings,
}

impl SlackTerms {
    /// Creates the terms from the settings.
    pub fn of(gateway: &GatewaySettings, slack: &SlackSettings) -> Self {
        Self {
            patience: Timeouts { stall: slack.timeout(), ..gateway.timeouts() },
            total: gateway.total_timeout(),
            retry: gateway.retry_policy(),
            settings: slack.clone(),
        }
    }
}

/// A command from the world to the worker.
#[derive(Clone, PartialEq, Debug)]
pub enum SlackCommand {
    /// Send a message.
    Send {
        /// The id, which is sent to Slack so that a repetition is recognised.
        id: Id,
        /// The message.
        message: SlackMessage,
        /// The terms.
        terms: Box<SlackTerms>,
    },
    /// Read the new messages of these channels, not more often than the settings allow.
    Look {
        /// The timestamp of the newest known message by channel; empty if none is known.
        channels: BTreeMap<String, String>,
        /// The terms.
        terms: Box<SlackTerms>,
    },
}

/// An event from the worker to the world.
#[derive(Clone, PartialEq, Debug)]
pub enum SlackEvent {
    /// The result of a message.
    Posted {
        /// The id of the message.
        id: Id,
        /// The result.
        post: SlackPost,
    },
    /// The result of checking the channels.
    Looked(Box<SlackPoll>),
}
