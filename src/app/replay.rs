//! Replays a past run without a model, and compares it with the recorded one.

use thiserror::Error;

use crate::base::Id;
use crate::schedule::{self, InputJournal, SimClock, saved};
use crate::store::{Reader, StoreError};
use crate::workspace::RoomStart;

/// Why a run could not be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The history cannot be read.
    #[error("{0}; {remedy}", remedy = .0.remedy())]
    Store(#[from] StoreError),
    /// The history has no run with this id.
    #[error("there is no run {wanted:?} in this workspace; the newest are: {newest}")]
    NoSuchRun {
        /// The requested id.
        wanted: String,
        /// The newest runs.
        newest: String,
    },
    /// The recorded start cannot be parsed by this version.
    #[error("the recorded start of the run could not be read: {0}")]
    Start(#[from] serde_json::Error),
}

/// The result of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The run's id.
    pub run: Id,
    /// The tick that was reached.
    pub tick: u64,
    /// Number of ticks played.
    pub ticks: u64,
    /// Number of recorded hashes compared.
    pub compared: usize,
    /// The first tick at which the world's hash differs from the recorded one.
    pub differs_at: Option<u64>,
    /// The hash of the world at the end.
    pub hash: u64,
}

/// Replays a run (by id, or `last`) from its start, to `to_tick` or to its end, calling `each_tick` after every tick.
pub fn replay(
    reader: &Reader,
    run: &str,
    to_tick: Option<u64>,
    mut each_tick: impl FnMut(&mut bevy::ecs::world::World),
) -> Result<Replayed, ReplayError> {
    let runs = reader.runs()?;
    let found = if run == "last" { runs.first() } else { runs.iter().find(|known| &*known.id == run) };
    let Some(found) = found else {
        let newest = runs.iter().take(5).map(|run| &*run.id).collect::<Vec<_>>().join(", ");
        return Err(ReplayError::NoSuchRun { wanted: run.to_owned(), newest });
    };
    // In a damaged history, the run ends with its last readable record.
    let found = &reader.run(&found.id)?;
    let start: RoomStart = serde_json::from_value(reader.start(&found.id)?)?;
    let mut app = super::begin(start, found.id.clone(), found.first_seq)?;
    let world = app.world_mut();
    world.resource_mut::<InputJournal>().replay(reader.inputs(&found.id, 0)?);
    let hashes = reader.hashes(&found.id)?;
    let last = to_tick.unwrap_or(found.last_tick).min(found.last_tick);
    let (mut compared, mut differs_at, mut ticks) = (0, None, 0);
    while world.resource::<SimClock>().tick() < last {
        schedule::advance(world);
        ticks += 1;
        let tick = world.resource::<SimClock>().tick();
        if let Some(recorded) = hashes.get(&tick) {
            compared += 1;
            if *recorded != saved::world_hash(world) && differs_at.is_none() {
                differs_at = Some(tick);
            }
        }
        each_tick(world);
    }
    let tick = world.resource::<SimClock>().tick();
    Ok(Replayed { run: found.id.clone(), tick, ticks, compared, differs_at, hash: saved::world_hash(world) })
}
