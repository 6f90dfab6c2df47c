//! Tells a person in the room what was put back of guarded files.

use bevy::ecs::message::{MessageReader, MessageWriter};
use bevy::ecs::prelude::*;

use super::attribute_reports::AttributesPutBack;
use super::bridge::WorkerBridge;
use crate::schedule::{InputJournal, InputQueue};
use crate::workspace::ProblemReport;

/// Admits what was put back, before inputs are admitted.
pub(super) fn collect(
    mut bridge: ResMut<WorkerBridge>,
    mut queue: ResMut<InputQueue<AttributesPutBack>>,
    journal: Res<InputJournal>,
) {
    if journal.is_replaying() {
        return;
    }
    for report in bridge.take_put_back() {
        queue.push(report);
    }
}

/// Tells a person what was put back.
pub(super) fn report(
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
