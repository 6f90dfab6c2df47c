//! The systems for Slack: pending messages go to the worker, and results enter the world as inputs, so that a replay
//! has the same messages without Slack.

use std::collections::VecDeque;

use bevy::ecs::message::{Message, MessageReader};
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParamItem;
use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::gateway::requests::bridge::WorkerBridge;
use crate::gateway::requests::dispatch::{GatewayEnvironment, SimulatedProviders};
use crate::gateway::requests::worker_events::WorkerEvents;
use crate::gateway::slack::{SlackAccess, SlackCommand, SlackEvent, SlackPoll, SlackPost, SlackTrouble};
use crate::gateway::worker::live_replies::LiveText;
use crate::schedule::{Input, InputJournal, InputQueue};

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

/// Messages to the Slack worker. None of it is saved.
#[derive(Resource, Debug, Default)]
pub struct SlackCalls {
    due: VecDeque<SlackCommand>,
    /// Whether a poll is running.
    is_looking: bool,
    /// Whether the first poll since the room was opened has ended, or there will be none.
    has_looked: bool,
    /// The last reported problems.
    reported: Vec<SlackTrouble>,
}

impl SlackCalls {
    /// Sends a command with this tick.
    pub fn send(&mut self, command: SlackCommand) {
        self.is_looking |= matches!(command, SlackCommand::Look { .. });
        self.due.push_back(command);
    }

    /// Whether a poll is running.
    pub fn is_looking(&self) -> bool {
        self.is_looking
    }

    /// Whether the first poll since the room was opened is running. A run without a window does not end before that.
    pub fn is_first_poll_running(&self) -> bool {
        self.is_looking && !self.has_looked
    }
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

impl WorkerEvents for SlackCalls {
    type Event = SlackEvent;
    type Room = (ResMut<'static, Self>, ResMut<'static, InputQueue<SlackNews>>);

    fn take(bridge: &mut WorkerBridge, _tick: u64) -> impl IntoIterator<Item = SlackEvent> {
        bridge.slack().take()
    }

    fn admit(event: SlackEvent, (calls, queue): &mut SystemParamItem<'_, '_, Self::Room>) {
        match event {
            SlackEvent::Posted { id, post } => queue.push(SlackNews::Posted { id, post }),
            SlackEvent::Looked(look) => {
                calls.is_looking = false;
                calls.has_looked = true;
                let is_new = !look.arrived.is_empty() || !look.seen.is_empty() || look.troubles != calls.reported;
                calls.reported.clone_from(&look.troubles);
                if is_new {
                    queue.push(SlackNews::Looked { look });
                }
            }
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

/// Sends pending commands.
pub(in crate::gateway) fn dispatch(
    (mut calls, mut bridge, mut live): (ResMut<SlackCalls>, ResMut<WorkerBridge>, ResMut<LiveText>),
    (surroundings, factories): (Res<GatewayEnvironment>, Res<SimulatedProviders>),
    mut door: ResMut<InputQueue<SlackNews>>,
    journal: Res<InputJournal>,
) {
    if calls.due.is_empty() {
        return;
    }
    if journal.is_replaying() {
        calls.due.clear();
        calls.is_looking = false;
        return;
    }
    if let Err(problem) = bridge.ensure_worker(&surroundings.0, &factories.0, &mut live)
        && !bridge.is_up()
    {
        for command in std::mem::take(&mut calls.due) {
            match command {
                SlackCommand::Send { id, .. } => {
                    let post = SlackPost::NotSent { what: problem.what.clone(), remedy: problem.remedy.clone() };
                    door.push(SlackNews::Posted { id, post });
                }
                // Without a worker, there will be no poll.
                SlackCommand::Look { .. } => calls.has_looked = true,
            }
        }
        return;
    }
    while let Some(command) = calls.due.pop_front() {
        if let Err(command) = bridge.send_to_slack(command) {
            calls.due.push_front(command);
            break;
        }
    }
}
