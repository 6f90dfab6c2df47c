//! The page on which a person decides whether they trust a workspace: everything that it wants and what would start by
//! itself, or only what is new. What is on it is exactly what is trusted.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea, Ui};

use crate::base::visible_text::wrapped;
use crate::desk::trust_page::{TrustPage, TrustSection, safe};
use crate::ui::commands::keyboard::is_pressed;
use crate::ui::shell::texts::trust_dialog as texts;
use crate::ui::state::TrustView;
use crate::ui::widgets;
use crate::ui::{Command, ViewerContext};
use crate::view::theme::{SPACE, TYPE, Theme};

/// The number of characters in a row. A row of wide letters can be scrolled to its end.
const ROW_CHARS: usize = 84;
/// The height of a row, in points; the same for all, so that only the visible ones of thousands are drawn.
const ROW_POINTS: f32 = 18.0;
/// The height of the page above and below the list, in points.
const AROUND_POINTS: f32 = 280.0;
/// The least height of the list, in points.
const LEAST_POINTS: f32 = 120.0;

/// The rows of the page that is shown. They are made again when another page is.
#[derive(Clone, Debug, Default)]
pub(super) struct TrustRows {
    of: Option<Arc<TrustPage>>,
    rows: Vec<TrustRow>,
}

impl TrustRows {
    fn of(&mut self, page: &Arc<TrustPage>) -> &[TrustRow] {
        if self.of.as_ref().is_none_or(|of| !Arc::ptr_eq(of, page)) {
            (self.of, self.rows) = (Some(page.clone()), rows(page));
        }
        &self.rows
    }
}

/// What a row shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RowKind {
    /// The title of a part.
    Title,
    /// A file.
    Place,
    /// Words of a file.
    Words,
    /// What the words mean.
    Meaning,
}

/// A row of the page.
#[derive(Clone, PartialEq, Eq, Debug)]
struct TrustRow {
    kind: RowKind,
    text: String,
}

/// The rows of the page: every character of what comes from files is visible, and long lines continue in further rows.
fn rows(page: &TrustPage) -> Vec<TrustRow> {
    let mut rows = Vec::new();
    let mut add = |kind, line: &str| {
        for (index, piece) in wrapped(line, ROW_CHARS).into_iter().enumerate() {
            let sign = if index == 0 { "" } else { texts::CONTINUED };
            rows.push(TrustRow { kind, text: format!("{sign}{piece}") });
        }
    };
    for TrustSection { title, entries } in page.sections() {
        add(RowKind::Title, title);
        for entry in entries {
            add(RowKind::Place, &safe(&entry.place));
            add(RowKind::Words, &safe(&entry.words));
            if !entry.meaning.is_empty() {
                add(RowKind::Meaning, &safe(&entry.meaning));
            }
            for line in entry.code.iter().flat_map(|code| code.split('\n')) {
                add(RowKind::Words, &safe(line));
            }
        }
    }
    rows
}

/// The title of the page.
pub(super) fn title(view: &TrustView) -> &'static str {
    match view.page.as_deref() {
        Some(page) if page.is_settled() => texts::TITLE_WHEN_TRUSTED,
        Some(page) if page.trusted => texts::TITLE_OF_DIFFERENCE,
        _ => texts::TITLE,
    }
}

/// Draws the page. Returns the commands of the button that closes it; other commands are added to `commands`.
pub(super) fn trust_page(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    own: &mut TrustRows,
    commands: &mut Vec<Command>,
) -> Option<Vec<Command>> {
    let (view, theme) = (&cx.ui.trust, cx.theme);
    if let Some(note) = &view.note {
        let colour = if note.is_good { theme.good } else { theme.warn };
        ui.add(Label::new(RichText::new(&note.text).color(colour)).wrap());
        ui.add_space(SPACE[0]);
    }
    let Some(page) = &view.page else {
        return without_page(ui, view, commands);
    };
    let folder = safe(&page.folder.display().to_string());
    ui.add(Label::new(RichText::new(folder).monospace().size(TYPE[0])).wrap());
    ui.add(Label::new(widgets::secondary_text(about(page), theme)).wrap());
    ui.add_space(SPACE[1]);
    list(ui, own.of(page), theme);
    ui.add_space(SPACE[2]);
    buttons(ui, page, view, theme, commands)
}

/// Draws the page while it is read, or when it could not be.
fn without_page(ui: &mut Ui, view: &TrustView, commands: &mut Vec<Command>) -> Option<Vec<Command>> {
    if view.note.is_none() {
        ui.label(texts::READING);
        return None;
    }
    let mut answer = None;
    ui.horizontal_wrapped(|ui| {
        if ui.button(texts::READ_AGAIN).clicked() {
            commands.push(Command::ShowTrust(view.folder.clone()));
        }
        if ui.button(texts::CLOSE).clicked() {
            answer = Some(Vec::new());
        }
    });
    answer
}

/// What the page is about.
fn about(page: &TrustPage) -> String {
    match (page.trusted, page.shown().is_empty()) {
        (true, true) if page.has_unknown_room => texts::SAVED_ROOM.to_owned(),
        (true, false) if page.has_unknown_room => {
            let difference = texts::difference(page.new.len(), page.trusted_before());
            format!("{difference} {}", texts::SAVED_ROOM)
        }
        (true, true) => format!("{} {}", texts::trusted_wishes(page.wants.len()), texts::SETTLED),
        (true, false) => texts::difference(page.new.len(), page.trusted_before()),
        (false, true) if page.starts.is_empty() => texts::WANTS_NOTHING.to_owned(),
        (false, _) => texts::RESTRICTED.to_owned(),
    }
}

fn list(ui: &mut Ui, rows: &[TrustRow], theme: &Theme) {
    if rows.is_empty() {
        return;
    }
    let height = (ui.ctx().content_rect().height() - AROUND_POINTS).max(LEAST_POINTS);
    widgets::in_card(ui, theme, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::both().id_salt(texts::LIST).max_height(height).auto_shrink([false, true]);
        area.show_rows(ui, ROW_POINTS, rows.len(), |ui, range| {
            for row in &rows[range] {
                row_ui(ui, row, theme);
            }
        });
    });
}

fn row_ui(ui: &mut Ui, row: &TrustRow, theme: &Theme) {
    let text = RichText::new(&row.text).size(TYPE[0]);
    let text = match row.kind {
        RowKind::Title => text.size(TYPE[1]).strong().color(theme.text),
        RowKind::Place => text.color(theme.accent),
        RowKind::Words => text.monospace().color(theme.text),
        RowKind::Meaning => text.color(theme.text_soft),
    };
    ui.allocate_ui(egui::vec2(ui.available_width(), ROW_POINTS), |ui| {
        ui.set_min_height(ROW_POINTS);
        ui.add(Label::new(text).extend());
    });
}

/// Draws the buttons. A key presses one only if the person was not typing just before.
fn buttons(
    ui: &mut Ui,
    page: &Arc<TrustPage>,
    view: &TrustView,
    theme: &Theme,
    commands: &mut Vec<Command>,
) -> Option<Vec<Command>> {
    let mut answer = None;
    ui.horizontal_wrapped(|ui| {
        if view.is_saving {
            ui.label(texts::SAVING);
            return;
        }
        if !page.is_settled() {
            let label = match (page.trusted && page.has_unknown_room, page.new.is_empty()) {
                (true, true) => texts::TRUST_SAVED_ROOM.to_owned(),
                (true, false) => texts::TRUST_ALL.to_owned(),
                (false, _) => texts::trust(page.shown().len()),
            };
            if is_pressed(&widgets::primary(ui, true, &label, theme)) {
                commands.push(Command::TrustWorkspace(page.clone()));
            }
        }
        let close = match (page.trusted, page.is_settled()) {
            (_, true) => texts::CLOSE,
            (true, false) if page.new.is_empty() => texts::LEAVE_CLOSED,
            (true, false) => texts::LEAVE_WITHOUT_EFFECT,
            (false, _) => texts::KEEP_RESTRICTED,
        };
        if ui.button(close).clicked() {
            answer = Some(Vec::new());
        }
        if page.trusted {
            let revoke = widgets::danger(ui, texts::REVOKE, theme).on_hover_text(texts::REVOKE_HINT);
            if is_pressed(&revoke) {
                commands.push(Command::RevokeTrust(page.folder.clone()));
            }
        }
    });
    answer
}

#[cfg(test)]
#[path = "trust_dialog_tests.rs"]
mod tests;
