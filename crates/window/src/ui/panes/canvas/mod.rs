//! The room in the middle of the window, and the mouse in it: panning, selecting, dragging, dropping.

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
use crate::ui::commands::keys::room_widget;
use crate::ui::menus::{self, command_tip};
use crate::ui::state::room_view::{self, place_of};
use crate::ui::state::{Naming, RoomView, SpaceBar};
use crate::ui::widgets;
use crate::ui::{Command, ViewerContext};
use crate::view::camera::Camera;
use crate::view::counts::{active, need_you};
use crate::view::model::RoomModel;
use crate::view::paint::minimap::Small;
use crate::view::paint::{self, Labels, Look};
use crate::view::pick::{Thing, opened_at, thing_at};
use crate::view::spread::Spread;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme};
use crate::workspace::Relationship;
pub use approval_popup::{CARD, shows_what_happens};
use drag::DragState;
use furniture_editing::FurnitureDrag;
use hover_card::HoverCard;
use relationship_editing::Handles;

/// Zoom by the wheel: so much for each point that it scrolls.
const WHEEL_PER_POINT: f32 = 0.004;
const MINIMAP_POINTS: egui::Vec2 = egui::vec2(150.0, 100.0);
/// The switch of the debug overlay is so wide; it and the buttons over the small map are at most so high.
const CORNER_BUTTON_POINTS: egui::Vec2 = egui::vec2(128.0, 28.0);
/// A room that is shown smaller than this has no small map.
const MINIMAP_FITS_POINTS: egui::Vec2 = egui::vec2(420.0, 320.0);

/// What was put down is where it was put after so many ticks.
const TICKS_UNTIL_TOLD: u64 = 2;

/// What a menu is about.
#[derive(Clone, PartialEq, Debug)]
pub enum MenuOn {
    /// The floor.
    Floor,
    /// A thing.
    Thing(Thing),
    /// A rope.
    Rope(Relationship),
}

/// What the room keeps between frames on screen.
#[derive(Clone, Debug, Default)]
pub struct Canvas {
    hand: DragState,
    /// The same while the furniture is arranged.
    furniture: FurnitureDrag,
    /// What was put down where, and the tick by which the room has heard of it.
    put: BTreeMap<Thing, Vec2>,
    put_until: u64,
    handles: Handles,
    /// Where each label stood in the last frame.
    labels: Labels,
    card: HoverCard,
    /// Who makes room for each other near the pointer.
    spread: Spread,
    /// What the space bar is doing.
    space: SpaceBar,
    /// The relationship whose label is being written.
    naming: Option<Naming>,
    /// What the menu was opened on and where, and where on screen if that was by key.
    menu: Option<(MenuOn, Vec2, Option<Pos2>)>,
    /// The part of the window that the room had in the last frame, and the window's size then.
    last: Option<(Rect, Rect)>,
    had_focus: bool,
    /// The keyboard is to go on to the widget after the room, or to the one before it.
    leaves: Option<bool>,
    /// The menu of what is selected is to be opened.
    opens_menu: bool,
}

impl Canvas {
    /// Whether the hand holds something.
    pub fn is_holding(&self) -> bool {
        !matches!(self.hand, DragState::Free | DragState::Pans) || self.furniture.is_holding()
    }

    /// Whether the person is in the middle of something: holds something, moves the view or writes a label.
    pub fn is_busy(&self) -> bool {
        self.hand != DragState::Free || self.space != SpaceBar::Up || self.naming.is_some()
    }

    /// The hand gives up what it holds, which never left its place.
    pub fn give_up(&mut self) {
        self.hand = DragState::Free;
        self.furniture.give_up();
    }

    /// What the space bar is doing, for whoever hears the keys.
    pub fn space_bar(&mut self) -> &mut SpaceBar {
        &mut self.space
    }

    /// Opens the menu of what is selected when the room is drawn next.
    pub fn open_menu(&mut self) {
        self.opens_menu = true;
    }

    /// Lets the keyboard go on to the widget after the room, or to the one before it.
    pub fn leave(&mut self, forward: bool) {
        self.leaves = Some(forward);
    }

    /// Asks for the label of a relationship.
    pub fn name(&mut self, naming: Naming) {
        self.naming = Some(naming);
    }

    /// Opens the field in which a relationship is called something else.
    pub fn rename_rope(&mut self, relationship: Relationship) {
        let label = relationship.label.clone();
        self.naming = Some(Naming { relationship, is_new: false, label, asked: false });
    }

    /// Gives up the label that is being written. Whether one was.
    pub fn stop_naming(&mut self) -> bool {
        self.naming.take().is_some()
    }

    /// Another room is open: nobody of the last one is in it.
    pub fn forget_room(&mut self) {
        self.naming = None;
    }

    /// Has those who cover each other near the pointer make room for each other, before anybody is picked.
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

    /// Takes in what the person does with hands in the room, in what is left of the window.
    pub fn take_input(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) -> Response {
        let rect = ui.available_rect_before_wrap();
        self.settle_view(ui, rect, cx, view);
        if let Some(forward) = self.leaves.take() {
            let direction = if forward { FocusDirection::Next } else { FocusDirection::Previous };
            ui.memory_mut(|memory| memory.move_focus(direction));
        }
        let response = ui.interact(rect, room_widget(), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, texts::THE_ROOM));
        keep_keys(ui, &response);
        self.handle_hand(ui, &response, cx, view, commands);
        self.look_around(ui, &response, view);
        self.choose(ui, &response, cx, view, commands);
        drop_target::take_drop(ui, &response, cx, view.camera, commands);
        response
    }

    /// Shows what is held where the hand has it, with the pointer at this place of the room, and what was put down where it
    /// was put until the room has heard of it.
    pub fn show_held(&mut self, pointer: Option<Vec2>, room: &mut RoomModel) {
        if room.tick >= self.put_until {
            self.put.clear();
        }
        self.furniture.show_held(room);
        drag::show_at(&self.put, false, room);
        if let Some(pointer) = pointer {
            drag::show_at(&self.hand.places(pointer), true, room);
        }
    }

    /// Draws the room and what lies over it.
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
            // What was scaled meanwhile is laid out anew then.
            ui.request_repaint_after_secs(left as f32);
        }
        let painter = ui.painter_at(rect);
        let look = Look {
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
        let asking = approval_popup::place(cx, view, rect);
        self.labels.keep_clear_of(asking);
        paint::room(&painter, room, recent, art, &look, &mut self.labels);
        let hands = (&self.hand, self.naming.as_ref());
        self.handles.paint(&painter, (pointer, response.hover_pos()), cx, hands, view);
        self.paint_box(&painter, pointer, theme, view);
        drop_target::paint_ghost(ui, &painter, cx, view.camera);
        if view.debug_overlay {
            let seen_from = (&*view, state.selection.things(), self.labels.shown());
            debug_overlay::debug_overlay_ui(&painter, room, recent, theme, seen_from);
        }
        if rect.width() > MINIMAP_FITS_POINTS.x && rect.height() > MINIMAP_FITS_POINTS.y {
            minimap(ui, rect, cx, view);
            ui.scope(|ui| lookouts(ui, rect, cx, commands));
        }
        overlay_toggle(ui, rect, cx, view.debug_overlay, commands);
        drop_target::paint_word(&painter, rect, theme, state);
        drop_target::empty_floor_ui(ui, rect, cx);
        let is_free = self.hand == DragState::Free
            && self.naming.is_none()
            && state.transfer.dragging.is_none()
            && !state.front.is_covered()
            && !view.debug_overlay
            && view.arranging.is_none();
        self.card.show(ui, response, cx, (view.camera, asking), is_free);
        if view.arranging.is_some() {
            self.furniture.show(ui, rect, cx, view, commands);
        }
        if let Some(place) = asking {
            commands.extend(approval_popup::asking_ui(ui, (rect, place), cx, view));
        }
        self.menu(ui, response, cx, view, commands);
        self.naming = relationship_editing::naming_ui(ui, cx, view.camera, self.naming.take(), commands);
    }

    /// Shows everything once in a room that is new; in another part of the window the room stays where it was, so
    /// that a panel that opens does not push away what was clicked.
    fn settle_view(&mut self, ui: &Ui, rect: Rect, cx: &ViewerContext<'_>, view: &mut RoomView) {
        let window = ui.ctx().content_rect();
        if !view.is_framed {
            // Another room is open: what was held is not in it.
            self.hand = DragState::Free;
            self.put.clear();
        } else if let Some((before, _)) = self.last.filter(|(before, was)| *was == window && *before != rect) {
            view.camera.pan(before.center() - rect.center());
        }
        // Panes take a frame or two to find their places.
        let is_settled = self.last == Some((rect, window));
        view.camera.viewport = rect;
        if let (Some((before, _)), Some(stands)) = (self.last, approval_popup::asker(cx, view)) {
            view.camera.pan(approval_popup::kept_in_sight(stands, before, rect));
        }
        self.last = Some((rect, window));
        if !view.is_framed && is_settled && rect.is_positive() {
            // Whoever is selected stands in it like everybody else.
            view.frame(cx.room, &BTreeSet::new());
            view.is_framed = true;
        }
    }

    /// Zooms at the pointer and moves the view.
    fn look_around(&mut self, ui: &Ui, response: &Response, view: &mut RoomView) {
        let camera = &mut view.camera;
        if let Some(pointer) = response.hover_pos() {
            zoom_by_wheel(ui, pointer, camera);
        }
        if self.hand == DragState::Pans || response.dragged_by(PointerButton::Middle) {
            camera.pan(response.drag_delta());
            ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        } else if self.space != SpaceBar::Up && response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
    }

    /// Takes hold of things, carries them, and lets go.
    fn handle_hand(
        &mut self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) {
        let (room, camera) = (cx.room, view.camera);
        let under = |point: Pos2| thing_at(room, camera.to_world(point), camera.zoom);
        // With a button down the pointer is about where it was pressed.
        if self.hand == DragState::Free && !ui.input(|input| input.pointer.any_down()) {
            view.hovered = response.hover_pos().and_then(under);
            self.handles.look(response.hover_pos(), room, view);
        }
        let (shift, focused) = ui.input(|input| (input.modifiers.shift, input.focused));
        if response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|input| input.pointer.press_origin())
        {
            let handle = self.handles.at(origin, cx, camera).filter(|_| self.space == SpaceBar::Up);
            self.hand = match handle {
                Some(agent) => DragState::Relates(agent),
                None if self.space != SpaceBar::Up => {
                    self.space = SpaceBar::Used;
                    DragState::Pans
                }
                None => drag::grasp(under(origin), camera.to_world(origin), cx, shift, commands),
            };
        }
        let turned_away = self.had_focus && !focused;
        self.had_focus = focused;
        self.hand.notice_gone(room, commands);
        if response.drag_stopped() || (turned_away && self.hand != DragState::Free) {
            self.put = std::mem::take(&mut self.hand).let_go(ui, response, cx, camera, commands);
            self.put_until = room.tick + TICKS_UNTIL_TOLD;
        }
    }

    /// Selects what is clicked, and opens or comes to what is double-clicked.
    fn choose(
        &mut self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        view: &mut RoomView,
        commands: &mut Vec<Command>,
    ) {
        let (room, camera) = (cx.room, view.camera);
        let under = |point: Pos2| thing_at(room, camera.to_world(point), camera.zoom);
        let rope = |point: Pos2| {
            let tie = paint::tie_under(room, camera, point)?;
            room.relationship(&room.ties[tie])
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
        let (DragState::Boxes(from), Some(pointer)) = (&self.hand, pointer) else { return };
        let rect = Rect::from_two_pos(view.camera.to_screen(*from), pointer);
        let stroke = Stroke::new(LINE[0], theme.accent);
        painter.rect(rect, egui::CornerRadius::ZERO, theme.accent.gamma_multiply(0.12), stroke, StrokeKind::Inside);
    }

    /// The menu of what was clicked with the other button, or of what is selected if a key asked for it.
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
            let rope = || paint::tie_under(room, camera, point).and_then(|tie| room.relationship(&room.ties[tie]));
            let on = match thing_at(room, place, camera.zoom) {
                Some(thing) => MenuOn::Thing(thing),
                None => rope().map_or(MenuOn::Floor, MenuOn::Rope),
            };
            match &on {
                MenuOn::Thing(thing) if !selection.things().contains(thing) => {
                    commands.push(WindowCommand::Select(vec![thing.clone()]).into());
                }
                MenuOn::Rope(rope) => commands.push(WindowCommand::SelectRope(rope.clone()).into()),
                MenuOn::Thing(_) | MenuOn::Floor => {}
            }
            self.menu = Some((on, place, None));
        } else if std::mem::take(&mut self.opens_menu) {
            let on = match (selection.rope(), selection.things().first()) {
                (Some(rope), _) => MenuOn::Rope(rope.clone()),
                (None, Some(thing)) => MenuOn::Thing(thing.clone()),
                (None, None) => MenuOn::Floor,
            };
            let place = match &on {
                MenuOn::Thing(thing) => place_of(room, thing),
                MenuOn::Rope(_) | MenuOn::Floor => None,
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

/// The wheel and two fingers make everything larger or smaller at the pointer.
fn zoom_by_wheel(ui: &Ui, pointer: Pos2, camera: &mut Camera) {
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    if scroll != 0.0 {
        camera.zoom_at(pointer, (scroll * WHEEL_PER_POINT).exp());
    }
    if pinch != 1.0 {
        camera.zoom_at(pointer, pinch);
    }
}

/// While the room has the keyboard's focus, Tab and the arrows are about what is in it. It has it from the start.
fn keep_keys(ui: &Ui, response: &Response) {
    let started = WidgetId::new("the room had the keyboard");
    if ui.data(|data| data.get_temp::<bool>(started)).is_none() && ui.memory(|memory| memory.focused().is_none()) {
        ui.data_mut(|data| data.insert_temp(started, true));
        response.request_focus();
    }
    let filter = EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(room_widget(), filter));
}

/// What stands in the lower corners of the room, and is not to be covered: at the left the switch of the debug overlay,
/// at the right the small map with the buttons over it.
fn corners(rect: Rect) -> [Rect; 2] {
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
        view.camera.middle = Small::of(map, cx.room, view.camera).to_world(pointer);
    }
}

/// Over the small map: how many are active and need the person, and the way to them. Nothing where nobody is.
fn lookouts(ui: &mut Ui, rect: Rect, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let theme = cx.theme;
    let (doing, in_need) = (room_view::active(cx.room).count(), room_view::in_need(cx.room).count());
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

/// The switch of the debug overlay, at bottom left.
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
