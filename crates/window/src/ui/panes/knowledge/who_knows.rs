//! Lists who knows a memory or a subject, and highlights these agents in the room together with how the knowledge
//! travelled.

use std::sync::Arc;

use egui::{RichText, Ui};

use super::{KnowledgePane, texts};
use crate::base::Id;
use crate::base::text::{one_line, truncate};
use crate::ui::Command;
use crate::ui::commands::WindowCommand;
use crate::ui::context::ViewerContext;
use crate::ui::faces::face_ui;
use crate::ui::widgets;
use crate::view::paint::travel_colour;
use crate::view::pick::RoomObject;
use crate::view::theme::SPACE;
use crate::view::who_knows::{KnowledgeSource, KnowledgeTrail, Travel, WhoKnows};

/// The maximum number of characters shown of the subject.
const WHAT_CHARS: usize = 90;
/// The size of a portrait.
const FACE_POINTS: f32 = 18.0;
/// The maximum number of agents listed; the others are counted.
const MAX_LISTED: usize = 12;

/// The subject of the question who knows it.
#[derive(Clone, PartialEq, Debug)]
enum WhoQuery {
    /// A memory, by id.
    Memory(Id),
    /// The relevant search results.
    SearchResults,
}

/// The state of this list.
#[derive(Clone, Debug, Default)]
pub(super) struct WhoPane {
    query: Option<WhoQuery>,
    trail: KnowledgeTrail,
}

impl WhoPane {
    /// Whether the list is about this memory.
    pub(super) fn is_showing(&self, memory: &str) -> bool {
        matches!(&self.query, Some(WhoQuery::Memory(memory_id)) if **memory_id == *memory)
    }

    /// Shows or hides who knows a memory.
    pub(super) fn toggle(&mut self, memory: &Id) {
        self.query = if self.is_showing(memory) { None } else { Some(WhoQuery::Memory(memory.clone())) };
    }

    /// Closes the list and returns the command that removes the highlights.
    pub(super) fn close(&mut self, cx: &ViewerContext<'_>) -> Option<Command> {
        self.query = None;
        cx.ui.who_knows.is_some().then(|| WindowCommand::LightUp(None).into())
    }
}

impl KnowledgePane {
    /// Draws the list and highlights the agents in the room.
    pub(super) fn who_knows_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let is_searched = self.searched.is_some() && self.hits.iter().any(|found| found.is_relevant());
        if is_searched && self.who.query.is_none() && ui.button(texts::WHO_KNOWS_ABOUT_THIS).clicked() {
            self.who.query = Some(WhoQuery::SearchResults);
        }
        let known = self.queried_memories();
        let Some(known) = known else {
            commands.extend(self.who.close(cx));
            return;
        };
        if self.who.trail.follow(&cx.recent.book) {
            ui.ctx().request_repaint();
        }
        let known = self.who.trail.who_knows(known.0, known.1.iter().map(|row| (&row.memory, &row.owner)));
        widgets::in_card(ui, cx.theme, |ui| {
            let title = RichText::new(texts::who_knows(&known.what)).strong();
            let (_, done) = widgets::beside_button(ui, title, |ui| ui.button(texts::DONE));
            list(ui, cx, &known, commands);
            if done.clicked() {
                self.who.query = None;
            }
        });
        ui.add_space(SPACE[1]);
        if cx.ui.who_knows.as_deref() != Some(&known) {
            commands.push(WindowCommand::LightUp(Some(Arc::new(known))).into());
        }
    }

    /// Returns a description of the subject and its memories; `None` if there is no question or its subject is gone.
    fn queried_memories(&self) -> Option<(String, Vec<crate::ui::state::memories::MemoryRow>)> {
        match self.who.query.as_ref()? {
            WhoQuery::Memory(id) => {
                let row = self.known.find(id)?;
                Some((truncate(&one_line(&row.memory.content), WHAT_CHARS), vec![row.clone()]))
            }
            WhoQuery::SearchResults => {
                self.searched.as_ref()?;
                let about = self.hits.iter().filter(|found| found.is_relevant());
                let rows: Vec<_> = about.filter_map(|found| self.known.find(&found.0.id).cloned()).collect();
                Some((truncate(&one_line(self.form.text.trim()), WHAT_CHARS), rows))
                    .filter(|(_, rows)| !rows.is_empty())
            }
        }
    }
}

/// Lists the agents with how they know it and from whom.
fn list(ui: &mut Ui, cx: &ViewerContext<'_>, known: &WhoKnows, commands: &mut Vec<Command>) {
    if known.knowers.is_empty() {
        ui.label(widgets::small(texts::NO_ONE_RECALLED_IT, cx.theme));
    }
    for (agent, how) in known.knowers.iter().take(MAX_LISTED) {
        ui.horizontal_wrapped(|ui| {
            face_ui(ui, cx, agent, FACE_POINTS);
            let name = cx.room.called(agent).to_string();
            if cx.room.agent(agent).is_some() {
                if ui.link(name).clicked() {
                    commands.push(WindowCommand::GoTo(RoomObject::Agent(agent.clone())).into());
                }
            } else {
                ui.label(name);
            }
            ui.label(widgets::small(how_words(how.iter().copied()), cx.theme));
            for (from, _, travel) in known.ways.iter().filter(|(_, to, _)| to == agent) {
                let from = if *travel == Travel::Read { from.to_string() } else { cx.room.called(from).to_string() };
                let words =
                    RichText::new(travel_words(*travel, &from)).small().color(travel_colour(*travel, *cx.theme));
                ui.label(words);
            }
        });
    }
    let left = known.knowers.len().saturating_sub(MAX_LISTED);
    if left > 0 {
        ui.label(widgets::small(texts::and_others(left), cx.theme));
    }
}

fn how_words(how: impl Iterator<Item = KnowledgeSource>) -> String {
    let word = |how| match how {
        KnowledgeSource::Remembers => texts::REMEMBERS_IT,
        KnowledgeSource::Shared => texts::SHARED_IT,
        KnowledgeSource::Reminded => texts::WAS_REMINDED_OF_IT,
    };
    how.map(word).collect::<Vec<_>>().join(", ")
}

fn travel_words(travel: Travel, from: &str) -> String {
    match travel {
        Travel::Told => texts::talked_with(from),
        Travel::Read => texts::read(from),
        Travel::Recalled => texts::from(from),
    }
}
