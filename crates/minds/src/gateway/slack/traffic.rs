//! Requests of the world to Slack without an answer yet, and answers that were not admitted yet. None of it is saved.

use std::collections::{BTreeSet, VecDeque};

use super::messages::{SlackCommand, SlackEvent, SlackPoll, SlackPost};
use crate::base::Id;

/// The messages to and from Slack.
#[derive(Default, Debug)]
pub(in crate::gateway) struct SlackTraffic {
    sending: BTreeSet<Id>,
    is_looking: bool,
    has_looked: bool,
    events: VecDeque<SlackEvent>,
}

impl SlackTraffic {
    /// Records a command that was sent.
    pub(in crate::gateway) fn sent(&mut self, command: &SlackCommand) {
        match command {
            SlackCommand::Send { id, .. } => drop(self.sending.insert(id.clone())),
            SlackCommand::Look { .. } => self.is_looking = true,
        }
    }

    /// Records an event of the worker.
    pub(in crate::gateway) fn receive(&mut self, event: SlackEvent) {
        let is_awaited = match &event {
            SlackEvent::Posted { id, .. } => self.sending.remove(id),
            SlackEvent::Looked(_) => {
                self.has_looked = true;
                std::mem::take(&mut self.is_looking)
            }
        };
        if is_awaited {
            self.events.push_back(event);
        }
    }

    /// Records that the worker has ended with everything that it was doing.
    pub(in crate::gateway) fn lost(&mut self) {
        for id in std::mem::take(&mut self.sending) {
            let post = SlackPost::Unknown { what: "the gateway stopped in the meantime".to_owned() };
            self.events.push_back(SlackEvent::Posted { id, post });
        }
        if std::mem::take(&mut self.is_looking) {
            self.events.push_back(SlackEvent::Looked(Box::<SlackPoll>::default()));
        }
    }

    /// Removes and returns the events, oldest first.
    pub(in crate::gateway) fn take(&mut self) -> VecDeque<SlackEvent> {
        std::mem::take(&mut self.events)
    }

    /// Whether a room without a window must still wait: for results of messages, or for the first poll.
    pub(in crate::gateway) fn has_pending(&self) -> bool {
        !self.sending.is_empty() || (self.is_looking && !self.has_looked)
    }

    /// Whether there are no events to admit.
    pub(in crate::gateway) fn is_quiet(&self) -> bool {
        self.events.is_empty()
    }
}
