//! The section `history` of `settings.yaml`: how much of the history is kept.

use bevy::ecs::prelude::*;

use super::settings::SettingsSection;
use crate::store::{HistoryLimits, Store};

impl SettingsSection for HistoryLimits {
    const NAME: &'static str = "history";
}

/// Sends changed limits to the store. Nothing in the room depends on them.
pub(super) fn send_history_limits(limits: Res<HistoryLimits>, store: Option<ResMut<Store>>, mut is_due: Local<bool>) {
    *is_due |= limits.is_changed();
    let Some(mut store) = store.filter(|_| *is_due) else { return };
    *is_due = !store.set_limits(limits.clone());
}
