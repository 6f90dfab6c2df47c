//! The undo and redo history.

use crate::ui::commands::RoomAct;
use crate::workspace::vfs::NewFile;

/// The maximum number of changes that can be undone.
const MAX_STEPS: usize = 200;

/// One undoable change: the actions and their inverses, each in the order in which they are performed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Step {
    /// The actions.
    pub forth: Vec<RoomAct>,
    /// The inverse actions.
    pub back: Vec<RoomAct>,
    /// The elements of a nudge: the next nudge of the same elements is merged into this step.
    pub nudged: Vec<crate::base::Id>,
    /// The files that the change added to the workspace; undoing it removes them.
    pub files: Vec<NewFile>,
    /// The number of the record if an agent's work was undone by this change.
    pub undone: Option<u64>,
}

/// The actions and file changes that undo or redo a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reversal {
    /// The actions in the room, in order.
    pub acts: Vec<RoomAct>,
    /// The files to remove from the workspace, or to restore.
    pub files: Vec<NewFile>,
    /// The record of undone work to be redone, or to be undone again.
    pub undone: Option<u64>,
}

/// The changes made in this window, oldest first. Each step is undone as one.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
}

impl History {
    /// Records a change. Undone changes can no longer be redone then.
    pub fn note(&mut self, step: Step) {
        if step.back.is_empty() && step.files.is_empty() && step.undone.is_none() {
            return;
        }
        self.undone.clear();
        match self.done.last_mut() {
            // Repeated nudges of the same elements are one step.
            Some(last) if !step.nudged.is_empty() && last.nudged == step.nudged => last.forth = step.forth,
            _ => self.done.push(step),
        }
        let surplus = self.done.len().saturating_sub(MAX_STEPS);
        self.done.drain(..surplus);
    }

    /// Undoes the last step. Returns the actions to perform.
    pub fn undo(&mut self) -> Reversal {
        let Some(mut step) = self.done.pop() else { return Reversal::default() };
        // A nudge after a redo is a new step.
        step.nudged.clear();
        let reversal = Reversal { acts: step.back.clone(), files: step.files.clone(), undone: step.undone };
        self.undone.push(step);
        reversal
    }

    /// Redoes the last undone step. Returns the actions to perform.
    pub fn redo(&mut self) -> Reversal {
        let Some(step) = self.undone.pop() else { return Reversal::default() };
        let reversal = Reversal { acts: step.forth.clone(), files: step.files.clone(), undone: step.undone };
        self.done.push(step);
        reversal
    }

    /// Returns how many steps can be undone and redone.
    pub fn len(&self) -> (usize, usize) {
        (self.done.len(), self.undone.len())
    }

    /// Forgets all steps, because another room is open.
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
        assert_eq!(history.undo().acts, [to(2.0)], "a change without inverse is no step");
        assert_eq!(history.undo().acts, [to(1.0), to(0.0)]);
        assert_eq!(history.undo().acts, []);
        assert_eq!(history.redo().acts, [to(1.0), to(2.0)]);
        history.note(step(&[9.0], &[2.0]));
        assert_eq!(history.redo().acts, [], "another change was made meanwhile");
    }

    #[test]
    fn added_files_are_removed_by_undo_and_restored_by_redo() {
        let mut history = History::default();
        let files = vec![NewFile { path: "agents/zoe.md".into(), version: Some(1), hash: 7 }];
        history.note(Step { files: files.clone(), ..Step::default() });
        assert_eq!(history.undo(), Reversal { files: files.clone(), ..Reversal::default() });
        assert_eq!(history.redo(), Reversal { files, ..Reversal::default() });
    }

    #[test]
    fn repeated_nudges_of_the_same_elements_are_one_step() {
        let mut history = History::default();
        let nudge = |to: f32, from: f32| Step { nudged: vec!["rules".into()], ..step(&[to], &[from]) };
        history.note(nudge(1.0, 0.0));
        history.note(nudge(2.0, 1.0));
        assert_eq!(history.len(), (1, 0));
        assert_eq!(history.undo().acts, [to(0.0)]);
        assert_eq!(history.redo().acts, [to(2.0)]);
        history.note(nudge(3.0, 2.0));
        assert_eq!(history.len(), (2, 0), "a redone step is complete");
    }

    #[test]
    fn the_number_of_steps_is_bounded() {
        let mut history = History::default();
        for x in 0..MAX_STEPS + 50 {
            history.note(step(&[x as f32 + 1.0], &[x as f32]));
        }
        assert_eq!((0..).take_while(|_| !history.undo().acts.is_empty()).count(), MAX_STEPS);
    }
}
