//! The history stays bounded and keeps everything that a room needs to continue.

use rusqlite::Connection;

use super::super::retention::thin;
use super::super::{HistoryLimits, StoreError, location};
use super::*;
use crate::store::{Durability, FileVersions, ReopenFrom, VersionDraft};

fn limits() -> HistoryLimits {
    HistoryLimits {
        max_events: 10,
        max_inputs: 10,
        max_replayable_runs: 2,
        max_hashes: 3,
        max_versions: 4,
        ..HistoryLimits::default()
    }
}

fn thin_all(dir: &Path) {
    let mut connection = Connection::open(location::path_in(dir)).unwrap();
    while thin(&mut connection, &limits()).unwrap() {}
}

/// Records runs of ten ticks each in these scenes, the last one interrupted.
fn runs(scenes: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (number, scene) in (1..).zip(scenes) {
        let mut store = store(dir.path());
        let (id, first) = (format!("r-{number}"), store.last_seq_at_open().0 + 1);
        store.start_run(RunStart { scene: (*scene).into(), ..run_start(&id, first, 0) }).unwrap();
        for n in 0..10 {
            store.send_tick(tick(&id, n + 1, first + n)).unwrap();
            store.note_hash(n + 1, move || n);
            if n == 4 {
                let snapshot = Snapshot { scene: (*scene).into(), ..snapshot(&id, n + 1, first + n + 1) };
                assert!(store.save_snapshot(move || Ok(snapshot)));
            }
        }
        if usize::try_from(number).unwrap() < scenes.len() {
            store.end_run("done").unwrap();
        }
        store.flush().unwrap();
    }
    dir
}

#[test]
fn the_oldest_history_is_deleted_first_and_every_scene_can_still_be_opened() {
    let dir = runs(&["attic", "studio", "studio", "studio", "studio"]);
    let before = Reader::open(dir.path()).unwrap().reopen("studio").unwrap();
    thin_all(dir.path());
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(seqs(&reader, None), (41..=50).collect::<Vec<_>>());
    assert_eq!(reader.reopen("studio").unwrap(), before);
    let attic = reader.reopen("attic").unwrap().unwrap();
    assert!(matches!(attic.from, ReopenFrom::Snapshot(snapshot) if snapshot.tick == 5));
    let ticks: Vec<u64> = attic.inputs.iter().map(|input| input.tick).collect();
    assert_eq!(ticks, [6, 7, 8, 9, 10], "what it needs to go on, however old");
    for (run, is_whole) in [("r-1", false), ("r-2", false), ("r-3", false), ("r-5", true)] {
        let start = reader.start(run);
        let is_told = matches!(start, Err(StoreError::Thinned(_)));
        assert_eq!((start.is_ok(), is_told), (is_whole, !is_whole), "{run}: {start:?}");
    }
    assert_eq!(reader.inputs("r-5", 0).unwrap().len(), 10);
    assert_eq!(reader.hashes("r-5").unwrap().len(), 3);
    assert_eq!(reader.runs().unwrap().len(), 5, "that there were runs is known");
}

#[test]
fn inputs_before_the_last_snapshot_but_one_are_not_needed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    for n in 1..=40 {
        store.send_tick(tick("r-1", n, n)).unwrap();
        if n % 4 == 0 {
            assert!(store.save_snapshot(move || Ok(snapshot("r-1", n, n + 1))));
        }
    }
    store.flush().unwrap();
    drop(store);
    thin_all(dir.path());
    let reader = Reader::open(dir.path()).unwrap();
    let reopening = reader.reopen("studio").unwrap().unwrap();
    assert!(matches!(reopening.from, ReopenFrom::Snapshot(snapshot) if snapshot.tick == 40));
    let database = Connection::open(location::path_in(dir.path())).unwrap();
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT min(tick) FROM inputs"), 31, "the newest ten, of which none is older than needed");
    assert_eq!(number("SELECT count(*) FROM snapshots"), 10);
}

#[test]
fn the_newest_and_the_first_version_of_every_existing_file_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    drop(store(dir.path()));
    let mut versions = FileVersions::open(dir.path()).unwrap();
    let write = |versions: &mut FileVersions, path: &str, count: u64| {
        let draft = VersionDraft { author: "ada", activation: None, order_key: None, text: "text" };
        versions
            .change(Durability::Process, |changes| {
                let file = changes.add_file(path)?;
                for _ in 0..count {
                    changes.add_version(file, &draft)?;
                }
                Ok(file)
            })
            .unwrap()
    };
    let (old, gone, new) =
        (write(&mut versions, "old.md", 2), write(&mut versions, "gone.md", 3), write(&mut versions, "new.md", 6));
    let head = versions.head("gone.md").unwrap().unwrap();
    versions
        .change(Durability::Process, |changes| changes.set_head(&super::super::FileHead { is_there: false, ..head }))
        .unwrap();
    thin_all(dir.path());
    let kept = |file| versions.versions(file).unwrap().iter().map(|version| version.number).collect::<Vec<_>>();
    assert_eq!((kept(old), kept(gone), kept(new)), (vec![2, 1], vec![], vec![6, 5, 4, 3, 1]));
}
