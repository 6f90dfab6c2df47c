//! The mind: builds prompts from the world, and turns replies into intents.
//!
//! All text by others is inserted into prompts as data, by one module (`untrusted_text`).
//!
//! In reading order: a [`ThinkDue`] is received (`think_requests`), the agent's knowledge is collected
//! (`context_builder`, `context`) and composed (`compose`, `parts`); the reply is parsed (`markers`), each intent
//! becomes an effect (`intent`), and the effects are carried out as messages (`replies`, `reply_acts`). With models that
//! can call functions (`tool_models`), the acts are declared as such (`act_tools`), and calls become intents
//! (`act_calls`).

mod act_calls;
mod act_tools;
pub mod agent_report;
mod brackets;
pub mod compose;
pub mod context;
mod context_builder;
mod current_request;
pub mod feedback;
mod gather_stage;
mod heading_guard;
pub mod headings;
pub mod history_trimming;
pub mod inserted_text;
mod instructions;
pub mod intent;
pub mod markers;
pub mod message;
mod part_requests;
pub mod parts;
mod pending;
pub mod pins_and_mail;
pub mod prompt;
mod prompt_additions;
mod prompts;
mod replies;
mod reply_acts;
mod reply_cleanup;
pub mod request;
pub mod session;
pub mod settings;
mod side_requests;
pub mod silent_replies;
pub mod spoken;
mod think_requests;
mod tool_declaration;
mod tool_models;
pub mod transcript;
mod truncation_report;
pub mod untrusted_text;
mod work_messages;
mod work_requests;

pub use agent_report::{
    AgentImage, AgentOption, AgentOptionValue, AgentReport, AgentSession, AgentToolCall, OwnChange, OwnCommand,
    PlanStep, RanInTerminal, ResultImages,
};
pub use context::MindContext;
pub use context_builder::context_at_work;
pub use feedback::Feedback;
pub use gather_stage::{GatherKey, GatherOrder, PartGathered};
pub use message::{CallEnd, PromptMessage, Reasoning, ReasoningBlock, Role, ToolCall};
pub use parts::{PartProvider, PartWriter, Privacy, PromptParts, Share, Slot};
pub use pending::PendingRequests;
pub use prompt::{LeftOut, PartItem, Prompt, PromptOrigin, PromptPart};
pub use prompt_additions::PromptAdditions;
pub use request::{
    CallKind, CancelRequest, CapReached, CapScope, Completion, Effort, FailureKind, Finish, ModelFailure, ModelReply,
    ModelRequest, PutOffRequest, ScriptPlace, Usage,
};
pub use session::Session;
pub use settings::{ActMode, MindSettings};
pub use side_requests::{SideAnswer, SideQuestion, SideRequestDue, SideRequestReplied, SideRequestWithdrawn, SideWork};
pub use think_requests::LastPrompt;
pub use tool_declaration::{ToolDeclaration, ToolSchema};
pub use tool_models::{ToolModel, ToolModels, ToolSupport};
pub use work_messages::{Ending, ReplyUsage, SessionRoom, WorkDue, WorkEnded, WorkReplied, WorkReply, task_words};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::ProfileChanged;
use crate::element::{ElementChanged, ElementEdit, ElementRefused, ItemLost};
use crate::memory::MemoryEdit;
use crate::schedule::inputs::InputExt;
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved};
use crate::simulation::{CompactionWanted, ConversationEnded, Explain, NewsNoted, ThinkDone, ThinkDue, ThinkPutOff};
use crate::workspace::{ProblemReport, SettingsExt};

/// Adds this layer to the room.
pub fn plugin(app: &mut App) {
    app.add_settings::<MindSettings>()
        .init_resource::<PendingRequests>()
        .init_resource::<PromptParts>()
        .init_resource::<ToolModels>()
        .init_resource::<spoken::SpokenSentences>()
        .init_resource::<truncation_report::TruncationReports>()
        .add_observer(think_requests::add_mind_components);
    app.add_tick_message::<ModelRequest>()
        .add_tick_message::<CancelRequest>()
        .add_tick_message::<PutOffRequest>()
        .add_input::<ModelReply>()
        .add_input::<PartGathered>();
    app.add_tick_message::<WorkDue>().add_tick_message::<WorkReplied>().add_tick_message::<WorkEnded>();
    app.add_tick_message::<SideRequestDue>()
        .add_tick_message::<SideRequestReplied>()
        .add_tick_message::<SideRequestWithdrawn>();
    // Owned by layers below; registered here as well, so that this layer runs without their systems.
    app.add_tick_message::<ElementEdit>()
        .add_tick_message::<ElementRefused>()
        .add_tick_message::<ItemLost>()
        .add_tick_message::<MemoryEdit>()
        .add_tick_message::<ThinkDue>()
        .add_tick_message::<ThinkDone>()
        .add_tick_message::<ThinkPutOff>()
        .add_tick_message::<Explain>()
        .add_tick_message::<NewsNoted>()
        .add_tick_message::<CompactionWanted>()
        .add_tick_message::<ConversationEnded>()
        .add_tick_message::<ElementChanged>()
        .add_tick_message::<ProfileChanged>()
        .add_tick_message::<ProblemReport>();
    // These systems access many resources of the room, so they only run when there is something to do.
    app.add_systems(
        Tick,
        (
            (
                replies::drop_orphans.run_if(|pending: Res<PendingRequests>| !pending.is_empty()),
                replies::apply_replies.run_if(on_message::<ModelReply>),
                part_requests::receive.run_if(on_message::<PartGathered>),
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Mind)),
            (
                replies::remember_conversations.run_if(on_message::<ConversationEnded>),
                think_requests::retry_compaction.run_if(|pending: Res<PendingRequests>| !pending.retries.is_empty()),
                part_requests::expire.run_if(is_gathering),
                think_requests::put_off.run_if(on_message::<ThinkPutOff>),
                think_requests::ask_gathered.run_if(is_gathering),
                think_requests::send_think_requests.run_if(on_message::<ThinkDue>),
                work_requests::conclude.run_if(on_message::<WorkEnded>),
                work_requests::ask.run_if(on_message::<WorkDue>),
                side_requests::ask.run_if(on_message::<SideRequestDue>),
                side_requests::withdraw.run_if(on_message::<SideRequestWithdrawn>),
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Decide, Layer::Mind)),
            (
                replies::report_refusals.run_if(on_message::<ElementRefused>),
                replies::report_lost_items.run_if(on_message::<ItemLost>),
                truncation_report::report.run_if(
                    on_message::<ElementChanged>
                        .or_eager(on_message::<ProfileChanged>)
                        .or_eager(resource_changed::<MindSettings>),
                ),
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Apply, Layer::Mind)),
        ),
    );
    saved::register::<pending::MindSaved>(app);
    saved::register::<spoken::SpokenSentences>(app);
}

fn is_gathering(pending: Res<PendingRequests>) -> bool {
    !pending.gathering.is_empty()
}

#[cfg(test)]
mod act_replies_tests;
#[cfg(test)]
mod gather_stage_tests;
#[cfg(test)]
mod news_tests;
#[cfg(test)]
mod quiet_room_tests;
#[cfg(test)]
mod reply_report_tests;
#[cfg(test)]
mod tests;
