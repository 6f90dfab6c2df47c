//! Sends pending calls to the worker, and returns their outcomes: one implementation for every kind of call, programs
//! and web requests alike.

use std::collections::VecDeque;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParamItem;

use crate::gateway::programs::ProgramCommand;
use crate::gateway::requests::bridge::WorkerBridge;
use crate::gateway::requests::dispatch::{GatewayEnvironment, SimulatedProviders};
use crate::gateway::requests::worker_events::WorkerEvents;
use crate::gateway::web::WebCommand;
use crate::gateway::worker::live_replies::LiveText;
use crate::gateway::worker::worker_call::{BridgedCall, WorkerCall};
use crate::schedule::InputJournal;

/// The commands and results of one kind of call. None of it is saved; executors fill and empty it between the beginning
/// and the end of a tick.
#[derive(Resource, Debug)]
pub struct WorkerCalls<Call: WorkerCall> {
    due: VecDeque<Call>,
    answered: VecDeque<Call::Answer>,
}

/// The calls of programs.
pub type ProgramCalls = WorkerCalls<ProgramCommand>;
/// The web requests.
pub type WebCalls = WorkerCalls<WebCommand>;

impl<Call: WorkerCall> Default for WorkerCalls<Call> {
    fn default() -> Self {
        Self { due: VecDeque::new(), answered: VecDeque::new() }
    }
}

impl<Call: WorkerCall> WorkerCalls<Call> {
    /// Sends a command with this tick.
    pub fn send(&mut self, command: Call) {
        self.due.push_back(command);
    }

    /// Removes and returns the results, oldest first.
    pub fn take(&mut self) -> impl Iterator<Item = Call::Answer> {
        self.answered.drain(..)
    }
}

impl<Call: BridgedCall> WorkerEvents for WorkerCalls<Call> {
    type Event = Call::Answer;
    type Room = ResMut<'static, Self>;

    fn take(bridge: &mut WorkerBridge, _tick: u64) -> impl IntoIterator<Item = Call::Answer> {
        bridge.traffic::<Call>().take()
    }

    fn admit(answer: Call::Answer, calls: &mut SystemParamItem<'_, '_, Self::Room>) {
        calls.answered.push_back(answer);
    }
}

/// Sends pending commands.
pub(in crate::gateway) fn dispatch<Call: BridgedCall>(
    (mut calls, mut bridge, mut live): (ResMut<WorkerCalls<Call>>, ResMut<WorkerBridge>, ResMut<LiveText>),
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
        calls.answered.extend(due.into_iter().filter_map(|command| command.refused(&problem.what)));
        return;
    }
    while let Some(command) = calls.due.pop_front() {
        if let Err(command) = bridge.send_call(command) {
            calls.due.push_front(command);
            break;
        }
    }
}
