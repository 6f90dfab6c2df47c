//! The systems for programs that agents run: due programs go to the worker, results come back, and the available
//! sandbox is known.

use std::collections::VecDeque;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::bridge::WorkerBridge;
use super::dispatch::{GatewayEnvironment, SimulatedProviders};
use super::live_replies::LiveText;
use super::programs::{ProgramCommand, ProgramEnded};
use super::sandbox::{Confinement, Level};
use crate::schedule::{Input, InputJournal};

/// Messages to and from the worker of programs. None of it is saved; executors fill and empty it between the tick's
/// door and its end.
#[derive(Resource, Debug, Default)]
pub struct ProgramCalls {
    due: VecDeque<ProgramCommand>,
    heard: VecDeque<ProgramEnded>,
}

impl ProgramCalls {
    /// Sends something about a program, with this tick.
    pub fn send(&mut self, command: ProgramCommand) {
        self.due.push_back(command);
    }

    /// What ended, in order.
    pub fn take(&mut self) -> impl Iterator<Item = ProgramEnded> {
        self.heard.drain(..)
    }
}

/// Which sandbox is available on this computer. An input, because the gate depends on it.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ConfinementFound {
    /// Whether anything does.
    pub keeps_in: bool,
}

impl ConfinementFound {
    /// What there is here.
    pub fn on_this_computer() -> Self {
        Self { keeps_in: Confinement::of_this_computer().level() != Level::None }
    }
}

impl Input for ConfinementFound {
    const KIND: &'static str = "confinement";
}

/// Whether a sandbox is available on this computer; false until it is known.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeepsProgramsIn(pub bool);

pub(super) fn apply_confinement(mut found: MessageReader<ConfinementFound>, mut keeps_in: ResMut<KeepsProgramsIn>) {
    for found in found.read() {
        keeps_in.0 = found.keeps_in;
    }
}

/// Takes what ended from the worker, before the door opens.
pub(super) fn collect(mut bridge: ResMut<WorkerBridge>, mut calls: ResMut<ProgramCalls>, journal: Res<InputJournal>) {
    if journal.is_replaying() || bridge.programs().is_quiet() {
        return;
    }
    let heard = bridge.programs().take();
    calls.heard.extend(heard);
}

/// Sends what is due.
pub(super) fn dispatch(
    (mut calls, mut bridge, mut live): (ResMut<ProgramCalls>, ResMut<WorkerBridge>, ResMut<LiveText>),
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
            ProgramCommand::Run(order) => Some(ProgramEnded::not_started(order.id, problem.what.clone())),
            ProgramCommand::Stop { .. } => None,
        });
        calls.heard.extend(lost);
        return;
    }
    while let Some(command) = calls.due.pop_front() {
        if let Err(command) = bridge.send_program(command) {
            calls.due.push_front(command);
            break;
        }
    }
}
