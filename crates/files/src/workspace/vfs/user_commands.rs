//! A person's file commands from the window: inputs that become orders to the file service, are recorded and replayed
//! like any other input, and are executed exactly once.

use std::collections::VecDeque;

use bevy::ecs::message::{Message, MessageReader, MessageWriter};
use bevy::ecs::resource::Resource;
use serde::{Deserialize, Serialize};

use super::order::{FileAnswer, FileOperation, FileOrder, FileOutcome, FileRights};
use crate::base::{Author, Id, Seq};
use crate::schedule::Input;

/// A person's command about a file.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileCommand {
    /// The permanent, unique key of the command, chosen by its sender.
    pub key: Id,
    /// The operation.
    pub operation: FileOperation,
}

impl Input for FileCommand {
    const KIND: &'static str = "file_command";
}

/// Turns the commands into orders to the file service.
pub(in crate::workspace) fn give_orders(
    mut commands: MessageReader<FileCommand>,
    mut orders: MessageWriter<FileOrder>,
) {
    orders.write_batch(commands.read().map(|FileCommand { key, operation }| FileOrder {
        key: key.clone(),
        author: Author::user(),
        activation: None,
        operation: operation.clone(),
        rights: FileRights::default(),
        cause: Seq(0),
        worktree: None,
    }));
}

/// The maximum number of results that wait for a window.
const MAX_TOLD: usize = 200;

/// The results of a person's file commands, by their keys, for the window. Nothing in the room depends on them.
#[derive(Resource, Default)]
pub struct UserCommandResults(VecDeque<(Id, Result<FileAnswer, String>)>);

impl UserCommandResults {
    pub(in crate::workspace) fn note(&mut self, outcome: &FileOutcome) {
        if self.0.len() >= MAX_TOLD {
            self.0.pop_front();
        }
        let result = outcome.result.clone().map_err(|failure| failure.what);
        self.0.push_back((outcome.key.clone(), result));
    }

    /// Removes and returns the results, oldest first.
    pub fn take(&mut self) -> VecDeque<(Id, Result<FileAnswer, String>)> {
        std::mem::take(&mut self.0)
    }
}
