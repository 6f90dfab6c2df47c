//! The versions of a file: compares any two, and restores any of them.

use egui::{Align, Layout, RichText, ScrollArea, Ui, vec2};

use super::texts;
use crate::store::FileVersion;
use crate::ui::panes::diff::{DiffLook, diff_ui};
use crate::ui::state::file_texts::{FileTexts, Read};
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::dates::Dates;
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, TYPE, Theme};

/// Height of a row of the list.
const ROW_POINTS: f32 = 30.0;
/// Maximum share of the height for the list.
const MAX_LIST_SHARE: f32 = 0.35;

/// State of the history view.
#[derive(Clone, Debug, Default)]
pub struct HistoryView {
    /// The older version to compare; `None` until one is chosen, which means the one before the newest.
    pub from: Option<u64>,
    /// The newer version to compare, or `None` for the current text.
    pub to: Option<u64>,
    /// How differences are shown.
    pub look: DiffLook,
    /// The version to restore after the user confirms that unsaved changes are discarded.
    pub pending_restore: Option<u64>,
    /// Number of rows drawn in the last frame.
    pub rows_drawn: usize,
}

/// The input of the history view.
pub struct HistorySetting<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// The current text of the tab, with the file's line endings.
    pub current: &'a str,
    /// Whether the tab has unsaved changes.
    pub is_unsaved: bool,
    /// The current time in milliseconds since 1970.
    pub now_ms: u64,
    /// The format of dates.
    pub dates: &'a Dates,
    /// The room, for the names of authors.
    pub room: &'a RoomModel,
    /// The theme of the window.
    pub theme: &'a Theme,
}

/// Draws the history. Returns the version to restore, if a button was pressed.
pub fn history_ui(ui: &mut Ui, view: &mut HistoryView, texts: &FileTexts, setting: &HistorySetting<'_>) -> Option<u64> {
    let theme = setting.theme;
    let versions = match texts.versions(setting.path) {
        None => {
            ui.label(widgets::secondary_text(texts::LOADING_VERSIONS, theme));
            return None;
        }
        Some(Err(why)) => {
            let why = why.clone();
            widgets::empty(ui, Icon::Note, texts::VERSIONS_NOT_LOADED, &why, theme);
            return None;
        }
        Some(Ok(versions)) => versions.clone(),
    };
    if versions.is_empty() {
        widgets::empty(ui, Icon::Note, texts::NO_VERSIONS, texts::NO_VERSIONS_HINT, theme);
        return None;
    }
    if view.from.is_none_or(|from| !versions.iter().any(|version| version.number == from)) {
        // The tab usually shows the newest version, so compare it with the previous one.
        view.from = versions.get(1).or(versions.first()).map(|version| version.number);
    }
    view.to = view.to.filter(|to| versions.iter().any(|version| version.number == *to));
    list_ui(ui, view, &versions, setting);
    let restored = actions_ui(ui, view, setting);
    compare_ui(ui, view, texts, setting);
    restored
}

fn list_ui(ui: &mut Ui, view: &mut HistoryView, versions: &[FileVersion], setting: &HistorySetting<'_>) {
    let theme = setting.theme;
    let count = versions.len() + 1;
    let height = (ui.available_height() * MAX_LIST_SHARE).min(count as f32 * (ROW_POINTS + 2.0)).max(ROW_POINTS * 2.0);
    let scroll =
        ScrollArea::vertical().id_salt(("versions", setting.path)).max_height(height).auto_shrink([false, true]);
    ui.spacing_mut().item_spacing.y = 2.0;
    scroll.show_rows(ui, ROW_POINTS, count, |ui, rows| {
        view.rows_drawn = rows.len();
        for row in rows {
            let version = row.checked_sub(1).and_then(|index| versions.get(index));
            row_ui(ui, view, version, setting, theme);
        }
    });
    ui.add_space(SPACE[0]);
}

/// Draws the row of a version, or of the current text.
fn row_ui(
    ui: &mut Ui,
    view: &mut HistoryView,
    version: Option<&FileVersion>,
    setting: &HistorySetting<'_>,
    theme: &Theme,
) {
    let number = version.map(|version| version.number);
    let name = texts::version_name(number);
    let size = vec2(ui.available_width(), ROW_POINTS);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_size(size);
        if let Some(number) = number {
            let on = view.from == Some(number);
            let button = ui.add(side_button(texts::BEFORE, on));
            widgets::name(&button, texts::before(&name));
            if button.clicked() {
                view.from = Some(number);
            }
        } else {
            ui.add_enabled(false, side_button(texts::BEFORE, false));
        }
        let button = ui.add(side_button(texts::AFTER, view.to == number));
        widgets::name(&button, texts::after(&name));
        if button.clicked() {
            view.to = number;
        }
        let Some(version) = version else {
            ui.label(RichText::new(texts::current_text(setting.is_unsaved)).size(TYPE[1]));
            return;
        };
        ui.label(RichText::new(texts::version(version.number)).size(TYPE[1]));
        let when = setting.dates.when(version.time_ms, setting.now_ms);
        let by = setting.room.called(&version.author);
        let about = texts::version_details(by, &when, &text_format::compact(version.chars));
        ui.label(widgets::small(about, theme)).on_hover_text(setting.dates.full(version.time_ms));
    });
}

/// Creates a button that chooses a version for one side of the comparison.
fn side_button(shown: &'static str, on: bool) -> egui::Button<'static> {
    egui::Button::selectable(on, shown).min_size(vec2(64.0, 24.0))
}

/// Draws the button for restoring, or its confirmation if changes would be discarded, and the choice of layout.
fn actions_ui(ui: &mut Ui, view: &mut HistoryView, setting: &HistorySetting<'_>) -> Option<u64> {
    let theme = setting.theme;
    let from = view.from?;
    let mut restored = None;
    if let Some(version) = view.pending_restore {
        widgets::in_card(ui, theme, |ui| {
            ui.horizontal_wrapped(|ui| {
                let question = texts::restore_question(version);
                ui.label(RichText::new(question).color(theme.warn));
                if widgets::danger(ui, texts::DISCARD_AND_RESTORE, theme).clicked() {
                    restored = view.pending_restore.take();
                }
                if ui.button(texts::KEEP_MY_CHANGES).clicked() {
                    view.pending_restore = None;
                }
            });
        });
        return restored;
    }
    ui.horizontal_wrapped(|ui| {
        let restore = ui.button(texts::restore_version(from));
        let restore = restore.on_hover_text(texts::RESTORE_TIP);
        if restore.clicked() {
            if setting.is_unsaved {
                view.pending_restore = Some(from);
            } else {
                restored = Some(from);
            }
        }
        look_ui(ui, &mut view.look, theme);
    });
    restored
}

/// Draws the choice of how differences are shown.
pub fn look_ui(ui: &mut Ui, look: &mut DiffLook, theme: &Theme) {
    let choice = |shown: &str| (shown.to_owned(), shown.to_owned());
    let chosen = usize::from(*look == DiffLook::Unified);
    match widgets::segments(ui, &[choice(texts::SIDE_BY_SIDE), choice(texts::ONE_COLUMN)], Some(chosen), theme) {
        Some(0) => *look = DiffLook::SideBySide,
        Some(_) => *look = DiffLook::Unified,
        None => {}
    }
}

fn compare_ui(ui: &mut Ui, view: &HistoryView, texts: &FileTexts, setting: &HistorySetting<'_>) {
    let theme = setting.theme;
    let Some(from) = view.from else { return };
    let text_of = |version: u64| -> Result<std::sync::Arc<str>, String> {
        match texts.version(setting.path, version) {
            None => Err(texts::loading_version(version)),
            Some(Read::Err(why)) => Err(texts::version_not_loaded(version, why)),
            Some(Ok(None)) => Err(texts::version_not_kept(version)),
            Some(Ok(Some(text))) => Ok(text.clone()),
        }
    };
    let old = text_of(from);
    let new = view.to.map(text_of).transpose();
    match (old, new) {
        (Ok(old), Ok(new)) => {
            let new = new.as_deref().unwrap_or(setting.current);
            diff_ui(ui, &format!("history of {}", setting.path), &old, new, view.look, theme);
        }
        (Err(why), _) | (_, Err(why)) => {
            ui.label(widgets::secondary_text(why, theme));
        }
    }
}
