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
use crate::tools::{KNOWLEDGE, KnowledgeOrder, OrderKey, OrderOutcome, PendingToolOrders, ToolOrder, Work};

/// How long the clock waits for an answer. Answers that take longer are applied in a later tick.
const PATIENCE: Duration = Duration::from_millis(500);

/// Identifies a request, so that it is sent once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum RequestKey {
    Part(GatherKey),
    Tool(OrderKey),
    /// A lesson by number; `true` for applying its decisions, `false` for the comparison before them.
    Lesson(u64, bool),
}

/// The bridge to the knowledge service. It is not part of the saved world; answers enter the world as inputs. Without a
/// service, requests wait.
#[derive(Resource, Default)]
pub struct KnowledgeBridge {
    service: Option<KnowledgeService>,
    /// Requests that were sent and whose answer is still wanted in the world.
    sent: BTreeSet<RequestKey>,
    /// The requests in `sent` that the service has not answered yet.
    unanswered: BTreeSet<RequestKey>,
    /// When the clock began to wait.
    waits_since: Option<Instant>,
    arrived: Vec<Answer>,
    /// Owners of files to be read again.
    changed: BTreeSet<Owner>,
    /// The embedding model to use; `is_embedder_sent` is whether the service has received the choice.
    embedder: EmbedderChoice,
    is_embedder_sent: bool,
    /// Usage of embedding models that were replaced by another one.
    used: Vec<EmbeddingUsed>,
}

impl KnowledgeBridge {
    /// Creates a bridge to this service.
    pub fn new(service: KnowledgeService) -> Self {
        Self { service: Some(service), ..Self::default() }
    }

    /// Returns a handle for searching memories from outside the world, if there is a service.
    pub fn search(&self) -> Option<MemorySearch> {
        self.service.as_ref().map(KnowledgeService::search)
    }

    /// Switches to another embedding model. Does nothing if it is already in use.
    pub(super) fn choose_embedder(&mut self, choice: EmbedderChoice) {
        if self.embedder.wanted() == choice.wanted() {
            return;
        }
        self.used.extend(self.take_used());
        (self.embedder, self.is_embedder_sent) = (choice, false);
    }

    /// Returns the usage of the embedding model since the last call.
    fn take_used(&self) -> Option<EmbeddingUsed> {
        EmbeddingUsed::take(self.embedder.access()?, self.embedder.meter())
    }

    /// Marks a memory file as possibly changed.
    pub(super) fn note_changed(&mut self, owner: Owner) {
        if self.service.is_some() {
            self.changed.insert(owner);
        }
    }

    /// Receives all available answers without blocking.
    fn receive_all(&mut self) {
        while let Some(answer) = self.service.as_ref().and_then(KnowledgeService::try_next) {
            self.receive(answer);
        }
    }

    fn receive(&mut self, answer: Answer) {
        let key = match &answer {
            Answer::Part(key, _) => Some(RequestKey::Part(key.clone())),
            Answer::Tool(key, _) => Some(RequestKey::Tool(*key)),
            Answer::Lesson(LessonAnswered { number, answer }) => {
                let is_compared = matches!(answer, LessonAnswer::Compared { .. });
                let of = |is_last| RequestKey::Lesson(*number, is_last);
                // A failure belongs to whichever step was sent.
                let is_last = !is_compared && !self.unanswered.contains(&of(false));
                Some(of(is_last))
            }
            Answer::Counted(_) | Answer::Embedder(_) => None,
        };
        if let Some(key) = key {
            self.unanswered.remove(&key);
        }
        self.waits_since = None;
        self.arrived.push(answer);
    }

    /// Whether an answer is outstanding that the clock still waits for.
    fn is_waiting(&mut self) -> bool {
        if self.unanswered.is_empty() {
            self.waits_since = None;
            return false;
        }
        self.waits_since.get_or_insert_with(Instant::now).elapsed() < PATIENCE
    }
}

/// The world data that requests are built from.
struct RequestParts<'a> {
    pending: &'a PendingRequests,
    orders: &'a PendingToolOrders,
    lessons: &'a Lessons,
    roster: &'a Roster,
    settings: &'a KnowledgeSettings,
    /// The maximum length of recalled memories in a prompt, in characters.
    chars_at_most: usize,
    log: &'a EventLog,
    now: i64,
    queue: &'a RequestQueue,
    budget: &'a BudgetSettings,
}

/// Returns all requests that are due, in order.
fn requests<'a>(room: &'a RequestParts<'a>) -> impl Iterator<Item = (RequestKey, ServiceRequest)> + 'a {
    let parts = room.pending.orders_of(REMEMBERED).filter_map(|order| {
        let agent = room.roster.id(order.agent)?.clone();
        let about = order.query["about"].as_str()?.to_owned();
        let (key, now, settings, chars_at_most) = (order.key, room.now, room.settings.clone(), room.chars_at_most);
        Some((
            RequestKey::Part(key.clone()),
            ServiceRequest::Recall { key, agent, about, now, settings, chars_at_most },
        ))
    });
    let calls = room.orders.of(KNOWLEDGE).filter_map(|order| {
        let request = tool_request(order, room)?;
        Some((RequestKey::Tool(order.key), request))
    });
    parts.chain(calls).chain(room.lessons.first().and_then(lesson_request))
}

/// Returns the request for the current stage of a lesson, if it has one.
fn lesson_request(lesson: &Lesson) -> Option<(RequestKey, ServiceRequest)> {
    match &lesson.stage {
        Stage::Comparing { candidates } => {
            let (agent, candidates) = (lesson.id.clone(), candidates.clone());
            let request = ServiceRequest::Compare { lesson: lesson.number, agent, candidates };
            Some((RequestKey::Lesson(lesson.number, false), request))
        }
        Stage::TakingIn { decisions, .. } => {
            let run = lesson.source.run.as_deref().unwrap_or_default();
            let caller = Caller {
                agent: lesson.id.clone(),
                call: format!("{run}/lesson-{}", lesson.number).into(),
                source: lesson.source.clone(),
                now: lesson.at_secs,
            };
            let request =
                ServiceRequest::ApplyDecisions { lesson: lesson.number, caller, decisions: decisions.clone() };
            Some((RequestKey::Lesson(lesson.number, true), request))
        }
        Stage::Extracting | Stage::Weighing { .. } => None,
    }
}

fn tool_request(order: &ToolOrder, room: &RequestParts<'_>) -> Option<ServiceRequest> {
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

/// Sends new requests while the queue has room, and drops those that are no longer wanted. Without a service, every
/// request is answered with an error.
fn send(bridge: &mut KnowledgeBridge, room: &RequestParts<'_>) {
    let Some(service) = bridge.service.as_ref().filter(|service| !service.is_dead()) else {
        fail_all(bridge, room);
        return;
    };
    if let Some(access) = bridge.embedder.access() {
        bridge.embedder.meter().refuse(refusal_by_caps(access, room.queue, room.budget));
    }
    // Before any request that uses the model.
    if !bridge.is_embedder_sent {
        let choice = Box::new(bridge.embedder.clone());
        bridge.is_embedder_sent = service.ask(ServiceRequest::UseEmbedder(choice)).is_ok();
        if !bridge.is_embedder_sent {
            return;
        }
    }
    let changed = std::mem::take(&mut bridge.changed);
    let mut left = changed.into_iter().map(|owner| (owner.clone(), service.ask(ServiceRequest::Changed(owner))));
    bridge.changed = left.by_ref().filter_map(|(owner, sent)| sent.is_err().then_some(owner)).collect();
    let mut wanted = BTreeSet::new();
    let mut has_room = true;
    for (key, request) in requests(room) {
        if !bridge.sent.contains(&key) {
            has_room = has_room && service.ask(request).is_ok();
            if !has_room {
                continue;
            }
            bridge.unanswered.insert(key.clone());
        }
        wanted.insert(key);
    }
    // Requests that are no longer wanted are not outstanding either.
    bridge.unanswered.retain(|key| wanted.contains(key));
    bridge.sent = wanted;
}

/// Answers every request with an error, once, because there is no service.
fn fail_all(bridge: &mut KnowledgeBridge, room: &RequestParts<'_>) {
    let why = || "memories cannot be read in this run; reopen the workspace to see why".to_owned();
    bridge.changed.clear();
    let mut wanted = BTreeSet::new();
    for (key, request) in requests(room) {
        let is_answered = bridge.sent.contains(&key) && !bridge.unanswered.contains(&key);
        if !is_answered {
            bridge.arrived.extend(request.refused(why()));
        }
        wanted.insert(key);
    }
    bridge.unanswered.clear();
    bridge.sent = wanted;
}

/// Whether a request has not been sent yet.
fn has_unsent(bridge: &KnowledgeBridge, room: &RequestParts<'_>) -> bool {
    requests(room).any(|(key, _)| !bridge.sent.contains(&key))
}

/// Whether the next tick has to wait: an answer is expected soon and is applied in the tick after its request. Requests
/// are sent once their tick is in the log. Never true during replay.
pub fn must_wait(world: &mut World) -> bool {
    if world.resource::<InputJournal>().is_replaying() {
        return false;
    }
    let is_recorded = world.get_resource::<Store>().is_none_or(Store::has_written_all);
    world.resource_scope(|world, mut bridge: Mut<KnowledgeBridge>| {
        bridge.receive_all();
        let room = request_parts(world);
        if is_recorded {
            send(&mut bridge, &room);
        }
        bridge.is_waiting() || (!is_recorded && has_unsent(&bridge, &room))
    })
}

/// Whether the bridge has answers or file changes for the next tick.
pub fn has_news(world: &World) -> bool {
    let has = |bridge: &KnowledgeBridge| {
        !bridge.arrived.is_empty() || !bridge.changed.is_empty() || bridge.embedder.meter().is_due()
    };
    world.get_resource::<KnowledgeBridge>().is_some_and(has)
}

/// Waits until the service answers, at most `timeout`.
pub fn wait_for_answer(world: &mut World, timeout: Duration) {
    let mut bridge = world.resource_mut::<KnowledgeBridge>();
    if bridge.unanswered.is_empty() {
        // Requests are sent once the log is written, which takes a moment.
        std::thread::sleep(timeout.min(Duration::from_millis(1)));
        return;
    }
    let next = bridge.service.as_ref().and_then(|service| service.next(timeout));
    if let Some(answer) = next {
        bridge.receive(answer);
    }
}

fn request_parts(world: &World) -> RequestParts<'_> {
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

/// Moves the answers of the service into the input queues.
pub(super) fn collect(
    mut bridge: ResMut<KnowledgeBridge>,
    journal: Res<InputJournal>,
    mut parts: ResMut<InputQueue<PartGathered>>,
    mut calls: ResMut<InputQueue<OrderOutcome>>,
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
            Answer::Tool(key, news) => calls.push(OrderOutcome { key, news }),
            Answer::Lesson(answered) => lessons.push(answered),
            Answer::Counted(counts) => counted.push(MemoriesCounted(counts)),
            Answer::Embedder(in_use) => embedders.push(in_use),
        }
    }
    let before = std::mem::take(&mut bridge.used);
    let now = bridge.take_used();
    before.into_iter().chain(now).for_each(|one| used.push(one));
}
