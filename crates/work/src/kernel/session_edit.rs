//! Sessions that a person edits or starts in their files: the edits are applied, and the agent is activated if its last
//! message asks for a reply. Pure except for logging at the end.
//!
//! A changed message applies from the next request on, even in the middle of a turn. Inserted or removed messages apply
//! as soon as no turn is running; until then the text waits.

use bevy::ecs::message::Message;

use super::access::{LOGGED_CHARS, RoomAccess};
use super::activation::{Activation, CallProgress, Origin, Phase, RunNode};
use super::core::{Kernel, NewWork};
use super::message_notes::MessageNote;
use super::outbox::Outbox;
use super::settings::KernelSettings;
use super::thread_file::{EndedWork, ThreadFile};
use crate::agent::AgentCommand;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id, Seq};
use crate::log::events;
use crate::mind::{PromptMessage, Role, ToolCall};
use crate::workspace::session_files::{MergedMessage, MessageRole, SessionCall, SessionMessage, SessionText, merge};

/// A session as a person wants it. Send it in `Ingest`, once the kernel accepts it ([`Kernel::takes_session`]).
#[derive(Message, Clone, PartialEq, Debug)]
pub struct SessionTaken {
    /// The session, where the room knows it; else it begins anew.
    pub thread: Option<ActivationKey>,
    /// Its file, where that is not the usual one of its thread.
    pub path: Option<String>,
    /// The agent, by id.
    pub agent: Id,
    /// The profile that the agent runs.
    pub profile: Id,
    /// What the file says.
    pub session: SessionText,
    /// What the room wrote there last, where it does not know the session itself any more.
    pub ours: Option<SessionText>,
    /// Whether it takes the place of everything that was said, whoever said it.
    pub replaces: bool,
    /// The file's text, by hash: that one may be written over.
    pub over: u64,
    /// Whose it is, as the log says it.
    pub by: Id,
    /// The record that it comes from.
    pub cause: Seq,
}

/// What to do with a session's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionTake {
    /// It says nothing new.
    Nothing,
    /// It can be applied now.
    Now,
    /// It is to be tried again when the current turn is over, or when there is room for more work.
    Later,
}

/// Whether nothing may be inserted or removed: a model is being called, or its calls are being executed.
fn is_in_turn(one: &Activation) -> bool {
    matches!(one.phase, Phase::Asking | Phase::Calling { .. })
}

fn result_of(progress: &mut CallProgress) -> Option<&mut String> {
    match progress {
        CallProgress::Answered(text) => Some(text),
        _ => None,
    }
}

/// A message as a file has it.
pub fn file_message(message: &PromptMessage) -> SessionMessage {
    SessionMessage {
        role: match message.role {
            Role::User => MessageRole::User,
            Role::Assistant => MessageRole::Assistant,
            Role::Tool => MessageRole::Tool,
        },
        content: message.text.clone(),
        tool_calls: message
            .tool_calls
            .iter()
            .map(|call| SessionCall { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.clone() })
            .collect(),
        tool_call_id: message.answers.clone(),
    }
}

/// A message of a file as a model is asked with it.
pub fn prompt_message(message: &SessionMessage) -> PromptMessage {
    let calls = message.tool_calls.iter();
    let role = match message.role {
        MessageRole::User | MessageRole::System => Role::User,
        MessageRole::Assistant => Role::Assistant,
        MessageRole::Tool => Role::Tool,
    };
    PromptMessage {
        tool_calls: calls.map(|call| ToolCall::new(&*call.id, &*call.name, call.arguments.clone())).collect(),
        answers: message.tool_call_id.clone(),
        ..PromptMessage::plain(role, message.content.clone())
    }
}

fn prompt_messages(session: &SessionText) -> Vec<PromptMessage> {
    session.messages.iter().map(prompt_message).collect()
}

/// The effect of a text on a session that the room knows.
struct Edit {
    /// Each message with the place of the room's that it was.
    messages: Vec<(PromptMessage, Option<usize>)>,
    /// What the person added.
    new: Vec<String>,
    is_rebuilt: bool,
    is_edited: bool,
    /// Whether the person's own last message asks for a reply.
    asks: bool,
}

impl Edit {
    fn of(ours: &[PromptMessage], taken: &SessionText, replaces: bool) -> Self {
        let theirs = &taken.messages;
        let mine: Vec<SessionMessage> = ours.iter().map(file_message).collect();
        let written = if replaces { usize::MAX } else { taken.written.unwrap_or(0) };
        let merged = merge(&mine, theirs, written);
        let messages = merged.messages.iter().map(|one| match *one {
            MergedMessage::Ours(at) => (ours[at].clone(), Some(at)),
            MergedMessage::Edited { ours: at, theirs: their } => {
                (PromptMessage { text: theirs[their].content.clone(), ..ours[at].clone() }, Some(at))
            }
            MergedMessage::Theirs(their) => (prompt_message(&theirs[their]), None),
        });
        let mut messages: Vec<(PromptMessage, Option<usize>)> = messages.collect();
        let last_is_guidance = theirs.last().is_some_and(|last| last.role == MessageRole::System);
        let mut new: Vec<String> = merged.new.iter().map(|their| theirs[*their].content.clone()).collect();
        if last_is_guidance || replaces {
            // It is read with the next request, and causes none itself.
            messages.extend(new.drain(..).map(|text| (PromptMessage::plain(Role::User, text), None)));
        }
        let is_changed = merged.is_rebuilt || merged.is_edited || !merged.new.is_empty();
        let last_is_theirs = merged.messages.last().is_none_or(|last| !matches!(last, MergedMessage::Ours(_)));
        let last = new.last().map(|_| Role::User).or(messages.last().map(|(last, _)| last.role));
        let is_open = last.is_some_and(|role| role != Role::Assistant) && !last_is_guidance;
        let asks = is_changed && is_open && (last_is_theirs || merged.is_rebuilt || !new.is_empty());
        Self { messages, new, is_rebuilt: merged.is_rebuilt, is_edited: merged.is_edited || is_changed, asks }
    }

    /// Whether the room has said more than the text has.
    fn is_behind(&self, taken: &SessionText) -> bool {
        self.messages.len() + self.new.len() > taken.messages.len()
    }

    fn is_nothing(&self) -> bool {
        !self.is_edited && !self.is_rebuilt && self.new.is_empty()
    }
}

/// Messages in which every call is directly followed by its result: an unknown result is marked as such.
fn closed(messages: Vec<(PromptMessage, Option<usize>)>) -> Vec<(PromptMessage, Option<usize>)> {
    let mut closed: Vec<(PromptMessage, Option<usize>)> = Vec::with_capacity(messages.len());
    let mut rest: std::collections::VecDeque<_> = messages.into();
    while let Some((message, place)) = rest.pop_front() {
        let calls = message.tool_calls.clone();
        closed.push((message, place));
        for call in &calls {
            let answer = rest.iter().position(|(one, _)| one.answers.as_deref() == Some(call.id.as_str()));
            let lost = || PromptMessage::result(call, "The result of this call is no longer known.");
            closed.push(answer.and_then(|at| rest.remove(at)).unwrap_or_else(|| (lost(), None)));
        }
    }
    closed
}

impl Kernel {
    /// What is to be done about the text of a session.
    pub fn takes_session(&self, taken: &SessionTaken, settings: &KernelSettings) -> SessionTake {
        let is_full = self.activations.len() >= settings.activations_at_most as usize;
        let Some(key) = taken.thread else {
            let (begins, is_behind) = match &taken.ours {
                None => (taken.session.begins(), false),
                Some(ours) => {
                    let edit = Edit::of(&prompt_messages(ours), &taken.session, false);
                    (edit.asks, edit.is_behind(&taken.session))
                }
            };
            return match (begins, is_full) {
                (false, _) if !is_behind => SessionTake::Nothing,
                (true, true) => SessionTake::Later,
                (false | true, _) => SessionTake::Now,
            };
        };
        let Some(thread) = self.threads.get(&key) else { return SessionTake::Nothing };
        let live = thread.live.and_then(|live| self.activations.get(&live));
        let ours = live.map_or_else(|| thread.messages.clone(), Activation::messages_so_far);
        let edit = Edit::of(&ours, &taken.session, taken.replaces);
        match live {
            Some(one) if is_in_turn(one) && (edit.is_rebuilt || taken.replaces) => SessionTake::Later,
            None if edit.asks && is_full => SessionTake::Later,
            _ if edit.is_nothing() && !edit.is_behind(&taken.session) && thread.file.over == Some(taken.over) => {
                SessionTake::Nothing
            }
            _ => SessionTake::Now,
        }
    }

    /// Whether a turn of a session goes on, in words for whoever has to wait for that.
    pub fn turn_of(&self, key: ActivationKey) -> Option<&'static str> {
        let one = self.activations.get(&self.threads.get(&key)?.live?)?;
        match one.phase {
            Phase::Asking => Some("its model is being asked"),
            Phase::Calling { .. } if one.question().is_some() => Some("it waits for a person's answer"),
            Phase::Calling { .. } => Some("its tool calls are being carried out"),
            _ => None,
        }
    }

    /// Applies a text of a session: returns what its agent is to be asked, if it has to be activated, and whether the
    /// file is to be written although nothing is running in it. `key` names that piece of work.
    fn take_session(
        &mut self,
        taken: &SessionTaken,
        (key, now, cause): (ActivationKey, u64, Seq),
    ) -> (Option<String>, bool) {
        let thread_key = taken.thread.unwrap_or(key);
        let Some(thread) = self.threads.get_mut(&thread_key) else { return (None, false) };
        thread.file.over = Some(taken.over);
        let live = thread.live.filter(|live| self.activations.contains_key(live));
        let ours = match live {
            Some(live) => self.activations[&live].messages_so_far(),
            None => thread.messages.clone(),
        };
        let edit = Edit::of(&ours, &taken.session, taken.replaces);
        let is_behind = edit.is_behind(&taken.session) || taken.replaces;
        match live {
            Some(live) if edit.is_nothing() => {
                if let Some(one) = self.activations.get_mut(&live) {
                    one.is_unwritten |= is_behind;
                }
                (None, false)
            }
            Some(live) => {
                self.edit_live(live, thread_key, edit, now);
                (None, false)
            }
            None if edit.is_nothing() => (None, is_behind),
            None => (self.edit_resting(thread_key, edit, (key, now, cause)), is_behind),
        }
    }

    fn edit_live(&mut self, live: ActivationKey, thread: ActivationKey, edit: Edit, now: u64) {
        let Some(one) = self.activations.get_mut(&live) else { return };
        one.is_unwritten = true;
        self.is_unsettled = true;
        if edit.is_rebuilt || (!is_in_turn(one) && edit.messages.iter().any(|(_, place)| place.is_none())) {
            let messages = closed(edit.messages);
            one.mail.clear();
            one.outcomes.clear();
            let places = messages.iter().map(|(_, place)| *place).collect::<Vec<_>>();
            one.messages = messages.into_iter().map(|(message, _)| message).collect();
            self.renote(thread, &places, now);
        } else {
            // The session is followed by the results of the current turn, then by what waits to be read.
            let results: Vec<&mut String> = match &mut one.phase {
                Phase::Calling { calls } => {
                    let asked = calls.iter_mut().filter(|call| call.within.is_none());
                    asked.filter_map(|call| result_of(&mut call.progress)).collect()
                }
                _ => Vec::new(),
            };
            let own = one.messages.iter_mut().map(|message| &mut message.text);
            let mut slots: Vec<&mut String> = own.chain(results).chain(one.mail.iter_mut()).collect();
            let mut added = Vec::new();
            for (message, place) in edit.messages {
                match place.and_then(|place| slots.get_mut(place)) {
                    Some(slot) => **slot = message.text,
                    None => added.push(message.text),
                }
            }
            one.mail.extend(added);
        }
        if let Some(one) = self.activations.get_mut(&live) {
            one.mail.extend(edit.new);
        }
    }

    fn edit_resting(&mut self, key: ActivationKey, edit: Edit, at: (ActivationKey, u64, Seq)) -> Option<String> {
        let (work, now, cause) = at;
        let mut messages = edit.messages;
        messages.extend(edit.new.into_iter().map(|text| (PromptMessage::plain(Role::User, text), None)));
        let messages = closed(messages);
        let places: Vec<Option<usize>> = messages.iter().map(|(_, place)| *place).collect();
        self.renote(key, &places, now);
        let messages: Vec<PromptMessage> = messages.into_iter().map(|(message, _)| message).collect();
        let thread = self.threads.get_mut(&key)?;
        if !edit.asks {
            thread.messages = messages;
            return None;
        }
        (thread.live, thread.is_stopped, thread.report) = (Some(work), false, None);
        thread.messages.clear();
        let input = messages.iter().rev().find(|one| one.role == Role::User).map(|one| one.text.clone());
        let input = input.unwrap_or_default();
        let wanted = NewWork {
            key: work,
            agent: thread.agent.clone(),
            profile: thread.profile.clone(),
            file_name: thread.file_name.clone(),
            input: input.clone(),
            priority: 0,
            now,
            cause,
        };
        self.queue_with(wanted, key, Origin::Signal, messages);
        Some(input)
    }

    /// What is known of messages goes with them.
    fn renote(&mut self, key: ActivationKey, places: &[Option<usize>], now: u64) {
        let Some(thread) = self.threads.get_mut(&key) else { return };
        let notes = std::mem::take(&mut thread.notes);
        let note = |place: &Option<usize>| {
            let known = place.and_then(|place| notes.get(place).cloned());
            known.unwrap_or_else(|| MessageNote { tick: now, ..MessageNote::default() })
        };
        thread.notes = places.iter().map(note).collect();
        thread.unnoted_attached.clear();
    }
}

impl RoomAccess<'_, '_> {
    /// Takes in a session that a person wrote.
    pub(super) fn take_session(&mut self, kernel: &mut Kernel, outbox: &mut Outbox, taken: &SessionTaken) {
        let key = kernel.next_key(self.run());
        let taken = &match taken.thread.filter(|thread| kernel.thread(*thread).is_some()) {
            Some(_) => taken.clone(),
            None => SessionTaken { thread: Some(self.begin_session(kernel, taken, key)), ..taken.clone() },
        };
        let (text, is_behind) = kernel.take_session(taken, (key, self.clock.tick(), taken.cause));
        let Some(text) = text else {
            // A person's text is in the file already, unless there is more to say.
            let resting = taken.thread.and_then(|key| Some((key, kernel.thread(key)?)));
            if let Some((key, thread)) = resting.filter(|(_, thread)| is_behind && thread.live.is_none()) {
                self.write_resting(key, thread, kernel.may_sleep(key));
            }
            return;
        };
        if self.agent(&taken.agent).is_none() {
            outbox.agents.push(AgentCommand::Add {
                id: Some(taken.agent.clone()),
                profile: taken.profile.clone(),
                position: bevy::math::Vec2::ZERO,
                behaviour: None,
                exactly: false,
            });
        }
        let woken = events::Activation {
            task: truncate(&text, LOGGED_CHARS),
            by: taken.by.clone(),
            profile: Some(taken.profile.clone()),
            depth: Some(0),
            ..events::Activation::default()
        };
        let record = self.queued(key, &taken.agent, &woken, Some(taken.cause));
        kernel.note_queued(key, record);
    }

    /// A session that the room does not know, or not any more: it becomes one now, without messages.
    fn begin_session(&self, kernel: &mut Kernel, taken: &SessionTaken, new: ActivationKey) -> ActivationKey {
        let key = taken.thread.or(taken.session.thread.filter(|_| taken.path.is_none())).unwrap_or(new);
        let work = NewWork {
            key,
            agent: taken.agent.clone(),
            file_name: self.file_name(&taken.profile),
            profile: taken.profile.clone(),
            input: String::new(),
            priority: 0,
            now: self.clock.tick(),
            cause: taken.cause,
        };
        let earlier = taken.session.activations.clone();
        let messages = taken.ours.as_ref().map(prompt_messages).unwrap_or_default();
        let last = EndedWork {
            activation: earlier.last().copied().unwrap_or(key),
            task: messages.first().map(|first| first.text.clone()).unwrap_or_default(),
            turns: messages.iter().filter(|one| one.role == Role::Assistant).count() as u32,
            work: "completed".to_owned(),
            why: None,
            started_by: taken.by.to_string(),
        };
        let file = ThreadFile { path: taken.path.clone(), last: Some(last), ..ThreadFile::default() };
        kernel.threads.insert(key, RunNode { live: None, earlier, messages, file, ..RunNode::of(&work) });
        key
    }
}

#[cfg(test)]
#[path = "session_edit_tests.rs"]
mod tests;
