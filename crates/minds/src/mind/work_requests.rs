//! Sends model requests for work: the agent's identity and knowledge are put before the session that the kernel keeps.
//! Requests of finished work are withdrawn.

use bevy::ecs::prelude::*;

use super::act_calls::OfferedActs;
use super::act_tools;
use super::compose;
use super::context::CurrentRequest;
use super::context_builder::RoomParams;
use super::gather_stage::{Gathered, Gathering, HeldRequest};
use super::headings;
use super::history_trimming::fitted;
use super::message::{PromptMessage, Role};
use super::parts::Slot;
use super::pending::{PendingRequest, PendingRequests, RequestHead, Sent, Subject};
use super::prompt::Prompt;
use super::request::{CallKind, CancelRequest, ModelRequest};
use super::session::Session;
use super::think_requests::{NAMES_CHARS, RequestParams, by_inbox};
use super::tool_declaration::ToolDeclaration;
use super::untrusted_text::quoted;
use super::work_messages::{MIN_CHARS_PER_TOKEN, WorkDue, WorkEnded};
use crate::base::RequestId;
use crate::simulation::{CompactionWanted, Urgency};

/// Sends a request for each piece of work that is due, or first orders the looked-up parts of its prompt.
pub(super) fn ask(mut due: MessageReader<WorkDue>, mut params: RequestParams) {
    for due in due.read() {
        params.send_work_request(due, None);
    }
}

impl RequestParams<'_, '_> {
    /// Sends a work request; `gathered` has the results of its orders, once they are complete.
    pub(super) fn send_work_request(&mut self, due: &WorkDue, gathered: Option<(RequestId, Gathered)>) {
        let Self { room, minds, pending, .. } = self;
        let found = room.agent(due.agent).zip(room.roster.entity(due.agent));
        // The kernel notices agents that leave by itself.
        let Some(((agent, _), entity)) = found else { return };
        let Ok((session, feedback, mut last_prompt, random)) = minds.get_mut(entity) else { return };
        let mut context = room.context(agent, &session, feedback, CurrentRequest::Work);
        context.desk = room.work_environment(agent, due.tools.iter().map(|tool| tool.name.clone()).collect());
        context.desk.has_own_tools = due.has_own_tools;
        let has_tools = !due.tools.is_empty() && !due.has_own_tools;
        let now = room.clock.tick();
        context.calls_acts =
            has_tools && pending.refused_tools.calls_acts(room.settings.acts, &due.tool_model, true, now);
        let asked = due.messages.iter().rfind(|message| message.role == Role::User);
        context.desk.asked = asked.map(|message| message.text.clone()).unwrap_or_default();
        let is_whole = gathered.is_some();
        let (id, gathered) = gathered.unwrap_or_else(|| (pending.new_id(), Gathered::default()));
        if !is_whole {
            // Memories are only added to the first prompt of a piece of work.
            let is_told =
                |slot| matches!(slot, Slot::Known | Slot::Changing) && pending.told.contains_key(&due.activation);
            if let Some(gathering) = Gathering::of(room, &context, HeldRequest::Work(Box::new(due.clone())), is_told) {
                self.explain.write(gathering.explain(&room.parts));
                pending.gathering.insert(id, gathering);
                return;
            }
        }
        let left_out = gathered.left_out(&room.parts);
        context.gathered = gathered.texts;
        let (prompt, mut mail_shown) = compose::compose(&room.parts, &context);
        let mut prompt = Prompt { left_out, ..prompt };
        // Fresh memories in each step would invalidate the provider's cache of the session.
        match pending.told.get(&due.activation) {
            Some(told) => {
                prompt.known.clone_from(told);
                mail_shown.clear();
            }
            None => drop(pending.told.insert(due.activation, prompt.known.clone())),
        }
        prompt.history.clear();
        let images: u32 = due.messages.iter().map(PromptMessage::image_tokens).sum();
        // Tools come first, so that acts that come and go change nothing before them.
        let mut tools = due.tools.clone();
        tools.extend(act_tools::declarations(&context));
        let others = prompt.chars() + tools.iter().map(ToolDeclaration::chars).sum::<usize>();
        let others = others + images as usize * MIN_CHARS_PER_TOKEN;
        let chars_at_most = due.room.chars(&due.messages, others, room.settings.max_work_output_tokens);
        let fitted = fitted(&due.messages, chars_at_most, &due.room.place);
        prompt.history = compose::harmless_history(&room.parts, fitted.messages.clone());
        let (mail_shown, _) = by_inbox(room, agent, &mail_shown);
        let acts = OfferedActs::of(&context, &due.tool_model);
        let request = ModelRequest {
            id,
            agent: due.agent,
            agent_id: agent.id.clone(),
            profile: agent.profile.clone(),
            activity: due.activity,
            kind: CallKind::Task,
            urgency: Urgency::Task,
            model: due.model.clone().or_else(|| room.profile(agent).and_then(|profile| profile.model.clone())),
            prompt: prompt.clone(),
            tools,
            activation: Some(due.activation.id()),
            agent_session: due.agent_session.clone(),
            result_images: due.result_images.clone(),
            max_output_tokens: room.settings.max_work_output_tokens,
            stops: Vec::new(),
            spoken_before: 0,
            seed: random.map_or(id.0, |mut random| random.bits()),
            cause: due.cause,
        };
        last_prompt.0 = prompt;
        let asked = PendingRequest {
            request: RequestHead::from(&request),
            subject: Subject::of_work(due.activation),
            asked: String::new(),
            reading: None,
            mail_shown,
            feedback: context.feedback,
            work: Some((due.activation, due.turn)),
            sent: Sent { chars: fitted.chars(), chars_at_most },
            acts,
        };
        pending.asked.insert(id, asked);
        self.requests.write(request);
    }
}

/// Withdraws the requests of finished work, and lets its agent remember it.
pub(super) fn conclude(
    mut over: MessageReader<WorkEnded>,
    room: RoomParams,
    mut sessions: Query<&mut Session>,
    mut pending: ResMut<PendingRequests>,
    mut cancels: MessageWriter<CancelRequest>,
    mut compactions: MessageWriter<CompactionWanted>,
) {
    for over in over.read() {
        pending.told.remove(&over.activation);
        pending.gathering.retain(|_, gathering| gathering.activation() != Some(over.activation));
        let is_its = |waiting: &PendingRequest| {
            let of_work = waiting.work.map(|(activation, _)| activation).or_else(|| waiting.subject.aside_of_work());
            of_work == Some(over.activation)
        };
        let asked: Vec<RequestId> =
            pending.asked.iter().filter(|(_, waiting)| is_its(waiting)).map(|(id, _)| *id).collect();
        for request in asked {
            pending.asked.remove(&request);
            cancels.write(CancelRequest { request });
        }
        let Some(mut session) = room.roster.entity(over.agent).and_then(|entity| sessions.get_mut(entity).ok()) else {
            continue;
        };
        let task = quoted(&over.task, room.settings.max_session_message_chars.saturating_sub(NAMES_CHARS));
        session.append(&format!("{} {task}", headings::TASK), over.ending.text(), &[], &room.settings);
        if session.wants_compaction(&room.settings, room.clock.tick()) {
            compactions.write(CompactionWanted { agent: over.agent, cause: over.cause });
        }
    }
}
