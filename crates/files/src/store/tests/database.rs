//! The database file: its format, its lock, and the handling of a damaged one.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::super::db::{self, MIGRATIONS};
use super::super::location;
use super::*;
use crate::store::StoreError;

fn version(path: &Path) -> i64 {
    Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn a_new_database_applies_every_migration_and_an_old_one_only_the_missing_ones() {
    let dir = tempfile::tempdir().unwrap();
    drop(store(dir.path()));
    assert_eq!(version(&location::path_in(dir.path())), MIGRATIONS.len() as i64);

    let path = PathBuf::from("in memory");
    let mut connection = Connection::open_in_memory().unwrap();
    let first = "CREATE TABLE pages (n INTEGER) STRICT; INSERT INTO pages VALUES (1);";
    db::migrate(&mut connection, &path, &[first]).unwrap();
    db::migrate(&mut connection, &path, &[first, "ALTER TABLE pages ADD COLUMN word TEXT;"]).unwrap();
    let kept = "SELECT count(*) FROM pages WHERE n = 1 AND word IS NULL";
    assert_eq!(connection.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

#[test]
fn a_database_from_before_versions_lost_their_empty_column_keeps_every_version() {
    let dir = tempfile::tempdir().unwrap();
    let path = location::path_in(dir.path());
    let mut old = Connection::open(&path).unwrap();
    db::migrate(&mut old, &path, &MIGRATIONS[..4]).unwrap();
    old.execute_batch(
        "INSERT INTO files VALUES (1, 'notes/a.md', 'there', 2, 5, 3, 0);
         INSERT INTO file_versions (file, number, time_ms, author, chars, packing, text, diff)
         VALUES (1, 1, 10, 'user', 3, 0, CAST('one' AS BLOB), x''), (1, 2, 20, 'ada-1', 3, 0, CAST('two' AS BLOB), x'');",
    )
    .unwrap();
    drop(old);
    let (store, problems) = Store::open(dir.path()).unwrap();
    assert!(problems.is_empty() && store.quarantined().is_none(), "{problems:?}");
    drop(store);
    assert_eq!(version(&path), MIGRATIONS.len() as i64);
    let new = Connection::open(&path).unwrap();
    let sql = "SELECT number, author, CAST(text AS TEXT) FROM file_versions WHERE file = 1 ORDER BY number";
    let mut statement = new.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows: Vec<(i64, String, String)> = rows.map(Result::unwrap).collect();
    assert_eq!(rows, [(1, "user".into(), "one".into()), (2, "ada-1".into(), "two".into())]);
    assert!(new.prepare("SELECT diff FROM file_versions").is_err(), "nothing is kept that nothing was put into");
}

#[test]
fn a_failed_migration_leaves_the_database_unchanged() {
    let mut connection = Connection::open_in_memory().unwrap();
    let steps = ["CREATE TABLE pages (n INTEGER) STRICT;", "CREATE TABLE pages (n INTEGER) STRICT;"];
    assert!(db::migrate(&mut connection, Path::new("in memory"), &steps).is_err());
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    assert_eq!(tables.unwrap(), 0);
}

#[test]
fn a_database_of_a_newer_version_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(store(dir.path()));
    let path = location::path_in(dir.path());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(dir.path()).err().unwrap();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    assert!(error.remedy().contains("newer version") && error.remedy().contains("unfinished"), "{}", error.remedy());
    assert!(matches!(Reader::open(dir.path()), Err(StoreError::Newer { .. })));
    assert_eq!(version(&path), 99);
}

#[test]
fn reading_migrates_an_empty_database_and_reports_a_missing_one() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Reader::open(dir.path()), Err(StoreError::NoHistory { .. })));
    fs::write(location::path_in(dir.path()), "").unwrap();
    assert_eq!(Reader::open(dir.path()).unwrap().runs().unwrap(), []);
}

#[test]
fn only_one_process_can_write_and_another_learns_which() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path());
    let error = Store::open(dir.path()).err().unwrap();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    let told = error.problem();
    assert!(told.what.contains(&format!("process {}", std::process::id())), "{told}");
    assert!(told.remedy.contains("close the other"), "{told}");
    assert_eq!(Reader::open(dir.path()).unwrap().last_seq().unwrap(), Seq(0), "reading is open to all");
    drop(first);
    drop(store(dir.path()));
}

#[test]
fn a_file_that_is_not_a_database_is_set_aside_under_a_unique_name() {
    let dir = tempfile::tempdir().unwrap();
    for number in 1..=2 {
        let rubbish = format!("this is no database, {number} ").repeat(500);
        fs::write(location::path_in(dir.path()), &rubbish).unwrap();
        let (mut store, problems) = Store::open(dir.path()).unwrap();
        let name = format!("workshop.db.broken-{number}");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].what.contains(&name), "{}", problems[0]);
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), rubbish);
        store.start_run(run_start("r-1", 1, 0)).unwrap();
        store.flush().unwrap();
    }
}

#[test]
fn internal_damage_is_found_after_an_interrupted_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = store(dir.path());
    first.start_run(run_start("r-1", 1, 0)).unwrap();
    for n in 1..=500 {
        first.send_tick(tick("r-1", n, n)).unwrap();
    }
    drop(first);
    let path = location::path_in(dir.path());
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let (store, problems) = Store::open(dir.path()).unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        store.quarantined().is_some_and(|aside| aside.path().exists() && !aside.is_fully_salvaged()),
        "{problems:?}"
    );
    assert!(
        problems[0].what.contains(" inputs and 0 file versions were copied"),
        "it says what was kept: {problems:?}"
    );
    let reader = Reader::open(dir.path()).unwrap();
    let kept = seqs(&reader, Some("r-1")).len();
    assert!((300..=500).contains(&kept), "{kept} of 500 records of the run are kept");
}

#[test]
fn a_format_number_that_does_not_fit_the_tables_is_damage() {
    for number in [0, 1, 3] {
        let dir = tempfile::tempdir().unwrap();
        drop(store(dir.path()));
        let path = location::path_in(dir.path());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", number).unwrap();
        let (_store, problems) = Store::open(dir.path()).unwrap();
        assert!(problems[0].what.contains("does not match its tables"), "{problems:?}");
        assert!(!problems[0].what.contains("CREATE"), "no SQL for people: {problems:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::disallowed_methods, reason = "a process that has ended is what this test is about")]
fn a_zombie_process_is_not_running() {
    let mut child = std::process::Command::new("true").spawn().expect("it starts");
    let began = std::time::Instant::now();
    while crate::store::runs(child.id()) {
        assert!(began.elapsed().as_secs() < 30, "it has ended, and its number is taken until it is waited for");
        std::thread::yield_now();
    }
    child.wait().expect("it can be waited for");
    assert!(crate::store::runs(std::process::id()));
}
