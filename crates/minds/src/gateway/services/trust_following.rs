//! An open room follows the person's file about its workspace, and adds to it what they allow in the room. The worker
//! reads and writes the file; what it read enters the world as an input, so that a replay is equal.

use bevy::ecs::prelude::*;

use crate::gateway::requests::bridge::WorkerBridge;
use crate::gateway::requests::dispatch::{GatewayEnvironment, SimulatedProviders};
use crate::gateway::trust::trusted_workspaces::TrustFile;
use crate::gateway::worker::live_replies::LiveText;
use crate::schedule::{InputJournal, InputQueue};
use crate::workspace::trust::TrustChanged;
use crate::workspace::{ProblemReport, WorkspaceTrust};

/// Passes what was read of the person's file to the room, before inputs are admitted.
pub(in crate::gateway) fn collect(
    mut bridge: ResMut<WorkerBridge>,
    trust: Option<Res<WorkspaceTrust>>,
    mut inputs: ResMut<InputQueue<TrustChanged>>,
    journal: Res<InputJournal>,
) {
    let Some(trust) = trust.filter(|_| !journal.is_replaying()) else { return };
    if let Some(now) = bridge.trust().take(&trust) {
        inputs.push(TrustChanged(now));
    }
}

/// Lets the worker follow the person's file, and add what they allowed in the room.
pub(in crate::gateway) fn follow(
    file: Option<Res<TrustFile>>,
    trust: Option<Res<WorkspaceTrust>>,
    (mut bridge, mut live): (ResMut<WorkerBridge>, ResMut<LiveText>),
    (surroundings, factories): (Res<GatewayEnvironment>, Res<SimulatedProviders>),
    mut problems: MessageWriter<ProblemReport>,
    journal: Res<InputJournal>,
    mut is_reported: Local<bool>,
) {
    let Some(file) = file.filter(|_| !journal.is_replaying()) else { return };
    if file.is_changed() {
        bridge.trust().begin();
    }
    if let Some(trust) = trust.filter(|trust| trust.is_changed()) {
        bridge.trust().note(&trust);
    }
    if !bridge.is_up() {
        bridge.trust().is_followed = false;
    }
    let commands = bridge.trust().unsent(&file);
    if commands.is_empty() {
        return;
    }
    let started = bridge.ensure_worker(&surroundings.0, &factories.0, &mut live);
    if let Err(problem) = started
        && !std::mem::replace(&mut *is_reported, true)
    {
        problems.write(ProblemReport { source: "gateway".into(), problems: vec![problem] });
    }
    for command in commands {
        // If the queue is full, the next tick tries again.
        if !bridge.send_trust(&command) {
            return;
        }
        bridge.trust().sent(&command);
    }
}
