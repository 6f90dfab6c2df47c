//! The approvals that agents wait for: which one is in front, since when, and whether it has just appeared.

use std::collections::BTreeSet;

use crate::base::Id;
use crate::kernel::ApprovalId;
use crate::view::model::RoomModel;
use crate::view::work::{PieceView, QuestionView};
use crate::view::workflows::{AskedView, RunView};

/// Seconds for which a new approval takes no answer, because a click then was meant for something else.
pub const LOCK_SECS: f64 = 0.3;

/// Seconds for which a new approval takes no answer by a key: the person has to see it first.
pub const KEY_LOCK_SECS: f64 = 1.0;

/// The approval that is shown and since when, to ignore clicks just after it appeared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InputLock {
    shown: Option<ApprovalId>,
    since_secs: f64,
}

impl InputLock {
    /// Registers the approval that is shown now and returns for how many more seconds it takes no answer.
    pub fn lock_secs(&mut self, shown: &ApprovalId, now_secs: f64) -> f64 {
        if self.shown.as_ref() != Some(shown) {
            *self = Self { shown: Some(shown.clone()), since_secs: now_secs };
        }
        left(self.since_secs + LOCK_SECS, now_secs)
    }

    /// Whether it takes no answer by a key yet.
    fn is_locked_for_keys(&self, now_secs: f64) -> bool {
        left(self.since_secs + KEY_LOCK_SECS, now_secs) > 0.0
    }
}

/// Returns the seconds until then. Sums of times are not exact: a remainder of almost 0 counts as 0.
fn left(end_secs: f64, now_secs: f64) -> f64 {
    let left = end_secs - now_secs;
    if left > 1e-6 { left } else { 0.0 }
}

/// Returns a name by which the question of a step is told from others.
pub fn step_name(run: &RunView, asked: &AskedView) -> String {
    format!("{:?} {}", run.key, asked.step)
}

/// The waiting approvals of the room and the one in front, which keyboard shortcuts answer and the canvas shows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Questions {
    front: Option<ApprovalId>,
    input_lock: InputLock,
    is_locked: bool,
    seen: BTreeSet<ApprovalId>,
    /// Whether the person chose the card of the approval in front for the keys.
    pub is_chosen: bool,
    /// The approval whose card is to take the keys, and the number of this request.
    key_request: Option<(ApprovalId, u64)>,
    key_requests: u64,
    /// Whether the person chose the card of the workflow step that asks them.
    pub is_step_chosen: bool,
    /// The workflow step that asks the person, and since when it is shown.
    step: Option<(String, f64)>,
    is_step_new: bool,
    /// The agent whose new approval is to be scrolled into view once mouse and keyboard are idle.
    to_reveal: Option<Id>,
}

impl Questions {
    /// Updates to the approvals that wait now.
    pub fn update(&mut self, room: &RoomModel, now_secs: f64) {
        let waiting: BTreeSet<ApprovalId> =
            room.work.questions().map(|(_, question)| question.approval.id.clone()).collect();
        let still_waits = self.front.as_ref().is_some_and(|front| waiting.contains(front));
        if !still_waits {
            self.front = room.work.questions().next().map(|(_, question)| question.approval.id.clone());
        }
        self.is_locked = match &self.front {
            Some(front) => {
                self.input_lock.lock_secs(front, now_secs);
                self.input_lock.is_locked_for_keys(now_secs)
            }
            None => {
                self.input_lock = InputLock::default();
                false
            }
        };
        self.update_step(room, now_secs);
        // Older approvals come first.
        let is_new = self.front.as_ref().is_some_and(|front| !self.seen.contains(front));
        if is_new {
            self.to_reveal = self.front(room).map(|(piece, ..)| piece.agent.clone());
        }
        self.seen = waiting;
    }

    fn update_step(&mut self, room: &RoomModel, now_secs: f64) {
        let asked = room.workflows.asked().next().map(|(run, asked)| step_name(run, asked));
        if self.step.as_ref().map(|(name, _)| name) != asked.as_ref() {
            self.step = asked.map(|name| (name, now_secs));
        }
        self.is_step_new =
            self.step.as_ref().is_some_and(|(_, since_secs)| left(since_secs + KEY_LOCK_SECS, now_secs) > 0.0);
    }

    /// Whether the question of a workflow step has only just appeared, so that it takes no answer yet.
    pub fn is_step_new(&self) -> bool {
        self.is_step_new
    }

    /// Returns the name of the workflow step that asks the person.
    pub fn asked_step(&self) -> Option<&str> {
        self.step.as_ref().map(|(name, _)| name.as_str())
    }

    /// Returns the approval in front, its index and the number of waiting approvals.
    pub fn front<'a>(&self, room: &'a RoomModel) -> Option<(&'a PieceView, &'a QuestionView, usize, usize)> {
        let front = self.front.as_ref()?;
        let at = room.work.questions().position(|(_, question)| question.approval.id == *front)?;
        let (piece, question) = room.work.questions().nth(at)?;
        Some((piece, question, at, room.work.questions().count()))
    }

    /// Whether the approval in front takes no answer by a key yet.
    pub fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// Moves the next or the previous approval to the front and returns the agent that it belongs to.
    pub fn step(&mut self, room: &RoomModel, forward: bool) -> Option<Id> {
        let (_, _, at, count) = self.front(room)?;
        let next = if forward { (at + 1) % count } else { (at + count - 1) % count };
        let (piece, question) = room.work.questions().nth(next)?;
        self.front = Some(question.approval.id.clone());
        Some(piece.agent.clone())
    }

    /// Requests the keys for the card of the approval in front; if it has them already, for the next one.
    pub fn take(&mut self, room: &RoomModel) {
        if self.is_chosen {
            self.step(room, true);
        }
        self.key_requests += 1;
        self.key_request = self.front.clone().map(|front| (front, self.key_requests));
    }

    /// Returns the number of the request that the card of this approval takes the keys, if there is one.
    pub fn key_request(&self, of: &ApprovalId) -> Option<u64> {
        self.key_request.as_ref().filter(|(requested, _)| requested == of).map(|(_, number)| *number)
    }

    /// Moves an approval to the front, if it still waits, and returns the agent that it belongs to.
    pub fn choose(&mut self, room: &RoomModel, chosen: &ApprovalId) -> Option<Id> {
        let (piece, _) = room.work.questions().find(|(_, question)| question.approval.id == *chosen)?;
        self.front = Some(chosen.clone());
        Some(piece.agent.clone())
    }

    /// Takes the agent whose new approval has not been scrolled into view.
    pub fn take_to_reveal(&mut self) -> Option<Id> {
        self.to_reveal.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{asking_piece, sample_room};

    fn id(number: u64) -> ApprovalId {
        ApprovalId::parse(&format!("{number}-1-0-0000abcd")).expect("it has the shape")
    }

    #[test]
    fn a_new_approval_takes_no_answer_for_a_moment() {
        let mut lock = InputLock::default();
        for (shown, now_secs, is_locked) in [
            (1, 10.0, true),
            (1, 10.2, true),
            (1, 10.3, false),
            (1, 99.0, false),
            // Another one has replaced it.
            (2, 99.1, true),
            (2, 99.5, false),
            (1, 99.6, true),
        ] {
            assert_eq!(lock.lock_secs(&id(shown), now_secs) > 0.0, is_locked, "{shown} at {now_secs}");
        }
    }

    #[test]
    fn the_oldest_approval_is_in_front_until_another_is_chosen_or_it_is_answered() {
        let mut room = sample_room();
        let mut questions = Questions::default();
        questions.update(&room, 0.0);
        assert!(questions.front(&room).is_none());
        room.work.pieces = vec![asking_piece(7, "ada-1", "write a.md"), asking_piece(8, "bram-1", "write b.md")];
        questions.update(&room, 1.0);
        assert_eq!(questions.take_to_reveal().as_deref(), Some("ada-1"));
        assert!(questions.is_locked());
        questions.update(&room, 2.0);
        let front = |questions: &Questions, room: &RoomModel| {
            questions.front(room).map(|(piece, _, at, count)| (piece.agent.to_string(), at, count))
        };
        assert_eq!(front(&questions, &room), Some(("ada-1".into(), 0, 2)));
        assert!(!questions.is_locked() && questions.take_to_reveal().is_none());
        assert_eq!(questions.step(&room, true).as_deref(), Some("bram-1"));
        questions.update(&room, 3.0);
        assert!(questions.is_locked(), "another approval is in front");
        assert_eq!(questions.step(&room, true).as_deref(), Some("ada-1"), "after the last comes the first");
        assert_eq!(questions.step(&room, false).as_deref(), Some("bram-1"));
        let first = room.work.questions().next().map(|(_, question)| question.approval.id.clone());
        assert_eq!(questions.choose(&room, &first.expect("it is asked")).as_deref(), Some("ada-1"));
        assert_eq!(questions.choose(&room, &id(99)), None, "it no longer waits");
        assert_eq!(front(&questions, &room), Some(("ada-1".into(), 0, 2)));
        room.work.pieces.pop();
        questions.update(&room, 4.0);
        assert_eq!(front(&questions, &room), Some(("ada-1".into(), 0, 1)));
        assert!(questions.take_to_reveal().is_none(), "it is not new");
    }
}
