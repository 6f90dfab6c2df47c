//! Tells a person in the room what was put back of guarded files.

use bevy::ecs::message::{MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParamItem;

use crate::gateway::programs::sandbox::attribute_reports::AttributesPutBack;
use crate::gateway::requests::bridge::WorkerBridge;
use crate::gateway::requests::worker_events::WorkerEvents;
use crate::schedule::InputQueue;
use crate::workspace::ProblemReport;

impl WorkerEvents for AttributesPutBack {
    type Event = Self;
    type Room = ResMut<'static, InputQueue<Self>>;

    fn take(bridge: &mut WorkerBridge, _tick: u64) -> impl IntoIterator<Item = Self> {
        bridge.take_put_back()
    }

    fn admit(report: Self, queue: &mut SystemParamItem<'_, '_, Self::Room>) {
        queue.push(report);
    }
}

/// Tells a person what was put back.
pub(in crate::gateway) fn report(
    mut put_back: MessageReader<AttributesPutBack>,
    mut reports: MessageWriter<ProblemReport>,
    mut number: Local<u64>,
) {
    for one in put_back.read() {
        *number += 1;
        let source = format!("guarded files beside {}", one.programs.join(", "));
        reports.write(ProblemReport { source, problems: vec![one.problem(*number)] });
    }
}
