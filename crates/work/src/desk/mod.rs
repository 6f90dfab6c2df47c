//! The desk: tasks, messages, approvals and sessions that agents and people exchange through files.
//!
//! In reading order: task files ([`crate::workspace::task_files`], cached by `task_cache`), edits of tasks under way
//! (`task_writes`), tasks that start work ([`task_assignments`], and `task_start` in the room), messages between agents and their view of each other's sessions (`sessions`), session
//! files edited by a person ([`session_files`]), planner check-ins ([`checkins`], and `checkin_systems` in the room),
//! heartbeats ([`heartbeats`], and `heartbeat_systems` in the room), code that extends agents ([`modules`]), and tool
//! calls (`tool_calls`). Messages to and from the outside ([`streams`]) and approvals ([`approvals`]) are files too. What
//! agents would do by themselves counts only once the person has seen it ([`seen_changes`], [`trust_page`]).

pub mod approvals;
mod checkin_systems;
pub mod checkins;
mod heartbeat_systems;
pub mod heartbeats;
mod message_answers;
pub mod modules;
mod older_task_writes;
pub mod person_tasks;
mod saved;
pub mod seen_changes;
mod session_edits;
pub mod session_files;
mod sessions;
pub mod settings;
pub mod streams;
pub mod task_assignments;
mod task_cache;
mod task_start;
mod task_writes;
mod tool_calls;
pub mod trust_page;

pub use checkin_systems::CheckIns;
pub use heartbeats::Heartbeats;
pub use message_answers::is_returning_answers;
pub use session_files::SessionEdits;
pub use settings::TaskSettings;
pub use streams::delivery::Streams;
pub use streams::settings::InboxSettings;
pub use streams::slack_import::{SlackChannels, awaits_first_poll};
pub use streams::slack_outbox::SlackSending;
pub use task_assignments::{AssignmentStage, TaskAssignment, TaskAssignments};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::element::{ElementChanged, ElementEdit};
use crate::kernel::{EditedSession, WorkAnswer, WorkNotice, WorkOrder};
use crate::log::AddedEvents;
use crate::mind::PromptAdditions;
use crate::orchestration::workflow::BeforeWorkflows;
use crate::schedule::inputs::InputExt;
use crate::schedule::outside::OutsideExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::tools::{AnswerOrders, DESK, OrderOutcome, Tools};
use crate::workspace::trust::TrustAdded;
use crate::workspace::vfs::{FileOrder, FileOutcome};
use crate::workspace::{FileChanged, FileWritten, ProblemReport, SceneWrite, SettingsExt};

/// Registers the desk's settings, resources, messages and systems.
pub fn plugin(app: &mut App) {
    app.add_plugins(approvals::plugin);
    app.add_settings::<TaskSettings>().add_settings::<InboxSettings>();
    app.init_resource::<TaskAssignments>()
        .init_resource::<task_cache::KnownTasks>()
        .init_resource::<task_writes::TaskWrites>()
        .init_resource::<message_answers::Hops>()
        .init_resource::<SessionEdits>()
        .init_resource::<session_edits::SessionVersions>()
        .init_resource::<CheckIns>()
        .init_resource::<Heartbeats>()
        .init_resource::<modules::ModulePrompts>()
        .init_resource::<modules::ModulesLoading>()
        .init_resource::<modules::KnownModules>()
        .init_resource::<AddedEvents>()
        .init_resource::<PromptAdditions>()
        .init_resource::<Streams>()
        .init_resource::<SlackSending>()
        .init_resource::<SlackChannels>();
    // These messages are owned by lower layers, which register them too.
    app.add_tick_message::<WorkOrder>()
        .add_tick_message::<WorkAnswer>()
        .add_tick_message::<WorkNotice>()
        .add_tick_message::<EditedSession>()
        .add_tick_message::<OrderOutcome>()
        .add_tick_message::<FileOrder>()
        .add_tick_message::<FileOutcome>()
        .add_tick_message::<ElementEdit>()
        .add_tick_message::<ElementChanged>()
        .add_tick_message::<FileWritten>()
        .add_tick_message::<ProblemReport>()
        .add_tick_message::<SceneWrite>()
        .add_tick_message::<TrustAdded>()
        .add_tick_message::<FileChanged>();
    app.add_outside(streams::slack_outbox::SlackPosts::default());
    app.add_outside(streams::slack_import::SlackPolls::default());
    app.add_input::<modules::ModulesReported>().add_tick_message::<modules::PromptAnswered>();
    app.world_mut().resource_mut::<AddedEvents>().add::<modules::ModuleLogged>();
    let mut tools = app.world_mut().get_resource_or_init::<Tools>();
    tools.add_executor(DESK);
    tools.add_executor(modules::MODULES);
    modules::add_runner(app);
    app.add_systems(
        Tick,
        (
            (
                tool_calls::answer,
                task_writes::apply_written_edits,
                streams::slack_outbox::advance_posts,
                streams::slack_import::append_new_messages,
                session_edits::advance_session_edits,
            )
                .chain()
                .in_set(AnswerOrders)
                .before(BeforeWorkflows::Answer),
            (
                seen_changes::trust_seen_changes,
                task_cache::follow,
                task_start::start_and_close_tasks,
                message_answers::deliver_answers,
                streams::delivery::deliver_new_lines,
                session_files::apply_saved_files,
                checkin_systems::check_in,
                heartbeat_systems::start_due_heartbeats,
                modules::apply_module_messages,
                modules::wait_for_prompt_texts,
                modules::follow_prompts,
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Desk)),
            (
                task_start::apply_started_sessions,
                message_answers::collect_answers,
                task_start::apply_work_answers,
                streams::delivery::apply_work_answers,
                checkin_systems::apply_started_sessions,
                heartbeat_systems::apply_work_answers,
                modules::apply_work_answers,
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Decide, Layer::Desk))
                .before(approvals::KeepFile),
        ),
    );
    sections::register::<saved::DeskSaved>(app);
}
