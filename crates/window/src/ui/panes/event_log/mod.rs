//! The event log pane: a filtered list of records that can follow the newest ones, and a card with the causes and
//! effects of the selected record.

use std::sync::Arc;

use egui::Ui;

use crate::base::{Id, Seq};
use crate::ui::Command;
use crate::ui::commands::{LogCommand, PaneCommand};
use crate::ui::context::ViewerContext;
use crate::ui::panes::pane::{Pane, PaneWindow};
use crate::ui::panes::texts as titles;
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::tab;
use crate::ui::widgets;
use crate::ui::widgets::edge_panel::{Edge, EdgePanel};
use crate::ui::widgets::icons::Icon;
use crate::view::event_list::{EventList, EventRow};
use crate::view::model::RoomModel;
use crate::view::recent_events::Recent;
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

pub(super) use style::severity_icon;
pub use tail::event_tail_ui;

use card::Card;
use facets::Facets;
use filter::{Filter, FilterScan};
use rows::{ListScroll, RowTexts};

/// The pane width from which the card is beside the list instead of below it.
const BESIDE_POINTS: f32 = 820.0;

/// Returns the id under which the list holds keyboard focus.
pub fn list_id() -> egui::Id {
    egui::Id::new("rows of the event log")
}

/// The state of the event log pane.
#[derive(Clone, Debug, Default)]
pub struct EventLogPane {
    /// The selected record. A command sets it too; the list then scrolls to it and shows its card.
    pub chosen: Option<Seq>,
    /// Which records are listed.
    pub filter: Filter,
    /// The earlier run whose log is shown; `None` for the current run.
    pub shown_run: Option<Id>,
    /// The log of that run, once it was read, with the id of the run.
    pub shown_log: Option<(Id, Arc<Recent>)>,
    /// Whether times are wall-clock times instead of simulated ones.
    pub by_clock: bool,
    /// Whether the user closed the card.
    is_card_closed: bool,
    /// The value of `chosen` in the last frame, to notice changes made elsewhere.
    last_chosen: Option<Seq>,
    /// The number and row of the newest record, to notice when the list was replaced.
    newest: Option<(u64, Arc<EventRow>)>,
    generation: u64,
    scan: FilterScan,
    facets: Facets,
    list: ListScroll,
    card: Option<Card>,
    /// The row number of the record on the card.
    card_number: Option<u64>,
    /// The rows of the short list in the inspector, to which no filter but `everything` applies.
    tail: FilterScan,
    tail_texts: RowTexts,
}

impl Pane for EventLogPane {
    fn id(&self) -> &'static str {
        tab::LOG
    }

    fn title(&self) -> &'static str {
        titles::EVENT_LOG
    }

    fn place(&self) -> DockPlace {
        DockPlace { is_closed_at_first: true, ..DockPlace::always_in(DockArea::Below) }
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let shown = self.shown_log.clone();
        let recent = shown.as_ref().map_or(cx.recent, |(_, log)| log);
        event_log_ui(ui, &ViewerContext { recent, ..*cx }, self)
    }

    fn show_in_short(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        event_tail_ui(ui, cx, self)
    }

    fn apply(&mut self, command: &PaneCommand, _: &mut PaneWindow<'_>) -> Vec<Command> {
        let Some(LogCommand::ShowRecord(seq)) = command.get() else { return Vec::new() };
        self.chosen = Some(*seq);
        let was_earlier = self.shown_run.take().is_some();
        was_earlier.then_some(Command::ShowRun(None)).into_iter().collect()
    }

    fn focus_widget(&self) -> Option<egui::Id> {
        Some(list_id())
    }

    fn forget_room(&mut self) {
        (self.shown_run, self.shown_log) = (None, None);
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

impl EventLogPane {
    /// Selects a record and shows its card.
    fn select(&mut self, seq: Seq) {
        (self.chosen, self.last_chosen, self.is_card_closed) = (Some(seq), Some(seq), false);
    }

    /// Selects a record, shows its card and scrolls to it.
    fn select_and_reveal(&mut self, seq: Seq) {
        self.select(seq);
        self.list.reveal(seq);
    }

    /// The number of cached row texts.
    #[cfg(test)]
    fn sentence_count(&self) -> usize {
        self.list.sentence_count()
    }

    /// Processes new rows and changed filters, a bounded amount per frame.
    fn update(&mut self, ui: &Ui, room: &RoomModel, book: &EventList) {
        let is_same = self.newest.as_ref().is_none_or(|(number, newest)| match book.row(*number) {
            Some(row) => Arc::ptr_eq(row, newest),
            None => *number < book.first(),
        });
        if !is_same && self.generation == book.generation() {
            (self.scan, self.facets, self.list) = Default::default();
            (self.card, self.tail, self.tail_texts) = Default::default();
        }
        self.list.note_seen(book, !is_same || self.generation != book.generation());
        self.generation = book.generation();
        self.newest = book.count().checked_sub(1).and_then(|number| Some((number, book.row(number)?.clone())));
        if self.chosen != self.last_chosen {
            self.last_chosen = self.chosen;
            self.is_card_closed = false;
            if let Some(seq) = self.chosen {
                self.list.reveal(seq);
            }
        }
        self.facets.advance(book, room);
        let step = self.scan.advance(book, &self.filter, &self.facets.names);
        self.list.apply_step(step, self.chosen);
        self.tail.advance(book, &self.filter.cleared(), &self.facets.names);
        if !self.scan.is_done() || !self.facets.is_done() || !self.tail.is_done() {
            ui.request_repaint();
        }
        self.card_number = self.chosen.and_then(|seq| book.number_of(seq));
        match (self.chosen, &mut self.card) {
            (Some(seq), Some(card)) if card.is_current(seq, book, &self.facets.names) => {
                card.update(book, &self.facets.names)
            }
            (Some(seq), card) => *card = Some(Card::of(book, seq, &self.facets.names)),
            (None, card) => *card = None,
        }
    }
}

/// Draws the event log and returns the resulting commands.
pub fn event_log_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane) -> Vec<Command> {
    widgets::apply_style(ui.style_mut(), cx.theme);
    let mut commands = Vec::new();
    let book = &cx.recent.book;
    pane.update(ui, cx.room, book);
    bar::bar_ui(ui, cx, pane, &mut commands);
    ui.add_space(SPACE[0]);
    if book.count() == book.first() {
        widgets::empty(ui, Icon::Note, texts::NO_EVENTS_YET, texts::NO_EVENTS_HINT, cx.theme);
    } else {
        body_ui(ui, cx, pane, &mut commands);
    }
    commands
}

/// Draws the list and beside or below it the card of the selected record.
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
    let mut beside = panel.remaining_ui(ui);
    list_ui(&mut beside, cx, pane);
    let chosen = pane.chosen;
    commands.extend(panel.show(ui, |ui| card::card_ui(ui, cx, pane, &card)));
    if pane.chosen != chosen {
        // The list was drawn before the selection changed.
        ui.request_repaint();
    }
    ui.advance_cursor_after_rect(beside.max_rect());
}

fn list_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane) {
    let shown = rows::list_ui(ui, &cx.recent.book, cx.theme, &cx.ui.appearance.dates, pane);
    if !shown && pane.scan.is_done() {
        widgets::empty(ui, Icon::Search, texts::NO_RESULTS, texts::NO_RESULTS_HINT, cx.theme);
    }
}

#[cfg(test)]
mod tests;
