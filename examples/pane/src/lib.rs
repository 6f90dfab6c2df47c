//! A pane that is defined only in this crate: it counts the words of a text in a background job. [`add`] is all that a
//! program calls, before it opens a window.

use agent_workshop::ui::commands::WindowCommand;
use agent_workshop::ui::commands::job::{Job, JobResult};
use agent_workshop::ui::commands::table::{CommandInfo, KeyContext, Menu};
use agent_workshop::ui::panes::{self, pane::Pane};
use agent_workshop::ui::state::dock::Tab;
use agent_workshop::ui::{Command, ViewerContext};
use egui::{Key, KeyboardShortcut, Modifiers, Ui};
use serde_json::json;

/// Adds the pane to every window of this program that is opened from now on. Doing so again has no effect.
pub fn add() {
    panes::register(|| Box::new(WordCount::default()));
}

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
            CommandInfo::new("words.show", "Show word count", |_| vec![Command::Show(Tab::Pane(WORD.to_owned()))])
                .keys(KeyContext::Everywhere, SHOW)
                .menus(&[(Menu::Panes, "Word count")]),
            CommandInfo::new("words.count", "Count words", |_| vec![WindowCommand::Pane(WORD, "words.count").into()]),
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
