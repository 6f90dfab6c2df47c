//! The stored history: the event log, the journal of inputs and the versions of files in SQLite. No domain logic.
//!
//! Systems write to [`EventLog`]. At the end of each tick, its records, the inputs and the clock are sent together to
//! the [`Store`], whose thread writes them in one transaction. So even after a kill, the database contains all ticks up
//! to some tick, and no part of a later one. [`Reader`] reads concurrently; [`Reader::reopen`] restores a room.

mod attachments;
mod compression;
mod db;
mod error;
pub mod export;
mod handle;
mod integrity_check;
mod location;
mod opening;
mod quarantine;
pub mod reader;
mod record;
mod recovery;
mod retention;
mod salvage;
mod snapshot_retention;
#[cfg(test)]
mod tests;
mod thread;
pub mod versions;
mod writer;

pub use db::{holder, is_stopped, runs};
pub use error::StoreError;
pub use export::{ExportError, export_events};
pub use handle::Store;
pub use location::FILE as HISTORY_FILE;
pub(crate) use location::SQLITE_SIDECAR_SUFFIXES as BESIDE_HISTORY;
pub use opening::{empty_write_ahead_log, while_closed};
pub use quarantine::{QuarantinedDatabase, quarantine, quarantine_without_salvage};
pub use reader::{Reader, ReopenFrom, Reopening, RunEnd, RunInfo};
pub use record::{RunStart, Snapshot, TickRecord};
pub use recovery::RecoveryPoint;
pub use retention::HistoryLimits;
pub use versions::{Durability, FileChanges, FileHead, FileVersion, FileVersions, VersionDraft};

use std::time::{SystemTime, UNIX_EPOCH};

use bevy::app::App;
use bevy::ecs::prelude::*;

use crate::base::Id;
use crate::log::EventLog;
use crate::schedule::inputs::CollectInputs;
use crate::schedule::outside::must_wait_for_log;
use crate::schedule::{InPhase, InputJournal, Layer, SimClock, Tick, WorkshopSystems};

/// The number of newest events that stay in [`EventLog`] without a [`Store`], as in tests.
const EVENTS_WITHOUT_STORE: usize = 100_000;

/// Adds the store to the room's app. Without a [`Store`], events are not written: the newest 100,000 stay in
/// [`EventLog::unwritten`], and inputs stay in [`InputJournal`].
pub fn plugin(app: &mut App) {
    app.init_resource::<EventLog>();
    let door = InPhase(WorkshopSystems::Ingest, Layer::Inputs);
    app.add_systems(Tick, stamp_log.before(CollectInputs).before(door));
    app.add_systems(Tick, record_tick.in_set(InPhase(WorkshopSystems::Record, Layer::Store)));
}

/// Sends everything since the last tick to the store. For the driver, after it logged a record between ticks, such as
/// the end of a run.
pub fn record_now(world: &mut World) {
    if let Err(error) = world.run_system_cached(record_tick) {
        tracing::error!("the last records could not be handed to the log: {error}");
    }
}

/// Whether the next tick must wait, because it would carry out an order whose tick is not in the log.
pub fn orders_must_wait(world: &World) -> bool {
    must_wait_for_log(world, || world.get_resource::<Store>().is_none_or(Store::has_written_all))
}

/// Returns a new name for a run, such as `r-20260131-102030-8f3a`. The last part is the fraction of the second, in
/// steps of 15 microseconds, so that the one process that may write a workspace never creates the same name twice.
pub fn new_run_id() -> Id {
    run_id_at(SystemTime::now())
}

fn run_id_at(time: SystemTime) -> Id {
    let nanos = time.duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
    let fraction = (u64::from(nanos) << 16) / 1_000_000_000;
    let to_the_second = humantime::format_rfc3339_seconds(time).to_string();
    let digits = to_the_second.replace(['-', ':', 'Z'], "").replace('T', "-");
    format!("r-{digits}-{fraction:04x}").into()
}

fn stamp_log(mut log: ResMut<EventLog>, clock: Res<SimClock>) {
    log.stamp(clock.tick());
}

fn record_tick(
    mut log: ResMut<EventLog>,
    mut journal: ResMut<InputJournal>,
    clock: Res<SimClock>,
    store: Option<ResMut<Store>>,
) {
    let Some(mut store) = store else {
        log.keep_newest(EVENTS_WITHOUT_STORE);
        return;
    };
    let (events, inputs) = (log.take(), journal.take_recorded());
    // Replayed ticks are already recorded.
    if !journal.is_replaying() {
        store.keep_tick(TickRecord { tick: clock.tick(), events, inputs });
    }
}
