//! The room's state of each agent, and the only way to change it.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::interest::PendingInterest;
use super::mind_messages::ActivityId;
use super::provenance::Provenance;
use super::queue::{Action, ActionQueue, QueuedAction};
use super::settings::{AttentionSettings, MovementSettings};
use super::spatial_grid::{Entry, Grid};
use super::state::Fsm;
use super::steering::Course;
use super::visit::Visit;
use crate::agent::Agent;
use crate::base::{ActivationKey, AgentKey, Behaviour, ConversationKey, ElementKey, Id, Seq};
use crate::element::kinds::kind;
use crate::element::{Element, Elements, owns};
use crate::navigation::furniture::{decor_footprint, element_footprint, seats};
use crate::navigation::{Obstacles, Seat};
use crate::schedule::{AgentRandom, RoomSeed, SimClock, ticks};
use crate::workspace::{Decor, SceneState};

/// The position of an agent.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub Vec2);

/// The position to which an agent returns.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Home(pub Vec2);

/// The walking target of an agent, and its index in the spatial grid.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct Walk {
    /// The agent's key.
    pub key: AgentKey,
    /// The course.
    pub course: Course,
}

/// The remaining waypoints of an agent's path, the last of them first, and the distance at which it has arrived; the
/// current target is not included.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Route {
    pub(super) points: Vec<Vec2>,
    pub(super) arrive: f32,
}

/// The state of an agent.
#[derive(Component, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentState(pub Fsm);

/// The action queue of an agent.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Queue(pub ActionQueue);

/// The current activity of an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
pub enum ActivityKind {
    /// Nothing: it is idle.
    #[default]
    Nothing,
    /// It walks to an element and reads it.
    Reading {
        /// The action that started it.
        action: Action,
        /// The element.
        element: ElementKey,
        /// The place that it walks to.
        spot: Vec2,
        /// The distance at which it has arrived.
        arrive: f32,
        /// Whether it waits for a place because all places in front of the element are taken.
        #[serde(default)]
        waits: bool,
        /// The version that it reads when it is there.
        version: u32,
        /// The log record that caused it.
        cause: Seq,
        /// The number of earlier failures.
        #[serde(default)]
        failures: u32,
    },
    /// It walks to where an interest calls it, and thinks about it.
    Attending {
        /// The interest.
        pending: Box<PendingInterest>,
        /// The log record that caused it.
        cause: Seq,
        /// The number of earlier failures.
        failures: u32,
    },
    /// It compacts its session.
    Compacting {
        /// The log record that caused it.
        cause: Seq,
        /// The number of earlier failures.
        #[serde(default, skip_serializing_if = "is_zero")]
        failures: u32,
    },
    /// It works.
    Working {
        /// The piece of work.
        activation: ActivationKey,
        /// The record that queued it.
        cause: Seq,
        /// The agent that hands it over, where it goes first; `None` once it was there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<AgentKey>,
        /// The id of the element at which the work is found, where it goes first; `None` once it was there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Id>,
    },
    /// It walks to an agent to tell it something.
    Telling {
        /// The agent.
        to: AgentKey,
        /// The record of the note.
        cause: Seq,
    },
    /// It walks to the place of a conversation, or waits there.
    Gathering {
        /// The id of the proposal.
        proposal: u32,
        /// The agent that it walks to; itself if it waits.
        to: AgentKey,
        /// Whether it goes there to tell something.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        tells: bool,
    },
    /// It takes part in a conversation.
    Talking {
        /// The conversation.
        conversation: ConversationKey,
    },
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl ActivityKind {
    /// The action to queue again, if the activity can be repeated.
    pub(super) fn queued_again(self) -> Option<QueuedAction> {
        let (action, cause, failures) = match self {
            Self::Reading { action, cause, failures, .. } => (action, cause, failures),
            Self::Attending { pending, cause, failures } => (Action::Attend(pending), cause, failures),
            Self::Compacting { cause, failures } => (Action::CompactContext, cause, failures),
            _ => return None,
        };
        Some(QueuedAction { failures, ..QueuedAction::new(action, cause) })
    }
}

/// News that an agent wants to tell another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct News {
    /// The agent to tell.
    pub to: AgentKey,
    /// The element.
    pub element: ElementKey,
    /// The version of the element.
    pub version: u32,
    /// The note.
    pub note: String,
    /// The record of the note.
    pub cause: Seq,
    /// The origin.
    #[serde(default)]
    pub origin: Provenance,
}

/// Work that waits until the agent is free.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingWork {
    /// The activation.
    pub activation: ActivationKey,
    /// The record that queued it.
    pub cause: Seq,
    /// The agent that hands it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<AgentKey>,
    /// The element at which it is found, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Id>,
}

/// The version of an element that an agent has processed, and when it last looked: it need not return before there is a
/// newer one. If a version contains only changes by agents, no model is called, so the version that a model last saw
/// may be older; that one is stored in the agent's memory.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReadVersion {
    /// The version.
    pub version: u32,
    /// When it looked, in ticks.
    pub tick: u64,
}

/// Why an agent's model cannot be called now.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ModelWait {
    /// The reason, for a person.
    pub why: String,
    /// Whether the agent may start its next thought anyway, to find out whether the model answers again.
    #[serde(default)]
    pub may_try: bool,
    /// The number of thoughts with which it tried.
    #[serde(default)]
    pub tries: u32,
}

/// The kinds of timers an agent has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Timer {
    /// The state ends.
    State,
    /// A stroll gets a new target.
    Stroll,
    /// An idle agent looks around.
    LookAround,
    /// It seeks information.
    Seek,
    /// A delayed action in its queue is due.
    Due,
    /// It stops trying to tell something.
    GiveUp,
}

const TIMERS: [Timer; 6] = [Timer::State, Timer::Stroll, Timer::LookAround, Timer::Seek, Timer::Due, Timer::GiveUp];

/// The rest of the room's state of an agent.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Activity {
    /// The current activity.
    pub doing: ActivityKind,
    /// Its behaviour when idle.
    pub behaviour: Behaviour,
    /// The number of the last activity.
    #[serde(rename = "activity")]
    pub last_activity: ActivityId,
    /// The activity whose end it waits for.
    pub awaited: Option<ActivityId>,
    /// The versions of elements that it has read.
    pub read: BTreeMap<ElementKey, ReadVersion>,
    /// The versions of elements that others told it about.
    pub told: BTreeMap<ElementKey, u32>,
    /// The versions of elements that the model did not take because of their content: the agent does not go there again
    /// on its own until they or the models change, so that a model that always refuses is not called forever.
    #[serde(default)]
    pub given_up: BTreeMap<ElementKey, u32>,
    /// Whether it waits until its model can be called. Until then, its reading waits in its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_wait: Option<ModelWait>,
    /// News that it wants to tell.
    pub news: Option<News>,
    /// Work that waits.
    pub work: VecDeque<PendingWork>,
    /// The origin of its current or last thought, which is the origin of its actions.
    #[serde(default)]
    pub origin: Provenance,
    /// The newest origin that it has heard of.
    #[serde(default)]
    pub heard: Provenance,
    /// The log record of its last visible state, which causes events that happen only by time.
    #[serde(default)]
    pub state_record: Option<Seq>,
    /// The piece of furniture that it is using or walking to.
    #[serde(default)]
    pub visit: Option<Visit>,
    /// When each timer is due; 0 if it is not set.
    pub(super) alarms: [u64; TIMERS.len()],
}

impl Activity {
    /// The version of an element that it has read.
    pub fn version_read(&self, element: ElementKey) -> Option<u32> {
        self.read.get(&element).map(|read| read.version)
    }

    /// Whether it has read this version of an element, or was told about it.
    pub fn knows(&self, element: ElementKey, version: u32) -> bool {
        self.version_read(element).max(self.told.get(&element).copied()).is_some_and(|known| known >= version)
    }

    /// Whether it reads an element, or walks there to read it.
    pub(super) fn reads(&self, element: ElementKey) -> bool {
        matches!(self.doing, ActivityKind::Reading { element: wanted, .. } if wanted == element)
    }

    /// Why an action waits for the agent's model; `None` if it does not.
    pub fn wait_of(&self, action: &Action) -> Option<&str> {
        self.model_wait.as_ref().filter(|_| action.needs_model()).map(|wait| &*wait.why)
    }

    /// Whether its thoughts wait, because its model cannot be called now.
    pub fn waits_for_model(&self) -> bool {
        self.model_wait.as_ref().is_some_and(|wait| !wait.may_try)
    }

    pub(super) fn next_activity(&mut self) -> ActivityId {
        self.last_activity.0 += 1;
        self.last_activity
    }
}

/// All components of an agent.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct AgentQuery {
    pub agent: &'static Agent,
    pub position: &'static mut Position,
    pub home: &'static mut Home,
    pub walk: &'static mut Walk,
    pub route: &'static mut Route,
    pub state: &'static mut AgentState,
    pub queue: &'static mut Queue,
    pub activity: &'static mut Activity,
    pub random: &'static mut AgentRandom,
}

impl AgentQueryItem<'_, '_> {
    /// Whether it is on the way to a conversation, and has to read something first.
    pub fn wants_to_turn_back(&self, now: u64) -> bool {
        self.is_on_the_way() && self.must_read(now)
    }

    /// Whether it reads or turns to something, or walks there, while something else is more urgent.
    pub fn reads_with_less_need(&self, now: u64) -> bool {
        let gives_way = match &self.activity.doing {
            ActivityKind::Reading { action, .. } => !action.is_urgent(),
            ActivityKind::Attending { pending, .. } => !pending.interest.urgency.is_high(),
            _ => false,
        };
        gives_way && !self.state.0.is_held() && self.must_read(now)
    }

    fn must_read(&self, now: u64) -> bool {
        let has_urgent = self.queue.0.iter().any(|next| next.not_before <= now && next.action.is_urgent());
        has_urgent && !self.activity.waits_for_model()
    }

    /// The next queued action, if it can start: none while the model that it needs cannot be called.
    pub fn next_action(&self, now: u64) -> Option<&QueuedAction> {
        self.queue.0.next(now, self.activity.model_wait.is_some()).filter(|_| !self.activity.waits_for_model())
    }

    /// Notes that it calls its model: if that could not be called so far, it tries with this one thought.
    pub fn note_try(&mut self) {
        if let Some(wait) = &mut self.activity.model_wait {
            wait.may_try = false;
            wait.tries = wait.tries.saturating_add(1);
        }
    }

    /// Whether it is on the way to a conversation, or waits for one to begin, and is not held by a person.
    pub fn is_on_the_way(&self) -> bool {
        !self.state.0.is_held()
            && matches!(self.activity.doing, ActivityKind::Telling { .. } | ActivityKind::Gathering { .. })
    }
}

impl AgentQueryReadOnlyItem<'_, '_> {
    /// Whether work or an action waits for it that it could begin now, if nothing else kept it.
    pub fn has_something_to_do(&self, now: u64) -> bool {
        let has_action = self.queue.0.first_due(now).is_some() && !self.activity.waits_for_model();
        !self.state.0.is_held() && (has_action || !self.activity.work.is_empty())
    }
}

/// The calendar of all timers, and the agents that are due in this tick.
#[derive(Resource, Default, Debug)]
pub(super) struct AttentionCalendar {
    calendar: BTreeMap<u64, Vec<(AgentKey, Timer)>>,
    /// Agents whose queue may be drained now.
    pub awake: Vec<AgentKey>,
    /// Whether anyone may be walking.
    pub anyone_walking: bool,
    /// The agents that may be too close to another: of every such pair, at least one is among them.
    pub stopped: Vec<AgentKey>,
}

impl AttentionCalendar {
    pub(super) fn set(&mut self, agent: AgentKey, activity: &mut Activity, timer: Timer, at: u64) {
        activity.alarms[timer as usize] = at;
        self.calendar.entry(at).or_default().push((agent, timer));
    }

    /// Removes and returns the due timers, in order of agent and timer. [`Activity::alarms`] says whether they still
    /// apply.
    pub fn due(&mut self, now: u64) -> Vec<(AgentKey, Timer)> {
        let mut due = Vec::new();
        while let Some(entry) = self.calendar.first_entry().filter(|entry| *entry.key() <= now) {
            due.append(&mut entry.remove());
        }
        due.sort_unstable();
        due.dedup();
        due
    }

    /// Rebuilds the calendar from the agents' timers.
    pub fn restore<'a>(&mut self, activities: impl Iterator<Item = (AgentKey, &'a Activity)>) {
        self.calendar.clear();
        for (agent, activity) in activities {
            self.stopped.push(agent);
            for timer in TIMERS.into_iter().filter(|timer| activity.alarms[*timer as usize] != 0) {
                self.calendar.entry(activity.alarms[timer as usize]).or_default().push((agent, timer));
            }
        }
        self.anyone_walking = true;
    }
}

/// What can be seen of an element from a distance.
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
        // An unknown kind is private if it has an owner: better unread than read by the wrong agent.
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

    /// Whether only its owner may read it.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Whether this agent may read it: anyone, or only the owner if it is private.
    pub fn may_be_read_by(&self, agent: &Agent) -> bool {
        !self.private || owns(self.owner.as_ref(), agent)
    }
}

/// The positions of all agents and elements. Rebuilt when something moved.
#[derive(Resource, Debug)]
pub struct SpatialIndex {
    /// Agents by key; the position is not finite if an agent has left.
    pub(super) bodies: Vec<Entry>,
    pub(super) agents: Grid,
    pub(super) sights: Vec<Sight>,
    pub(super) elements: Grid,
    pub(super) moved: bool,
    pub(super) rearranged: bool,
    /// The furniture; `None` before the scene was read.
    pub(super) decor: Option<Vec<Decor>>,
    /// The obstacles: elements and furniture.
    pub(super) obstacles: Obstacles,
    /// The seats of the furniture.
    pub(super) seats: Vec<Seat>,
}

impl Default for SpatialIndex {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            agents: Grid::new(80.0),
            sights: Vec::new(),
            elements: Grid::new(150.0),
            moved: true,
            rearranged: true,
            decor: None,
            obstacles: Obstacles::default(),
            seats: Vec::new(),
        }
    }
}

impl SpatialIndex {
    /// The position of an agent, if it is in the room.
    pub fn position(&self, agent: AgentKey) -> Option<Vec2> {
        self.bodies.get(agent.0 as usize).map(|entry| entry.position).filter(|position| position.is_finite())
    }

    /// The agents within `radius`, nearest first; at equal distance by key.
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

/// Adds the simulation's components to a new agent.
pub(super) fn add_agent_components(
    on: On<Add, Agent>,
    agents: Query<(&Agent, Option<&AgentRandom>)>,
    clock: Res<SimClock>,
    seed: Res<RoomSeed>,
    settings: (Res<AttentionSettings>, Res<MovementSettings>),
    mut calendar: ResMut<AttentionCalendar>,
    mut space: ResMut<SpatialIndex>,
    mut commands: Commands,
) {
    let Ok((agent, random)) = agents.get(on.entity) else { return };
    let (attention, movement) = settings;
    let now = clock.tick();
    let start = if agent.start.is_finite() { agent.start } else { Vec2::ZERO };
    let mut random = random.cloned().unwrap_or_else(|| AgentRandom::new(*seed, agent.key));
    let heard = Provenance { tick: now, ..Provenance::default() };
    let mut activity = Activity { behaviour: agent.start_behaviour, heard, ..Activity::default() };
    let fsm = Fsm::new(agent.start_behaviour, now);
    let mut course = Course::STAND;
    match agent.start_behaviour {
        Behaviour::Stationary => {
            let wait = random.between(attention.min_heartbeat_secs, attention.max_heartbeat_secs);
            calendar.set(agent.key, &mut activity, Timer::LookAround, now + ticks(wait));
        }
        Behaviour::Wander => {
            let spread = random.index(ticks(movement.stroll_secs) as usize) as u64;
            calendar.set(agent.key, &mut activity, Timer::Stroll, now + 1 + spread);
        }
        Behaviour::Patrol => {
            course = Course::round(start, start);
            calendar.anyone_walking = true;
        }
    }
    let first_seek = ticks(random.between(0.0, attention.seek_secs));
    calendar.set(agent.key, &mut activity, Timer::Seek, now + first_seek);
    space.place(agent.key, start);
    calendar.stopped.push(agent.key);
    let walk = Walk { key: agent.key, course };
    commands.entity(on.entity).insert((
        Position(start),
        Home(start),
        (walk, Route::default()),
        AgentState(fsm),
        Queue::default(),
        activity,
        random,
    ));
}

/// Removes an agent that leaves from the spatial index.
pub(super) fn remove_agent_position(on: On<Remove, Agent>, agents: Query<&Agent>, mut space: ResMut<SpatialIndex>) {
    if let Ok(agent) = agents.get(on.entity) {
        space.place(agent.key, Vec2::NAN);
    }
}

/// Updates the grids and the obstacles to the current positions.
pub(super) fn update_spatial_index(
    mut space: ResMut<SpatialIndex>,
    mut calendar: ResMut<AttentionCalendar>,
    changed: Query<(), Changed<Element>>,
    mut gone: RemovedComponents<Element>,
    all: Query<&Element>,
    elements: Res<Elements>,
    scene: Option<Res<SceneState>>,
) {
    let space = &mut *space;
    if space.moved {
        space.moved = false;
        space.agents.rebuild(&space.bodies);
    }
    if space.rearranged || !changed.is_empty() || gone.read().count() > 0 {
        space.rearranged = false;
        space.sights = elements.iter().filter_map(|(_, entity)| all.get(entity).ok()).map(Sight::of).collect();
        let points: Vec<Entry> =
            space.sights.iter().map(|sight| Entry { position: sight.position, key: sight.key.0 }).collect();
        space.elements.rebuild(&points);
        // A room that was saved before furniture was an obstacle reads it from its scene.
        let decor =
            space.decor.get_or_insert_with(|| scene.map_or_else(Vec::new, |scene| Decor::all_of(&scene.doc.root)));
        let elements = space.sights.iter().filter_map(|sight| element_footprint(sight.position));
        space.obstacles = Obstacles::new(elements.chain(decor.iter().filter_map(decor_footprint)));
        space.seats = seats(decor, &space.obstacles);
        // An agent that overlaps new furniture steps out of it.
        for shape in space.obstacles.shapes() {
            let middle = (shape.low + shape.high) / 2.0;
            space.agents.within(middle, middle.distance(shape.high), |entry, _| {
                calendar.stopped.push(AgentKey(entry.key));
            });
        }
    }
}
