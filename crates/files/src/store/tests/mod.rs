//! Tests of the whole log: the rows that a reader finds after crashes and errors of a writer.

mod crash;
mod database;
mod places;
mod recording;
mod recovery;
mod salvage;
mod thinning;
mod threads;

use std::path::Path;

use serde_json::json;

use super::handle::Store;
use super::reader::Reader;
use super::record::{RunStart, Snapshot, TickRecord};
use crate::base::{Id, Seq};
use crate::log::events::Read;
use crate::log::{EventDraft, EventRecord};
use crate::schedule::RecordedInput;

fn store(dir: &Path) -> Store {
    let (store, problems) = Store::open(dir).unwrap();
    assert_eq!(problems, [], "a sound log opens without a problem");
    store
}

fn run_start(id: &str, first_seq: u64, first_tick: u64) -> RunStart {
    let start = json!({ "from": first_tick });
    RunStart { id: id.into(), scene: "studio".into(), seed: u64::MAX, first_seq: Seq(first_seq), first_tick, start }
}

fn event(run: &str, seq: u64, tick: u64) -> EventRecord {
    let read = Read { element: Some("rules".into()), version: u32::try_from(seq).ok(), ..Read::default() };
    let draft = EventDraft::of(&read).agent(&Id::from("ada"));
    EventRecord { seq: Seq(seq), tick, time_ms: 1_769_854_830_123, run: run.into(), draft }
}

fn input(tick: u64, data: &str) -> RecordedInput {
    RecordedInput { tick, kind: "model_reply".into(), data: data.into() }
}

/// A tick with one event with this number and one input.
fn tick(run: &str, tick: u64, seq: u64) -> TickRecord {
    let data = format!("\"reply {tick}\"");
    TickRecord { tick, events: vec![event(run, seq, tick)], inputs: vec![input(tick, &data)] }
}

fn snapshot(run: &str, tick: u64, next_seq: u64) -> Snapshot {
    let sections = json!({ "clock": { "tick": tick }, "agents": ["ü", 0.1] });
    Snapshot {
        scene: "studio".into(),
        run: run.into(),
        tick,
        next_seq: Seq(next_seq),
        sections,
        files: json!({ "boards/rules.md": "hash" }),
    }
}

fn seqs(reader: &Reader, run: Option<&str>) -> Vec<u64> {
    let mut seqs = Vec::new();
    let visit = |event: EventRecord| {
        seqs.push(event.seq.0);
        Ok::<_, super::StoreError>(())
    };
    reader.for_each_event(run, visit).unwrap();
    seqs
}
