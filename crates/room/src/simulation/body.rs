//! What the room knows of each agent, and the one way to change its state.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::activity::ActivityId;
use super::interest::{PendingInterest, Place};
use super::origin::{LastChanges, Origin};
use super::queue::{Action, ActionQueue, Queued, QueuedAction};
use super::rest::Rest;
use super::settings::{AttentionSettings, ConversationSettings, MovementSettings};
use super::space::{Entry, Grid};
use super::state::{Fsm, State, StateEvent};
use super::steering::{Course, WalkKind, spot_beside};
use crate::agent::{Agent, Roster};
use crate::base::{ActivationKey, AgentKey, Behaviour, ConversationKey, ElementKey, Id, Seq};
use crate::element::kind::kind;
use crate::element::{Element, Elements, owns};
use crate::log::{EventData, EventDraft, EventLog, events};
use crate::schedule::{AgentRandom, RoomSeed, SimClock, ticks};

/// Where an agent is.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub Vec2);

/// Where it goes back to.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Home(pub Vec2);

/// Where it is walking, beside the number under which others find it.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct Walk {
    /// The agent's key.
    pub key: AgentKey,
    /// Where to.
    pub course: Course,
}

/// The one state of an agent.
#[derive(Component, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentState(pub Fsm);

/// What it has set itself to do next.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Queue(pub ActionQueue);

/// What an agent is busy with.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
pub enum Doing {
    /// Nothing that was called for.
    #[default]
    Nothing,
    /// It goes to an element and reads it.
    Reading {
        /// The action it came from.
        action: Action,
        /// Which element.
        element: ElementKey,
        /// Where it goes to stand.
        spot: Vec2,
        /// How near to that is near enough.
        arrive: f32,
        /// The version that it reads, once it stands there.
        version: u32,
        /// The record that it came from.
        cause: Seq,
        /// How often that failed before.
        #[serde(default)]
        failures: u32,
    },
    /// It goes to where a reason calls it, and thinks about that.
    Attending {
        /// What it turns to.
        pending: Box<PendingInterest>,
        /// The record that it came from.
        cause: Seq,
        /// How often that failed before.
        failures: u32,
    },
    /// It sums up its session.
    Compacting {
        /// The record that it came from.
        cause: Seq,
    },
    /// It is at work.
    Working {
        /// At which piece.
        activation: ActivationKey,
        /// The record that queued it.
        cause: Seq,
    },
    /// It goes to tell an agent something.
    Telling {
        /// Whom.
        to: AgentKey,
        /// The record of the note.
        cause: Seq,
    },
    /// It comes to where a conversation is to begin, or waits there.
    Gathering {
        /// Which proposal.
        proposal: u32,
        /// Whom it goes to; itself where it waits.
        to: AgentKey,
    },
    /// It takes part in a conversation.
    Talking {
        /// In which.
        conversation: ConversationKey,
    },
}

impl Doing {
    /// The action that this came from, to be done again, where it came from one that can be.
    pub(super) fn queued_again(self) -> Option<QueuedAction> {
        let (action, cause, failures) = match self {
            Self::Reading { action, cause, failures, .. } => (action, cause, failures),
            Self::Attending { pending, cause, failures } => (Action::Attend(pending), cause, failures),
            _ => return None,
        };
        Some(QueuedAction { failures, ..QueuedAction::new(action, cause) })
    }
}

/// Something that an agent has to tell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct News {
    /// Whom.
    pub to: AgentKey,
    /// About which element.
    pub element: ElementKey,
    /// Which version of it.
    pub version: u32,
    /// What.
    pub note: String,
    /// The record of the note.
    pub cause: Seq,
    /// Where it comes from.
    #[serde(default)]
    pub origin: Origin,
}

/// Work that waits until the agent is at leisure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingWork {
    /// Which piece.
    pub activation: ActivationKey,
    /// The record that queued it.
    pub cause: Seq,
}

/// Which version of an element an agent has read, and when it last looked.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReadVersion {
    /// The version.
    pub version: u32,
    /// In ticks.
    pub tick: u64,
}

/// The kinds of timers an agent has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Timer {
    /// The state ends by itself.
    State,
    /// A stroll wants a new target.
    Stroll,
    /// An idle agent looks around.
    Heartbeat,
    /// It seeks information.
    Seek,
    /// An action of its queue is due that had to wait.
    Due,
    /// It gives up going to tell something.
    GiveUp,
}

const TIMERS: [Timer; 6] = [Timer::State, Timer::Stroll, Timer::Heartbeat, Timer::Seek, Timer::Due, Timer::GiveUp];

/// Everything else that the room knows of an agent.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Life {
    /// What it is busy with.
    pub doing: Doing,
    /// What it does when nothing calls.
    pub behaviour: Behaviour,
    /// Counts what it has set out to think about.
    pub activity: ActivityId,
    /// The activity whose end it waits for.
    pub awaited: Option<ActivityId>,
    /// What it has read.
    pub read: BTreeMap<ElementKey, ReadVersion>,
    /// What it was told of, by version.
    pub told: BTreeMap<ElementKey, u32>,
    /// What could not be thought about however often that was tried, by version: of itself it does not go there again
    /// before a thought succeeds, so that a model that never answers is asked for a while and not for ever.
    #[serde(default)]
    pub given_up: BTreeMap<ElementKey, u32>,
    /// What it has to tell.
    pub news: Option<News>,
    /// Work that waits.
    pub work: VecDeque<PendingWork>,
    /// Where that comes from which it thinks about, or thought about last: what it does comes of it.
    #[serde(default)]
    pub origin: Origin,
    /// The newest that it has heard from outside.
    #[serde(default)]
    pub heard: Origin,
    /// The record of the state that it was seen in last: what ends by itself comes from that.
    #[serde(default)]
    pub state_record: Option<Seq>,
    /// When each timer is due; 0 where it is not set.
    pub(super) alarms: [u64; TIMERS.len()],
}

impl Life {
    /// The version of an element that it has read.
    pub fn version_read(&self, element: ElementKey) -> Option<u32> {
        self.read.get(&element).map(|read| read.version)
    }

    /// Whether it has read this version of an element, or was told of it.
    pub fn knows(&self, element: ElementKey, version: u32) -> bool {
        self.version_read(element).max(self.told.get(&element).copied()).is_some_and(|known| known >= version)
    }

    /// Whether it reads an element, or goes to.
    pub(super) fn reads(&self, element: ElementKey) -> bool {
        matches!(self.doing, Doing::Reading { element: wanted, .. } if wanted == element)
    }

    pub(super) fn next_activity(&mut self) -> ActivityId {
        self.activity.0 += 1;
        self.activity
    }
}

/// All of an agent at once.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct Body {
    pub agent: &'static Agent,
    pub position: &'static mut Position,
    pub home: &'static mut Home,
    pub walk: &'static mut Walk,
    pub state: &'static mut AgentState,
    pub queue: &'static mut Queue,
    pub life: &'static mut Life,
    pub random: &'static mut AgentRandom,
}

impl BodyItem<'_, '_> {
    /// Whether it is on the way to a talk, and something must be read before.
    pub fn wants_to_turn_back(&self, now: u64) -> bool {
        self.is_on_the_way() && self.must_read(now)
    }

    /// Whether it reads or turns to something, or goes to, and something else goes before.
    pub fn reads_with_less_need(&self, now: u64) -> bool {
        let gives_way = match &self.life.doing {
            Doing::Reading { action, .. } => !action.is_urgent(),
            Doing::Attending { pending, .. } => !pending.interest.urgency.is_high(),
            _ => false,
        };
        gives_way && !self.state.0.is_held() && self.must_read(now)
    }

    fn must_read(&self, now: u64) -> bool {
        self.queue.0.iter().any(|next| next.not_before <= now && next.action.is_urgent())
    }

    /// Whether it is on the way to a talk, or waits for one to begin, and nobody holds it.
    pub fn is_on_the_way(&self) -> bool {
        !self.state.0.is_held() && matches!(self.life.doing, Doing::Telling { .. } | Doing::Gathering { .. })
    }
}

/// The one calendar of attention, and who is to be looked after in this tick.
#[derive(Resource, Default, Debug)]
pub(super) struct Attention {
    calendar: BTreeMap<u64, Vec<(AgentKey, Timer)>>,
    /// Agents whose queue may be drained now.
    pub awake: Vec<AgentKey>,
    /// Whether anyone may be walking.
    pub astir: bool,
    /// Who may stand too near to someone: of two who do, one at least is among them.
    pub stopped: Vec<AgentKey>,
}

impl Attention {
    fn set(&mut self, agent: AgentKey, life: &mut Life, timer: Timer, at: u64) {
        life.alarms[timer as usize] = at;
        self.calendar.entry(at).or_default().push((agent, timer));
    }

    /// Takes what is due, in order of agent and timer. Whether it is still meant, [`Life::alarms`] says.
    pub fn due(&mut self, now: u64) -> Vec<(AgentKey, Timer)> {
        let mut due = Vec::new();
        while let Some(entry) = self.calendar.first_entry().filter(|entry| *entry.key() <= now) {
            due.append(&mut entry.remove());
        }
        due.sort_unstable();
        due.dedup();
        due
    }

    /// Forgets every date and takes them up again from the agents themselves.
    pub fn restore<'a>(&mut self, lives: impl Iterator<Item = (AgentKey, &'a Life)>) {
        self.calendar.clear();
        for (agent, life) in lives {
            self.stopped.push(agent);
            for timer in TIMERS.into_iter().filter(|timer| life.alarms[*timer as usize] != 0) {
                self.calendar.entry(life.alarms[timer as usize]).or_default().push((agent, timer));
            }
        }
        self.astir = true;
    }
}

/// What can be seen of an element from afar.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub key: ElementKey,
    pub id: Id,
    pub position: Vec2,
    pub label: Id,
    pub version: u32,
    private: bool,
    owner: Option<Id>,
}

impl Sight {
    pub fn of(element: &Element) -> Self {
        // A kind that nobody knows is private where it has an owner: rather unread than read by the wrong one.
        let private = kind(&element.kind).map_or(element.owner.is_some(), |kind| kind.private);
        Self {
            key: element.key,
            id: element.id.clone(),
            position: element.position,
            label: element.label.clone(),
            version: element.version,
            private,
            owner: element.owner.clone(),
        }
    }

    /// Whether only its owner reads it.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Whether this agent may read it: anyone, or of what is private its owner only.
    pub fn may_be_read_by(&self, agent: &Agent) -> bool {
        !self.private || owns(self.owner.as_ref(), agent)
    }
}

/// Where everyone and everything is. Rebuilt when something moved.
#[derive(Resource, Debug)]
pub struct Space {
    /// Agents by key; not finite where an agent has left.
    pub(super) bodies: Vec<Entry>,
    pub(super) agents: Grid,
    pub(super) sights: Vec<Sight>,
    pub(super) elements: Grid,
    pub(super) moved: bool,
    pub(super) rearranged: bool,
}

impl Default for Space {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            agents: Grid::new(80.0),
            sights: Vec::new(),
            elements: Grid::new(150.0),
            moved: true,
            rearranged: true,
        }
    }
}

impl Space {
    /// Where an agent is, if it is in the room.
    pub fn position(&self, agent: AgentKey) -> Option<Vec2> {
        self.bodies.get(agent.0 as usize).map(|entry| entry.position).filter(|position| position.is_finite())
    }

    /// The agents not farther than `radius`, nearest first; of equally near ones the smaller key first.
    pub fn agents_within(&self, middle: Vec2, radius: f32) -> Vec<AgentKey> {
        let mut found = Vec::new();
        self.agents.within(middle, radius, |entry, distance| found.push((distance, entry.key)));
        found.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        found.into_iter().map(|(_, key)| AgentKey(key)).collect()
    }

    pub(super) fn place(&mut self, agent: AgentKey, position: Vec2) {
        let index = agent.0 as usize;
        while self.bodies.len() <= index {
            self.bodies.push(Entry { position: Vec2::NAN, key: self.bodies.len() as u32 });
        }
        self.bodies[index].position = position;
        self.moved = true;
    }

    pub(super) fn sight(&self, element: ElementKey) -> Option<&Sight> {
        let index = self.sights.binary_search_by_key(&element, |sight| sight.key).ok()?;
        self.sights.get(index)
    }
}

/// What changing an agent's state needs beside the agent.
#[derive(SystemParam)]
pub(super) struct Desk<'w> {
    pub clock: Res<'w, SimClock>,
    pub log: ResMut<'w, EventLog>,
    pub attention: ResMut<'w, Attention>,
    pub space: ResMut<'w, Space>,
    pub roster: Res<'w, Roster>,
    pub changes: ResMut<'w, LastChanges>,
    pub minds: Res<'w, AttentionSettings>,
    pub feet: Res<'w, MovementSettings>,
    pub talk: Res<'w, ConversationSettings>,
    pub rest: Res<'w, Rest>,
}

impl Desk<'_> {
    pub fn now(&self) -> u64 {
        self.clock.tick()
    }

    pub fn set(&mut self, body: &mut BodyItem, timer: Timer, at: u64) {
        self.attention.set(body.agent.key, &mut body.life, timer, at);
    }

    /// Writes a record about an agent.
    pub fn write(&mut self, body: &BodyItem, cause: impl Into<Option<Seq>>, event: &impl EventData) -> Seq {
        self.log.write(EventDraft::of(event).agent(&body.agent.id).cause(cause))
    }

    /// Lets something happen to an agent's state: the log says so, and feet and timers follow.
    pub fn shift(&mut self, body: &mut BodyItem, event: StateEvent, cause: impl Into<Option<Seq>>) {
        let now = self.now();
        let fsm = &mut body.state.0;
        let before = (fsm.under(), fsm.is_on_errand(), fsm.is_held());
        let transition = fsm.on(event, now);
        let changed = before != (fsm.under(), fsm.is_on_errand(), fsm.is_held());
        if let Some(transition) = transition {
            let (from, to) = (transition.from.word().into(), transition.to.word().into());
            let state = events::State { from, to, why: body.state.0.why().to_owned().into() };
            // What comes of nothing but time comes of its being here.
            let cause = cause.into().unwrap_or(body.agent.added);
            body.life.state_record = Some(self.write(body, cause, &state));
        }
        if changed {
            self.settle(body);
        }
    }

    /// Sets feet and timers as the state wants them.
    pub fn settle(&mut self, body: &mut BodyItem) {
        let now = self.now();
        let key = body.agent.key;
        if let Some(until) = body.state.0.until() {
            self.set(body, Timer::State, until.max(now + 1));
        }
        let course = match body.state.0.state() {
            State::Idle => {
                let wait = body.random.between(self.minds.heartbeat_least_secs, self.minds.heartbeat_most_secs);
                self.set(body, Timer::Heartbeat, now + ticks(wait));
                self.homeward(body)
            }
            State::Wandering if body.state.0.is_on_errand() => match body.life.doing {
                Doing::Telling { to, .. } | Doing::Gathering { to, .. } if to != key => self
                    .space
                    .position(to)
                    .map_or(Course::STAND, |at| Course::to_agent(to.0, at, self.feet.approach_units)),
                _ => Course::STAND,
            },
            State::Wandering => {
                // Spread over the time between two targets, so that a crowd does not turn all at once.
                let spread = body.random.index(ticks(self.feet.stroll_secs) as usize) as u64;
                self.set(body, Timer::Stroll, now + 1 + spread);
                Course::STAND
            }
            State::Patrolling => Course::round(body.position.0, body.home.0),
            State::Reading => match body.life.doing {
                Doing::Reading { spot, arrive, .. } if body.life.awaited.is_none() => {
                    Course::to(WalkKind::ToElement, spot, arrive)
                }
                _ => Course::STAND,
            },
            State::Working => match &body.life.doing {
                Doing::Attending { pending, .. } if body.life.awaited.is_none() => {
                    let place = pending.interest.moment.place.as_ref();
                    let here = Course::to(WalkKind::ToElement, body.position.0, self.feet.arrive_units);
                    place.and_then(|place| self.course_to(body, place)).unwrap_or(here)
                }
                _ => Course::STAND,
            },
            _ => Course::STAND,
        };
        self.go(body, course);
        self.wake(body);
    }

    /// The way to a place, if that is in the room and not where the agent is.
    fn course_to(&self, body: &BodyItem, place: &Place) -> Option<Course> {
        let (here, key) = (body.position.0, body.agent.key.0);
        match place {
            Place::Element(id) => {
                let sight = self.space.sights.iter().find(|sight| sight.id == *id)?;
                let reach = self.feet.reading_reach_units;
                let (spot, arrive) = spot_beside(sight.position, here, key, reach);
                (here.distance(sight.position) > reach).then(|| Course::to(WalkKind::ToElement, spot, arrive))
            }
            Place::Agent(id) => {
                let other = self.roster.key(id).filter(|other| *other != body.agent.key)?;
                let at = self.space.position(other)?;
                Some(Course::to_agent(other.0, at, self.feet.approach_units))
            }
            Place::Point(point) => Some(Course::to(WalkKind::ToElement, *point, self.feet.arrive_units)),
        }
    }

    /// Home, unless it is there but for a step aside that it made for someone who stands there.
    fn homeward(&self, body: &BodyItem) -> Course {
        let (home, arrive) = (body.home.0, self.feet.arrive_units);
        let away = body.position.0.distance(home);
        let is_taken = || {
            let near = self.space.agents_within(home, self.feet.standing_units);
            near.into_iter().any(|other| other != body.agent.key)
        };
        if away > arrive.max(self.feet.body_units) || (away > arrive && !is_taken()) {
            Course::to(WalkKind::Home, home, arrive)
        } else {
            Course::STAND
        }
    }

    /// Sends an agent somewhere.
    pub fn go(&mut self, body: &mut BodyItem, course: Course) {
        body.walk.course = course;
        if course.moves() {
            self.attention.astir = true;
        } else {
            self.attention.stopped.push(body.agent.key);
        }
    }

    /// Has the agent's queue looked at, if it holds anything and the agent is at leisure.
    pub fn wake(&mut self, body: &BodyItem) {
        let has_something = !body.queue.0.is_empty() || !body.life.work.is_empty();
        let now = self.now();
        let gives_way = body.wants_to_turn_back(now) || body.reads_with_less_need(now);
        if has_something && (body.state.0.is_at_leisure() || gives_way) {
            self.attention.awake.push(body.agent.key);
        }
    }

    /// Queues an action for an agent; the log says what became of it.
    pub fn enqueue(&mut self, body: &mut BodyItem, action: Action, cause: Seq) -> bool {
        self.enqueue_later(body, QueuedAction::new(action, cause))
    }

    /// The same for an action that may have to wait.
    pub fn enqueue_later(&mut self, body: &mut BodyItem, new: QueuedAction) -> bool {
        let result = body.queue.0.enqueue(new.clone(), self.minds.queue_at_most);
        let is_refused = result == Queued::Refused;
        match result {
            Queued::Added | Queued::Raised => {
                let queued = self.write_queued(body, &new);
                body.queue.0.set_cause(&new.action, queued);
            }
            Queued::Displaced(displaced) => {
                let queued = self.write_queued(body, &new);
                body.queue.0.set_cause(&new.action, queued);
                self.dropped(body, &displaced, "something more important came");
            }
            Queued::Merged => {
                self.write_queued(body, &new);
            }
            Queued::Refused => self.dropped(body, &new, "the queue is full"),
            Queued::AlreadyThere => {}
        }
        self.await_next(body);
        self.wake(body);
        !is_refused
    }

    /// Sets the timer for the first of those actions that have to wait.
    pub fn await_next(&mut self, body: &mut BodyItem) {
        if let Some(due) = body.queue.0.next_due(self.now()) {
            self.set(body, Timer::Due, due);
        }
    }

    /// Says that an action is queued; what comes of it comes from that record.
    fn write_queued(&mut self, body: &BodyItem, queued: &QueuedAction) -> Seq {
        let QueuedAction { action, cause, not_before, .. } = queued;
        let event = events::ActionQueued {
            action: action.word(),
            target: self.target(action),
            priority: action.priority().map(Into::into),
            not_before_tick: Some(*not_before).filter(|tick| *tick > self.now()),
            why: action.why().map(str::to_owned),
        };
        self.write(body, *cause, &event)
    }

    /// Says that an action will not be done, and forgets what was to be told with it.
    pub fn dropped(&mut self, body: &mut BodyItem, queued: &QueuedAction, why: &str) {
        if let Action::ApproachAgent { agent } = queued.action
            && body.life.news.as_ref().is_some_and(|news| news.to == agent)
        {
            body.life.news = None;
        }
        let dropped = events::ActionDropped {
            action: Some(queued.action.word()),
            target: Some(self.target(&queued.action)),
            why: why.to_owned().into(),
            ..events::ActionDropped::default()
        };
        self.write(body, queued.cause, &dropped);
    }

    /// The id of the element or agent that an action is about; none once that is gone.
    fn target(&self, action: &Action) -> Option<Id> {
        match action {
            Action::ApproachAgent { agent } => self.roster.id(*agent).cloned(),
            Action::Attend(_) => action.place().cloned(),
            _ => self.space.sight(action.element()?).map(|sight| sight.id.clone()),
        }
    }
}

/// Puts on an agent that has just come in what the room knows of it.
pub(super) fn settle_in(
    on: On<Add, Agent>,
    agents: Query<(&Agent, Option<&AgentRandom>)>,
    clock: Res<SimClock>,
    seed: Res<RoomSeed>,
    settings: (Res<AttentionSettings>, Res<MovementSettings>),
    mut attention: ResMut<Attention>,
    mut space: ResMut<Space>,
    mut commands: Commands,
) {
    let Ok((agent, random)) = agents.get(on.entity) else { return };
    let (minds, feet) = settings;
    let now = clock.tick();
    let start = if agent.start.is_finite() { agent.start } else { Vec2::ZERO };
    let mut random = random.cloned().unwrap_or_else(|| AgentRandom::new(*seed, agent.key));
    let heard = Origin { tick: now, ..Origin::default() };
    let mut life = Life { behaviour: agent.start_behaviour, heard, ..Life::default() };
    let fsm = Fsm::new(agent.start_behaviour, now);
    let mut course = Course::STAND;
    match agent.start_behaviour {
        Behaviour::Stationary => {
            let wait = random.between(minds.heartbeat_least_secs, minds.heartbeat_most_secs);
            attention.set(agent.key, &mut life, Timer::Heartbeat, now + ticks(wait));
        }
        Behaviour::Wander => {
            let spread = random.index(ticks(feet.stroll_secs) as usize) as u64;
            attention.set(agent.key, &mut life, Timer::Stroll, now + 1 + spread);
        }
        Behaviour::Patrol => {
            course = Course::round(start, start);
            attention.astir = true;
        }
    }
    let first_seek = ticks(random.between(0.0, minds.seek_secs));
    attention.set(agent.key, &mut life, Timer::Seek, now + first_seek);
    space.place(agent.key, start);
    attention.stopped.push(agent.key);
    let walk = Walk { key: agent.key, course };
    commands.entity(on.entity).insert((
        Position(start),
        Home(start),
        walk,
        AgentState(fsm),
        Queue::default(),
        life,
        random,
    ));
}

/// Takes an agent that leaves out of everyone's sight.
pub(super) fn move_out(
    on: On<Remove, Agent>,
    agents: Query<&Agent>,
    mut space: ResMut<Space>,
    mut talks: ResMut<super::talks::Talks>,
    mut conversations: ResMut<super::conversation::Conversations>,
) {
    if let Ok(agent) = agents.get(on.entity) {
        space.place(agent.key, Vec2::NAN);
        talks.ledger.forget(agent.key);
        conversations.forget(agent.key);
    }
}

/// Brings the grids up to date with where everyone and everything is.
pub(super) fn look_about(
    mut space: ResMut<Space>,
    changed: Query<(), Changed<Element>>,
    mut gone: RemovedComponents<Element>,
    all: Query<&Element>,
    elements: Res<Elements>,
) {
    let space = &mut *space;
    if space.rearranged || !changed.is_empty() || gone.read().count() > 0 {
        space.rearranged = false;
        space.sights = elements.iter().filter_map(|(_, entity)| all.get(entity).ok()).map(Sight::of).collect();
        let points: Vec<Entry> =
            space.sights.iter().map(|sight| Entry { position: sight.position, key: sight.key.0 }).collect();
        space.elements.rebuild(&points);
    }
    if space.moved {
        space.moved = false;
        space.agents.rebuild(&space.bodies);
    }
}
