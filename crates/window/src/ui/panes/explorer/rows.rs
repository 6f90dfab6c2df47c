//! Draws the visible rows of the tree and handles clicks, drags and hovering.

use std::borrow::Cow;

use egui::accesskit::Role;
use egui::{EventFilter, Popup, Rect, Response, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, pos2, vec2};

use super::icons::kind_of_file;
use super::row::{ROW_POINTS, RowIcon, RowLook, paint_row};
use super::tree::{Row, RowKind, RowTarget};
use super::{Explorer, filter_id, texts, tree_id};
use crate::base::paths::file_name;
use crate::ui::commands::FilesCommand;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::{RADIUS, TYPE, Theme};

impl Explorer {
    /// Draws the tree and returns the resulting commands.
    pub(super) fn tree_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<FilesCommand> {
        let theme = cx.theme;
        let mut requests = Vec::new();
        let area = ui.available_rect_before_wrap();
        let background = ui.interact(area, tree_id(), Sense::click());
        self.background_ui(ui, &background, cx, &mut requests);
        self.shown_folders.clear();
        self.rows_drawn = 0;
        self.page_rows = (area.height() / ROW_POINTS) as usize;
        if self.tree.rows().is_empty() {
            self.empty_ui(ui, theme, &mut requests);
            return requests;
        }
        let drop_target = self.drop_target(ui);
        // While the search field has focus, the row that Enter would open is highlighted.
        let is_typing = ui.memory(|memory| memory.has_focus(filter_id()));
        let best = self.best().filter(|_| is_typing).map(RowTarget::File);
        ScrollArea::vertical().id_salt("files").auto_shrink(false).show_viewport(ui, |ui, viewport| {
            let count = self.tree.rows().len();
            ui.set_height(count as f32 * ROW_POINTS);
            let origin = ui.max_rect().min;
            let width = ui.max_rect().width();
            let place = |index: usize| {
                Rect::from_min_size(pos2(origin.x, origin.y + index as f32 * ROW_POINTS), vec2(width, ROW_POINTS))
            };
            if std::mem::take(&mut self.scrolls_to_active)
                && let Some(index) = self.active.as_ref().and_then(|active| self.tree.find(active))
            {
                ui.scroll_to_rect(place(index), None);
            }
            let first = (viewport.min.y / ROW_POINTS).max(0.0) as usize;
            let last = ((viewport.max.y / ROW_POINTS).ceil().max(0.0) as usize).min(count);
            for index in first..last {
                let Some(row) = self.tree.rows().get(index).copied() else { break };
                let marked = (drop_target.as_deref(), best.as_ref());
                self.row_ui(ui, (index, row, place(index)), marked, cx, &mut requests);
            }
            self.rows_drawn = last.saturating_sub(first);
        });
        requests
    }

    /// Handles the area behind the rows, which holds keyboard focus for all of them.
    fn background_ui(
        &mut self,
        ui: &Ui,
        background: &Response,
        cx: &ViewerContext<'_>,
        requests: &mut Vec<FilesCommand>,
    ) {
        ui.ctx().accesskit_node_builder(background.id, |node| {
            node.set_role(Role::Tree);
            node.set_label(texts::FILES);
        });
        if background.clicked() {
            self.selected.clear();
            self.active = None;
        }
        if background.clicked() || std::mem::take(&mut self.wants_tree) {
            background.request_focus();
            if self.active.is_none() && !background.clicked() {
                self.active = self
                    .best()
                    .map(RowTarget::File)
                    .or_else(|| self.tree.rows().first().map(|row| self.tree.target_of(*row)));
                self.scrolls_to_active = true;
            }
        }
        if background.has_focus() {
            let filter = EventFilter { tab: false, horizontal_arrows: true, vertical_arrows: true, escape: true };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(background.id, filter));
        }
        if background.secondary_clicked() {
            self.active = None;
        }
        let mut commands = Vec::new();
        Popup::context_menu(background).show(|ui| commands = self.menu_ui(ui, None, cx));
        self.route_commands(commands, requests);
    }

    fn empty_ui(&self, ui: &mut Ui, theme: &Theme, requests: &mut Vec<FilesCommand>) {
        if self.tree.filter().is_active() {
            widgets::empty(ui, Icon::Search, texts::NO_RESULTS, texts::TRY_A_SHORTER_SEARCH, theme);
            return;
        }
        widgets::empty(ui, Icon::Folder, texts::NO_FILES, texts::HOW_TO_ADD_FILES, theme);
        ui.vertical_centered(|ui| {
            if widgets::primary(ui, true, texts::CREATE_FIRST_FILE, theme).clicked() {
                requests.push(FilesCommand::New(String::new()));
            }
        });
    }

    fn row_ui(
        &mut self,
        ui: &mut Ui,
        (index, row, rect): (usize, Row, Rect),
        (drop_target, best): (Option<&str>, Option<&RowTarget>),
        cx: &ViewerContext<'_>,
        requests: &mut Vec<FilesCommand>,
    ) {
        let theme = cx.theme;
        let target = self.tree.target_of(row);
        if let RowTarget::Folder(folder) = &target {
            self.shown_folders.push((rect, folder.clone()));
        }
        let is_active = self.active.as_ref() == Some(&target);
        // Arrow keys move between rows; a Tab stop on each row would be in the way.
        let response = ui.interact(rect, tree_id().with(target_key(&target)), Sense::CLICK | Sense::DRAG);
        self.describe(ui, &response, row, &target, cx);
        let has_keys = ui.memory(|memory| memory.has_focus(tree_id()));
        let restore_points = self.restore_ui(ui, rect, &target, theme, requests);
        let aside = self.aside(row, cx);
        let mut look = self.look(row, &target, cx);
        look.is_active = (is_active && has_keys) || best == Some(&target);
        look.is_hovered = response.hovered();
        look.is_drop_target = matches!(&target, RowTarget::Folder(folder) if Some(folder.as_str()) == drop_target);
        look.reserved_points = restore_points;
        look.aside = aside.as_deref().map(Cow::Borrowed);
        paint_row(ui, rect, &look, theme);
        self.row_menu(ui, &response, &target, is_active, cx, requests);
        if response.drag_started()
            && let RowTarget::File(path) = &target
        {
            self.start_drag(path);
        }
        if response.clicked() {
            ui.memory_mut(|memory| memory.request_focus(tree_id()));
            self.handle_click(ui, index, &target, requests);
        }
        self.row_tooltip(response, row, aside, cx);
    }

    /// Describes a row to screen readers.
    fn describe(&self, ui: &Ui, response: &Response, row: Row, target: &RowTarget, cx: &ViewerContext<'_>) {
        let is_chosen = matches!(target, RowTarget::File(path) if self.selected.contains(path));
        let name = match (row.kind, target) {
            (RowKind::File(file), _) => self.accessible_row_name(self.tree.file(file), cx),
            (_, RowTarget::Folder(folder)) => texts::folder_row(folder),
            (_, RowTarget::Deleted(path)) => texts::deleted_row(path),
            _ => texts::BIN.to_owned(),
        };
        response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, name.clone()));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_role(Role::TreeItem);
            node.set_level(row.depth + 1);
            match row.kind {
                RowKind::Folder(folder) => node.set_expanded(self.tree.is_open(folder)),
                RowKind::Bin => node.set_expanded(self.tree.is_bin_open()),
                RowKind::File(_) | RowKind::Deleted(_) => {}
            }
        });
    }

    fn look<'a>(&'a self, row: Row, target: &RowTarget, cx: &ViewerContext<'_>) -> RowLook<'a> {
        let plain = |icon, name| RowLook {
            icon,
            depth: row.depth,
            name,
            marked: self.tree.filter().search_terms(),
            is_chosen: false,
            is_active: false,
            is_hovered: false,
            is_drop_target: false,
            is_deleted: false,
            is_changed: false,
            is_unsaved: false,
            status: None,
            severity: None,
            aside: None,
            reserved_points: 0.0,
        };
        match row.kind {
            RowKind::Folder(folder) => {
                plain(RowIcon::Folder(self.tree.is_open(folder)), file_name(self.tree.folder_path(folder)))
            }
            RowKind::Bin => RowLook { is_deleted: true, ..plain(RowIcon::Bin(self.tree.is_bin_open()), texts::BIN) },
            RowKind::Deleted(file) => {
                let file = self.tree.file(file);
                RowLook { is_deleted: true, ..plain(RowIcon::File(kind_of_file(&file.path, file.kind)), &file.path) }
            }
            RowKind::File(file) => {
                let file = self.tree.file(file);
                RowLook {
                    is_chosen: matches!(target, RowTarget::File(path) if self.selected.contains(path)),
                    is_changed: self.is_changed(file),
                    is_unsaved: cx.is_unsaved(&file.path),
                    status: self.profile_status(&file.path),
                    severity: self.tracker.problems_of(&file.path).map(|problems| problems.severity),
                    ..plain(RowIcon::File(kind_of_file(&file.path, file.kind)), file_name(&file.path))
                }
            }
        }
    }

    /// Returns the short note at the right end of a row.
    fn aside(&self, row: Row, cx: &ViewerContext<'_>) -> Option<String> {
        match row.kind {
            RowKind::Folder(folder) if !self.tree.is_open(folder) => Some(self.tree.total_in(folder).to_string()),
            RowKind::Deleted(file) => Some(self.deletion_text(self.tree.file(file), cx)),
            RowKind::Bin => Some(texts::files(self.tree.deleted_count())),
            _ => None,
        }
    }

    /// Draws the Restore button of a deleted file. Returns the width that it takes.
    fn restore_ui(
        &self,
        ui: &Ui,
        rect: Rect,
        target: &RowTarget,
        theme: &Theme,
        requests: &mut Vec<FilesCommand>,
    ) -> f32 {
        let RowTarget::Deleted(path) = target else { return 0.0 };
        let font = egui::FontId::proportional(TYPE[0]);
        let galley = ui.painter().layout_no_wrap(texts::RESTORE.to_owned(), font, theme.accent);
        let size = galley.size() + vec2(12.0, 0.0);
        let place = Rect::from_min_max(pos2(rect.right() - size.x - 4.0, rect.top() + 2.0), rect.max - vec2(4.0, 2.0));
        let response = ui.interact(place, tree_id().with(("restore", path)), Sense::CLICK);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, texts::restore_file(path)));
        let share = if response.hovered() { 0.22 } else { 0.08 };
        ui.painter().rect_filled(place, RADIUS[0], widgets::mix(theme.panel, theme.accent, share));
        ui.painter().galley(place.center() - galley.size() / 2.0, galley, theme.accent);
        if response.clicked() {
            requests.push(FilesCommand::Restore(vec![path.clone()]));
        }
        size.x + 6.0
    }

    fn row_menu(
        &mut self,
        ui: &Ui,
        response: &Response,
        target: &RowTarget,
        is_active: bool,
        cx: &ViewerContext<'_>,
        requests: &mut Vec<FilesCommand>,
    ) {
        if response.secondary_clicked() {
            self.menu_at = None;
            if let RowTarget::File(path) = target
                && !self.selected.contains(path)
            {
                self.selected = [path.clone()].into();
            }
            self.active = Some(target.clone());
        }
        if is_active && std::mem::take(&mut self.wants_menu) {
            self.menu_at = Some(response.rect.left_bottom() + vec2(24.0, 0.0));
            Popup::open_id(ui.ctx(), Popup::default_response_id(response));
        }
        let popup = Popup::context_menu(response);
        let popup = match self.menu_at.filter(|_| is_active) {
            Some(place) => popup.at_position(place),
            None => popup,
        };
        let mut commands = Vec::new();
        popup.show(|ui| commands = self.menu_ui(ui, Some(target), cx));
        self.route_commands(commands, requests);
    }

    fn row_tooltip(&self, response: Response, row: Row, aside: Option<String>, cx: &ViewerContext<'_>) {
        if self.dragged.is_some() {
            return;
        }
        let lines = || match row.kind {
            RowKind::File(file) => self.tooltip_lines(self.tree.file(file), cx),
            RowKind::Deleted(file) => {
                let about = texts::deleted(&aside.unwrap_or_default());
                vec![self.tree.file(file).path.clone(), about]
            }
            RowKind::Folder(folder) => {
                let path = self.tree.folder_path(folder).to_owned();
                vec![path, texts::files(self.tree.total_in(folder))]
            }
            RowKind::Bin => vec![texts::ABOUT_THE_BIN.to_owned()],
        };
        response.on_hover_ui(|ui| {
            for (at, line) in lines().into_iter().enumerate() {
                let text = if at == 0 { egui::RichText::new(line) } else { widgets::small(line, cx.theme) };
                ui.add(egui::Label::new(text).wrap());
            }
        });
    }

    fn handle_click(&mut self, ui: &Ui, index: usize, target: &RowTarget, requests: &mut Vec<FilesCommand>) {
        let modifiers = ui.input(|input| input.modifiers);
        match target {
            RowTarget::File(_) if modifiers.shift => self.select_up_to(index),
            RowTarget::File(path) if modifiers.command => {
                if !self.selected.remove(path) {
                    self.selected.insert(path.clone());
                }
                self.anchor = Some(target.clone());
            }
            RowTarget::File(path) => {
                self.anchor = Some(target.clone());
                self.choose(path);
                requests.push(FilesCommand::Open(vec![path.clone()]));
            }
            RowTarget::Folder(folder) => {
                self.selected.clear();
                // All folders are expanded during a search.
                if !self.tree.filter().is_active() {
                    self.toggle(folder);
                }
            }
            RowTarget::Bin => self.remembered.is_bin_open = !self.remembered.is_bin_open,
            RowTarget::Deleted(_) => self.selected.clear(),
        }
        self.active = Some(target.clone());
    }

    /// Selects all files between the anchor and this row.
    pub(super) fn select_up_to(&mut self, index: usize) {
        let anchor = self.anchor.as_ref().or(self.active.as_ref()).and_then(|anchor| self.tree.find(anchor));
        let from = anchor.unwrap_or(index);
        let rows = &self.tree.rows()[from.min(index)..=from.max(index)];
        let files = rows.iter().filter_map(|row| match row.kind {
            RowKind::File(file) => Some(self.tree.file(file).path.clone()),
            _ => None,
        });
        self.selected = files.collect();
        if self.anchor.is_none() {
            self.anchor = self.tree.rows().get(from).map(|row| self.tree.target_of(*row));
        }
    }
}

/// Returns a key that is unique to each row, for widget ids.
fn target_key(target: &RowTarget) -> (u8, &str) {
    match target {
        RowTarget::Folder(path) => (0, path),
        RowTarget::File(path) => (1, path),
        RowTarget::Bin => (2, ""),
        RowTarget::Deleted(path) => (3, path),
    }
}
