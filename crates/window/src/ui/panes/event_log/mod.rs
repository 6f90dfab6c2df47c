//! The event log pane: a filtered list that can follow the newest records, and leads from causes to effects.

use std::sync::Arc;

use egui::Ui;

use crate::base::{Id, Seq};
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::edge_panel::{Edge, EdgePanel};
use crate::ui::widgets::icons::Icon;
use crate::view::event_list::{EventList, EventRow};
use crate::view::model::RoomModel;
use crate::view::theme::SPACE;

mod bar;
mod card;
pub(super) mod cause_chain;
mod facets;
pub mod filter;
mod rows;
mod style;
mod tail;
mod texts;

pub(super) use style::severity_sign;
pub use tail::event_tail_ui;

use card::Card;
use facets::Known;
use filter::{Filter, FilterScan};
use rows::{List, RowTexts};

/// From this width on, the card of the chosen row is beside the list; otherwise below it.
const BESIDE_POINTS: f32 = 820.0;

/// The rows as a widget, for the keyboard's focus.
pub fn list_id() -> egui::Id {
    egui::Id::new("rows of the event log")
}

/// What it keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct EventLogPane {
    /// The record that is chosen; set from anywhere, it is scrolled to and its card is shown.
    pub chosen: Option<Seq>,
    /// What is listed.
    pub filter: Filter,
    /// The earlier run whose log is shown; that of the open room where absent.
    pub shown_run: Option<Id>,
    /// Whether times are those of the clock on the wall; simulated time otherwise.
    pub by_clock: bool,
    /// Whether the card of the chosen row is put away.
    is_card_closed: bool,
    /// The record that was chosen when it was looked at last.
    known_choice: Option<Seq>,
    /// The newest row of the book, by number: identifies the book.
    newest: Option<(u64, Arc<EventRow>)>,
    generation: u64,
    sieve: FilterScan,
    known: Known,
    list: List,
    card: Option<Card>,
    /// The number in the book of the record on the card.
    card_number: Option<u64>,
    /// The rows of the small place, which no filter but the fold is about.
    tail: FilterScan,
    told_tail: RowTexts,
}

impl EventLogPane {
    /// Chooses a record and shows its card.
    fn choose(&mut self, seq: Seq) {
        (self.chosen, self.known_choice, self.is_card_closed) = (Some(seq), Some(seq), false);
    }

    /// Chooses a record, shows its card and scrolls to it.
    fn lead_to(&mut self, seq: Seq) {
        self.choose(seq);
        self.list.reveal(seq);
    }

    /// How many sentences are kept for rows on screen.
    #[cfg(test)]
    fn sentence_count(&self) -> usize {
        self.list.sentence_count()
    }

    /// Takes in what is new, no more than a frame has time for.
    fn update(&mut self, ui: &Ui, room: &RoomModel, book: &EventList) {
        let is_same = self.newest.as_ref().is_none_or(|(number, newest)| match book.row(*number) {
            Some(row) => Arc::ptr_eq(row, newest),
            None => *number < book.first(),
        });
        if !is_same && self.generation == book.generation() {
            (self.sieve, self.known, self.list) = Default::default();
            (self.card, self.tail, self.told_tail) = Default::default();
        }
        self.list.note_seen(book, !is_same || self.generation != book.generation());
        self.generation = book.generation();
        self.newest = book.count().checked_sub(1).and_then(|number| Some((number, book.row(number)?.clone())));
        if self.chosen != self.known_choice {
            self.known_choice = self.chosen;
            self.is_card_closed = false;
            if let Some(seq) = self.chosen {
                self.list.reveal(seq);
            }
        }
        self.known.advance(book, room);
        let step = self.sieve.advance(book, &self.filter, &self.known.names);
        self.list.apply_step(step, self.chosen);
        self.tail.advance(book, &self.filter.cleared(), &self.known.names);
        if !self.sieve.is_done() || !self.known.is_done() || !self.tail.is_done() {
            ui.request_repaint();
        }
        self.card_number = self.chosen.and_then(|seq| book.number_of(seq));
        match (self.chosen, &mut self.card) {
            (Some(seq), Some(card)) if card.is_of(seq, book, &self.known.names) => card.update(book, &self.known.names),
            (Some(seq), card) => *card = Some(Card::of(book, seq, &self.known.names)),
            (None, card) => *card = None,
        }
    }
}

/// Draws it.
pub fn event_log_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut EventLogPane) -> Vec<Command> {
    widgets::dress(ui.style_mut(), cx.theme);
    let mut commands = Vec::new();
    let book = &cx.recent.book;
    own.update(ui, cx.room, book);
    bar::bar_ui(ui, cx, own, &mut commands);
    ui.add_space(SPACE[0]);
    if book.count() == book.first() {
        widgets::empty(ui, Icon::Note, texts::NO_EVENTS_YET, texts::NO_EVENTS_HINT, cx.theme);
    } else {
        body_ui(ui, cx, own, &mut commands);
    }
    commands
}

/// The list, then the card of the chosen row beside or below it.
fn body_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane, commands: &mut Vec<Command>) {
    let Some(card) = pane.card.clone().filter(|_| !pane.is_card_closed) else {
        return list_ui(ui, cx, pane);
    };
    let size = ui.available_size();
    let panel = if size.x >= BESIDE_POINTS {
        let range = 260.0..=size.x * 0.6;
        EdgePanel { name: "event card beside", edge: Edge::Right, points: 360.0, range }
    } else {
        let most = (size.y * 0.7).max(120.0);
        EdgePanel { name: "event card below", edge: Edge::Bottom, points: size.y * 0.5, range: 120.0..=most }
    };
    let mut beside = panel.beside(ui);
    list_ui(&mut beside, cx, pane);
    let chosen = pane.chosen;
    commands.extend(panel.show(ui, |ui| card::card_ui(ui, cx, pane, &card)));
    if pane.chosen != chosen {
        // The list, which is drawn already, is to go there.
        ui.request_repaint();
    }
    ui.advance_cursor_after_rect(beside.max_rect());
}

fn list_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane) {
    let shown = rows::list_ui(ui, &cx.recent.book, cx.theme, &cx.ui.appearance.dates, pane);
    if !shown && pane.sieve.is_done() {
        widgets::empty(ui, Icon::Search, texts::NO_RESULTS, texts::NO_RESULTS_HINT, cx.theme);
    }
}

#[cfg(test)]
mod tests;
