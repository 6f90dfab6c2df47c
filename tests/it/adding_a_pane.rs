//! Adds a pane that is defined only in this file: it counts the words of a text in a background job. An extension needs
//! one file, like the module [`words`], and one line, as in [`window_with_words`].

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use agent_workshop::workspace::starter;
use egui::{Key, Modifiers};
use libtest_mimic::Trial;

use crate::cases;
use crate::whole_window::WholeWindow;

/// The complete pane.
mod words {
    use agent_workshop::ui::commands::PaneCommand;
    use agent_workshop::ui::commands::job::{Job, JobResult};
    use agent_workshop::ui::commands::table::{CommandInfo, KeyContext, Menu};
    use agent_workshop::ui::panes::pane::{Pane, PaneWindow};
    use agent_workshop::ui::state::dock::Tab;
    use agent_workshop::ui::{Command, ViewerContext};
    use egui::{Key, KeyboardShortcut, Modifiers, Ui};
    use serde_json::json;

    const WORD: &str = "words";
    const SHOW: &[KeyboardShortcut] = &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E)];

    /// The state of the pane: the result, and how often it was requested.
    #[derive(Clone, Default)]
    pub struct WordCount {
        counted: Option<u64>,
        asked: usize,
    }

    impl Pane for WordCount {
        fn id(&self) -> &'static str {
            WORD
        }

        fn title(&self) -> &'static str {
            "Word count"
        }

        fn commands(&self) -> Vec<CommandInfo> {
            vec![
                CommandInfo::new("words.show", "Show word count", |_| vec![Command::Show(Tab::named(WORD))])
                    .keys(KeyContext::Everywhere, SHOW)
                    .menus(&[(Menu::Panes, "Word count")]),
                CommandInfo::new("words.count", "Count words", |_| vec![PaneCommand::new(WORD, "words.count").into()]),
                CommandInfo::new("words.wait", "Count words for ever", |_| {
                    vec![PaneCommand::new(WORD, "words.wait").into()]
                }),
            ]
        }

        fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
            ui.label(format!("{} agents are here", cx.room.agents.len()));
            ui.label(match self.counted {
                None => "Nothing was counted yet".to_owned(),
                Some(words) => format!("{words} words, asked {} times", self.asked),
            });
            Vec::new()
        }

        fn apply(&mut self, command: &PaneCommand, _: &mut PaneWindow<'_>) -> Vec<Command> {
            self.asked += 1;
            let job = match command.get() {
                Some(&"words.count") => Job::new(WORD, "Counting words", |control| {
                    let words = "a text of six words only".split(' ');
                    let counted = words.enumerate().inspect(|(at, _)| control.set_progress(*at as f32 / 6.0)).count();
                    Ok(json!(counted))
                }),
                _ => Job::new(WORD, "Counting for ever", |control| {
                    control.set_progress(0.5);
                    while !control.is_cancelled() {
                        std::thread::yield_now();
                    }
                    Err("it was cancelled".to_owned())
                }),
            };
            vec![Command::Run(job)]
        }

        fn finish(&mut self, _job: &str, result: JobResult) {
            self.counted = result.ok().and_then(|counted| counted.as_u64());
        }
    }
}

pub fn trials() -> Vec<Trial> {
    cases![
        an_added_pane_is_shown_by_its_key_and_the_palette,
        a_job_runs_in_the_background_and_returns_its_result,
        a_job_is_shown_and_cancelled_in_the_window
    ]
}

/// Opens the window with a room and the pane.
fn window_with_words() -> WholeWindow {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let options = OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::trusted() };
    let room = OpenRoom::open(options).unwrap();
    let mut screen = Screen::new(Some(false));
    screen.add_pane(Box::new(words::WordCount::default()));
    let mut window = WholeWindow::of(room, screen, folder);
    window.frames(6);
    window
}

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

fn a_job_runs_in_the_background_and_returns_its_result() {
    let mut window = window_with_words();
    window.command("Show word count");
    window.command("Count words");
    window.until("the count", |window| window.shows("6 words, asked 1 times"));
    assert!(window.screen.state.jobs.is_empty(), "the job has ended");
}

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
