//! Requests about an agent that none of its activities waits for: what is worth remembering, or what a server asks
//! during a call. They use the agent's own model and budget, and delay nothing.

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

/// A side request. Answered with exactly one [`SideRequestReplied`], unless it is withdrawn, the work that it belongs
/// to ends, or the agent leaves the room.
#[derive(Message, Clone, Debug)]
pub struct SideRequestDue {
    /// Names it, for whoever asks.
    pub key: Id,
    /// About whom.
    pub agent: AgentKey,
    /// Why, for the budget.
    pub kind: CallKind,
    /// The request.
    pub question: SideQuestion,
    /// The piece of work that it belongs to, if any.
    pub work: Option<SideWork>,
    /// The record that it comes from.
    pub cause: Seq,
}

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub enum SideQuestion {
    /// An independent request, after who the agent is and what it knows.
    OfAgent(Box<CurrentRequest>),
    /// Only this: the answer must reveal nothing about the agent and the room.
    Alone {
        /// All that is sent.
        prompt: Box<Prompt>,
        /// The maximum number of output tokens; never more than work may have.
        max_output_tokens: u32,
        /// Where the answer is to end.
        stops: Vec<String>,
    },
}

/// The piece of work that a question belongs to: it counts as its use, and ends with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SideWork {
    /// Which.
    pub activation: ActivationKey,
    /// The agent's activity.
    pub activity: ActivityId,
    /// The model that is asked in place of the agent's own.
    pub model: Option<String>,
}

/// The answer to a [`SideRequestDue`].
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SideRequestReplied {
    /// To which.
    pub key: Id,
    /// The answer, or why there is none.
    pub outcome: Result<SideAnswer, ModelFailure>,
}

/// What a model answered to such a question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SideAnswer {
    /// The words.
    pub text: String,
    /// Who answered.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// Why it stopped.
    pub finish: Finish,
}

/// Nobody waits for the answer to such a question any more.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct SideRequestWithdrawn {
    /// To which.
    pub key: Id,
}

/// Asks models what is to be asked of them.
pub(super) fn ask(mut due: MessageReader<SideRequestDue>, mut asking: RequestParams) {
    for due in due.read() {
        asking.aside(due);
    }
}

/// Withdraws questions that nobody waits for any more.
pub(super) fn withdraw(
    mut withdrawn: MessageReader<SideRequestWithdrawn>,
    mut pending: ResMut<PendingRequests>,
    mut cancels: MessageWriter<CancelRequest>,
) {
    for SideRequestWithdrawn { key } in withdrawn.read() {
        let is_it = |waiting: &PendingRequest| waiting.subject.aside() == Some(key);
        let asked: Vec<RequestId> =
            pending.asked.iter().filter(|(_, waiting)| is_it(waiting)).map(|(id, _)| *id).collect();
        for request in asked {
            pending.asked.remove(&request);
            cancels.write(CancelRequest { request });
        }
    }
}

impl RequestParams<'_, '_> {
    fn aside(&mut self, due: &SideRequestDue) {
        let Self { room, minds, pending, .. } = self;
        // The requester learns by itself of agents that leave.
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
        };
        pending.asked.insert(id, asked);
        self.requests.write(request);
    }
}
