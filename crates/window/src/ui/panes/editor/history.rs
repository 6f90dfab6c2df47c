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

/// The height of a row of the list.
const ROW_POINTS: f32 = 30.0;
/// The list takes no more than this share of the height.
const LIST_SHARE: f32 = 0.35;

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct HistoryView {
    /// The older text, by version; the one before the newest where nothing was chosen.
    pub from: Option<u64>,
    /// The newer text, by version; what the tab shows where absent.
    pub to: Option<u64>,
    /// How the difference is shown.
    pub look: DiffLook,
    /// A version that is to be brought back once the person has said that the draft may go.
    pub asks: Option<u64>,
    /// How many versions were drawn last.
    pub rows_drawn: usize,
}

/// What the list needs to know.
pub struct HistorySetting<'a> {
    /// The file.
    pub path: &'a str,
    /// What the tab shows, as it would stand in the file.
    pub now: &'a str,
    /// Whether something was written and not saved.
    pub is_unsaved: bool,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// How dates are written.
    pub dates: &'a Dates,
    /// For the names of authors.
    pub room: &'a RoomModel,
    /// The colours of the window.
    pub theme: &'a Theme,
}

/// Draws the history. The version that is to be brought back.
pub fn history_ui(ui: &mut Ui, view: &mut HistoryView, texts: &FileTexts, setting: &HistorySetting<'_>) -> Option<u64> {
    let theme = setting.theme;
    let versions = match texts.versions(setting.path) {
        None => {
            ui.label(widgets::soft(texts::LOADING_VERSIONS, theme));
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
        widgets::empty(ui, Icon::Note, texts::NO_VERSIONS, texts::WHEN_VERSIONS_ARE_KEPT, theme);
        return None;
    }
    if view.from.is_none_or(|from| !versions.iter().any(|version| version.number == from)) {
        // What is shown is mostly the newest; what was before it is what one wants to see.
        view.from = versions.get(1).or(versions.first()).map(|version| version.number);
    }
    view.to = view.to.filter(|to| versions.iter().any(|version| version.number == *to));
    list_ui(ui, view, &versions, setting);
    let restored = acts_ui(ui, view, setting);
    compare_ui(ui, view, texts, setting);
    restored
}

fn list_ui(ui: &mut Ui, view: &mut HistoryView, versions: &[FileVersion], setting: &HistorySetting<'_>) {
    let theme = setting.theme;
    let count = versions.len() + 1;
    let height = (ui.available_height() * LIST_SHARE).min(count as f32 * (ROW_POINTS + 2.0)).max(ROW_POINTS * 2.0);
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

/// One version, or what the tab shows.
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
            let button = ui.add(side(texts::BEFORE, on));
            widgets::name(&button, texts::before(&name));
            if button.clicked() {
                view.from = Some(number);
            }
        } else {
            ui.add_enabled(false, side(texts::BEFORE, false));
        }
        let button = ui.add(side(texts::AFTER, view.to == number));
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
        let about = texts::about_version(by, &when, &text_format::compact(version.chars));
        ui.label(widgets::small(about, theme)).on_hover_text(setting.dates.in_full(version.time_ms));
    });
}

/// A button that puts a version on one side.
fn side(shown: &'static str, on: bool) -> egui::Button<'static> {
    egui::Button::selectable(on, shown).min_size(vec2(64.0, 24.0))
}

/// Bringing back, asked about where something would go, and how the difference is shown.
fn acts_ui(ui: &mut Ui, view: &mut HistoryView, setting: &HistorySetting<'_>) -> Option<u64> {
    let theme = setting.theme;
    let from = view.from?;
    let mut restored = None;
    if let Some(asked) = view.asks {
        widgets::in_card(ui, theme, |ui| {
            ui.horizontal_wrapped(|ui| {
                let question = texts::restore_question(asked);
                ui.label(RichText::new(question).color(theme.warn));
                if widgets::danger(ui, texts::DISCARD_AND_RESTORE, theme).clicked() {
                    restored = view.asks.take();
                }
                if ui.button(texts::KEEP_MY_CHANGES).clicked() {
                    view.asks = None;
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
                view.asks = Some(from);
            } else {
                restored = Some(from);
            }
        }
        look_ui(ui, &mut view.look, theme);
    });
    restored
}

/// The choice of how a difference is shown.
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
            let new = new.as_deref().unwrap_or(setting.now);
            diff_ui(ui, &format!("history of {}", setting.path), &old, new, view.look, theme);
        }
        (Err(why), _) | (_, Err(why)) => {
            ui.label(widgets::soft(why, theme));
        }
    }
}
