//! The service's thread: operations over channels, external changes while it runs, and stopping.

use std::collections::VecDeque;
use std::fs;

use super::super::executor::tests::{order, read, write};
use super::super::history::FileHistory;
use super::super::order::FileAnswer;
use super::super::service_events::OutsideChange;
use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

fn open(folder: &tempfile::TempDir, watch: bool) -> FileService {
    let root = folder.path().canonicalize().expect("it should exist");
    FileService::open(FileServiceOptions { watch, ..FileServiceOptions::new(&root) }).expect("it can be opened")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir(folder.path().join("notes")).expect("folders can be made");
    fs::write(folder.path().join("notes/a.md"), "by hand").expect("files can be written");
    folder
}

#[test]
fn orders_are_answered_in_order_and_returned_if_the_queue_is_full() {
    let folder = folder();
    let service = open(&folder, false);
    let mut waiting: VecDeque<FileOrder> = (0..2000)
        .map(|number| {
            order(&format!("k-{number}"), "ada", read(if number % 2 == 0 { "notes/a.md" } else { "none.md" }))
        })
        .collect();
    let mut keys = Vec::new();
    while keys.len() < 2000 {
        while let Some(order) = waiting.pop_front() {
            if let Err(order) = service.send(order) {
                waiting.push_front(*order);
                break;
            }
        }
        let outcome = service.next(PATIENCE).expect("it is answered");
        assert_eq!(outcome.result.is_ok(), keys.len() % 2 == 0);
        keys.push(outcome.key.to_string());
    }
    assert!(keys.iter().enumerate().all(|(number, key)| *key == format!("k-{number}")));
}

#[test]
fn closing_completes_accepted_orders_without_a_receiver() {
    let folder = folder();
    let service = open(&folder, false);
    let mut taken = 0;
    while taken < 40
        && service.send(order(&format!("k-{taken}"), "ada", write("notes/b.md", &taken.to_string()))).is_ok()
    {
        taken += 1;
    }
    drop(service);
    assert_eq!(fs::read_to_string(folder.path().join("notes/b.md")).expect("it should exist"), "39");
    let history = FileHistory::open(folder.path(), &folder.path().join(".workshop")).expect("it can be read");
    assert_eq!(history.versions("notes/b.md").expect("they can be read").len(), 40);
    assert_eq!(history.text("notes/b.md", 7).expect("it can be read").as_deref(), Some("6"));
    let files = history.files().expect("they can be listed");
    let listed: Vec<(&str, u64, bool)> =
        files.iter().map(|file| (file.path.as_str(), file.version, file.is_there)).collect();
    assert_eq!(listed, [("notes/a.md", 0, true), ("notes/b.md", 40, true)]);
    assert_eq!(history.read("notes/a.md").as_deref(), Ok("by hand"));
    assert!(history.read(".workshop/workshop.db").is_err());
}

#[test]
fn external_writes_are_noticed_and_our_own_are_not() {
    let folder = folder();
    let service = open(&folder, true);
    service.send(order("k-1", "ada", write("notes/mine.md", "ada's"))).expect("there is room");
    assert!(service.next(PATIENCE).expect("it is answered").result.is_ok());
    let told = |path: &str, version, is_gone| {
        ServiceEvent::Outside(OutsideChange {
            path: path.into(),
            version,
            is_gone,
            displaced_by: None,
            by: None,
            program: None,
        })
    };
    let next = || {
        let start = Instant::now();
        loop {
            if let Some(change) = service.take_events(1).pop() {
                return change;
            }
            assert!(start.elapsed() < PATIENCE, "no news came");
            std::thread::yield_now();
        }
    };
    fs::write(folder.path().join("notes/a.md"), "by hand again").expect("files can be written");
    assert_eq!(next(), told("notes/a.md", 1, false));
    fs::create_dir_all(folder.path().join("papers/deep")).expect("folders can be made");
    fs::write(folder.path().join("papers/deep/p.md"), "new").expect("files can be written");
    assert_eq!(next(), told("papers/deep/p.md", 1, false));
    fs::remove_file(folder.path().join("notes/a.md")).expect("it should exist");
    assert_eq!(next(), told("notes/a.md", 1, true));
    assert!(!service.has_news());
}

#[test]
fn limits_and_examinations_reach_the_service() {
    let folder = folder();
    let service = open(&folder, false);
    assert!(service.set_limits(FileLimits { max_files: 1, ..FileLimits::default() }));
    service.send(order("k-1", "ada", write("notes/b.md", "x"))).expect("there is room");
    let failure = service.next(PATIENCE).expect("it is answered").result.expect_err("it is full");
    assert!(failure.what.contains("already has 1 files"), "{}", failure.what);
    fs::write(folder.path().join("notes/a.md"), "by hand again").expect("files can be written");
    assert!(service.examine(vec!["notes/a.md".into(), "../x".into()]));
    service.send(order("k-2", "ada", read("notes/a.md"))).expect("there is room");
    let outcome = service.next(PATIENCE).expect("it is answered");
    assert!(matches!(outcome.result, Ok(FileAnswer::Text { version: 1, .. })), "{outcome:?}");
    assert!(!service.is_dead());
}
