//! Executes a person's commands in the room, as inputs with their inverses, and repeats them.

use bevy::ecs::prelude::*;
use serde_json::json;

use super::inverse_commands::PendingRoom;
use super::open_room::{OpenRoom, Opening};
use crate::agent::AgentCommand;
use crate::base::AllowScope;
use crate::element::ElementCommand;
use crate::gate::GatePolicy;
use crate::kernel::{Kernel, KernelCommand, KernelSettings};
use crate::orchestration::workflow::WorkflowCommand;
use crate::schedule::{Input, InputQueue};
use crate::simulation::ConversationCommand;
use crate::ui::UiState;
use crate::ui::commands::RoomAct;
use crate::ui::commands::act_labels::why_irreversible;
use crate::ui::commands::undo::{Step, StepAct};
use crate::ui::widgets::text_format::sentence;
use crate::view::pick::RoomObject;
use crate::workspace::{SettingsEdit, SettingsSection};

/// Executes related actions, records their inverses in `step`, and reports failures. Added things are selected.
pub(super) fn act_all(room: &mut OpenRoom, state: &mut UiState, acts: Vec<(RoomAct, Option<RoomAct>)>, mut step: Step) {
    let mut done = Vec::new();
    let Some(world) = room.world() else { return };
    let mut pending = acts.iter().any(|(act, _)| !has_no_inverse(act)).then(|| PendingRoom::of(world));
    for (act, back) in acts {
        let resolved = match pending.as_mut().filter(|_| !has_no_inverse(&act)) {
            Some(pending) => pending.resolve(act, back),
            None => {
                let back = back.or_else(|| opposite(world, &act));
                Ok((act, back.into_iter().collect()))
            }
        };
        match resolved {
            Ok((act, back)) => {
                step.acts.extend(step_act(world, &act, back));
                done.push(act);
            }
            Err(why) => state.notify(sentence(&why), false),
        }
    }
    room.history.note(step);
    let added: Vec<RoomObject> = done.iter().filter_map(added).collect();
    if !added.is_empty() {
        state.selection.select(added);
    }
    push_all(room, done);
}

/// The action as a part of a step; `None` if it changes nothing that could be undone.
fn step_act(world: &World, act: &RoomAct, back: Vec<RoomAct>) -> Option<StepAct> {
    if let Some((edit, undone)) = permission(world, act) {
        return Some(StepAct::new(RoomAct::Settings(edit), vec![RoomAct::Settings(undone)]));
    }
    if !back.is_empty() {
        return Some(StepAct::new(act.clone(), back));
    }
    let changes_nothing = match act {
        RoomAct::Edit(_) | RoomAct::Relate(_) | RoomAct::Furnish(_) => true,
        RoomAct::Workflow(command) => matches!(command, WorkflowCommand::Edit { .. }),
        // Parts of a drag, which ends with an action that has an inverse.
        RoomAct::Agent(command) => {
            matches!(command, AgentCommand::PickUp { .. } | AgentCommand::Carry { .. } | AgentCommand::PutDown { .. })
        }
        _ => false,
    };
    (!changes_nothing).then(|| StepAct::irreversible(act.clone(), why_irreversible(act)))
}

/// The action that switches back what an action switches.
fn opposite(world: &World, act: &RoomAct) -> Option<RoomAct> {
    Some(match act {
        RoomAct::Work(KernelCommand::Pause) => RoomAct::Work(KernelCommand::Resume),
        RoomAct::Work(KernelCommand::Resume) => RoomAct::Work(KernelCommand::Pause),
        RoomAct::Work(KernelCommand::Limits { concurrency, depth_at_most }) => {
            let (kernel, settings) = (world.resource::<Kernel>(), world.resource::<KernelSettings>());
            RoomAct::Work(KernelCommand::Limits {
                concurrency: concurrency.map(|_| kernel.concurrency(settings)),
                depth_at_most: depth_at_most.map(|_| kernel.depth_at_most(settings)),
            })
        }
        RoomAct::Talk(ConversationCommand::Switch { on }) => RoomAct::Talk(ConversationCommand::Switch { on: !on }),
        _ => return None,
    })
}

/// The settings after and before a permanent permission. The answer itself cannot be undone.
fn permission(world: &World, act: &RoomAct) -> Option<(SettingsEdit, SettingsEdit)> {
    let RoomAct::Work(command @ KernelCommand::Decide { allow: true, scope: AllowScope::Always, .. }) = act else {
        return None;
    };
    let approval = world.resource::<Kernel>().approvals().find(|one| one.is_decided_by(command))?;
    let edit = (!approval.always.is_empty()).then(|| approval.permanent_permission_edit())?;
    let undone = match &world.resource::<GatePolicy>().allow {
        before if before.is_empty() => SettingsEdit::reset(GatePolicy::NAME, "allow"),
        before => SettingsEdit::set(GatePolicy::NAME, "allow", json!(before)),
    };
    Some((edit, undone))
}

/// Whether the inverse of an action cannot be computed from the state of the room: files have versions, and sent
/// messages stay sent.
fn has_no_inverse(act: &RoomAct) -> bool {
    if let RoomAct::Workflow(command) = act {
        return !matches!(command, WorkflowCommand::Edit { .. });
    }
    matches!(act, RoomAct::Talk(_) | RoomAct::Task(_) | RoomAct::Work(_) | RoomAct::Together(_) | RoomAct::File(_))
}

/// The thing that an action adds to the room.
fn added(act: &RoomAct) -> Option<RoomObject> {
    match act {
        RoomAct::Agent(AgentCommand::Add { id, .. }) => id.clone().map(RoomObject::Agent),
        RoomAct::Element(ElementCommand::Add { keys }) => Some(RoomObject::Element(keys.get("id")?.as_str()?.into())),
        _ => None,
    }
}

/// Repeats recorded actions. Reports and returns why some no longer apply.
pub(super) fn repeat_acts(room: &mut OpenRoom, state: &mut UiState, acts: Vec<RoomAct>) -> Vec<String> {
    let mut failures = Vec::new();
    let Some(world) = room.world() else { return failures };
    let mut pending = PendingRoom::of(world);
    let fits = |act: &RoomAct| match pending.resolve(act.clone(), None) {
        Ok(_) => true,
        Err(why) => {
            state.notify(sentence(&format!("part of it failed: {why}")), false);
            failures.push(why);
            false
        }
    };
    let acts: Vec<RoomAct> = acts.into_iter().filter(fits).collect();
    push_all(room, acts);
    failures
}

fn push_all(room: &mut OpenRoom, acts: Vec<RoomAct>) {
    room.is_active = true;
    acts.iter().for_each(|act| room.renames.note(act));
    let Some(world) = room.world() else { return };
    for act in acts {
        match act {
            RoomAct::Agent(command) => push(world, command),
            RoomAct::Element(command) => push(world, command),
            RoomAct::Edit(edit) => push(world, edit),
            RoomAct::Talk(command) => push(world, command),
            RoomAct::Task(command) => push(world, command),
            RoomAct::Relate(command) => push(world, command),
            RoomAct::Furnish(command) => push(world, command),
            RoomAct::Work(command) => push(world, command),
            RoomAct::Together(command) => push(world, command),
            RoomAct::Workflow(command) => push(world, command),
            RoomAct::File(command) => push(world, command),
            RoomAct::Settings(edit) => push(world, edit),
        }
    }
}

fn push<T: Input>(world: &mut World, input: T) {
    world.resource_mut::<InputQueue<T>>().push(input);
}

/// Opens a scene after the screen has shown that it will; further requests are ignored until then.
pub(super) fn open_soon(room: &mut OpenRoom, state: &mut UiState, scene: Option<String>, fresh: bool) {
    if room.opening.is_none() {
        room.opening = Some(Opening { scene, fresh, frames: 0 });
        state.transfer.dragging = None;
    }
}
