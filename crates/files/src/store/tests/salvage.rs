//! What can be salvaged from a damaged database, whatever part of it is damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use proptest::prelude::*;
use rusqlite::Connection;

use super::super::location;
use super::*;
use crate::store::{Durability, FileVersions, ReopenFrom, VersionDraft};

const PAGE: usize = 4096;
/// The number of ticks of the first scene, which has snapshots; the second scene was opened after it.
const FIRST_TICKS: u64 = 240;
const SECOND_TICKS: u64 = 120;

fn wide_tick(run: &str, number: u64, seq: u64) -> TickRecord {
    let text = format!("\"reply {number} {}\"", "x".repeat(200));
    TickRecord { tick: number, events: vec![event(run, seq, number)], inputs: vec![input(number, &text)] }
}

/// Returns a database with all kinds of content, closed properly.
fn sound() -> &'static [u8] {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(dir.path());
        store.start_run(run_start("r-1", 1, 0)).unwrap();
        for n in 1..=FIRST_TICKS {
            store.send_tick(wide_tick("r-1", n, n)).unwrap();
            if n == 80 || n == 160 {
                assert!(store.save_snapshot(move || Ok(snapshot("r-1", n, n + 1))));
            }
        }
        store.end_run("done").unwrap();
        store.start_run(RunStart { scene: "other".into(), ..run_start("r-2", FIRST_TICKS + 1, 0) }).unwrap();
        for n in 1..=SECOND_TICKS {
            store.send_tick(wide_tick("r-2", n, FIRST_TICKS + n)).unwrap();
        }
        store.end_run("done").unwrap();
        store.close().unwrap();
        let mut versions = FileVersions::open(dir.path()).unwrap();
        for n in 0..30 {
            let text = format!("text {n}\n").repeat(40);
            versions
                .change(Durability::Process, |changes| {
                    let file = changes.add_file(&format!("notes/{n}.md"))?;
                    let draft = VersionDraft { author: "ada", activation: None, order_key: None, text: &text };
                    changes.add_version(file, &draft)
                })
                .unwrap();
        }
        drop(versions);
        fs::read(location::path_in(dir.path())).unwrap()
    })
}

fn opened(bytes: &[u8]) -> (tempfile::TempDir, Store, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(location::path_in(dir.path()), bytes).unwrap();
    let (store, problems) = Store::open(dir.path()).unwrap();
    let told = problems.iter().map(ToString::to_string).collect::<String>();
    (dir, store, told)
}

/// The events of the undamaged database, by number.
fn events_of(dir: &Path) -> BTreeMap<u64, String> {
    let mut events = BTreeMap::new();
    let visit = |event: EventRecord| {
        events.insert(event.seq.0, format!("{} {}", event.tick, event.draft.data().as_json()));
        Ok::<_, crate::store::StoreError>(())
    };
    Reader::open(dir).unwrap().for_each_event(None, visit).unwrap();
    events
}

/// Checks that no point replays an incomplete set of inputs.
fn check_ways_back(dir: &Path) -> Result<usize, TestCaseError> {
    let reader = Reader::open(dir).unwrap();
    let mut usable = 0;
    for (scene, ticks) in [("studio", FIRST_TICKS), ("other", SECOND_TICKS)] {
        for way in reader.recovery_points(scene).unwrap() {
            let Ok(reopening) = reader.restore(&way) else { continue };
            let from = match &reopening.from {
                ReopenFrom::Snapshot(snapshot) => snapshot.tick,
                ReopenFrom::Start(_) => 0,
            };
            let played: Vec<u64> = reopening.inputs.iter().map(|input| input.tick).collect();
            let expected: Vec<u64> = (from + 1..=reopening.last_tick.min(ticks)).collect();
            prop_assert_eq!(played, expected, "{} from {}", scene, from);
            usable += 1;
        }
    }
    Ok(usable)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn readable_rows_survive_any_damaged_pages_and_nothing_is_replayed_across_a_gap(
        damaged in proptest::collection::vec((any::<proptest::sample::Index>(), prop_oneof![Just(0u8), Just(0xa5)]), 1..4),
    ) {
        static WHOLE: OnceLock<BTreeMap<u64, String>> = OnceLock::new();
        let whole = WHOLE.get_or_init(|| events_of(opened(sound()).0.path()));
        let mut bytes = sound().to_vec();
        // Without its first page, a file is not a database; another test covers that.
        let pages = bytes.len() / PAGE - 1;
        for (page, fill) in &damaged {
            let at = (1 + page.index(pages)) * PAGE;
            bytes[at..at + PAGE].fill(*fill);
        }
        let (dir, store, told) = opened(&bytes);
        prop_assert_eq!(Reader::open(dir.path()).unwrap().integrity().unwrap(), [""; 0], "{}", told);
        for (seq, text) in events_of(dir.path()) {
            prop_assert_eq!(Some(&text), whole.get(&seq));
        }
        check_ways_back(dir.path())?;
        prop_assert!(store.quarantined().is_none() || told.contains("copied into a new history") || told.contains("new history was started"), "{}", told);
        let mut versions = FileVersions::open(dir.path()).unwrap();
        for head in versions.heads().unwrap() {
            prop_assert!(versions.versions(head.file).unwrap().len() <= 1);
        }
        versions.change(Durability::Process, |changes| changes.add_file("notes/new.md")).unwrap();
    }
}

/// Returns the root page of a table.
fn root_page(table: &str) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let path = location::path_in(dir.path());
    fs::write(&path, sound()).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: i64 = Connection::open(&path).unwrap().query_row(sql, [table], |row| row.get(0)).unwrap();
    usize::try_from(root).unwrap() - 1
}

#[test]
fn losing_one_table_keeps_all_others() {
    for (table, records, inputs, versions) in [
        ("events", 0, 360, 30),
        ("inputs", 360, 0, 30),
        ("files", 360, 360, 0),
        ("runs", 360, 360, 30),
        ("hashes", 360, 360, 30),
    ] {
        let mut bytes = sound().to_vec();
        let at = root_page(table) * PAGE;
        bytes[at..at + PAGE].fill(0xa5);
        let (dir, _store, told) = opened(&bytes);
        let count = |table: &str| -> i64 {
            let connection = Connection::open(location::path_in(dir.path())).unwrap();
            let sql = format!("SELECT count(*) FROM {table}");
            connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        let real_inputs = {
            let connection = Connection::open(location::path_in(dir.path())).unwrap();
            let sql = "SELECT count(*) FROM inputs WHERE data <> 'lost'";
            connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(
            (count("events"), real_inputs, count("file_versions")),
            (records, inputs, versions),
            "{table}: {told}"
        );
        if table == "runs" {
            let reader = Reader::open(dir.path()).unwrap();
            let runs = reader.newest_run_ids(10).unwrap();
            let first = runs.iter().find(|run| run.starts_with("r-lost-1-")).unwrap();
            assert_eq!(seqs(&reader, Some(&**first)).len() as u64, FIRST_TICKS);
        }
    }
}

#[test]
fn lost_inputs_stop_a_replay_and_a_later_snapshot_is_used_completely() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(location::path_in(dir.path()), sound()).unwrap();
    let connection = Connection::open(location::path_in(dir.path())).unwrap();
    // As if their page were damaged: rows are missing, and the copy knows between which.
    connection
        .execute_batch("UPDATE inputs SET data = CAST(x'ff' AS TEXT) WHERE run = 1 AND tick BETWEEN 100 AND 120")
        .unwrap();
    drop(connection);
    let aside = crate::store::quarantine(dir.path(), "it is odd").unwrap();
    assert!(!aside.is_fully_salvaged() && aside.is_copied());
    let reader = Reader::open(dir.path()).unwrap();
    let ways = reader.recovery_points("studio").unwrap();
    let to: Vec<(bool, u64)> = ways
        .iter()
        .filter_map(|way| reader.restore(way).ok())
        .map(|back| (matches!(&back.from, ReopenFrom::Snapshot(snapshot) if snapshot.tick == 160), back.last_tick))
        .collect();
    assert_eq!(to, [(true, FIRST_TICKS), (false, 98)], "the later state to the end, the earlier one up to the gap");
    assert!(matches!(reader.start("r-1"), Err(crate::store::StoreError::Thinned(_))));
}

#[test]
fn a_finished_copy_is_moved_into_place_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("workshop.db.salvaged"), sound()).unwrap();
    drop(store(dir.path()));
    assert_eq!(seqs(&Reader::open(dir.path()).unwrap(), None).len() as u64, FIRST_TICKS + SECOND_TICKS);
    // If the damaged database still exists, it is used, and copied again.
    fs::write(dir.path().join("workshop.db.salvaged"), "half").unwrap();
    drop(store(dir.path()));
    assert!(!dir.path().join("workshop.db.salvaged").exists());
}
