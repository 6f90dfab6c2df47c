//! Answers to messages between agents: the final text of the agent that got a message goes back to the one that sent
//! it, as the results of tasks do.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, Roster};
use crate::base::{ActivationKey, Id, Seq};
use crate::kernel::{Kernel, KernelSettings, WorkAnswer, WorkNotice, WorkOrder, WorkTerms, WorkWanted};
use crate::mind::Ending;
use crate::mind::headings::ANSWER;
use crate::mind::untrusted_text::name as quoted_name;

/// The maximum number of messages for which answers are awaited; for older ones, none is returned.
const MAX_AWAITED: usize = 1_000;

/// The session in which an agent reads a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReaderSession {
    /// The thread of the session.
    Known(ActivationKey),
    /// The id of the order that begins it.
    Ordered(Id),
}

/// A message that was not answered yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct AwaitedAnswer {
    /// Where it is read.
    pub(super) reader: ReaderSession,
    /// The id of the agent that sent it.
    pub(super) asker: Id,
    /// The session in which it was sent.
    pub(super) session: ActivationKey,
    /// How the reader's work ended last: the answer, once everything that it started has ended too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Box<LastEnd>>,
}

impl AwaitedAnswer {
    /// Creates one for a message that was just sent.
    pub(super) fn new(reader: ReaderSession, asker: Id, session: ActivationKey) -> Self {
        Self { reader, asker, session, last: None }
    }

    fn thread(&self) -> Option<ActivationKey> {
        match self.reader {
            ReaderSession::Known(thread) => Some(thread),
            ReaderSession::Ordered(_) => None,
        }
    }
}

/// The end of a piece of work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct LastEnd {
    agent: Id,
    activation: ActivationKey,
    ending: Ending,
    cause: Seq,
}

/// The number of consecutive messages between agents, by session, and who waits for an answer. Part of the saved
/// world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Hops {
    pub(super) sessions: BTreeMap<ActivationKey, u32>,
    /// The same number for ordered work whose session has not begun.
    pub(super) ordered: BTreeMap<Id, u32>,
    #[serde(skip_serializing_if = "AwaitedAnswers::is_empty")]
    pub(super) answers: AwaitedAnswers,
}

impl Hops {
    /// Moves the number of an order to the session that it began. `thread` is `None` if the order was refused.
    pub(super) fn begun(&mut self, order: &str, thread: Option<ActivationKey>) {
        if let Some(hops) = self.ordered.remove(order) {
            self.sessions.extend(thread.map(|thread| (thread, hops)));
        }
        self.answers.begun(order, thread);
    }
}

/// All messages that were not answered yet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct AwaitedAnswers(VecDeque<AwaitedAnswer>);

impl AwaitedAnswers {
    /// Whether nothing is awaited.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a message. Another one of the same sender in the same session has the same answer.
    pub(super) fn add(&mut self, awaited: AwaitedAnswer) {
        let is_same = |one: &AwaitedAnswer| {
            (&one.reader, &one.asker, one.session) == (&awaited.reader, &awaited.asker, awaited.session)
        };
        self.0.retain(|one| !is_same(one));
        self.0.push_back(awaited);
        let surplus = self.0.len().saturating_sub(MAX_AWAITED);
        self.0.drain(..surplus);
    }

    /// Removes the messages of an agent that this session answered with a message of its own; returns whether there
    /// were any.
    pub(super) fn has_answered(&mut self, session: ActivationKey, asker: &Id) -> bool {
        let before = self.0.len();
        self.0.retain(|one| one.thread() != Some(session) || one.asker != *asker);
        self.0.len() < before
    }

    /// Records the session that an order began; `None` if it was refused.
    pub(super) fn begun(&mut self, order: &str, thread: Option<ActivationKey>) {
        let is_its = |one: &AwaitedAnswer| matches!(&one.reader, ReaderSession::Ordered(id) if **id == *order);
        match thread {
            Some(thread) => {
                for one in self.0.iter_mut().filter(|one| is_its(one)) {
                    one.reader = ReaderSession::Known(thread);
                }
            }
            None => self.0.retain(|one| !is_its(one)),
        }
    }

    /// Records how work of a session ended.
    fn ended(
        &mut self,
        session: ActivationKey,
        agent: &Id,
        (activation, ending): (ActivationKey, &Ending),
        cause: Seq,
    ) {
        for one in self.0.iter_mut().filter(|one| one.thread() == Some(session)) {
            let (agent, ending) = (agent.clone(), ending.clone());
            one.last = Some(Box::new(LastEnd { agent, activation, ending, cause }));
        }
    }

    /// Removes and returns the messages whose answer is final.
    fn take_answered(&mut self, is_final: impl Fn(ActivationKey) -> bool) -> Vec<(AwaitedAnswer, LastEnd)> {
        let mut answered = Vec::new();
        self.0.retain(|one| match (&one.last, one.thread()) {
            (Some(last), Some(thread)) if is_final(thread) => {
                answered.push((one.clone(), (**last).clone()));
                false
            }
            _ => true,
        });
        answered
    }
}

/// Whether an answer to a message is about to be delivered.
pub fn is_returning_answers(world: &World) -> bool {
    let kernel = world.resource::<Kernel>();
    let is_final = |one: &AwaitedAnswer| one.thread().is_some_and(|thread| is_over(kernel, thread));
    world.resource::<Hops>().answers.0.iter().any(|one| one.last.is_some() && is_final(one))
}

/// Whether the work of a session and everything that it started has ended.
fn is_over(kernel: &Kernel, thread: ActivationKey) -> bool {
    kernel.thread(thread).is_none() || kernel.has_ended(thread)
}

/// Records how the work ended in which messages were read.
pub(super) fn collect_answers(mut hops: ResMut<Hops>, mut ended: MessageReader<WorkAnswer>) {
    if hops.answers.is_empty() {
        ended.clear();
        return;
    }
    for answer in ended.read() {
        let WorkAnswer::Ended { activation, thread, agent, ending, cause } = answer else { continue };
        hops.answers.ended(*thread, agent, (*activation, ending), *cause);
    }
}

/// Delivers answers to the sessions that asked, or in a new session of the agent if its session has ended.
pub(super) fn deliver_answers(
    mut hops: ResMut<Hops>,
    (kernel, settings): (Res<Kernel>, Res<KernelSettings>),
    roster: Res<Roster>,
    agents: Query<&Agent>,
    mut notices: MessageWriter<WorkNotice>,
    mut orders: MessageWriter<WorkOrder>,
) {
    if hops.answers.0.iter().all(|one| one.last.is_none()) {
        return;
    }
    for (awaited, last) in hops.answers.take_answered(|thread| is_over(&kernel, thread)) {
        let (AwaitedAnswer { asker, session, .. }, LastEnd { agent: reader, activation, ending, cause }) =
            (&awaited, last);
        let named = roster.agents(&agents).find(|agent| agent.id == reader);
        let name = named.map_or_else(|| reader.to_string(), |agent| agent.name.to_string());
        let Some(text) = answer_text(&name, &reader, &ending) else { continue };
        let is_there = kernel.thread(*session).is_some_and(|thread| thread.live.is_some() || !thread.is_stopped);
        let live = || kernel.next_work_of(asker).map(|one| one.thread);
        let newest = || kernel.may_be_woken(asker, None, &settings);
        // Answers count as messages, so that agents that only answer each other stop as well.
        let before = awaited.thread().and_then(|thread| hops.sessions.get(&thread)).copied().unwrap_or(0);
        let count = before + 1;
        match Some(*session).filter(|_| is_there).or_else(live).or_else(newest) {
            Some(thread) => {
                let known = hops.sessions.entry(thread).or_default();
                *known = count.max(*known);
                notices.write(WorkNotice { thread, text, from: reader, from_work: Some(activation), cause });
            }
            None => {
                let order: Id = format!("answer/{}/{asker}", activation.id()).into();
                hops.ordered.insert(order.clone(), count);
                let terms = WorkTerms { from: Some(reader.clone()), ..WorkTerms::default() };
                let wanted = WorkWanted { order, agent: asker.clone(), task: text, by: reader, terms, cause };
                orders.write(WorkOrder::Begin(Box::new(wanted)));
            }
        }
    }
}

/// The message to the agent that asked; `None` if there is nothing to return: an empty answer, or a person stopped the
/// work.
fn answer_text(name: &str, id: &Id, ending: &Ending) -> Option<String> {
    match ending {
        Ending::Completed { text } if text.trim().is_empty() => None,
        Ending::Completed { text } => Some(format!("{ANSWER}{} ({id}):\n{text}", quoted_name(name))),
        Ending::Failed { why } | Ending::Aborted { why, by_person: false } => {
            Some(format!("{ANSWER}{} ({id}):\nThe work on your message failed: {why}", quoted_name(name)))
        }
        Ending::Aborted { by_person: true, .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awaited(reader: ReaderSession, asker: &str) -> AwaitedAnswer {
        AwaitedAnswer::new(reader, asker.into(), ActivationKey::numbered(1))
    }

    #[test]
    fn an_answer_goes_to_everyone_who_asked_in_that_session_once_it_is_final() {
        let (session, other) = (ActivationKey::numbered(7), ActivationKey::numbered(8));
        let mut answers = AwaitedAnswers::default();
        answers.add(awaited(ReaderSession::Known(session), "ada"));
        answers.add(awaited(ReaderSession::Known(session), "ada"));
        answers.add(awaited(ReaderSession::Ordered("message/1".into()), "bob"));
        answers.add(awaited(ReaderSession::Known(other), "cy"));
        answers.begun("message/1", Some(session));
        for (number, text) in [(9, "I wait for Rolf."), (10, "Redis listens on 6379.")] {
            let ending = Ending::Completed { text: text.into() };
            answers.ended(session, &"wanda".into(), (ActivationKey::numbered(number), &ending), Seq(3));
            assert_eq!(answers.take_answered(|_| false), [], "something that it started is at work");
        }
        let answered = answers.take_answered(|_| true);
        let to: Vec<(&str, &str)> = answered.iter().map(|(one, last)| (&*one.asker, last.ending.text())).collect();
        assert_eq!(to, [("ada", "Redis listens on 6379."), ("bob", "Redis listens on 6379.")]);
        assert_eq!((answers.take_answered(|_| true), answers.0.len()), (vec![], 1));
    }

    #[test]
    fn a_message_of_its_own_is_the_answer_and_refused_orders_have_none() {
        let session = ActivationKey::numbered(7);
        let mut answers = AwaitedAnswers::default();
        answers.add(awaited(ReaderSession::Known(session), "ada"));
        answers.add(awaited(ReaderSession::Ordered("message/1".into()), "bob"));
        assert!(!answers.has_answered(session, &"bob".into()) && answers.has_answered(session, &"ada".into()));
        answers.begun("message/1", None);
        assert!(answers.is_empty());
    }

    #[test]
    fn many_messages_do_not_fill_the_room() {
        let mut answers = AwaitedAnswers::default();
        for number in 0..3_000 {
            answers.add(awaited(ReaderSession::Known(ActivationKey::numbered(number)), "ada"));
        }
        assert_eq!(answers.0.len(), MAX_AWAITED);
    }

    #[test]
    fn empty_answers_and_work_that_a_person_stopped_return_nothing() {
        let text = |ending| answer_text("Rolf", &"retriever-001".into(), &ending);
        assert_eq!(text(Ending::Completed { text: " \n".into() }), None);
        assert_eq!(text(Ending::Aborted { why: "stopped".into(), by_person: true }), None);
        let failed = text(Ending::Failed { why: "no model".into() });
        assert_eq!(
            failed.as_deref(),
            Some("Answer from Rolf (retriever-001):\nThe work on your message failed: no model")
        );
    }
}
