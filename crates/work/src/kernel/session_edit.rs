//! Applies session files that a person edited or created, and activates the agent if the last message asks for a
//! reply. Pure, except for the last part, which accesses the room.
//!
//! A changed message applies from the next request on, even in the middle of a turn. Inserted and removed messages
//! apply once no turn is running; until then the edit waits.

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

/// A session as edited by a person. Send it in `Ingest` once the kernel accepts it ([`Kernel::check_session_edit`]).
#[derive(Message, Clone, PartialEq, Debug)]
pub struct EditedSession {
    /// The thread of the session; `None` for a new session.
    pub thread: Option<ActivationKey>,
    /// The path of the session file, if it is not the default path of the thread.
    pub path: Option<String>,
    /// The id of the agent.
    pub agent: Id,
    /// The id of the profile that the agent uses.
    pub profile: Id,
    /// The content of the file.
    pub session: SessionText,
    /// The content that the room last wrote to the file, for sessions that the kernel no longer knows.
    pub ours: Option<SessionText>,
    /// Whether the text replaces the whole session, including messages that the person did not write.
    pub replaces: bool,
    /// Hash of the file's text, which may be overwritten.
    pub over: u64,
    /// The author of the edit, as recorded in the log.
    pub by: Id,
    /// The log record that caused the edit.
    pub cause: Seq,
}

/// When the text of an edited session can be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionEditTiming {
    /// The text contains no change.
    Nothing,
    /// The text can be applied now.
    Now,
    /// Try again when the current turn has ended, or when there is room for more work.
    Later,
}

/// Whether no message can be inserted or removed because a model is being called or its tool calls are being executed.
fn is_in_turn(one: &Activation) -> bool {
    matches!(one.phase, Phase::Asking | Phase::Calling { .. })
}

fn result_of(progress: &mut CallProgress) -> Option<&mut String> {
    match progress {
        CallProgress::Answered(text) => Some(text),
        _ => None,
    }
}

/// Converts a message to its form in session files.
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

/// Converts a message of a session file to its form in prompts.
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

/// The changes that a text makes to a known session.
struct Edit {
    /// The merged messages, each with its index in the room's session.
    messages: Vec<(PromptMessage, Option<usize>)>,
    /// The messages that the person appended.
    new: Vec<String>,
    is_rebuilt: bool,
    is_edited: bool,
    /// Whether the last message is the person's and asks for a reply.
    asks: bool,
}

impl Edit {
    fn of(ours: &[PromptMessage], edited: &SessionText, replaces: bool) -> Self {
        let theirs = &edited.messages;
        let mine: Vec<SessionMessage> = ours.iter().map(file_message).collect();
        let written = if replaces { usize::MAX } else { edited.written.unwrap_or(0) };
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
            // Guidance is read with the next request, and does not cause one.
            messages.extend(new.drain(..).map(|text| (PromptMessage::plain(Role::User, text), None)));
        }
        let is_changed = merged.is_rebuilt || merged.is_edited || !merged.new.is_empty();
        let last_is_theirs = merged.messages.last().is_none_or(|last| !matches!(last, MergedMessage::Ours(_)));
        let last = new.last().map(|_| Role::User).or(messages.last().map(|(last, _)| last.role));
        let is_open = last.is_some_and(|role| role != Role::Assistant) && !last_is_guidance;
        let asks = is_changed && is_open && (last_is_theirs || merged.is_rebuilt || !new.is_empty());
        Self { messages, new, is_rebuilt: merged.is_rebuilt, is_edited: merged.is_edited || is_changed, asks }
    }

    /// Whether the session has more messages than the text.
    fn is_behind(&self, edited: &SessionText) -> bool {
        self.messages.len() + self.new.len() > edited.messages.len()
    }

    fn is_nothing(&self) -> bool {
        !self.is_edited && !self.is_rebuilt && self.new.is_empty()
    }
}

/// Reorders messages such that each call is followed by its result, and adds placeholders for missing results.
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
    /// Decides what to do with the text of a session.
    pub fn check_session_edit(&self, edited: &EditedSession, settings: &KernelSettings) -> SessionEditTiming {
        let is_full = self.activations.len() >= settings.max_activations as usize;
        let Some(key) = edited.thread else {
            let (begins, is_behind) = match &edited.ours {
                None => (edited.session.begins(), false),
                Some(ours) => {
                    let edit = Edit::of(&prompt_messages(ours), &edited.session, false);
                    (edit.asks, edit.is_behind(&edited.session))
                }
            };
            return match (begins, is_full) {
                (false, _) if !is_behind => SessionEditTiming::Nothing,
                (true, true) => SessionEditTiming::Later,
                (false | true, _) => SessionEditTiming::Now,
            };
        };
        let Some(thread) = self.threads.get(&key) else { return SessionEditTiming::Nothing };
        let live = thread.live.and_then(|live| self.activations.get(&live));
        let ours = live.map_or_else(|| thread.messages.clone(), Activation::messages_so_far);
        let edit = Edit::of(&ours, &edited.session, edited.replaces);
        match live {
            Some(one) if is_in_turn(one) && (edit.is_rebuilt || edited.replaces) => SessionEditTiming::Later,
            None if edit.asks && is_full => SessionEditTiming::Later,
            _ if edit.is_nothing() && !edit.is_behind(&edited.session) && thread.file.over == Some(edited.over) => {
                SessionEditTiming::Nothing
            }
            _ => SessionEditTiming::Now,
        }
    }

    /// Describes the running turn of a session, for a message to the person or agent that must wait for it.
    pub fn running_turn(&self, key: ActivationKey) -> Option<&'static str> {
        let one = self.activations.get(&self.threads.get(&key)?.live?)?;
        match one.phase {
            Phase::Asking => Some("its model is being asked"),
            Phase::Calling { .. } if one.question().is_some() => Some("it waits for a person's answer"),
            Phase::Calling { .. } => Some("its tool calls are being carried out"),
            _ => None,
        }
    }

    /// Applies the text of a session. Returns the input of the new activation `key`, if the agent must be activated,
    /// and whether the file must be saved although no work is running.
    fn apply_session_edit(
        &mut self,
        edited: &EditedSession,
        (key, now, cause): (ActivationKey, u64, Seq),
    ) -> (Option<String>, bool) {
        let thread_key = edited.thread.unwrap_or(key);
        let Some(thread) = self.threads.get_mut(&thread_key) else { return (None, false) };
        thread.file.over = Some(edited.over);
        let live = thread.live.filter(|live| self.activations.contains_key(live));
        let ours = match live {
            Some(live) => self.activations[&live].messages_so_far(),
            None => thread.messages.clone(),
        };
        let edit = Edit::of(&ours, &edited.session, edited.replaces);
        let is_behind = edit.is_behind(&edited.session) || edited.replaces;
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
            self.move_notes(thread, &places, now);
        } else {
            // The file lists the session first, then the results of the current turn, then unread messages.
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
        self.move_notes(key, &places, now);
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

    /// Moves the notes of messages to the messages' new places.
    fn move_notes(&mut self, key: ActivationKey, places: &[Option<usize>], now: u64) {
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
    /// Applies a session that a person edited.
    pub(super) fn apply_session_edit(&mut self, kernel: &mut Kernel, outbox: &mut Outbox, edited: &EditedSession) {
        let key = kernel.next_key(self.run());
        let edited = &match edited.thread.filter(|thread| kernel.thread(*thread).is_some()) {
            Some(_) => edited.clone(),
            None => EditedSession { thread: Some(self.begin_session(kernel, edited, key)), ..edited.clone() },
        };
        let (text, is_behind) = kernel.apply_session_edit(edited, (key, self.clock.tick(), edited.cause));
        let Some(text) = text else {
            // The person's text is in the file already; it is saved only if the session contains more.
            let resting = edited.thread.and_then(|key| Some((key, kernel.thread(key)?)));
            if let Some((key, thread)) = resting.filter(|(_, thread)| is_behind && thread.live.is_none()) {
                self.write_resting(key, thread, kernel.may_sleep(key));
            }
            return;
        };
        if self.agent(&edited.agent).is_none() {
            outbox.agents.push(AgentCommand::Add {
                id: Some(edited.agent.clone()),
                profile: edited.profile.clone(),
                position: bevy::math::Vec2::ZERO,
                behaviour: None,
                exactly: false,
            });
        }
        let woken = events::Activation {
            task: truncate(&text, LOGGED_CHARS),
            by: edited.by.clone(),
            profile: Some(edited.profile.clone()),
            depth: Some(0),
            ..events::Activation::default()
        };
        let record = self.record_queued(key, &edited.agent, &woken, Some(edited.cause));
        kernel.note_queued(key, record);
    }

    /// Creates the thread of an unknown session, without an activation.
    fn begin_session(&self, kernel: &mut Kernel, edited: &EditedSession, new: ActivationKey) -> ActivationKey {
        let key = edited.thread.or(edited.session.thread.filter(|_| edited.path.is_none())).unwrap_or(new);
        let work = NewWork {
            key,
            agent: edited.agent.clone(),
            file_name: self.file_name(&edited.profile),
            profile: edited.profile.clone(),
            input: String::new(),
            priority: 0,
            now: self.clock.tick(),
            cause: edited.cause,
        };
        let earlier = edited.session.activations.clone();
        let messages = edited.ours.as_ref().map(prompt_messages).unwrap_or_default();
        let last = EndedWork {
            activation: earlier.last().copied().unwrap_or(key),
            task: messages.first().map(|first| first.text.clone()).unwrap_or_default(),
            turns: messages.iter().filter(|one| one.role == Role::Assistant).count() as u32,
            work: "completed".to_owned(),
            why: None,
            started_by: edited.by.to_string(),
        };
        let file = ThreadFile { path: edited.path.clone(), last: Some(last), ..ThreadFile::default() };
        kernel.threads.insert(key, RunNode { live: None, earlier, messages, file, ..RunNode::of(&work) });
        key
    }
}

#[cfg(test)]
#[path = "session_edit_tests.rs"]
mod tests;
