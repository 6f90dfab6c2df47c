//! Learning: the memories of agents across runs, their recall, and new memories from work and conversations.
//!
//! Memories are stored in files (`memory/knowledge/`), outside the world. In reading order: the embedding model
//! ([`embedder`]), the files with their index ([`files`]), answering requests (`knowledge_calls`), the thread that does
//! so ([`service`]), the world's handle of it ([`bridge`]), and what the world asks of it (`orders`). After a piece of
//! work or a conversation, its agents review it, and after a workflow one of them does (`reflection`), step by step
//! ([`lessons`]). Answers are inputs, so a run is replayed without files and without an embedding model. Recalled and
//! learned memories are logged (`log_events`).

pub mod bridge;
pub mod embedder;
pub mod files;
mod knowledge_calls;
pub mod lessons;
mod log_events;
mod orders;
mod reflection;
pub mod search;
pub mod service;
pub mod settings;

pub use bridge::KnowledgeBridge;
pub use embedder::{EmbedderChoice, WantedEmbedder, open_minilm};
pub use files::{KnowledgeFiles, KnowledgeFilesError, count_memories};
pub use lessons::{LessonAnswered, Lessons};
pub use search::{MemoryQuery, MemorySearch};
pub use service::{EmbedderInUse, KnowledgeNotices, KnowledgeService, KnowledgeServiceOptions};
pub use settings::KnowledgeSettings;

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::gateway::embedding::EmbeddingUsed;
use crate::memory::MemoriesCounted;
use crate::mind::{SideRequestDue, SideRequestReplied, WorkEnded};
use crate::orchestration::workflow::RunReview;
use crate::schedule::outside::{NoticesExt, OutsideExt};
use crate::schedule::{InPhase, Layer, Tick, TickMessageExt, WorkshopSystems, saved as sections};
use crate::simulation::ConversationEnded;
use crate::tools::executor::ToolOutside;
use crate::tools::{AnswerOrders, CloseOrders, KNOWLEDGE, Tools};
use crate::workspace::vfs::OutsideChange;
use crate::workspace::{ProblemReport, SettingsExt};

/// Registers the systems, resources and messages of learning.
pub fn plugin(app: &mut App) {
    app.add_settings::<KnowledgeSettings>();
    app.init_resource::<KnowledgeBridge>().init_resource::<Lessons>().init_resource::<EmbedderInUse>();
    app.add_outside(orders::MemoryRecall)
        .add_outside(ToolOutside(orders::MemoryCalls))
        .add_outside(orders::LessonSteps)
        .add_notices::<MemoriesCounted>()
        .add_notices::<EmbedderInUse>()
        .add_notices::<EmbeddingUsed>();
    app.add_tick_message::<WorkEnded>().add_tick_message::<ConversationEnded>();
    app.add_tick_message::<SideRequestDue>().add_tick_message::<SideRequestReplied>();
    // Owned by lower layers, which also register them.
    app.add_tick_message::<OutsideChange>().add_tick_message::<ProblemReport>().add_tick_message::<RunReview>();
    app.world_mut().get_resource_or_init::<Tools>().add_executor(KNOWLEDGE);
    app.add_systems(
        Tick,
        (
            // Before the calls are closed.
            log_events::log_calls
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Tools))
                .after(AnswerOrders)
                .before(CloseOrders),
            // Requests made here are received in the same tick, so none is lost if the room is saved after it.
            (
                log_events::log_recalled,
                log_events::follow_files,
                log_events::follow_embedder,
                reflection::advance_lessons,
                log_events::choose_embedder,
                log_events::limit_embedder,
            )
                .chain()
                .in_set(InPhase(WorkshopSystems::Ingest, Layer::Learning)),
            reflection::queue_lessons.in_set(InPhase(WorkshopSystems::Decide, Layer::Learning)),
        ),
    );
    sections::register::<Lessons>(app);
}
