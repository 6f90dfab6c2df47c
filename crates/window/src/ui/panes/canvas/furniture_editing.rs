//! Furniture editing on the canvas: adds, moves, resizes, mirrors and removes pieces with the mouse.

use std::sync::Arc;

use bevy::math::Vec2;
use egui::{
    Align2, CursorIcon, Frame, Id as WidgetId, Margin, Painter, PointerButton, Pos2, Rect, Response, Sense, Stroke,
    StrokeKind, Ui,
};

use super::texts;
use crate::agent::spawn_position::tenths;
use crate::navigation::furniture::decor_kinds;
use crate::ui::commands::keys::room_widget;
use crate::ui::commands::{CanvasCommand, create, keyboard};
use crate::ui::menus;
use crate::ui::state::RoomView;
use crate::ui::widgets::{self, text_format::capitalised};
use crate::ui::{Command, ViewerContext};
use crate::view::furniture::{self, Guide};
use crate::view::model::{DecorView, RoomModel};
use crate::view::paint;
use crate::view::theme::{LINE, MARK_RADIUS, RADIUS, SPACE, TYPE, Theme};
use crate::workspace::DecorChange;

/// Size of the furniture previews on the bar.
const PICTURE_POINTS: egui::Vec2 = egui::vec2(52.0, 40.0);

/// A piece of furniture being dragged.
#[derive(Clone, Debug, PartialEq)]
struct DraggedFurniture {
    was: DecorView,
    now: DecorView,
    grip: Grip,
    guides: Vec<Guide>,
}

/// Where a piece is grabbed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grip {
    /// Inside the piece, at this offset from its center.
    Body(Vec2),
    /// By this corner, to resize it.
    Corner(Vec2),
}

/// The drag state while furniture is being arranged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FurnitureDrag {
    dragged: Option<DraggedFurniture>,
    /// The last dropped piece before and after the change, and how many more frames it overrides the model.
    dropped: Option<(DecorView, DecorView, u32)>,
    is_panning: bool,
}

/// Number of frames after which the room has applied a dropped change, or refused it.
const DROP_OVERRIDE_FRAMES: u32 = 30;

impl FurnitureDrag {
    /// Whether a piece is being dragged.
    pub(super) fn is_holding(&self) -> bool {
        self.dragged.is_some()
    }

    /// Shows the dragged piece, or else the last dropped one, at its new position in the model.
    pub(super) fn show_held(&mut self, room: &mut RoomModel) {
        let dropped = self.dropped.take().filter(|(was, _, frames)| *frames > 0 && room.decor.contains(was));
        self.dropped = dropped.map(|(was, now, frames)| (was, now, frames - 1));
        let dragged = self.dragged.as_ref().map(|dragged| (&dragged.was, &dragged.now));
        let shown = dragged.or(self.dropped.as_ref().map(|(was, now, _)| (was, now)));
        if let Some((was, now)) = shown
            && let Some(index) = room.decor.iter().position(|decor| decor == was)
        {
            Arc::make_mut(&mut room.decor)[index] = now.clone();
        }
    }

    /// Cancels the drag, which leaves the piece where it was.
    pub(super) fn give_up(&mut self) {
        self.is_panning = false;
        self.dragged = None;
    }

    /// Handles input over the room and draws the arranging UI. Agents and elements below get no input meanwhile.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) {
        let response = ui.interact(rect, WidgetId::new("arranging furniture"), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, texts::FURNITURE));
        if response.clicked() || response.drag_started() {
            // It lies over the room, for which the keys are.
            keyboard::choose(ui.ctx(), room_widget());
        }
        super::pan_and_zoom(ui, &response, &mut view.camera, self.is_panning);
        self.handle(ui, &response, cx, view, commands);
        self.paint(&ui.painter_at(rect), cx, view);
        bar_ui(ui, rect, cx, view, commands);
    }

    fn handle(
        &mut self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) {
        let camera = view.camera;
        let decor = &cx.room.decor;
        let Some(arranging) = &mut view.arranging else { return };
        if response.clicked()
            && let Some(pointer) = response.interact_pointer_pos()
        {
            arranging.chosen = furniture::decor_at(decor, camera.to_world(pointer)).cloned();
        }
        if response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|input| input.pointer.press_origin())
        {
            let place = camera.to_world(origin);
            let chosen = arranging.chosen_in(cx.room);
            let corner = chosen.and_then(|decor| Some((decor, furniture::corner_at(decor, place, camera.zoom)?)));
            let grasped = match corner {
                Some((decor, corner)) => Some((decor.clone(), Grip::Corner(corner))),
                None => {
                    furniture::decor_at(decor, place).map(|decor| (decor.clone(), Grip::Body(place - decor.position)))
                }
            };
            self.is_panning = grasped.is_none();
            self.dragged =
                grasped.map(|(was, grip)| DraggedFurniture { now: was.clone(), was, grip, guides: Vec::new() });
            arranging.chosen = self.dragged.as_ref().map(|dragged| dragged.was.clone()).or(arranging.chosen.take());
        }
        let is_exact = ui.input(|input| create::is_exact(input.modifiers));
        if let (Some(dragged), Some(pointer)) = (&mut self.dragged, response.interact_pointer_pos()) {
            dragged.drag_to(camera.to_world(pointer), decor, camera.zoom, is_exact);
        }
        let is_turned_away = !ui.input(|input| input.focused);
        if is_turned_away {
            self.give_up();
        } else if response.drag_stopped() {
            self.is_panning = false;
            if let Some(DraggedFurniture { was, now, .. }) =
                self.dragged.take().filter(|dragged| dragged.was != dragged.now)
            {
                arranging.chosen = Some(now.clone());
                self.dropped = Some((was.clone(), now.clone(), DROP_OVERRIDE_FRAMES));
                commands.push(create::furnish(DecorChange::Change { was, now }));
            }
        }
        if response.hovered() {
            let over = response.hover_pos().map(|pointer| camera.to_world(pointer));
            let is_over = over.is_some_and(|place| furniture::decor_at(decor, place).is_some());
            ui.ctx().set_cursor_icon(if is_over { CursorIcon::Grab } else { CursorIcon::Default });
        }
    }

    /// Paints the outline and resize handles of the chosen piece, and the guides that it snaps to.
    fn paint(&self, painter: &Painter, cx: &ViewerContext<'_>, view: &RoomView) {
        let (theme, camera) = (cx.theme, view.camera);
        let shown = match &self.dragged {
            Some(dragged) => Some(&dragged.now),
            None => view.arranging.as_ref().and_then(|arranging| arranging.chosen_in(cx.room)),
        };
        let Some(decor) = shown else { return };
        let rect = camera.rect_to_screen(decor.position, decor.size);
        let stroke = Stroke::new(LINE[2], theme.accent);
        painter.rect_stroke(rect.expand(2.0), f32::from(RADIUS[0]), stroke, StrokeKind::Outside);
        if furniture::can_be_resized(&decor.kind) {
            for corner in [rect.left_top(), rect.right_top(), rect.left_bottom(), rect.right_bottom()] {
                let handle = Rect::from_center_size(corner, egui::Vec2::splat(SPACE[1]));
                painter.rect(handle, f32::from(MARK_RADIUS), theme.panel, stroke, StrokeKind::Inside);
            }
        }
        let thin = Stroke::new(LINE[0], theme.accent);
        for guide in self.dragged.iter().flat_map(|dragged| &dragged.guides) {
            match guide {
                Guide::Upright(x) => {
                    painter.vline(camera.to_screen(Vec2::new(*x, 0.0)).x, camera.viewport.y_range(), thin)
                }
                Guide::Level(y) => {
                    painter.hline(camera.viewport.x_range(), camera.to_screen(Vec2::new(0.0, *y)).y, thin)
                }
            };
        }
    }
}

impl DraggedFurniture {
    fn drag_to(&mut self, pointer: Vec2, all: &[DecorView], zoom: f32, is_exact: bool) {
        match self.grip {
            Grip::Corner(corner) => self.now = furniture::resized(&self.was, corner, pointer, is_exact),
            Grip::Body(offset) => {
                let moved = DecorView { position: pointer - offset, ..self.was.clone() };
                let others: Vec<DecorView> =
                    all.iter().filter(|other| **other != self.was && **other != self.now).cloned().collect();
                (self.now, self.guides) =
                    if is_exact { (moved, Vec::new()) } else { furniture::snapped(&moved, &others, zoom) };
            }
        }
        // Scenes store tenths of a unit.
        self.now.position = tenths(self.now.position);
        self.now.size = tenths(self.now.size);
    }
}

/// Draws the bar at the top of the room: the kinds of furniture, and actions for the chosen piece.
fn bar_ui(ui: &mut Ui, rect: Rect, cx: &ViewerContext<'_>, view: &mut RoomView, commands: &mut Vec<Command>) {
    let theme = cx.theme;
    let width = (rect.width() - 2.0 * SPACE[2]).max(120.0);
    egui::Area::new(WidgetId::new("furniture bar"))
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(rect.center_top() + egui::vec2(0.0, SPACE[2]))
        .constrain_to(rect)
        .show(ui.ctx(), |ui| {
            let frame =
                Frame::new().fill(theme.panel).stroke(Stroke::new(LINE[0], theme.line)).corner_radius(RADIUS[1]);
            frame.inner_margin(Margin::same(SPACE[1] as i8)).show(ui, |ui| {
                ui.set_max_width(width);
                ui.horizontal_wrapped(|ui| {
                    for kind in decor_kinds() {
                        if kind_button(ui, kind, cx, theme) {
                            let piece = furniture::new_piece(kind, view.camera.middle, &cx.room.decor);
                            if let Some(arranging) = &mut view.arranging {
                                arranging.chosen = Some(piece.clone());
                            }
                            commands.push(create::furnish(DecorChange::Add { decor: piece, at: None }));
                            // The keys are for the new piece.
                            keyboard::choose(ui.ctx(), room_widget());
                        }
                    }
                });
                let chosen = view.arranging.as_ref().and_then(|arranging| arranging.chosen_in(cx.room));
                let caption = chosen.map_or_else(
                    || texts::ARRANGE_HINT.to_owned(),
                    |decor| texts::piece(&decor.kind, decor.size.x, decor.size.y),
                );
                widgets::line(
                    ui,
                    "arranging",
                    |ui| drop(ui.label(widgets::small(caption, theme))),
                    |ui| {
                        for (name, id) in [(texts::MIRROR, "furniture.turn"), (texts::REMOVE, "room.delete")] {
                            let button = ui.add_enabled(chosen.is_some(), egui::Button::new(name));
                            if button.on_hover_text(menus::tip(ui.ctx(), cx.table, id)).clicked() {
                                commands.extend(menus::run(cx, id));
                            }
                        }
                        if widgets::primary(ui, true, texts::DONE, theme).clicked() {
                            commands.push(CanvasCommand::ToggleArranging.into());
                        }
                    },
                );
            });
        });
}

/// Draws a button with a kind's picture and name, and returns whether it was clicked.
fn kind_button(ui: &mut Ui, kind: &str, cx: &ViewerContext<'_>, theme: &Theme) -> bool {
    let size = PICTURE_POINTS + egui::vec2(SPACE[1], TYPE[0] + SPACE[2]);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, texts::add_kind(kind)));
    let ground = if response.hovered() || response.has_focus() {
        widgets::mix(theme.card, theme.accent, 0.12)
    } else {
        theme.card
    };
    let line = if response.has_focus() { theme.accent } else { theme.line };
    ui.painter().rect(rect, f32::from(RADIUS[0]), ground, Stroke::new(LINE[0], line), StrokeKind::Inside);
    let usual = DecorView { kind: kind.into(), position: Vec2::ZERO, size: DecorView::usual_size(kind), turned: false };
    let shown = Rect::from_min_size(rect.min + egui::Vec2::splat(SPACE[0]), PICTURE_POINTS);
    if furniture::is_flat(kind) {
        // Light is only visible on a floor.
        ui.painter().rect_filled(shown, f32::from(RADIUS[0]), theme.floor);
    }
    paint::furniture_picture(ui.painter(), fitted(shown, usual.size), &usual, cx.art, *theme);
    let at: Pos2 = rect.center_bottom() - egui::vec2(0.0, SPACE[0]);
    ui.painter().text(at, Align2::CENTER_BOTTOM, capitalised(kind), egui::FontId::proportional(TYPE[0]), theme.text);
    response.clicked()
}

/// Returns the largest rectangle with the aspect ratio of `size`, centered in `within`.
fn fitted(within: Rect, size: Vec2) -> Rect {
    let scale = (within.width() / size.x).min(within.height() / size.y);
    Rect::from_center_size(within.center(), egui::vec2(size.x, size.y) * scale)
}
