//! Files in a room: operations, outcomes, restarts, and conflicts with a person's edits.

use std::collections::BTreeMap;
use std::fs;

use bevy::app::App;
use bevy::ecs::message::Messages;

use super::super::executor::tests::{add_task, order, read, restore, write};
use super::super::service::FileServiceOptions;
use super::super::{FileAnswer, FileResult, ROOM};
use super::*;
use crate::log::events::{FileChange, Warning};
use crate::log::{Event, EventKind, EventLog, EventRecord};
use crate::schedule::saved::{load_world, save_world, world_hash};
use crate::schedule::{self, advance};
use crate::workspace::layout::read_folder;
use crate::workspace::{FileChanged, KnownFiles, RoomStart, begin};

const PATIENCE: Duration = Duration::from_secs(20);
const SCENE: &str = "scenes/s.yaml";
const SCENE_TEXT: &str = "elements: []\n";

/// A room of files alone, with its service and a workspace on disk.
struct FileRoom {
    folder: tempfile::TempDir,
    app: App,
}

fn start(files: BTreeMap<String, String>) -> RoomStart {
    RoomStart { scene: SCENE.into(), files, ..RoomStart::default() }
}

fn app() -> App {
    let mut app = App::empty();
    schedule::plugin(&mut app);
    crate::workspace::plugin(&mut app);
    app
}

impl FileRoom {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files.iter().chain(&[(SCENE, SCENE_TEXT), ("settings.yaml", "")]) {
            let full = folder.path().join(path);
            fs::create_dir_all(full.parent().expect("it should be in the folder")).expect("folders can be made");
            fs::write(full, text).expect("files can be written");
        }
        let mut app = app();
        begin(app.world_mut(), start(read_folder(folder.path()).0));
        let mut fixture = Self { folder, app };
        fixture.open_service(false);
        fixture
    }

    fn open_service(&mut self, watch: bool) {
        let root = self.folder.path().canonicalize().expect("it should exist");
        let room = Some(read_folder(&root).0);
        let service = FileService::open(FileServiceOptions { room, watch, ..FileServiceOptions::new(&root) });
        self.app.world_mut().insert_resource(FileBridge::new(service.expect("it can be opened")));
    }

    fn give(&mut self, order: FileOrder) {
        self.app.world_mut().write_message(order);
    }

    /// The room as it is after its process was killed, which dropped its service, and it was opened again.
    fn reopen(mut self) -> Self {
        let saved = save_world(self.app.world_mut()).expect("it can be saved");
        let known = self.app.world().resource::<KnownFiles>().all().clone();
        let mut again = app();
        load_world(again.world_mut(), &saved).expect("it can be loaded");
        begin(again.world_mut(), RoomStart { carried: Some(saved), ..start(known) });
        let mut reopened = Self { folder: self.folder, app: again };
        reopened.open_service(false);
        reopened
    }

    /// Runs one tick if it may run, and returns the outcomes that it received.
    fn tick(&mut self) -> Vec<FileOutcome> {
        assert!(wait_before_tick(self.app.world_mut(), PATIENCE), "the service must answer");
        let mut cursor = self.app.world().resource::<Messages<FileOutcome>>().get_cursor_current();
        advance(self.app.world_mut());
        cursor.read(self.app.world().resource::<Messages<FileOutcome>>()).cloned().collect()
    }

    fn events(&mut self) -> Vec<Event> {
        self.app.world_mut().resource_mut::<EventLog>().take().iter().map(EventRecord::event).collect()
    }

    fn known(&self, path: &str) -> Option<&str> {
        self.app.world().resource::<KnownFiles>().text(path)
    }
}

#[test]
fn an_order_of_one_tick_is_answered_in_the_next() {
    let mut fixture = FileRoom::new(&[("artifacts/a.md", "text")]);
    fixture.tick();
    for round in 0..20 {
        fixture.give(order(&format!("r-{round}"), "ada", read("artifacts/a.md")));
        fixture.give(order(&format!("w-{round}"), "ada", write("artifacts/b.md", &round.to_string())));
        assert_eq!(fixture.tick(), [], "it is sent");
        let keys: Vec<String> = fixture.tick().into_iter().map(|outcome| outcome.key.to_string()).collect();
        assert_eq!(keys, [format!("r-{round}"), format!("w-{round}")], "and answered");
    }
    assert_eq!(fixture.app.world().resource::<PendingFileOrders>().iter().count(), 0);
}

#[test]
fn more_orders_than_the_queue_holds_are_answered_in_order() {
    let mut fixture = FileRoom::new(&[]);
    fixture.tick();
    for number in 0..1000 {
        fixture.give(order(&format!("{number:04}"), "ada", read("none.md")));
    }
    assert_eq!(fixture.tick(), []);
    let keys: Vec<String> = fixture.tick().into_iter().map(|outcome| outcome.key.to_string()).collect();
    assert_eq!(keys, (0..1000).map(|number| format!("{number:04}")).collect::<Vec<_>>());
}

#[test]
fn changes_are_logged_and_known_in_the_same_tick() {
    let mut fixture = FileRoom::new(&[("agents/bob.md", "old"), ("artifacts/a.md", "x")]);
    fixture.tick();
    fixture.events();
    fixture.give(order("k-1", "bob", read("agents/bob.md")));
    fixture.give(order("k-2", "ada", write("agents/bob.md", "new")));
    fixture.give(order("k-3", "ada", write("artifacts/a.md", "y")));
    fixture.tick();
    let mut cursor = fixture.app.world().resource::<Messages<FileChanged>>().get_cursor_current();
    fixture.tick();
    assert_eq!(fixture.known("agents/bob.md"), Some("new"));
    assert_eq!(fixture.known("artifacts/a.md"), None, "that is not a room file");
    let changed: Vec<FileChanged> =
        cursor.read(fixture.app.world().resource::<Messages<FileChanged>>()).cloned().collect();
    let content = crate::workspace::files::FileContent::Text("new".into());
    let by = crate::base::Author("ada".into());
    let cause = changed.first().and_then(|change| change.cause);
    assert_eq!(changed, [FileChanged { by, cause, is_seen: true, ..FileChanged::new("agents/bob.md", content) }]);
    let events = fixture.events();
    let written = |path: &str, chars: u64| {
        let change = FileChange { chars: Some(chars), new: Some(false), ..FileChange::new(path, "ada") };
        Event::from(FileChange { version: Some(2), ..change })
    };
    let warning = Warning {
        path: Some("agents/bob.md".into()),
        writer: Some("ada".into()),
        readers: Some(vec!["bob".into()]),
        ..Warning::new("a file changed that others have read since its writer did")
    };
    assert_eq!(events, [written("agents/bob.md", 3), warning.into(), written("artifacts/a.md", 1)]);
    fixture.tick();
    assert_eq!(fixture.events(), [], "it is reported once");
    fixture.give(order("k-4", "ada", super::super::FileOperation::Delete { path: "agents/bob.md".into() }));
    fixture.tick();
    fixture.tick();
    assert_eq!(fixture.known("agents/bob.md"), None);
    fixture.events();
    for (key, operation) in [("k-5", restore("agents/bob.md", 2)), ("k-6", write("agents/cy.md", "new"))] {
        fixture.give(order(key, "user", operation));
        fixture.tick();
        fixture.tick();
    }
    assert_eq!(fixture.known("agents/bob.md"), Some("new"));
    let changes = fixture.events().into_iter().filter_map(|event| match event {
        Event::FileChange(change) => Some((change.path.to_string(), change.new, change.restored)),
        _ => None,
    });
    let expected = [("agents/bob.md".to_owned(), Some(true), true), ("agents/cy.md".to_owned(), Some(true), false)];
    assert_eq!(changes.collect::<Vec<_>>(), expected, "the log tells what was put back from what is new");
}

#[test]
fn an_ordered_write_is_not_mistaken_for_an_external_one() {
    let mut fixture = FileRoom::new(&[("boards/rules.md", "one\n")]);
    fixture.app.world_mut().insert_resource(FileBridge::default());
    fixture.open_service(true);
    fixture.tick();
    fixture.events();
    for round in 0..10 {
        fixture.give(order(&format!("k-{round}"), "ada", write("boards/rules.md", &format!("round {round}\n"))));
        fixture.tick();
        fixture.tick();
    }
    // An external edit is delivered after everything that the watcher reports of the other files.
    fs::write(fixture.folder.path().join("boards/other.md"), "by hand").expect("files can be written");
    let start = Instant::now();
    let mut by = Vec::new();
    while !by.contains(&"boards/other.md by outside".to_owned()) {
        assert!(start.elapsed() < PATIENCE, "the edit must be seen");
        fixture.tick();
        by.extend(fixture.events().into_iter().filter_map(|event| match event {
            Event::FileChange(change) => Some(format!("{} by {}", change.path, change.by)),
            _ => None,
        }));
    }
    assert!(!by.contains(&"boards/rules.md by outside".to_owned()), "{by:?}");
    assert_eq!(fixture.known("boards/rules.md"), Some("round 9\n"));
}

#[test]
fn an_ordered_change_has_its_author_and_conflicts() {
    let mut fixture = FileRoom::new(&[("boards/rules.md", "# Rules\n- one\n")]);
    fixture.tick();
    fixture.give(order("k", "ada", write("boards/rules.md", "# Rules\n- one\n- ada's\n")));
    // The room adds a line in the tick in which the operation is sent.
    fixture.app.world_mut().write_message(crate::workspace::SceneWrite::File {
        path: "boards/rules.md".into(),
        text: "# Rules\n- the room's\n- one\n".into(),
    });
    fixture.tick();
    let mut cursor = fixture.app.world().resource::<Messages<FileChanged>>().get_cursor_current();
    fixture.tick();
    let told: Vec<FileChanged> =
        cursor.read(fixture.app.world().resource::<Messages<FileChanged>>()).cloned().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&*told[0].by.0, told[0].base.as_deref()), ("ada", Some("# Rules\n- one\n")));
    let record =
        fixture.app.world().resource::<EventLog>().unwritten().iter().find(|event| Some(event.seq) == told[0].cause);
    assert_eq!(record.expect("its cause is in the log").draft.kind, EventKind::FileChange);
    let start = Instant::now();
    while !crate::workspace::save_now(fixture.app.world_mut()).is_empty() {
        assert!(start.elapsed() < PATIENCE, "nothing waits to be saved");
        fixture.tick();
    }
    let on_disk = fs::read_to_string(fixture.folder.path().join("boards/rules.md")).expect("it should exist");
    assert_eq!(on_disk, "# Rules\n- one\n- ada's\n", "nobody here joins the two");
}

#[test]
fn an_unanswered_order_is_sent_again_after_a_restart_and_executed_once() {
    let mut fixture = FileRoom::new(&[]);
    fixture.tick();
    fixture.give(order("k", "ada", write("agents/new.md", "hello")));
    advance(fixture.app.world_mut());
    // The service finishes, but the result is not received.
    fixture.app.world_mut().insert_resource(FileBridge::default());
    let mut fixture = fixture.reopen();
    let outcomes = fixture.tick();
    assert_eq!(outcomes.len(), 1);
    let Ok(FileAnswer::Changed { done: FileResult::Written { version, content, .. }, .. }) = &outcomes[0].result else {
        panic!("{outcomes:?}");
    };
    assert_eq!((*version, content.as_deref()), (1, Some("hello")));
    assert_eq!(fixture.known("agents/new.md"), Some("hello"));
}

#[test]
fn an_edit_whose_answer_was_lost_is_not_made_again() {
    let path = "tasks/plan.task.md";
    let mut fixture = FileRoom::new(&[(path, "# Plan\n")]);
    fixture.tick();
    fixture.give(order("k", ROOM, add_task(path, "Buy milk")));
    advance(fixture.app.world_mut());
    // The service finishes, but the result is not received, and a person removes the task again.
    fixture.app.world_mut().insert_resource(FileBridge::default());
    let full = fixture.folder.path().join(path);
    assert!(fs::read_to_string(&full).expect("it should exist").contains("Buy milk"));
    fs::write(&full, "# Plan of Monday\n").expect("files can be written");
    let mut fixture = fixture.reopen();
    let outcomes = fixture.tick();
    let [FileOutcome { result: Ok(FileAnswer::Edited { done: Some(_), .. }), .. }] = outcomes.as_slice() else {
        panic!("{outcomes:?}");
    };
    assert_eq!(fs::read_to_string(&full).expect("it should exist"), "# Plan of Monday\n");
    assert_eq!(fixture.known(path), Some("# Plan of Monday\n"), "the room learns the present text");
    assert_eq!(fixture.tick(), [], "it is answered once");
}

#[test]
fn a_replay_needs_no_service_and_produces_the_same_world() {
    checks_rule!("a-replay-changes-no-file");
    let mut fixture = FileRoom::new(&[("agents/bob.md", "old")]);
    let files = fixture.app.world().resource::<KnownFiles>().all().clone();
    let orders = |tick: u64| match tick {
        2 => vec![order("k-1", "bob", read("agents/bob.md")), order("k-2", "ada", write("agents/bob.md", "new"))],
        3 => vec![order("k-3", "ada", write("boards/b.md", "made"))],
        4 => vec![order("k-4", ROOM, add_task("tasks/plan.task.md", "Buy milk"))],
        _ => Vec::new(),
    };
    let mut hashes = Vec::new();
    for tick in 1..8 {
        orders(tick).into_iter().for_each(|order| fixture.give(order));
        fixture.tick();
        hashes.push(world_hash(fixture.app.world_mut()));
    }
    let inputs = fixture.app.world_mut().resource_mut::<InputJournal>().take_recorded();
    assert!(inputs.iter().any(|input| input.kind == "file_outcome"));
    let mut again = app();
    begin(again.world_mut(), start(files));
    again.world_mut().resource_mut::<InputJournal>().replay(inputs);
    for tick in 1..8 {
        for order in orders(tick) {
            again.world_mut().write_message(order);
        }
        assert!(!must_wait(again.world_mut()));
        advance(again.world_mut());
        assert_eq!(world_hash(again.world_mut()), hashes[tick as usize - 1], "tick {tick}");
    }
}

#[test]
fn records_of_the_program_are_not_reported() {
    let mut fixture = FileRoom::new(&[]);
    fixture.tick();
    fixture.events();
    let record =
        super::super::FileOperation::Record { path: "sessions/ada/1.yaml".into(), content: "x".into(), over: None };
    fixture.give(order("k", "ada", record));
    fixture.tick();
    assert!(fixture.tick()[0].result.is_ok());
    assert_eq!(fixture.events(), []);
}
