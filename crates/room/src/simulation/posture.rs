//! The posture of an agent, the object in its hands and its seat, for drawing. Derived from its activity; nothing
//! depends on it.

use bevy::math::Vec2;

use super::components::{Activity, ActivityKind, Walk};
use super::state::State;
use crate::navigation::Use;

/// The kind of the element that is read like a book.
const BOOK: &str = "rulebook";
/// An agent no farther from its seat than this sits on it, in units.
const ON_SEAT_UNITS: f32 = 4.0;

/// The posture of an agent. Derived from its activity; nothing depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Posture {
    /// Standing, or sitting and doing nothing.
    #[default]
    Standing,
    /// Walking.
    Walking,
    /// Reading.
    Reading,
    /// Writing, or working with its hands.
    Writing,
    /// Raising a hand, because a person has to decide.
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
            state if uses(state, activity) == Some(Use::Browse) => Self::Reading,
            _ => Self::Standing,
        }
    }
}

/// Something in an agent's hands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// A pen, and something to write on.
    Pen,
    /// A sheet of paper that it reads.
    Sheet,
    /// An open book.
    Book,
    /// A letter that it carries to another agent, or to its place of work.
    Letter,
    /// A cup.
    Cup,
}

impl Held {
    /// The object in an agent's hands; `reads` is the kind of the element that it reads.
    pub fn of(posture: Posture, state: State, activity: &Activity, reads: Option<&str>) -> Option<Self> {
        match (posture, &activity.doing) {
            // Until the listener has time for it.
            (
                Posture::Walking | Posture::Standing,
                ActivityKind::Telling { .. } | ActivityKind::Gathering { tells: true, .. },
            ) if !is_held_up(state) => Some(Self::Letter),
            // Once it has fetched its work from the element, it carries it.
            (Posture::Walking, ActivityKind::Working { from: None, at: None, .. }) => Some(Self::Letter),
            (Posture::Reading, _) => {
                let is_book = reads.map_or(uses(state, activity) == Some(Use::Browse), |kind| kind == BOOK);
                Some(if is_book { Self::Book } else { Self::Sheet })
            }
            (Posture::Writing, _) => Some(Self::Pen),
            (Posture::Standing, _) if uses(state, activity) == Some(Use::Coffee) => Some(Self::Cup),
            _ => None,
        }
    }
}

/// What an agent sits on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seated {
    /// A bench.
    OnBench,
    /// A chair of its own, at a desk.
    AtDesk,
}

impl Seated {
    /// What an agent at this position sits on.
    pub fn of(posture: Posture, state: State, activity: &Activity, here: Vec2) -> Option<Self> {
        if uses(state, activity) == Some(Use::Sit) && posture == Posture::Standing {
            return Some(Self::OnBench);
        }
        let desk = activity.visit.filter(|visit| visit.used_for == Use::Work)?;
        // An agent may start working before it reaches its desk.
        let is_there = posture == Posture::Writing && desk.at.distance(here) <= ON_SEAT_UNITS;
        is_there.then_some(Self::AtDesk)
    }
}

/// How an idle agent uses the furniture that it has reached.
fn uses(state: State, activity: &Activity) -> Option<Use> {
    let visit = activity.visit.filter(|visit| visit.until.is_some() && state.is_rest())?;
    Some(visit.used_for)
}

/// Whether its errand has to wait.
fn is_held_up(state: State) -> bool {
    matches!(state, State::Dragged | State::Paused | State::Conversing)
}
