//! Adds a pane that only this file knows: it counts the words of a text, which takes a while. The module [`words`] is
//! the one file that is needed, and [`window_with_words`] contains the one line.

use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::{OpenRoom, Screen};
use agent_workshop::workspace::starter;
use egui::{Key, Modifiers};
use libtest_mimic::Trial;

use crate::cases;
use crate::whole_window::WholeWindow;

/// The whole pane.
mod words {
    use agent_workshop::ui::commands::WindowCommand;
    use agent_workshop::ui::commands::job::{Job, JobResult};
    use agent_workshop::ui::commands::table::{CommandInfo, KeyContext, Menu};
    use agent_workshop::ui::panes::pane::Pane;
    use agent_workshop::ui::state::dock::Tab;
    use agent_workshop::ui::{Command, ViewerContext};
    use egui::{Key, KeyboardShortcut, Modifiers, Ui};
    use serde_json::json;

    const WORD: &str = "words";
    const SHOW: &[KeyboardShortcut] = &[KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::E)];

    /// Its own state: the result, and how often it was requested.
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
                CommandInfo::new("words.show", "Show word count", |_| vec![Command::Show(Tab::Pane(WORD.to_owned()))])
                    .keys(KeyContext::Everywhere, SHOW)
                    .menus(&[(Menu::Panes, "Word count")]),
                CommandInfo::new("words.count", "Count words", |_| {
                    vec![WindowCommand::Pane(WORD, "words.count").into()]
                }),
                CommandInfo::new("words.wait", "Count words for ever", |_| {
                    vec![WindowCommand::Pane(WORD, "words.wait").into()]
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

        fn apply(&mut self, command: &str) -> Vec<Command> {
            self.asked += 1;
            let job = match command {
                "words.count" => Job::new(WORD, "Counting words", |control| {
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

        fn boxed_clone(&self) -> Box<dyn Pane> {
            Box::new(self.clone())
        }
    }
}

pub fn trials() -> Vec<Trial> {
    cases![
        a_pane_of_one_file_is_shown_by_its_key_and_by_the_palette,
        its_slow_work_runs_beside_the_frames_and_comes_back_to_it,
        its_slow_work_is_seen_and_cancelled_in_the_window
    ]
}

/// The window with a room and the pane.
fn window_with_words() -> WholeWindow {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let options = OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::default() };
    let room = OpenRoom::open(options).unwrap();
    let mut screen = Screen::new(Some(false));
    screen.add_pane(Box::new(words::WordCount::default()));
    let mut window = WholeWindow::of(room, screen, folder);
    window.frames(6);
    window
}

fn a_pane_of_one_file_is_shown_by_its_key_and_by_the_palette() {
    let mut window = window_with_words();
    assert!(!window.shows("Nothing was counted yet"));
    window.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::E);
    assert!(window.shows("Nothing was counted yet") && window.shows("Word count"), "{:?}", window.shown);
    assert!(window.shows("agents are here"), "it is drawn from the room");
    let mut window = window_with_words();
    window.command("Show word count");
    assert!(window.shows("Nothing was counted yet"), "{:?}", window.shown);
}

fn its_slow_work_runs_beside_the_frames_and_comes_back_to_it() {
    let mut window = window_with_words();
    window.command("Show word count");
    window.command("Count words");
    window.until("the count", |window| window.shows("6 words, asked 1 times"));
    assert!(window.screen.state.jobs.is_empty(), "nothing is under way any more");
}

fn its_slow_work_is_seen_and_cancelled_in_the_window() {
    let mut window = window_with_words();
    window.command("Show word count");
    window.command("Count words for ever");
    window.until("what is under way", |window| window.shows("Counting for ever, 50 %"));
    window.screen.state.jobs[0].control.as_ref().expect("it can be cancelled").cancel();
    window.until("its end", |window| window.screen.state.jobs.is_empty());
    window.frame(Vec::new());
    assert!(!window.shows("Counting for ever"));
    assert!(window.shows("Nothing was counted yet"), "what was cancelled has no result");
    let told = window.screen.state.notices.outcomes();
    assert!(told.iter().all(|told| !told.text.contains("Counting")), "it is no failure either: {told:?}");
}
