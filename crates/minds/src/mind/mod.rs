//! From the world to a prompt, from a reply to intents: what an agent is asked, and what becomes of its answer.
//!
//! Whatever others wrote enters a prompt as data, by one rule (`wording`).
//!
//! In reading order: a [`ThinkDue`](crate::simulation::ThinkDue) is heard (`thinking`), what the agent knows is
//! gathered (`gather`, `context`) and put together (`compose`, `parts`); the reply is taken apart (`markers`), each intent becomes
//! an effect (`intent`), and all of it is carried out as messages (`replies`).

mod added_words;
mod aside;
mod brackets;
pub mod compose;
pub mod context;
pub mod feedback;
pub mod fitting;
mod gather;
mod gathering;
mod guard;
mod habits;
pub mod headings;
pub mod holdings;
pub mod intent;
pub mod looking_back;
pub mod markers;
pub mod message;
mod moments;
mod orders;
mod part_orders;
pub mod parts;
mod pending;
pub mod prompt;
mod prompts;
mod replies;
pub mod request;
pub mod session;
pub mod settings;
pub mod silence;
mod thinking;
pub mod told;
mod unseen;
pub mod wording;
mod work;
mod working;

pub use added_words::AddedWords;
pub use aside::{AsideDue, AsideReplied};
pub use context::MindContext;
pub use feedback::Feedback;
pub use gather::context_at_work;
pub use gathering::{GatherKey, GatherOrder, PartGathered};
pub use message::{CallEnd, PromptMessage, Reasoning, ReasoningBlock, Role, ToolCall};
pub use parts::{PartProvider, PartWriter, Privacy, PromptParts, Share, Slot};
pub use pending::PendingRequests;
pub use prompt::{LeftOut, PartItem, Prompt, PromptOrigin, PromptPart};
pub use request::{
    CallKind, CancelRequest, CapReached, CapScope, Completion, Effort, FailureKind, Finish, ModelFailure, ModelReply,
    ModelRequest, PutOffRequest, ScriptPlace, ToolDeclaration, Usage,
};
pub use session::Session;
pub use settings::MindSettings;
pub use thinking::LastPrompt;
pub use told::{
    AgentImage, AgentSession, AgentTold, OwnCall, OwnChange, OwnCommand, OwnOption, OwnValue, PlanStep, RanInTerminal,
    ResultImages,
};
pub use work::{Ending, SessionRoom, WorkDue, WorkOver, WorkReplied, WorkReply, WorkTaken, task_words};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::agent::ProfileChanged;
use crate::element::{ElementChanged, ElementEdit, ElementRefused};
use crate::memory::MemoryEdit;
use crate::schedule::door::InputExt;
use crate::schedule::{Floor, InPhase, Tick, TickMessageExt, WorkshopSystems, saved};
use crate::simulation::{CompactionWanted, ConversationEnded, Explain, NewsHeard, ThinkDone, ThinkDue, ThinkPutOff};
use crate::workspace::{ProblemReport, SettingsExt};

/// Adds this floor to the room.
pub fn plugin(app: &mut App) {
    app.add_settings::<MindSettings>()
        .init_resource::<PendingRequests>()
        .init_resource::<PromptParts>()
        .init_resource::<unseen::UnseenTold>()
        .add_observer(thinking::give_mind);
    app.add_tick_message::<ModelRequest>()
        .add_tick_message::<CancelRequest>()
        .add_tick_message::<PutOffRequest>()
        .add_input::<ModelReply>()
        .add_input::<PartGathered>();
    app.add_tick_message::<WorkDue>().add_tick_message::<WorkReplied>().add_tick_message::<WorkOver>();
    app.add_tick_message::<AsideDue>().add_tick_message::<AsideReplied>();
    // Owned by floors below; registered here as well, so that this floor runs without their systems.
    app.add_tick_message::<ElementEdit>()
        .add_tick_message::<ElementRefused>()
        .add_tick_message::<MemoryEdit>()
        .add_tick_message::<ThinkDue>()
        .add_tick_message::<ThinkDone>()
        .add_tick_message::<ThinkPutOff>()
        .add_tick_message::<Explain>()
        .add_tick_message::<NewsHeard>()
        .add_tick_message::<CompactionWanted>()
        .add_tick_message::<ConversationEnded>()
        .add_tick_message::<ElementChanged>()
        .add_tick_message::<ProfileChanged>()
        .add_tick_message::<ProblemReport>();
    // What they look at of the room is much: they are run only when there is something to do.
    app.add_systems(
        Tick,
        (
            (
                replies::drop_orphans.run_if(|pending: Res<PendingRequests>| !pending.is_empty()),
                replies::receive.run_if(on_message::<ModelReply>),
                part_orders::receive.run_if(on_message::<PartGathered>),
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Floor::Mind)),
            (
                replies::remember_meetings.run_if(on_message::<ConversationEnded>),
                thinking::retry_compaction.run_if(|pending: Res<PendingRequests>| !pending.retries.is_empty()),
                part_orders::expire.run_if(is_gathering),
                thinking::put_off.run_if(on_message::<ThinkPutOff>),
                thinking::ask_gathered.run_if(is_gathering),
                thinking::think.run_if(on_message::<ThinkDue>),
                working::conclude.run_if(on_message::<WorkOver>),
                working::ask.run_if(on_message::<WorkDue>),
                aside::ask.run_if(on_message::<AsideDue>),
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Decide, Floor::Mind)),
            (
                replies::hear_refusals.run_if(on_message::<ElementRefused>),
                unseen::report.run_if(
                    on_message::<ElementChanged>
                        .or_eager(on_message::<ProfileChanged>)
                        .or_eager(resource_changed::<MindSettings>),
                ),
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Apply, Floor::Mind)),
        ),
    );
    saved::register::<pending::MindSaved>(app);
}

fn is_gathering(pending: Res<PendingRequests>) -> bool {
    !pending.gathering.is_empty()
}

#[cfg(test)]
mod calm_tests;
#[cfg(test)]
mod gathering_tests;
#[cfg(test)]
mod news_tests;
#[cfg(test)]
mod telling_tests;
#[cfg(test)]
mod tests;
