//! Requests about an agent that none of its activities waits for: what is worth remembering of what was said and done.
//! They use the agent's own model and budget, and delay nothing.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::compose;
use super::context::CurrentRequest;
use super::pending::{PendingRequest, RequestHead, Sent, Subject};
use super::request::{CallKind, ModelFailure, ModelRequest};
use super::think_requests::Asking;
use crate::base::{AgentKey, Id, Seq};
use crate::simulation::{ActivityId, Urgency};

/// A side request. Answered with exactly one [`SideRequestReplied`], unless the agent leaves the room.
#[derive(Message, Clone, Debug)]
pub struct SideRequestDue {
    /// Names it, for whoever asks.
    pub key: Id,
    /// About whom.
    pub agent: AgentKey,
    /// Why, for the budget.
    pub kind: CallKind,
    /// The request: a moment that is independent of the session.
    pub moment: CurrentRequest,
    /// The record that it comes from.
    pub cause: Seq,
}

/// The answer to a [`SideRequestDue`].
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SideRequestReplied {
    /// To which.
    pub key: Id,
    /// The words, or why there are none.
    pub outcome: Result<String, ModelFailure>,
}

/// Asks models what is to be asked of them.
pub(super) fn ask(mut due: MessageReader<SideRequestDue>, mut asking: Asking) {
    for due in due.read() {
        asking.aside(due);
    }
}

impl Asking<'_, '_> {
    fn aside(&mut self, due: &SideRequestDue) {
        let Self { room, minds, pending, .. } = self;
        // Whoever asks hears by itself of agents that leave.
        let found = room.agent(due.agent).zip(room.roster.entity(due.agent));
        let Some(((agent, _), entity)) = found else { return };
        let Ok((session, feedback, _, random)) = minds.get_mut(entity) else { return };
        let mut context = room.context(agent, &session, feedback, due.moment.clone());
        context.history.clear();
        let (prompt, _) = compose::compose(&room.parts, &context);
        let id = pending.new_id();
        let request = ModelRequest {
            id,
            agent: due.agent,
            agent_id: agent.id.clone(),
            profile: agent.profile.clone(),
            activity: ActivityId::default(),
            kind: due.kind,
            urgency: Urgency::Banter,
            model: room.profile(agent).and_then(|profile| profile.model.clone()),
            prompt,
            tools: Vec::new(),
            activation: None,
            agent_session: None,
            result_images: Default::default(),
            max_output_tokens: room.settings.max_work_output_tokens,
            stops: Vec::new(),
            spoken_before: 0,
            seed: random.map_or(id.0, |mut random| random.bits()),
            cause: due.cause,
        };
        let asked = PendingRequest {
            request: RequestHead::from(&request),
            subject: Subject::of_aside(due.key.clone()),
            asked: String::new(),
            reading: None,
            mail_shown: Vec::new(),
            feedback: Vec::new(),
            work: None,
            sent: Sent::default(),
        };
        pending.asked.insert(id, asked);
        self.requests.write(request);
    }
}
