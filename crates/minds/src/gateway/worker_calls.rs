//! Sends the calls that are due to the worker, and returns their outcomes: one way for every kind of call, programs and
//! web requests alike.

use std::collections::VecDeque;

use bevy::ecs::prelude::*;

use super::bridge::WorkerBridge;
use super::dispatch::{GatewayEnvironment, SimulatedProviders};
use super::live_replies::LiveText;
use super::programs::ProgramCommand;
use super::web::WebCommand;
use super::worker_call::{BridgedCall, WorkerCall};
use crate::schedule::InputJournal;

/// What goes to the worker of one kind of call and comes back. Nothing of it is saved; whoever carries out calls fills
/// and empties it between the beginning and the end of a tick.
#[derive(Resource, Debug)]
pub struct WorkerCalls<Call: WorkerCall> {
    due: VecDeque<Call>,
    answered: VecDeque<Call::Answer>,
}

/// Calls of programs.
pub type ProgramCalls = WorkerCalls<ProgramCommand>;
/// Calls of servers of the web.
pub type WebCalls = WorkerCalls<WebCommand>;

impl<Call: WorkerCall> Default for WorkerCalls<Call> {
    fn default() -> Self {
        Self { due: VecDeque::new(), answered: VecDeque::new() }
    }
}

impl<Call: WorkerCall> WorkerCalls<Call> {
    /// Sends something, with this tick.
    pub fn send(&mut self, command: Call) {
        self.due.push_back(command);
    }

    /// What was answered, in order.
    pub fn take(&mut self) -> impl Iterator<Item = Call::Answer> {
        self.answered.drain(..)
    }
}

/// Takes what was answered from the worker, before inputs are let in.
pub(super) fn collect<Call: BridgedCall>(
    mut bridge: ResMut<WorkerBridge>,
    mut calls: ResMut<WorkerCalls<Call>>,
    journal: Res<InputJournal>,
) {
    let traffic = bridge.traffic::<Call>();
    if journal.is_replaying() || traffic.is_quiet() {
        return;
    }
    let answered = traffic.take();
    calls.answered.extend(answered);
}

/// Sends what is due.
pub(super) fn dispatch<Call: BridgedCall>(
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
