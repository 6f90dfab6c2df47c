//! Tests for passing records to the writer: none is lost, duplicated or reordered, however far the writer is behind.

use bevy::ecs::world::World;
use crossbeam_channel::{Sender, bounded};
use rusqlite::Connection;

use super::super::location;
use super::*;
use crate::schedule::InputJournal;
use crate::schedule::outside::IssuedOrders;
use crate::store::{StoreError, orders_must_wait};

/// Blocks the writer until the returned guard is dropped.
fn hold(store: &Store) -> Sender<()> {
    let (release, held) = bounded(0);
    store.run_on_writer(move || {
        let _released = held.recv();
    });
    release
}

#[test]
fn a_full_channel_leaves_the_record_with_the_caller() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    let release = hold(&store);
    let mut next = 1;
    let refused = loop {
        match store.send_tick(tick("r-1", next, next)) {
            Ok(()) => next += 1,
            Err(refused) => break refused,
        }
    };
    assert!(!store.has_room());
    assert_eq!((refused.tick, refused.events.len(), refused.inputs.len()), (next, 1, 1));
    assert!(!store.save_snapshot(move || Ok(snapshot("r-1", next - 1, next))));
    drop(release);
    store.flush().unwrap();
    assert!(store.has_room());
    store.send_tick(refused).unwrap();
    store.flush().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(seqs(&reader, Some("r-1")), (1..=next).collect::<Vec<_>>());
    assert_eq!(reader.inputs("r-1", 0).unwrap().len() as u64, next);
    assert_eq!(store.take_problems(), []);
}

#[test]
fn much_queued_text_counts_as_full() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    let release = hold(&store);
    let megabytes = "\"".to_owned() + &"x".repeat(16 << 20) + "\"";
    let record = |tick| TickRecord { tick, events: Vec::new(), inputs: vec![input(tick, &megabytes)] };
    let taken = (1..100).take_while(|tick| store.send_tick(record(*tick)).is_ok()).count();
    assert_eq!(taken, 8, "eight times 16 MiB are 128");
    drop(release);
    store.flush().unwrap();
    assert!(store.has_room());
}

#[test]
fn ticks_of_the_recording_system_wait_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    let release = hold(&store);
    for n in 1..=5000 {
        store.keep_tick(tick("r-1", n, n));
    }
    assert!(!store.has_room());
    drop(release);
    store.end_run("done").unwrap();
    store.flush().unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(seqs(&reader, None), (1..=5000).collect::<Vec<_>>());
    assert_eq!(reader.run("r-1").unwrap().end.unwrap().reason, "done");
}

#[test]
fn failed_writes_are_reported_kept_and_written_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.flush().unwrap();
    let beside = Connection::open(location::path_in(dir.path())).unwrap();
    beside.execute_batch("ALTER TABLE events RENAME TO hidden").unwrap();
    store.send_tick(tick("r-1", 1, 1)).unwrap();
    let error = store.flush().unwrap_err();
    assert!(matches!(error, StoreError::NotWritten { .. }), "{error}");
    store.send_tick(tick("r-1", 2, 2)).unwrap();
    let problems = store.take_problems();
    assert_eq!(problems.len(), 1, "one trouble, one problem: {problems:?}");
    beside.execute_batch("ALTER TABLE hidden RENAME TO events").unwrap();
    let attempts = (0..1000).take_while(|_| store.flush().is_err()).count();
    assert!(attempts < 1000);
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(seqs(&reader, None), [1, 2]);
    assert_eq!(reader.inputs("r-1", 0).unwrap().len(), 2);
}

#[test]
fn a_record_out_of_order_is_refused_without_losing_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    let release = hold(&store);
    store.send_tick(tick("r-0", 1, 1)).unwrap(); // no run yet
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.send_tick(tick("r-1", 1, 1)).unwrap();
    store.send_tick(tick("r-1", 2, 1)).unwrap(); // a number that is taken
    store.send_tick(tick("r-1", 3, 2)).unwrap();
    store.send_tick(tick("r-1", 2, 3)).unwrap(); // time goes back
    store.send_tick(tick("r-2", 4, 3)).unwrap(); // of another run
    assert!(store.save_snapshot(move || Ok(snapshot("r-1", 9, 3)))); // of a tick to come
    store.start_run(run_start("r-2", 2, 3)).unwrap(); // into the numbers of the run before
    store.send_tick(tick("r-1", 5, 4)).unwrap(); // so that no run is open
    store.start_run(run_start("r-3", 3, 3)).unwrap();
    store.send_tick(tick("r-3", 4, 3)).unwrap();
    drop(release);
    store.flush().unwrap();
    assert_eq!(store.take_problems().len(), 6, "the two without a run are reported once");
    let reader = Reader::open(dir.path()).unwrap();
    let names: Vec<_> = reader.runs().unwrap().into_iter().map(|run| run.id.to_string()).collect();
    assert_eq!(names, ["r-3", "r-1"]);
    assert_eq!(seqs(&reader, Some("r-1")), [1, 2]);
    assert_eq!(seqs(&reader, Some("r-3")), [3]);
    assert_eq!(reader.run("r-1").unwrap().last_tick, 3);
}

#[test]
fn quiet_ticks_count_although_they_are_not_written_individually() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    for tick in 1..=300 {
        store.send_tick(TickRecord { tick, ..TickRecord::default() }).unwrap();
    }
    store.flush().unwrap();
    assert_eq!(Reader::open(dir.path()).unwrap().run("r-1").unwrap().last_tick, 300);
    store.send_tick(TickRecord { tick: 301, ..TickRecord::default() }).unwrap();
    drop(store);
    assert_eq!(Reader::open(dir.path()).unwrap().run("r-1").unwrap().last_tick, 301);
}

#[test]
fn records_are_written_before_what_is_still_to_be_computed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.flush().unwrap();
    let before = hold(&store);
    store.keep_tick(tick("r-1", 1, 1));
    let (release, held) = bounded::<()>(0);
    let (begins, has_begun) = bounded(1);
    assert!(store.note_hash(1, move || {
        begins.send(()).unwrap();
        let _released = held.recv();
        7
    }));
    store.keep_tick(tick("r-1", 2, 2));
    assert!(!store.has_written_all());
    drop(before);
    has_begun.recv().unwrap();
    let written = Connection::open(location::path_in(dir.path())).unwrap();
    let events: i64 = written.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(events, 1, "the tick before it is in the database");
    assert!(!store.has_written_all(), "the tick after it is not");
    drop(release);
    store.flush().unwrap();
    assert!(store.has_written_all());
}

#[test]
fn a_tick_that_issued_an_order_must_be_in_the_log_before_the_order_is_carried_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new();
    world.init_resource::<InputJournal>();
    world.init_resource::<IssuedOrders>();
    world.resource_mut::<IssuedOrders>().note();
    assert!(!orders_must_wait(&world), "there is no log");
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.flush().unwrap();
    world.insert_resource(store);
    assert!(!orders_must_wait(&world), "everything is in the log");

    let release = hold(world.resource::<Store>());
    world.resource_mut::<Store>().keep_tick(tick("r-1", 1, 1));
    assert!(orders_must_wait(&world), "the log is not written");
    world.resource_mut::<InputJournal>().replay([]);
    assert!(!orders_must_wait(&world), "a replay carries nothing out");
    world.resource_mut::<InputJournal>().end_replay();

    drop(release);
    world.resource_mut::<Store>().flush().unwrap();
    assert!(!orders_must_wait(&world));
}
