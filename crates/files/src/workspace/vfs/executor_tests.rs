//! File operations and their results.

use std::fs;

use super::super::order::FileRights;
use super::super::records::records_of;
use super::super::saving::{Haste, SaveOrder};
use super::super::service_events::{OutsideChange, ServiceEvent};
use super::super::text_edit::TextEdit;
use super::super::{OUTSIDE, ROOM};
use super::*;
use crate::base::{Author, Id, Seq};
use crate::workspace::task_files::task_edit::{TaskDraft, TaskEdit, TaskUpdate};

#[path = "executor_access_tests.rs"]
mod access;

/// A workspace with some files, and its executor.
pub(in crate::workspace) struct FileWorkspace {
    pub(in crate::workspace) folder: tempfile::TempDir,
    pub(in crate::workspace) files: Executor,
    orders: u64,
}

pub(in crate::workspace) fn order(key: &str, author: &str, operation: FileOperation) -> FileOrder {
    FileOrder {
        key: key.into(),
        author: Author(author.into()),
        activation: Some("act-1".into()),
        operation,
        rights: FileRights::default(),
        cause: Seq(7),
        worktree: None,
    }
}

pub(in crate::workspace) fn write(path: &str, content: &str) -> FileOperation {
    FileOperation::Write { path: path.into(), content: content.into() }
}

pub(in crate::workspace) fn read(path: &str) -> FileOperation {
    FileOperation::Read { path: path.into() }
}

pub(in crate::workspace) fn delete(path: &str) -> FileOperation {
    FileOperation::Delete { path: path.into() }
}

pub(in crate::workspace) fn rename(from: &str, to: &str) -> FileOperation {
    FileOperation::Rename { from: from.into(), to: to.into() }
}

pub(in crate::workspace) fn edit(path: &str, old: &str, new: &str) -> FileOperation {
    FileOperation::Edit { path: path.into(), old: old.into(), new: new.into() }
}

/// Adds a task to a file. Carrying it out twice would add two.
pub(in crate::workspace) fn add_task(path: &str, title: &str) -> FileOperation {
    let task = TaskDraft { title: title.into(), ..TaskDraft::default() };
    edit_with(path, TaskEdit::Create { task, keys: Vec::new() })
}

/// Completes a task of a file.
pub(in crate::workspace) fn complete_task(path: &str, id: &str) -> FileOperation {
    let update = TaskUpdate { status: Some("completed".into()), ..TaskUpdate::default() };
    edit_with(path, TaskEdit::Update { id: id.into(), update })
}

fn edit_with(path: &str, edit: TaskEdit) -> FileOperation {
    FileOperation::EditWith { path: path.into(), edit: Box::new(TextEdit::Task(edit)) }
}

pub(in crate::workspace) fn append(path: &str, text: &str) -> FileOperation {
    FileOperation::Append { path: path.into(), text: text.into() }
}

fn lines(path: &str, from_line: usize, lines: usize) -> FileOperation {
    FileOperation::ReadLines { path: path.into(), from_line, lines: Some(lines) }
}

fn list(prefix: &str) -> FileOperation {
    FileOperation::List { prefix: prefix.into() }
}

fn search(text: Option<&str>, glob: Option<&str>) -> FileOperation {
    FileOperation::Search { text: text.map(str::to_owned), glob: glob.map(str::to_owned) }
}

pub(in crate::workspace) fn restore(path: &str, version: u64) -> FileOperation {
    FileOperation::Restore { path: path.into(), version }
}

impl FileWorkspace {
    pub(in crate::workspace) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            put_outside(&folder, path, text);
        }
        let files = open(&folder);
        Self { folder, files, orders: 0 }
    }

    pub(in crate::workspace) fn reopen(self) -> Self {
        let Self { folder, files, orders } = self;
        drop(files);
        let files = open(&folder);
        Self { folder, files, orders }
    }

    pub(in crate::workspace) fn run(
        &mut self,
        author: &str,
        operation: FileOperation,
    ) -> Result<FileAnswer, FileFailure> {
        self.orders += 1;
        let order = order(&format!("order-{}", self.orders), author, operation);
        self.files.execute(&order).result
    }

    fn bounded(&mut self, rights: &FileRights, operation: FileOperation) -> Result<FileAnswer, FileFailure> {
        self.orders += 1;
        let order = order(&format!("order-{}", self.orders), "ada", operation);
        self.files.execute(&FileOrder { rights: rights.clone(), ..order }).result
    }

    fn says(&mut self, operation: FileOperation) -> String {
        match self.run("ada", operation) {
            Ok(answer) => panic!("it was done: {answer:?}"),
            Err(failure) => failure.what,
        }
    }

    /// Returns the external changes that were not collected yet.
    pub(in crate::workspace) fn outside_changes(&self) -> Vec<OutsideChange> {
        let of_others = |news| match news {
            ServiceEvent::Outside(change) => Some(change),
            ServiceEvent::Changed(_) | ServiceEvent::Saved(_) | ServiceEvent::Record(_) => None,
        };
        self.files.news.take(usize::MAX).into_iter().filter_map(of_others).collect()
    }

    pub(in crate::workspace) fn on_disk(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join(path)).ok()
    }

    /// Returns the number, author and text of each version, oldest first.
    pub(in crate::workspace) fn history(&self, path: &str) -> Vec<(u64, String, String)> {
        let Some(head) = self.files.versions.head(path).expect("the history can be read") else { return Vec::new() };
        let mut versions = self.files.versions.versions(head.file).expect("the history can be read");
        versions.reverse();
        let text =
            |number| self.files.versions.text(head.file, number).expect("it can be read").expect("it should be kept");
        versions.into_iter().map(|version| (version.number, version.author, text(version.number))).collect()
    }
}

fn open(folder: &tempfile::TempDir) -> Executor {
    Executor::open(folder.path(), &folder.path().join(".workshop"), FileLimits::default()).expect("it can be opened")
}

pub(in crate::workspace) fn put_outside(folder: &tempfile::TempDir, path: &str, text: &str) {
    let full = folder.path().join(path);
    fs::create_dir_all(full.parent().expect("it should be in the folder")).expect("folders can be made");
    fs::write(full, text).expect("files can be written");
}

pub(in crate::workspace) fn version(number: u64, author: &str, text: &str) -> (u64, String, String) {
    (number, author.to_owned(), text.to_owned())
}

fn rights(reads: &[&str], writes: &[&str]) -> FileRights {
    let list = |globs: &[&str]| vec![globs.iter().map(|glob| (*glob).to_owned()).collect()];
    FileRights { reads: list(reads), writes: list(writes), ..FileRights::default() }
}

#[test]
fn written_text_can_be_read_and_every_write_is_a_version() {
    let mut fixture = FileWorkspace::new(&[]);
    let written = fixture.run("ada", write("./artifacts/plan.md", "one\n"));
    let done = |version, chars, is_new| FileResult::Written {
        path: "artifacts/plan.md".into(),
        version,
        chars,
        is_new,
        content: None,
    };
    assert_eq!(written, Ok(FileAnswer::Changed { done: done(1, 4, true), conflict_with: Vec::new() }));
    let edited = fixture.run("bob", edit("artifacts/plan.md", "one", "zwölf"));
    assert_eq!(edited, Ok(FileAnswer::Changed { done: done(2, 6, false), conflict_with: vec!["ada".into()] }));
    let same = fixture.run("bob", write("artifacts/plan.md", "zwölf\n"));
    assert_eq!(same, Ok(FileAnswer::Unchanged { path: "artifacts/plan.md".into(), version: 2 }));
    let read = fixture.run("cy", read("artifacts/plan.md"));
    let text = FileAnswer::Text { path: "artifacts/plan.md".into(), content: "zwölf\n".into(), version: 2 };
    assert_eq!(read, Ok(text));
    let head = fixture.files.versions.head("artifacts/plan.md").expect("it can be read").expect("it should exist");
    let kept = fixture.files.versions.versions(head.file).expect("they can be read");
    assert_eq!((kept[0].author.as_str(), kept[0].chars, kept[0].order_key.as_deref()), ("bob", 6, Some("order-2")));
    assert_eq!(kept[0].activation.as_deref(), Some("act-1"));
    assert!(kept[0].time_ms >= kept[1].time_ms);
}

#[test]
fn errors_say_how_to_correct_the_call() {
    let mut fixture = FileWorkspace::new(&[("artifacts/plan.md", "a\nb\na\n"), ("memory/log.md", "x")]);
    assert_eq!(
        fixture.says(read("notes/plan.md")),
        "'notes/plan.md' not found. Similar: 'artifacts/plan.md'. Available: ['artifacts/plan.md', 'memory/log.md']"
    );
    assert!(fixture.says(delete("artifacts/plam.md")).contains("Similar: 'artifacts/plan.md'"));
    assert!(fixture.says(rename("x.md", "y.md")).starts_with("'x.md' not found."));
    assert!(fixture.says(rename("memory/log.md", "artifacts/plan.md")).contains("already exists"));
    assert!(
        fixture.says(edit("artifacts/plan.md", "a\n", "c\n")).contains("2 times in 'artifacts/plan.md' (lines 1, 3)")
    );
    assert!(fixture.says(edit("artifacts/plan.md", "bb", "c")).contains("Nearest: line 2: 'b'"));
    assert!(fixture.says(restore("artifacts/plan.md", 3)).contains("no earlier versions"));
    assert!(fixture.says(read("artifacts")).contains("is a folder"));
    assert!(fixture.says(read("artifacts/plan.md/x")).contains("a part of it is a file"));
    fixture.run("ada", write("memory/log.md", "y")).expect("it can be written");
    assert_eq!(fixture.says(restore("memory/log.md", 9)), "'memory/log.md' has no version 9; there are 1 to 2.");
    let listing = fixture.run("ada", list("tests/"));
    let prefixes = vec!["artifacts/".to_owned(), "memory/".to_owned()];
    assert_eq!(listing, Ok(FileAnswer::Listing { paths: Vec::new(), more: 0, prefixes }));
}

#[test]
fn listings_and_searches_are_limited_and_name_lines() {
    let mut fixture = FileWorkspace::new(&[
        ("artifacts/a.md", "Hello\nworld, hello hello\n"),
        ("artifacts/b.txt", "nothing\n"),
        ("memory/c.md", "ÜBER alles\nhelloooo"),
        (".hidden.md", "hello"),
        (".workshop/x.md", "hello"),
    ]);
    let matches = |answer| match answer {
        Ok(FileAnswer::Matches { matches, more, .. }) => {
            let lines: Vec<String> =
                matches.into_iter().map(|found| format!("{}:{}:{}", found.path, found.line, found.text)).collect();
            (lines, more)
        }
        other => panic!("{other:?}"),
    };
    let (lines, more) = matches(fixture.run("ada", search(Some("HELLO"), None)));
    assert_eq!(lines, ["artifacts/a.md:1:Hello", "artifacts/a.md:2:world, hello hello", "memory/c.md:2:helloooo"]);
    assert_eq!(more, 0);
    let (lines, _) = matches(fixture.run("ada", search(Some("über"), Some("memory/*.md"))));
    assert_eq!(lines, ["memory/c.md:1:ÜBER alles"]);
    let (lines, _) = matches(fixture.run("ada", search(None, Some("**/*.md"))));
    assert_eq!(lines, ["artifacts/a.md:0:", "memory/c.md:0:"]);
    fixture.files.limits.matches_at_most = 1;
    let (lines, more) = matches(fixture.run("ada", search(Some("hello"), None)));
    assert_eq!((lines.len(), more), (1, 2));
    let (lines, more) = matches(fixture.run("ada", search(None, None)));
    assert_eq!((lines.len(), more), (1, 2));
    fixture.files.limits.listed_at_most = 2;
    let listing = fixture.run("ada", list(""));
    let paths = vec!["artifacts/a.md".to_owned(), "artifacts/b.txt".to_owned()];
    assert_eq!(listing, Ok(FileAnswer::Listing { paths, more: 1, prefixes: Vec::new() }));
    assert!(fixture.says(search(Some("a\nb"), None)).contains("one line"));
    assert!(fixture.says(search(Some("a"), Some("a["))).contains("not a valid glob"));
    let long = format!("{}needle{}", "x".repeat(500), "y".repeat(500));
    fixture.run("ada", write("notes/long.md", &long)).expect("it can be written");
    fixture.files.limits.line_chars_at_most = 40;
    let (lines, _) = matches(fixture.run("ada", search(Some("needle"), Some("notes/*"))));
    assert!(lines[0].contains("needle") && lines[0].chars().count() < 70, "{}", lines[0]);
}

#[test]
fn an_append_by_the_room_is_done_once_even_if_repeated_after_a_crash() {
    let mut fixture = FileWorkspace::new(&[]);
    let message = order("slack/act-1/1/0/00", ROOM, append("outbox/slack-messages.jsonl", "{}\n"));
    fixture.files.execute(&message).result.expect("it can be written");
    let mut fixture = fixture.reopen();
    fixture.files.execute(&message).result.expect("it is answered as before");
    assert_eq!(fixture.on_disk("outbox/slack-messages.jsonl").as_deref(), Some("{}\n"));
}

#[test]
fn an_append_is_done_once_whenever_the_process_is_killed() {
    let mut fixture = FileWorkspace::new(&[("artifacts/a.md", "one\n")]);
    let order = order("append", "ada", append("artifacts/a.md", "two\n"));
    let first = fixture.files.execute(&order).result;
    assert!(matches!(&first, Ok(FileAnswer::Changed { done: FileResult::Written { chars: 8, .. }, .. })), "{first:?}");
    assert_eq!(fixture.files.execute(&order).result, first, "the same order is carried out once");
    let mut fixture = fixture.reopen();
    assert!(fixture.files.execute(&order).result.is_ok());
    assert_eq!(fixture.on_disk("artifacts/a.md").as_deref(), Some("one\ntwo\n"));
    fixture.run("ada", append("artifacts/new.md", "first")).expect("it is made");
    assert_eq!(fixture.on_disk("artifacts/new.md").as_deref(), Some("first"));
    fixture.files.limits.file_kib_at_most = 1;
    let full = fixture.says(append("artifacts/new.md", &"x".repeat(1020)));
    assert!(
        full.contains("the limit is 1") && fixture.on_disk("artifacts/new.md").as_deref() == Some("first"),
        "{full}"
    );
}

#[test]
fn large_files_are_read_in_parts_and_reported_as_unsearched() {
    let text: String = (1..=200).map(|number| format!("the needle of line {number}\n")).collect();
    let mut fixture = FileWorkspace::new(&[("artifacts/large.txt", &text), ("artifacts/small.md", "a needle\n")]);
    fixture.files.limits.file_kib_at_most = 1;
    let part = fixture.run("ada", lines("artifacts/large.txt", 150, 2));
    let content = "the needle of line 150\nthe needle of line 151\n".to_owned();
    let path = || "artifacts/large.txt".to_owned();
    assert_eq!(part, Ok(FileAnswer::Lines { path: path(), content, next_line: Some(152), count: None }));
    let whole = fixture.run("ada", read("artifacts/large.txt"));
    assert!(matches!(&whole, Ok(FileAnswer::Lines { content, next_line: None, .. }) if *content == text), "{whole:?}");
    assert!(fixture.run("user", read("artifacts/large.txt")).is_err(), "a person is not shown a part as the whole");
    let small = fixture.run("ada", lines("artifacts/small.md", 1, 1));
    assert!(matches!(small, Ok(FileAnswer::Text { .. })), "{small:?}");
    fs::write(fixture.folder.path().join("artifacts/picture.png"), b"\xff\xd8needle").expect("it can be written");
    let found = fixture.run("ada", search(Some("needle"), None));
    let Ok(FileAnswer::Matches { matches, unsearched, .. }) = found else { panic!("{found:?}") };
    assert_eq!(matches.len(), 1);
    assert_eq!((unsearched.too_large, unsearched.not_text, unsearched.unreadable), (1, 1, 0));
    assert_eq!(unsearched.named, ["artifacts/large.txt", "artifacts/picture.png"]);
    for operation in [delete("artifacts/large.txt"), append("artifacts/large.txt", "x")] {
        assert!(fixture.says(operation).contains("files.file_kib_at_most"));
    }
}

#[test]
fn listed_files_are_prefetched() {
    let mut fixture = FileWorkspace::new(&[("artifacts/a.md", "four"), ("artifacts/b.md", "four")]);
    fixture.run("ada", list("artifacts/")).expect("it can be listed");
    assert_eq!(fixture.files.index.memory(), 0, "the answer does not wait for it");
    while fixture.files.do_idle_task() {}
    assert_eq!(fixture.files.index.memory(), 8);
}

#[test]
fn a_writer_is_told_who_knows_an_older_text_without_delay() {
    let mut fixture = FileWorkspace::new(&[("artifacts/a.md", "x")]);
    let conflicts = |answer| match answer {
        Ok(FileAnswer::Changed { conflict_with, .. }) => conflict_with,
        other => panic!("{other:?}"),
    };
    let none: Vec<Id> = Vec::new();
    fixture.run("bob", read("artifacts/a.md")).expect("it should exist");
    fixture.run("ada", read("artifacts/a.md")).expect("it should exist");
    assert_eq!(conflicts(fixture.run("ada", write("artifacts/a.md", "1"))), none, "bob read before ada did");
    fixture.run("cy", read("artifacts/a.md")).expect("it should exist");
    fixture.run("user", read("artifacts/a.md")).expect("it should exist");
    assert_eq!(conflicts(fixture.run("ada", write("artifacts/a.md", "2"))), ["cy".into()]);
    assert_eq!(conflicts(fixture.run("bob", rename("artifacts/a.md", "artifacts/b.md"))), ["ada".into(), "cy".into()]);
    assert_eq!(conflicts(fixture.run("bob", delete("artifacts/b.md"))), ["ada".into(), "cy".into()]);
}

#[test]
fn nothing_that_a_person_wrote_is_lost() {
    let mut fixture = FileWorkspace::new(&[("notes/a.md", "by hand"), ("notes/b.md", "by hand")]);
    assert_eq!(fixture.history("notes/a.md"), [], "not every file is kept when the workspace is opened");
    fixture.run("ada", write("notes/a.md", "ada's")).expect("it can be written");
    assert_eq!(fixture.history("notes/a.md"), [version(1, OUTSIDE, "by hand"), version(2, "ada", "ada's")]);
    put_outside(&fixture.folder, "notes/a.md", "by hand again");
    fixture.run("ada", write("notes/a.md", "ada's again")).expect("it can be written");
    let kept = [
        version(1, OUTSIDE, "by hand"),
        version(2, "ada", "ada's"),
        version(3, OUTSIDE, "by hand again"),
        version(4, "ada", "ada's again"),
    ];
    assert_eq!(fixture.history("notes/a.md"), kept);
    fixture.run("ada", delete("notes/b.md")).expect("it should exist");
    assert_eq!(
        (fixture.on_disk("notes/b.md"), fixture.history("notes/b.md")),
        (None, vec![version(1, OUTSIDE, "by hand")])
    );
    fixture.run("ada", restore("notes/b.md", 1)).expect("it should be kept");
    assert_eq!(fixture.on_disk("notes/b.md").as_deref(), Some("by hand"));
    assert_eq!(fixture.history("notes/b.md").last(), Some(&version(2, "ada", "by hand")));
}

#[test]
fn a_history_moves_with_its_file_and_releases_its_path() {
    let mut fixture = FileWorkspace::new(&[]);
    for text in ["1", "2"] {
        fixture.run("ada", write("a.md", text)).expect("it can be written");
    }
    fixture.run("ada", write("old.md", "gone")).expect("it can be written");
    fixture.run("ada", delete("old.md")).expect("it should exist");
    let renamed = fixture.run("ada", rename("a.md", "old.md")).expect("nothing should exist there");
    let done = FileResult::Renamed { from: "a.md".into(), to: "old.md".into(), content: None };
    assert_eq!(renamed, FileAnswer::Changed { done, conflict_with: Vec::new() });
    fixture.run("ada", write("old.md", "3")).expect("it can be written");
    let kept = [version(1, "ada", "1"), version(2, "ada", "2"), version(3, "ada", "3")];
    assert_eq!(fixture.history("old.md"), kept);
    fixture.run("ada", write("a.md", "another")).expect("it can be written");
    assert_eq!(fixture.history("a.md"), [version(1, "ada", "another")]);
    let fixture = fixture.reopen();
    assert_eq!(fixture.history("old.md"), kept);
}

#[test]
fn old_versions_are_pruned_and_numbering_continues() {
    let mut fixture = FileWorkspace::new(&[]);
    fixture.files.limits.versions_kept = 3;
    for number in 1..=7 {
        let text = format!("{number} {}", "long enough to be packed ".repeat(50));
        fixture.run("ada", write("a.md", &text)).expect("it can be written");
    }
    let numbers: Vec<u64> = fixture.history("a.md").iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, [1, 6, 7], "the first one is kept");
    assert!(fixture.history("a.md")[1].2.starts_with("6 long enough"));
    assert!(fixture.says(restore("a.md", 2)).contains("there are 1 and 6 to 7"));
}

#[test]
fn external_changes_are_noticed_and_reported_once() {
    let mut fixture = FileWorkspace::new(&[("notes/a.md", "1"), ("notes/gone.md", "x"), ("agents/ada.md", "1")]);
    fixture.run("ada", write("notes/a.md", "2")).expect("it can be written");
    put_outside(&fixture.folder, "notes/a.md", "three");
    put_outside(&fixture.folder, "notes/new.md", "new");
    put_outside(&fixture.folder, "agents/ada.md", "another");
    fs::remove_file(fixture.folder.path().join("notes/gone.md")).expect("it should exist");
    fs::write(fixture.folder.path().join("notes/image.png"), [0xff, 0]).expect("files can be written");
    fixture.files.examine_everything();
    let told = |path: &str, version, is_gone| OutsideChange {
        path: path.into(),
        version,
        is_gone,
        displaced_by: None,
        by: None,
        program: None,
    };
    assert_eq!(
        fixture.outside_changes(),
        [
            told("notes/a.md", 3, false),
            told("notes/image.png", 0, false),
            told("notes/new.md", 1, false),
            told("notes/gone.md", 0, true)
        ],
        "of agents' files the watcher tells"
    );
    assert_eq!(fixture.history("notes/new.md"), [version(1, OUTSIDE, "new")]);
    assert_eq!(fixture.history("agents/ada.md"), [version(1, OUTSIDE, "another")]);
    fixture.files.examine_everything();
    fixture.files.examine("notes/a.md");
    assert_eq!(fixture.outside_changes(), []);
    put_outside(&fixture.folder, "notes/later.md", "later");
    fixture.run("ada", list("notes/")).expect("it can be listed");
    while fixture.files.do_idle_task() {}
    assert_eq!(
        fixture.outside_changes(),
        [told("notes/later.md", 1, false)],
        "a listing that finds a new file tells of it"
    );
}

#[test]
fn an_edit_while_the_service_was_closed_is_a_version() {
    let mut fixture = FileWorkspace::new(&[]);
    fixture.run("ada", write("notes/a.md", "1")).expect("it can be written");
    fixture.run("ada", write("notes/b.md", "1")).expect("it can be written");
    put_outside(&fixture.folder, "notes/a.md", "by hand");
    fs::remove_file(fixture.folder.path().join("notes/b.md")).expect("it should exist");
    let mut fixture = fixture.reopen();
    while fixture.files.do_idle_task() {}
    assert_eq!(fixture.history("notes/a.md")[1], version(2, OUTSIDE, "by hand"));
    let gone: Vec<bool> = fixture.outside_changes().iter().map(|change| change.is_gone).collect();
    assert_eq!(gone, [false, true]);
}

#[test]
fn the_rooms_own_saves_are_versions_and_not_edits() {
    let mut fixture = FileWorkspace::new(&[("boards/rules.md", "start")]);
    let files = [("boards/rules.md".to_owned(), "start".to_owned())].into();
    fixture.files.room = Some(RoomFiles::new(fixture.folder.path(), &files, true));
    let hash = content_hash(b"the room's");
    let save = SaveOrder { text: "the room's".into(), over: Some(content_hash(b"start")), number: 1 };
    assert!(fixture.files.save("boards/rules.md", &save, Haste::AtOnce).is_ok());
    let saved = fixture.files.news.take(9);
    assert!(matches!(&saved[..], [ServiceEvent::Saved(_)]), "{saved:?}");
    fixture.files.examine("boards/rules.md");
    assert!(fixture.files.news.is_empty());
    let before = [version(1, OUTSIDE, "start"), version(2, ROOM, "the room's")];
    assert_eq!(fixture.history("boards/rules.md"), before);
    let written = fixture.run("ada", write("boards/rules.md", "ada's")).expect("it can be written");
    let FileAnswer::Changed { done: FileResult::Written { content, .. }, .. } = written else { panic!("{written:?}") };
    assert_eq!(content.as_deref(), Some("ada's"), "the room must know it");
    assert_eq!(fixture.history("boards/rules.md")[2], version(3, "ada", "ada's"));
    let room = fixture.files.room.as_ref().expect("there should be one");
    assert_eq!(room.known.get("boards/rules.md"), Some(&content_hash(b"ada's")), "it is no news");
    assert_eq!(room.ours.get("boards/rules.md"), Some(&hash), "nor may the room write over it");
}

#[test]
fn a_full_workspace_is_reported_with_a_remedy() {
    let mut fixture = FileWorkspace::new(&[("a.md", "x"), ("b.md", "x")]);
    fixture.files.limits.count_at_most = 2;
    assert!(fixture.says(write("c.md", "x")).contains("files.count_at_most"));
    assert!(fixture.run("ada", write("a.md", "xx")).is_ok());
    fixture.files.limits.file_kib_at_most = 1;
    assert!(fixture.says(write("a.md", &"x".repeat(1025))).contains("files.file_kib_at_most"));
    assert_eq!(fixture.on_disk("a.md").as_deref(), Some("xx"));
}

#[cfg(unix)]
#[test]
fn failed_writes_are_not_recorded() {
    use std::os::unix::fs::PermissionsExt;
    let mut fixture = FileWorkspace::new(&[("notes/a.md", "locked")]);
    let path = fixture.folder.path().join("notes/a.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("rights can be set");
    assert!(fixture.says(write("notes/a.md", "x")).contains("read-only"));
    fs::write(fixture.folder.path().join("notes/image.png"), [0xff]).expect("files can be written");
    for operation in [write("notes/image.png", "x"), delete("notes/image.png"), rename("notes/image.png", "x.png")] {
        assert!(fixture.says(operation).contains("not UTF-8"), "what no version can keep is left alone");
    }
    assert_eq!(fs::read(fixture.folder.path().join("notes/image.png")).expect("it should exist"), [0xff]);
    assert_eq!(
        fs::read_dir(fixture.folder.path().join("notes")).expect("it should exist").count(),
        2,
        "nothing is left over"
    );
    assert_eq!(fixture.files.versions.steps().expect("they can be read"), []);
}

#[test]
fn orders_with_the_same_key_are_executed_once_and_answered_equally() {
    let mut fixture = FileWorkspace::new(&[("agents/bob.md", "1")]);
    let orders = [
        order("k-1", "ada", write("agents/bob.md", "2")),
        order("k-2", "ada", edit("agents/bob.md", "2", "3")),
        order("k-3", "ada", rename("agents/bob.md", "agents/cy.md")),
        order("k-4", "ada", read("agents/cy.md")),
        order("k-5", "ada", delete("agents/cy.md")),
        order("k-6", "ada", restore("agents/cy.md", 1)),
        order("k-7", "ada", read("agents/none.md")),
    ];
    let first: Vec<FileOutcome> = orders.iter().map(|order| fixture.files.execute(order)).collect();
    let kept = fixture.history("agents/cy.md");
    let again: Vec<FileOutcome> = orders.iter().map(|order| fixture.files.execute(order)).collect();
    assert_eq!(first, again);
    let mut fixture = fixture.reopen();
    // An operation without effect is repeated; after one with an effect, the room receives the present text.
    let changes = orders.iter().zip(first).filter(|(order, _)| !matches!(&*order.key, "k-4" | "k-7"));
    for (order, mut first) in changes {
        if let Ok(FileAnswer::Changed { done, .. }) = &mut first.result {
            match done {
                FileResult::Written { path, content, .. } | FileResult::Renamed { to: path, content, .. } => {
                    *content = (path == "agents/cy.md").then(|| "1".to_owned());
                }
                FileResult::Deleted { .. } => {}
            }
        }
        assert_eq!(fixture.files.execute(order), first);
    }
    assert_eq!(fixture.history("agents/cy.md"), kept);
    assert_eq!(fixture.on_disk("agents/cy.md").as_deref(), Some("1"));
}
