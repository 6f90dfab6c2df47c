//! The world's handle of the knowledge service: where requests, changed files and the choice of the embedding model go.

use bevy::ecs::prelude::*;

use super::embedder::EmbedderChoice;
use super::search::MemorySearch;
use super::service::{KnowledgeService, NotSent, ServiceRequest};
use crate::gateway::embedding::EmbeddingAccess;
use crate::knowledge::Owner;

/// The handle of the knowledge service. It is not part of the saved world, and a replay has no service.
#[derive(Resource, Default)]
pub struct KnowledgeBridge {
    service: Option<KnowledgeService>,
    /// The embedding model to use; `is_embedder_sent` is whether the service has received the choice.
    embedder: EmbedderChoice,
    is_embedder_sent: bool,
}

impl KnowledgeBridge {
    /// Creates a bridge to this service.
    pub fn new(service: KnowledgeService) -> Self {
        Self { service: Some(service), ..Self::default() }
    }

    /// Returns a handle for searching memories from outside the world, if there is a service.
    pub fn search(&self) -> Option<MemorySearch> {
        self.service.as_ref().map(KnowledgeService::search)
    }

    /// Sends a request to the service.
    pub(super) fn ask(&self, request: ServiceRequest) -> Result<(), NotSent> {
        self.service.as_ref().ok_or(NotSent::Ended)?.ask(request)
    }

    /// Lets go of a service whose thread has ended, so that what waits in its queue is answered.
    pub(super) fn release_ended(&mut self) {
        if self.service.as_ref().is_some_and(KnowledgeService::has_ended) {
            self.service = None;
        }
    }

    /// Switches to another embedding model. Does nothing if it is already in use.
    pub(super) fn choose_embedder(&mut self, choice: EmbedderChoice) {
        if self.embedder.wanted() != choice.wanted() {
            (self.embedder, self.is_embedder_sent) = (choice, false);
        }
    }

    /// Forbids or permits calls of the embedding model, books those that were made, and sends a new choice.
    pub(super) fn follow_embedder(&mut self, refusal: impl FnOnce(&EmbeddingAccess) -> Option<String>) {
        let Some(service) = &self.service else { return };
        if let Some(access) = self.embedder.access() {
            self.embedder.meter().refuse(refusal(access));
            service.report_usage(&self.embedder);
        }
        if !self.is_embedder_sent {
            service.use_embedder(self.embedder.clone());
            self.is_embedder_sent = true;
        }
    }

    /// Marks a memory file as possibly changed.
    pub(super) fn note_changed(&self, owner: Owner) {
        if let Some(service) = &self.service {
            service.read_again(owner);
        }
    }
}
