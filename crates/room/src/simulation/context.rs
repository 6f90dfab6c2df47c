//! The context for changing an agent: its state, its course and its queue.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::components::{ActivityKind, AgentQueryItem, AttentionCalendar, SpatialIndex, Timer};
use super::interest::Place;
use super::provenance::LastChanges;
use super::queue::{Action, Queued, QueuedAction};
use super::rest_mode::RestMode;
use super::settings::{AttentionSettings, ConversationSettings, MovementSettings};
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind};
use crate::agent::Roster;
use crate::base::{Id, Seq};
use crate::element::MessageCount;
use crate::log::{EventData, EventDraft, EventLog, events};
use crate::navigation::Claims;
use crate::schedule::{SimClock, ticks};

/// The system parameters for changing an agent's state.
#[derive(SystemParam)]
pub(super) struct SimContext<'w> {
    pub clock: Res<'w, SimClock>,
    pub log: ResMut<'w, EventLog>,
    pub calendar: ResMut<'w, AttentionCalendar>,
    pub space: ResMut<'w, SpatialIndex>,
    pub roster: Res<'w, Roster>,
    pub messages: ResMut<'w, MessageCount>,
    pub changes: ResMut<'w, LastChanges>,
    pub attention: Res<'w, AttentionSettings>,
    pub movement: Res<'w, MovementSettings>,
    pub conversation: Res<'w, ConversationSettings>,
    pub rest: Res<'w, RestMode>,
    pub claims: ResMut<'w, Claims>,
}

impl SimContext<'_> {
    pub fn now(&self) -> u64 {
        self.clock.tick()
    }

    pub fn set(&mut self, body: &mut AgentQueryItem, timer: Timer, at: u64) {
        self.calendar.set(body.agent.key, &mut body.activity, timer, at);
    }

    /// Writes a log record about an agent.
    pub fn write(&mut self, body: &AgentQueryItem, cause: impl Into<Option<Seq>>, event: &impl EventData) -> Seq {
        self.log.write(EventDraft::of(event).agent(&body.agent.id).cause(cause))
    }

    /// Applies an event to an agent's state, logs the change, and updates its course and timers.
    pub fn transition(&mut self, body: &mut AgentQueryItem, event: StateEvent, cause: impl Into<Option<Seq>>) {
        let now = self.now();
        let fsm = &mut body.state.0;
        let before = (fsm.lower(), fsm.is_on_errand(), fsm.is_held());
        let transition = fsm.on(event, now);
        let changed = before != (fsm.lower(), fsm.is_on_errand(), fsm.is_held());
        if let Some(transition) = transition {
            let (from, to) = (transition.from.as_str().into(), transition.to.as_str().into());
            let state = events::State { from, to, why: body.state.0.why().to_owned().into() };
            // A change without another cause is caused by the agent's presence.
            let cause = cause.into().unwrap_or(body.agent.added);
            body.activity.state_record = Some(self.write(body, cause, &state));
        }
        if changed {
            self.apply_state(body);
        }
    }

    /// Ends an agent's activity of which no other record is written. While a person holds the agent, its visible state
    /// does not change, and the end gets a record all the same.
    pub fn end_activity(&mut self, body: &mut AgentQueryItem, cause: Seq) {
        let (before, is_held) = (body.state.0.lower(), body.state.0.is_held());
        self.transition(body, StateEvent::Done, cause);
        if is_held && before != body.state.0.lower() {
            let (from, to) = (before.as_str().into(), body.state.0.state().as_str().into());
            let state = events::State { from, to, why: body.state.0.why().to_owned().into() };
            self.write(body, cause, &state);
        }
    }

    /// Sets an agent's course and timers according to its state.
    pub fn apply_state(&mut self, body: &mut AgentQueryItem) {
        let now = self.now();
        let key = body.agent.key;
        body.activity.visit = None;
        if let Some(until) = body.state.0.until() {
            self.set(body, Timer::State, until.max(now + 1));
        }
        let course = match body.state.0.state() {
            State::Idle => {
                let wait = body.random.between(self.attention.min_heartbeat_secs, self.attention.max_heartbeat_secs);
                self.set(body, Timer::LookAround, now + ticks(wait));
                self.homeward(body)
            }
            State::Wandering if body.state.0.is_on_errand() => match body.activity.doing {
                ActivityKind::Telling { to, .. } | ActivityKind::Gathering { to, .. } if to != key => self
                    .space
                    .position(to)
                    .map_or(Course::STAND, |at| Course::to_agent(to.0, at, self.movement.approach_units)),
                _ => Course::STAND,
            },
            State::Wandering => {
                // Spread over the time between two targets, so that a crowd does not turn all at once.
                let spread = body.random.index(ticks(self.movement.stroll_secs) as usize) as u64;
                self.set(body, Timer::Stroll, now + 1 + spread);
                Course::STAND
            }
            State::Patrolling => self.round(body),
            State::Reading => match body.activity.doing {
                ActivityKind::Reading { spot, arrive, .. } if body.activity.awaited.is_none() => {
                    Course::to(WalkKind::ToElement, spot, arrive)
                }
                _ => Course::STAND,
            },
            State::Working => match &body.activity.doing {
                ActivityKind::Attending { pending, .. } if body.activity.awaited.is_none() => {
                    let place = pending.interest.moment.place.as_ref();
                    let here = Course::to(WalkKind::ToElement, body.position.0, self.movement.arrive_units);
                    place.and_then(|place| self.course_to(body, place)).unwrap_or(here)
                }
                ActivityKind::Working { from, at, .. } => {
                    let board = at.clone().and_then(|at| self.course_to(body, &Place::Element(at)));
                    let giver = from.and_then(|from| self.roster.id(from)).cloned();
                    let way = giver.and_then(|giver| self.course_to(body, &Place::Agent(giver)));
                    board.or(way).or_else(|| self.claim_desk(body)).unwrap_or(Course::STAND)
                }
                _ => Course::STAND,
            },
            _ => Course::STAND,
        };
        self.walk_to(body, course);
        self.wake(body);
    }

    /// Marks the agent's queue for draining, if it is not empty and the agent is at leisure.
    pub fn wake(&mut self, body: &AgentQueryItem) {
        let has_something = !body.queue.0.is_empty() || !body.activity.work.is_empty();
        let now = self.now();
        let gives_way = body.wants_to_turn_back(now) || body.reads_with_less_need(now);
        if has_something && (body.state.0.is_available() || gives_way) {
            self.calendar.awake.push(body.agent.key);
        }
    }

    /// Queues an action for an agent, and logs the result.
    pub fn enqueue(&mut self, body: &mut AgentQueryItem, action: Action, cause: Seq) -> bool {
        self.enqueue_later(body, QueuedAction::new(action, cause))
    }

    /// Queues an action that may have to wait, and logs the result.
    pub fn enqueue_later(&mut self, body: &mut AgentQueryItem, new: QueuedAction) -> bool {
        self.put_in_queue(body, new, false)
    }

    /// Puts an action that was begun back into the queue, and logs the result.
    pub fn enqueue_again(&mut self, body: &mut AgentQueryItem, again: QueuedAction) -> bool {
        self.put_in_queue(body, again, true)
    }

    fn put_in_queue(&mut self, body: &mut AgentQueryItem, new: QueuedAction, was_begun: bool) -> bool {
        // While the model cannot be called, nothing leaves the queue, and no reading is dropped.
        let keeps = body.activity.model_wait.is_some() && new.action.is_kept_while_waiting();
        let cap = if keeps { usize::MAX } else { self.attention.max_queued_actions };
        let replaced = body.queue.0.cause_of(&new.action);
        let result = body.queue.0.enqueue(new.clone(), cap);
        let is_refused = result == Queued::Refused;
        match result {
            Queued::Added | Queued::Raised => {
                let queued = self.write_queued(body, &new);
                body.queue.0.set_cause(&new.action, queued);
                // Every queued action has a record of how it ended.
                if let Some(cause) = replaced {
                    let replaced = QueuedAction { cause, ..new.clone() };
                    self.write_dropped(body, &replaced, "a later request for the same replaced it");
                }
            }
            Queued::Displaced(displaced) => {
                let queued = self.write_queued(body, &new);
                body.queue.0.set_cause(&new.action, queued);
                self.dropped(body, &displaced, "something more important came up");
            }
            Queued::Merged => {
                let cause = self.write_queued(body, &new);
                let merged = QueuedAction { cause, ..new.clone() };
                self.write_dropped(body, &merged, "it was added to an earlier one that still waits");
            }
            Queued::Refused => self.dropped(body, &new, "the queue is full"),
            Queued::AlreadyThere if was_begun => self.write_dropped(body, &new, "the same already waits"),
            // It was never recorded as queued.
            Queued::AlreadyThere => {}
        }
        self.schedule_next(body);
        self.wake(body);
        !is_refused
    }

    /// Sets the timer for the first delayed action.
    pub fn schedule_next(&mut self, body: &mut AgentQueryItem) {
        if let Some(due) = body.queue.0.next_due(self.now()) {
            self.set(body, Timer::Due, due);
        }
    }

    /// Records that an action is queued; that record is the cause of its effects.
    fn write_queued(&mut self, body: &AgentQueryItem, queued: &QueuedAction) -> Seq {
        let QueuedAction { action, cause, not_before, .. } = queued;
        let event = events::ActionQueued {
            action: action.as_str(),
            target: self.target(action),
            priority: action.priority().map(Into::into),
            not_before_tick: Some(*not_before).filter(|tick| *tick > self.now()),
            why: reason(body, action),
        };
        self.write(body, *cause, &event)
    }

    /// Logs that an action is dropped, and forgets the news that it was to deliver.
    pub fn dropped(&mut self, body: &mut AgentQueryItem, queued: &QueuedAction, why: &str) {
        if let Action::ApproachAgent { agent } = queued.action
            && body.activity.news.as_ref().is_some_and(|news| news.to == agent)
        {
            body.activity.news = None;
        }
        self.write_dropped(body, queued, why);
    }

    /// Records that a queued action ended without being carried out.
    pub fn write_dropped(&mut self, body: &AgentQueryItem, queued: &QueuedAction, why: &str) {
        let dropped = events::ActionDropped {
            action: Some(queued.action.as_str()),
            target: Some(self.target(&queued.action)),
            why: why.to_owned().into(),
            ..events::ActionDropped::default()
        };
        self.write(body, queued.cause, &dropped);
    }

    /// The id of the element or agent that an action is about; `None` once that is gone.
    fn target(&self, action: &Action) -> Option<Id> {
        match action {
            Action::ApproachAgent { agent } => self.roster.id(*agent).cloned(),
            Action::Attend(_) => action.place().cloned(),
            _ => self.space.sight(action.element()?).map(|sight| sight.id.clone()),
        }
    }
}

/// Why an action was queued and what it waits for, for people, if its word does not say it.
fn reason(body: &AgentQueryItem, action: &Action) -> Option<String> {
    let why = action.why().map(str::to_owned);
    let waits = body.activity.wait_of(action).map(|wait| format!("waits until its model can be called: {wait}"));
    match (why, waits) {
        (Some(why), Some(waits)) => Some(format!("{why}; {waits}")),
        (why, waits) => why.or(waits),
    }
}
