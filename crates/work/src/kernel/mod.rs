//! The work kernel: schedules the pieces of work of agents, tracks which of them started which, and decides when each
//! ends.
//!
//! In reading order: a single piece of work ([`activation`]), its approvals ([`approval_question`], [`approval`]), the
//! state of all work ([`core`]), permissions that a person granted (`grants`), slot assignment ([`slots`]), transitions
//! after a model reply or a tool result ([`transitions`]), tool calls made by a tool's code (`nested_calls`), model
//! requests by MCP servers ([`sampling`]), agents that start and wake agents ([`spawn_limits`]) or delegate tasks to each
//! other ([`hand_over_result`], [`hand_over`]), messages from higher layers ([`work_notices`]) and work ordered by them
//! ([`work_orders`]), control by a person or a limit (`control`), the session as it is sent and saved ([`session`]),
//! its images (`result_images`), and a person's edits to it (`session_edit`). All of these are pure. The `systems` pass
//! events from the room to the kernel and carry out its decisions (`dispatch`, `spawning`, `hand_over_systems`,
//! `recording`, `server_readiness`) through `access`. Files that the room reads for an agent's work are limited by its
//! rights (`work_file_rights`).

mod access;
pub mod activation;
pub mod approval;
pub mod approval_question;
mod changed_code;
pub mod command;
mod command_code;
mod control;
#[cfg(test)]
mod control_tests;
pub mod core;
mod dispatch;
mod final_proposal;
mod grants;
pub mod hand_over;
pub mod hand_over_result;
mod hand_over_systems;
#[cfg(test)]
mod hand_over_tests;
pub mod message_notes;
#[cfg(test)]
mod model_tests;
mod nested_calls;
mod outbox;
pub mod overview;
mod progress;
mod recording;
mod result_images;
pub mod sampling;
mod saved;
mod server_question;
mod server_readiness;
pub mod session;
mod session_edit;
pub mod settings;
pub mod slots;
pub mod spawn_limits;
mod spawning;
mod systems;
#[cfg(test)]
mod tests;
mod thread_file;
#[cfg(test)]
mod transition_tests;
pub mod transitions;
mod work_file_rights;
pub mod work_notices;
mod work_order_systems;
pub mod work_orders;

pub use crate::mind::Ending;
pub(crate) use access::LOGGED_CHARS;
pub use access::preview;
pub use activation::{
    Activation, Call, CallProgress, CapHold, CapWait, Finished, Origin, ParentCall, Phase, Report, RunNode,
};
pub use approval::{Approval, ApprovalId, Hold, QuestionKey};
pub use approval_question::{CallQuestion, Grant};
pub use command::{KernelCommand, WorkDropped};
pub use command_code::ChangedFile;
pub use core::{Kernel, KernelAction, NewWork, NoReply};
pub use hand_over::task_and_terms;
pub use hand_over_result::{DelegatedOutcome, DelegatedTask};
pub use overview::{UnfinishedActivation, UnfinishedHandOver, UnfinishedRun};
pub use recording::sessions_at_rest;
pub use session_edit::{EditedSession, SessionEditTiming, file_message, prompt_message};
pub use settings::KernelSettings;
pub use spawn_limits::{Refusal, Reported, SignalEffect};
pub use thread_file::{EndedWork, ThreadFile};
pub use work_file_rights::WorkFileRights;
pub use work_notices::WorkNotice;
pub use work_orders::{WorkAnswer, WorkOrder, WorkTerms, WorkWanted};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::{AgentCommand, AgentRemoved};
use crate::gateway::{ExchangeAccepted, MinutePassed};
use crate::mind::{SideRequestDue, SideRequestReplied, SideRequestWithdrawn, WorkDue, WorkEnded, WorkReplied};
use crate::schedule::inputs::{CollectInputs, InputExt};
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::simulation::{ArrivedForWork, Explain, TaskCommand, ThinkDone, WorkRequestWithdrawn, WorkRequested};
use crate::tools::{CallAnswered, OrderAnswered, OrderOutcome, ToolOrder, ToolOrdersWithdrawn};
use crate::workspace::trust::TrustAdded;
use crate::workspace::vfs::FileOrder;
use crate::workspace::{SettingsEdit, SettingsExt};

/// Resets single-step mode at the start of a run: work runs freely until the run asks for single turns again.
pub fn begin_run(world: &mut World) {
    world.resource_mut::<Kernel>().give_all_turns();
}

/// The system set in `Ingest` that processes a person's decisions. Systems that create decisions run before it.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DecisionSystems;

/// Registers the kernel's settings, resources, messages and systems.
pub fn plugin(app: &mut App) {
    app.add_settings::<KernelSettings>();
    app.init_resource::<Kernel>().init_resource::<outbox::Outbox>();
    app.add_input::<TaskCommand>().add_input::<KernelCommand>().add_input::<WorkDropped>();
    // These messages are owned by lower layers, which register them too.
    app.add_tick_message::<AgentCommand>()
        .add_tick_message::<AgentRemoved>()
        .add_tick_message::<WorkRequested>()
        .add_tick_message::<WorkRequestWithdrawn>()
        .add_tick_message::<ArrivedForWork>()
        .add_tick_message::<ThinkDone>()
        .add_tick_message::<Explain>()
        .add_tick_message::<WorkDue>()
        .add_tick_message::<WorkReplied>()
        .add_tick_message::<WorkEnded>()
        .add_tick_message::<SideRequestDue>()
        .add_tick_message::<SideRequestReplied>()
        .add_tick_message::<SideRequestWithdrawn>()
        .add_tick_message::<MinutePassed>()
        .add_tick_message::<FileOrder>()
        .add_tick_message::<ToolOrder>()
        .add_tick_message::<OrderOutcome>()
        .add_tick_message::<ToolOrdersWithdrawn>()
        .add_tick_message::<OrderAnswered>()
        .add_tick_message::<CallAnswered>()
        .add_tick_message::<SettingsEdit>()
        .add_tick_message::<TrustAdded>()
        .add_tick_message::<WorkNotice>()
        .add_tick_message::<WorkOrder>()
        .add_tick_message::<WorkAnswer>()
        .add_tick_message::<EditedSession>()
        .add_tick_message::<ExchangeAccepted>();
    app.add_systems(
        Tick,
        (
            outbox::flush.in_set(CollectInputs),
            (recording::note_dropped, systems::ingest.in_set(DecisionSystems), systems::watch_caps)
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Kernel)),
            (work_order_systems::apply_orders, systems::run_kernel)
                .chain()
                .in_set(InPhase(WorkshopSystems::Simulate, Layer::Kernel)),
        ),
    );
    sections::register::<saved::KernelSaved>(app);
}
