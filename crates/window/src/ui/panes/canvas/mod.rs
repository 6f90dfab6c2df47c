//! The room in the middle of the window, and a person's hands in it: looking around, choosing, carrying, dropping.

pub mod debug_overlay;
mod dropping;
mod hand;
pub mod menu;
mod relating;
#[cfg(test)]
mod tests;

use bevy::math::Vec2;
use egui::{
    CentralPanel, CursorIcon, EventFilter, FocusDirection, Frame, Id as WidgetId, PointerButton, Popup, Pos2, Rect,
    Response, Sense, Stroke, StrokeKind, Ui,
};

use crate::ui::commands::keys::room_widget;
use crate::ui::commands::table::CommandContext;
use crate::ui::state::SpaceBar;
use crate::ui::state::selection::place_of;
use crate::ui::{Command, UiState};
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::paint::minimap::Small;
use crate::view::paint::{self, Look};
use crate::view::pick::{Thing, thing_at};
use crate::view::recent::Recent;
use crate::view::theme::{RADIUS, SPACE, Theme};
use crate::workspace::Relationship;
use hand::Hand;
use relating::Handles;

/// Zoom by the wheel: so much for each point that it scrolls.
const WHEEL_PER_POINT: f32 = 0.004;
const MINIMAP_POINTS: egui::Vec2 = egui::vec2(150.0, 100.0);

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
    hand: Hand,
    handles: Handles,
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
        !matches!(self.hand, Hand::Free | Hand::Pans)
    }

    /// The hand gives up what it holds: what was carried stands where it was lifted.
    pub fn give_up(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        std::mem::take(&mut self.hand).give_up(&mut commands);
        commands
    }

    /// Opens the menu of what is selected when the room is drawn next.
    pub fn open_menu(&mut self) {
        self.opens_menu = true;
    }

    /// Lets the keyboard go on to the widget after the room, or to the one before it.
    pub fn leave(&mut self, forward: bool) {
        self.leaves = Some(forward);
    }

    /// Draws the room in what is left of the window.
    pub fn show(
        &mut self,
        root: &mut Ui,
        room: &mut RoomModel,
        recent: &Recent,
        art: &Art,
        theme: &Theme,
        state: &mut UiState,
    ) -> Vec<Command> {
        let mut commands = Vec::new();
        CentralPanel::default().frame(Frame::NONE).show(root, |ui| {
            let rect = ui.available_rect_before_wrap();
            self.settle_view(ui, rect, room, state);
            if let Some(forward) = self.leaves.take() {
                let direction = if forward { FocusDirection::Next } else { FocusDirection::Previous };
                ui.memory_mut(|memory| memory.move_focus(direction));
            }
            let response = ui.interact(rect, room_widget(), Sense::click_and_drag());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, "The room"));
            keep_keys(ui, &response);
            self.handle_hand(ui, &response, room, state, &mut commands);
            self.look_around(ui, &response, state);
            self.choose(ui, &response, room, state);
            dropping::take_drop(ui, &response, room, state, &mut commands);
            let pointer = ui.input(|input| input.pointer.latest_pos());
            if let Some(pointer) = pointer {
                self.hand.place_held(state.camera.to_world(pointer), room);
            }
            let painter = ui.painter_at(rect);
            let look = Look {
                camera: state.camera,
                theme: *theme,
                now_secs: state.room_secs,
                selected: &state.selected,
                hovered: state.hovered.as_ref(),
                pointer: response.hover_pos(),
                quiet: state.overlay,
            };
            paint::room(&painter, room, recent, art, &look);
            self.handles.paint(&painter, (pointer, response.hover_pos()), room, &self.hand, state, theme);
            self.paint_box(&painter, pointer, theme, state);
            dropping::paint_ghost(ui, &painter, room, art, theme, state);
            if state.overlay {
                debug_overlay::debug_overlay_ui(&painter, room, recent, theme, state);
            }
            if rect.width() > 420.0 && rect.height() > 320.0 {
                minimap(ui, rect, room, theme, state);
            }
            overlay_toggle(ui, rect, theme, state);
            dropping::paint_word(&painter, rect, theme, state);
            self.menu(ui, &response, room, state, &mut commands);
            relating::naming_ui(ui, room, theme, state, &mut commands);
        });
        commands
    }

    /// Shows everything once in a room that is new; in another part of the window the room stays where it was, so
    /// that a panel that opens does not push away what was clicked.
    fn settle_view(&mut self, ui: &Ui, rect: Rect, room: &RoomModel, state: &mut UiState) {
        let window = ui.ctx().content_rect();
        if !state.framed {
            // Another room is open: what was held is not in it.
            self.hand = Hand::Free;
        } else if let Some((before, _)) = self.last.filter(|(before, was)| *was == window && *before != rect) {
            state.camera.pan(before.center() - rect.center());
        }
        // Panes take a frame or two to find their places.
        let is_settled = self.last == Some((rect, window));
        state.camera.viewport = rect;
        self.last = Some((rect, window));
        if !state.framed && is_settled && rect.is_positive() {
            state.frame(room);
            state.framed = true;
        }
    }

    /// Zooms at the pointer and moves the view.
    fn look_around(&mut self, ui: &Ui, response: &Response, state: &mut UiState) {
        let camera = &mut state.camera;
        if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            if scroll != 0.0 {
                camera.zoom_at(pointer, (scroll * WHEEL_PER_POINT).exp());
            }
            if pinch != 1.0 {
                camera.zoom_at(pointer, pinch);
            }
        }
        if self.hand == Hand::Pans || response.dragged_by(PointerButton::Middle) {
            camera.pan(response.drag_delta());
            ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        } else if state.space != SpaceBar::Up && response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
    }

    /// Takes hold of things, carries them, and lets go.
    fn handle_hand(
        &mut self,
        ui: &Ui,
        response: &Response,
        room: &RoomModel,
        state: &mut UiState,
        commands: &mut Vec<Command>,
    ) {
        let camera = state.camera;
        let under = |point: Pos2| thing_at(room, camera.to_world(point), camera.zoom);
        // With a button down the pointer is about where it was pressed.
        if self.hand == Hand::Free && !ui.input(|input| input.pointer.any_down()) {
            state.hovered = response.hover_pos().and_then(under);
            self.handles.look(response.hover_pos(), room, state);
        }
        let (shift, focused) = ui.input(|input| (input.modifiers.shift, input.focused));
        if response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|input| input.pointer.press_origin())
        {
            let handle = self.handles.at(origin, room, state).filter(|_| state.space == SpaceBar::Up);
            self.hand = match handle {
                Some(agent) => Hand::Relates(agent),
                None => hand::grasp(under(origin), camera.to_world(origin), room, shift, state, commands),
            };
        }
        let turned_away = self.had_focus && !focused;
        self.had_focus = focused;
        let place = response.interact_pointer_pos().map(|pointer| camera.to_world(pointer));
        self.hand.follow(place, room, state, commands);
        if response.drag_stopped() || (turned_away && self.hand != Hand::Free) {
            std::mem::take(&mut self.hand).let_go(ui, response, room, state, commands);
        }
    }

    /// Selects what is clicked, and opens or comes to what is double-clicked.
    fn choose(&mut self, ui: &Ui, response: &Response, room: &RoomModel, state: &mut UiState) {
        let camera = state.camera;
        let under = |point: Pos2| thing_at(room, camera.to_world(point), camera.zoom);
        let rope = |point: Pos2| {
            let tie = paint::tie_under(room, camera, point)?;
            room.relationship(&room.ties[tie])
        };
        let Some(pointer) = response.interact_pointer_pos() else { return };
        let shift = ui.input(|input| input.modifiers.shift);
        if response.double_clicked() {
            match under(pointer) {
                Some(thing) => state.open_thing(&thing, room),
                None => match rope(pointer) {
                    Some(relationship) => state.rename_rope(relationship),
                    None => state.camera.zoom_at(pointer, 1.6),
                },
            }
        } else if response.clicked() {
            response.request_focus();
            let thing = under(pointer);
            state.rope = if thing.is_none() { rope(pointer) } else { None };
            match thing {
                Some(thing) if shift && state.selected.remove(&thing) => {}
                Some(thing) if shift => {
                    state.selected.insert(thing);
                }
                Some(thing) => state.selected = [thing].into(),
                None if !shift || state.rope.is_some() => state.selected.clear(),
                None => {}
            }
        }
    }

    fn paint_box(&self, painter: &egui::Painter, pointer: Option<Pos2>, theme: &Theme, state: &UiState) {
        let (Hand::Boxes(from), Some(pointer)) = (&self.hand, pointer) else { return };
        let rect = Rect::from_two_pos(state.camera.to_screen(*from), pointer);
        let stroke = Stroke::new(1.0, theme.accent);
        painter.rect(rect, 0.0, theme.accent.gamma_multiply(0.12), stroke, StrokeKind::Inside);
    }

    /// The menu of what was clicked with the other button, or of what is selected if a key asked for it.
    fn menu(
        &mut self,
        ui: &Ui,
        response: &Response,
        room: &RoomModel,
        state: &mut UiState,
        commands: &mut Vec<Command>,
    ) {
        let camera = state.camera;
        if response.secondary_clicked()
            && let Some(point) = response.interact_pointer_pos()
        {
            let place = camera.to_world(point);
            let rope = || paint::tie_under(room, camera, point).and_then(|tie| room.relationship(&room.ties[tie]));
            let on = match thing_at(room, place, camera.zoom) {
                Some(thing) => MenuOn::Thing(thing),
                None => rope().map_or(MenuOn::Floor, MenuOn::Rope),
            };
            self.menu = Some((on, place, None));
        } else if std::mem::take(&mut self.opens_menu) {
            let on = match (&state.rope, state.selected.first()) {
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
        match &self.menu {
            Some((MenuOn::Thing(thing), ..)) if response.secondary_clicked() && !state.selected.contains(thing) => {
                state.select([thing.clone()]);
            }
            Some((MenuOn::Rope(rope), ..)) if response.secondary_clicked() => state.select_rope(rope.clone()),
            _ => {}
        }
        let Some((on, place, point)) = &self.menu else { return };
        let popup = Popup::context_menu(response);
        let popup = if let Some(point) = point { popup.at_position(*point) } else { popup };
        let cx = CommandContext { room, ui: state };
        popup.show(|ui| commands.extend(menu::menu_ui(ui, &cx, on, *place)));
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

fn minimap(ui: &mut Ui, rect: Rect, room: &RoomModel, theme: &Theme, state: &mut UiState) {
    let corner = rect.right_bottom() - egui::Vec2::splat(SPACE[2]);
    let map = Rect::from_min_max(corner - MINIMAP_POINTS, corner);
    let response = ui.interact(map, ui.id().with("minimap"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, "The small map"));
    let painter = ui.painter_at(map);
    paint::minimap(&painter, map, room, state.camera, *theme);
    if let Some(pointer) = response.interact_pointer_pos() {
        state.camera.middle = Small::of(map, room, state.camera).to_world(pointer);
    }
}

/// The switch of the debug overlay, at bottom left.
fn overlay_toggle(ui: &mut Ui, rect: Rect, theme: &Theme, state: &mut UiState) {
    let size = egui::vec2(128.0, 28.0);
    let place = Rect::from_min_size(rect.left_bottom() + egui::vec2(SPACE[2], -SPACE[2] - size.y), size);
    let text = if state.overlay { "Hide details" } else { "Show details" };
    let button = egui::Button::new(egui::RichText::new(text).color(theme.text))
        .fill(theme.panel)
        .stroke(Stroke::new(1.0, if state.overlay { theme.accent } else { theme.line }))
        .corner_radius(f32::from(RADIUS[0]));
    if ui.put(place, button).on_hover_text("What everyone has queued, knows and costs (F3)").clicked() {
        state.overlay = !state.overlay;
    }
}
