//! Draws the editor of one file: its toolbar, banners, the text or its history, its problems, and the status line.

use egui::{Align, Layout, RichText, ScrollArea, Ui, UiBuilder, vec2};

use super::banners::{Decision, banners_ui};
use super::check::{EMPTY_CONTEXT, TaskContext, needs_context};
use super::field::{FieldSetting, JumpTarget, field_id, field_ui};
use super::history::{self, HistorySetting, history_ui};
use super::languages::Language;
use super::preview::preview_ui;
use super::tab::{DraftStatus, FileStatus};
use super::task_context::TaskFileContext;
use super::{Mode, OpenFile, at_work, find_bar, texts};
use crate::base::{Problem, Severity};
use crate::ui::commands::keys;
use crate::ui::context::ViewerContext;
use crate::ui::menus::keys_tip;
use crate::ui::panes::diff::diff_ui;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::{Command, UiState};
use crate::view::theme::{SPACE, TYPE, Theme};

/// File extension of agent documents.
const DOCUMENT_EXTENSION: &str = ".mdx";
/// In narrower tabs, the preview replaces the text.
const SIDE_BY_SIDE_POINTS: f32 = 760.0;
/// Maximum height of the list of problems.
const MAX_PROBLEMS_POINTS: f32 = 96.0;
/// Height of a row in the list of problems.
const PROBLEM_ROW_POINTS: f32 = 20.0;
/// Height of the status line.
const STATUS_POINTS: f32 = 30.0;

/// Draws the editor of one file.
pub fn pane_ui(ui: &mut Ui, path: &str, file: &mut OpenFile, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let (theme, state) = (cx.theme, cx.ui);
    widgets::apply_style(ui.style_mut(), theme);
    if let Some(why) = unreadable_reason(file) {
        unreadable_ui(ui, path, &why, theme, commands);
        return;
    }
    if matches!(file.tab.status, FileStatus::NotRead) && file.tab.draft.is_none() {
        ui.label(widgets::secondary_text(texts::LOADING_FILE, theme));
        return;
    }
    let profile = file.profile(path);
    let at_work = at_work(cx.room, profile);
    if handles_keys(ui, path, file) {
        find_bar::keys(ui, &file.tab, &mut file.field, &mut file.find);
        let saves = keys::consume(ui, "editor.save");
        if saves && can_save(file) {
            save(path, file, at_work.is_some(), state, commands);
        } else if saves && file.tab.draft_status() == DraftStatus::Conflicted {
            file.tab.error = Some(texts::MUST_RESOLVE_FIRST.to_owned());
        }
    }
    if bar_ui(ui, path, file, theme) {
        save(path, file, at_work.is_some(), state, commands);
    }
    let is_comparing = file.mode == Mode::Compare;
    if let Some(decision) = banners_ui(ui, &file.tab, at_work.as_deref(), is_comparing, theme) {
        apply_decision(path, file, decision, state, commands);
    }
    if file.tab.draft_status() != DraftStatus::Conflicted && file.mode == Mode::Compare {
        // Without a conflict there is nothing to compare, and no button that would end it.
        file.mode = Mode::Text;
    }
    match file.mode {
        Mode::Text => text_ui(ui, path, file, cx, commands),
        Mode::Compare => {
            history::look_ui(ui, &mut file.history.look, theme);
            let theirs = file.tab.file().map_or("", |text| &text.text);
            let name = format!("other version of {path}");
            diff_ui(ui, &name, theirs, &file.tab.file_content(), file.history.look, theme);
        }
        Mode::History => history_mode_ui(ui, path, file, cx, commands),
    }
}

/// Returns why the file cannot be shown, unless there are unsaved changes to show.
fn unreadable_reason(file: &OpenFile) -> Option<String> {
    match &file.tab.status {
        FileStatus::Unreadable(why) if file.tab.draft.is_none() => Some(why.clone()),
        _ => None,
    }
}

fn unreadable_ui(ui: &mut Ui, path: &str, why: &str, theme: &Theme, commands: &mut Vec<Command>) {
    widgets::empty(ui, Icon::Note, texts::NOT_TEXT, why, theme);
    ui.vertical_centered(|ui| {
        if widgets::primary(ui, true, texts::OPEN_IN_ANOTHER_PROGRAM, theme).clicked() {
            commands.push(Command::OpenOutside(path.to_owned()));
        }
    });
}

/// Whether this editor handles shortcuts: it has the focus, the pointer is over it and no text field has the focus, or
/// nothing has the focus and the file has unsaved changes.
fn handles_keys(ui: &Ui, path: &str, file: &OpenFile) -> bool {
    let focused = ui.memory(|memory| memory.focused());
    let is_here = focused == Some(field_id(path)) || find_bar::has_focus(ui, path);
    let is_pointed_at = !ui.ctx().text_edit_focused() && ui.rect_contains_pointer(ui.max_rect());
    keys::are_active(ui) && (is_here || is_pointed_at || (focused.is_none() && file.tab.draft.is_some()))
}

fn can_save(file: &OpenFile) -> bool {
    let is_new = matches!(file.tab.status, FileStatus::Absent);
    let has_changes = matches!(file.tab.draft_status(), DraftStatus::Unsaved | DraftStatus::Deleted);
    !file.tab.is_saving() && (has_changes || (is_new && file.tab.draft.is_none()))
}

/// Saves the file, or marks its draft to be saved once the agent's work ends.
fn save(path: &str, file: &mut OpenFile, is_pending: bool, state: &UiState, commands: &mut Vec<Command>) {
    match &mut file.tab.draft {
        Some(draft) if is_pending => draft.applies_when_idle = true,
        _ => apply(path, file, state, commands),
    }
}

fn apply(path: &str, file: &mut OpenFile, state: &UiState, commands: &mut Vec<Command>) {
    if file.tab.draft_status() == DraftStatus::Deleted {
        // The original file was deleted, so this creates a new one.
        file.tab.keep_mine();
    }
    commands.push(file.tab.save(path, state));
}

fn apply_decision(path: &str, file: &mut OpenFile, decision: Decision, state: &UiState, commands: &mut Vec<Command>) {
    match decision {
        Decision::Save | Decision::Apply => apply(path, file, state, commands),
        Decision::DoNotApply => {
            if let Some(draft) = &mut file.tab.draft {
                draft.applies_when_idle = false;
            }
        }
        Decision::Merge => file.tab.begin_merge(),
        Decision::Choose(piece, choice) => file.tab.choose(piece, choice),
        Decision::StopMerge => file.tab.merging = None,
        Decision::KeepMine => file.tab.keep_mine(),
        Decision::TakeTheirs => file.tab.take_theirs(),
        Decision::Compare if file.mode == Mode::Compare => file.mode = Mode::Text,
        Decision::Compare => file.mode = Mode::Compare,
        Decision::DismissError => file.tab.error = None,
        Decision::OpenOutside => commands.push(Command::OpenOutside(path.to_owned())),
    }
}

/// Draws the toolbar. Returns whether the file is to be saved.
fn bar_ui(ui: &mut Ui, path: &str, file: &mut OpenFile, theme: &Theme) -> bool {
    let mut saves = false;
    ui.horizontal_wrapped(|ui| {
        let save = widgets::primary(ui, can_save(file), texts::SAVE, theme).on_hover_text(save_hint(file));
        let save = keys_tip(save, "editor.save");
        saves = save.clicked();
        let find = widgets::icon_button(ui, Icon::Search, texts::FIND_AND_REPLACE, file.find.is_open, theme);
        if keys_tip(find, "editor.find").clicked() {
            if file.find.is_open { file.find.close() } else { file.find.open(false, "") }
        }
        if widgets::switch(ui, file.field.wraps, texts::WRAP, theme).clicked() {
            file.field.wraps = !file.field.wraps;
        }
        if Language::of(path) == Some(Language::Markdown)
            && widgets::switch(ui, file.shows_preview, texts::PREVIEW, theme).clicked()
        {
            file.shows_preview = !file.shows_preview;
        }
        let is_history = file.mode == Mode::History;
        if widgets::switch(ui, is_history, texts::HISTORY, theme).clicked() {
            file.mode = if is_history { Mode::Text } else { Mode::History };
        }
        let (word, colour) = draft_status_text(file, theme);
        widgets::badge(ui, word, colour, theme);
    });
    saves
}

fn save_hint(file: &OpenFile) -> &'static str {
    match file.tab.draft_status() {
        DraftStatus::Conflicted => texts::RESOLVE_FIRST,
        _ if file.tab.is_saving() => texts::SAVING,
        DraftStatus::Clean => texts::NOTHING_TO_SAVE,
        DraftStatus::Unsaved | DraftStatus::Deleted => texts::SAVES_THE_FILE,
    }
}

fn draft_status_text(file: &OpenFile, theme: &Theme) -> (&'static str, egui::Color32) {
    let is_pending = file.tab.draft.as_ref().is_some_and(|draft| draft.applies_when_idle);
    match file.tab.draft_status() {
        _ if file.tab.is_saving() => (texts::IS_SAVING, theme.warn),
        DraftStatus::Clean if matches!(file.tab.status, FileStatus::Absent) => (texts::IS_NEW, theme.text_soft),
        DraftStatus::Clean => (texts::IS_SAVED, theme.good),
        DraftStatus::Unsaved if is_pending => (texts::IS_DRAFT, theme.warn),
        DraftStatus::Unsaved => (texts::IS_UNSAVED, theme.warn),
        DraftStatus::Conflicted | DraftStatus::Deleted => (texts::IS_CHANGED_BY_OTHERS, theme.bad),
    }
}

/// Checks the text. Returns the seconds after which to call again.
fn check(path: &str, file: &mut OpenFile, cx: &ViewerContext<'_>) -> Option<f64> {
    let (text, now) = ((file.tab.text.as_str(), file.tab.generation), cx.ui.time.now_secs);
    if !needs_context(path) {
        return file.check.update(path, text, &EMPTY_CONTEXT, now);
    }
    let others = TaskFileContext::of(path, cx);
    file.check.update(path, text, &TaskContext { revision: others.revision(), known: &|| others.known() }, now)
}

fn text_ui(ui: &mut Ui, path: &str, file: &mut OpenFile, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let theme = cx.theme;
    if file.find.is_open && find_bar::find_bar_ui(ui, path, &mut file.tab, &mut file.field, &mut file.find, theme) {
        ui.ctx().request_repaint();
    }
    let again = check(path, file, cx);
    if let Some(secs) = again {
        ui.ctx().request_repaint_after_secs(secs as f32);
    }
    let problems = problems_points(file);
    let size = vec2(ui.available_width(), (ui.available_height() - problems - STATUS_POINTS - SPACE[1]).max(80.0));
    let is_wide = size.x >= SIDE_BY_SIDE_POINTS;
    let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let (text_rect, preview_rect) = match (file.shows_preview && has_preview(path), is_wide) {
        (false, _) => (Some(rect), None),
        (true, true) => {
            let (left, right) = rect.split_left_right_at_fraction(0.5);
            (Some(left.with_max_x(left.right() - SPACE[0])), Some(right.with_min_x(right.left() + SPACE[1])))
        }
        (true, false) => (None, Some(rect)),
    };
    if let Some(rect) = text_rect {
        let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Min)));
        let hint = match file.tab.status {
            FileStatus::Absent => texts::FILE_DOES_NOT_EXIST,
            _ => texts::FILE_IS_EMPTY,
        };
        let setting = FieldSetting { path, find: &file.find, problems: &file.check.lines, hint, theme };
        field_ui(&mut ui, &mut file.tab, &mut file.field, &setting);
    }
    if let Some(rect) = preview_rect {
        let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Min)));
        ui.set_clip_rect(rect.intersect(ui.clip_rect()));
        if path.to_ascii_lowercase().ends_with(DOCUMENT_EXTENSION) {
            file.document.update(&file.tab.text, file.tab.generation);
            file.document.show(&mut ui, path, cx, commands);
        } else {
            preview_ui(&mut ui, path, &file.tab.chunks.text, file.tab.chunks.count() == 1, theme, commands);
        }
    }
    problems_ui(ui, path, file, theme);
    status_ui(ui, path, file, theme);
}

fn has_preview(path: &str) -> bool {
    Language::of(path) == Some(Language::Markdown)
}

fn problems_points(file: &OpenFile) -> f32 {
    let rows = file.check.problems.len() + usize::from(file.check.skipped_reason.is_some());
    (rows as f32 * PROBLEM_ROW_POINTS).min(MAX_PROBLEMS_POINTS) + if rows > 0 { SPACE[1] } else { 0.0 }
}

/// Lists the problems with their lines and remedies. A click moves the cursor there.
fn problems_ui(ui: &mut Ui, path: &str, file: &mut OpenFile, theme: &Theme) {
    if let Some(why) = &file.check.skipped_reason {
        ui.label(widgets::small(why, theme));
    }
    let problems = file.check.problems.clone();
    if problems.is_empty() {
        return;
    }
    let scroll =
        ScrollArea::vertical().id_salt(("problems", path)).max_height(MAX_PROBLEMS_POINTS).auto_shrink([false, true]);
    ui.spacing_mut().item_spacing.y = 2.0;
    scroll.show_rows(ui, PROBLEM_ROW_POINTS - 2.0, problems.len(), |ui, rows| {
        for problem in &problems[rows] {
            if problem_ui(ui, problem, theme)
                && let Some(line) = problem.line
            {
                file.field.jump = Some(JumpTarget::Line(line));
                file.shows_preview &= ui.available_width() >= SIDE_BY_SIDE_POINTS;
            }
        }
    });
}

fn problem_ui(ui: &mut Ui, problem: &Problem, theme: &Theme) -> bool {
    let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
    let text = texts::problem((problem.line, problem.column), &problem.what, &problem.remedy);
    let label = egui::Label::new(RichText::new(&text).size(TYPE[0]).color(colour)).truncate();
    let size = vec2(ui.available_width(), PROBLEM_ROW_POINTS - 2.0);
    let layout = Layout::left_to_right(Align::Center);
    let label = label.sense(egui::Sense::click()).selectable(false);
    let response = ui.allocate_ui_with_layout(size, layout, |ui| ui.add(label)).inner;
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &text));
    response.on_hover_text(&text).clicked()
}

/// Draws the status line with the cursor position and the size of the file.
fn status_ui(ui: &mut Ui, path: &str, file: &mut OpenFile, theme: &Theme) {
    ui.horizontal(|ui| {
        ui.set_height(STATUS_POINTS - 6.0);
        let cursor = file.field.cursor;
        let (line, column) = (cursor.line + 1, cursor.column + 1);
        let place = texts::cursor_and_size(line, column, file.tab.chunks.lines(), file.tab.text.len());
        ui.label(widgets::small(place, theme));
        if let Some(why) = file.field.highlights.plain_reason(&file.tab.text) {
            ui.label(widgets::small(why, theme));
        }
        parts_ui(ui, file, theme);
        let hint = widgets::small(texts::KEYS_HINT, theme);
        if file.field.has_focus && ui.available_width() > 240.0 {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(hint));
        }
    })
    .response
    .on_hover_text(path);
}

/// Draws the buttons for switching between the parts of a long text.
fn parts_ui(ui: &mut Ui, file: &mut OpenFile, theme: &Theme) {
    let (number, count) = (file.tab.chunks.number(), file.tab.chunks.count());
    if count < 2 {
        return;
    }
    let mut to = None;
    ui.add_enabled_ui(number > 0, |ui| {
        if widgets::icon_button(ui, Icon::Up, texts::PREVIOUS_PART, false, theme).clicked() {
            to = Some(number - 1);
        }
    });
    ui.label(widgets::small(texts::part(number + 1, count), theme)).on_hover_text(texts::PARTS_HINT);
    ui.add_enabled_ui(number + 1 < count, |ui| {
        if widgets::icon_button(ui, Icon::Down, texts::NEXT_PART, false, theme).clicked() {
            to = Some(number + 1);
        }
    });
    if let Some(start) = to.and_then(|to| file.tab.chunks.start_of(to)) {
        file.field.jump = Some(JumpTarget::Bytes(start.byte..start.byte));
    }
}

fn history_mode_ui(ui: &mut Ui, path: &str, file: &mut OpenFile, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let state = cx.ui;
    let current = file.tab.file_content();
    let setting = HistorySetting {
        path,
        current: &current,
        is_unsaved: file.tab.draft.is_some(),
        now_ms: state.time.now_ms(),
        dates: &state.appearance.dates,
        room: cx.room,
        theme: cx.theme,
    };
    if let Some(version) = history_ui(ui, &mut file.history, &state.texts, &setting) {
        commands.push(file.tab.restore(path, version, state));
    }
}
