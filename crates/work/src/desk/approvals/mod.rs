//! Approvals for agents and workflows as tasks in `tasks/approvals.task.md`. Marking a task in any editor is the same
//! decision as in the window or on the command line, and counts once.
//!
//! In reading order: an approval as a task (`approval_task`), the file without a room (`file`), and keeping the file
//! and the room in sync (`sync`). Only a person's answer counts: agents cannot write the file
//! ([`gate::paths`](crate::gate::paths)), and a mark is accepted only if the text of its task is unchanged.

pub mod approval_task;
pub mod file;
mod sync;

pub use sync::ApprovalsFile;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::kernel::{DecisionSystems, KernelCommand};
use crate::orchestration::workflow::WorkflowCommand;
use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::workspace::{FileChanged, ProblemReport, SceneWrite};

/// The system set in `Decide` that writes the file, after all systems that may ask or decide.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct KeepFile;

/// Registers the approvals file.
pub fn plugin(app: &mut App) {
    app.init_resource::<ApprovalsFile>();
    // These messages are owned by lower layers, which register them too.
    app.add_input::<KernelCommand>().add_input::<WorkflowCommand>();
    app.add_tick_message::<FileChanged>().add_tick_message::<ProblemReport>().add_tick_message::<SceneWrite>();
    app.add_systems(
        Tick,
        (
            // A mark becomes a decision in the same tick, so that no kill can come between them.
            sync::read_decisions.in_set(InPhase(WorkshopSystems::Ingest, Layer::Kernel)).before(DecisionSystems),
            // The kernel has asked by now; new texts are received in the last phase.
            sync::write_approvals_file.in_set(KeepFile).in_set(InPhase(WorkshopSystems::Decide, Layer::Desk)),
        ),
    );
    sections::register::<ApprovalsFile>(app);
}
