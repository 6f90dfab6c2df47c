//! Turns each [`ThinkDue`] into a model request. Each is answered by exactly one [`ThinkDone`], at once if no model has
//! to be called.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::act_calls::OfferedActs;
use super::act_tools;
use super::compose;
use super::context::CurrentRequest;
use super::context_builder::{RoomParams, is_private};
use super::feedback::Feedback;
use super::gather_stage::{Gathered, Gathering, HeldRequest};
use super::part_requests::give_up;
use super::pending::{GivenUp, PendingRequest, PendingRequests, RequestHead, Sent, ShownVersion, Subject};
use super::pins_and_mail::open_mail;
use super::prompt::Prompt;
use super::reply_cleanup;
use super::request::{CallKind, CancelRequest, ModelRequest, PutOffRequest};
use super::session::Session;
use super::spoken::SpokenSentences;
use super::untrusted_text::{name, quoted};
use crate::agent::Agent;
use crate::base::{AgentKey, ElementKey, Id, RequestId};
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::memory::{Memory, MemoryAct, MemoryEdit, MemorySettings};
use crate::schedule::AgentRandom;
use crate::simulation::{
    CompactionWanted, Conversation, Explain, FailureCause, Think, ThinkDone, ThinkDue, ThinkOutcome, ThinkPutOff,
};

/// Why no request is made for a removed agent.
pub(super) const LEFT: &str = "the agent left the room";
/// Characters reserved for names around a text quoted in a session.
pub(super) const NAMES_CHARS: usize = 200;

/// The last prompt of an agent with its sources, for display. Not saved.
#[derive(Component, Clone, Debug, Default)]
pub struct LastPrompt(pub Prompt);

/// Gives a new agent an empty session and empty feedback.
pub(super) fn add_mind_components(added: On<Add, Agent>, mut commands: Commands) {
    commands.entity(added.entity).try_insert((Session::default(), Feedback::default(), LastPrompt::default()));
}

/// Requests failed compactions again after their delay.
pub(super) fn retry_compaction(
    room: RoomParams,
    mut pending: ResMut<PendingRequests>,
    mut sessions: Query<&mut Session>,
    mut wanted: MessageWriter<CompactionWanted>,
) {
    let now = room.clock.tick();
    while pending.retries.first().is_some_and(|(due, _)| *due <= now) {
        let Some((_, agent)) = pending.retries.pop_first() else { break };
        let Some(entity) = room.roster.entity(agent) else { continue };
        let Ok(mut session) = sessions.get_mut(entity) else { continue };
        if session.wants_compaction(&room.settings, now) {
            let Some((agent, _)) = room.agent(agent) else { continue };
            wanted.write(CompactionWanted { agent: agent.key, cause: agent.added });
        }
    }
}

/// Puts off the requests of activities that are put off.
pub(super) fn put_off(
    mut put_off: MessageReader<ThinkPutOff>,
    mut pending: ResMut<PendingRequests>,
    mut requests: MessageWriter<PutOffRequest>,
    mut done: MessageWriter<ThinkDone>,
) {
    for ThinkPutOff { agent, activity } in put_off.read().copied() {
        let is_it = |id: &RequestId| pending.asked[id].request.activity == activity;
        requests.write_batch(pending.asked_by(agent).filter(is_it).map(|request| PutOffRequest { request }));
        give_up(&mut pending, &mut done, &ThinkOutcome::PutOff, |whose, which| (whose, which) == (agent, activity));
    }
}

/// A request before its prompt is built.
struct PreparedRequest {
    kind: CallKind,
    moment: CurrentRequest,
    asked: String,
    reading: Option<ShownVersion>,
}

pub(super) type Minds<'w, 's> =
    Query<'w, 's, (&'static mut Session, &'static Feedback, &'static mut LastPrompt, Option<&'static mut AgentRandom>)>;

/// Everything needed to call a model.
#[derive(SystemParam)]
pub(super) struct RequestParams<'w, 's> {
    pub(super) room: RoomParams<'w, 's>,
    pub(super) minds: Minds<'w, 's>,
    pub(super) pending: ResMut<'w, PendingRequests>,
    pub(super) requests: MessageWriter<'w, ModelRequest>,
    pub(super) explain: MessageWriter<'w, Explain>,
    memory_settings: Res<'w, MemorySettings>,
    spoken: Res<'w, SpokenSentences>,
    cancels: MessageWriter<'w, CancelRequest>,
    done: MessageWriter<'w, ThinkDone>,
    memories: MessageWriter<'w, MemoryEdit>,
    log: ResMut<'w, EventLog>,
}

/// Sends the requests whose prompts are completely gathered.
pub(super) fn ask_gathered(mut params: RequestParams) {
    for (id, due, gathered) in params.pending.take_gathered() {
        match due {
            HeldRequest::Think { agent, activity, think, urgency, cause } => {
                params.send_think_request(&ThinkDue { agent, activity, think, urgency, cause }, Some((id, gathered)));
            }
            HeldRequest::Work(due) => params.send_work_request(&due, Some((id, gathered))),
        }
    }
}

/// Sends a request for each thought that is due, or first orders the looked-up parts of its prompt.
pub(super) fn send_think_requests(mut due: MessageReader<ThinkDue>, mut params: RequestParams) {
    for due in due.read() {
        params.send_think_request(due, None);
    }
}

impl RequestParams<'_, '_> {
    fn send_think_request(&mut self, due: &ThinkDue, gathered: Option<(RequestId, Gathered)>) {
        if let Err(why) = self.try_send_think_request(due, gathered) {
            let ThinkDue { agent, activity, ref think, cause, .. } = *due;
            let outcome = ThinkOutcome::Nothing { why: why.to_owned() };
            self.done.write(ThinkDone { agent, activity, think: Some(think.clone()), outcome, cause });
        }
    }

    /// Sends a request, or first orders the looked-up parts of its prompt; returns an error if there is nothing to ask.
    fn try_send_think_request(
        &mut self,
        due: &ThinkDue,
        gathered: Option<(RequestId, Gathered)>,
    ) -> Result<(), &'static str> {
        let Self { room, minds, pending, .. } = self;
        let found = room.agent(due.agent).zip(room.roster.entity(due.agent));
        let ((agent, memory), entity) = found.ok_or(LEFT)?;
        let (mut session, feedback, mut last_prompt, random) =
            minds.get_mut(entity).map_err(|_| "the agent has no session yet")?;
        if let Think::Compact = due.think {
            session.wanted = true;
        }
        let prepared = match prepare_request(room, agent, memory, &session, due, &self.memory_settings) {
            Ok(prepared) => prepared,
            Err(reason) => {
                if let Think::Compact = due.think {
                    session.wanted = false;
                }
                if let SkipReason::Unchanged(element) = reason {
                    let act = MemoryAct::Looked { element };
                    self.memories.write(MemoryEdit { agent: due.agent, act, cause: due.cause });
                }
                return Err(reason.why());
            }
        };
        let stops = match &prepared.moment {
            CurrentRequest::Talk { with, .. } => reply_cleanup::stops(with),
            _ => reply_cleanup::stops(&[]),
        };
        let mut context = room.context(agent, &session, feedback, prepared.moment);
        let tool_model = room.tool_model(agent);
        context.calls_acts = prepared.kind != CallKind::Compaction
            && pending.refused_tools.calls_acts(room.settings.acts, &tool_model, false, room.clock.tick());
        let is_whole = gathered.is_some();
        let (id, gathered) = gathered.unwrap_or_else(|| (pending.new_id(), Gathered::default()));
        let waits_for = if is_whole { None } else { Gathering::of(room, &context, HeldRequest::think(due), |_| false) };
        if let Some(gathering) = waits_for {
            self.explain.write(gathering.explain(&room.parts));
            self.make_room(due.agent);
            self.pending.gathering.insert(id, gathering);
            return Ok(());
        }
        let left_out = gathered.left_out(&room.parts);
        context.gathered = gathered.texts;
        let (prompt, mail_shown) = compose::compose(&room.parts, &context);
        let prompt = Prompt { left_out, ..prompt };
        let (mail_shown, whole) = by_inbox(room, agent, &mail_shown);
        let acts = OfferedActs::of(&context, &tool_model);
        let request = ModelRequest {
            id,
            agent: due.agent,
            agent_id: agent.id.clone(),
            profile: agent.profile.clone(),
            activity: due.activity,
            kind: prepared.kind,
            urgency: due.urgency,
            model: room.profile(agent).and_then(|profile| profile.model.clone()),
            prompt: prompt.clone(),
            tools: act_tools::declarations(&context),
            activation: None,
            agent_session: None,
            result_images: Default::default(),
            max_output_tokens: room.settings.max_output_tokens,
            stops,
            spoken_before: self.spoken.recorded_count(),
            seed: random.map_or(id.0, |mut random| random.bits()),
            cause: due.cause,
        };
        last_prompt.0 = prompt;
        let asked = PendingRequest {
            request: RequestHead::from(&request),
            subject: Subject::Thought(due.think.clone()),
            asked: prepared.asked,
            reading: prepared.reading.map(|read| ShownVersion { whole: !read.private || whole, ..read }),
            mail_shown,
            feedback: context.feedback,
            work: None,
            sent: Sent::default(),
            acts,
        };
        self.make_room(due.agent);
        self.requests.write(request);
        self.pending.asked.insert(id, asked);
        Ok(())
    }

    /// Gives up the agent's oldest requests until a new one fits.
    fn make_room(&mut self, agent: AgentKey) {
        let at_most = self.room.settings.max_pending_per_agent;
        for (id, given_up) in self.pending.make_room(agent, at_most) {
            let what = "an older request of this agent was cancelled, because too many were pending";
            let outcome = ThinkOutcome::Failed { why: what.to_owned(), cause: FailureCause::Passing };
            let (of, done) = match given_up {
                GivenUp::Asked(asked) => {
                    self.cancels.write(CancelRequest { request: id });
                    let RequestHead { activity, cause, .. } = asked.request;
                    (cause, Some(ThinkDone { agent, activity, think: asked.subject.into_thought(), outcome, cause }))
                }
                GivenUp::Gathering(gathering) => (gathering.cause(), gathering.done(outcome)),
            };
            let draft = EventDraft::of(&Warning { request: Some(id), ..Warning::new(what) }).cause(of);
            let cause = self.log.write(match self.room.agent(agent) {
                Some((agent, _)) => draft.agent(&agent.id),
                None => draft,
            });
            self.done.write_batch(done.map(|done| ThinkDone { cause, ..done }));
        }
    }
}

/// Groups the unread mail in a prompt by inbox. Also returns whether the prompt contains all unread mail.
pub(super) fn by_inbox(room: &RoomParams, agent: &Agent, shown: &[Id]) -> (Vec<(Id, Vec<Id>)>, bool) {
    let mut whole = true;
    let mut sorted = Vec::new();
    for (element, held) in room.inboxes_of(agent) {
        let unread: Vec<Id> = open_mail(&*held.0).into_iter().filter(|item| !item.read).map(|item| item.id).collect();
        let seen: Vec<Id> = unread.iter().filter(|id| shown.contains(id)).cloned().collect();
        whole &= seen.len() == unread.len();
        if !seen.is_empty() {
            sorted.push((element.id.clone(), seen));
        }
    }
    (sorted, whole)
}

/// The reason no model is called.
enum SkipReason {
    Gone,
    Closed,
    Unchanged(ElementKey),
    Over,
    NothingToSum,
}

impl SkipReason {
    fn why(&self) -> &'static str {
        match self {
            Self::Gone => "it no longer exists",
            Self::Closed => "it belongs to someone else",
            Self::Unchanged(_) => "nothing new there",
            Self::Over => "the conversation is over",
            Self::NothingToSum => "there is nothing to summarise",
        }
    }
}

fn prepare_request(
    room: &RoomParams,
    agent: &Agent,
    memory: &Memory,
    session: &Session,
    due: &ThinkDue,
    memory_settings: &MemorySettings,
) -> Result<PreparedRequest, SkipReason> {
    match &due.think {
        Think::Read { element: key } => {
            let (element, held) = room.element(*key).ok_or(SkipReason::Gone)?;
            if room.is_closed_to(element, agent) {
                return Err(SkipReason::Closed);
            }
            // An unchanged element costs no call.
            if memory.environment_state.get(key).is_some_and(|seen| seen.version == element.version) {
                return Err(SkipReason::Unchanged(*key));
            }
            let reading = ShownVersion {
                element: *key,
                version: element.version,
                whole: true,
                summary: room.summary_for(agent, held, memory_settings.max_environment_chars),
                private: is_private(&element.kind),
            };
            Ok(PreparedRequest {
                kind: CallKind::Read,
                moment: room.read_request(agent, element, held),
                asked: format!("You read {}.", name(&element.label)),
                reading: Some(reading),
            })
        }
        Think::Turn { conversation } => {
            let conversation = room.conversations.get(*conversation).ok_or(SkipReason::Over)?;
            Ok(PreparedRequest {
                kind: CallKind::Conversation,
                moment: room.talk_request(agent, conversation),
                asked: turn_in_short(room, agent, conversation),
                reading: None,
            })
        }
        Think::Compact if session.messages.is_empty() => Err(SkipReason::NothingToSum),
        Think::Compact => Ok(PreparedRequest {
            kind: CallKind::Compaction,
            moment: CurrentRequest::Compact,
            asked: String::new(),
            reading: None,
        }),
        Think::Attend { interest } => Ok(PreparedRequest {
            kind: CallKind::Wake,
            moment: room.woken_request(interest),
            asked: format!(
                "You were called: {}.",
                quoted(&interest.why.sentence, room.settings.max_session_message_chars.saturating_sub(NAMES_CHARS))
            ),
            reading: None,
        }),
    }
}

/// Returns a turn in short form: the last statement, or the start of the conversation.
fn turn_in_short(room: &RoomParams, agent: &Agent, conversation: &Conversation) -> String {
    let most = room.settings.max_session_message_chars.saturating_sub(NAMES_CHARS);
    match conversation.said.last() {
        Some(last) => format!("{} said: {}", name(&room.name_of(&last.by.0)), quoted(&last.text, most)),
        None => {
            let others: Vec<String> =
                room.others_in(conversation, agent.key).iter().map(|other| name(other).into_owned()).collect();
            let topic = conversation.topic.as_ref().map(|topic| format!(" about {}", quoted(topic, most)));
            format!("You began to talk with {}{}.", others.join(", "), topic.unwrap_or_default())
        }
    }
}
