//! The points of a damaged history from which a room can continue.

use rusqlite::Connection;

use super::super::location;
use super::*;
use crate::store::{Durability, FileVersions, ReopenFrom, StoreError, VersionDraft};

/// A room with a snapshot at ticks 4 and 8, cut off at 12.
fn cut_off() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    for n in 1..=12 {
        store.send_tick(tick("r-1", n, n)).unwrap();
        if n == 4 || n == 8 {
            assert!(store.save_snapshot(move || Ok(snapshot("r-1", n, n + 1))));
        }
    }
    drop(store);
    dir
}

fn damage(dir: &tempfile::TempDir, sql: &str) -> Reader {
    Connection::open(location::path_in(dir.path())).unwrap().execute_batch(sql).unwrap();
    Reader::open(dir.path()).unwrap()
}

/// Returns the tick of each usable point, the best first; 0 for the start of the run.
fn usable(reader: &Reader) -> Vec<u64> {
    let ways = reader.recovery_points("studio").unwrap();
    let read = ways.iter().filter_map(|way| reader.restore(way).ok());
    read.map(|reopening| match reopening.from {
        ReopenFrom::Snapshot(snapshot) => snapshot.tick,
        ReopenFrom::Start(_) => 0,
    })
    .collect()
}

#[test]
fn a_damaged_snapshot_is_skipped() {
    let dir = cut_off();
    assert_eq!(usable(&Reader::open(dir.path()).unwrap()), [8, 4, 0]);
    for (sql, expected) in [
        ("UPDATE snapshots SET sections = replace(sections, 'ü', 'u') WHERE tick = 8", &[4, 0][..]),
        ("UPDATE snapshots SET tick = -5 WHERE tick = 8", &[4, 0]),
        ("UPDATE snapshots SET files = '{' WHERE tick = 4", &[0]),
        ("UPDATE run_starts SET start = '{\"from\":7}'", &[]),
    ] {
        assert_eq!(usable(&damage(&dir, sql)), expected, "{sql}");
    }
}

#[test]
fn inputs_are_used_up_to_the_first_damaged_one() {
    let dir = cut_off();
    let reader = damage(&dir, "UPDATE inputs SET data = CAST(x'22ff22' AS TEXT) WHERE tick = 11");
    let reopening = reader.reopen("studio").unwrap().unwrap();
    let ticks: Vec<u64> = reopening.inputs.iter().map(|input| input.tick).collect();
    assert_eq!((ticks, reopening.last_tick, reopening.run.last_tick), (vec![9, 10], 10, 12));
    let reader = damage(&dir, "UPDATE inputs SET data = '\"half' WHERE tick = 9");
    assert_eq!(reader.reopen("studio").unwrap().unwrap().last_tick, 8);
}

#[test]
fn a_last_tick_is_limited_to_what_was_recorded() {
    for wrong in ["9223372036854775807", "-5", "50000000", "3"] {
        let dir = cut_off();
        let reader = damage(&dir, &format!("UPDATE runs SET last_tick = {wrong}"));
        assert_eq!(reader.run("r-1").unwrap().last_tick, 12, "{wrong}");
        assert_eq!(reader.reopen("studio").unwrap().unwrap().last_tick, 12, "{wrong}");
    }
    let dir = cut_off();
    let quiet = damage(&dir, "UPDATE runs SET last_tick = 900");
    assert_eq!(quiet.run("r-1").unwrap().last_tick, 900, "a room may be quiet for a while");
}

#[test]
fn a_first_tick_is_limited_to_what_was_recorded() {
    for wrong in ["9223372036854775807", "-5", "50000000", "7"] {
        let dir = cut_off();
        let reader = damage(&dir, &format!("UPDATE runs SET first_tick = {wrong}"));
        let run = reader.run("r-1").unwrap();
        assert_eq!((run.first_tick, run.last_tick), (0, 12), "{wrong}");
        assert_eq!(reader.runs().unwrap(), [run], "{wrong}");
        let from_start = reader.restore(reader.recovery_points("studio").unwrap().last().unwrap()).unwrap();
        assert_eq!((from_start.inputs.len(), from_start.last_tick), (12, 12), "{wrong}");
    }
}

#[test]
fn an_implausible_number_anywhere_neither_stops_nor_delays_recording() {
    let tables = [
        ("runs", &["number", "seed", "started_ms", "first_seq", "first_tick", "last_tick", "ended_ms"][..]),
        ("events", &["tick", "time_ms", "cause"]),
        ("inputs", &["tick", "number"]),
        ("snapshots", &["number", "tick", "next_seq"]),
        ("hashes", &["tick", "hash"]),
        ("files", &["newest", "size", "modified_ns"]),
        ("file_versions", &["number", "time_ms", "chars"]),
        ("numbers", &["reserved"]),
    ];
    for (table, columns) in tables {
        for (column, wrong) in columns.iter().flat_map(|column| ["9223372036854775807", "-5"].map(|w| (column, w))) {
            let dir = cut_off();
            let draft = VersionDraft { author: "ada", activation: None, order_key: None, text: "text" };
            let mut versions = FileVersions::open(dir.path()).unwrap();
            let file = versions.change(Durability::Process, |changes| changes.add_file("a.md")).unwrap();
            let add = |versions: &mut FileVersions| {
                versions.change(Durability::Process, |changes| changes.add_version(file, &draft))
            };
            add(&mut versions).unwrap();
            drop(versions);
            // Only one row, because a constraint refuses several with the same meaning.
            let sql = format!(
                "PRAGMA foreign_keys = OFF; UPDATE {table} SET {column} = {wrong} WHERE rowid = (SELECT max(rowid) FROM {table})"
            );
            Connection::open(location::path_in(dir.path())).unwrap().execute_batch(&sql).unwrap();
            let (mut store, problems) = Store::open(dir.path()).unwrap();
            let next = store.last_seq_at_open().0 + 1;
            assert!(next < 100_000, "{table}.{column}: records are counted from {next}");
            let reader = Reader::open(dir.path()).unwrap();
            for way in reader.recovery_points("studio").unwrap() {
                let Ok(back) = reader.restore(&way) else { continue };
                assert!(back.last_tick <= 12 && back.run.first_tick <= 12, "{table}.{column} {wrong}: {back:?}");
            }
            let run = RunStart { first_seq: Seq(next), ..run_start("r-2", next, 12) };
            store.start_run(run).unwrap();
            store.send_tick(tick("r-2", 13, next)).unwrap();
            store.flush().unwrap();
            assert_eq!(seqs(&Reader::open(dir.path()).unwrap(), Some("r-2")), [next], "{table}.{column}: {problems:?}");
            assert_eq!(Reader::open(dir.path()).unwrap().reopen("studio").unwrap().unwrap().run.id, "r-2".into());
            let mut versions = FileVersions::open(dir.path()).unwrap();
            assert!(add(&mut versions).unwrap() < 10, "{table}.{column}");
            store.close().unwrap();
        }
    }
}

#[test]
fn an_impossibly_high_number_is_damage_and_not_continued() {
    let dir = cut_off();
    drop(damage(&dir, "UPDATE numbers SET reserved = 9223372036854775807"));
    let (store, problems) = Store::open(dir.path()).unwrap();
    assert!(problems[0].what.contains("set aside"), "{problems:?}");
    assert!(store.last_seq_at_open() >= Seq(12), "what follows does not use their numbers again");
    let aside = store.quarantined().unwrap();
    assert!(aside.is_fully_salvaged(), "{aside:?}");
    for reader in [Reader::open_quarantined(aside.path()).unwrap(), Reader::open(dir.path()).unwrap()] {
        assert_eq!(usable(&reader), [8, 4, 0]);
    }
}

#[test]
fn a_history_whose_runs_are_missing_is_set_aside_and_recording_goes_on() {
    for spoiled in [
        "DELETE FROM runs",
        "DELETE FROM runs; DELETE FROM run_starts",
        "DELETE FROM runs; DELETE FROM run_starts; DELETE FROM inputs",
        "DELETE FROM runs; DELETE FROM events",
        "DELETE FROM runs; DELETE FROM events; DELETE FROM run_starts; DELETE FROM inputs",
        "INSERT INTO run_starts (run, start) VALUES (2, '{}')",
        "INSERT INTO inputs (run, tick, number, kind, data) VALUES (2, 1, 0, 'odd', '{}')",
        "INSERT INTO hashes (run, tick, hash) VALUES (2, 1, 7)",
        "UPDATE runs SET number = 9",
    ] {
        let dir = cut_off();
        let connection = Connection::open(location::path_in(dir.path())).unwrap();
        connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {spoiled}")).unwrap();
        drop(connection);
        let (mut store, problems) = Store::open(dir.path()).unwrap();
        assert!(problems.iter().any(|problem| problem.what.contains("set aside")), "{spoiled}: {problems:?}");
        let next = store.last_seq_at_open().0 + 1;
        store.start_run(RunStart { first_seq: Seq(next), ..run_start("r-2", next, 12) }).unwrap();
        store.flush().unwrap();
        store.send_tick(tick("r-2", 13, next)).unwrap();
        store.flush().unwrap();
        assert_eq!(seqs(&Reader::open(dir.path()).unwrap(), Some("r-2")), [next], "{spoiled}");
        store.close().unwrap();
        assert!(Store::open(dir.path()).unwrap().1.is_empty(), "{spoiled}: it is sound now");
    }
}

#[test]
fn a_run_that_cannot_be_written_is_an_error_of_the_start_and_not_of_what_follows() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.flush().unwrap();
    let beside = Connection::open(location::path_in(dir.path())).unwrap();
    beside.execute_batch("PRAGMA foreign_keys = OFF; INSERT INTO run_starts (run, start) VALUES (2, '{}')").unwrap();
    store.start_run(run_start("r-2", 9, 0)).unwrap();
    let refused = store.flush().unwrap_err();
    assert!(matches!(refused, StoreError::RunRefused { .. }), "{refused}");
    assert!(refused.to_string().contains("UNIQUE"), "{refused}");
    beside.execute_batch("DELETE FROM run_starts WHERE run = 2").unwrap();
    store.start_run(run_start("r-3", 20, 0)).unwrap();
    store.flush().unwrap();
    store.close().unwrap();
}

#[test]
fn numbers_continue_without_a_gap_after_an_ended_run_and_above_reserved_ones_after_an_interrupted_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = store(dir.path());
    first.start_run(run_start("r-1", 1, 0)).unwrap();
    first.flush().unwrap();
    assert!(first.may_show(Seq(5_000)) && !first.may_show(Seq(50_000)));
    first.keep_tick(tick("r-1", 1, 1));
    first.end_run("done").unwrap();
    drop(first);
    let mut second = store(dir.path());
    assert_eq!(second.last_seq_at_open(), Seq(1));
    second.start_run(run_start("r-2", 2, 1)).unwrap();
    second.flush().unwrap();
    // A tick with more records than were reserved: none may be shown before its number is stored.
    let many = (2..60_002).map(|seq| event("r-2", seq, 2)).collect();
    second.keep_tick(TickRecord { tick: 2, events: many, inputs: Vec::new() });
    assert!(second.wait_to_show(Seq(60_001), std::time::Duration::from_secs(20)));
    drop(second);
    assert!(store(dir.path()).last_seq_at_open() > Seq(60_001));
}

#[test]
fn records_that_cannot_be_written_on_closing_are_counted_and_closing_is_fast() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.send_tick(tick("r-1", 1, 1)).unwrap();
    store.flush().unwrap();
    let beside = Connection::open(location::path_in(dir.path())).unwrap();
    beside.execute_batch("ALTER TABLE events RENAME TO hidden").unwrap();
    for n in 2..=9 {
        store.keep_tick(tick("r-1", n, n));
    }
    let began = std::time::Instant::now();
    let _in_trouble = store.end_run("done").and_then(|()| store.flush());
    let lost = store.close().unwrap_err();
    assert!(began.elapsed() < std::time::Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(matches!(lost, StoreError::Lost { events: 8, tick: Some(1), .. }), "{lost}");
    assert!(lost.to_string().contains("continues from tick 1"), "{lost}");
    beside.execute_batch("ALTER TABLE hidden RENAME TO events").unwrap();
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!((seqs(&reader, None), reader.run("r-1").unwrap().last_tick), (vec![1], 1));
}

#[test]
fn numbers_continue_above_those_of_a_history_that_was_set_aside() {
    let dir = cut_off();
    for put_away in [crate::store::quarantine, crate::store::quarantine_without_salvage] {
        let aside = put_away(dir.path(), "it is odd").unwrap();
        let (store, problems) = Store::open_after_quarantine(dir.path(), Some(&aside)).unwrap();
        assert!(store.last_seq_at_open() > Seq(12), "{problems:?}");
        assert_eq!(store.quarantined(), Some(&aside));
    }
}

#[test]
fn a_table_with_another_definition_is_damage_and_nothing_is_lost() {
    for spoiled in [
        "UPDATE sqlite_master SET sql = replace(sql, 'activation', 'activatinn') WHERE name = 'events'",
        "UPDATE sqlite_master SET sql = replace(sql, 'last_tick', 'lasu_tick') WHERE name = 'runs'",
        "UPDATE sqlite_master SET sql = replace(sql, 'REFERENCES runs (number)', 'REFERENCES runs (numbes)')",
        "UPDATE sqlite_master SET sql = replace(sql, 'PRIMARY KEY', 'UNIQUE')",
        "DELETE FROM sqlite_master WHERE name = 'numbers'",
    ] {
        let dir = cut_off();
        let connection = Connection::open(location::path_in(dir.path())).unwrap();
        connection.execute_batch(&format!("PRAGMA writable_schema = ON; {spoiled}")).unwrap();
        drop(connection);
        let (mut store, problems) = Store::open(dir.path()).unwrap();
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(problems.iter().any(|problem| problem.contains("set aside")), "{spoiled}: {problems:?}");
        store.start_run(run_start("r-2", 1_000, 0)).unwrap();
        store.send_tick(tick("r-2", 1, 1_000)).unwrap();
        store.close().unwrap();
    }
}
