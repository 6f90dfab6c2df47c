//! What programs of agents change belongs to their agents, with the earlier text; what others change does not.

use std::fs;

use super::super::super::undo::{AgentHistories, Outcome};
use super::super::executor::tests::{FileWorkspace, put_outside, read, version, write};
use super::super::index::now_ns;
use super::*;

fn owner(agent: &str, is_confined: bool) -> ProgramOwner {
    ProgramOwner { author: Author(agent.into()), activation: Some("act-1".into()), is_confined }
}

fn begin(fixture: &mut FileWorkspace, agent: &str) -> u64 {
    fixture.files.begin_program(owner(agent, false))
}

fn end(fixture: &mut FileWorkspace, number: u64) -> Vec<String> {
    fixture.files.end_program(number, now_ns()).paths
}

/// Path, author, whether it is gone, whether it is new.
fn reported(fixture: &FileWorkspace) -> Vec<(String, Option<String>, bool, bool)> {
    let row = |change: OutsideChange| {
        let is_new = change.program.as_ref().is_some_and(|program| program.is_new);
        (change.path, change.by.map(|by| by.to_string()), change.is_gone, is_new)
    };
    fixture.outside_changes().into_iter().map(row).collect()
}

fn row(path: &str, by: Option<&str>, is_gone: bool, is_new: bool) -> (String, Option<String>, bool, bool) {
    (path.to_owned(), by.map(str::to_owned), is_gone, is_new)
}

#[test]
fn the_files_of_agents_are_those_that_they_or_their_programs_wrote_last() {
    let mut fixture = FileWorkspace::new(&[("src/persons.py", "a"), ("src/a.py", "a"), ("notes/a.md", "a")]);
    let is_code: fn(&str) -> bool = |path| path.ends_with(".py");
    assert_eq!(fixture.files.agent_files(is_code), [] as [&str; 0]);
    for path in ["src/a.py", "notes/a.md"] {
        fixture.run("ada", write(path, "A")).expect("it can be written");
    }
    let program = begin(&mut fixture, "bo");
    put_outside(&fixture.folder, "src/new.py", "new");
    end(&mut fixture, program);
    assert_eq!(fixture.files.agent_files(is_code), ["src/a.py", "src/new.py"]);
    let program = begin(&mut fixture, "bo");
    fs::remove_file(fixture.folder.path().join("src/new.py")).expect("it should exist");
    end(&mut fixture, program);
    assert_eq!(fixture.files.agent_files(is_code), ["src/a.py"]);
}

#[test]
fn everything_that_a_program_changes_is_its_agents_with_the_text_before() {
    let mut fixture = FileWorkspace::new(&[
        ("src/a.py", "a"),
        ("src/gone.py", "gone"),
        ("src/same.py", "same"),
        ("notes/seen.md", "one"),
    ]);
    fixture.run("ada", write("notes/seen.md", "two")).expect("it can be written");
    fixture.outside_changes();
    let program = begin(&mut fixture, "bo");
    for (path, text) in [
        ("src/a.py", "A"),
        ("src/new.py", "new"),
        ("src/same.py", "same"),
        ("notes/seen.md", "three"),
        ("src/empty", ""),
    ] {
        put_outside(&fixture.folder, path, text);
    }
    fs::remove_file(fixture.folder.path().join("src/gone.py")).expect("it should exist");
    fs::write(fixture.folder.path().join("src/picture.bin"), [0xff, 0]).expect("files can be written");
    let changed = end(&mut fixture, program);
    assert_eq!(changed, ["notes/seen.md", "src/a.py", "src/empty", "src/gone.py", "src/new.py", "src/picture.bin"]);
    let mut told = reported(&fixture);
    told.sort();
    let bo = Some("bo");
    assert_eq!(
        told,
        [
            row("notes/seen.md", bo, false, false),
            row("src/a.py", bo, false, false),
            row("src/empty", bo, false, true),
            row("src/gone.py", bo, true, false),
            row("src/new.py", bo, false, true),
            row("src/picture.bin", bo, false, true),
        ]
    );
    assert_eq!(fixture.history("src/a.py"), [version(1, OUTSIDE, "a"), version(2, "bo", "A")]);
    assert_eq!(fixture.history("src/new.py"), [version(1, "bo", "new")]);
    assert_eq!(fixture.history("src/gone.py"), [version(1, OUTSIDE, "gone")]);
    assert_eq!(fixture.history("src/same.py"), [], "a file that was only touched has no history");
    assert_eq!(fixture.history("notes/seen.md").last(), Some(&version(3, "bo", "three")));
}

#[test]
fn a_deletion_is_the_programs_even_if_the_folder_was_listed_meanwhile() {
    let mut fixture = FileWorkspace::new(&[("src/gone.py", "gone"), ("old/a.py", "a")]);
    let program = begin(&mut fixture, "bo");
    fs::remove_file(fixture.folder.path().join("src/gone.py")).expect("it should exist");
    fs::remove_dir_all(fixture.folder.path().join("old")).expect("it should exist");
    fixture.files.refresh("");
    assert_eq!(end(&mut fixture, program), ["old/a.py", "src/gone.py"]);
    let gone = |path: &str| row(path, Some("bo"), true, false);
    assert_eq!(reported(&fixture), [gone("old/a.py"), gone("src/gone.py")]);
    assert_eq!(fixture.history("src/gone.py"), [version(1, OUTSIDE, "gone")]);
}

#[test]
fn changes_before_and_after_a_program_are_those_of_others() {
    let mut fixture = FileWorkspace::new(&[("a.txt", "one"), ("b.txt", "one"), ("c.txt", "one")]);
    put_outside(&fixture.folder, "a.txt", "before");
    let program = begin(&mut fixture, "bo");
    put_outside(&fixture.folder, "b.txt", "during");
    let ended_ns = now_ns();
    // File systems have coarse clocks.
    while fs::metadata(fixture.folder.path().join("c.txt")).expect("it should exist").modified().expect("known")
        <= std::time::UNIX_EPOCH + Duration::from_nanos(ended_ns.cast_unsigned())
    {
        put_outside(&fixture.folder, "c.txt", "after");
    }
    assert_eq!(fixture.files.end_program(program, ended_ns).paths, ["b.txt"]);
    put_outside(&fixture.folder, "b.txt", "later");
    fixture.files.examine_everything();
    let authors = |fixture: &FileWorkspace, path: &str| fixture.history(path).pop().expect("it has versions").1;
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|path| authors(&fixture, path)), [OUTSIDE, OUTSIDE, OUTSIDE]);
    assert_eq!(fixture.history("b.txt")[1], version(2, "bo", "during"));
}

#[test]
fn a_program_makes_one_version_of_a_file_however_often_it_is_looked_at() {
    let mut fixture = FileWorkspace::new(&[("build.log", "old")]);
    let program = begin(&mut fixture, "bo");
    for lines in 1..20 {
        put_outside(&fixture.folder, "build.log", &"line\n".repeat(lines));
        fixture.files.examine("build.log");
    }
    assert_eq!(end(&mut fixture, program), ["build.log"]);
    assert_eq!(fixture.history("build.log"), [version(1, OUTSIDE, "old"), version(2, "bo", &"line\n".repeat(19))]);
    assert_eq!(reported(&fixture).len(), 1);
}

#[test]
fn a_person_or_agent_who_writes_with_the_program_stays_the_author() {
    let mut fixture = FileWorkspace::new(&[("a.txt", "one"), ("b.txt", "one")]);
    let program = begin(&mut fixture, "bo");
    put_outside(&fixture.folder, "a.txt", "by bo");
    fixture.run("user", write("b.txt", "mine")).expect("it can be written");
    fixture.run("ada", write("a.txt", "by ada")).expect("it can be written");
    end(&mut fixture, program);
    assert_eq!(
        fixture.history("a.txt"),
        [version(1, OUTSIDE, "one"), version(2, "bo", "by bo"), version(3, "ada", "by ada")]
    );
    assert_eq!(fixture.history("b.txt").last(), Some(&version(2, "user", "mine")));
}

#[test]
fn a_confined_program_cannot_have_changed_protected_files() {
    let mut fixture = FileWorkspace::new(&[("agents/ada.md", "You are Ada."), ("a.txt", "one")]);
    let program = fixture.files.begin_program(owner("bo", true));
    put_outside(&fixture.folder, "agents/ada.md", "You are Eve.");
    put_outside(&fixture.folder, "a.txt", "two");
    assert_eq!(end(&mut fixture, program), ["a.txt"]);
    assert_eq!(fixture.history("agents/ada.md"), [version(1, OUTSIDE, "You are Eve.")]);
}

#[test]
fn with_two_programs_at_once_the_other_agent_is_named() {
    let mut fixture = FileWorkspace::new(&[("a.txt", "one"), ("b.txt", "one")]);
    let (first, second) = (begin(&mut fixture, "ada"), begin(&mut fixture, "bo"));
    put_outside(&fixture.folder, "a.txt", "two");
    assert_eq!(end(&mut fixture, second), ["a.txt"]);
    put_outside(&fixture.folder, "b.txt", "two");
    assert_eq!(end(&mut fixture, first), ["b.txt"]);
    let changes = fixture.outside_changes();
    let others = |at: usize| changes[at].program.as_ref().expect("a program made it").others.clone();
    assert_eq!((changes[0].by.as_deref(), others(0)), (Some("bo"), vec![Id::from("ada")]));
    assert_eq!((changes[1].by.as_deref(), others(1)), (Some("ada"), vec![]));
}

#[test]
fn a_build_with_thousands_of_new_files_is_counted_and_not_kept() {
    let mut fixture = FileWorkspace::new(&[]);
    let program = begin(&mut fixture, "bo");
    for number in 0..MAX_NEW_FILES + 100 {
        put_outside(&fixture.folder, &format!("target/{number}.o"), "object");
    }
    let changed = fixture.files.end_program(program, now_ns());
    assert_eq!((changed.paths.len(), changed.more), (MAX_REPORTED, MAX_NEW_FILES + 100 - MAX_REPORTED));
    assert_eq!(fixture.outside_changes().len(), MAX_NEW_FILES);
    fixture.files.examine_everything();
    assert!(fixture.outside_changes().is_empty(), "the others are not somebody else's either");
}

#[test]
fn what_programs_did_is_undone_with_the_agents_work() {
    let large = "x".repeat(usize::try_from(MAX_EARLIER_TEXT_BYTES).expect("it fits") + 1);
    let mut fixture = FileWorkspace::new(&[("a.txt", "one"), ("gone.txt", "gone"), ("large.txt", &large)]);
    let program = begin(&mut fixture, "bo");
    put_outside(&fixture.folder, "a.txt", "two");
    put_outside(&fixture.folder, "new.txt", "new");
    put_outside(&fixture.folder, "large.txt", "small");
    fs::remove_file(fixture.folder.path().join("gone.txt")).expect("it should exist");
    end(&mut fixture, program);
    fixture.run("cy", read("a.txt")).expect("it can be read");
    let root = fixture.folder.path().to_owned();
    let histories = AgentHistories::read(&root, &root.join(".workshop")).expect("it can be read");
    let plan = histories.plan("bo", 0);
    let outcome = |path: &str| plan.files.iter().find(|file| file.path == path).map(|file| file.outcome.clone());
    assert_eq!(outcome("a.txt"), Some(Outcome::Write { text: "one".to_owned(), to: None }));
    assert_eq!(outcome("new.txt"), Some(Outcome::Delete));
    let large = outcome("large.txt");
    assert!(matches!(&large, Some(Outcome::Unchanged { why }) if why.contains("no longer stored")), "{large:?}");
    // The deletion itself is in the log, which only a room writes.
    assert_eq!(fixture.history("gone.txt"), [version(1, OUTSIDE, "gone")]);
    fixture.outside_changes();
    let mut again = fixture.reopen();
    while again.files.do_idle_task() {}
    assert!(again.outside_changes().is_empty(), "nobody else changed anything");
}
