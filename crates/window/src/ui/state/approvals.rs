//! The approvals that agents need: which one is shown, since when, and whether one has just appeared.

use std::collections::BTreeSet;

use crate::base::Id;
use crate::kernel::ApprovalId;
use crate::view::model::RoomModel;
use crate::view::work::{PieceView, QuestionView};

/// A question takes no answer for so long after it came: what was pressed then was meant for something else.
pub const REST_SECS: f64 = 0.3;

/// What somebody looks at, and since when.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Freshness {
    shown: Option<ApprovalId>,
    since_secs: f64,
}

impl Freshness {
    /// This is shown now. For how much longer it takes no answer; nothing once it does.
    pub fn rests_for(&mut self, shown: &ApprovalId, now_secs: f64) -> f64 {
        if self.shown.as_ref() != Some(shown) {
            *self = Self { shown: Some(shown.clone()), since_secs: now_secs };
        }
        // A hair of a moment is none: sums of times are not exact.
        let left = self.since_secs + REST_SECS - now_secs;
        if left > 1e-6 { left } else { 0.0 }
    }
}

/// The questions of the room, and the one in front: that which keys answer, and cards show that show one of all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Questions {
    front: Option<ApprovalId>,
    freshness: Freshness,
    is_resting: bool,
    known: BTreeSet<ApprovalId>,
    /// The agent whose question is to be brought into view, once mouse and keyboard are idle.
    coming: Option<Id>,
}

impl Questions {
    /// Takes in what is asked now.
    pub fn update(&mut self, room: &RoomModel, now_secs: f64) {
        let asked: BTreeSet<ApprovalId> =
            room.work.questions().map(|(_, question)| question.approval.id.clone()).collect();
        let is_there = self.front.as_ref().is_some_and(|front| asked.contains(front));
        if !is_there {
            self.front = room.work.questions().next().map(|(_, question)| question.approval.id.clone());
        }
        self.is_resting = match &self.front {
            Some(front) => self.freshness.rests_for(front, now_secs) > 0.0,
            None => {
                self.freshness = Freshness::default();
                false
            }
        };
        // Earlier questions come before new ones.
        let is_new = self.front.as_ref().is_some_and(|front| !self.known.contains(front));
        if is_new {
            self.coming = self.front(room).map(|(piece, ..)| piece.agent.clone());
        }
        self.known = asked;
    }

    /// The question in front, the how many-th of all it is, and how many there are.
    pub fn front<'a>(&self, room: &'a RoomModel) -> Option<(&'a PieceView, &'a QuestionView, usize, usize)> {
        let front = self.front.as_ref()?;
        let at = room.work.questions().position(|(_, question)| question.approval.id == *front)?;
        let (piece, question) = room.work.questions().nth(at)?;
        Some((piece, question, at, room.work.questions().count()))
    }

    /// Whether the question in front takes no answer yet.
    pub fn is_resting(&self) -> bool {
        self.is_resting
    }

    /// Puts the next question in front, or the one before. Whose that is.
    pub fn step(&mut self, room: &RoomModel, forward: bool) -> Option<Id> {
        let (_, _, at, count) = self.front(room)?;
        let next = if forward { (at + 1) % count } else { (at + count - 1) % count };
        let (piece, question) = room.work.questions().nth(next)?;
        self.front = Some(question.approval.id.clone());
        Some(piece.agent.clone())
    }

    /// Puts a question in front, if it is still asked. Whose that is.
    pub fn choose(&mut self, room: &RoomModel, chosen: &ApprovalId) -> Option<Id> {
        let (piece, _) = room.work.questions().find(|(_, question)| question.approval.id == *chosen)?;
        self.front = Some(chosen.clone());
        Some(piece.agent.clone())
    }

    /// Whose question came up and was not brought into view.
    pub fn take_coming(&mut self) -> Option<Id> {
        self.coming.take()
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
    fn what_has_just_come_takes_no_answer_for_a_moment() {
        let mut seen = Freshness::default();
        for (shown, now_secs, rests) in [
            (1, 10.0, true),
            (1, 10.2, true),
            (1, 10.3, false),
            (1, 99.0, false),
            // Another one has taken its place.
            (2, 99.1, true),
            (2, 99.5, false),
            (1, 99.6, true),
        ] {
            assert_eq!(seen.rests_for(&id(shown), now_secs) > 0.0, rests, "{shown} at {now_secs}");
        }
    }

    #[test]
    fn the_oldest_question_stands_in_front_until_another_is_chosen_or_it_is_answered() {
        let mut room = sample_room();
        let mut questions = Questions::default();
        questions.update(&room, 0.0);
        assert!(questions.front(&room).is_none());
        room.work.pieces = vec![asking_piece(7, "ada-1", "write a.md"), asking_piece(8, "bram-1", "write b.md")];
        questions.update(&room, 1.0);
        assert_eq!(questions.take_coming().as_deref(), Some("ada-1"));
        assert!(questions.is_resting());
        questions.update(&room, 2.0);
        let front = |questions: &Questions, room: &RoomModel| {
            questions.front(room).map(|(piece, _, at, count)| (piece.agent.to_string(), at, count))
        };
        assert_eq!(front(&questions, &room), Some(("ada-1".into(), 0, 2)));
        assert!(!questions.is_resting() && questions.take_coming().is_none());
        assert_eq!(questions.step(&room, true).as_deref(), Some("bram-1"));
        questions.update(&room, 3.0);
        assert!(questions.is_resting(), "another one is in front");
        assert_eq!(questions.step(&room, true).as_deref(), Some("ada-1"), "and round");
        assert_eq!(questions.step(&room, false).as_deref(), Some("bram-1"));
        let first = room.work.questions().next().map(|(_, question)| question.approval.id.clone());
        assert_eq!(questions.choose(&room, &first.expect("it is asked")).as_deref(), Some("ada-1"));
        assert_eq!(questions.choose(&room, &id(99)), None, "nobody asks that any more");
        assert_eq!(front(&questions, &room), Some(("ada-1".into(), 0, 2)));
        room.work.pieces.pop();
        questions.update(&room, 4.0);
        assert_eq!(front(&questions, &room), Some(("ada-1".into(), 0, 1)));
        assert!(questions.take_coming().is_none(), "that one was known");
    }
}
