//! The panes that other crates add to every window of their program.

use std::sync::{PoisonError, RwLock};

use super::pane::Pane;

/// Makes a pane for a new window.
type NewPane = fn() -> Box<dyn Pane>;

/// The panes registered in this program, by the ids of their panes.
static REGISTERED: RwLock<Vec<(&'static str, NewPane)>> = RwLock::new(Vec::new());

/// Registers a pane for every window that is opened from now on. A pane with the same id takes the place of an earlier
/// one.
pub fn register(new_pane: NewPane) {
    let id = new_pane().id();
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.retain(|(other, _)| *other != id);
    registered.push((id, new_pane));
}

/// Makes each registered pane, in the order of registration.
pub(super) fn registered() -> impl Iterator<Item = Box<dyn Pane>> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone();
    registered.into_iter().map(|(_, new_pane)| new_pane())
}
