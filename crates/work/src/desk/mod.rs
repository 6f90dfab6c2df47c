//! The desk: what agents and a person keep in files between them, as tasks, and what comes of it.
//!
//! In reading order: task files ([`crate::workspace::task_files`], and `known_tasks` in the room), how a task in one is
//! changed ([`edits`], and `writes` in the order in which that is asked for), tasks that become work by themselves
//! ([`duties`], and `beginning` in the room), what agents write to each other and see of each other's sessions
//! (`sessions`), what a person writes into session files ([`session_files`]), how planners are asked to check in
//! ([`checkins`], and `checking_in` in the room), when agents wake by themselves
//! ([`heartbeats`], and `waking` in the room), code that gives agents more than their files say ([`modules`]), and the calls of tools (`answering`). Messages from outside come in and
//! go out as files, too ([`streams`]). What agents ask a person is a file, too ([`approvals`]).

mod answering;
pub mod approvals;
mod beginning;
mod checking_in;
pub mod checkins;
pub mod duties;
pub mod edits;
pub mod heartbeats;
mod known_tasks;
pub mod modules;
mod saved;
mod session_edits;
pub mod session_files;
mod sessions;
pub mod settings;
pub mod streams;
mod waking;
mod writes;

pub use checking_in::CheckIns;
pub use duties::{Duties, Duty, DutyStage};
pub use heartbeats::Heartbeats;
pub use session_files::SessionEdits;
pub use settings::TaskSettings;
pub use streams::settings::InboxSettings;
pub use streams::slack_arrivals::SlackChannels;
pub use streams::slack_sending::SlackSending;
pub use streams::taking::Streams;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::element::{ElementChanged, ElementEdit};
use crate::kernel::{SessionTaken, WorkAnswer, WorkNews, WorkOrder};
use crate::mind::AddedWords;
use crate::orchestration::workflow::BeforeWorkflows;
use crate::schedule::door::{CollectInputs, InputExt};
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::tools::{AnswerOrders, CarriedOutOutside, DESK, ToolOutcome, Tools, ToolsCarriedOut};
use crate::workspace::vfs::{FileOrder, FileOutcome};
use crate::workspace::{FileChanged, FileWritten, ProblemReport, SceneWrite, SettingsExt};

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    app.add_plugins(approvals::plugin);
    app.add_settings::<TaskSettings>().add_settings::<InboxSettings>();
    app.init_resource::<Duties>()
        .init_resource::<known_tasks::KnownTasks>()
        .init_resource::<writes::TaskWrites>()
        .init_resource::<sessions::Hops>()
        .init_resource::<SessionEdits>()
        .init_resource::<CheckIns>()
        .init_resource::<Heartbeats>()
        .init_resource::<modules::ModulePrompts>()
        .init_resource::<modules::ModulesLoading>()
        .init_resource::<AddedWords>()
        .init_resource::<Streams>()
        .init_resource::<SlackSending>()
        .init_resource::<SlackChannels>();
    // Owned by floors below, which register them too.
    app.add_tick_message::<WorkOrder>()
        .add_tick_message::<WorkAnswer>()
        .add_tick_message::<WorkNews>()
        .add_tick_message::<SessionTaken>()
        .add_tick_message::<ToolOutcome>()
        .add_tick_message::<FileOrder>()
        .add_tick_message::<FileOutcome>()
        .add_tick_message::<ElementEdit>()
        .add_tick_message::<ElementChanged>()
        .add_tick_message::<FileWritten>()
        .add_tick_message::<ProblemReport>()
        .add_tick_message::<SceneWrite>()
        .add_tick_message::<FileChanged>();
    app.add_input::<modules::ModulesHeard>().add_tick_message::<modules::PromptAnswered>();
    let mut tools = app.world_mut().get_resource_or_init::<Tools>();
    tools.add_executor(DESK);
    tools.add_executor(modules::MODULES);
    app.add_systems(Tick, modules::run.in_set(CarriedOutOutside).in_set(CollectInputs).after(ToolsCarriedOut));
    app.add_systems(
        Tick,
        (
            (
                answering::answer,
                writes::carry_on,
                streams::slack_sending::carry_on,
                streams::slack_sending::send_out,
                streams::slack_arrivals::bring,
                streams::slack_arrivals::look,
                session_edits::carry_on,
            )
                .chain()
                .in_set(AnswerOrders)
                .before(BeforeWorkflows::Answer),
            (
                known_tasks::follow,
                beginning::bring_on,
                streams::taking::take,
                session_files::take,
                checking_in::check_in,
                waking::wake,
                modules::hear,
                modules::follow_prompts,
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Floor::Desk)),
            (
                beginning::take_begun,
                beginning::take_answers,
                streams::taking::take_answers,
                checking_in::take_begun,
                waking::take_answers,
                modules::take_answers,
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Decide, Floor::Desk))
                .before(approvals::KeepFile),
        ),
    );
    sections::register::<saved::DeskSaved>(app);
}
