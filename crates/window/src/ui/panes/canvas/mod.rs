//! The canvas, which shows the room, and its mouse input: panning, selecting, dragging and dropping.

mod approval_popup;
pub mod debug_overlay;
mod drag;
mod drop_target;
mod furniture_editing;
mod hover_card;
pub mod menu;
mod relationship_editing;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use bevy::math::Vec2;
use egui::{
    CursorIcon, EventFilter, FocusDirection, Id as WidgetId, PointerButton, Popup, Pos2, Rect, Response, Sense, Stroke,
    StrokeKind, Ui,
};

use crate::ui::commands::WindowCommand;
use crate::ui::commands::keyboard;
use crate::ui::commands::keys::room_widget;
use crate::ui::menus::{self, command_tip};
use crate::ui::state::room_view::{self, place_of};
use crate::ui::state::{RelationshipNaming, RoomView, SpaceBar};
use crate::ui::widgets;
use crate::ui::{Command, ViewerContext};
use crate::view::camera::Camera;
use crate::view::counts::{active, need_you};
use crate::view::model::RoomModel;
use crate::view::paint::minimap::MinimapTransform;
use crate::view::paint::{self, Labels, PaintParameters};
use crate::view::pick::{RoomObject, hit_test, opened_at};
use crate::view::spread::Spread;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme};
use crate::workspace::Relationship;
pub use approval_popup::{CARD, shows_preview};
use drag::DragState;
use furniture_editing::FurnitureDrag;
use hover_card::HoverCard;
use relationship_editing::Handles;

const MINIMAP_POINTS: egui::Vec2 = egui::vec2(150.0, 100.0);
/// Size of the debug overlay toggle; its height is also the maximum height of the buttons above the minimap.
const CORNER_BUTTON_POINTS: egui::Vec2 = egui::vec2(128.0, 28.0);
/// Minimum size of the canvas for the minimap to be shown.
const MINIMAP_FITS_POINTS: egui::Vec2 = egui::vec2(420.0, 320.0);

/// Number of ticks after which the room has applied a drop.
const DROP_OVERRIDE_TICKS: u64 = 2;

/// The target of a context menu.
#[derive(Clone, PartialEq, Debug)]
pub enum MenuTarget {
    /// The empty floor.
    Floor,
    /// An agent or element.
    Thing(RoomObject),
    /// A relationship.
    Rope(Relationship),
}

/// State of the canvas between frames.
#[derive(Clone, Debug, Default)]
pub struct Canvas {
    drag: DragState,
    /// The drag state while furniture is being arranged.
    furniture: FurnitureDrag,
    /// Positions of dropped things, shown until the room has applied the move by `dropped_until_tick`.
    dropped: BTreeMap<RoomObject, Vec2>,
    dropped_until_tick: u64,
    handles: Handles,
    /// Label positions of the last frame.
    labels: Labels,
    card: HoverCard,
    /// Agents and elements moved apart near the pointer because they overlap.
    spread: Spread,
    /// The relationship whose label is being edited.
    naming: Option<RelationshipNaming>,
    /// The target of the open menu, its position in the room and, if it was opened by keyboard, its position on screen.
    menu: Option<(MenuTarget, Vec2, Option<Pos2>)>,
    /// Rectangles of the canvas and of the whole window in the last frame.
    last_rects: Option<(Rect, Rect)>,
    had_focus: bool,
    /// Moves the keyboard focus to the next widget (`true`) or the previous one (`false`) in the next frame.
    moves_focus: Option<bool>,
    /// Opens the context menu of the selection in the next frame.
    opens_menu: bool,
    /// Gives the keys to the room in the next frame.
    takes_keys: bool,
}

impl Canvas {
    /// Whether something is being dragged or drawn.
    pub fn is_holding(&self) -> bool {
        !matches!(self.drag, DragState::Idle | DragState::Panning) || self.furniture.is_holding()
    }

    /// Whether an interaction is in progress: dragging, panning with the mouse or editing a label.
    pub fn is_busy(&self) -> bool {
        self.drag != DragState::Idle || self.naming.is_some()
    }

    /// Cancels the drag, which leaves everything where it was.
    pub fn give_up(&mut self) {
        self.drag = DragState::Idle;
        self.furniture.give_up();
    }

    /// Opens the context menu of the selection in the next frame.
    pub fn open_menu(&mut self) {
        self.opens_menu = true;
    }

    /// Gives the keys to the room in the next frame.
    pub fn take_keys(&mut self) {
        self.takes_keys = true;
    }

    /// Moves the keyboard focus to the next widget, or the previous one, in the next frame.
    pub fn leave(&mut self, forward: bool) {
        self.moves_focus = Some(forward);
    }

    /// Opens the field for a relationship's label.
    pub fn name(&mut self, naming: RelationshipNaming) {
        self.naming = Some(naming);
    }

    /// Opens the field for renaming a relationship.
    pub fn rename_rope(&mut self, relationship: Relationship) {
        let label = relationship.label.clone();
        self.naming = Some(RelationshipNaming { relationship, is_new: false, label, asked: false });
    }

    /// Cancels editing a label, and returns whether one was being edited.
    pub fn stop_naming(&mut self) -> bool {
        self.naming.take().is_some()
    }

    /// Discards state that refers to the previous room.
    pub fn forget_room(&mut self) {
        self.naming = None;
    }

    /// Moves overlapping agents and elements near the pointer apart, before anything is picked.
    pub fn spread_out(&mut self, ui: &Ui, cx: &ViewerContext<'_>, view: &RoomView) -> Spread {
        let (pointer, step_secs) = ui.input(|input| (input.pointer.latest_pos(), input.stable_dt.min(0.1)));
        let over = pointer.filter(|pointer| {
            view.camera.viewport.contains(*pointer) && ui.ctx().layer_id_at(*pointer) == Some(ui.layer_id())
        });
        if self.is_holding() || self.naming.is_some() {
            self.spread.end();
        } else if !ui.input(|input| input.pointer.any_down()) {
            let pointer = over.map(|pointer| view.camera.to_world(pointer));
            let step_secs = (!cx.ui.appearance.look.calm).then_some(step_secs);
            if self.spread.follow(cx.room, pointer, view.camera.zoom, step_secs) {
                ui.ctx().request_repaint();
            }
        }
        self.spread.clone()
    }

    /// Handles mouse input in the room, which fills the rest of `ui`.
    pub fn take_input(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) -> Response {
        let rect = ui.available_rect_before_wrap();
        self.update_viewport(ui, rect, cx, view);
        if let Some(forward) = self.moves_focus.take() {
            let direction = if forward { FocusDirection::Next } else { FocusDirection::Previous };
            ui.memory_mut(|memory| memory.move_focus(direction));
        }
        let response = ui.interact(rect, room_widget(), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, texts::ROOM));
        lock_focus(ui, &response);
        let is_clicked = [PointerButton::Primary, PointerButton::Secondary].iter().any(|one| response.clicked_by(*one));
        if std::mem::take(&mut self.takes_keys) || is_clicked || response.drag_started() {
            keyboard::choose(ui.ctx(), room_widget());
        }
        self.handle_drag(ui, &response, cx, view, commands);
        self.move_camera(ui, &response, view);
        self.handle_click(ui, &response, cx, view, commands);
        drop_target::handle_drop(ui, &response, cx, view.camera, commands);
        response
    }

    /// Overrides positions in the model: dragged things are shown at the pointer, and dropped things where they were
    /// dropped until the room has applied the move. `pointer` is in world coordinates.
    pub fn show_held(&mut self, pointer: Option<Vec2>, room: &mut RoomModel) {
        if room.tick >= self.dropped_until_tick {
            self.dropped.clear();
        }
        self.furniture.show_held(room);
        drag::apply_positions(&self.dropped, false, room);
        if let Some(pointer) = pointer {
            drag::apply_positions(&self.drag.drop_positions(pointer), true, room);
        }
    }

    /// Draws the room and its overlays.
    pub fn paint(
        &mut self,
        ui: &mut Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) {
        let ViewerContext { room, recent, theme, art, ui: state, .. } = *cx;
        let (rect, pointer) = (response.rect, ui.input(|input| input.pointer.latest_pos()));
        if let Some(left) = view.note_zoom(ui.input(|input| input.time)) {
            // Things that were scaled during the zoom are laid out again then.
            ui.request_repaint_after_secs(left as f32);
        }
        let painter = ui.painter_at(rect);
        let look = PaintParameters {
            camera: view.camera,
            theme: *theme,
            now_secs: state.time.room_secs,
            selected: state.selection.things(),
            hovered: view.hovered.as_ref(),
            pointer: response.hover_pos(),
            quiet: view.debug_overlay,
            who_knows: state.who_knows.as_deref(),
            still: state.appearance.look.calm,
        };
        let approval_rect = approval_popup::place(cx, view, rect);
        self.labels.reserve(approval_rect);
        paint::room(&painter, room, recent, art, &look, &mut self.labels);
        let drag_and_naming = (&self.drag, self.naming.as_ref());
        self.handles.paint(&painter, (pointer, response.hover_pos()), cx, drag_and_naming, view);
        self.paint_box(&painter, pointer, theme, view);
        drop_target::paint_ghost(ui, &painter, cx, view.camera);
        if view.debug_overlay {
            let seen_from = (&*view, state.selection.things(), self.labels.shown());
            debug_overlay::debug_overlay_ui(&painter, room, recent, theme, seen_from);
        }
        if rect.width() > MINIMAP_FITS_POINTS.x && rect.height() > MINIMAP_FITS_POINTS.y {
            minimap(ui, rect, cx, view);
            ui.scope(|ui| attention_buttons(ui, rect, cx, commands));
        }
        overlay_toggle(ui, rect, cx, view.debug_overlay, commands);
        drop_target::paint_file_drop_hint(&painter, rect, theme, state);
        drop_target::empty_floor_ui(ui, rect, cx);
        let is_free = self.drag == DragState::Idle
            && self.naming.is_none()
            && state.transfer.dragging.is_none()
            && !state.front.is_covered()
            && !view.debug_overlay
            && view.arranging.is_none();
        self.card.show(ui, response, cx, (view.camera, approval_rect), is_free);
        if view.arranging.is_some() {
            self.furniture.show(ui, rect, cx, view, commands);
        }
        if let Some(place) = approval_rect {
            commands.extend(approval_popup::approval_popup_ui(ui, (rect, place), cx, view));
        }
        self.menu(ui, response, cx, view, commands);
        self.naming = relationship_editing::naming_ui(ui, cx, view.camera, self.naming.take(), commands);
    }

    /// Frames a newly opened room. When a panel changes the canvas rectangle, keeps the room where it is on screen, so
    /// that the clicked thing stays under the pointer.
    fn update_viewport(&mut self, ui: &Ui, rect: Rect, cx: &ViewerContext<'_>, view: &mut RoomView) {
        let window = ui.ctx().content_rect();
        if !view.is_framed {
            // A drag in the previous room is void.
            self.drag = DragState::Idle;
            self.dropped.clear();
        } else if let Some((before, _)) = self.last_rects.filter(|(before, was)| *was == window && *before != rect) {
            view.camera.pan(before.center() - rect.center());
        }
        // Panes take a frame or two to reach their final size.
        let is_settled = self.last_rects == Some((rect, window));
        view.camera.viewport = rect;
        if let (Some((before, _)), Some(agent_point)) = (self.last_rects, approval_popup::asker(cx, view)) {
            view.camera.pan(approval_popup::pan_to_keep_visible(agent_point, before, rect));
        }
        self.last_rects = Some((rect, window));
        if !view.is_framed && is_settled && rect.is_positive() {
            // The selection does not affect the initial framing.
            view.frame(cx.room, &BTreeSet::new());
            view.is_framed = true;
        }
    }

    /// Zooms at the pointer and pans the view, and shows by the cursor that the view can be dragged.
    fn move_camera(&mut self, ui: &Ui, response: &Response, view: &mut RoomView) {
        let is_panning = pan_and_zoom(ui, response, &mut view.camera, self.drag == DragState::Panning);
        if !is_panning && view.space_bar != SpaceBar::Up && response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
    }

    /// Starts, updates and ends drags.
    fn handle_drag(
        &mut self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) {
        let (room, camera) = (cx.room, view.camera);
        let under = |point: Pos2| hit_test(room, camera.to_world(point), camera.zoom);
        // While a button is down, the hovered thing stays the one that was pressed.
        if self.drag == DragState::Idle && !ui.input(|input| input.pointer.any_down()) {
            view.hovered = response.hover_pos().and_then(under);
            self.handles.update_hover(response.hover_pos(), room, view);
        }
        let (shift, focused) = ui.input(|input| (input.modifiers.shift, input.focused));
        if response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|input| input.pointer.press_origin())
        {
            let handle = self.handles.at(origin, cx, camera).filter(|_| view.space_bar == SpaceBar::Up);
            self.drag = match handle {
                Some(agent) => DragState::Relating(agent),
                None if view.space_bar != SpaceBar::Up => {
                    view.space_bar = SpaceBar::Used;
                    DragState::Panning
                }
                None => drag::begin_drag(under(origin), camera.to_world(origin), cx, shift, commands),
            };
        }
        let lost_focus = self.had_focus && !focused;
        self.had_focus = focused;
        self.drag.remove_missing(room, commands);
        if response.drag_stopped() || (lost_focus && self.drag != DragState::Idle) {
            self.dropped = std::mem::take(&mut self.drag).drop_at_pointer(ui, response, cx, camera, commands);
            self.dropped_until_tick = room.tick + DROP_OVERRIDE_TICKS;
        }
    }

    /// Selects on click; opens or renames on double-click, or zooms in on the floor.
    fn handle_click(
        &mut self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) {
        let (room, camera) = (cx.room, view.camera);
        let under = |point: Pos2| hit_test(room, camera.to_world(point), camera.zoom);
        let rope = |point: Pos2| {
            let tie = paint::relationship_at(room, camera, point)?;
            room.relationship(&room.relationships[tie])
        };
        let Some(pointer) = response.interact_pointer_pos() else { return };
        let shift = ui.input(|input| input.modifiers.shift);
        if response.double_clicked() {
            match (opened_at(room, camera.to_world(pointer), camera.zoom), rope(pointer)) {
                (Some(thing), _) => commands.push(WindowCommand::OpenThing(thing).into()),
                (None, Some(relationship)) => self.rename_rope(relationship),
                (None, None) => view.camera.zoom_at(pointer, 1.6),
            }
        } else if response.clicked() {
            response.request_focus();
            let mut things = cx.ui.selection.things().clone();
            let command = match under(pointer) {
                Some(thing) if shift => {
                    if !things.remove(&thing) {
                        things.insert(thing);
                    }
                    WindowCommand::Select(things.into_iter().collect())
                }
                Some(thing) => WindowCommand::Select(vec![thing]),
                None => match rope(pointer) {
                    Some(rope) => WindowCommand::SelectRope(rope),
                    None if shift => return,
                    None => WindowCommand::Select(Vec::new()),
                },
            };
            commands.push(command.into());
        }
    }

    fn paint_box(&self, painter: &egui::Painter, pointer: Option<Pos2>, theme: &Theme, view: &RoomView) {
        let (DragState::BoxSelecting(from), Some(pointer)) = (&self.drag, pointer) else { return };
        let rect = Rect::from_two_pos(view.camera.to_screen(*from), pointer);
        let stroke = Stroke::new(LINE[0], theme.accent);
        painter.rect(rect, egui::CornerRadius::ZERO, theme.accent.gamma_multiply(0.12), stroke, StrokeKind::Inside);
    }

    /// Shows the context menu of the right-clicked thing, or of the selection if it was opened by keyboard.
    fn menu(
        &mut self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        view: &RoomView,
        commands: &mut Vec<Command>,
    ) {
        let (room, camera, selection) = (cx.room, view.camera, &cx.ui.selection);
        if response.secondary_clicked()
            && let Some(point) = response.interact_pointer_pos()
        {
            let place = camera.to_world(point);
            let rope = || {
                paint::relationship_at(room, camera, point).and_then(|tie| room.relationship(&room.relationships[tie]))
            };
            let on = match hit_test(room, place, camera.zoom) {
                Some(thing) => MenuTarget::Thing(thing),
                None => rope().map_or(MenuTarget::Floor, MenuTarget::Rope),
            };
            match &on {
                MenuTarget::Thing(thing) if !selection.things().contains(thing) => {
                    commands.push(WindowCommand::Select(vec![thing.clone()]).into());
                }
                MenuTarget::Rope(rope) => commands.push(WindowCommand::SelectRope(rope.clone()).into()),
                MenuTarget::Thing(_) | MenuTarget::Floor => {}
            }
            self.menu = Some((on, place, None));
        } else if std::mem::take(&mut self.opens_menu) {
            let on = match (selection.rope(), selection.things().first()) {
                (Some(rope), _) => MenuTarget::Rope(rope.clone()),
                (None, Some(thing)) => MenuTarget::Thing(thing.clone()),
                (None, None) => MenuTarget::Floor,
            };
            let place = match &on {
                MenuTarget::Thing(thing) => place_of(room, thing),
                MenuTarget::Rope(_) | MenuTarget::Floor => None,
            };
            let place = place.unwrap_or(camera.middle);
            let point = camera.viewport.shrink(20.0).clamp(camera.to_screen(place));
            self.menu = Some((on, place, Some(point)));
            Popup::open_id(ui.ctx(), Popup::default_response_id(response));
        }
        let Some((on, place, point)) = &self.menu else { return };
        let popup = Popup::context_menu(response);
        let popup = if let Some(point) = point { popup.at_position(*point) } else { popup };
        popup.show(|ui| commands.extend(menu::menu_ui(ui, cx, on, *place)));
    }
}

/// Zooms at the pointer, and pans the view if `is_panning` or the middle button is held. Returns whether it panned.
fn pan_and_zoom(ui: &Ui, response: &Response, camera: &mut Camera, is_panning: bool) -> bool {
    if let Some(pointer) = response.hover_pos() {
        widgets::zoom_factors(ui).for_each(|factor| camera.zoom_at(pointer, factor));
    }
    let is_panning = is_panning || response.dragged_by(PointerButton::Middle);
    if is_panning {
        camera.pan(response.drag_delta());
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    }
    is_panning
}

/// Keeps Tab, arrows and Escape in the room while it has the focus, and gives it the focus at startup.
fn lock_focus(ui: &Ui, response: &Response) {
    let started = WidgetId::new("the room had the keyboard");
    if ui.data(|data| data.get_temp::<bool>(started)).is_none() && ui.memory(|memory| memory.focused().is_none()) {
        ui.data_mut(|data| data.insert_temp(started, true));
        response.request_focus();
    }
    let filter = EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(room_widget(), filter));
}

/// Returns the areas in the lower corners of the room that must not be covered: the debug overlay toggle on the left,
/// and the minimap with the buttons above it on the right.
fn corner_rects(rect: Rect) -> [Rect; 2] {
    let (margin, gap) = (egui::Vec2::splat(SPACE[2]), SPACE[0]);
    let left = rect.left_bottom() + egui::vec2(margin.x, -margin.y);
    let right = rect.right_bottom() - margin;
    let over_map = MINIMAP_POINTS + egui::vec2(0.0, gap + CORNER_BUTTON_POINTS.y);
    [
        Rect::from_two_pos(left, left + egui::vec2(CORNER_BUTTON_POINTS.x, -CORNER_BUTTON_POINTS.y)),
        Rect::from_two_pos(right, right - over_map),
    ]
}

fn minimap(ui: &mut Ui, rect: Rect, cx: &ViewerContext<'_>, view: &mut RoomView) {
    let corner = rect.right_bottom() - egui::Vec2::splat(SPACE[2]);
    let map = Rect::from_min_max(corner - MINIMAP_POINTS, corner);
    let response = ui.interact(map, ui.id().with("minimap"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, texts::MINIMAP));
    let painter = ui.painter_at(map);
    paint::minimap(&painter, map, cx.room, view.camera, *cx.theme);
    if let Some(pointer) = response.interact_pointer_pos() {
        view.camera.middle = MinimapTransform::of(map, cx.room, view.camera).to_world(pointer);
    }
}

/// Draws buttons above the minimap that count the agents that are active or need the user, and lead to them.
fn attention_buttons(ui: &mut Ui, rect: Rect, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let theme = cx.theme;
    let (doing, in_need) = (room_view::active(cx.room).count(), room_view::needing_attention(cx.room).count());
    let height = ui.spacing().interact_size.y;
    let mut corner = rect.right_bottom() - egui::vec2(SPACE[2], SPACE[2] + MINIMAP_POINTS.y + SPACE[0]);
    ui.spacing_mut().button_padding.x = SPACE[0];
    for (count, text, id, colour, share) in [
        (doing, active(doing), "room.show_busy", theme.text, 0.45),
        (in_need, need_you(in_need), "room.next_in_need", theme.accent, 0.55),
    ] {
        let Some(command) = cx.table.find(id).filter(|_| count > 0) else { continue };
        let width = share * (MINIMAP_POINTS.x - SPACE[0]);
        let place = Rect::from_min_max(corner - egui::vec2(width, height), corner);
        let button = egui::Button::new(egui::RichText::new(text).size(TYPE[0]).color(colour))
            .wrap_mode(egui::TextWrapMode::Extend)
            .fill(theme.panel)
            .stroke(Stroke::new(LINE[0], theme.line))
            .corner_radius(f32::from(RADIUS[0]));
        let button = ui.put(place, button);
        widgets::name(&button, command.name);
        if button.on_hover_text(menus::tip(ui.ctx(), cx.table, id)).clicked() {
            commands.extend(menus::run(cx, id));
        }
        corner.x -= width + SPACE[0];
    }
}

/// Draws the debug overlay toggle in the lower left corner.
fn overlay_toggle(ui: &mut Ui, rect: Rect, cx: &ViewerContext<'_>, is_on: bool, commands: &mut Vec<Command>) {
    const ID: &str = "view.debug_overlay";
    let theme = cx.theme;
    let size = egui::vec2(CORNER_BUTTON_POINTS.x, ui.spacing().interact_size.y);
    let place = Rect::from_min_size(rect.left_bottom() + egui::vec2(SPACE[2], -SPACE[2] - size.y), size);
    let button = egui::Button::new(egui::RichText::new(texts::DEBUG_OVERLAY).color(theme.text))
        .fill(theme.panel)
        .stroke(Stroke::new(LINE[0], if is_on { theme.accent } else { theme.line }))
        .corner_radius(f32::from(RADIUS[0]));
    if command_tip(ui.put(place, button), cx, ID).clicked() {
        commands.extend(menus::run(cx, ID));
    }
}
