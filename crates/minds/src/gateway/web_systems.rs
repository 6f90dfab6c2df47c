//! The systems for web requests: due requests go to the worker, and answers come back.

use std::collections::VecDeque;

use bevy::ecs::prelude::*;

use super::bridge::WorkerBridge;
use super::dispatch::{GatewayEnvironment, SimulatedProviders};
use super::live_replies::LiveText;
use super::web::{WebAnswered, WebCommand};
use crate::schedule::InputJournal;

/// Messages to and from the worker of web requests. None of it is saved; executors fill and empty it between the tick's
/// door and its end.
#[derive(Resource, Debug, Default)]
pub struct WebCalls {
    due: VecDeque<WebCommand>,
    heard: VecDeque<WebAnswered>,
}

impl WebCalls {
    /// Sends something, with this tick.
    pub fn send(&mut self, command: WebCommand) {
        self.due.push_back(command);
    }

    /// What was answered, in order.
    pub fn take(&mut self) -> impl Iterator<Item = WebAnswered> {
        self.heard.drain(..)
    }
}

/// Takes what was answered from the worker, before the door opens.
pub(super) fn collect(mut bridge: ResMut<WorkerBridge>, mut calls: ResMut<WebCalls>, journal: Res<InputJournal>) {
    if journal.is_replaying() || bridge.web().is_quiet() {
        return;
    }
    let heard = bridge.web().take();
    calls.heard.extend(heard);
}

/// Sends what is due.
pub(super) fn dispatch(
    (mut calls, mut bridge, mut live): (ResMut<WebCalls>, ResMut<WorkerBridge>, ResMut<LiveText>),
    (surroundings, factories): (Res<GatewayEnvironment>, Res<SimulatedProviders>),
    journal: Res<InputJournal>,
) {
    if calls.due.is_empty() {
        return;
    }
    if journal.is_replaying() {
        calls.due.clear();
        return;
    }
    if let Err(problem) = bridge.ensure_worker(&surroundings.0, &factories.0, &mut live)
        && !bridge.is_up()
    {
        let due = std::mem::take(&mut calls.due);
        let lost = due.into_iter().filter_map(|command| match command {
            WebCommand::Ask(question) => Some(WebAnswered { id: question.id, result: Err(problem.what.clone()) }),
            WebCommand::Stop { .. } => None,
        });
        calls.heard.extend(lost);
        return;
    }
    while let Some(command) = calls.due.pop_front() {
        if let Err(command) = bridge.send_to_web(command) {
            calls.due.push_front(command);
            break;
        }
    }
}
