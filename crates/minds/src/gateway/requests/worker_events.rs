//! How what the worker reports enters the room: one collector for every kind of event, which runs before inputs are
//! admitted. In a replay, the journal holds what arrived in the recorded run, so whatever arrives now is dropped.

use bevy::ecs::prelude::*;
use bevy::ecs::system::{StaticSystemParam, SystemParam, SystemParamItem};

use super::bridge::WorkerBridge;
use crate::schedule::{InputJournal, SimClock};

/// A kind of event of the worker.
pub(in crate::gateway) trait WorkerEvents: 'static {
    /// One event.
    type Event;
    /// The parts of the room that receive the events.
    type Room: SystemParam + 'static;

    /// Removes and returns the events that are due in this tick, in order.
    fn take(bridge: &mut WorkerBridge, tick: u64) -> impl IntoIterator<Item = Self::Event>;

    /// Admits one event.
    fn admit(event: Self::Event, room: &mut SystemParamItem<'_, '_, Self::Room>);
}

/// Admits the events of one kind, or drops them in a replay.
pub(in crate::gateway) fn collect<Events: WorkerEvents>(
    mut bridge: ResMut<WorkerBridge>,
    mut room: StaticSystemParam<Events::Room>,
    (journal, clock): (Res<InputJournal>, Res<SimClock>),
) {
    let is_live = is_live(journal);
    for event in Events::take(&mut bridge, clock.tick()).into_iter().filter(|_| is_live) {
        Events::admit(event, &mut room);
    }
}

/// Whether what comes from outside counts: no recorded inputs are being replayed.
pub(in crate::gateway) fn is_live(journal: Res<InputJournal>) -> bool {
    !journal.is_replaying()
}
