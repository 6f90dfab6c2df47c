//! Draws the tree: only the rows on screen, which can be clicked, dragged and hovered over.

use std::borrow::Cow;

use egui::accesskit::Role;
use egui::{EventFilter, Popup, Rect, Response, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, pos2, vec2};

use super::icons::kind_of_file;
use super::row::{ROW_POINTS, RowLook, Sign, paint_row};
use super::tree::{Row, RowTarget, RowWhat, name_of};
use super::{Explorer, filter_id, texts, tree_id};
use crate::ui::commands::FilesCommand;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::{RADIUS, TYPE, Theme};

impl Explorer {
    /// Draws the tree.
    pub(super) fn tree_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<FilesCommand> {
        let theme = cx.theme;
        let mut asks = Vec::new();
        let area = ui.available_rect_before_wrap();
        let ground = ui.interact(area, tree_id(), Sense::click());
        self.ground_ui(ui, &ground, cx, &mut asks);
        self.shown_folders.clear();
        self.rows_drawn = 0;
        self.page_rows = (area.height() / ROW_POINTS) as usize;
        if self.tree.rows().is_empty() {
            self.empty_ui(ui, theme, &mut asks);
            return asks;
        }
        let target = self.target(ui);
        // What Enter would open while something is typed.
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
            if std::mem::take(&mut self.shows_active)
                && let Some(index) = self.active.as_ref().and_then(|active| self.tree.find(active))
            {
                ui.scroll_to_rect(place(index), None);
            }
            let first = (viewport.min.y / ROW_POINTS).max(0.0) as usize;
            let last = ((viewport.max.y / ROW_POINTS).ceil().max(0.0) as usize).min(count);
            for index in first..last {
                let Some(row) = self.tree.rows().get(index).copied() else { break };
                let marked = (target.as_deref(), best.as_ref());
                self.row_ui(ui, (index, row, place(index)), marked, cx, &mut asks);
            }
            self.rows_drawn = last.saturating_sub(first);
        });
        asks
    }

    /// What lies behind the rows has the keyboard for all of them.
    fn ground_ui(&mut self, ui: &Ui, ground: &Response, cx: &ViewerContext<'_>, asks: &mut Vec<FilesCommand>) {
        ui.ctx().accesskit_node_builder(ground.id, |node| {
            node.set_role(Role::Tree);
            node.set_label(texts::FILES);
        });
        if ground.clicked() {
            self.selected.clear();
            self.active = None;
        }
        if ground.clicked() || std::mem::take(&mut self.wants_tree) {
            ground.request_focus();
            if self.active.is_none() && !ground.clicked() {
                self.active = self
                    .best()
                    .map(RowTarget::File)
                    .or_else(|| self.tree.rows().first().map(|row| self.tree.spot(*row)));
                self.shows_active = true;
            }
        }
        if ground.has_focus() {
            let filter = EventFilter { tab: false, horizontal_arrows: true, vertical_arrows: true, escape: true };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(ground.id, filter));
        }
        if ground.secondary_clicked() {
            self.active = None;
        }
        let mut commands = Vec::new();
        Popup::context_menu(ground).show(|ui| commands = self.menu_ui(ui, None, cx));
        self.sort_out(commands, asks);
    }

    fn empty_ui(&self, ui: &mut Ui, theme: &Theme, asks: &mut Vec<FilesCommand>) {
        if self.tree.filter().is_on() {
            widgets::empty(ui, Icon::Search, texts::NO_RESULTS, texts::TRY_A_SHORTER_SEARCH, theme);
            return;
        }
        widgets::empty(ui, Icon::Folder, texts::NO_FILES, texts::HOW_TO_ADD_FILES, theme);
        ui.vertical_centered(|ui| {
            if widgets::primary(ui, true, texts::CREATE_FIRST_FILE, theme).clicked() {
                asks.push(FilesCommand::New(String::new()));
            }
        });
    }

    fn row_ui(
        &mut self,
        ui: &mut Ui,
        (index, row, rect): (usize, Row, Rect),
        (target, best): (Option<&str>, Option<&RowTarget>),
        cx: &ViewerContext<'_>,
        asks: &mut Vec<FilesCommand>,
    ) {
        let theme = cx.theme;
        let spot = self.tree.spot(row);
        if let RowTarget::Folder(folder) = &spot {
            self.shown_folders.push((rect, folder.clone()));
        }
        let is_active = self.active.as_ref() == Some(&spot);
        // Keys lead from row to row; a stop at each for Tab would be in the way.
        let response = ui.interact(rect, tree_id().with(spot_key(&spot)), Sense::CLICK | Sense::DRAG);
        self.describe(ui, &response, row, &spot, cx);
        let has_keys = ui.memory(|memory| memory.has_focus(tree_id()));
        let restore_points = self.restore_ui(ui, rect, &spot, theme, asks);
        let aside = self.aside(row, cx);
        let mut look = self.look(row, &spot, cx);
        look.is_active = (is_active && has_keys) || best == Some(&spot);
        look.is_hovered = response.hovered();
        look.is_target = matches!(&spot, RowTarget::Folder(folder) if Some(folder.as_str()) == target);
        look.taken_points = restore_points;
        look.aside = aside.as_deref().map(Cow::Borrowed);
        paint_row(ui, rect, &look, theme);
        self.row_menu(ui, &response, &spot, is_active, cx, asks);
        if response.drag_started()
            && let RowTarget::File(path) = &spot
        {
            self.take_up(path);
        }
        if response.clicked() {
            ui.memory_mut(|memory| memory.request_focus(tree_id()));
            self.click(ui, index, &spot, asks);
        }
        self.row_tip(response, row, aside, cx);
    }

    /// A row for those who cannot see it.
    fn describe(&self, ui: &Ui, response: &Response, row: Row, spot: &RowTarget, cx: &ViewerContext<'_>) {
        let is_chosen = matches!(spot, RowTarget::File(path) if self.selected.contains(path));
        let name = match (row.what, spot) {
            (RowWhat::File(file), _) => self.row_name(self.tree.file(file), cx),
            (_, RowTarget::Folder(folder)) => texts::folder_row(folder),
            (_, RowTarget::Gone(path)) => texts::deleted_row(path),
            _ => texts::BIN.to_owned(),
        };
        response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, name.clone()));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_role(Role::TreeItem);
            node.set_level(row.depth + 1);
            match row.what {
                RowWhat::Folder(folder) => node.set_expanded(self.tree.is_open(folder)),
                RowWhat::Bin => node.set_expanded(self.tree.is_bin_open()),
                RowWhat::File(_) | RowWhat::Gone(_) => {}
            }
        });
    }

    fn look<'a>(&'a self, row: Row, spot: &RowTarget, cx: &ViewerContext<'_>) -> RowLook<'a> {
        let plain = |sign, name| RowLook {
            sign,
            depth: row.depth,
            name,
            marked: self.tree.filter().search_terms(),
            is_chosen: false,
            is_active: false,
            is_hovered: false,
            is_target: false,
            is_gone: false,
            is_changed: false,
            is_unsaved: false,
            standing: None,
            wrong: None,
            aside: None,
            taken_points: 0.0,
        };
        match row.what {
            RowWhat::Folder(folder) => {
                plain(Sign::Folder(self.tree.is_open(folder)), name_of(self.tree.folder_path(folder)))
            }
            RowWhat::Bin => RowLook { is_gone: true, ..plain(Sign::Bin(self.tree.is_bin_open()), texts::BIN) },
            RowWhat::Gone(file) => {
                let file = self.tree.file(file);
                RowLook { is_gone: true, ..plain(Sign::File(kind_of_file(&file.path, file.kind)), &file.path) }
            }
            RowWhat::File(file) => {
                let file = self.tree.file(file);
                RowLook {
                    is_chosen: matches!(spot, RowTarget::File(path) if self.selected.contains(path)),
                    is_changed: self.is_changed(file),
                    is_unsaved: cx.is_unsaved(&file.path),
                    standing: self.profile_status(&file.path),
                    wrong: self.watch.wrong(&file.path).map(|wrong| wrong.severity),
                    ..plain(Sign::File(kind_of_file(&file.path, file.kind)), name_of(&file.path))
                }
            }
        }
    }

    /// The mark beside a name that does not concern the file itself.
    fn aside(&self, row: Row, cx: &ViewerContext<'_>) -> Option<String> {
        match row.what {
            RowWhat::Folder(folder) if !self.tree.is_open(folder) => Some(self.tree.total_in(folder).to_string()),
            RowWhat::Gone(file) => Some(self.gone_words(self.tree.file(file), cx)),
            RowWhat::Bin => Some(texts::files(self.tree.gone_count())),
            _ => None,
        }
    }

    /// The button that has a file back; how much place it takes.
    fn restore_ui(&self, ui: &Ui, rect: Rect, spot: &RowTarget, theme: &Theme, asks: &mut Vec<FilesCommand>) -> f32 {
        let RowTarget::Gone(path) = spot else { return 0.0 };
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
            asks.push(FilesCommand::Restore(vec![path.clone()]));
        }
        size.x + 6.0
    }

    fn row_menu(
        &mut self,
        ui: &Ui,
        response: &Response,
        spot: &RowTarget,
        is_active: bool,
        cx: &ViewerContext<'_>,
        asks: &mut Vec<FilesCommand>,
    ) {
        if response.secondary_clicked() {
            self.menu_at = None;
            if let RowTarget::File(path) = spot
                && !self.selected.contains(path)
            {
                self.selected = [path.clone()].into();
            }
            self.active = Some(spot.clone());
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
        popup.show(|ui| commands = self.menu_ui(ui, Some(spot), cx));
        self.sort_out(commands, asks);
    }

    fn row_tip(&self, response: Response, row: Row, aside: Option<String>, cx: &ViewerContext<'_>) {
        if self.dragged.is_some() {
            return;
        }
        let lines = || match row.what {
            RowWhat::File(file) => self.tip(self.tree.file(file), cx),
            RowWhat::Gone(file) => {
                let about = texts::deleted(&aside.unwrap_or_default());
                vec![self.tree.file(file).path.clone(), about]
            }
            RowWhat::Folder(folder) => {
                let path = self.tree.folder_path(folder).to_owned();
                vec![path, texts::files(self.tree.total_in(folder))]
            }
            RowWhat::Bin => vec![texts::ABOUT_THE_BIN.to_owned()],
        };
        response.on_hover_ui(|ui| {
            for (at, line) in lines().into_iter().enumerate() {
                let text = if at == 0 { egui::RichText::new(line) } else { widgets::small(line, cx.theme) };
                ui.add(egui::Label::new(text).wrap());
            }
        });
    }

    fn click(&mut self, ui: &Ui, index: usize, spot: &RowTarget, asks: &mut Vec<FilesCommand>) {
        let modifiers = ui.input(|input| input.modifiers);
        match spot {
            RowTarget::File(_) if modifiers.shift => self.select_up_to(index),
            RowTarget::File(path) if modifiers.command => {
                if !self.selected.remove(path) {
                    self.selected.insert(path.clone());
                }
                self.anchor = Some(spot.clone());
            }
            RowTarget::File(path) => {
                self.anchor = Some(spot.clone());
                self.choose(path);
                asks.push(FilesCommand::Open(vec![path.clone()]));
            }
            RowTarget::Folder(folder) => {
                self.selected.clear();
                // While something is looked for all folders are open.
                if !self.tree.filter().is_on() {
                    self.toggle(folder);
                }
            }
            RowTarget::Bin => self.remembered.is_bin_open = !self.remembered.is_bin_open,
            RowTarget::Gone(_) => self.selected.clear(),
        }
        self.active = Some(spot.clone());
    }

    /// Selects the files from where the selection began up to this row.
    pub(super) fn select_up_to(&mut self, index: usize) {
        let anchor = self.anchor.as_ref().or(self.active.as_ref()).and_then(|anchor| self.tree.find(anchor));
        let from = anchor.unwrap_or(index);
        let rows = &self.tree.rows()[from.min(index)..=from.max(index)];
        let files = rows.iter().filter_map(|row| match row.what {
            RowWhat::File(file) => Some(self.tree.file(file).path.clone()),
            _ => None,
        });
        self.selected = files.collect();
        if self.anchor.is_none() {
            self.anchor = self.tree.rows().get(from).map(|row| self.tree.spot(*row));
        }
    }
}

/// Tells the rows apart.
fn spot_key(spot: &RowTarget) -> (u8, &str) {
    match spot {
        RowTarget::Folder(path) => (0, path),
        RowTarget::File(path) => (1, path),
        RowTarget::Bin => (2, ""),
        RowTarget::Gone(path) => (3, path),
    }
}
