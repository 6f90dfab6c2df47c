//! A person's commands about channels and blackboards. Inputs.

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::board_archive_file::ArchivedEntry;
use crate::base::{ActivationKey, Id};
use crate::schedule::Input;

/// A person's command about channels and blackboards.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum CollaborationCommand {
    /// Publishes a message in a channel.
    Publish {
        /// The name of the channel.
        channel: String,
        /// The text.
        message: String,
    },
    /// Subscribes or unsubscribes an agent.
    Listen {
        /// The name of the channel.
        channel: String,
        /// The id of the agent.
        agent: Id,
        /// Whether to subscribe it.
        listens: bool,
    },
    /// Changes an entry of a run's blackboard.
    Write {
        /// The activation that began the run.
        run: ActivationKey,
        /// The name of the entry.
        key: String,
        /// The new value, as JSON or plain text; `None` removes the entry.
        value: Option<String>,
        /// Whether it is archived when the run ends; `None` leaves this as it is.
        shared: Option<bool>,
        /// The value that the person saw, in the same form; `None` if there was no such entry.
        was: Option<String>,
    },
    /// Changes an archived entry.
    WriteKept {
        /// The name of the entry.
        key: String,
        /// The new entry; `None` removes it.
        now: Option<Box<ArchivedEntry>>,
        /// The entry that the person saw; `None` if there was no such entry.
        was: Option<Box<ArchivedEntry>>,
    },
}

impl Input for CollaborationCommand {
    const KIND: &'static str = "together";
}
