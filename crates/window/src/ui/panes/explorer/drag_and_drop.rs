//! Drag and drop: rows onto folders of the tree or into the room, and files from the desktop onto the pane.

use egui::{Align2, CornerRadius, FontId, Id, LayerId, Order, Pos2, Sense, Stroke, StrokeKind, Ui, vec2};

use super::{Explorer, texts};
use crate::base::paths::{file_name, folder_of};
use crate::base::text;
use crate::ui::commands::FilesCommand;
use crate::ui::commands::WindowCommand;
use crate::ui::context::ViewerContext;
use crate::ui::state::ShelfItem;
use crate::ui::widgets;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme};

impl Explorer {
    /// Returns the folder under the pointer as drawn last: empty over the rest of the pane, `None` outside the pane.
    pub(super) fn folder_at(&self, pointer: Pos2) -> Option<String> {
        if !self.is_over(pointer) {
            return None;
        }
        let under = self.shown_folders.iter().find(|(rect, _)| rect.contains(pointer));
        Some(under.map_or_else(String::new, |(_, folder)| folder.clone()))
    }

    fn is_over(&self, pointer: Pos2) -> bool {
        self.pane.is_some_and(|pane| pane.contains(pointer))
    }

    /// Starts dragging a row, with the other selected ones if it is selected.
    pub(super) fn start_drag(&mut self, path: &str) {
        self.dragged = Some(self.paths_with_selection(path));
        let item = self.tracker.profile_of_file(path).cloned().map(ShelfItem::Profile);
        self.out.push(WindowCommand::Drag(item).into());
    }

    /// Returns the folder that the dragged files would be moved into.
    pub(super) fn drop_target(&self, ui: &Ui) -> Option<String> {
        let dragged = self.dragged.as_ref()?;
        let pointer = ui.input(|input| input.pointer.latest_pos())?;
        let folder = self.folder_at(pointer).filter(|folder| !folder.is_empty())?;
        dragged.iter().any(|path| folder_of(path) != folder).then_some(folder)
    }

    /// Draws the current drag and handles its end.
    pub(super) fn drag_ui(&mut self, ui: &Ui, theme: &Theme) -> Option<FilesCommand> {
        self.dragged.as_ref()?;
        let target = self.drop_target(ui);
        let (is_released, pointer, gives_up) =
            ui.input(|input| (input.pointer.any_released(), input.pointer.latest_pos(), !input.focused));
        if is_released || gives_up {
            let dragged = self.dragged.take()?;
            // A drop outside the pane is handled by the room.
            if gives_up || pointer.is_some_and(|pointer| self.is_over(pointer)) {
                self.out.push(WindowCommand::Drag(None).into());
            }
            return target.filter(|_| is_released && !gives_up).map(|folder| FilesCommand::Move(dragged, folder));
        }
        let dragged = self.dragged.as_deref().unwrap_or_default();
        if let Some(pointer) = pointer.filter(|pointer| self.is_over(*pointer)) {
            let what = match dragged {
                [one] => file_name(one).to_owned(),
                several => texts::files(several.len()),
            };
            let label = target.map_or_else(|| what.clone(), |folder| format!("{what} → {folder}/"));
            paint_drag_label(ui, pointer, &text::truncate(&label, 60), theme);
        }
        None
    }

    /// Tells where files from the desktop would go if they were dropped now.
    pub(super) fn drop_hint_ui(&self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let hanging = &cx.ui.transfer.hovering_files;
        if hanging.is_empty() {
            return;
        }
        let pointer = ui.input(|input| input.pointer.latest_pos());
        let folder = pointer.and_then(|pointer| self.folder_at(pointer)).filter(|folder| !folder.is_empty());
        let what = match &hanging[..] {
            [one] => text::truncate(one, 40),
            several => texts::files(several.len()),
        };
        let label = match folder {
            Some(folder) => texts::drop_into(&what, &folder),
            None => texts::drop_here(&what),
        };
        let frame = widgets::card(cx.theme).stroke(Stroke::new(LINE[1], cx.theme.accent)).inner_margin(SPACE[1] as i8);
        frame.show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.add(egui::Label::new(label).wrap().sense(Sense::hover()));
        });
    }
}

fn paint_drag_label(ui: &Ui, pointer: Pos2, label: &str, theme: &Theme) {
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Tooltip, Id::new("held files")));
    let galley = painter.layout_no_wrap(label.to_owned(), FontId::proportional(TYPE[0]), theme.text);
    let card = Align2::LEFT_TOP.anchor_size(pointer + vec2(14.0, 10.0), galley.size() + vec2(14.0, 8.0));
    let rounding = CornerRadius::same(RADIUS[0]);
    painter.rect(card, rounding, theme.panel, Stroke::new(LINE[0], theme.accent), StrokeKind::Outside);
    painter.galley(card.min + vec2(7.0, 4.0), galley, theme.text);
    ui.ctx().set_cursor_icon(egui::CursorIcon::Grabbing);
}
