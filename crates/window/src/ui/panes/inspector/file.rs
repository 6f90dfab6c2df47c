//! A file in the inspector: its properties, author, readers, and versions, which can be compared and restored.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea, Sense, Ui, vec2};

use super::{Inspector, fact, texts};
use crate::base::paths::file_name;
use crate::base::{Id, text};
use crate::store::FileVersion;
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::context::ViewerContext;
use crate::ui::panes::diff::{DiffLook, diff_ui};
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::view::recent_events::Recent;
use crate::view::theme::{SPACE, TYPE, Theme};
use crate::workspace::vfs::{FileInfo, FileOperation, OUTSIDE};

/// The maximum height of the list of versions, in points.
const LIST_HEIGHT: f32 = 230.0;
/// The maximum number of versions in the menus, newest first.
const MENU_VERSIONS: usize = 200;
/// The maximum number of readers listed.
const MAX_READERS: usize = 12;

/// The state of the file view.
#[derive(Clone, Debug, Default)]
pub(super) struct FilePane {
    path: String,
    /// The numbers of the compared versions, old and new; 0 is the empty file before the first version.
    compared: Option<(u64, u64)>,
    /// Whether the versions are shown side by side.
    is_beside: bool,
    /// The key of the running restore operation.
    pub(super) operation: Option<Id>,
    /// The message about the last operation, and whether it succeeded.
    result: Option<(String, bool)>,
    /// The number of versions drawn in the last frame.
    pub(super) drawn: usize,
}

/// Draws the file card.
pub(super) fn file_card(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    path: &str,
    pane: &mut Inspector,
    commands: &mut Vec<Command>,
) {
    if pane.file.path != path {
        pane.file = FilePane { path: path.to_owned(), is_beside: pane.file.is_beside, ..FilePane::default() };
    }
    take_operation_result(&mut pane.file, cx.recent);
    let theme = cx.theme;
    let files = cx.ui.texts.files();
    let info = files.binary_search_by(|info| info.path.as_str().cmp(path)).ok().map(|index| files[index].clone());
    let versions = cx.ui.texts.versions(path).cloned();
    let log_index = pane.log_index.clone();
    ScrollArea::vertical().id_salt(("file", path)).auto_shrink(false).show(ui, |ui| {
        header_ui(ui, path, info.as_ref(), theme, commands);
        let has_list = matches!(cx.ui.texts.files, Some(Ok(_)));
        if let Some(Err(why)) = &cx.ui.texts.files {
            ui.add(Label::new(RichText::new(why).color(theme.bad)).wrap());
        } else if info.is_none()
            && has_list
            && versions.as_ref().is_some_and(|read| read.as_ref().is_ok_and(|all| all.is_empty()))
        {
            ui.label(widgets::secondary_text(texts::FILE_NEVER_KEPT, theme));
        }
        let listed = match &versions {
            Some(Ok(versions)) => versions.clone(),
            _ => Arc::default(),
        };
        facts(ui, cx, info.as_ref(), &listed);
        readers(ui, cx, &log_index, path);
        widgets::section(ui, texts::VERSIONS, theme);
        match &versions {
            None => drop(ui.label(widgets::secondary_text(texts::LOADING, theme))),
            Some(Err(why)) => drop(ui.add(Label::new(RichText::new(why).color(theme.bad)).wrap())),
            Some(Ok(all)) if all.is_empty() => {
                widgets::empty(ui, Icon::Clock, texts::NO_VERSIONS, texts::WHEN_VERSIONS_ARE_KEPT, theme);
            }
            Some(Ok(all)) => {
                version_list(ui, cx, all, &mut pane.file);
                let is_there = info.as_ref().is_some_and(|info| info.is_there);
                comparison_ui(ui, cx, all, is_there, &mut pane.file, commands);
            }
        }
    });
}

/// Takes the result of the running operation if it has finished.
fn take_operation_result(pane: &mut FilePane, recent: &Recent) {
    let Some(result) = pane.operation.as_deref().and_then(|key| recent.order(key)) else { return };
    pane.result = Some(match result {
        Ok(()) => (texts::RESTORED.to_owned(), true),
        Err(why) => (texts::restore_failed(why), false),
    });
    pane.operation = None;
}

fn header_ui(ui: &mut Ui, path: &str, info: Option<&FileInfo>, theme: &Theme, commands: &mut Vec<Command>) {
    let name = file_name(path);
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(40.0, 46.0), Sense::hover());
        widgets::portrait_background(ui.painter(), rect, theme);
        Icon::Note.paint(ui.painter(), rect.shrink(11.0), theme.accent);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.add(Label::new(RichText::new(name).heading().size(TYPE[2])).truncate());
            ui.add(Label::new(widgets::small(path, theme)).truncate()).on_hover_text(path);
        });
    });
    if info.is_some_and(|info| !info.is_there) {
        ui.label(RichText::new(texts::DELETED).color(theme.warn));
    }
    let is_there = info.is_none_or(|info| info.is_there);
    ui.add_enabled_ui(is_there, |ui| {
        if ui.button(texts::OPEN_IN_A_TAB).on_hover_text(path).clicked() {
            commands.push(Command::OpenFile(path.to_owned(), None));
        }
    });
}

fn facts(ui: &mut Ui, cx: &ViewerContext<'_>, info: Option<&FileInfo>, versions: &[FileVersion]) {
    let ViewerContext { room, theme, .. } = *cx;
    if let Some(info) = info {
        fact(ui, texts::KIND, info.kind.name(), theme);
        if info.is_there {
            fact(ui, texts::SIZE, &texts::bytes(usize::try_from(info.size).unwrap_or(usize::MAX)), theme);
        }
        fact(ui, texts::WRITTEN, &cx.when(info.modified_ms), theme);
    }
    if let Some(first) = versions.last() {
        let by = format!("{}, {}", room.called(&first.author), cx.when(first.time_ms));
        // The creator of the file is unknown if the first version is no longer stored, or was there before it was kept.
        match (first.author == OUTSIDE, first.number == 1) {
            (true, _) => fact(ui, texts::FIRST_KEPT, &cx.when(first.time_ms), theme),
            (false, true) => fact(ui, texts::MADE_BY, &by, theme),
            (false, false) => fact(ui, texts::OLDEST_BY, &by, theme),
        }
        fact(ui, texts::VERSIONS, &versions.len().to_string(), theme);
    }
}

/// Lists the readers of the file according to the log.
fn readers(ui: &mut Ui, cx: &ViewerContext<'_>, log_index: &super::log_index::LogIndex, path: &str) {
    let ViewerContext { room, theme, .. } = *cx;
    let readers = log_index.readers(path);
    let all = readers.len();
    let mut lines: Vec<(u64, String)> = readers
        .map(|(agent, row)| (row.time_ms, format!("{}, {}", room.called(agent), cx.when(row.time_ms))))
        .collect();
    if lines.is_empty() {
        fact(ui, texts::READ_BY, texts::READERS_UNKNOWN, theme);
        return;
    }
    lines.sort_by(|one, other| other.cmp(one));
    for (index, (_, line)) in lines.iter().take(MAX_READERS).enumerate() {
        fact(ui, if index == 0 { texts::READ_BY } else { "" }, line, theme);
    }
    if all > MAX_READERS {
        fact(ui, "", &texts::and_more(all - MAX_READERS), theme);
    }
}

/// Returns the number of the version before one in the list; 0 if there is none.
fn previous_version(versions: &[FileVersion], index: usize) -> u64 {
    versions.get(index + 1).map_or(0, |version| version.number)
}

fn version_list(ui: &mut Ui, cx: &ViewerContext<'_>, versions: &[FileVersion], pane: &mut FilePane) {
    let ViewerContext { room, theme, .. } = *cx;
    pane.drawn = 0;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = SPACE[0];
        let area = ScrollArea::vertical().id_salt("versions").max_height(LIST_HEIGHT);
        area.show_rows(ui, widgets::ChoiceRow::POINTS, versions.len(), |ui, rows| {
            for index in rows {
                let Some(version) = versions.get(index) else { continue };
                let title = texts::version_by(version.number, room.called(&version.author));
                let length = usize::try_from(version.chars).unwrap_or(usize::MAX);
                let row = widgets::ChoiceRow {
                    name: texts::version(version.number),
                    title: &title,
                    about: texts::about_version(&cx.when(version.time_ms), length, version.activation.as_deref()),
                    chosen: pane.compared.is_some_and(|(_, newer)| newer == version.number),
                };
                let is_newest = index == 0;
                let clicked = row.show(ui, theme, |painter, rect| {
                    let colour = if is_newest { theme.good } else { theme.text_soft };
                    painter.circle_filled(rect.left_center() + vec2(10.0, 0.0), 3.5, colour);
                });
                pane.drawn += 1;
                if clicked {
                    pane.compared = Some((previous_version(versions, index), version.number));
                }
            }
        });
    });
}

/// Draws the comparison of the selected versions and the Restore button.
fn comparison_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    versions: &[FileVersion],
    is_there: bool,
    pane: &mut FilePane,
    commands: &mut Vec<Command>,
) {
    let theme = cx.theme;
    if let Some((message, is_good)) = &pane.result {
        ui.add(Label::new(RichText::new(message).color(if *is_good { theme.good } else { theme.bad })).wrap());
    }
    let Some((mut older, mut newer)) = pane.compared else {
        ui.label(widgets::small(texts::CLICK_A_VERSION, theme));
        return;
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(widgets::secondary_text(texts::FROM, theme));
        version_menu(ui, texts::COMPARE_FROM, &mut older, (versions, true), theme);
        ui.label(widgets::secondary_text(texts::TO, theme));
        version_menu(ui, texts::COMPARE_TO, &mut newer, (versions, false), theme);
    });
    pane.compared = Some((older, newer));
    let looks = [(texts::BELOW, false), (texts::BESIDE, true)];
    ui.horizontal_wrapped(|ui| {
        let choices = looks.map(|(word, _)| (word.to_owned(), texts::show_what_changed(word)));
        let chosen = looks.iter().position(|(_, is_beside)| *is_beside == pane.is_beside);
        if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
            pane.is_beside = looks[index].1;
        }
        let is_newest = versions.first().is_some_and(|version| version.number == newer);
        let can_restore = pane.operation.is_none() && !(is_newest && is_there);
        let restore = ui.add_enabled(can_restore, egui::Button::new(texts::restore_version(newer)));
        let restore = restore.on_hover_text(texts::RESTORE_TIP).on_disabled_hover_text(if pane.operation.is_some() {
            texts::RESTORING
        } else {
            texts::CURRENT_TEXT
        });
        if restore.clicked() {
            let operation = FileOperation::Restore { path: pane.path.clone(), version: newer };
            let command = cx.ui.file_command(operation);
            (pane.operation, pane.result) = (Some(command.key.clone()), None);
            commands.push(Command::Act(RoomAct::File(command), None));
        }
    });
    let (old, new) = (version_text(&pane.path, older, cx), version_text(&pane.path, newer, cx));
    match (old, new) {
        (Ok(Some(old)), Ok(Some(new))) => {
            let look = if pane.is_beside { DiffLook::SideBySide } else { DiffLook::Unified };
            // The same id for all files: only one is compared at a time, so only its state is kept.
            diff_ui(ui, "inspector", &old, &new, look, theme);
        }
        (Err(why), _) | (_, Err(why)) => {
            ui.add(Label::new(RichText::new(why).color(theme.bad)).wrap());
        }
        _ => {
            ui.label(widgets::secondary_text(texts::LOADING_VERSIONS, theme));
        }
    }
}

fn version_menu(
    ui: &mut Ui,
    label: &str,
    chosen: &mut u64,
    (versions, may_be_nothing): (&[FileVersion], bool),
    theme: &Theme,
) {
    let shown = texts::compared_version(*chosen);
    menu::drop_down(ui, label, shown, 96.0, theme, |ui| {
        let numbers = versions.iter().take(MENU_VERSIONS).map(|version| version.number);
        for number in numbers.chain(may_be_nothing.then_some(0)) {
            if menu::choice(ui, *chosen == number, &texts::compared_version(number)).clicked() {
                *chosen = number;
            }
        }
    });
}

/// Returns the text of a version; `None` while it is loading, or why it is not available.
fn version_text(path: &str, number: u64, cx: &ViewerContext<'_>) -> Result<Option<Arc<str>>, String> {
    if number == 0 {
        return Ok(Some("".into()));
    }
    match cx.ui.texts.version(path, number) {
        None => Ok(None),
        Some(Err(why)) => Err(text::truncate(why, 600)),
        Some(Ok(None)) => Err(texts::version_not_kept(number)),
        Some(Ok(Some(text))) => Ok(Some(text.clone())),
    }
}
