//! Messages about Slack between the world and the worker.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::genai_client::Patience;
use super::super::keys::{Environment, SLACK_BOT_TOKEN, SLACK_WEBHOOK_URL};
use super::super::retry::RetryPolicy;
use super::super::settings::GatewaySettings;
use super::settings::SlackSettings;
use crate::base::Id;
use crate::schedule::Section;

/// The name under which the person names another place of the Web API, such as a proxy.
pub const BASE_URL: &str = "SLACK_API_BASE_URL";
/// Where the Web API is.
pub const OWN_BASE_URL: &str = "https://slack.com/api/";

/// How messages are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlackSends {
    /// As lines of a file.
    #[default]
    Files,
    /// Over an incoming webhook.
    Webhook,
    /// Over the Web API.
    WebApi,
}

/// Which connections to Slack the person has set up. Part of the saved world; it only changes by inputs.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlackAccess {
    /// How messages leave.
    pub sends: SlackSends,
    /// How they left before that: a message that was under way then may have gone out.
    pub sent_before: SlackSends,
    /// Whether channels can be read.
    pub reads: bool,
}

impl SlackAccess {
    /// What the keys of the person allow.
    pub fn of(environment: &Environment) -> Self {
        let reads = environment.has_key(SLACK_BOT_TOKEN);
        let sends = match (reads, environment.has_key(SLACK_WEBHOOK_URL)) {
            (true, _) => SlackSends::WebApi,
            (false, true) => SlackSends::Webhook,
            (false, false) => SlackSends::Files,
        };
        Self { sends, sent_before: SlackSends::Files, reads }
    }

    /// Whether these are the same ways.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.sends, self.reads) == (other.sends, other.reads)
    }

    /// Whether a message that was under way when the process ended may have reached Slack.
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlackMessage {
    /// The channel or the person, as it was given: `#ops`, `@sarah`, or an id of Slack's.
    pub channel: String,
    /// What it says, letter for letter.
    pub text: String,
    /// The time of the message that it answers.
    pub thread: Option<String>,
}

/// The result of sending a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SlackPost {
    /// Slack has it.
    Sent {
        /// The timestamp with which Slack identifies it; a webhook does not report it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ts: Option<String>,
        /// How it went.
        via: SlackSends,
    },
    /// Slack does not have it.
    NotSent {
        /// Why.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// It may have it: no answer came, and it is not sent again unasked.
    Unknown {
        /// Why that is not known.
        what: String,
    },
}

/// A received message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlackArrival {
    /// The channel, as the settings name it.
    pub channel: String,
    /// Who wrote it, by name where Slack told it.
    pub from: String,
    /// What it says.
    pub text: String,
    /// The time by which Slack names it.
    pub ts: String,
    /// The time of the message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// A problem that prevents receiving messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlackTrouble {
    /// What is so.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// The result of checking the channels.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlackLook {
    /// The messages that are new, oldest first.
    pub arrived: Vec<SlackArrival>,
    /// By channel, the time of the newest message that was seen.
    pub seen: BTreeMap<String, String>,
    /// What went wrong, if anything.
    pub troubles: Vec<SlackTrouble>,
}

/// The timeouts of requests to Slack.
#[derive(Clone, PartialEq, Debug)]
pub struct SlackTerms {
    /// How long one try may take.
    pub(in crate::gateway) patience: Patience,
    /// Its time limit in total.
    pub(in crate::gateway) total: Duration,
    /// When to try again.
    pub(in crate::gateway) retry: RetryPolicy,
    /// The settings of Slack's section.
    pub(in crate::gateway) settings: SlackSettings,
}

impl SlackTerms {
    /// As the settings say.
    pub fn of(gateway: &GatewaySettings, slack: &SlackSettings) -> Self {
        Self {
            patience: Patience { stall: slack.timeout(), ..gateway.patience() },
            total: gateway.total_timeout(),
            retry: gateway.retry_policy(),
            settings: slack.clone(),
        }
    }
}

/// A command from the world to the worker.
#[derive(Clone, PartialEq, Debug)]
pub enum SlackCommand {
    /// Send this.
    Send {
        /// Its id; Slack gets it, so that a repeat is recognised.
        id: Id,
        /// What is sent.
        message: SlackMessage,
        /// How.
        terms: Box<SlackTerms>,
    },
    /// Read the new messages of these channels, not more often than the settings allow.
    Look {
        /// By channel, the time of the newest message that is known; empty where none is.
        channels: BTreeMap<String, String>,
        /// How.
        terms: Box<SlackTerms>,
    },
}

/// An event from the worker to the world.
#[derive(Clone, PartialEq, Debug)]
pub enum SlackEvent {
    /// The result of a message.
    Posted {
        /// Which.
        id: Id,
        /// What.
        post: SlackPost,
    },
    /// What a look brought.
    Looked(Box<SlackLook>),
}
