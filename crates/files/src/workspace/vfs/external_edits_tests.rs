//! External changes of a room's files: edits, files that come and go, and files that are being written.

use std::fs;
use std::path::Path;

use super::super::limits::FileLimits;
use super::super::room_files::RoomFiles;
use super::super::saving::{Haste, SaveOrder, Saves};
use super::super::service::{FileService, FileServiceOptions};
use super::super::user_changes::TextOrigin;
use super::*;

const ADA: &str = "agents/ada.md";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir_all(folder.path().join("agents")).expect("folders can be made");
    fs::write(folder.path().join("settings.yaml"), "").expect("files can be written");
    fs::write(folder.path().join(ADA), "one").expect("files can be written");
    folder
}

fn open(root: &Path) -> Executor {
    let opened = Executor::open(root, &root.join(".workshop"), FileLimits::default());
    let mut files = opened.expect("it can be opened");
    files.room = Some(RoomFiles::new(root, &layout::read_folder(root).0, true));
    files
}

fn workspace() -> (tempfile::TempDir, Executor) {
    let folder = folder();
    let files = open(folder.path());
    (folder, files)
}

fn write(folder: &tempfile::TempDir, path: &str, text: &str) {
    fs::write(folder.path().join(path), text).expect("files can be written");
}

/// Waits at most ten seconds for the next event.
fn next(service: &FileService) -> ServiceEvent {
    let start = Instant::now();
    loop {
        if let Some(news) = service.take_events(1).pop() {
            return news;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "no news came");
        std::thread::yield_now();
    }
}

fn text(path: &str, version: u64, text: &str) -> ServiceEvent {
    let change = FileChanged::new(path, FileContent::Text(text.into()));
    ServiceEvent::Changed(FileChanged { version: Some(version), ..change })
}

fn removed(path: &str) -> ServiceEvent {
    ServiceEvent::Changed(FileChanged::new(path, FileContent::Removed))
}

#[test]
fn examining_finds_edited_new_and_deleted_files() {
    let (folder, mut files) = workspace();
    files.examine_room_files();
    assert_eq!(files.news.take(9), []);
    write(&folder, ADA, "edited while closed");
    write(&folder, "agents/bob.md", "new");
    write(&folder, "agents/.hidden.md", "no");
    files.examine_room_files();
    assert_eq!(files.news.take(9), [text(ADA, 1, "edited while closed"), text("agents/bob.md", 1, "new")]);
    fs::remove_file(folder.path().join("agents/bob.md")).expect("it should exist");
    files.examine_room_files();
    assert_eq!(files.news.take(9), [], "what is gone is not believed at once");
    files
        .unsettled
        .insert("agents/bob.md".into(), Instant::now().checked_sub(SETTLE).expect("the machine ran that long"));
    files.examine_room_files();
    assert_eq!(files.news.take(9), [removed("agents/bob.md")]);
}

#[cfg(unix)]
#[test]
fn moving_the_workspace_is_no_edit_and_nothing_is_created_in_its_place() {
    let folder = folder();
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    fs::create_dir_all(here.join("agents")).expect("folders can be made");
    fs::write(here.join(ADA), "one").expect("files can be written");
    let mut files = open(&here);
    fs::rename(&here, &there).expect("it can be moved");
    for _ in 0..2 {
        files.examine_room_files();
        files.examine(ADA);
    }
    assert_eq!(files.news.take(9), []);
    let mut saves = Saves::default();
    saves.orders.queue(ADA, SaveOrder { text: "ours".into(), over: None, number: 1 });
    let problems = saves.write_all_or_keep(&mut files);
    assert!(problems[0].what.contains("moved or deleted") && !here.exists(), "{problems:?}");
    let kept = fs::read_to_string(there.join(".workshop/unsaved/agents_ada.md"));
    assert_eq!(kept.expect("it went along"), "ours");
}

#[test]
fn a_file_that_is_being_written_is_not_considered_empty() {
    let (folder, mut files) = workspace();
    write(&folder, ADA, "");
    files.examine(ADA);
    assert_eq!(files.news.take(9), []);
    write(&folder, ADA, "two");
    files.examine(ADA);
    assert_eq!(files.news.take(9), [text(ADA, 1, "two")]);
    assert!(files.unsettled.is_empty());
    write(&folder, ADA, "");
    files.unsettled.insert(ADA.into(), Instant::now().checked_sub(SETTLE).expect("the machine ran that long"));
    files.examine(ADA);
    assert_eq!(files.news.take(9), [text(ADA, 2, "")]);
}

#[test]
fn our_own_writes_are_not_reported() {
    let (_folder, mut files) = workspace();
    let mut saves = Saves::default();
    saves.orders.queue(ADA, SaveOrder { text: "ours".into(), over: None, number: 1 });
    assert_eq!(saves.write_all(&mut files, Haste::AtOnce), []);
    files.examine_room_files();
    assert!(matches!(&files.news.take(9)[..], [ServiceEvent::Saved(_)]));
}

#[test]
fn the_thread_notices_renames_bursts_and_folders() {
    let folder = folder();
    let root = folder.path().canonicalize().expect("it should exist");
    let room = Some(layout::read_folder(&root).0);
    let service = FileService::open(FileServiceOptions { room, watch: true, ..FileServiceOptions::new(&root) });
    let service = service.expect("it can be opened");
    // Editors save this way: they write beside the file and rename over it.
    write(&folder, "agents/.ada.md.tmp", "renamed");
    fs::rename(folder.path().join("agents/.ada.md.tmp"), folder.path().join(ADA)).expect("it can be renamed");
    // It is the second version if the text before it was kept already.
    let renamed = next(&service);
    assert!([1, 2].map(|version| text(ADA, version, "renamed")).contains(&renamed), "{renamed:?}");
    for round in 0..50 {
        write(&folder, ADA, &format!("burst {round}"));
    }
    let is_last = |news: &ServiceEvent| matches!(news, ServiceEvent::Changed(FileChanged { content: FileContent::Text(text), .. }) if text == "burst 49");
    while !is_last(&next(&service)) {}
    fs::create_dir_all(folder.path().join("boards/team")).expect("folders can be made");
    write(&folder, "boards/team/a.md", "in a new folder");
    assert_eq!(next(&service), text("boards/team/a.md", 1, "in a new folder"));
    fs::remove_dir_all(folder.path().join("boards")).expect("it should exist");
    assert_eq!(next(&service), removed("boards/team/a.md"));
    write(&folder, "agents/latin.md", "x");
    assert_eq!(next(&service), text("agents/latin.md", 1, "x"));
    fs::write(folder.path().join("agents/latin.md"), [0xe9]).expect("files can be written");
    assert!(matches!(next(&service), ServiceEvent::Outside(_)), "the log says that it was changed");
    assert!(matches!(next(&service), ServiceEvent::Changed(FileChanged { content: FileContent::Unusable { .. }, .. })));
}

#[test]
fn every_change_by_anyone_is_in_the_change_feed() {
    use super::super::executor::tests::order;
    let (folder, mut files) = workspace();
    fs::create_dir(folder.path().join("notes")).expect("folders can be made");
    let changed_files = |files: &mut Executor| {
        files.report_changed();
        let changed = files.feed.take().files.into_iter();
        changed.map(|file| (file.info.path, file.info.version, file.info.is_there, file.hash)).collect::<Vec<_>>()
    };
    let there =
        |path: &str, version: u64, text: &str| (path.to_owned(), version, true, Some(content_hash(text.as_bytes())));
    let gone = |path: &str, version: u64| (path.to_owned(), version, false, None);
    assert_eq!(changed_files(&mut files), []);
    let done = |files: &mut Executor, key: &str, operation| {
        files.execute(&order(key, "ada", operation)).result.expect("it can be done");
    };
    let path = || "notes/a.md".to_owned();
    done(&mut files, "k1", FileOperation::Write { path: path(), content: "one".into() });
    assert_eq!(changed_files(&mut files), [there("notes/a.md", 1, "one")]);
    done(&mut files, "k2", FileOperation::Read { path: path() });
    assert_eq!(changed_files(&mut files), [], "reading changes nothing");
    write(&folder, "notes/a.md", "by hand");
    files.examine("notes/a.md");
    assert_eq!(changed_files(&mut files), [there("notes/a.md", 2, "by hand")]);
    done(&mut files, "k3", FileOperation::Rename { from: path(), to: "notes/b.md".into() });
    assert_eq!(changed_files(&mut files), [gone("notes/a.md", 0), there("notes/b.md", 2, "by hand")]);
    done(&mut files, "k4", FileOperation::Delete { path: "notes/b.md".into() });
    assert_eq!(changed_files(&mut files), [gone("notes/b.md", 2)]);
    let record = "sessions/ada.act-1.session.yaml".to_owned();
    done(&mut files, "k5", FileOperation::Record { path: record.clone(), content: "x".into(), over: None });
    assert_eq!(changed_files(&mut files), [(record, 0, true, None)]);
    files.create("notes/cup.png", &[0xff], TextOrigin::Copy).expect("it can be written");
    assert_eq!(changed_files(&mut files), [("notes/cup.png".to_owned(), 0, true, None)]);
    fs::remove_file(folder.path().join("notes/cup.png")).expect("it should exist");
    files.refresh("");
    assert_eq!(changed_files(&mut files), [gone("notes/cup.png", 0)]);
    write(&folder, ADA, "edited");
    files.examine_room_files();
    assert_eq!(changed_files(&mut files), [there(ADA, 1, "edited")]);
}
