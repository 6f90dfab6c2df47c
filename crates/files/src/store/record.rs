//! Data that is written to the history in addition to single events: the start of a run, a tick, a snapshot.

use serde_json::Value;

use crate::base::{Id, Seq};
use crate::log::EventRecord;
use crate::schedule::RecordedInput;

/// The start of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunStart {
    /// The name, from [`super::new_run_id`].
    pub id: Id,
    /// The name of the scene.
    pub scene: String,
    /// The seed of the room.
    pub seed: u64,
    /// The number of its first event, which is higher than every number so far.
    pub first_seq: Seq,
    /// The last tick before this run: 0 in a fresh room, more if a room continues.
    pub first_tick: u64,
    /// Everything from which the run, together with its inputs, can be replayed. It must not refer to a snapshot of an
    /// earlier run, because those are deleted.
    pub start: Value,
}

/// One tick: its events and inputs. Written completely or not at all.
#[derive(Clone, Debug, Default)]
pub struct TickRecord {
    /// The number of the tick.
    pub tick: u64,
    /// The events, in order.
    pub events: Vec<EventRecord>,
    /// The inputs, in order.
    pub inputs: Vec<RecordedInput>,
}

/// The approximate size of a record in memory and in the database without its texts, in bytes.
const BYTES_PER_RECORD: usize = 160;

impl TickRecord {
    /// Whether the tick has neither events nor inputs, and so only advances the clock.
    pub fn is_quiet(&self) -> bool {
        self.events.is_empty() && self.inputs.is_empty()
    }

    /// Returns the approximate size in memory, in bytes.
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
    /// The run; set by the log when the snapshot is saved.
    pub run: Id,
    /// The tick after which it was taken, which must have been sent before.
    pub tick: u64,
    /// The number of the next event.
    pub next_seq: Seq,
    /// The result of [`crate::schedule::saved::save_world`].
    pub sections: Value,
    /// The files that the workspace knew.
    pub files: Value,
}
