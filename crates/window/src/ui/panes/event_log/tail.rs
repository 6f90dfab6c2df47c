//! The most recent records in a short list, which the inspector shows when nothing is selected.

use egui::{ScrollArea, Ui};

use super::rows::{EventRowLine, ROW_POINTS};
use super::{EventLogPane, card, texts};
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::SPACE;

/// The number of newest rows in the list.
const MAX_ROWS: usize = 500;

/// Draws the newest rows, and the card of the selected one.
pub fn event_tail_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane) -> Vec<Command> {
    let theme = cx.theme;
    widgets::apply_style(ui.style_mut(), theme);
    let mut commands = Vec::new();
    let book = &cx.recent.book;
    pane.update(ui, cx.room, book);
    widgets::line(
        ui,
        "head",
        |ui| drop(ui.label(widgets::heading(texts::EVENT_LOG, theme))),
        |ui| {
            if ui.button(texts::WHOLE_LOG).on_hover_text(texts::WHOLE_LOG_HINT).clicked() {
                commands.push(Command::Show(Tab::LOG));
            }
        },
    );
    let total = pane.tail.len().min(MAX_ROWS);
    let first = pane.tail.len() - total;
    if total == 0 {
        widgets::empty(ui, Icon::Note, texts::NO_EVENTS_YET, texts::NO_EVENTS_HINT, theme);
    }
    let card = pane.card.clone().filter(|_| !pane.is_card_closed);
    // In a scroll area the height is unlimited.
    let height = ui.available_height().min(ui.ctx().content_rect().height());
    let height = if card.is_some() { height * 0.45 } else { height };
    let mut clicked = None;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::vertical().id_salt("event tail").stick_to_bottom(true);
        area.auto_shrink([false, true]).max_height(height).show_rows(ui, ROW_POINTS, total, |ui, range| {
            let mut before = pane.tail_texts.begin(book, &pane.facets.names);
            for index in range {
                let Some(row) = pane.tail.number(first + index).and_then(|number| book.row(number)) else { continue };
                let text = pane.tail_texts.of(row, &pane.facets.names, &mut before);
                let line = EventRowLine {
                    row,
                    text: &text,
                    chosen: pane.chosen == Some(row.seq),
                    by_clock: pane.by_clock,
                    dates: &cx.ui.appearance.dates,
                };
                let response = line.show(ui, &pane.facets.names, theme);
                if response.on_hover_text(&*text).clicked() {
                    clicked = Some(row.seq);
                }
            }
        });
    });
    if let Some(seq) = clicked {
        pane.select_and_reveal(seq);
    }
    if let Some(card) = card {
        ui.add_space(SPACE[1]);
        commands.extend(card::card_ui(ui, cx, pane, &card));
    }
    commands
}
