//! Side requests of an agent, which none of its activities waits for: to extract memories, or to answer a tool server's
//! sampling request. They use the agent's own model and budget.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::compose;
use super::context::CurrentRequest;
use super::pending::{PendingRequest, PendingRequests, RequestHead, Sent, Subject};
use super::prompt::Prompt;
use super::request::{CallKind, CancelRequest, Finish, ModelFailure, ModelRequest};
use super::think_requests::RequestParams;
use crate::base::{ActivationKey, AgentKey, Id, RequestId, Seq};
use crate::simulation::{ActivityId, Urgency};

/// Requests a side request. Answered with exactly one [`SideRequestReplied`], unless it is withdrawn, its work ends, or
/// the agent leaves the room.
#[derive(Message, Clone, Debug)]
pub struct SideRequestDue {
    /// The id given by the requester.
    pub key: Id,
    /// The agent.
    pub agent: AgentKey,
    /// The kind of call, for the budget.
    pub kind: CallKind,
    /// The question.
    pub question: SideQuestion,
    /// The piece of work that it belongs to, if any.
    pub work: Option<SideWork>,
    /// The log record that caused it.
    pub cause: Seq,
}

/// The question of a side request.
#[derive(Clone, PartialEq, Debug)]
pub enum SideQuestion {
    /// A standalone request with the agent's identity and knowledge.
    OfAgent(Box<CurrentRequest>),
    /// A prompt of its own, because the answer must reveal nothing about the agent and the room.
    Alone {
        /// The whole prompt.
        prompt: Box<Prompt>,
        /// The maximum number of output tokens; never more than work may have.
        max_output_tokens: u32,
        /// The stop sequences.
        stops: Vec<String>,
    },
}

/// The piece of work that a side request belongs to: its usage counts for the work, and it ends with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SideWork {
    /// The key of the work.
    pub activation: ActivationKey,
    /// The agent's activity.
    pub activity: ActivityId,
    /// The model to use instead of the agent's own.
    pub model: Option<String>,
}

/// The answer to a [`SideRequestDue`].
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SideRequestReplied {
    /// The id of the side request.
    pub key: Id,
    /// The answer or the failure.
    pub outcome: Result<SideAnswer, ModelFailure>,
}

/// A model's answer to a side request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SideAnswer {
    /// The text.
    pub text: String,
    /// The provider that answered.
    pub provider: String,
    /// The model that answered.
    pub model: String,
    /// The reason it ended.
    pub finish: Finish,
}

/// Withdraws a side request whose answer is no longer needed.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct SideRequestWithdrawn {
    /// The id of the side request.
    pub key: Id,
}

/// Sends the side requests that are due.
pub(super) fn ask(mut due: MessageReader<SideRequestDue>, mut params: RequestParams) {
    for due in due.read() {
        params.send_side_request(due);
    }
}

/// Cancels withdrawn side requests.
pub(super) fn withdraw(
    mut withdrawn: MessageReader<SideRequestWithdrawn>,
    mut pending: ResMut<PendingRequests>,
    mut cancels: MessageWriter<CancelRequest>,
) {
    for SideRequestWithdrawn { key } in withdrawn.read() {
        let is_it = |waiting: &PendingRequest| waiting.subject.side_request_key() == Some(key);
        let asked: Vec<RequestId> =
            pending.asked.iter().filter(|(_, waiting)| is_it(waiting)).map(|(id, _)| *id).collect();
        for request in asked {
            pending.asked.remove(&request);
            cancels.write(CancelRequest { request });
        }
    }
}

impl RequestParams<'_, '_> {
    fn send_side_request(&mut self, due: &SideRequestDue) {
        let Self { room, minds, pending, .. } = self;
        // The requester notices agents that leave by itself.
        let found = room.agent(due.agent).zip(room.roster.entity(due.agent));
        let Some(((agent, _), entity)) = found else { return };
        let Ok((session, feedback, _, random)) = minds.get_mut(entity) else { return };
        let most = room.settings.max_work_output_tokens;
        let (prompt, max_output_tokens, stops) = match &due.question {
            SideQuestion::OfAgent(moment) => {
                let mut context = room.context(agent, &session, feedback, (**moment).clone());
                context.history.clear();
                (compose::compose(&room.parts, &context).0, most, Vec::new())
            }
            SideQuestion::Alone { prompt, max_output_tokens, stops } => {
                ((**prompt).clone(), most.min(*max_output_tokens), stops.clone())
            }
        };
        let work = due.work.as_ref();
        let lent = work.and_then(|work| work.model.clone());
        let id = pending.new_id();
        let request = ModelRequest {
            id,
            agent: due.agent,
            agent_id: agent.id.clone(),
            profile: agent.profile.clone(),
            activity: work.map(|work| work.activity).unwrap_or_default(),
            kind: due.kind,
            urgency: if work.is_some() { Urgency::Task } else { Urgency::Banter },
            model: lent.or_else(|| room.profile(agent).and_then(|profile| profile.model.clone())),
            prompt,
            tools: Vec::new(),
            activation: work.map(|work| work.activation.id()),
            agent_session: None,
            result_images: Default::default(),
            max_output_tokens,
            stops,
            spoken_before: 0,
            seed: random.map_or(id.0, |mut random| random.bits()),
            cause: due.cause,
        };
        let asked = PendingRequest {
            request: RequestHead::from(&request),
            subject: Subject::of_aside(due.key.clone(), work.map(|work| work.activation)),
            asked: String::new(),
            reading: None,
            mail_shown: Vec::new(),
            feedback: Vec::new(),
            work: None,
            sent: Sent::default(),
            acts: Default::default(),
        };
        pending.asked.insert(id, asked);
        self.requests.write(request);
    }
}
