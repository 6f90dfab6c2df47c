//! Carries out what a reply does in the room, and records whether it came by function calls or by markers.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::act_calls::{CalledAct, left_out};
use super::context_builder::RoomParams;
use super::feedback::Feedback;
use super::intent::{IntentEffect, Situation, closed_by, describe_for_record, effect};
use super::markers::{Intent, Parsed};
use super::pending::PendingRequest;
use super::request::ModelFailure;
use super::session::Session;
use super::side_requests::SideRequestReplied;
use super::spoken::SpokenSentences;
use super::work_messages::WorkReplied;
use crate::agent::Agent;
use crate::base::text::one_line;
use crate::base::{Author, Id, Seq};
use crate::element::{ElementAct, ElementEdit};
use crate::log::events::{ActWay, Acted, Warning};
use crate::log::{EventDraft, EventLog};
use crate::memory::{Memory, MemoryAct, MemoryEdit};
use crate::simulation::{CompactionWanted, NewsNoted, Think, ThinkDone};

/// All messages that a reply can cause.
#[derive(SystemParam)]
pub(super) struct Outbox<'w> {
    pub(super) edits: MessageWriter<'w, ElementEdit>,
    pub(super) memories: MessageWriter<'w, MemoryEdit>,
    pub(super) news: MessageWriter<'w, NewsNoted>,
    pub(super) done: MessageWriter<'w, ThinkDone>,
    pub(super) work_replies: MessageWriter<'w, WorkReplied>,
    pub(super) side_replies: MessageWriter<'w, SideRequestReplied>,
    pub(super) compactions: MessageWriter<'w, CompactionWanted>,
    pub(super) spoken: ResMut<'w, SpokenSentences>,
    pub(super) log: ResMut<'w, EventLog>,
}

impl Outbox<'_> {
    pub(super) fn warn(&mut self, what: &str, agent: &Id, cause: Seq) -> Seq {
        self.log.write(EventDraft::of(&Warning::new(what.to_owned())).agent(agent).cause(cause))
    }
}

/// A reply that is being handled, with the data it reads and changes.
pub(super) struct Turn<'a, 'w, 's, 'o> {
    pub(super) room: &'a RoomParams<'w, 's>,
    pub(super) agent: &'a Agent,
    pub(super) memory: &'a Memory,
    pub(super) session: &'a mut Session,
    pub(super) feedback: &'a mut Feedback,
    pub(super) waiting: &'a PendingRequest,
    pub(super) out: &'a mut Outbox<'o>,
}

impl Turn<'_, '_, '_, '_> {
    pub(super) fn cause(&self) -> Seq {
        self.waiting.request.cause
    }

    pub(super) fn is_talking(&self) -> bool {
        matches!(self.waiting.subject.thought(), Some(Think::Turn { .. }))
    }

    pub(super) fn add_feedback(&mut self, remark: String) {
        let cause = self.cause();
        self.out.warn(&remark, &self.agent.id, cause);
        self.feedback.add(remark, self.room.settings.max_feedback);
    }

    pub(super) fn remember(&mut self, act: MemoryAct) {
        let cause = self.cause();
        self.out.memories.write(MemoryEdit { agent: self.agent.key, act, cause });
    }

    /// Adds the calls of a reply before the markers in its text, and takes out the markers that do nothing, because
    /// their acts had to be called. The agent and the log are told about these.
    pub(super) fn add_calls(&mut self, parsed: &mut Parsed, called: &[CalledAct]) {
        let is_call = |intent: &Intent| called.iter().any(|act| act.intent == *intent);
        let mut idle = self.waiting.acts.take_markers(parsed);
        // The same act, called and written, was meant once.
        idle.retain(|intent| !is_call(intent));
        if let Some(left_out) = left_out(&idle) {
            let what =
                format!("markers in its text did nothing and were left out, because it has functions: {left_out}");
            self.out.warn(&what, &self.agent.id, self.waiting.request.cause);
        }
        let is_marker = |intent: &Intent| !matches!(intent, Intent::Unknown { .. });
        if !self.waiting.acts.is_empty() && (idle.iter().any(is_marker) || parsed.inline > 0) {
            self.add_feedback(self.waiting.acts.idle_remark(&idle));
            parsed.inline = 0;
        }
        parsed.called = called.len();
        let written = std::mem::take(&mut parsed.intents);
        parsed.intents = called.iter().map(|act| act.intent.clone()).chain(written).collect();
    }

    /// Carries out the intents of a reply, and records how they came. Reports failures back to the agent, except for
    /// calls at work, which have results. Returns for each intent the reason why it was not carried out, if so.
    pub(super) fn carry_out(&mut self, parsed: &Parsed) -> Vec<Result<(), String>> {
        let intents = &parsed.intents;
        if parsed.inline > 0 {
            let remark = "a marker acts only at the start of a line; the others were text, and nothing was done";
            self.add_feedback(remark.to_owned());
        }
        if intents.is_empty() {
            if parsed.quoted > 0 && self.waiting.acts.is_empty() {
                self.add_feedback("markers in quotation marks are text; put markers after what you say".to_owned());
            }
            return Vec::new();
        }
        let in_talk = self.is_talking();
        let situation = self.room.situation(self.agent, self.memory, &self.waiting.mail_shown);
        let situation = Situation { in_talk, ..situation };
        let at_most = self.room.settings.max_intents;
        let mut results = Vec::with_capacity(intents.len());
        for (index, intent) in intents.iter().take(at_most).enumerate() {
            let result = self.carry_out_intent(intent, &situation);
            if let Err(remark) = &result {
                let has_result = self.waiting.work.is_some() && index < parsed.called;
                if has_result { self.warn(remark) } else { self.add_feedback(remark.clone()) }
            }
            results.push(result);
        }
        if intents.len() > at_most {
            let left_out = intents.len() - at_most;
            let remark = if parsed.called > 0 {
                format!("only the first {at_most} acts were carried out, {left_out} were not")
            } else {
                format!("only the first {at_most} markers were carried out, {left_out} were not")
            };
            self.add_feedback(remark.clone());
            results.resize(intents.len(), Err(remark));
        }
        self.record_acts(parsed, &results);
        results
    }

    /// Carries out one intent, or returns the reason why not.
    fn carry_out_intent(&mut self, intent: &Intent, situation: &Situation) -> Result<(), String> {
        let effect = effect(intent, situation);
        let closed = closed_by(&effect, situation);
        match effect {
            IntentEffect::Edit { element, act } => self.edit(element, act),
            IntentEffect::Memory(act) => {
                if let MemoryAct::Note { text } = &act {
                    self.announce_note(text);
                }
                self.remember(act);
            }
            // The owner of the conversation ends it after the reply.
            IntentEffect::Leave => {}
            IntentEffect::Remark(remark) => return Err(remark),
        }
        for also in closed {
            if let IntentEffect::Edit { element, act } = also {
                self.edit(element, act);
            }
        }
        Ok(())
    }

    /// Records which acts of a reply were carried out, and whether its model called functions or wrote markers.
    fn record_acts(&mut self, parsed: &Parsed, results: &[Result<(), String>]) {
        let (called, written) = parsed.intents.split_at(parsed.called);
        let (of_calls, of_markers) = results.split_at(parsed.called);
        for (way, intents, results) in [(ActWay::Call, called, of_calls), (ActWay::Marker, written, of_markers)] {
            let acts: Vec<String> = done(intents, results).filter_map(describe_for_record).collect();
            if acts.is_empty() {
                continue;
            }
            let draft = EventDraft::of(&Acted { way, acts }).agent(&self.agent.id).cause(self.cause());
            self.out.log.write(match self.waiting.work {
                Some((activation, _)) => draft.activation(&activation.id()),
                None => draft,
            });
        }
    }

    fn warn(&mut self, what: &str) {
        let cause = self.cause();
        self.out.warn(what, &self.agent.id, cause);
    }

    /// Tells a person that a model takes no functions, and how the agent acts instead.
    pub(super) fn warn_of_refused_tools(&mut self, failure: &ModelFailure) {
        let model = &self.waiting.acts.model;
        let what =
            format!("{model} takes no functions, so agents with it act by markers in their text: {}", failure.what);
        let warning = Warning::new(what).with_remedy("set mind.acts to markers, or choose another model");
        let draft = EventDraft::of(&warning).agent(&self.agent.id).cause(self.cause());
        self.out.log.write(draft);
    }

    pub(super) fn edit(&mut self, element: Id, act: ElementAct) {
        let cause = Some(self.cause());
        self.out.edits.write(ElementEdit { element, act, by: Author::agent(&self.agent.id), cause });
    }

    /// Announces a new note on an element that was read, so that the agent may tell others.
    fn announce_note(&mut self, note: &str) {
        let Some(read) = &self.waiting.reading else { return };
        if self.memory.workspace_notes.contains(&one_line(note)) {
            return;
        }
        let cause = self.cause();
        self.out.news.write(NewsNoted {
            agent: self.agent.key,
            element: read.element,
            version: read.version,
            note: note.to_owned(),
            may_tell: self.room.shares_workspace(self.agent) && !read.private,
            cause,
        });
    }
}

/// Returns the intents that were carried out.
pub(super) fn done<'i>(intents: &'i [Intent], results: &'i [Result<(), String>]) -> impl Iterator<Item = &'i Intent> {
    intents.iter().zip(results).filter(|(_, result)| result.is_ok()).map(|(intent, _)| intent)
}
