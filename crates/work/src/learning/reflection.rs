//! Reviews: after a piece of work, a workflow or a conversation, lessons are queued for its agents and processed step
//! by step in the background.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::lessons::{FinishedLesson, Lesson, LessonAnswered, Lessons, Stage};
use super::log_events::contradiction;
use super::settings::KnowledgeSettings;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::{AgentKey, Id, Seq};
use crate::gateway::{GatewaySettings, RequestQueue};
use crate::knowledge::Source;
use crate::log::events::{Knowledge, Warning};
use crate::log::{EventDraft, EventLog};
use crate::mind::context::Line;
use crate::mind::transcript::{TOPIC, bounded, line};
use crate::mind::{CallKind, Ending, PendingRequests, SideQuestion, SideRequestDue, SideRequestReplied, WorkEnded};
use crate::orchestration::workflow::RunReview;
use crate::schedule::{RoomDate, SimClock};
use crate::simulation::{Conversation, ConversationEnded, session_of};

/// The maximum time for which lessons wait while models are busy with work, in seconds of room time.
const MAX_WAIT_SECS: i64 = 120;

/// The system parameters of reviews.
#[derive(SystemParam)]
pub(super) struct ReviewParams<'w, 's> {
    roster: Res<'w, Roster>,
    profiles: Option<Res<'w, Profiles>>,
    questions: Res<'w, RequestQueue>,
    gateway: Res<'w, GatewaySettings>,
    agents: Query<'w, 's, &'static Agent>,
    settings: Res<'w, KnowledgeSettings>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
}

impl ReviewParams<'_, '_> {
    fn agent(&self, key: AgentKey) -> Option<&Agent> {
        self.agents.get(self.roster.entity(key)?).ok()
    }

    /// Whether a coding agent answers this agent's requests. It would take the request as a task, and it adds memories
    /// itself.
    fn is_coding_agent(&self, agent: &Agent) -> bool {
        let profile = self.profiles.as_ref().and_then(|profiles| profiles.get(&agent.profile));
        let wanted = profile.and_then(|profile| profile.model.as_deref());
        self.questions.asks_coding_agent(&self.gateway, wanted)
    }

    fn name_of(&self, id: &str) -> Id {
        let agent = self.roster.key(id).and_then(|key| self.agent(key));
        agent.map_or_else(|| id.into(), |agent| agent.name.clone())
    }
}

/// Queues lessons for agents whose work, workflow or conversation ended.
pub(super) fn queue_lessons(
    (mut work, mut workflows, mut talks): (
        MessageReader<WorkEnded>,
        MessageReader<RunReview>,
        MessageReader<ConversationEnded>,
    ),
    room: ReviewParams,
    mut lessons: ResMut<Lessons>,
    mut log: ResMut<EventLog>,
) {
    let learns_from_work = room.settings.learns_from_work;
    for over in work.read().filter(|over| learns_from_work && is_reviewable(over)) {
        let session = over.activation.id();
        queue(&mut lessons, &mut log, &room, (over.agent, over.said.clone()), (session, over.cause));
    }
    for review in workflows.read().filter(|_| learns_from_work) {
        let learns = |agent: &AgentKey| room.agent(*agent).is_some_and(|of| !room.is_coding_agent(of));
        let agents = review.agents.iter().filter_map(|agent| room.roster.key(agent));
        let Some(agent) = agents.into_iter().find(learns) else { continue };
        let lines = review.lines.iter().map(|line| Line { by: room.name_of(&line.by), ..line.clone() });
        queue(&mut lessons, &mut log, &room, (agent, lines.collect()), (review.run.id(), review.cause));
    }
    let learns_from_talks = room.settings.learns_from_conversations;
    for ended in talks.read().filter(|_| learns_from_talks) {
        let conversation = &ended.conversation;
        let lines = lines_of(conversation, &room);
        let chars: usize = lines.iter().map(|line| line.text.chars().count()).sum();
        if chars < room.settings.min_conversation_chars {
            continue;
        }
        for agent in conversation.participants.iter().chain(&conversation.left) {
            let session = session_of(conversation.key);
            queue(&mut lessons, &mut log, &room, (*agent, lines.clone()), (session, ended.cause));
        }
    }
}

/// Whether the work has content to learn from and was not aborted by a person or a limit.
fn is_reviewable(over: &WorkEnded) -> bool {
    !matches!(over.ending, Ending::Aborted { .. }) && !over.said.is_empty()
}

fn lines_of(conversation: &Conversation, room: &ReviewParams) -> Vec<Line> {
    let topic = conversation.topic.as_deref().and_then(|topic| line(&TOPIC.into(), topic, false));
    let said = conversation.said.iter();
    let said = said.filter_map(|said| line(&room.name_of(&said.by.0), &said.text, said.by.is_user()));
    bounded(topic.into_iter().chain(said).collect())
}

fn queue(
    lessons: &mut Lessons,
    log: &mut EventLog,
    room: &ReviewParams,
    (agent, lines): (AgentKey, Vec<Line>),
    (session, cause): (Id, Seq),
) {
    let Some(of) = room.agent(agent).filter(|of| !room.is_coding_agent(of)) else { return };
    let source = Source { run: Some(log.run().clone()), session: Some(session), record: Some(cause.0) };
    let at_secs = room.date.secs(&room.clock).unwrap_or(0);
    let (id, stage) = (of.id.clone(), Stage::Extracting);
    let lesson = Lesson { number: 0, agent, id, lines, source, at_secs, cause, stage, left_out: None };
    if let Some(dropped) = lessons.add(lesson) {
        let what = "learning was skipped: too much is already waiting";
        log.write(EventDraft::of(&Warning::new(what)).agent(&dropped.id).cause(dropped.cause));
    }
}

/// Advances the current lesson and makes its requests.
pub(super) fn advance_lessons(
    (mut replies, mut answers): (MessageReader<SideRequestReplied>, MessageReader<LessonAnswered>),
    room: ReviewParams,
    pending: Res<PendingRequests>,
    mut lessons: ResMut<Lessons>,
    mut due: MessageWriter<SideRequestDue>,
    mut log: ResMut<EventLog>,
) {
    if lessons.is_empty() && replies.is_empty() && answers.is_empty() {
        return;
    }
    if room.roster.is_changed() {
        lessons.drop_of(|agent| room.roster.entity(agent).is_none());
    }
    for reply in replies.read() {
        let outcome = reply.outcome.as_ref().map(|answer| answer.text.clone()).map_err(Clone::clone);
        let over = lessons.replied(&reply.key, &outcome);
        over.into_iter().for_each(|over| log_lesson(&mut log, &over));
    }
    for answered in answers.read() {
        let over = lessons.answered(answered);
        over.into_iter().for_each(|over| log_lesson(&mut log, &over));
    }
    let now = room.date.secs(&room.clock).unwrap_or(0);
    let has_waited = lessons.first().is_some_and(|lesson| now.saturating_sub(lesson.at_secs) >= MAX_WAIT_SECS);
    if pending.asks_for_work() && !has_waited {
        return;
    }
    let today = room.date.in_words(&room.clock).unwrap_or_default();
    if let Some(question) = lessons.question(&today) {
        let kind = CallKind::Learning;
        let (key, agent, cause) = (question.key, question.agent, question.cause);
        let question = SideQuestion::OfAgent(Box::new(question.request));
        due.write(SideRequestDue { key, agent, kind, question, work: None, cause });
    }
}

/// Logs the result of a lesson, and warns a person about contradictions.
fn log_lesson(log: &mut EventLog, over: &FinishedLesson) {
    let FinishedLesson { lesson, told, contradictions } = over;
    let draft = |knowledge: &Knowledge| EventDraft::of(knowledge).agent(&lesson.id).cause(lesson.cause);
    for one in told {
        log.write(draft(one));
    }
    for what in contradictions {
        log.write(contradiction(what).agent(&lesson.id).cause(lesson.cause));
    }
}
