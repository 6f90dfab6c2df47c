//! Obstacles in the place of the history, and what happens if it is moved or deleted while a room is open.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;
use crate::store::{Durability, FileVersions, StoreError, VersionDraft};

/// A workspace's folder, and its `.workshop`.
fn workspace() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("ws/.workshop");
    fs::create_dir_all(dir.parent().unwrap()).unwrap();
    (folder, dir)
}

#[cfg(unix)]
#[test]
fn links_pipes_and_other_files_in_place_of_the_history_are_refused() {
    use std::os::unix::fs::symlink;
    let pipe = |path: &Path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    for name in ["lock", "workshop.db", "workshop.db-wal", "workshop.db-shm", "workshop.db-journal"] {
        for kind in ["link", "dangling", "pipe", "folder"] {
            let (folder, dir) = workspace();
            fs::create_dir_all(&dir).unwrap();
            let (far, nothing) = (folder.path().join("far"), folder.path().join("nothing"));
            fs::write(&far, "far").unwrap();
            match kind {
                "link" => symlink(&far, dir.join(name)).unwrap(),
                "dangling" => symlink(&nothing, dir.join(name)).unwrap(),
                "pipe" => pipe(&dir.join(name)),
                _ => fs::create_dir(dir.join(name)).unwrap(),
            }
            let error = Store::open(&dir).err().unwrap_or_else(|| panic!("{name} is a {kind}"));
            let told = error.to_string();
            assert!(
                told.contains(name) && (told.contains("link") || told.contains("pipe") || told.contains("folder")),
                "{told}"
            );
            assert!(FileVersions::open(&dir).is_err() || name == "lock", "{name} is a {kind}");
            assert_eq!(fs::read_to_string(&far).unwrap(), "far", "{name} is a {kind}");
            assert!(!nothing.exists(), "{name} is a {kind}");
        }
    }
    let (folder, dir) = workspace();
    fs::create_dir(folder.path().join("far")).unwrap();
    symlink(folder.path().join("far"), &dir).unwrap();
    assert!(Store::open(&dir).err().unwrap().to_string().contains("is a link"));
    assert_eq!(fs::read_dir(folder.path().join("far")).unwrap().count(), 0);
    fs::remove_file(&dir).unwrap();
    fs::write(&dir, "a file").unwrap();
    assert!(Store::open(&dir).err().unwrap().to_string().contains("not a folder"));
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::yield_now();
    }
}

fn add(versions: &mut FileVersions, path: &str) -> Result<u64, StoreError> {
    versions.change(Durability::Process, |changes| {
        let file = changes.add_file(path)?;
        let draft = VersionDraft { author: "ada", activation: None, order_key: None, text: "text" };
        changes.add_version(file, &draft)
    })
}

#[cfg(unix)]
#[test]
fn a_history_deleted_while_open_is_written_again_and_stays_locked() {
    let (_folder, dir) = workspace();
    let mut store = store(&dir);
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.send_tick(tick("r-1", 1, 1)).unwrap();
    let mut versions = FileVersions::open(&dir).unwrap();
    add(&mut versions, "a.md").unwrap();
    store.flush().unwrap();
    fs::remove_dir_all(&dir).unwrap();
    // Meanwhile, a process that is refused leaves nothing behind that stops the room.
    assert!(matches!(Store::open(&dir), Err(StoreError::InUse { .. })), "the workspace itself is locked");
    store.send_tick(tick("r-1", 2, 2)).unwrap();
    store.flush().unwrap();
    add(&mut versions, "b.md").unwrap();
    assert!(store.take_problems().iter().any(|problem| problem.what.contains("was written again")));
    assert!(matches!(Store::open(&dir), Err(StoreError::InUse { .. })));
    store.end_run("done").unwrap();
    drop((store, versions));
    let reader = Reader::open(&dir).unwrap();
    assert_eq!(seqs(&reader, None), [1, 2]);
    let heads = FileVersions::open_to_read(&dir).unwrap().heads().unwrap();
    assert_eq!(heads.iter().map(|head| head.path.as_str()).collect::<Vec<_>>(), ["a.md", "b.md"]);
}

#[cfg(unix)]
#[test]
fn a_room_continues_whichever_history_files_were_deleted_and_with_a_stale_lock() {
    let files = ["lock", "workshop.db", "workshop.db-wal", "workshop.db-shm"];
    for (gone, left) in [(&files[..], None), (&files[1..], None), (&files[1..2], None), (&files[..1], Some("4711\n"))] {
        let (_folder, dir) = workspace();
        let mut store = store(&dir);
        store.start_run(run_start("r-1", 1, 0)).unwrap();
        store.send_tick(tick("r-1", 1, 1)).unwrap();
        store.flush().unwrap();
        for name in gone {
            // The files that SQLite creates beside the database may be missing.
            let _absent = fs::remove_file(dir.join(name));
        }
        if let Some(text) = left {
            fs::write(dir.join("lock"), text).unwrap();
        }
        store.keep_tick(tick("r-1", 2, 2));
        store.flush().unwrap();
        assert_eq!(store.lost(), None, "{gone:?}");
        let lock = fs::read_to_string(dir.join("lock")).unwrap();
        assert_eq!(lock.trim(), std::process::id().to_string(), "{gone:?}");
        let refused = Store::open(&dir).err().unwrap().to_string();
        assert!(refused.contains(&format!("in process {}", std::process::id())), "{refused}");
        store.end_run("done").unwrap();
        drop(store);
        assert_eq!(seqs(&Reader::open(&dir).unwrap(), None), [1, 2], "{gone:?}");
        assert_eq!(Reader::open(&dir).unwrap().integrity().unwrap(), [""; 0], "{gone:?}");
    }
}

#[cfg(unix)]
#[test]
fn moving_a_workspace_stops_its_room_and_keeps_its_history() {
    let (folder, dir) = workspace();
    let mut store = store(&dir);
    store.start_run(run_start("r-1", 1, 0)).unwrap();
    store.send_tick(tick("r-1", 1, 1)).unwrap();
    store.flush().unwrap();
    let (here, there) = (folder.path().join("ws"), folder.path().join("moved"));
    fs::rename(&here, &there).unwrap();
    wait_until("it is noticed while nothing happens", || store.lost().is_some());
    let lost = store.lost().unwrap();
    assert!(lost.what.contains("moved") && lost.remedy.contains("at its new location"), "{lost}");
    assert!(!store.has_room());
    assert!(!here.exists(), "nothing is created where the workspace was");
    fs::rename(&there, &here).unwrap();
    store.keep_tick(tick("r-1", 2, 2));
    wait_until("put back, it goes on", || store.lost().is_none() && store.has_room());
    fs::rename(&here, &there).unwrap();
    wait_until("it is noticed again", || store.lost().is_some());
    store.keep_tick(tick("r-1", 3, 3));
    store.close().unwrap();
    assert_eq!(seqs(&Reader::open(&there.join(".workshop")).unwrap(), None), [1, 2, 3]);
}
