//! The undo and redo history.

use crate::ui::commands::RoomAct;
use crate::workspace::vfs::NewFile;

/// The maximum number of changes that can be undone.
const KEPT: usize = 200;

/// What was done at once, and what takes it back: each in the order in which it is to be done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Step {
    /// What was done.
    pub forth: Vec<RoomAct>,
    /// What takes it back.
    pub back: Vec<RoomAct>,
    /// What was moved, where this was a small move: the next small move of the same things goes on with this step.
    pub nudged: Vec<crate::base::Id>,
    /// Files that came into the workspace with it, and go when it is taken back.
    pub files: Vec<NewFile>,
    /// The record of an agent's work that was undone with it.
    pub undone: Option<u64>,
}

/// What takes a step back, or does it again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reversal {
    /// What to do in the room, in order.
    pub acts: Vec<RoomAct>,
    /// Files to be taken out of the workspace, or put back into it.
    pub files: Vec<NewFile>,
    /// The record of an agent's work that is to be taken back, or undone again.
    pub undone: Option<u64>,
}

/// The changes of this window, oldest first. Each entry is undone as one.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
}

impl History {
    /// Notes what was done. What had been taken back before cannot be done again any more.
    pub fn note(&mut self, step: Step) {
        if step.back.is_empty() && step.files.is_empty() && step.undone.is_none() {
            return;
        }
        self.undone.clear();
        match self.done.last_mut() {
            // Ten presses of an arrow are one move.
            Some(last) if !step.nudged.is_empty() && last.nudged == step.nudged => last.forth = step.forth,
            _ => self.done.push(step),
        }
        let surplus = self.done.len().saturating_sub(KEPT);
        self.done.drain(..surplus);
    }

    /// What to do to take the last change back.
    pub fn undo(&mut self) -> Reversal {
        let Some(mut step) = self.done.pop() else { return Reversal::default() };
        // A move that was taken back and made again is complete.
        step.nudged.clear();
        let reversal = Reversal { acts: step.back.clone(), files: step.files.clone(), undone: step.undone };
        self.undone.push(step);
        reversal
    }

    /// What to do to do it again.
    pub fn redo(&mut self) -> Reversal {
        let Some(step) = self.undone.pop() else { return Reversal::default() };
        let reversal = Reversal { acts: step.forth.clone(), files: step.files.clone(), undone: step.undone };
        self.done.push(step);
        reversal
    }

    /// How many steps can be taken back, and how many done again.
    pub fn len(&self) -> (usize, usize) {
        (self.done.len(), self.undone.len())
    }

    /// Forgets everything: the room is another one now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementCommand;
    use bevy::math::Vec2;

    fn to(x: f32) -> RoomAct {
        RoomAct::Element(ElementCommand::Move { element: "rules".into(), position: Vec2::new(x, 0.0) })
    }

    fn step(forth: &[f32], back: &[f32]) -> Step {
        let acts = |places: &[f32]| places.iter().map(|x| to(*x)).collect();
        Step { forth: acts(forth), back: acts(back), ..Step::default() }
    }

    #[test]
    fn changes_are_undone_last_first_and_redone() {
        let mut history = History::default();
        history.note(step(&[1.0, 2.0], &[1.0, 0.0]));
        history.note(step(&[3.0], &[2.0]));
        history.note(step(&[4.0], &[]));
        assert_eq!(history.undo().acts, [to(2.0)], "what cannot be taken back is no step");
        assert_eq!(history.undo().acts, [to(1.0), to(0.0)]);
        assert_eq!(history.undo().acts, []);
        assert_eq!(history.redo().acts, [to(1.0), to(2.0)]);
        history.note(step(&[9.0], &[2.0]));
        assert_eq!(history.redo().acts, [], "another change was made meanwhile");
    }

    #[test]
    fn files_that_came_in_go_and_come_again_with_their_step() {
        let mut history = History::default();
        let files = vec![NewFile { path: "agents/zoe.md".into(), version: Some(1), hash: 7 }];
        history.note(Step { files: files.clone(), ..Step::default() });
        assert_eq!(history.undo(), Reversal { files: files.clone(), ..Reversal::default() });
        assert_eq!(history.redo(), Reversal { files, ..Reversal::default() });
    }

    #[test]
    fn small_moves_of_the_same_things_are_one() {
        let mut history = History::default();
        let nudge = |to: f32, from: f32| Step { nudged: vec!["rules".into()], ..step(&[to], &[from]) };
        history.note(nudge(1.0, 0.0));
        history.note(nudge(2.0, 1.0));
        assert_eq!(history.len(), (1, 0));
        assert_eq!(history.undo().acts, [to(0.0)]);
        assert_eq!(history.redo().acts, [to(2.0)]);
        history.note(nudge(3.0, 2.0));
        assert_eq!(history.len(), (2, 0), "what was done again is complete");
    }

    #[test]
    fn a_long_day_s_changes_are_bounded() {
        let mut history = History::default();
        for x in 0..KEPT + 50 {
            history.note(step(&[x as f32 + 1.0], &[x as f32]));
        }
        assert_eq!((0..).take_while(|_| !history.undo().acts.is_empty()).count(), KEPT);
    }
}
