//! What the actions of the person are called in the undo history, as on a button.

mod texts;

pub use self::texts::why_irreversible;

use super::RoomAct;
use crate::view::model::RoomModel;

/// Returns the label of actions that are undone as one: that of the first that has one, and how many others there are.
pub fn label<'a>(acts: impl IntoIterator<Item = &'a RoomAct>, room: &RoomModel) -> String {
    let mut labels: Vec<String> = acts.into_iter().filter_map(|act| texts::label_of(act, room)).collect();
    labels.dedup();
    let others = labels.len().saturating_sub(1);
    let first = labels.into_iter().next().unwrap_or_else(|| texts::LAST_CHANGE.to_owned());
    match others {
        0 => first,
        others => texts::and_others(&first, others),
    }
}
