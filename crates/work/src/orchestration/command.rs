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
    /// Says something in a channel.
    Publish {
        /// In which.
        channel: String,
        /// What.
        message: String,
    },
    /// Lets an agent listen to a channel, or no more.
    Listen {
        /// To which.
        channel: String,
        /// Whom, by id.
        agent: Id,
        /// Whether it listens from now on.
        listens: bool,
    },
    /// Changes an entry of a run's blackboard.
    Write {
        /// The piece of work that began the run.
        run: ActivationKey,
        /// Which entry.
        key: String,
        /// What it is to say, as JSON or plain words; absent where it is taken away.
        value: Option<String>,
        /// Whether it is kept when the run ends; as before where absent.
        shared: Option<bool>,
        /// Its value when the person looked, in the same form; `None` if there was no such entry.
        was: Option<String>,
    },
    /// Changes what is kept of runs that are over.
    WriteKept {
        /// Which entry.
        key: String,
        /// What it is to be; none takes it away.
        now: Option<Box<ArchivedEntry>>,
        /// What it was when the person looked; none where there was no such entry.
        was: Option<Box<ArchivedEntry>>,
    },
}

impl Input for CollaborationCommand {
    const KIND: &'static str = "together";
}
