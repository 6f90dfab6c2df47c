//! The pane **Knowledge**: all memories with their owners and sources, found as an agent recalls them, as a list or a
//! graph; they can be edited, shared, pinned and forgotten, and it shows who knows what.

mod choices;
mod edits;
mod graph;
mod relation_editing;
mod rows;
mod search;
#[cfg(test)]
mod tests;
mod texts;
mod who_knows;

use std::sync::Arc;

use egui::{ScrollArea, Ui};

pub use self::rows::memory_words;
pub use self::search::score_words;

use super::graph::layout_jobs::LAYING_OUT;
use super::pane::Pane;
use crate::base::Id;
use crate::ui::Command;
use crate::ui::commands::job::JobResult;
use crate::ui::commands::table::{CommandInfo, Menu};
use crate::ui::context::ViewerContext;
use crate::ui::state::dock::Tab;
use crate::ui::state::memories::{KnownMemories, MemoryRow};
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::SPACE;

use graph::MemoryGraph;
use relation_editing::Relating;
use search::{Found, Wanted};
use who_knows::WhoPane;

/// The pane's word: its tab and its jobs are called by it.
pub const WORD: &str = "knowledge";
/// How many memories are shown at first, and how many more with each click.
const SHOWN_AT_ONCE: usize = 50;
/// How many problems are listed; the others are counted.
const PROBLEMS_TOLD: usize = 3;

/// A memory whose text is edited.
#[derive(Clone, Debug)]
struct Editing {
    id: Id,
    text: String,
}

/// What the pane keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct KnowledgePane {
    known: Arc<KnownMemories>,
    wanted: Wanted,
    /// Whether memories are drawn with their relations, instead of listed.
    is_graph: bool,
    graph: MemoryGraph,
    who: WhoPane,
    /// What was found last, and for what, and among which files.
    found: Vec<Found>,
    searched: Option<(Wanted, u64)>,
    /// Whether the search is running.
    is_searching: bool,
    /// Why nothing could be found.
    failure: Option<String>,
    editing: Option<Editing>,
    /// A memory that is being related to another.
    relating: Option<Relating>,
    shown: Option<usize>,
}

impl Pane for KnowledgePane {
    fn word(&self) -> &'static str {
        WORD
    }

    fn title(&self) -> &'static str {
        texts::KNOWLEDGE
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![
            CommandInfo::new("knowledge.show", texts::SHOW_KNOWLEDGE, |_| {
                vec![Command::Show(Tab::Pane(WORD.to_owned()))]
            })
            .menus(&[(Menu::Panes, texts::KNOWLEDGE)]),
        ]
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        widgets::dress(ui.style_mut(), cx.theme);
        self.known = cx.ui.known_memories();
        if !self.known.is_whole {
            ui.label(widgets::small(texts::LOADING, cx.theme));
            return Vec::new();
        }
        if self.known.memories.is_empty() && self.known.problems.is_empty() {
            widgets::empty(ui, Icon::Note, texts::NO_MEMORIES, texts::HOW_MEMORIES_COME, cx.theme);
            return self.who.end(cx).into_iter().collect();
        }
        self.choices(ui, cx);
        let mut commands: Vec<Command> = self.look(cx).into_iter().collect();
        self.problems(ui, cx, &mut commands);
        self.who_knows(ui, cx, &mut commands);
        self.relating_ui(ui, cx);
        if self.is_graph {
            self.graph_ui(ui, cx, &mut commands);
        } else {
            let rows = self.rows(cx);
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                self.list(ui, cx, &rows, &mut commands);
            });
        }
        commands
    }

    fn finish(&mut self, job: &str, result: JobResult) {
        // A layout has come where it is looked for.
        if job == LAYING_OUT {
            return;
        }
        self.is_searching = false;
        match result.and_then(|found| serde_json::from_value(found).map_err(|error| error.to_string())) {
            Ok(found) => (self.found, self.failure) = (found, None),
            Err(why) => (self.found, self.failure) = (Vec::new(), Some(why)),
        }
    }

    fn boxed_clone(&self) -> Box<dyn Pane> {
        Box::new(self.clone())
    }
}

/// The moment of this frame, in seconds since 1970.
fn now_secs(cx: &ViewerContext<'_>) -> i64 {
    i64::try_from(cx.ui.time.now_ms() / 1000).unwrap_or(0)
}

impl KnowledgePane {
    /// What starts a search, where something else is looked for than was found. One at a time.
    fn look(&mut self, cx: &ViewerContext<'_>) -> Option<Command> {
        if self.wanted.text.trim().is_empty() {
            self.searched = None;
            return None;
        }
        let due = (self.wanted.clone(), self.known.version);
        if self.is_searching || self.searched.as_ref() == Some(&due) {
            return None;
        }
        let Some(search) = &cx.ui.memories.search else {
            self.searched = Some(due);
            self.failure = Some(texts::NO_WORKSPACE.to_owned());
            return None;
        };
        (self.searched, self.is_searching) = (Some(due), true);
        Some(Command::Run(self.wanted.job(search, now_secs(cx))))
    }

    /// Whether a memory is one of those that were chosen.
    fn is_chosen(&self, row: &MemoryRow, cx: &ViewerContext<'_>) -> bool {
        self.wanted.viewer().may_see(&row.owner) && self.wanted.filter(now_secs(cx)).takes(&row.memory)
    }

    /// The visible memories, and the total number: search results, best first, or all that match the filter, newest
    /// first.
    fn rows(&self, cx: &ViewerContext<'_>) -> (Vec<(MemoryRow, Option<Found>)>, usize) {
        let most = self.shown.unwrap_or(SHOWN_AT_ONCE);
        if self.searched.is_some() {
            let found = self.found.iter().take(most);
            let rows = found.filter_map(|one| Some((self.known.find(&one.0.id)?.clone(), Some(one.clone()))));
            return (rows.collect(), self.found.len());
        }
        let (viewer, filter) = (self.wanted.viewer(), self.wanted.filter(now_secs(cx)));
        let is_chosen = |row: &&MemoryRow| viewer.may_see(&row.owner) && filter.takes(&row.memory);
        let chosen = || self.known.memories.iter().filter(is_chosen);
        (chosen().take(most).map(|row| (row.clone(), None)).collect(), chosen().count())
    }

    /// Lines that cannot be read.
    fn problems(&self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        for problem in self.known.problems.iter().take(PROBLEMS_TOLD) {
            let (_, open) =
                widgets::beside_button(ui, widgets::small(problem, cx.theme), |ui| ui.button(texts::OPEN_FILE));
            if open.clicked() {
                let (path, line) = place_of(problem);
                commands.push(Command::OpenFile(path, line));
            }
        }
        let left = self.known.problems.len().saturating_sub(PROBLEMS_TOLD);
        if left > 0 {
            ui.label(widgets::small(texts::more_unreadable_lines(left), cx.theme));
        }
    }

    fn list(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (rows, count): &(Vec<(MemoryRow, Option<Found>)>, usize),
        commands: &mut Vec<Command>,
    ) {
        if let Some(why) = &self.failure {
            ui.label(widgets::small(texts::search_failed(why), cx.theme));
        }
        for (row, found) in rows {
            widgets::in_card(ui, cx.theme, |ui| self.row(ui, cx, row, found.as_ref(), commands));
            ui.add_space(SPACE[0]);
        }
        if rows.is_empty() {
            let words = if self.is_searching { texts::SEARCHING } else { texts::NO_RESULTS };
            ui.label(widgets::small(words, cx.theme));
        }
        let left = count.saturating_sub(rows.len());
        if left > 0 && ui.button(texts::show_more(left.min(SHOWN_AT_ONCE), left)).clicked() {
            self.shown = Some(self.shown.unwrap_or(SHOWN_AT_ONCE) + SHOWN_AT_ONCE);
        }
    }
}

/// The file and the line that a problem names at its head: `memory/knowledge/ada.md:6: …`.
fn place_of(problem: &str) -> (String, Option<usize>) {
    let path = problem.split(':').next().unwrap_or_default().to_owned();
    let line = problem.split(':').nth(1).and_then(|line| line.trim().parse().ok());
    (path, line)
}
