//! Pending renames of files: what is known about a file moves with it once the rename has succeeded. Undo and redo work
//! the same way.

use crate::base::Id;
use crate::ui::commands::RoomAct;
use crate::view::recent_events::Recent;
use crate::workspace::vfs::{FileCommand, FileOperation};

/// A pending rename.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Rename {
    order: Id,
    /// The previous path.
    pub(super) from: String,
    /// The new path.
    pub(super) to: String,
}

/// Pending renames.
#[derive(Clone, Debug, Default)]
pub(super) struct Renames(Vec<Rename>);

impl Renames {
    /// Records an action if it is a rename.
    pub(super) fn note(&mut self, act: &RoomAct) {
        if let RoomAct::File(FileCommand { key, operation: FileOperation::Rename { from, to } }) = act {
            self.0.push(Rename { order: key.clone(), from: from.clone(), to: to.clone() });
        }
    }

    /// The newest operation whose result is unknown.
    #[cfg(test)]
    pub(super) fn last_order(&self) -> Option<Id> {
        self.0.last().map(|rename| rename.order.clone())
    }

    /// The completed renames, in the order of the requests. Failed ones are dropped.
    pub(super) fn take_done(&mut self, recent: &Recent) -> Vec<Rename> {
        let mut done = Vec::new();
        self.0.retain(|rename| match recent.order(&rename.order) {
            None => true,
            Some(Err(_)) => false,
            Some(Ok(())) => {
                done.push(rename.clone());
                false
            }
        });
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rename(order: &str, from: &str, to: &str) -> RoomAct {
        let operation = FileOperation::Rename { from: from.into(), to: to.into() };
        RoomAct::File(FileCommand { key: order.into(), operation })
    }

    #[test]
    fn only_successful_renames_are_followed() {
        let (mut renames, mut recent) = (Renames::default(), Recent::default());
        renames.note(&rename("1", "a.md", "b.md"));
        renames.note(&rename("2", "c.md", "d.md"));
        assert!(renames.take_done(&recent).is_empty(), "nothing is known yet");
        recent.record_file_outcomes([("1".into(), Err("there is b.md already".to_owned())), ("2".into(), Ok(()))]);
        let done: Vec<_> = renames.take_done(&recent).into_iter().map(|done| (done.from, done.to)).collect();
        assert_eq!(done, [("c.md".to_owned(), "d.md".to_owned())]);
        assert!(renames.take_done(&recent).is_empty(), "each is followed once");
    }
}
