//! The state of an agent, with its start time and reason: the only source of its badge, glow and log entries.
//!
//! Two layers: what the agent does ([`Fsm::under`]) and what a person does to it (carried, paused), which covers the
//! first without ending it. Timers and replies work on the lower layer even while it is covered, so an agent that is
//! put down continues with its current state, not with the state in which it was picked up.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::base::Behaviour;

/// A reason, as text for a person.
pub type Why = Cow<'static, str>;

/// The visible state of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of the design; what leads where stands in `Fsm::on`")]
pub enum State {
    #[default]
    Idle,
    Wandering,
    Patrolling,
    Conversing,
    Cooldown,
    Dragged,
    Heartbeat,
    Reading,
    Working,
    Waiting,
    Paused,
    Error,
}

impl State {
    /// All states, in the order of the design.
    pub const ALL: [Self; 12] = [
        Self::Idle,
        Self::Wandering,
        Self::Patrolling,
        Self::Conversing,
        Self::Cooldown,
        Self::Dragged,
        Self::Heartbeat,
        Self::Reading,
        Self::Working,
        Self::Waiting,
        Self::Paused,
        Self::Error,
    ];

    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Wandering => "wandering",
            Self::Patrolling => "patrolling",
            Self::Conversing => "conversing",
            Self::Cooldown => "cooldown",
            Self::Dragged => "dragged",
            Self::Heartbeat => "heartbeat",
            Self::Reading => "reading",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Error => "error",
        }
    }

    /// The state of an idle agent with this behaviour.
    pub fn of(behaviour: Behaviour) -> Self {
        match behaviour {
            Behaviour::Stationary => Self::Idle,
            Behaviour::Wander => Self::Wandering,
            Behaviour::Patrol => Self::Patrolling,
        }
    }

    /// Whether the agent is idle in this state: such states are remembered and returned to.
    pub fn is_rest(self) -> bool {
        matches!(self, Self::Idle | Self::Wandering | Self::Patrolling)
    }
}

/// An event of an agent's state machine.
#[derive(Clone, PartialEq, Debug)]
pub enum StateEvent {
    /// Its behaviour when idle changes.
    Behave(Behaviour),
    /// An idle agent looks around until this tick.
    LookAround {
        /// The tick at which it stops.
        until: u64,
        /// What it looks at.
        why: Why,
    },
    /// It joins a conversation.
    ConversationStarted {
        /// The participants and the topic.
        why: Why,
    },
    /// The conversation is over for it; it cools down until this tick.
    ConversationEnded {
        /// The tick at which it has cooled down.
        until: u64,
    },
    /// It sets out to read an element: covers the walk and the thinking.
    ReadingStarted {
        /// The reason, such as "walking to House rules to read it".
        why: Why,
    },
    /// It works: compacts its session, or does a task.
    WorkStarted {
        /// The work.
        why: Why,
    },
    /// It walks somewhere on an errand, or waits for others to come.
    SetOut {
        /// The reason, such as "going to tell Ada about News".
        why: Why,
    },
    /// A person must decide before it can continue.
    WaitForPerson {
        /// What must be decided.
        why: Why,
    },
    /// Its activity is over: reading, working, waiting or walking.
    Done,
    /// Reading or working failed; it shows that until this tick.
    Failed {
        /// What failed and what to do.
        why: Why,
        /// The tick at which it continues.
        until: u64,
    },
    /// The reason of the current state changes: the thing that it waits for, or its progress.
    Explain(Why),
    /// A description of its idle activity; empty for the default.
    AtRest(Why),
    /// A timer of the state fired.
    TimerDue,
    /// A person lifts it.
    PickedUp,
    /// A person puts it down.
    PutDown,
    /// A person pauses it.
    Paused,
    /// A person resumes it.
    Resumed,
}

/// A change of the visible state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The previous visible state.
    pub from: State,
    /// The new visible state.
    pub to: State,
}

/// An agent's state machine. Pure: the only way to change it is [`Fsm::on`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fsm {
    /// The lower layer, whether or not it is covered. Never `Dragged` or `Paused`.
    under: State,
    /// The idle state to which it returns.
    remembered: State,
    /// The tick at which `under` ends by itself, if it does.
    until: Option<u64>,
    /// Whether it is on an errand: visible as wandering, but not at leisure.
    errand: bool,
    dragged: bool,
    paused: bool,
    since_tick: u64,
    why: Why,
}

impl Fsm {
    /// The state of a newly added agent.
    pub fn new(behaviour: Behaviour, now: u64) -> Self {
        let rest = State::of(behaviour);
        Self {
            under: rest,
            remembered: rest,
            until: None,
            errand: false,
            dragged: false,
            paused: false,
            since_tick: now,
            why: rest_why(rest),
        }
    }

    /// The visible state.
    pub fn state(&self) -> State {
        match (self.dragged, self.paused) {
            (true, _) => State::Dragged,
            (false, true) => State::Paused,
            (false, false) => self.under,
        }
    }

    /// The state of the lower layer.
    pub fn lower(&self) -> State {
        self.under
    }

    /// The idle state to which it returns: idle, wandering or patrolling.
    pub fn remembered(&self) -> State {
        self.remembered
    }

    /// The tick since which the visible state is unchanged.
    pub fn since_tick(&self) -> u64 {
        self.since_tick
    }

    /// The reason, as text for a person; may be empty if the state says it all.
    pub fn why(&self) -> &str {
        match self.state() {
            State::Dragged => "carried by a person",
            State::Paused => "paused by a person",
            _ => &self.why,
        }
    }

    /// The tick at which the lower state ends by itself.
    pub fn until(&self) -> Option<u64> {
        self.until
    }

    /// Whether a person holds it: carried or paused.
    pub fn is_held(&self) -> bool {
        self.dragged || self.paused
    }

    /// Whether it is idle and not held, so that it may start its next action.
    pub fn is_available(&self) -> bool {
        !self.is_held() && !self.errand && self.under.is_rest()
    }

    /// Whether a conversation could begin with it now.
    pub fn may_converse(&self) -> bool {
        !self.is_held()
            && !self.errand
            && (self.under.is_rest() || matches!(self.under, State::Cooldown | State::Heartbeat))
    }

    /// Whether it is out on an errand (to tell someone something, or to a conversation).
    pub fn is_on_errand(&self) -> bool {
        self.errand
    }

    /// Applies an event. Returns the change of the visible state, if there is one.
    pub fn on(&mut self, event: StateEvent, now: u64) -> Option<Transition> {
        let from = self.state();
        let before = (self.under, self.errand);
        self.change(event, now);
        let to = self.state();
        if from != to || before != (self.under, self.errand) {
            self.since_tick = now;
        }
        (from != to).then_some(Transition { from, to })
    }

    fn change(&mut self, event: StateEvent, now: u64) {
        match event {
            StateEvent::Behave(behaviour) => {
                self.remembered = State::of(behaviour);
                if self.under.is_rest() && !self.errand {
                    self.rest();
                }
            }
            StateEvent::LookAround { until, why } if self.is_available() && self.under == State::Idle => {
                self.enter(State::Heartbeat, Some(until), why);
            }
            StateEvent::ConversationStarted { why } if self.may_converse() || (self.errand && !self.is_held()) => {
                self.enter(State::Conversing, None, why);
            }
            // Even while it is dragged: otherwise it would still be in a conversation state, without partners, after it
            // is put down.
            StateEvent::ConversationEnded { until } if self.under == State::Conversing => {
                self.enter(State::Cooldown, Some(until), "after a conversation".into());
            }
            StateEvent::ReadingStarted { why } if self.is_available() => self.enter(State::Reading, None, why),
            StateEvent::WorkStarted { why } if self.is_available() => self.enter(State::Working, None, why),
            StateEvent::SetOut { why } if self.is_available() => {
                self.enter(State::Wandering, None, why);
                self.errand = true;
            }
            StateEvent::WaitForPerson { why } if matches!(self.under, State::Reading | State::Working) => {
                self.enter(State::Waiting, None, why);
            }
            StateEvent::Done
                if self.errand || matches!(self.under, State::Reading | State::Working | State::Waiting) =>
            {
                self.rest();
            }
            StateEvent::Failed { why, until }
                if matches!(self.under, State::Reading | State::Working | State::Waiting) =>
            {
                self.enter(State::Error, Some(until), why);
            }
            // The person that it waited for has decided.
            StateEvent::Explain(why) if self.under == State::Waiting => self.enter(State::Working, None, why),
            StateEvent::Explain(why) if !self.under.is_rest() || self.errand => self.why = why,
            StateEvent::AtRest(why) if self.is_available() => {
                self.why = if why.is_empty() { rest_why(self.under) } else { why };
            }
            // A timer that was set for another state finds no due `until` and changes nothing.
            StateEvent::TimerDue if self.until.is_some_and(|until| until <= now) => self.rest(),
            StateEvent::PickedUp => self.dragged = true,
            StateEvent::PutDown => self.dragged = false,
            StateEvent::Paused => self.paused = true,
            StateEvent::Resumed => self.paused = false,
            _ => {}
        }
    }

    fn enter(&mut self, state: State, until: Option<u64>, why: Why) {
        self.under = state;
        self.until = until;
        self.errand = false;
        self.why = why;
    }

    fn rest(&mut self) {
        self.enter(self.remembered, None, rest_why(self.remembered));
    }
}

fn rest_why(rest: State) -> Why {
    match rest {
        State::Wandering => "wandering near its home".into(),
        State::Patrolling => "on patrol".into(),
        _ => "nothing to do".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn start(behaviour: Behaviour) -> Fsm {
        Fsm::new(behaviour, 0)
    }

    fn talk() -> StateEvent {
        StateEvent::ConversationStarted { why: "talking".into() }
    }

    fn talk_over(until: u64) -> StateEvent {
        StateEvent::ConversationEnded { until }
    }

    fn read() -> StateEvent {
        StateEvent::ReadingStarted { why: "walking to House rules to read it".into() }
    }

    /// Brings a machine with this idle behaviour into any state.
    fn in_state(state: State, rest: Behaviour) -> Fsm {
        let mut fsm = start(rest);
        let steps: Vec<StateEvent> = match state {
            State::Idle => vec![StateEvent::Behave(Behaviour::Stationary)],
            State::Wandering => vec![StateEvent::Behave(Behaviour::Wander)],
            State::Patrolling => vec![StateEvent::Behave(Behaviour::Patrol)],
            State::Conversing => vec![talk()],
            State::Cooldown => vec![talk(), talk_over(100)],
            State::Dragged => vec![StateEvent::PickedUp],
            State::Heartbeat => vec![
                StateEvent::Behave(Behaviour::Stationary),
                StateEvent::LookAround { until: 60, why: "looking around".into() },
            ],
            State::Reading => vec![read()],
            State::Working => vec![StateEvent::WorkStarted { why: "at a task".into() }],
            State::Waiting => vec![read(), StateEvent::WaitForPerson { why: "for a yes".into() }],
            State::Paused => vec![StateEvent::Paused],
            State::Error => vec![read(), StateEvent::Failed { why: "no network".into(), until: 100 }],
        };
        for step in steps {
            fsm.on(step, 1);
        }
        assert_eq!(fsm.state(), state);
        fsm
    }

    #[test]
    fn follows_the_table_of_the_design() {
        use Behaviour::{Patrol, Stationary, Wander};
        let table: Vec<(State, Behaviour, StateEvent, State)> = vec![
            (State::Idle, Stationary, StateEvent::Behave(Wander), State::Wandering),
            (State::Idle, Stationary, StateEvent::Behave(Patrol), State::Patrolling),
            (State::Idle, Stationary, StateEvent::LookAround { until: 61, why: "".into() }, State::Heartbeat),
            (State::Idle, Stationary, talk(), State::Conversing),
            (State::Wandering, Wander, StateEvent::Behave(Stationary), State::Idle),
            (State::Wandering, Wander, StateEvent::Behave(Patrol), State::Patrolling),
            (State::Wandering, Wander, talk(), State::Conversing),
            (State::Wandering, Wander, StateEvent::LookAround { until: 61, why: "".into() }, State::Wandering),
            (State::Patrolling, Patrol, StateEvent::Behave(Wander), State::Wandering),
            (State::Patrolling, Patrol, talk(), State::Conversing),
            (State::Conversing, Wander, talk_over(200), State::Cooldown),
            (State::Cooldown, Wander, StateEvent::TimerDue, State::Wandering),
            (State::Cooldown, Patrol, talk(), State::Conversing),
            (State::Heartbeat, Stationary, StateEvent::TimerDue, State::Idle),
            (State::Heartbeat, Stationary, talk(), State::Conversing),
            (State::Reading, Patrol, StateEvent::Done, State::Patrolling),
            (State::Working, Stationary, StateEvent::Done, State::Idle),
            (State::Waiting, Wander, StateEvent::Done, State::Wandering),
            (State::Error, Wander, StateEvent::TimerDue, State::Wandering),
            (State::Reading, Wander, talk(), State::Reading),
            (State::Working, Wander, talk(), State::Working),
        ];
        for (from, rest, event, to) in table {
            let mut fsm = in_state(from, rest);
            let transition = fsm.on(event.clone(), 150);
            assert_eq!(fsm.state(), to, "{from:?} on {event:?}");
            assert_eq!(transition, (from != to).then_some(Transition { from, to }), "{from:?} on {event:?}");
        }
    }

    #[test]
    fn can_be_carried_in_every_state_and_returns_to_it() {
        for state in State::ALL {
            let mut fsm = in_state(state, Behaviour::Wander);
            let seen = fsm.state();
            fsm.on(StateEvent::PickedUp, 2);
            assert_eq!(fsm.state(), State::Dragged);
            fsm.on(StateEvent::PutDown, 3);
            let expected = if seen == State::Dragged { State::Wandering } else { seen };
            assert_eq!(fsm.state(), expected);
        }
    }

    #[test]
    fn is_paused_in_every_state_and_continues_with_it() {
        for state in State::ALL {
            let mut fsm = in_state(state, Behaviour::Patrol);
            let seen = fsm.state();
            fsm.on(StateEvent::Paused, 2);
            assert_eq!(fsm.state(), if seen == State::Dragged { State::Dragged } else { State::Paused });
            fsm.on(StateEvent::Resumed, 3);
            let expected = if seen == State::Paused { State::Patrolling } else { seen };
            assert_eq!(fsm.state(), expected);
        }
    }

    #[test]
    fn trap_a_conversation_that_ends_while_carried_is_not_gone_on_with() {
        let mut fsm = in_state(State::Conversing, Behaviour::Wander);
        fsm.on(StateEvent::PickedUp, 5);
        assert_eq!(fsm.on(talk_over(125), 6), None);
        fsm.on(StateEvent::PutDown, 7);
        assert_eq!(fsm.state(), State::Cooldown);

        fsm.on(StateEvent::PickedUp, 8);
        fsm.on(StateEvent::TimerDue, 125);
        fsm.on(StateEvent::PutDown, 130);
        assert_eq!(fsm.state(), State::Wandering);
    }

    #[test]
    fn trap_a_late_timer_or_reply_changes_nothing() {
        let mut fsm = in_state(State::Cooldown, Behaviour::Stationary);
        fsm.on(talk(), 50);
        let before = fsm.clone();
        assert_eq!(fsm.on(StateEvent::TimerDue, 200), None);
        assert_eq!(fsm.on(StateEvent::Done, 200), None);
        assert_eq!(fsm.on(StateEvent::Failed { why: "late".into(), until: 300 }, 200), None);
        assert_eq!(fsm, before);
        let mut early = in_state(State::Cooldown, Behaviour::Wander);
        assert_eq!(early.on(StateEvent::TimerDue, 99), None);
        assert_eq!(early.state(), State::Cooldown);
    }

    #[test]
    fn trap_behaviour_changed_in_a_conversation_takes_effect_after_it() {
        let mut fsm = in_state(State::Conversing, Behaviour::Wander);
        assert_eq!(fsm.on(StateEvent::Behave(Behaviour::Patrol), 10), None);
        fsm.on(talk_over(20), 11);
        fsm.on(StateEvent::TimerDue, 20);
        assert_eq!(fsm.state(), State::Patrolling);
    }

    #[test]
    fn trap_talking_again_from_cooldown_keeps_the_memory() {
        let mut fsm = in_state(State::Cooldown, Behaviour::Patrol);
        fsm.on(talk(), 50);
        fsm.on(talk_over(170), 60);
        fsm.on(StateEvent::TimerDue, 170);
        assert_eq!(fsm.state(), State::Patrolling);
    }

    #[test]
    fn an_errand_looks_like_wandering_and_is_not_leisure() {
        let mut fsm = start(Behaviour::Stationary);
        fsm.on(StateEvent::SetOut { why: "going to tell Ada about News".into() }, 1);
        assert_eq!((fsm.state(), fsm.is_available(), fsm.may_converse()), (State::Wandering, false, false));
        assert_eq!(fsm.on(StateEvent::Behave(Behaviour::Patrol), 2), None);
        fsm.on(StateEvent::Done, 3);
        assert_eq!(fsm.state(), State::Patrolling);
    }

    fn any_event() -> impl Strategy<Value = StateEvent> {
        prop_oneof![
            Just(StateEvent::Behave(Behaviour::Stationary)),
            Just(StateEvent::Behave(Behaviour::Wander)),
            Just(StateEvent::Behave(Behaviour::Patrol)),
            (0_u64..400).prop_map(|until| StateEvent::LookAround { until, why: "".into() }),
            Just(talk()),
            (0_u64..400).prop_map(talk_over),
            Just(read()),
            Just(StateEvent::WorkStarted { why: "".into() }),
            Just(StateEvent::SetOut { why: "".into() }),
            Just(StateEvent::WaitForPerson { why: "".into() }),
            Just(StateEvent::Done),
            (0_u64..400).prop_map(|until| StateEvent::Failed { why: "".into(), until }),
            Just(StateEvent::Explain("".into())),
            Just(StateEvent::TimerDue),
            Just(StateEvent::PickedUp),
            Just(StateEvent::PutDown),
            Just(StateEvent::Paused),
            Just(StateEvent::Resumed),
        ]
    }

    proptest! {
        #[test]
        fn no_sequence_of_events_leaves_an_agent_stuck(events in prop::collection::vec(any_event(), 0..60)) {
            let mut fsm = start(Behaviour::Wander);
            let mut behaviour = Behaviour::Wander;
            for (now, event) in events.into_iter().enumerate() {
                if let StateEvent::Behave(wanted) = event {
                    behaviour = wanted;
                }
                fsm.on(event, now as u64);
                prop_assert_eq!(fsm.remembered(), State::of(behaviour));
                prop_assert!(!matches!(fsm.lower(), State::Dragged | State::Paused));
                prop_assert_eq!(
                    fsm.until().is_some(),
                    matches!(fsm.lower(), State::Cooldown | State::Heartbeat | State::Error)
                );
            }
            // Only pending answers of the person, the model and the timers bring it back.
            for event in [StateEvent::PutDown, StateEvent::Resumed, StateEvent::Done, talk_over(1000), StateEvent::TimerDue] {
                fsm.on(event, 2000);
            }
            prop_assert_eq!(fsm.state(), State::of(behaviour));
            prop_assert!(fsm.is_available());
        }
    }
}
