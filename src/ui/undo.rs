//! What can be taken back, and done again.

use super::command::RoomAct;

/// So many changes can be taken back.
const KEPT: usize = 200;

/// A change and what takes it back.
pub type Undoable = (RoomAct, RoomAct);

/// The changes of this window, oldest first. Each entry is undone as one.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Vec<Undoable>>,
    undone: Vec<Vec<Undoable>>,
}

impl History {
    /// Notes what was done. What had been taken back before cannot be done again any more.
    pub fn note(&mut self, changes: Vec<Undoable>) {
        if changes.is_empty() {
            return;
        }
        self.undone.clear();
        self.done.push(changes);
        let surplus = self.done.len().saturating_sub(KEPT);
        self.done.drain(..surplus);
    }

    /// What to do to take the last change back, the last part first.
    pub fn undo(&mut self) -> Vec<RoomAct> {
        let Some(changes) = self.done.pop() else { return Vec::new() };
        let acts = changes.iter().rev().map(|(_, back)| back.clone()).collect();
        self.undone.push(changes);
        acts
    }

    /// What to do to do it again.
    pub fn redo(&mut self) -> Vec<RoomAct> {
        let Some(changes) = self.undone.pop() else { return Vec::new() };
        let acts = changes.iter().map(|(forth, _)| forth.clone()).collect();
        self.done.push(changes);
        acts
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

    #[test]
    fn changes_are_taken_back_last_first_and_done_again() {
        let mut history = History::default();
        history.note(vec![(to(1.0), to(0.0)), (to(2.0), to(1.0))]);
        history.note(vec![(to(3.0), to(2.0))]);
        assert_eq!(history.undo(), [to(2.0)]);
        assert_eq!(history.undo(), [to(1.0), to(0.0)]);
        assert_eq!(history.undo(), []);
        assert_eq!(history.redo(), [to(1.0), to(2.0)]);
        history.note(vec![(to(9.0), to(2.0))]);
        assert_eq!(history.redo(), [], "another change was made meanwhile");
    }

    #[test]
    fn a_long_day_s_changes_are_bounded() {
        let mut history = History::default();
        for x in 0..KEPT + 50 {
            history.note(vec![(to(x as f32 + 1.0), to(x as f32))]);
        }
        assert_eq!((0..).take_while(|_| !history.undo().is_empty()).count(), KEPT);
    }
}
