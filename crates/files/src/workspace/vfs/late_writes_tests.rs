//! A save that another program makes in several parts is never cut, whenever the room writes in between.

use std::fs;
use std::io::{SeekFrom, Write};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::super::limits::FileLimits;
use super::super::room_files::RoomFiles;
use super::super::saving::{Haste, NotSaved, SaveOrder};
use super::super::unfinished_saves::{MAX_WAIT, MAX_WATCHED_PER_PATH};
use super::*;

const TASKS: &str = "tasks/plan.task.md";
const OURS: &str = "  status: working\n";

/// A room whose file was just changed to `text` by another program, and that has read it.
fn room(text: &str) -> (tempfile::TempDir, Executor) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir_all(folder.path().join("tasks")).expect("folders can be made");
    fs::write(folder.path().join(TASKS), "- [ ] old\n").expect("files can be written");
    let state = folder.path().join(".workshop");
    let mut files = Executor::open(folder.path(), &state, FileLimits::default()).expect("it can be opened");
    let known = [(TASKS.to_owned(), "- [ ] old\n".to_owned())].into();
    files.room = Some(RoomFiles::new(folder.path(), &known, true));
    write_in_place(&folder, text);
    files.examine(TASKS);
    (folder, files)
}

fn write_in_place(folder: &tempfile::TempDir, text: &str) {
    fs::write(folder.path().join(TASKS), text).expect("files can be written");
}

fn on_disk(folder: &tempfile::TempDir) -> String {
    fs::read_to_string(folder.path().join(TASKS)).expect("it should exist")
}

fn save(files: &mut Executor, text: &str, over: &str, haste: Haste) -> Result<(), NotSaved> {
    let order = SaveOrder { text: text.to_owned(), over: Some(content_hash(over.as_bytes())), number: 1 };
    files.save(TASKS, &order, haste)
}

/// Examines the replaced files as often as it takes to notice a change and to believe it.
fn look_again(files: &mut Executor) {
    for _ in 0..3 {
        files.unfinished.let_pass(STILL);
        files.merge_late_writes();
    }
}

#[test]
fn the_room_waits_until_a_file_has_been_still() {
    let (folder, mut files) = room("- [ ] theirs\n");
    let ours = format!("- [ ] theirs\n{OURS}");
    assert!(matches!(save(&mut files, &ours, "- [ ] theirs\n", Haste::Waits), Err(NotSaved::Unsettled)));
    assert_eq!(on_disk(&folder), "- [ ] theirs\n");
    files.unfinished.let_pass(STILL);
    assert!(save(&mut files, &ours, "- [ ] theirs\n", Haste::Waits).is_ok());
    assert_eq!(on_disk(&folder), ours);
    // The room's own text needs no waiting.
    assert!(save(&mut files, "- [x] theirs\n", "- [ ] theirs\n", Haste::Waits).is_ok());
}

#[test]
fn neither_a_clock_that_is_ahead_nor_a_file_that_never_rests_stops_the_room() {
    for (ahead, waits) in [(3600, STILL), (0, MAX_WAIT)] {
        let (folder, mut files) = room("- [ ] theirs\n");
        let touch = |number: u64| {
            let file = File::options().write(true).open(folder.path().join(TASKS)).expect("it should exist");
            let time = SystemTime::now() + Duration::from_secs(ahead) + Duration::from_nanos(number);
            file.set_modified(time).expect("times can be set");
        };
        touch(1);
        assert!(save(&mut files, "ours\n", "- [ ] theirs\n", Haste::Waits).is_err());
        files.unfinished.let_pass(waits);
        if ahead == 0 {
            touch(2);
        }
        assert!(save(&mut files, "ours\n", "- [ ] theirs\n", Haste::Waits).is_ok(), "{ahead}");
    }
}

/// How a program writes the rest of a file that it holds open.
#[derive(Clone, Copy, Debug)]
enum Writer {
    /// It appends the second half.
    Append,
    /// It empties the file and writes it again.
    Rewrite,
    /// It writes over the file from its start, and cuts it at the end.
    InPlace,
}

fn finish(writer: Writer, file: &mut File, text: &str, half: usize) {
    let written = match writer {
        Writer::Append => file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(&text.as_bytes()[half..])),
        Writer::Rewrite => file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes())),
        Writer::InPlace => {
            file.rewind().and_then(|()| file.write_all(text.as_bytes())).and_then(|()| file.set_len(text.len() as u64))
        }
    };
    written.expect("files can be written");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_of_a_save_in_two_parts_is_lost(
        lines in 2..30_usize,
        split in 0.05..0.95_f64,
        writer in prop::sample::select(vec![Writer::Append, Writer::Rewrite, Writer::InPlace]),
        saves in 1..4_usize,
    ) {
        let whole: String = (0..lines).map(|line| format!("- [ ] task number {line}\n")).collect();
        let half = ((whole.len() as f64 * split) as usize).max(1);
        let (folder, mut files) = room(&whole[..half]);
        let mut theirs = File::options().read(true).write(true).open(folder.path().join(TASKS)).expect("it should exist");
        // The room reads the half, and writes it back with changes of its own.
        let mut ours = whole[..half].to_owned();
        let ends_line = ours.ends_with('\n');
        for number in 0..saves {
            let separator = if ends_line || number > 0 { "" } else { "\n" };
            ours.push_str(&format!("{separator}  note: room {number}\n"));
            prop_assert!(save(&mut files, &ours, &whole[..half], Haste::AtOnce).is_ok());
        }
        look_again(&mut files);
        prop_assert_eq!(on_disk(&folder), ours.clone(), "nothing was written into the replaced file");
        finish(writer, &mut theirs, &whole, half);
        look_again(&mut files);
        let now = on_disk(&folder);
        let found: Vec<&str> = now.lines().collect();
        for line in whole.lines().map(str::to_owned).chain((0..saves).map(|number| format!("  note: room {number}"))) {
            prop_assert!(found.contains(&line.as_str()), "{line:?} of {writer:?} is lost: {now}");
        }
        let told = files.room.as_ref().and_then(|room| room.known.get(TASKS).copied());
        prop_assert_eq!(told, Some(content_hash(now.as_bytes())), "the room reads what was merged");
    }
}

#[test]
fn a_save_in_many_parts_is_merged_part_by_part() {
    let (folder, mut files) = room("- [ ] one\n");
    let mut theirs = File::options().append(true).open(folder.path().join(TASKS)).expect("it should exist");
    assert!(save(&mut files, "- [x] one\n", "- [ ] one\n", Haste::AtOnce).is_ok());
    for part in ["- [ ] two\n", "- [ ] three\n"] {
        theirs.write_all(part.as_bytes()).expect("files can be written");
        look_again(&mut files);
    }
    assert_eq!(on_disk(&folder), "- [x] one\n- [ ] two\n- [ ] three\n");
    // What is written just before the room closes is merged as well.
    theirs.write_all(b"- [ ] four\n").expect("files can be written");
    files.merge_last_writes();
    assert_eq!(on_disk(&folder), "- [x] one\n- [ ] two\n- [ ] three\n- [ ] four\n");
}

#[test]
fn what_is_written_for_a_file_that_is_gone_is_kept_and_reported() {
    let (folder, mut files) = room("- [ ] one\n");
    let mut theirs = File::options().append(true).open(folder.path().join(TASKS)).expect("it should exist");
    assert!(save(&mut files, "- [x] one\n", "- [ ] one\n", Haste::AtOnce).is_ok());
    fs::remove_file(folder.path().join(TASKS)).expect("it should exist");
    files.news.take(usize::MAX);
    theirs.write_all(b"- [ ] two\n").expect("files can be written");
    look_again(&mut files);
    let kept = fs::read_to_string(folder.path().join(".workshop/unsaved/tasks_plan.task.md"));
    assert_eq!(kept.expect("it should be kept"), "- [ ] one\n- [ ] two\n");
    let is_report = |event: &ServiceEvent| match event {
        ServiceEvent::Saved(report) => report.problem.is_some(),
        _ => false,
    };
    assert_eq!(files.news.take(usize::MAX).iter().filter(|event| is_report(event)).count(), 1);
}

#[test]
fn replaced_files_are_watched_for_a_limited_time_and_in_a_limited_number() {
    let (_folder, mut files) = room("- [ ] one\n");
    let mut text = "- [ ] one\n".to_owned();
    for number in 0..50 {
        let next = format!("{text}- [ ] {number}\n");
        assert!(save(&mut files, &next, "- [ ] one\n", Haste::AtOnce).is_ok());
        text = next;
    }
    assert_eq!(files.unfinished.replaced.len(), MAX_WATCHED_PER_PATH);
    files.unfinished.let_pass(WATCHED);
    files.merge_late_writes();
    assert_eq!((files.unfinished.replaced.len(), files.unfinished.due), (0, None));
}
