//! The list of the log: draws only visible rows, can follow the newest, and moves the selection by keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{
    Color32, CornerRadius, EventFilter, FontId, Key, Modifiers, Rect, Response, ScrollArea, Sense, StrokeKind, Ui,
    pos2, vec2,
};

use super::filter::ScanStep;
use super::style::{kind_colour, severity_icon};
use super::{EventLogPane, texts};
use crate::base::Seq;
use crate::ui::commands::keys;
use crate::ui::widgets;
use crate::view::dates::{Dates, simulated};
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, kind_words, sentence};
use crate::view::theme::{RADIUS, SPACE, TYPE, Theme};

/// The height of a row, enough for two lines. A whole number, so that rows far down are aligned to pixels.
pub const ROW_POINTS: f32 = 38.0;
/// The height of the badge with the kind of a record.
const CELL_POINTS: f32 = 20.0;
/// The minimum width for agent names and kind badges; narrower lists show a dot for the kind.
const WIDE_POINTS: f32 = 480.0;

/// A cache of the sentences of the rows that were visible in the last frame.
#[derive(Clone, Debug, Default)]
pub(super) struct RowTexts {
    /// The generation of the event list and the version of the names that the sentences are based on.
    of: (u64, u64),
    sentences: BTreeMap<Seq, Arc<str>>,
}

impl RowTexts {
    /// Begins a frame. Returns the sentences of the last one if they are still valid.
    pub(super) fn begin(&mut self, book: &EventList, names: &Names) -> BTreeMap<Seq, Arc<str>> {
        let of = (book.generation(), names.version());
        let before = std::mem::take(&mut self.sentences);
        if std::mem::replace(&mut self.of, of) == of { before } else { BTreeMap::new() }
    }

    /// Returns the sentence of a row, formatted if it is not in the cache.
    pub(super) fn of(&mut self, row: &EventRow, names: &Names, before: &mut BTreeMap<Seq, Arc<str>>) -> Arc<str> {
        let text = before.remove(&row.seq).unwrap_or_else(|| sentence(row, names).into());
        self.sentences.insert(row.seq, text.clone());
        text
    }
}

/// The scroll state of the list.
#[derive(Clone, Debug, Default)]
pub(super) struct ListScroll {
    /// Whether the user scrolled away from the newest rows, which are followed otherwise.
    pub(super) is_paused: bool,
    /// The scroll offset in points.
    offset: f32,
    /// Hits inserted above the known ones that the scroll offset does not account for yet.
    shift: i64,
    /// The record to scroll to.
    reveal: Option<Seq>,
    /// The end of the rows that counted as seen when the newest were followed last.
    seen_to: u64,
    row_texts: RowTexts,
}

impl ListScroll {
    /// Scrolls to a record as soon as its position is known.
    pub(super) fn reveal(&mut self, seq: Seq) {
        self.reveal = Some(seq);
        self.is_paused = true;
    }

    /// Marks all rows as seen while the newest are followed.
    pub(super) fn note_seen(&mut self, book: &EventList, was_replaced: bool) {
        if !self.is_paused || was_replaced {
            self.seen_to = book.count();
        }
    }

    /// The number of cached sentences.
    #[cfg(test)]
    pub(super) fn sentence_count(&self) -> usize {
        self.row_texts.sentences.len()
    }

    /// Adjusts the scroll state to a scan step.
    pub(super) fn apply_step(&mut self, step: ScanStep, chosen: Option<Seq>) {
        if step.restarted {
            // A restarted scan begins at the newest rows; a row that is being read stays in view.
            (self.shift, self.offset) = (0, f32::INFINITY);
            self.reveal = chosen.filter(|_| self.is_paused);
        }
        self.shift += step.shift;
    }
}

/// Draws the list. Returns false if it is empty.
pub(super) fn list_ui(ui: &mut Ui, book: &EventList, theme: &Theme, dates: &Dates, pane: &mut EventLogPane) -> bool {
    let total = pane.scan.len();
    if total == 0 {
        return false;
    }
    let rect = ui.available_rect_before_wrap();
    let list = ui.interact(rect, super::list_id(), Sense::focusable_noninteractive());
    list.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, texts::ROWS_OF_THE_LOG));
    move_by_keys(ui, &list, book, pane, (rect.height() / ROW_POINTS) as usize);
    let max_offset = (total as f32 * ROW_POINTS - rect.height()).max(0.0);
    let wanted_offset = scroll_offset(book, pane, rect.height(), max_offset);
    let mut clicked = None;
    let output = ui
        .scope(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let mut area = ScrollArea::vertical().auto_shrink(false).id_salt("event rows");
            if wanted_offset != pane.list.offset || !pane.list.is_paused {
                area = area.vertical_scroll_offset(wanted_offset);
            }
            area.show_rows(ui, ROW_POINTS, total, |ui, range| {
                let mut before = pane.list.row_texts.begin(book, &pane.facets.names);
                for index in range {
                    let Some(row) = pane.scan.number(index).and_then(|number| book.row(number)) else { continue };
                    let text = pane.list.row_texts.of(row, &pane.facets.names, &mut before);
                    let line = EventRowLine {
                        row,
                        text: &text,
                        chosen: pane.chosen == Some(row.seq),
                        by_clock: pane.by_clock,
                        dates,
                    };
                    if line.show(ui, &pane.facets.names, theme).clicked() {
                        clicked = Some(row.seq);
                    }
                }
            })
        })
        .inner;
    let end = output.content_size.y - output.inner_rect.height();
    let now = output.state.offset.y;
    if !pane.list.is_paused && now < end - 0.5 && now < wanted_offset {
        pane.list.is_paused = true;
    } else if pane.list.is_paused && now > wanted_offset + 0.5 && now >= end - 0.5 {
        pane.list.is_paused = false;
    }
    pane.list.offset = now;
    if let Some(seq) = clicked {
        pane.select(seq);
        list.request_focus();
    }
    if list.has_focus() {
        let corners = CornerRadius::same(RADIUS[0]);
        ui.painter().rect_stroke(rect, corners, theme.focus_ring(), StrokeKind::Inside);
    }
    if pane.list.is_paused && now < end - 0.5 {
        jump_to_newest_ui(ui, book, theme, pane, rect);
    }
    true
}

/// Returns the scroll offset for this frame.
fn scroll_offset(book: &EventList, pane: &mut EventLogPane, height: f32, max_offset: f32) -> f32 {
    let mut offset = pane.list.offset + std::mem::take(&mut pane.list.shift) as f32 * ROW_POINTS;
    if let Some(seq) = pane.list.reveal {
        let number = book.number_of(seq);
        let index = number.and_then(|number| pane.scan.index(number));
        match index {
            Some(index) => {
                let top = index as f32 * ROW_POINTS;
                let is_far = top < offset - height || top > offset + 2.0 * height;
                let ahead = if is_far { (height - ROW_POINTS) / 2.0 } else { 0.0 };
                offset = offset.min(top - ahead).max(top + ROW_POINTS - height + ahead);
                pane.list.reveal = None;
            }
            None if number.is_none_or(|number| pane.scan.has_scanned(number)) => pane.list.reveal = None,
            None => {}
        }
    }
    if pane.list.is_paused { offset.clamp(0.0, max_offset) } else { max_offset }
}

/// Draws the button that jumps to the newest rows.
fn jump_to_newest_ui(ui: &mut Ui, book: &EventList, theme: &Theme, pane: &mut EventLogPane, rect: Rect) {
    let text = match pane.scan.since(pane.list.seen_to.max(book.first())) {
        0 => texts::JUMP_TO_NEWEST.to_owned(),
        new => texts::new_rows(new as u64),
    };
    let size = vec2(120.0, 28.0);
    let place = Rect::from_min_size(pos2(rect.center().x - size.x / 2.0, rect.bottom() - size.y - SPACE[1]), size);
    let button = egui::Button::new(egui::RichText::new(text).color(theme.on_accent)).fill(theme.accent);
    if ui.put(place, button).on_hover_text(texts::JUMP_TO_NEWEST_HINT).clicked() {
        pane.list.is_paused = false;
        ui.request_repaint();
    }
}

/// Moves the selection by keys while the list has keyboard focus.
fn move_by_keys(ui: &Ui, list: &Response, book: &EventList, pane: &mut EventLogPane, page: usize) {
    if !list.has_focus() || !keys::are_active(ui) {
        return;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(list.id, filter));
    let count = |key: Key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let Some(last) = pane.scan.len().checked_sub(1) else { return };
    let current = pane.chosen.and_then(|seq| pane.scan.index(book.number_of(seq)?));
    let page = page.saturating_sub(1).max(1);
    let up = count(Key::ArrowUp) + page * count(Key::PageUp);
    let down = count(Key::ArrowDown) + page * count(Key::PageDown);
    let mut target = (up + down > 0).then(|| match current {
        Some(index) => (index + down).saturating_sub(up).min(last),
        None => last,
    });
    if count(Key::Home) > 0 {
        target = Some(0);
    }
    if count(Key::End) > 0 {
        target = Some(last);
    }
    if count(Key::Enter) > 0 && pane.chosen.is_some() {
        pane.is_card_closed = false;
    }
    let row = target.and_then(|index| pane.scan.number(index)).and_then(|number| book.row(number));
    if let Some(row) = row {
        // Moving by keys neither opens nor closes the card.
        (pane.chosen, pane.last_chosen) = (Some(row.seq), Some(row.seq));
        pane.list.reveal(row.seq);
        pane.list.is_paused = target != Some(last);
    }
}

/// A row of the log, ready to be drawn.
pub(super) struct EventRowLine<'a> {
    pub(super) row: &'a EventRow,
    pub(super) text: &'a str,
    pub(super) chosen: bool,
    pub(super) by_clock: bool,
    pub(super) dates: &'a Dates,
}

impl EventRowLine<'_> {
    /// Draws the row.
    pub(super) fn show(&self, ui: &mut Ui, names: &Names, theme: &Theme) -> Response {
        // The list as a whole takes focus: a Tab stop on each of its rows would be in the way.
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_POINTS), Sense::CLICK);
        response.widget_info(|| {
            egui::WidgetInfo::selected(egui::WidgetType::SelectableLabel, true, self.chosen, self.name(names))
        });
        if !ui.is_rect_visible(rect) {
            return response;
        }
        let share = match (self.chosen, response.hovered()) {
            (true, _) => 0.18,
            (_, true) => 0.07,
            _ => 0.0,
        };
        if share > 0.0 {
            ui.painter().rect_filled(
                rect,
                CornerRadius::same(RADIUS[0]),
                widgets::mix(theme.panel, theme.accent, share),
            );
        }
        self.paint(ui, rect, names, theme);
        response
    }

    fn name(&self, names: &Names) -> String {
        let agent = self.row.agent.as_ref().map(|agent| names.called(agent));
        texts::row_name(self.row.seq, &kind_words(&self.row.kind), agent, self.text)
    }

    fn paint(&self, ui: &Ui, rect: Rect, names: &Names, theme: &Theme) {
        let is_wide = rect.width() >= WIDE_POINTS;
        let mut left = rect.left() + 4.0;
        if let Some(severity) = self.row.severity {
            let (icon, colour, _) = severity_icon(severity, theme);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, CornerRadius::ZERO, colour);
            let icon_rect = Rect::from_center_size(pos2(left + 9.0, rect.center().y), vec2(12.0, 12.0));
            icon.paint(ui.painter(), icon_rect, colour);
        }
        left += 20.0;
        // Soft text is not legible on the background of a selected row.
        let soft = if self.chosen { theme.text } else { theme.text_soft };
        let time = if self.by_clock { self.dates.clock(self.row.time_ms) } else { simulated(self.row.tick) };
        let mono = FontId::monospace(TYPE[0]);
        let width = text_at(ui, rect, left, (&time, mono, soft), 80.0, 1);
        left += width.max(if self.by_clock { 56.0 } else { 40.0 }) + SPACE[1];
        let colour = kind_colour(&self.row.kind, theme);
        if is_wide {
            let middle = pos2(left, rect.center().y - CELL_POINTS / 2.0);
            let badge = Rect::from_min_size(middle, vec2(132.0, CELL_POINTS));
            ui.painter().rect_filled(badge, CornerRadius::same(RADIUS[1]), widgets::mix(theme.card, colour, 0.22));
            ui.painter().circle_filled(badge.left_center() + vec2(9.0, 0.0), 3.5, colour);
            let word = kind_words(&self.row.kind);
            text_at(ui, rect, left + 17.0, (&word, FontId::proportional(TYPE[0]), theme.text), 112.0, 1);
            left += 132.0 + SPACE[1];
            let name = self.row.agent.as_ref().map_or("", |agent| names.called(agent));
            text_at(ui, rect, left, (name, FontId::proportional(TYPE[1]), soft), 84.0, 1);
            left += 84.0 + SPACE[1];
        } else {
            ui.painter().circle_filled(pos2(left + 3.0, rect.center().y), 3.5, colour);
            left += SPACE[2];
        }
        let width = rect.right() - left - SPACE[1];
        text_at(ui, rect, left, (self.text, FontId::proportional(TYPE[1]), theme.text), width, 2);
    }
}

/// Draws a text of at most `lines` lines, cut to `width` and centred vertically in `rect`. Returns its width.
fn text_at(
    ui: &Ui,
    rect: Rect,
    left: f32,
    (text, font, colour): (&str, FontId, Color32),
    width: f32,
    lines: usize,
) -> f32 {
    if text.is_empty() || width < 8.0 {
        return 0.0;
    }
    let mut job = LayoutJob::simple(text.to_owned(), font, colour, width);
    job.wrap.max_rows = lines;
    job.wrap.break_anywhere = lines == 1;
    let galley = ui.painter().layout_job(job);
    let size = galley.size();
    ui.painter().galley(pos2(left, rect.center().y - size.y / 2.0), galley, colour);
    size.x
}
