//! From the room into the log and out again: systems, runs, snapshots and export.

use bevy::app::App;
use bevy::ecs::prelude::*;
use serde_json::Value;

use super::*;
use crate::base::JobControl;
use crate::log::events::{Input, Message, Read, RunEnd, State, WorkInput};
use crate::log::{EventJson, EventKind, EventLog};
use crate::schedule::{self, InPhase, InputJournal, Layer, Tick, WorkshopSystems};
use crate::store::{self, HistoryLimits, ReopenFrom, export_events};

/// A room in which every tick writes two records, the second caused by the first.
fn room() -> App {
    let mut app = App::new();
    app.add_plugins((schedule::plugin, store::plugin));
    let write = |mut log: ResMut<EventLog>| {
        let first = log.write(EventDraft::of(&Input::Work(WorkInput::Pause)));
        log.write(EventDraft::of(&State { to: "idle".into(), ..State::default() }).cause(first));
    };
    app.add_systems(Tick, write.in_set(InPhase(WorkshopSystems::Simulate, Layer::Simulation)));
    app
}

fn open_room(dir: &Path) -> App {
    let mut app = room();
    let mut store = store(dir);
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    app.insert_resource(store).insert_resource(EventLog::new("r-1".into(), Seq(1)));
    app
}

#[test]
fn each_tick_is_stamped_and_sent() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = open_room(dir.path());
    for _ in 0..3 {
        schedule::advance(app.world_mut());
    }
    app.world_mut().resource_mut::<EventLog>().write(EventDraft::of(&RunEnd::default()));
    store::record_now(app.world_mut());
    let mut store = app.world_mut().remove_resource::<Store>().unwrap();
    store.end_run("done").unwrap();
    drop(store);
    let mut found = Vec::new();
    let reader = Reader::open(dir.path()).unwrap();
    let visit = |event: EventRecord| {
        assert!(event.time_ms > 1_700_000_000_000);
        found.push((event.seq.0, event.tick, event.draft.cause.map(|cause| cause.0)));
        Ok::<_, store::StoreError>(())
    };
    reader.for_each_event(Some("r-1"), visit).unwrap();
    let cause = Some;
    let written = [(1, 1, None), (2, 1, cause(1)), (3, 2, None), (4, 2, cause(3)), (5, 3, None), (6, 3, cause(5))];
    assert_eq!(found, [&written[..], &[(7, 3, None)]].concat());
    assert_eq!(reader.run("r-1").unwrap().last_tick, 3);
}

#[test]
fn nothing_is_written_during_a_replay() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = open_room(dir.path());
    app.world_mut().resource_mut::<InputJournal>().replay([]);
    schedule::advance(app.world_mut());
    app.world_mut().resource_mut::<InputJournal>().end_replay();
    schedule::advance(app.world_mut());
    app.world_mut().resource_mut::<Store>().flush().unwrap();
    assert_eq!(seqs(&Reader::open(dir.path()).unwrap(), None), [3, 4], "numbers go on as if it were written");
}

#[test]
fn without_a_store_the_newest_records_stay_in_the_log() {
    let mut app = room();
    schedule::advance(app.world_mut());
    assert_eq!(app.world().resource::<EventLog>().unwritten().len(), 2);
    for _ in 0..100_000 {
        app.world_mut().resource_mut::<EventLog>().write(EventDraft::of(&Read::default()));
    }
    schedule::advance(app.world_mut());
    let kept = app.world().resource::<EventLog>().unwritten();
    assert_eq!((kept.len(), kept[0].seq), (100_000, Seq(5)));
}

#[test]
fn runs_are_listed_newest_first_with_all_properties() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.send_tick(tick("r-1", 7, 1)).unwrap();
    store.end_run("idle").unwrap();
    store.start_run(run_start("r-2", 5, 7)).unwrap();
    store.flush().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    let runs = reader.runs().unwrap();
    assert_eq!(runs.iter().map(|run| &*run.id).collect::<Vec<_>>(), ["r-2", "r-1"]);
    assert_eq!((runs[0].seed, runs[0].first_tick, runs[0].last_tick, &runs[0].end), (u64::MAX, 7, 7, &None));
    assert_eq!(runs[1].end.as_ref().unwrap().reason, "idle");
    assert_eq!(reader.start("r-2").unwrap(), json!({ "from": 7 }));
    assert!(matches!(reader.run("r-9"), Err(store::StoreError::UnknownRun(_))));
    assert_eq!(reader.integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn the_newest_snapshots_of_each_scene_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    assert!(store.set_limits(HistoryLimits { max_snapshots: 2, ..HistoryLimits::default() }));
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    assert!(store.save_snapshot(move || Ok(Snapshot { scene: "attic".into(), ..snapshot("r-1", 0, 1) })));
    for n in 1..=5 {
        store.send_tick(tick("r-1", n, n)).unwrap();
        assert!(store.save_snapshot(move || Ok(snapshot("r-1", n, n + 1))));
        assert!(store.save_snapshot(move || Ok(snapshot("r-1", n, n + 1)))); // once more takes no second place
    }
    store.flush().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(reader.latest_snapshot("studio").unwrap().unwrap(), snapshot("r-1", 5, 6));
    assert_eq!(reader.latest_snapshot("attic").unwrap().unwrap().tick, 0);
    assert_eq!(reader.latest_snapshot("cellar").unwrap(), None);
    let database = rusqlite::Connection::open(reader.path()).unwrap();
    let ticks = "SELECT group_concat(tick) FROM (SELECT tick FROM snapshots WHERE scene = 'studio' ORDER BY tick)";
    assert_eq!(database.query_row(ticks, [], |row| row.get::<_, String>(0)).unwrap(), "4,5");
    assert!(matches!(reader.reopen("studio").unwrap().unwrap().from, ReopenFrom::Snapshot(_)));
}

#[test]
fn exported_lines_keep_their_format() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 412, 1829)).unwrap();
    let long = "x".repeat(1 << 20);
    let broken = EventJson::from_stored("{ \"text\":\n\"Grüße 東京 🦀\\n\" }".to_owned()).unwrap();
    let act = Id::from("act-9");
    let drafts = [
        EventDraft::of(&RunEnd { why: "done".into() }).agent(&act).activation(&act).session("s"),
        EventDraft::from_stored(EventKind::Message, broken).cause(Seq(412)),
        EventDraft::of(&Message { by: None, text: long.clone(), id: None }).cause(Seq(3)),
    ];
    let stamped = |(n, draft): (u64, EventDraft)| EventRecord { draft, ..event("r-1", 412 + n, 1830) };
    let events = (0..).zip(drafts).map(stamped).collect();
    store.send_tick(TickRecord { tick: 1830, events, inputs: Vec::new() }).unwrap();
    store.flush().unwrap();

    let mut out = Vec::new();
    assert_eq!(export_events(&Reader::open(dir.path()).unwrap(), None, &mut out, &JobControl::default()).unwrap(), 3);
    let lines: Vec<&str> = std::str::from_utf8(&out).unwrap().lines().collect();
    let first = "{\"seq\":412,\"tick\":1830,\"time\":\"2026-01-31T10:20:30.123Z\",\"run\":\"r-1\",\
                 \"type\":\"run_end\",\"agent\":\"act-9\",\"activation\":\"act-9\",\"session\":\"s\",\
                 \"data\":{\"why\":\"done\"}}";
    assert_eq!((lines.len(), lines[0]), (3, first));
    let parsed: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&parsed[1]["cause"], &parsed[1]["data"]["text"]), (&json!(412), &json!("Grüße 東京 🦀\n")));
    assert_eq!(parsed[2]["data"]["text"].as_str().unwrap(), long);
    assert_eq!(out.last(), Some(&b'\n'));
}

#[test]
fn a_run_is_named_after_its_start_time() {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_micros(1_769_854_830_500_000);
    assert_eq!(&*store::run_id_at(time), "r-20260131-102030-8000");
    let later = time + std::time::Duration::from_micros(16);
    assert_ne!(store::run_id_at(later), store::run_id_at(time));
}

#[test]
fn attachments_are_stored_beside_their_record_and_not_exported() {
    let dir = tempfile::tempdir().unwrap();
    let long = "what was asked ".repeat(500);
    let mut record = tick("r-1", 1, 1);
    record.events[0].draft = record.events[0].draft.clone().attach(long.as_str());
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.send_tick(record).unwrap();
    drop(store);
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(reader.attachment(Seq(1)).unwrap(), Some(long));
    assert_eq!(reader.attachment(Seq(2)).unwrap(), None);
    let mut exported = Vec::new();
    assert_eq!(export_events(&reader, None, &mut exported, &JobControl::default()).unwrap(), 1);
    assert!(!String::from_utf8(exported).unwrap().contains("what was asked"));
}

#[test]
fn the_newest_events_before_one_are_read_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    for seq in 1..=9 {
        store.send_tick(tick("r-1", seq, seq)).unwrap();
    }
    drop(store);
    let reader = Reader::open(dir.path()).unwrap();
    let before = |seq, count| -> Vec<u64> {
        reader.events_before(Seq(seq), count).unwrap().iter().map(|event| event.seq.0).collect()
    };
    assert_eq!(before(6, 3), [3, 4, 5]);
    assert_eq!(before(3, 10), [1, 2]);
    assert!(before(1, 10).is_empty());
}
