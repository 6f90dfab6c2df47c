//! The bridge between the world and the knowledge service: requests of prompts, tools and lessons are sent once their
//! tick is in the log; answers enter as inputs.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::embedder::EmbedderChoice;
use super::knowledge_calls::Caller;
use super::lessons::{Lesson, LessonAnswer, LessonAnswered, Lessons, Stage};
use super::search::MemorySearch;
use super::service::{Answer, EmbedderInUse, KnowledgeService, ServiceRequest};
use super::settings::KnowledgeSettings;
use crate::agent::Roster;
use crate::gateway::embedding::{EmbeddingUsed, refusal_by_caps};
use crate::gateway::{BudgetSettings, RequestQueue};
use crate::knowledge::{Owner, Source};
use crate::log::EventLog;
use crate::memory::MemoriesCounted;
use crate::mind::parts::REMEMBERED;
use crate::mind::{GatherKey, MindSettings, PartGathered, PendingRequests};
use crate::schedule::{InputJournal, InputQueue, RoomDate, SimClock};
use crate::store::Store;
use crate::tools::{KNOWLEDGE, KnowledgeOrder, OrderKey, PendingToolOrders, ToolOrder, ToolOutcome, Work};

/// How long the clock waits for an answer; anything that takes longer is admitted later.
const PATIENCE: Duration = Duration::from_millis(500);

/// Names a question, so that it is asked once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum QuestionKey {
    Part(GatherKey),
    Tool(OrderKey),
    /// Of a lesson; whether what was decided is to be done.
    Lesson(u64, bool),
}

/// The bridge to the knowledge service. None of it is saved; answers enter the world as inputs. Without a service,
/// requests wait.
#[derive(Resource, Default)]
pub struct KnowledgeBridge {
    service: Option<KnowledgeService>,
    /// Requests that were sent and still have a receiver in the world, which takes the answer with its next tick.
    asked: BTreeSet<QuestionKey>,
    /// The requests of those that the service has not answered yet.
    owed: BTreeSet<QuestionKey>,
    /// Since when the clock waits.
    waits_since: Option<Instant>,
    arrived: Vec<Answer>,
    /// Files that are to be looked at.
    changed: BTreeSet<Owner>,
    /// The model that is to say what texts mean, and whether the service knows.
    embedder: EmbedderChoice,
    is_embedder_told: bool,
    /// What models used before another one was chosen.
    used: Vec<EmbeddingUsed>,
}

impl KnowledgeBridge {
    /// A bridge to this service.
    pub fn new(service: KnowledgeService) -> Self {
        Self { service: Some(service), ..Self::default() }
    }

    /// The way to search what is known from outside the world; none where nobody has it.
    pub fn search(&self) -> Option<MemorySearch> {
        self.service.as_ref().map(KnowledgeService::search)
    }

    /// Another model is to say what texts mean, where it is another.
    pub(super) fn choose_embedder(&mut self, choice: EmbedderChoice) {
        if self.embedder.wanted() == choice.wanted() {
            return;
        }
        self.used.extend(self.take_used());
        (self.embedder, self.is_embedder_told) = (choice, false);
    }

    /// What the model used since this was last asked.
    fn take_used(&self) -> Option<EmbeddingUsed> {
        EmbeddingUsed::take(self.embedder.access()?, self.embedder.meter())
    }

    /// Somebody changed a file, or may have.
    pub(super) fn note_changed(&mut self, owner: Owner) {
        if self.service.is_some() {
            self.changed.insert(owner);
        }
    }

    /// Takes in what the service says, without waiting.
    fn receive_all(&mut self) {
        while let Some(answer) = self.service.as_ref().and_then(KnowledgeService::try_next) {
            self.receive(answer);
        }
    }

    fn receive(&mut self, answer: Answer) {
        let key = match &answer {
            Answer::Part(key, _) => Some(QuestionKey::Part(key.clone())),
            Answer::Tool(key, _) => Some(QuestionKey::Tool(*key)),
            Answer::Lesson(LessonAnswered { number, answer }) => {
                let is_compared = matches!(answer, LessonAnswer::Compared { .. });
                let of = |is_last| QuestionKey::Lesson(*number, is_last);
                // One that failed is of whichever step was asked.
                let is_last = !is_compared && !self.owed.contains(&of(false));
                Some(of(is_last))
            }
            Answer::Counted(_) | Answer::Embedder(_) => None,
        };
        if let Some(key) = key {
            self.owed.remove(&key);
        }
        self.waits_since = None;
        self.arrived.push(answer);
    }

    /// Whether an answer is outstanding for which the clock still waits.
    fn owes(&mut self) -> bool {
        if self.owed.is_empty() {
            self.waits_since = None;
            return false;
        }
        self.waits_since.get_or_insert_with(Instant::now).elapsed() < PATIENCE
    }
}

/// Everything that a question is made of.
struct RequestParts<'a> {
    pending: &'a PendingRequests,
    orders: &'a PendingToolOrders,
    lessons: &'a Lessons,
    roster: &'a Roster,
    settings: &'a KnowledgeSettings,
    /// Characters that what is gathered for a prompt may have.
    chars_at_most: usize,
    log: &'a EventLog,
    now: i64,
    queue: &'a RequestQueue,
    budget: &'a BudgetSettings,
}

/// What is to be asked, in order.
fn questions<'a>(room: &'a RequestParts<'a>) -> impl Iterator<Item = (QuestionKey, ServiceRequest)> + 'a {
    let parts = room.pending.orders_of(REMEMBERED).filter_map(|order| {
        let agent = room.roster.id(order.agent)?.clone();
        let about = order.query["about"].as_str()?.to_owned();
        let (key, now, settings, chars_at_most) = (order.key, room.now, room.settings.clone(), room.chars_at_most);
        Some((
            QuestionKey::Part(key.clone()),
            ServiceRequest::Recall { key, agent, about, now, settings, chars_at_most },
        ))
    });
    let calls = room.orders.of(KNOWLEDGE).filter_map(|order| {
        let question = call(order, room)?;
        Some((QuestionKey::Tool(order.key), question))
    });
    parts.chain(calls).chain(room.lessons.first().and_then(of_lesson))
}

/// What a lesson needs to know, or wants to have done.
fn of_lesson(lesson: &Lesson) -> Option<(QuestionKey, ServiceRequest)> {
    match &lesson.stage {
        Stage::Comparing { candidates } => {
            let (agent, candidates) = (lesson.id.clone(), candidates.clone());
            let question = ServiceRequest::Compare { lesson: lesson.number, agent, candidates };
            Some((QuestionKey::Lesson(lesson.number, false), question))
        }
        Stage::TakingIn { decisions, .. } => {
            let run = lesson.source.run.as_deref().unwrap_or_default();
            let caller = Caller {
                agent: lesson.id.clone(),
                call: format!("{run}/lesson-{}", lesson.number).into(),
                source: lesson.source.clone(),
                now: lesson.at_secs,
            };
            let question = ServiceRequest::TakeIn { lesson: lesson.number, caller, decisions: decisions.clone() };
            Some((QuestionKey::Lesson(lesson.number, true), question))
        }
        Stage::Extracting | Stage::Weighing { .. } => None,
    }
}

fn call(order: &ToolOrder, room: &RequestParts<'_>) -> Option<ServiceRequest> {
    let Work::Order { order: wanted } = &order.plan.work else { return None };
    let wanted: KnowledgeOrder = serde_json::from_value(wanted.clone()).ok()?;
    let source = Source {
        run: Some(room.log.run().clone()),
        session: Some(order.key.activation.id()),
        record: Some(order.cause.0),
    };
    let caller = Caller { agent: order.agent.clone(), call: order.key.id(), source, now: room.now };
    Some(ServiceRequest::Tool { key: order.key, caller, order: wanted })
}

/// Sends new requests, as far as there is room, and drops those that nobody waits for any more. Without a service,
/// everything is answered with that.
fn send(bridge: &mut KnowledgeBridge, room: &RequestParts<'_>) {
    let Some(service) = bridge.service.as_ref().filter(|service| !service.is_dead()) else {
        give_up(bridge, room);
        return;
    };
    if let Some(access) = bridge.embedder.access() {
        bridge.embedder.meter().refuse(refusal_by_caps(access, room.queue, room.budget));
    }
    // Before anything is asked that it has a part in.
    if !bridge.is_embedder_told {
        let choice = Box::new(bridge.embedder.clone());
        bridge.is_embedder_told = service.ask(ServiceRequest::UseEmbedder(choice)).is_ok();
        if !bridge.is_embedder_told {
            return;
        }
    }
    let changed = std::mem::take(&mut bridge.changed);
    let mut left = changed.into_iter().map(|owner| (owner.clone(), service.ask(ServiceRequest::Changed(owner))));
    bridge.changed = left.by_ref().filter_map(|(owner, asked)| asked.is_err().then_some(owner)).collect();
    let mut still_there = BTreeSet::new();
    let mut has_room = true;
    for (key, question) in questions(room) {
        if !bridge.asked.contains(&key) {
            has_room = has_room && service.ask(question).is_ok();
            if !has_room {
                continue;
            }
            bridge.owed.insert(key.clone());
        }
        still_there.insert(key);
    }
    // Requests that nobody waits for any more are not outstanding either.
    bridge.owed.retain(|key| still_there.contains(key));
    bridge.asked = still_there;
}

/// Answers what nobody will answer any more, once.
fn give_up(bridge: &mut KnowledgeBridge, room: &RequestParts<'_>) {
    let why = || "memories cannot be read in this run; reopen the workspace to see why".to_owned();
    bridge.changed.clear();
    let mut still_there = BTreeSet::new();
    for (key, question) in questions(room) {
        let is_answered = bridge.asked.contains(&key) && !bridge.owed.contains(&key);
        if !is_answered {
            bridge.arrived.extend(question.refused(why()));
        }
        still_there.insert(key);
    }
    bridge.owed.clear();
    bridge.asked = still_there;
}

/// Whether something has still to be sent, or arrives with the next tick.
fn has_unasked(bridge: &KnowledgeBridge, room: &RequestParts<'_>) -> bool {
    questions(room).any(|(key, _)| !bridge.asked.contains(&key))
}

/// Whether the next tick must not run yet: what was asked is about to be answered, and comes in with the tick after the
/// one that asked. Nothing is owed on replay. What is asked is sent once the tick that asked is in the log.
pub fn must_wait(world: &mut World) -> bool {
    if world.resource::<InputJournal>().is_replaying() {
        return false;
    }
    let is_recorded = world.get_resource::<Store>().is_none_or(Store::has_written_all);
    world.resource_scope(|world, mut bridge: Mut<KnowledgeBridge>| {
        bridge.receive_all();
        let room = asking(world);
        if is_recorded {
            send(&mut bridge, &room);
        }
        bridge.owes() || (!is_recorded && has_unasked(&bridge, &room))
    })
}

/// Whether something has come that is not at the door yet.
pub fn has_news(world: &World) -> bool {
    let has = |bridge: &KnowledgeBridge| {
        !bridge.arrived.is_empty() || !bridge.changed.is_empty() || bridge.embedder.meter().is_due()
    };
    world.get_resource::<KnowledgeBridge>().is_some_and(has)
}

/// Waits until the service says something, at most so long.
pub fn wait_for_answer(world: &mut World, timeout: Duration) {
    let mut bridge = world.resource_mut::<KnowledgeBridge>();
    if bridge.owed.is_empty() {
        // Requests wait for the log, which takes a moment.
        std::thread::sleep(timeout.min(Duration::from_millis(1)));
        return;
    }
    let next = bridge.service.as_ref().and_then(|service| service.next(timeout));
    if let Some(answer) = next {
        bridge.receive(answer);
    }
}

fn asking(world: &World) -> RequestParts<'_> {
    let clock = world.resource::<SimClock>();
    RequestParts {
        pending: world.resource(),
        orders: world.resource(),
        lessons: world.resource(),
        roster: world.resource(),
        settings: world.resource(),
        chars_at_most: world.resource::<MindSettings>().max_prompt_chars,
        log: world.resource(),
        now: world.resource::<RoomDate>().secs(clock).unwrap_or(0),
        queue: world.resource(),
        budget: world.resource(),
    }
}

/// Moves what the service reports into the inbox.
pub(super) fn collect(
    mut bridge: ResMut<KnowledgeBridge>,
    journal: Res<InputJournal>,
    mut parts: ResMut<InputQueue<PartGathered>>,
    mut calls: ResMut<InputQueue<ToolOutcome>>,
    mut lessons: ResMut<InputQueue<LessonAnswered>>,
    mut counted: ResMut<InputQueue<MemoriesCounted>>,
    (mut embedders, mut used): (ResMut<InputQueue<EmbedderInUse>>, ResMut<InputQueue<EmbeddingUsed>>),
) {
    if journal.is_replaying() {
        return;
    }
    bridge.receive_all();
    for answer in std::mem::take(&mut bridge.arrived) {
        match answer {
            Answer::Part(key, outcome) => parts.push(PartGathered { key, outcome }),
            Answer::Tool(key, news) => calls.push(ToolOutcome { key, news }),
            Answer::Lesson(answered) => lessons.push(answered),
            Answer::Counted(counts) => counted.push(MemoriesCounted(counts)),
            Answer::Embedder(in_use) => embedders.push(in_use),
        }
    }
    let before = std::mem::take(&mut bridge.used);
    let now = bridge.take_used();
    before.into_iter().chain(now).for_each(|one| used.push(one));
}
