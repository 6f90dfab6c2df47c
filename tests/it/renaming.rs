//! Renaming files in the explorer of the whole window: the open, selected and edited file follows the rename, and
//! nothing changes if the rename fails.

use std::fs;

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use egui::{Event, Key, Modifiers, Pos2, vec2};
use libtest_mimic::Trial;

use crate::cases;
use crate::whole_window::WholeWindow;

const PLAN: &str = "artifacts/plan.md";
const IDEA: &str = "artifacts/idea.md";

pub fn trials() -> Vec<Trial> {
    cases![
        open_selected_and_edited_files_follow_a_rename_its_undo_and_redo,
        a_failed_rename_changes_nothing_and_is_reported,
        a_failed_undo_of_a_rename_changes_nothing
    ]
}

/// Opens the window with a workspace and opens one file.
fn window_with_plan() -> WholeWindow {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("settings.yaml", ""), ("scenes/empty.yaml", "agents: []\n"), (PLAN, "the plan\n")] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (provider, scene) = (Some("offline".to_owned()), Some("empty".to_owned()));
    let options = OpenOptions { folder: folder.path().to_owned(), scene, provider, ..OpenOptions::trusted() };
    let room = OpenRoom::open(options).unwrap();
    let mut window = WholeWindow::of(room, Screen::new(Some(false)), folder);
    window.until("the files", |window| window.row(PLAN).is_some());
    let row = window.row(PLAN).unwrap();
    window.click(row);
    window.until("its tab", |window| window.open_files() == [PLAN]);
    window
}

impl WholeWindow {
    /// Returns the position of a file's row in the explorer, at the left.
    fn row(&self, path: &str) -> Option<Pos2> {
        let is_it = |name: &str| name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(','));
        self.widgets.iter().find(|(name, rect)| is_it(name) && rect.left() < 250.0).map(|(_, rect)| rect.center())
    }

    /// Enters a new name for the selected file in the dialog.
    fn enter_name(&mut self, stem: &str) {
        self.press(Modifiers::NONE, Key::F2);
        self.frame(vec![Event::Text(stem.to_owned())]);
        self.frames(2);
    }

    /// Creates a file like another program, before the window notices it.
    fn put_foreign_file(&self, path: &str) {
        fs::write(self.folder.path().join(path), "of somebody else\n").unwrap();
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join(path)).ok()
    }

    fn open_files(&self) -> Vec<String> {
        self.screen.state.dock.files()
    }

    /// Returns the open files, and the selected one.
    fn shown(&self) -> (Vec<String>, Option<&str>) {
        (self.open_files(), self.screen.state.selection.file())
    }

    fn is_at(&self, path: &str) -> bool {
        self.shown() == (vec![path.to_owned()], Some(path))
    }

    /// Returns whether a failure with these words was reported.
    fn has_reported(&self, words: &str) -> bool {
        let outcomes =
            self.screen.state.notices.recent().iter().filter(|outcome| !outcome.good).map(|outcome| &outcome.text);
        let notices = self.room.notices.iter().map(|notice| &notice.what);
        outcomes.chain(notices).any(|text| text.contains(words))
    }

    /// Returns whether a widget contains this text.
    fn has_field(&self, text: &str) -> bool {
        self.widgets.iter().any(|(name, _)| name.contains(text))
    }
}

fn open_selected_and_edited_files_follow_a_rename_its_undo_and_redo() {
    let mut window = window_with_plan();
    window.enter_name("idea");
    window.press(Modifiers::NONE, Key::Enter);
    window.until("the new path", |window| window.is_at(IDEA));
    assert_eq!((window.text(PLAN), window.text(IDEA)), (None, Some("the plan\n".into())));
    window.until("its row", |window| window.row(IDEA).is_some() && window.row(PLAN).is_none());
    // Unsaved text moves along with undo and redo.
    window.until("its text", |window| window.has_field("the plan"));
    let (_, field) = window.widgets.iter().find(|(name, _)| name.contains("the plan")).cloned().unwrap();
    window.click(field.left_top() + vec2(20.0, 8.0));
    window.frame(vec![Event::Text("mine ".to_owned())]);
    window.frames(2);
    assert!(window.has_field("mine "), "{:?}", window.widgets);
    window.command("Undo");
    window.until("the old path", |window| window.is_at(PLAN));
    assert_eq!((window.text(PLAN), window.text(IDEA)), (Some("the plan\n".into()), None));
    window.frames(3);
    assert!(window.has_field("mine "), "{:?}", window.widgets);
    window.command("Redo");
    window.until("the new path again", |window| window.is_at(IDEA));
    assert_eq!((window.text(PLAN), window.text(IDEA)), (None, Some("the plan\n".into())));
    window.frames(3);
    assert!(window.has_field("mine "));
}

fn a_failed_rename_changes_nothing_and_is_reported() {
    let mut window = window_with_plan();
    window.enter_name("idea");
    window.put_foreign_file(IDEA);
    window.press(Modifiers::NONE, Key::Enter);
    window.until("the refusal", |window| window.has_reported("idea.md"));
    window.frames(5);
    assert!(window.is_at(PLAN), "{:?}", window.shown());
    assert_eq!(window.text(PLAN).as_deref(), Some("the plan\n"));
    assert_eq!(window.text(IDEA).as_deref(), Some("of somebody else\n"), "no file is overwritten");
}

fn a_failed_undo_of_a_rename_changes_nothing() {
    let mut window = window_with_plan();
    window.enter_name("idea");
    window.press(Modifiers::NONE, Key::Enter);
    window.until("the new path", |window| window.is_at(IDEA));
    window.put_foreign_file(PLAN);
    window.command("Undo");
    window.until("the refusal", |window| window.has_reported("plan.md"));
    window.frames(5);
    assert!(window.is_at(IDEA), "{:?}", window.shown());
    assert_eq!(window.text(IDEA).as_deref(), Some("the plan\n"));
    assert_eq!(window.text(PLAN).as_deref(), Some("of somebody else\n"));
    // Once the path is free again, the same rename succeeds.
    fs::remove_file(window.folder.path().join(PLAN)).unwrap();
    window.command("Redo");
    window.frames(5);
    assert!(window.is_at(IDEA), "the rename is already done: {:?}", window.shown());
}
