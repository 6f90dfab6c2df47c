//! Work asks a model: the kernel keeps the session and the tools, the mind puts who the agent is and what it knows
//! before them, and hands back what was said, with its markers carried out.

use std::borrow::Cow;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::compose;
use super::context::Moment;
use super::fitting::fitted;
use super::gather::Room;
use super::gathering::{Due, Gathered, Gathering};
use super::headings;
use super::message::{PromptMessage, ToolCall};
use super::orders::order_text;
use super::parts::Slot;
use super::pending::{PendingRequest, PendingRequests, RequestHead, Sent};
use super::prompt::Prompt;
use super::request::{CallKind, CancelRequest, ModelFailure, ModelRequest, ToolDeclaration, Usage};
use super::session::Session;
use super::thinking::{Asking, NAMES_CHARS, by_inbox};
use super::wording::quoted;
use crate::base::{ActivationKey, AgentKey, RequestId, Seq};
use crate::simulation::{ActivityId, CompactionWanted, Think, Urgency};

/// A piece of work has come to a question. Answered with exactly one [`WorkReplied`], unless it is withdrawn or its
/// agent leaves the room.
#[derive(Message, Clone, Debug, Serialize, Deserialize)]
pub struct WorkDue {
    /// Which piece.
    pub activation: ActivationKey,
    /// Which question of it.
    pub turn: u32,
    /// Whose work it is.
    pub agent: AgentKey,
    /// The agent's activity.
    pub activity: ActivityId,
    /// The session so far; ends with what is to be answered.
    pub messages: Vec<PromptMessage>,
    /// How much of it may be sent.
    pub room: SessionRoom,
    /// The tools that may be called.
    pub tools: Vec<ToolDeclaration>,
    /// The record that it comes from.
    pub cause: Seq,
}

/// How much of a session may be sent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SessionRoom {
    /// Characters of the session.
    pub chars_at_most: usize,
    /// Tokens of everything that the model takes and gives at once, where that is known.
    pub window_tokens: Option<u32>,
    /// The file that has the whole session.
    pub place: String,
}

/// Characters that a token has at least, in most texts: a window that is counted so is not exceeded.
const CHARS_PER_TOKEN_AT_LEAST: usize = 3;
/// Characters that are sent around each message: fences, names of roles.
const CHARS_AROUND_MESSAGE: usize = 24;

impl SessionRoom {
    /// Characters of these messages that may be sent beside so many others, where so many tokens are to come back.
    fn chars(&self, messages: &[PromptMessage], others: usize, output_tokens: u32) -> usize {
        let Some(window) = self.window_tokens else { return self.chars_at_most };
        let arguments = messages.iter().flat_map(|message| &message.tool_calls).map(|call| call.arguments.to_string());
        let texts = messages.iter().map(|message| Cow::from(&message.text)).chain(arguments.map(Cow::from));
        let (chars, bytes) =
            texts.fold((0, 0), |(chars, bytes), text| (chars + text.chars().count(), bytes + text.len()));
        // Letters beyond the English ones take more tokens, and more bytes.
        let per_token = |tokens: usize| (tokens * CHARS_PER_TOKEN_AT_LEAST).saturating_mul(chars.max(1)) / bytes.max(1);
        let window = usize::try_from(window).unwrap_or(usize::MAX).min(usize::MAX / 8);
        // A model that gives much may use up its window by that alone.
        let output = usize::try_from(output_tokens).unwrap_or(usize::MAX).min(window / 2);
        let taken = others + messages.len() * CHARS_AROUND_MESSAGE;
        self.chars_at_most.min(per_token(window - output).saturating_sub(taken))
    }
}

/// What a model said to a piece of work.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkReply {
    /// The words, without markers; of a reply that holds markers alone, what was done by them. Those of a reply that
    /// was cut off end in white space where it did.
    pub text: String,
    /// The white space that it begins with, for whoever joins it to one that was cut off.
    pub leading: String,
    /// The tools that it called, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The limit of its output, in tokens, where it was cut off at it.
    pub cut_at_tokens: Option<u32>,
    /// Whether its provider held words of it back.
    pub was_filtered: bool,
}

/// The answer to a [`WorkDue`].
#[derive(Message, Clone, Debug)]
pub struct WorkReplied {
    /// To which piece.
    pub activation: ActivationKey,
    /// To which question of it.
    pub turn: u32,
    /// Characters of the session that were sent.
    pub sent_chars: usize,
    /// Characters of the session that might have been sent.
    pub sent_chars_at_most: usize,
    /// Who answered, when, and what that took; none where nobody did.
    pub taken: Option<WorkTaken>,
    /// The reply, or why there is none.
    pub outcome: Result<WorkReply, ModelFailure>,
}

/// What a model took for an answer.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkTaken {
    /// Who answered.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// When, in milliseconds of the wall clock since 1970; none where it came in simulated time.
    pub at_ms: Option<u64>,
    /// Tokens, as the provider says.
    pub usage: Usage,
}

/// How a piece of work ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// The agent concluded with this text.
    Completed {
        /// Its last words.
        text: String,
    },
    /// It could not go on.
    Failed {
        /// Why, and what to do.
        why: String,
    },
    /// A person or a limit stopped it.
    Aborted {
        /// Who or what.
        why: String,
        /// Whether it was a person.
        by_person: bool,
    },
}

impl Ending {
    /// The word in session files.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Aborted { by_person: true, .. } => "aborted",
            Self::Aborted { by_person: false, .. } => "limited",
        }
    }

    /// The agent's last words, or the room's on why it ended.
    pub fn words(&self) -> &str {
        match self {
            Self::Completed { text } => text,
            Self::Failed { why } | Self::Aborted { why, .. } => why,
        }
    }

    /// Why it did not complete.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Completed { .. } => None,
            Self::Failed { why } | Self::Aborted { why, .. } => Some(why),
        }
    }

    /// What the agent that started the work is told of it; nothing of what a person stopped.
    pub fn report_words(&self) -> Option<String> {
        match self {
            Self::Completed { text } => Some(format!("finished: {text}")),
            Self::Failed { why } => Some(format!("failed: {why}")),
            Self::Aborted { why, by_person: false } => Some(format!("was stopped: {why}")),
            Self::Aborted { by_person: true, .. } => None,
        }
    }
}

/// A piece of work is over: nobody waits for an answer any more, and its agent remembers how it went.
#[derive(Message, Clone, Debug)]
pub struct WorkOver {
    /// Which piece.
    pub activation: ActivationKey,
    /// Whose.
    pub agent: AgentKey,
    /// What it was asked.
    pub task: String,
    /// How it ended.
    pub ending: Ending,
    /// Paths of files that it changed, in the order in which it first did.
    pub outputs: Vec<String>,
    /// The record of its end.
    pub cause: Seq,
}

/// The first words of a piece of work, as a model is told them.
pub fn task_words(task: &str) -> String {
    format!("{} {}", headings::TASK, order_text(task))
}

/// Asks the models of those who are at work, or first for what their prompts tell.
pub(super) fn ask(mut due: MessageReader<WorkDue>, mut asking: Asking) {
    for due in due.read() {
        asking.work(due, None);
    }
}

impl Asking<'_, '_> {
    /// Asks about a piece of work, with what was gathered for it if that is over.
    pub(super) fn work(&mut self, due: &WorkDue, gathered: Option<(RequestId, Gathered)>) {
        let Self { room, minds, pending, .. } = self;
        let found = room.agent(due.agent).zip(room.roster.entity(due.agent));
        // The kernel hears of agents that leave by itself.
        let Some(((agent, _), entity)) = found else { return };
        let Ok((session, feedback, mut last_prompt, random)) = minds.get_mut(entity) else { return };
        let mut context = room.context(agent, &session, feedback, Moment::Work);
        context.desk = room.desk(agent, due.tools.iter().map(|tool| tool.name.clone()).collect());
        let is_whole = gathered.is_some();
        let (id, gathered) = gathered.unwrap_or_else(|| (pending.new_id(), Gathered::default()));
        if !is_whole {
            // What is known is told once.
            let is_told =
                |slot| matches!(slot, Slot::Known | Slot::Changing) && pending.told.contains_key(&due.activation);
            if let Some(gathering) = Gathering::of(room, &context, Due::Work(Box::new(due.clone())), is_told) {
                self.explain.write(gathering.explain(&room.parts));
                pending.gathering.insert(id, gathering);
                return;
            }
        }
        let left_out = gathered.left_out(&room.parts);
        context.gathered = gathered.texts;
        let (prompt, mut mail_shown) = compose::compose(&room.parts, &context);
        let mut prompt = Prompt { left_out, ..prompt };
        // Were it told anew with each step, no provider would find the session in its cache.
        match pending.told.get(&due.activation) {
            Some(told) => {
                prompt.known.clone_from(told);
                mail_shown.clear();
            }
            None => drop(pending.told.insert(due.activation, prompt.known.clone())),
        }
        prompt.history.clear();
        let others = prompt.chars() + due.tools.iter().map(ToolDeclaration::chars).sum::<usize>();
        let chars_at_most = due.room.chars(&due.messages, others, room.settings.max_work_output_tokens);
        let fitted = fitted(&due.messages, chars_at_most, &due.room.place);
        prompt.history.clone_from(&fitted.messages);
        let (mail_shown, _) = by_inbox(room, agent, &mail_shown);
        let request = ModelRequest {
            id,
            agent: due.agent,
            agent_id: agent.id.clone(),
            profile: agent.profile.clone(),
            activity: due.activity,
            kind: CallKind::Task,
            urgency: Urgency::Task,
            model: room.profile(agent).and_then(|profile| profile.model.clone()),
            prompt: prompt.clone(),
            tools: due.tools.clone(),
            activation: Some(due.activation.id()),
            max_output_tokens: room.settings.max_work_output_tokens,
            stops: Vec::new(),
            seed: random.map_or(id.0, |mut random| random.bits()),
            cause: due.cause,
        };
        last_prompt.0 = prompt;
        let asked = PendingRequest {
            request: RequestHead::from(&request),
            think: Think::Work { activation: due.activation },
            asked: String::new(),
            reading: None,
            mail_shown,
            feedback: context.feedback,
            work: Some((due.activation, due.turn)),
            sent: Sent { chars: fitted.chars(), chars_at_most },
        };
        pending.asked.insert(id, asked);
        self.requests.write(request);
    }
}

/// Withdraws the questions of work that is over, and lets its agent remember it.
pub(super) fn conclude(
    mut over: MessageReader<WorkOver>,
    room: Room,
    mut sessions: Query<&mut Session>,
    mut pending: ResMut<PendingRequests>,
    mut cancels: MessageWriter<CancelRequest>,
    mut compactions: MessageWriter<CompactionWanted>,
) {
    for over in over.read() {
        pending.told.remove(&over.activation);
        pending.gathering.retain(|_, gathering| gathering.activation() != Some(over.activation));
        let is_its =
            |waiting: &PendingRequest| waiting.work.is_some_and(|(activation, _)| activation == over.activation);
        let asked: Vec<RequestId> =
            pending.asked.iter().filter(|(_, waiting)| is_its(waiting)).map(|(id, _)| *id).collect();
        for request in asked {
            pending.asked.remove(&request);
            cancels.write(CancelRequest { request });
        }
        let Some(mut session) = room.roster.entity(over.agent).and_then(|entity| sessions.get_mut(entity).ok()) else {
            continue;
        };
        let task = quoted(&over.task, room.settings.session_message_chars_at_most.saturating_sub(NAMES_CHARS));
        session.append(&format!("{} {task}", headings::TASK), over.ending.words(), &[], &room.settings);
        if session.wants_compaction(&room.settings, room.clock.tick()) {
            compactions.write(CompactionWanted { agent: over.agent, cause: over.cause });
        }
    }
}
