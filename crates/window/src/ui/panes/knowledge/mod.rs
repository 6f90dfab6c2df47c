//! The **Knowledge** pane: all memories with owners and sources, as a list or a graph. They can be searched as agents
//! recall them, edited, shared, pinned and forgotten, and it shows who knows what.

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
use search::{SearchForm, SearchHit};
use who_knows::WhoPane;

/// The id of the pane, its tab and its jobs.
pub const WORD: &str = "knowledge";
/// The number of memories shown at first and added by each click on "Show more".
const PAGE_SIZE: usize = 50;
/// The maximum number of problems listed; the others are counted.
const MAX_PROBLEMS: usize = 3;

/// A memory whose text is being edited.
#[derive(Clone, Debug)]
struct Editing {
    id: Id,
    text: String,
    /// Whether the field has taken the focus.
    is_focused: bool,
}

/// The state of the knowledge pane.
#[derive(Clone, Debug, Default)]
pub struct KnowledgePane {
    known: Arc<KnownMemories>,
    form: SearchForm,
    /// Whether memories are shown as a graph instead of a list.
    is_graph: bool,
    graph: MemoryGraph,
    who: WhoPane,
    /// The latest search results, and the form and version of the memories that they belong to.
    hits: Vec<SearchHit>,
    searched: Option<(SearchForm, u64)>,
    /// Whether the search is running.
    is_searching: bool,
    /// Why the search failed.
    failure: Option<String>,
    editing: Option<Editing>,
    /// When the last editing ended, in seconds.
    edited_secs: Option<f64>,
    /// The relation being created.
    relating: Option<Relating>,
    shown_count: Option<usize>,
}

impl Pane for KnowledgePane {
    fn id(&self) -> &'static str {
        WORD
    }

    fn title(&self) -> &'static str {
        texts::KNOWLEDGE
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![
            CommandInfo::new("knowledge.show", texts::SHOW_KNOWLEDGE, |_| vec![Command::Show(Tab::named(WORD))])
                .menus(&[(Menu::Panes, texts::KNOWLEDGE)]),
        ]
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        widgets::apply_style(ui.style_mut(), cx.theme);
        self.known = cx.ui.known_memories();
        if !self.known.is_whole {
            ui.label(widgets::small(texts::LOADING, cx.theme));
            return Vec::new();
        }
        if self.known.memories.is_empty() && self.known.problems.is_empty() {
            widgets::empty(ui, Icon::Note, texts::NO_MEMORIES, texts::HOW_MEMORIES_COME, cx.theme);
            return self.who.close(cx).into_iter().collect();
        }
        self.filters_ui(ui, cx);
        let mut commands: Vec<Command> = self.start_search(cx).into_iter().collect();
        self.problems_ui(ui, cx, &mut commands);
        self.who_knows_ui(ui, cx, &mut commands);
        self.relating_ui(ui, cx);
        if self.is_graph {
            self.graph_ui(ui, cx, &mut commands);
        } else {
            let rows = self.listed_memories(cx);
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                self.list_ui(ui, cx, &rows, &mut commands);
            });
        }
        commands
    }

    fn finish(&mut self, job: &str, result: JobResult) {
        // Finished layouts are fetched by the graph itself.
        if job == LAYING_OUT {
            return;
        }
        self.is_searching = false;
        match result.and_then(|found| serde_json::from_value(found).map_err(|error| error.to_string())) {
            Ok(found) => (self.hits, self.failure) = (found, None),
            Err(why) => (self.hits, self.failure) = (Vec::new(), Some(why)),
        }
    }
}

/// Returns the time of this frame in seconds since the Unix epoch.
fn now_secs(cx: &ViewerContext<'_>) -> i64 {
    i64::try_from(cx.ui.time.now_ms() / 1000).unwrap_or(0)
}

impl KnowledgePane {
    /// Returns the command that starts a search if the results are outdated and no search is running.
    fn start_search(&mut self, cx: &ViewerContext<'_>) -> Option<Command> {
        if self.form.text.trim().is_empty() {
            self.searched = None;
            return None;
        }
        let current = (self.form.clone(), self.known.version);
        if self.is_searching || self.searched.as_ref() == Some(&current) {
            return None;
        }
        let Some(search) = &cx.ui.memories.search else {
            self.searched = Some(current);
            self.failure = Some(texts::NO_WORKSPACE.to_owned());
            return None;
        };
        (self.searched, self.is_searching) = (Some(current), true);
        Some(Command::Run(self.form.job(search, now_secs(cx))))
    }

    /// Whether a memory passes the filters.
    fn passes_filters(&self, row: &MemoryRow, cx: &ViewerContext<'_>) -> bool {
        self.form.viewer().may_see(&row.owner) && self.form.filter(now_secs(cx)).matches(&row.memory)
    }

    /// Returns the memories to list and their total number: search results, best first, or all that pass the filters,
    /// newest first.
    fn listed_memories(&self, cx: &ViewerContext<'_>) -> (Vec<(MemoryRow, Option<SearchHit>)>, usize) {
        let limit = self.shown_count.unwrap_or(PAGE_SIZE);
        if self.searched.is_some() {
            let found = self.hits.iter().take(limit);
            let rows = found.filter_map(|one| Some((self.known.find(&one.0.id)?.clone(), Some(one.clone()))));
            return (rows.collect(), self.hits.len());
        }
        let (viewer, filter) = (self.form.viewer(), self.form.filter(now_secs(cx)));
        let passes = |row: &&MemoryRow| viewer.may_see(&row.owner) && filter.matches(&row.memory);
        let chosen = || self.known.memories.iter().filter(passes);
        (chosen().take(limit).map(|row| (row.clone(), None)).collect(), chosen().count())
    }

    /// Lists lines of memory files that cannot be read.
    fn problems_ui(&self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        for problem in self.known.problems.iter().take(MAX_PROBLEMS) {
            let (_, open) =
                widgets::beside_button(ui, widgets::small(problem, cx.theme), |ui| ui.button(texts::OPEN_FILE));
            if open.clicked() {
                let (path, line) = place_of(problem);
                commands.push(Command::OpenFile(path, line));
            }
        }
        let left = self.known.problems.len().saturating_sub(MAX_PROBLEMS);
        if left > 0 {
            ui.label(widgets::small(texts::more_unreadable_lines(left), cx.theme));
        }
    }

    fn list_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (rows, count): &(Vec<(MemoryRow, Option<SearchHit>)>, usize),
        commands: &mut Vec<Command>,
    ) {
        if let Some(why) = &self.failure {
            ui.label(widgets::small(texts::search_failed(why), cx.theme));
        }
        for (row, found) in rows {
            widgets::in_card(ui, cx.theme, |ui| self.row_ui(ui, cx, row, found.as_ref(), commands));
            ui.add_space(SPACE[0]);
        }
        if rows.is_empty() {
            let words = if self.is_searching { texts::SEARCHING } else { texts::NO_RESULTS };
            ui.label(widgets::small(words, cx.theme));
        }
        let left = count.saturating_sub(rows.len());
        if left > 0 && ui.button(texts::show_more(left.min(PAGE_SIZE), left)).clicked() {
            self.shown_count = Some(self.shown_count.unwrap_or(PAGE_SIZE) + PAGE_SIZE);
        }
    }
}

/// Parses the file and line at the start of a problem: `memory/knowledge/ada.md:6: …`.
fn place_of(problem: &str) -> (String, Option<usize>) {
    let path = problem.split(':').next().unwrap_or_default().to_owned();
    let line = problem.split(':').nth(1).and_then(|line| line.trim().parse().ok());
    (path, line)
}
