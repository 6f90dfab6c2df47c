//! The desk: what agents and a person keep in files between them, as tasks, and what comes of it.
//!
//! In reading order: task files ([`crate::workspace::task_files`]), how a task in one is changed ([`edits`], and `writes` in the order in which
//! that is asked for), tasks that become work by themselves ([`duties`], and `beginning` in the room), what agents write
//! to each other and see of each other's sessions (`sessions`), and the calls of tools (`answering`). What agents ask
//! a person is a file, too ([`approvals`]).

mod answering;
pub mod approvals;
mod beginning;
pub mod duties;
pub mod edits;
mod saved;
mod sessions;
pub mod settings;
mod writes;

pub use duties::{Duties, Duty, DutyStage};
pub use settings::TaskSettings;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::kernel::{WorkAnswer, WorkNews, WorkOrder};
use crate::orchestration::workflow::BeforeWorkflows;
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::tools::{AnswerOrders, DESK, ToolOutcome, Tools};
use crate::workspace::vfs::{FileOrder, FileOutcome};
use crate::workspace::{FileChanged, SettingsExt};

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    app.add_plugins(approvals::plugin);
    app.add_settings::<TaskSettings>();
    app.init_resource::<Duties>().init_resource::<writes::TaskWrites>().init_resource::<sessions::Hops>();
    // Owned by floors below, which register them too.
    app.add_tick_message::<WorkOrder>()
        .add_tick_message::<WorkAnswer>()
        .add_tick_message::<WorkNews>()
        .add_tick_message::<ToolOutcome>()
        .add_tick_message::<FileOrder>()
        .add_tick_message::<FileOutcome>()
        .add_tick_message::<FileChanged>();
    app.world_mut().get_resource_or_init::<Tools>().add_executor(DESK);
    app.add_systems(
        Tick,
        (
            (answering::answer, writes::carry_on).chain().in_set(AnswerOrders).before(BeforeWorkflows::Answer),
            beginning::bring_on.in_set(InPhase(WorkshopSystems::Ingest, Floor::Desk)),
            (beginning::take_begun, beginning::take_answers)
                .chain()
                .in_set(InPhase(WorkshopSystems::Decide, Floor::Desk))
                .before(approvals::KeepFile),
        ),
    );
    sections::register::<saved::DeskSaved>(app);
}
