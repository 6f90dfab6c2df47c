//! What is written to the log besides single events: the start of a run, a tick, a snapshot.

use serde_json::Value;

use crate::base::{Id, Seq};
use crate::log::EventRecord;
use crate::schedule::RecordedInput;

/// The start of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunStart {
    /// Its name, from [`super::new_run_id`].
    pub id: Id,
    /// The name of the scene.
    pub scene: String,
    /// The seed of the room.
    pub seed: u64,
    /// The number that its first event will get: above every number there is.
    pub first_seq: Seq,
    /// The tick of the room before the first tick of this run: 0 in a fresh room, more if a room continues.
    pub first_tick: u64,
    /// Everything the run begins with, so that this and its inputs make the whole run again. It must not
    /// lean on a snapshot of an earlier run: those are thrown away.
    pub start: Value,
}

/// One tick: its events and inputs. Written completely or not at all.
#[derive(Clone, Debug, Default)]
pub struct TickRecord {
    /// Which tick.
    pub tick: u64,
    /// What happened, in order.
    pub events: Vec<EventRecord>,
    /// What came in, in order.
    pub inputs: Vec<RecordedInput>,
}

/// What a record costs in memory and in the database besides its texts, roughly.
const BYTES_PER_RECORD: usize = 160;

impl TickRecord {
    /// Whether it says no more than how far the clock has come.
    pub fn is_quiet(&self) -> bool {
        self.events.is_empty() && self.inputs.is_empty()
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let events = self.events.iter().map(|event| {
            let enclosed = event.draft.enclosure.as_ref().map_or(0, |text| text.len());
            BYTES_PER_RECORD + event.draft.data().bytes() + enclosed
        });
        let inputs = self.inputs.iter().map(|input| BYTES_PER_RECORD + input.data.len());
        events.chain(inputs).sum()
    }
}

/// The state of a whole room after a tick.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    /// The name of the scene.
    pub scene: String,
    /// The run it was taken in. Filled in by the log when it is saved.
    pub run: Id,
    /// The tick after which it was taken, which must have been handed over before.
    pub tick: u64,
    /// The number that the next event gets.
    pub next_seq: Seq,
    /// What [`crate::schedule::saved::save_world`] gave.
    pub sections: Value,
    /// What the workspace knew of its files.
    pub files: Value,
}
