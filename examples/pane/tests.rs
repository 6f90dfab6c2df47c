//! What must hold for a pane that another crate adds.

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use agent_workshop::workspace::starter;
use egui::{Key, Modifiers};
use example_pane::add;

use crate::whole_window::WholeWindow;

impl WholeWindow {
    /// Whether the last frame shows these words.
    fn shows(&self, words: &str) -> bool {
        self.shown.iter().any(|shown| shown.contains(words))
    }
}

/// Opens the window with a room and the pane.
fn window_with_words() -> WholeWindow {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let options = OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::trusted() };
    let room = OpenRoom::open(options).unwrap();
    add();
    let mut window = WholeWindow::of(room, Screen::new(Some(false)), folder);
    window.frames(6);
    window
}

#[test]
fn an_added_pane_is_shown_by_its_key_and_the_palette() {
    let mut window = window_with_words();
    assert!(!window.shows("Nothing was counted yet"));
    window.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::E);
    assert!(window.shows("Nothing was counted yet") && window.shows("Word count"), "{:?}", window.shown);
    assert!(window.shows("agents are here"), "the pane shows data of the room");
    let mut window = window_with_words();
    window.command("Show word count");
    assert!(window.shows("Nothing was counted yet"), "{:?}", window.shown);
}

#[test]
fn a_job_runs_in_the_background_and_returns_its_result() {
    let mut window = window_with_words();
    window.command("Show word count");
    window.command("Count words");
    window.until("the count", |window| window.shows("6 words, asked 1 times"));
    assert!(window.screen.state.jobs.is_empty(), "the job has ended");
}

#[test]
fn a_job_is_shown_and_cancelled_in_the_window() {
    let mut window = window_with_words();
    window.command("Show word count");
    window.command("Count words for ever");
    window.until("the running job", |window| window.shows("Counting for ever, 50 %"));
    window.screen.state.jobs[0].control.as_ref().expect("the job can be cancelled").cancel();
    window.until("the end of the job", |window| window.screen.state.jobs.is_empty());
    window.frame(Vec::new());
    assert!(!window.shows("Counting for ever"));
    assert!(window.shows("Nothing was counted yet"), "a cancelled job has no result");
    let outcomes = window.screen.state.notices.outcomes();
    assert!(
        outcomes.iter().all(|outcome| !outcome.text.contains("Counting")),
        "a cancelled job is not a failure: {outcomes:?}"
    );
}
