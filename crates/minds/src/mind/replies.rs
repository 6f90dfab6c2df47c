//! Carries out a reply: markers and calls become intents, and intents become messages to the layers that execute them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use bevy::ecs::prelude::*;

use super::act_calls::{CalledAct, unknown_remark};
use super::context_builder::RoomParams;
use super::feedback::Feedback;
use super::intent::{describe, describe_for_session};
use super::markers::{Intent, parse, without_first_blank};
use super::message::{CallEnd, Role};
use super::part_requests::give_up;
use super::pending::{PendingRequests, Sent};
use super::reply_acts::{Outbox, Turn, done};
use super::reply_cleanup;
use super::request::{CancelRequest, Completion, FailureKind, Finish, ModelReply};
use super::session::Session;
use super::side_requests::{SideAnswer, SideRequestReplied};
use super::silent_replies::without_silence;
use super::spoken::OFFLINE;
use super::think_requests::LEFT;
use super::tool_models::refuses_tools;
use super::untrusted_text::PERSON;
use super::work_messages::{ReplyUsage, WorkReplied, WorkReply};
use crate::base::text::{one_line, truncate};
use crate::base::{AgentKey, RequestId};
use crate::element::{ElementRefused, ItemLost, MailAct};
use crate::log::EventDraft;
use crate::log::events::{Compaction, Warning};
use crate::memory::{MemoryAct, MemoryEdit};
use crate::simulation::{
    CompactionWanted, Conversation, ConversationEnded, FailureCause, Think, ThinkDone, ThinkOutcome,
};

/// Maximum length, in characters, of a conversation's last line that is remembered in place of a topic.
const LAST_WORDS_CHARS: usize = 80;

/// Gives up the requests of agents that left the room.
pub(super) fn drop_orphans(
    room: RoomParams,
    mut pending: ResMut<PendingRequests>,
    mut cancels: MessageWriter<CancelRequest>,
    mut done: MessageWriter<ThinkDone>,
) {
    if !room.roster.is_changed() {
        return;
    }
    let gone = |agent: AgentKey| room.roster.entity(agent).is_none();
    let left = ThinkOutcome::Nothing { why: LEFT.to_owned() };
    give_up(&mut pending, &mut done, &left, |agent, _| gone(agent));
    let orphans: Vec<RequestId> = pending
        .asked
        .values()
        .map(|waiting| &waiting.request)
        .filter(|asked| gone(asked.agent))
        .map(|asked| asked.id)
        .collect();
    for request in orphans {
        pending.asked.remove(&request);
        cancels.write(CancelRequest { request });
    }
}

/// Handles the replies of this tick.
pub(super) fn apply_replies(
    mut replies: MessageReader<ModelReply>,
    room: RoomParams,
    mut pending: ResMut<PendingRequests>,
    mut minds: Query<(&mut Session, &mut Feedback)>,
    mut out: Outbox,
) {
    for reply in replies.read() {
        let Some(waiting) = pending.asked.remove(&reply.request) else {
            let what = "a reply was dropped, because nobody was waiting for it";
            out.log.write(EventDraft::of(&Warning { request: Some(reply.request), ..Warning::new(what) }));
            continue;
        };
        if let Some(key) = waiting.subject.side_request_key() {
            let outcome = reply.outcome.clone().map(|completion| SideAnswer {
                text: reply_cleanup::without_thought(&completion.text).into_owned(),
                provider: reply.provider.clone(),
                model: reply.model.clone(),
                finish: completion.finish,
            });
            out.side_replies.write(SideRequestReplied { key: key.clone(), outcome });
            continue;
        }
        let found = room.agent(waiting.request.agent).zip(room.roster.entity(waiting.request.agent));
        let Some(((agent, memory), entity)) = found else { continue };
        let Ok((mut session, mut feedback)) = minds.get_mut(entity) else { continue };
        let mut turn = Turn {
            room: &room,
            agent,
            memory,
            session: &mut session,
            feedback: &mut feedback,
            waiting: &waiting,
            out: &mut out,
        };
        if let Some((activation, number)) = waiting.work {
            let outcome = match &reply.outcome {
                Ok(completion) => Ok(turn.handle_work_reply(completion)),
                Err(failure) => Err(failure.clone()),
            };
            let Sent { chars: sent_chars, chars_at_most: sent_chars_at_most } = waiting.sent;
            let taken = reply.outcome.as_ref().ok().map(|completion| ReplyUsage {
                thought: completion.told.as_ref().map(|told| told.thought.clone()).unwrap_or_default(),
                images: completion.told.as_ref().map(|told| told.images.clone()).unwrap_or_default(),
                provider: reply.provider.clone(),
                model: reply.model.clone(),
                at_ms: reply.at_ms,
                usage: completion.usage,
                agent_session: completion.told.as_ref().and_then(|told| told.session.clone()),
            });
            let turn = number;
            out.work_replies.write(WorkReplied { activation, turn, sent_chars, sent_chars_at_most, taken, outcome });
            continue;
        }
        let outcome = match &reply.outcome {
            Ok(completion) => {
                let outcome = turn.handle_reply(completion, &mut pending);
                if *reply.provider == *OFFLINE
                    && let ThinkOutcome::Said { text } | ThinkOutcome::Bye { text } = &outcome
                {
                    turn.out.spoken.note(&agent.id, text);
                }
                outcome
            }
            Err(failure) if failure.kind == FailureKind::PutOff => ThinkOutcome::PutOff,
            Err(failure) if !waiting.acts.is_empty() && refuses_tools(failure) => {
                // Other requests to the model may be on their way.
                if pending.refused_tools.note(&waiting.acts.model, room.clock.tick()) {
                    turn.warn_of_refused_tools(failure);
                }
                ThinkOutcome::PutOff
            }
            Err(failure) => {
                let why = format!("{}; {}", failure.what, failure.remedy);
                turn.failed(why, failure.cause(), &mut pending)
            }
        };
        out.done.write(ThinkDone {
            agent: waiting.request.agent,
            activity: waiting.request.activity,
            think: waiting.subject.into_thought(),
            outcome,
            cause: waiting.request.cause,
        });
    }
}

impl Turn<'_, '_, '_, '_> {
    fn handle_reply(&mut self, completion: &Completion, pending: &mut PendingRequests) -> ThinkOutcome {
        // The remarks have been delivered, whatever the reply is.
        self.feedback.remove_delivered(&self.waiting.feedback);
        let called = self.waiting.acts.called(&completion.tool_calls, true);
        let text = with_last_words(&completion.text, &called);
        let tidied = reply_cleanup::tidied(&text, &self.agent.name, &self.room.names_beside(self.agent));
        if let Some(speaker) = &tidied.cut_at {
            self.add_feedback(format!("it continued as “{speaker}”, which was left out; write only your own words"));
        }
        let was_cut = completion.finish == Finish::Length && tidied.cut_at.is_none();
        let mut parsed = parse(without_first_blank(&tidied.text), was_cut);
        for (index, call) in completion.tool_calls.iter().enumerate() {
            if self.waiting.acts.is_empty() {
                self.add_feedback(format!("you called the tool “{}”, but you have no tools; use markers", call.name));
            } else if called.iter().all(|act| act.index != index) {
                self.add_feedback(unknown_remark(&call.name));
            }
        }
        self.add_calls(&mut parsed, &called);
        let mut parsed = without_silence(parsed);
        if let Some(Think::Compact) = self.waiting.subject.thought() {
            // Markers in a summary repeat those of the session and must not be carried out again.
            return self.compacted(&parsed.shown, pending);
        }
        if was_cut {
            let remedy = match self.waiting.acts.is_empty() {
                true => "say less, and put markers first",
                false => "say less",
            };
            self.add_feedback(self.cut_off_remark(self.room.settings.max_output_tokens, remedy));
        }
        let results = self.carry_out(&parsed);
        let done: Vec<String> = done(&parsed.intents, &results).filter_map(describe_for_session).collect();
        let own = self.session.messages.iter().filter(|message| message.role == Role::Assistant);
        if reply_cleanup::was_said(&parsed.shown, own.map(|message| message.text.as_str())) {
            let (what, cause) = ("it repeated what it had said before, so it was not said", self.cause());
            self.out.warn(what, &self.agent.id, cause);
            parsed.shown.clear();
        }
        self.record_read();
        let settings = &self.room.settings;
        if !(parsed.shown.is_empty() && done.is_empty()) {
            self.session.append(&self.waiting.asked, &parsed.shown, &done, settings);
        }
        if self.session.wants_compaction(settings, self.room.clock.tick()) {
            let cause = self.cause();
            self.out.compactions.write(CompactionWanted { agent: self.agent.key, cause });
        }
        if let Some(Think::Turn { conversation }) = self.waiting.subject.thought()
            && self.room.conversations.get(*conversation).is_none()
        {
            return ThinkOutcome::Nothing { why: "the conversation ended before the reply came".to_owned() };
        }
        if self.is_talking() && parsed.intents.contains(&Intent::Bye) {
            return ThinkOutcome::Bye { text: parsed.shown };
        }
        if self.waiting.reading.as_ref().is_some_and(|read| !read.whole) {
            return ThinkOutcome::Partly { text: parsed.shown };
        }
        ThinkOutcome::Said { text: parsed.shown }
    }

    /// Handles a step of work: markers and calls of acts have their usual effects, other tool calls are left to the
    /// layer that owns the work.
    fn handle_work_reply(&mut self, completion: &Completion) -> WorkReply {
        let was_cut = completion.finish == Finish::Length;
        let limit = self.room.settings.max_work_output_tokens;
        let said = reply_cleanup::without_thought(&completion.text);
        let mut parsed = parse(without_first_blank(&said), was_cut);
        self.feedback.remove_delivered(&self.waiting.feedback);
        if was_cut {
            // The owner of the work tells the model to continue.
            let what = format!("a reply was cut off at the limit of {limit} tokens");
            self.out.warn(&what, &self.agent.id, self.waiting.request.cause);
        }
        let called = self.waiting.acts.called(&completion.tool_calls, false);
        self.add_calls(&mut parsed, &called);
        let results = self.carry_out(&parsed);
        self.record_read();
        let answered = called.iter().zip(&results).map(|(act, result)| (act.index, call_result(&act.intent, result)));
        let answered = answered.collect();
        // A reply of markers alone is reported by their effects; each call has a result of its own.
        let by_marker = parsed.called.min(results.len());
        let by_marker = done(&parsed.intents[by_marker..], &results[by_marker..]);
        let mut text = match parsed.shown.is_empty() {
            true => by_marker.filter_map(describe).collect::<Vec<_>>().join(" "),
            false => parsed.shown,
        };
        if was_cut && !text.is_empty() {
            text.push_str(&said[said.trim_end().len()..]);
        }
        WorkReply {
            text,
            leading: said[..said.len() - said.trim_start().len()].to_owned(),
            tool_calls: completion.tool_calls.clone(),
            answered,
            cut_at_tokens: was_cut.then_some(limit),
            was_filtered: completion.finish == Finish::Filtered,
        }
    }

    fn cut_off_remark(&self, tokens: u32, remedy: &str) -> String {
        format!("it was cut off at the limit of {tokens} tokens; {remedy}")
    }

    /// Records in memory that the element was read, and marks the mail in the prompt as read.
    fn record_read(&mut self) {
        if let Some(read) = &self.waiting.reading {
            // If something new did not fit into the prompt, an older version is recorded, so that it still counts as
            // new.
            let version = if read.whole { read.version } else { read.version.wrapping_sub(1) };
            let act = MemoryAct::Saw { element: read.element, version, summary: read.summary.clone() };
            self.remember(act);
        }
        for (inbox, ids) in &self.waiting.mail_shown {
            self.edit(inbox.clone(), MailAct::MarkMailRead { ids: ids.clone() }.into());
        }
    }

    fn compacted(&mut self, summary: &str, pending: &mut PendingRequests) -> ThinkOutcome {
        if summary.trim().is_empty() {
            return self.failed("the model returned an empty summary".to_owned(), FailureCause::Passing, pending);
        }
        self.remember(MemoryAct::Summary { text: summary.to_owned() });
        let turns = self.session.turns;
        let dropped = self.session.compacted(&self.room.settings);
        let done = Compaction::Done { turns, messages_dropped: dropped as u64 };
        let draft = EventDraft::of(&done).agent(&self.agent.id).cause(self.cause());
        self.out.log.write(draft);
        ThinkOutcome::Said { text: String::new() }
    }

    fn failed(&mut self, why: String, cause: FailureCause, pending: &mut PendingRequests) -> ThinkOutcome {
        // While the model cannot be called, the room keeps the compaction, which then is no failure of its own.
        if let Some(Think::Compact) = self.waiting.subject.thought()
            && cause != FailureCause::Model
        {
            let retry = self.session.compaction_failed(&self.room.settings, self.room.clock.tick());
            let is_tried_again = self.session.failures <= self.room.settings.max_compaction_retries;
            if is_tried_again {
                pending.retries.insert((retry, self.agent.key));
            }
            let retry = is_tried_again.then_some(retry);
            let failures = self.session.failures;
            let failed = Compaction::Failed { why: why.clone(), retry_tick: retry, failures };
            let draft = EventDraft::of(&failed).agent(&self.agent.id).cause(self.cause());
            self.out.log.write(draft);
        }
        ThinkOutcome::Failed { why, cause }
    }
}

/// Returns a reply's text with the last words of its calls, unless it contains them already.
fn with_last_words<'t>(text: &'t str, called: &[CalledAct]) -> Cow<'t, str> {
    let mut whole = Cow::Borrowed(text);
    for said in called.iter().map(|act| act.said.as_str()).filter(|said| !said.is_empty()) {
        if !whole.contains(said) {
            let between = if whole.trim().is_empty() { "" } else { "\n" };
            whole = Cow::Owned(format!("{}{between}{said}", whole.trim_end()));
        }
    }
    whole
}

/// Returns the result of a call at work for its model.
fn call_result(intent: &Intent, result: &Result<(), String>) -> (String, CallEnd) {
    match result {
        Ok(()) => (describe(intent).unwrap_or_else(|| "Done.".to_owned()), CallEnd::Done),
        Err(why) => (format!("Error: {why}"), CallEnd::NotDone),
    }
}

/// Reports to agents which of their edits were refused.
pub(super) fn report_refusals(
    mut refusals: MessageReader<ElementRefused>,
    room: RoomParams,
    mut minds: Query<(&mut Session, &mut Feedback)>,
) {
    // The author of a file change gets the refusal with its result.
    for refusal in refusals.read().filter(|refusal| refusal.file.is_none()) {
        let entity = room.roster.key(&refusal.by.0).and_then(|key| room.roster.entity(key));
        if let Some((mut session, mut feedback)) = entity.and_then(|entity| minds.get_mut(entity).ok()) {
            session.note_refused(&refusal.why);
            feedback.add(refusal.why.clone(), room.settings.max_feedback);
        }
    }
}

/// Reports to agents which of their items a limit removed.
pub(super) fn report_lost_items(
    mut lost: MessageReader<ItemLost>,
    room: RoomParams,
    mut minds: Query<(&mut Session, &mut Feedback)>,
) {
    for ItemLost { author, what, .. } in lost.read() {
        let entity = room.roster.key(&author.0).and_then(|key| room.roster.entity(key));
        if let Some((_, mut feedback)) = entity.and_then(|entity| minds.get_mut(entity).ok()) {
            feedback.add(what.clone(), room.settings.max_feedback);
        }
    }
}

/// Adds a finished conversation to the memory of each participant.
pub(super) fn remember_conversations(
    mut ended: MessageReader<ConversationEnded>,
    room: RoomParams,
    mut memories: MessageWriter<MemoryEdit>,
) {
    for ended in ended.read() {
        let conversation = &ended.conversation;
        let Some(last) = conversation.said.last() else { continue };
        let about = match &conversation.topic {
            Some(topic) => format!(" about {topic}"),
            None => format!(": “{}”", truncate(&one_line(&last.text), LAST_WORDS_CHARS)),
        };
        let present = participants_of(conversation, &room);
        let person = conversation.said.iter().any(|line| line.by.is_user()).then(|| PERSON.to_owned());
        for me in &present {
            let others = present.iter().filter(|other| *other != me);
            let names = others.filter_map(|other| Some(room.agent(*other)?.0.name.to_string()));
            let names: Vec<String> = names.chain(person.clone()).collect();
            if names.is_empty() {
                continue;
            }
            let act = MemoryAct::Interaction { text: format!("talked to {}{about}", names.join(", ")) };
            memories.write(MemoryEdit { agent: *me, act, cause: ended.cause });
        }
    }
}

/// Returns the participants of a conversation at its end, and those who left earlier but had spoken in it.
fn participants_of(conversation: &Conversation, room: &RoomParams) -> BTreeSet<AgentKey> {
    let spoke = conversation.said.iter().filter_map(|line| room.roster.key(&line.by.0));
    let listened = conversation.participants.iter().chain(&conversation.left).copied();
    let all: BTreeSet<AgentKey> = listened.chain(spoke).collect();
    all.into_iter().filter(|key| room.agent(*key).is_some()).collect()
}
