//! Lists who knows a memory or something that was searched for; in the room, these agents are highlighted, with the
//! ways by which it reached them.

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
use crate::view::paint::way_colour;
use crate::view::pick::Thing;
use crate::view::theme::SPACE;
use crate::view::who_knows::{KnowledgeTrail, KnownBy, Travel, WhoKnows};

/// Characters of what is known.
const WHAT_CHARS: usize = 90;
/// The side of a face.
const FACE_POINTS: f32 = 18.0;
/// How many are listed; the others are counted.
const LISTED: usize = 12;

/// Of what it is asked who knows it.
#[derive(Clone, PartialEq, Debug)]
enum AskedAbout {
    /// A memory, by its id.
    Memory(Id),
    /// Whatever was found for what is searched for.
    Found,
}

/// What the pane keeps of it between frames.
#[derive(Clone, Debug, Default)]
pub(super) struct WhoPane {
    asked: Option<AskedAbout>,
    trail: KnowledgeTrail,
}

impl WhoPane {
    /// Whether it is asked who knows this memory.
    pub(super) fn is_of(&self, memory: &str) -> bool {
        matches!(&self.asked, Some(AskedAbout::Memory(asked)) if **asked == *memory)
    }

    /// Asks who knows a memory; ends that if it was asked already.
    pub(super) fn toggle(&mut self, memory: &Id) {
        self.asked = if self.is_of(memory) { None } else { Some(AskedAbout::Memory(memory.clone())) };
    }

    /// Nobody is lit up any more.
    pub(super) fn end(&mut self, cx: &ViewerContext<'_>) -> Option<Command> {
        self.asked = None;
        cx.ui.who_knows.is_some().then(|| WindowCommand::LightUp(None).into())
    }
}

impl KnowledgePane {
    /// Lists who knows what was asked for, and has them light up in the room.
    pub(super) fn who_knows(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let is_searched = self.searched.is_some() && self.found.iter().any(|found| found.is_about_it());
        if is_searched && self.who.asked.is_none() && ui.button(texts::WHO_KNOWS_ABOUT_THIS).clicked() {
            self.who.asked = Some(AskedAbout::Found);
        }
        let known = self.known();
        let Some(known) = known else {
            commands.extend(self.who.end(cx));
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
                self.who.asked = None;
            }
        });
        ui.add_space(SPACE[1]);
        if cx.ui.who_knows.as_deref() != Some(&known) {
            commands.push(WindowCommand::LightUp(Some(Arc::new(known))).into());
        }
    }

    /// The memories that are asked about, and their description; `None` if nothing is asked, or it is gone.
    fn known(&self) -> Option<(String, Vec<crate::ui::state::memories::MemoryRow>)> {
        match self.who.asked.as_ref()? {
            AskedAbout::Memory(id) => {
                let row = self.known.find(id)?;
                Some((truncate(&one_line(&row.memory.content), WHAT_CHARS), vec![row.clone()]))
            }
            AskedAbout::Found => {
                self.searched.as_ref()?;
                let about = self.found.iter().filter(|found| found.is_about_it());
                let rows: Vec<_> = about.filter_map(|found| self.known.find(&found.0.id).cloned()).collect();
                Some((truncate(&one_line(self.wanted.text.trim()), WHAT_CHARS), rows))
                    .filter(|(_, rows)| !rows.is_empty())
            }
        }
    }
}

/// Everyone who knows it, with how, and from whom.
fn list(ui: &mut Ui, cx: &ViewerContext<'_>, known: &WhoKnows, commands: &mut Vec<Command>) {
    if known.knowers.is_empty() {
        ui.label(widgets::small(texts::NO_ONE_RECALLED_IT, cx.theme));
    }
    for (agent, how) in known.knowers.iter().take(LISTED) {
        ui.horizontal_wrapped(|ui| {
            face_ui(ui, cx, agent, FACE_POINTS);
            let name = cx.room.called(agent).to_string();
            if cx.room.agent(agent).is_some() {
                if ui.link(name).clicked() {
                    commands.push(WindowCommand::GoTo(Thing::Agent(agent.clone())).into());
                }
            } else {
                ui.label(name);
            }
            ui.label(widgets::small(how_words(how.iter().copied()), cx.theme));
            for (from, _, travel) in known.ways.iter().filter(|(_, to, _)| to == agent) {
                let from = if *travel == Travel::Read { from.to_string() } else { cx.room.called(from).to_string() };
                let words = RichText::new(travel_words(*travel, &from)).small().color(way_colour(*travel, *cx.theme));
                ui.label(words);
            }
        });
    }
    let left = known.knowers.len().saturating_sub(LISTED);
    if left > 0 {
        ui.label(widgets::small(texts::and_others(left), cx.theme));
    }
}

fn how_words(how: impl Iterator<Item = KnownBy>) -> String {
    let word = |how| match how {
        KnownBy::Remembers => texts::REMEMBERS_IT,
        KnownBy::Shared => texts::SHARED_IT,
        KnownBy::Reminded => texts::WAS_REMINDED_OF_IT,
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
