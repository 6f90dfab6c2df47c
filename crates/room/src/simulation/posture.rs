//! The posture of an agent, for drawing.

use super::components::{Activity, ActivityKind, Walk};
use super::state::State;
use crate::navigation::Use;

/// The posture of an agent. Derived from its activity; nothing depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Posture {
    /// Standing.
    #[default]
    Standing,
    /// It is on its feet.
    Walking,
    /// It holds a page and reads.
    Reading,
    /// It writes or works with its hands.
    Writing,
    /// It holds a cup.
    Carrying,
    /// It sits.
    Sitting,
    /// It raises a hand: a person is to decide.
    RaisingHand,
}

impl Posture {
    /// The posture of an agent.
    pub fn of(state: State, walk: &Walk, activity: &Activity) -> Self {
        let walks = walk.course.moves() && !matches!(state, State::Dragged | State::Paused);
        match state {
            State::Waiting => Self::RaisingHand,
            _ if walks => Self::Walking,
            State::Reading if !matches!(activity.doing, ActivityKind::Reading { waits: true, .. }) => Self::Reading,
            State::Working => Self::Writing,
            state if state.is_rest() => match activity.visit {
                Some(visit) if visit.until.is_some() => match visit.used_for {
                    Use::Sit => Self::Sitting,
                    Use::Coffee => Self::Carrying,
                    Use::Browse => Self::Reading,
                    Use::Window | Use::Work => Self::Standing,
                },
                _ => Self::Standing,
            },
            _ => Self::Standing,
        }
    }
}
