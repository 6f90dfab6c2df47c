//! Tests that the room's saves are complete, never overwrite another writer's text, and never follow a link.

use std::fs;
use std::path::Path;

use super::super::OUTSIDE;
use super::super::executor::LastStep;
use super::super::executor::tests::{complete_task, order as ordered};
use super::super::history::FileHistory;
use super::super::limits::FileLimits;
use super::super::order::{FileAnswer, FileResult};
use super::super::room_files::RoomFiles;
use super::super::service::{FileService, FileServiceOptions};
use super::*;
use crate::safe_fs::{self, Folder};

const RULES: &str = "boards/rules.md";
const PATIENCE: Duration = Duration::from_secs(20);

fn open(folder: &Path, text: &str) -> FileService {
    let room = Some([(RULES.to_owned(), text.to_owned())].into());
    FileService::open(FileServiceOptions { room, ..FileServiceOptions::new(folder) }).expect("it can be opened")
}

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir_all(folder.path().join("boards")).expect("folders can be made");
    fs::write(folder.path().join(RULES), text).expect("files can be written");
    folder
}

fn workspace(text: &str) -> (tempfile::TempDir, FileService) {
    let folder = folder(text);
    let service = open(folder.path(), text);
    (folder, service)
}

fn flush(service: &FileService) -> Vec<Problem> {
    service.flush(|outcome| panic!("nothing was ordered: {outcome:?}"))
}

fn order(text: &str, over: Option<&str>, number: u64) -> SaveOrder {
    SaveOrder { text: text.into(), over: over.map(|text| content_hash(text.as_bytes())), number }
}

fn on_disk(folder: &tempfile::TempDir) -> String {
    fs::read_to_string(folder.path().join(RULES)).expect("the file is there")
}

#[test]
fn flushing_saves_the_newest_text_and_reports_it() {
    let (folder, service) = workspace("old\n");
    service.save(RULES, order("one\n", Some("old\n"), 1));
    service.save(RULES, order("two\n", Some("old\n"), 2));
    service.save("boards/deep/new.md", order("new\n", None, 3));
    assert_eq!(flush(&service), []);
    assert_eq!(on_disk(&folder), "two\n");
    assert_eq!(fs::read_to_string(folder.path().join("boards/deep/new.md")).expect("it was made"), "new\n");
    let saved =
        |path: &str, number| ServiceEvent::Saved(SaveReport { path: path.into(), saved: Some(number), problem: None });
    assert_eq!(service.take_events(9), [saved("boards/deep/new.md", 3), saved(RULES, 2)]);
    // The room may overwrite its own text, whatever the operation was based on.
    service.save(RULES, order("three\n", Some("old\n"), 4));
    assert_eq!(flush(&service), []);
    assert_eq!(on_disk(&folder), "three\n");
}

#[test]
fn an_edit_is_made_to_the_rooms_text_even_if_that_is_not_in_the_file_yet() {
    let (folder, service) = workspace("- [ ] Buy milk\n");
    service.save(RULES, order("- [ ] Buy oat milk\n", Some("- [ ] Buy milk\n"), 1));
    service.send(ordered("k", "ada", complete_task(RULES, "buy-oat-milk"))).expect("there is room");
    let outcome = service.next(PATIENCE).expect("it is answered");
    assert!(matches!(outcome.result, Ok(FileAnswer::Edited { done: Some(_), .. })), "{outcome:?}");
    assert_eq!(on_disk(&folder), "- [x] Buy oat milk\n  id: buy-oat-milk\n");
    let saved = SaveReport { path: RULES.into(), saved: Some(1), problem: None };
    assert_eq!(service.take_events(9), [ServiceEvent::Saved(saved)], "the world hears of its save first");
}

#[test]
fn an_edit_is_made_to_another_programs_text_that_the_world_has_not_merged_yet() {
    let (folder, service) = workspace("- [ ] Buy milk\n");
    let theirs = "- [ ] Buy milk\n- [ ] Post it\n";
    fs::write(folder.path().join(RULES), theirs).expect("files can be written");
    service.save(RULES, order("- [x] Buy milk\n", Some("- [ ] Buy milk\n"), 1));
    service.send(ordered("k", ROOM, complete_task(RULES, "post-it"))).expect("there is room");
    let outcome = service.next(PATIENCE).expect("it is answered");
    let Ok(FileAnswer::Edited { done: Some(FileResult::Written { content: Some(content), .. }), .. }) = outcome.result
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(content, "- [ ] Buy milk\n- [x] Post it\n  id: post-it\n");
    assert_eq!(on_disk(&folder), content, "the room's text waits until the world has merged both");
    assert!(flush(&service).iter().any(|problem| problem.what.contains("someone else just changed it")));
    // The world has merged them.
    let merged = content.replace("[ ] Buy", "[x] Buy");
    service.save(RULES, order(&merged, Some(&content), 2));
    assert_eq!(flush(&service), []);
    assert_eq!(on_disk(&folder), merged);
}

/// Returns the texts and authors of the versions after these saves, newest first. At `None`, another program writes a
/// text, which the world reads.
fn versions_after(save_version_secs: u64, saves: &[Option<&str>]) -> Vec<(String, String)> {
    let folder = folder("old\n");
    let state = folder.path().join(".workshop");
    let limits = FileLimits { save_version_secs, versions_kept: 4, ..FileLimits::default() };
    let mut files = Executor::open(folder.path(), &state, limits).expect("it can be opened");
    files.room = Some(RoomFiles::new(folder.path(), &[(RULES.to_owned(), "old\n".to_owned())].into(), true));
    let mut over = "old\n";
    for (number, text) in (1..).zip(saves) {
        match text {
            Some(text) => assert!(files.save(RULES, &order(text, Some(over), number), Haste::AtOnce).is_ok()),
            None => {
                over = "theirs\n";
                fs::write(folder.path().join(RULES), over).expect("files can be written");
                files.examine(RULES);
            }
        }
    }
    drop(files);
    let kept = FileHistory::open(folder.path(), &state).expect("it can be read");
    let versions = kept.versions(RULES).expect("they can be read").into_iter();
    versions
        .map(|version| {
            let text = kept.text(RULES, version.number).expect("it can be read").expect("it should be kept");
            (text.trim_end().to_owned(), version.author)
        })
        .collect()
}

#[test]
fn each_save_is_a_version_of_the_room_after_the_replaced_text() {
    let ours = |text: &str| (text.to_owned(), ROOM.to_owned());
    let theirs = |text: &str| (text.to_owned(), OUTSIDE.to_owned());
    let saves = [Some("one\n"), Some("two\n")];
    assert_eq!(versions_after(0, &saves), [ours("two"), ours("one"), theirs("old")]);
}

#[test]
fn successive_saves_share_a_version_without_displacing_those_of_others() {
    let ours = |text: &str| (text.to_owned(), ROOM.to_owned());
    let theirs = |text: &str| (text.to_owned(), OUTSIDE.to_owned());
    let many: Vec<String> = (0..50).map(|number| format!("{number}\n")).collect();
    let mut saves: Vec<Option<&str>> = many.iter().map(|text| Some(text.as_str())).collect();
    assert_eq!(versions_after(u64::MAX, &saves), [ours("49"), theirs("old")]);
    saves.insert(20, None);
    assert_eq!(versions_after(u64::MAX, &saves), [ours("49"), theirs("theirs"), ours("19"), theirs("old")]);
}

#[test]
fn an_interrupted_save_is_completed_on_reopening() {
    for (step, wanted) in
        [(LastStep::WrittenBeside, "old\n"), (LastStep::Recorded, "ours\n"), (LastStep::InPlace, "ours\n")]
    {
        let folder = folder("old\n");
        let state = folder.path().join(".workshop");
        let open = || Executor::open(folder.path(), &state, FileLimits::default()).expect("it can be opened");
        let mut files = open();
        files.room = Some(RoomFiles::new(folder.path(), &[(RULES.to_owned(), "old\n".to_owned())].into(), false));
        files.stop_at = Some(step);
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            files.save(RULES, &order("ours\n", Some("old\n"), 1), Haste::AtOnce).is_ok()
        }));
        assert!(killed.is_err(), "{step:?}");
        drop(files);
        drop(open());
        assert_eq!(on_disk(&folder), wanted, "{step:?}");
        assert_eq!(fs::read_dir(folder.path().join("boards")).expect("it should exist").count(), 1, "{step:?}");
    }
}

#[test]
fn a_save_waits_until_the_world_has_merged_an_external_text() {
    let (folder, service) = workspace("old\n");
    fs::write(folder.path().join(RULES), "theirs\n").expect("files can be written");
    service.save(RULES, order("ours\n", Some("old\n"), 1));
    assert_eq!(flush(&service).len(), 1);
    assert_eq!(on_disk(&folder), "theirs\n");
    service.save(RULES, order("theirs\nours\n", Some("theirs\n"), 2));
    assert_eq!(flush(&service), []);
    assert_eq!(on_disk(&folder), "theirs\nours\n");
}

#[test]
fn a_deleted_file_is_not_restored_and_closing_keeps_the_rooms_text() {
    let (folder, service) = workspace("old\n");
    fs::remove_file(folder.path().join(RULES)).expect("it should exist");
    service.save(RULES, order("ours\n", Some("old\n"), 1));
    drop(service);
    assert!(!folder.path().join(RULES).exists());
    let kept = folder.path().join(".workshop/unsaved/boards_rules.md");
    assert_eq!(fs::read_to_string(kept).expect("it was kept"), "ours\n");
}

#[test]
fn dropping_the_service_writes_pending_saves() {
    let (folder, service) = workspace("old\n");
    service.save(RULES, order("last\n", Some("old\n"), 1));
    drop(service);
    assert_eq!(on_disk(&folder), "last\n");
}

#[test]
fn a_kill_before_the_rename_leaves_the_old_file_intact() {
    let (folder, service) = workspace("old\n");
    let boards = Folder::open(&folder.path().join("boards")).expect("it should exist");
    let beside = safe_fs::temporary_name("rules.md");
    safe_fs::write_temporary(&boards, &beside, b"half of the n", None).expect("it can be written");
    assert_eq!(on_disk(&folder), "old\n");
    let (files, problems) = layout::read_folder(folder.path());
    assert_eq!((files.len(), problems.len()), (1, 0));
    service.save(RULES, order("new\n", Some("old\n"), 1));
    assert_eq!(flush(&service), []);
    assert_eq!(on_disk(&folder), "new\n");
    drop(service);
    drop(open(folder.path(), "new\n"));
    assert!(
        boards.metadata(&beside).is_err() && on_disk(&folder) == "new\n",
        "what is left over goes with the next start"
    );
}

#[test]
fn an_external_save_just_before_the_rename_is_kept_and_merged() {
    let folder = folder("old\n");
    let mut files = Executor::open(folder.path(), &folder.path().join(".workshop"), FileLimits::default())
        .expect("it can be opened");
    files.room = Some(RoomFiles::new(folder.path(), &[(RULES.to_owned(), "old\n".to_owned())].into(), false));
    let full = folder.path().join(RULES);
    let (here, there, away) = (full.clone(), full.clone(), full.clone());
    let aside = folder.path().join("theirs");
    let in_place = move || fs::write(&here, "theirs\n").expect("files can be written");
    let renamed = move || {
        fs::write(&aside, "theirs\n").expect("files can be written");
        fs::rename(&aside, &there).expect("it can be renamed");
    };
    let gone = move || fs::remove_file(&away).expect("it should exist");
    let saves: [(Box<dyn FnMut() + Send>, Option<&str>); 3] =
        [(Box::new(in_place), Some("theirs\n")), (Box::new(renamed), Some("theirs\n")), (Box::new(gone), None)];
    for (save, left) in saves {
        fs::write(&full, "old\n").expect("files can be written");
        files.act_at = Some((LastStep::WrittenBeside, save));
        let written = files.save(RULES, &order("ours\n", Some("old\n"), 1), Haste::AtOnce);
        assert!(matches!(written, Err(NotSaved::Held)));
        assert_eq!(fs::read_to_string(&full).ok().as_deref(), left);
        assert_eq!(fs::read_dir(folder.path().join("boards")).expect("it should exist").count(), left.iter().count());
    }
    // A new file that another program creates at the same moment.
    let new = folder.path().join("boards/new.md");
    let made = new.clone();
    files.act_at =
        Some((LastStep::WrittenBeside, Box::new(move || fs::write(&made, "theirs\n").expect("files can be written"))));
    let written = files.save("boards/new.md", &order("ours\n", None, 1), Haste::AtOnce);
    assert!(matches!(written, Err(NotSaved::Held)));
    assert_eq!(fs::read_to_string(&new).expect("it should exist"), "theirs\n");
}

#[cfg(unix)]
#[test]
fn links_are_followed_within_the_workspace_and_nowhere_else() {
    use std::os::unix::fs::symlink;
    let (folder, service) = workspace("old\n");
    let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
    let far = elsewhere.path().join("far.md");
    for (path, text) in [(far.clone(), "old\n"), (folder.path().join("shared.md"), "old\n")] {
        fs::write(path, text).expect("files can be written");
    }
    fs::create_dir_all(folder.path().join(".git")).expect("folders can be made");
    fs::write(folder.path().join(".git/config"), "old\n").expect("files can be written");
    let board = |name: &str| folder.path().join("boards").join(name);
    symlink(&far, board("out.md")).expect("links can be made");
    symlink("../.git/config", board("hidden.md")).expect("links can be made");
    symlink("../nothing.md", board("dangling.md")).expect("links can be made");
    symlink("../shared.md", board("shared.md")).expect("links can be made");
    symlink(&far, board(".rules.md.workshop-writing")).expect("links can be made");
    for name in ["out.md", "hidden.md", "dangling.md"] {
        service.save(&format!("boards/{name}"), order("ours\n", Some("old\n"), 1));
    }
    assert_eq!(flush(&service).len(), 3);
    drop(service);
    let service = open(folder.path(), "old\n");
    service.save("boards/shared.md", order("ours\n", Some("old\n"), 1));
    service.save(RULES, order("ours\n", Some("old\n"), 1));
    assert_eq!(flush(&service), []);
    assert!(board("shared.md").is_symlink() && !folder.path().join("nothing.md").exists());
    for (path, text) in [
        (far, "old\n"),
        (folder.path().join(".git/config"), "old\n"),
        (board("rules.md"), "ours\n"),
        (folder.path().join("shared.md"), "ours\n"),
    ] {
        assert_eq!(fs::read_to_string(&path).expect("it should exist"), text, "{}", path.display());
    }
}

#[test]
fn unsaved_texts_are_reported_on_closing() {
    let (folder, service) = workspace("old\n");
    fs::write(folder.path().join(RULES), "theirs\n").expect("files can be written");
    service.save(RULES, order("ours\n", Some("old\n"), 1));
    let told = service.close();
    assert!(told[0].what.contains("someone else") && told[0].what.contains("unsaved/boards_rules.md"), "{told:?}");
    fs::write(folder.path().join(RULES), "old\n").expect("files can be written");
    let mut rights = fs::metadata(folder.path().join(RULES)).expect("it should exist").permissions();
    rights.set_readonly(true);
    fs::set_permissions(folder.path().join(RULES), rights).expect("rights can be set");
    let service = open(folder.path(), "old\n");
    service.save(RULES, order("ours\n", Some("old\n"), 2));
    let told = service.close();
    assert!(told[0].what.contains("read-only") && !told[0].what.contains("someone else"), "{told:?}");
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_failed_writes_are_retried() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, service) = workspace("old\n");
    let path = folder.path().join(RULES);
    let allow = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("rights can be set");
    allow(0o444);
    service.save(RULES, order("new\n", Some("old\n"), 1));
    assert!(flush(&service)[0].what.contains("read-only"));
    assert!(matches!(&service.take_events(9)[..], [ServiceEvent::Saved(SaveReport { problem: Some(_), .. })]));
    allow(0o640);
    assert_eq!(flush(&service), []);
    assert_eq!(on_disk(&folder), "new\n");
    assert_eq!(fs::metadata(&path).expect("it should exist").permissions().mode() & 0o777, 0o640);
}

#[test]
fn nothing_is_written_outside_of_the_rooms_files() {
    let (folder, service) = workspace("old\n");
    service.save("../evil.md", order("x", None, 1));
    assert_eq!(flush(&service).len(), 1);
    assert!(!folder.path().join("../evil.md").exists());
}
