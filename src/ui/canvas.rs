//! The room in the middle of the window, and a person's hands in it: looking around, choosing, carrying, dropping.

use std::collections::BTreeMap;

use bevy::math::Vec2;
use egui::{CentralPanel, CursorIcon, Frame, Key, PointerButton, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui};

use super::command::RoomAct;
use super::state::ShelfItem;
use super::{Command, UiState, canvas_menu, keys};
use crate::agent::AgentCommand;
use crate::base::Id;
use crate::element::ElementCommand;
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::paint::minimap::Small;
use crate::view::paint::{self, Ghost, Look};
use crate::view::pick::{Thing, thing_at, things_in};
use crate::view::recent::Recent;
use crate::view::theme::{RADIUS, SPACE, Theme};

/// Zoom by the wheel: so much for each point that it scrolls.
const WHEEL_PER_POINT: f32 = 0.004;
/// Agents that are put among elements stand so far above the topmost.
const ABOVE_ELEMENTS: f32 = 120.0;
const MINIMAP_POINTS: egui::Vec2 = egui::vec2(150.0, 100.0);

/// What a hand is doing in the room.
#[derive(Clone, Debug, Default, PartialEq)]
enum Hand {
    #[default]
    Free,
    /// Moves the view.
    Pans,
    /// Draws a box, from this place.
    Boxes(Vec2),
    /// Carries agents; each hangs so far from the pointer.
    Carries(BTreeMap<Id, Vec2>),
    /// Moves elements; each lies so far from the pointer. Where they end is told when they are put down.
    Moves(BTreeMap<Id, Vec2>),
}

/// What the room keeps between frames on screen.
#[derive(Default)]
pub struct Canvas {
    hand: Hand,
    /// Where the menu was opened, and on what.
    menu: Option<(Option<Thing>, Vec2)>,
}

impl Canvas {
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
            state.camera.viewport = rect;
            if !state.framed && rect.is_positive() {
                keys::frame(room, state);
                state.framed = true;
            }
            let response = ui.interact(rect, ui.id().with("room"), Sense::click_and_drag());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, "The room"));
            self.look_around(ui, &response, state);
            self.choose_and_carry(ui, &response, room, state, &mut commands);
            self.take_drop(ui, &response, room, state, &mut commands);
            self.place_moved(ui, room, state);
            let painter = ui.painter_at(rect);
            let look = Look {
                camera: state.camera,
                theme: *theme,
                now_secs: state.room_secs,
                selected: &state.selected,
                hovered: state.hovered.as_ref(),
                pointer: response.hover_pos(),
            };
            paint::room(&painter, room, recent, art, &look);
            self.paint_hand(ui, &painter, room, art, theme, state);
            if state.overlay {
                super::debug_overlay::debug_overlay_ui(&painter, room, &state.camera, theme, state);
            }
            if rect.width() > 420.0 && rect.height() > 320.0 {
                minimap(ui, rect, room, theme, state);
            }
            overlay_toggle(ui, rect, theme, state);
            if response.secondary_clicked() {
                let place = response.interact_pointer_pos().map(|point| state.camera.to_world(point));
                self.menu = place.map(|place| (thing_at(room, place, state.camera.zoom), place));
                if let Some((Some(thing), _)) = &self.menu
                    && !state.selected.contains(thing)
                {
                    state.selected = [thing.clone()].into();
                }
            }
            response.context_menu(|ui| {
                if let Some((thing, place)) = &self.menu {
                    commands.extend(canvas_menu::menu_ui(ui, room, thing.as_ref(), *place, state));
                }
            });
        });
        commands
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
        }
    }

    fn choose_and_carry(
        &mut self,
        ui: &Ui,
        response: &Response,
        room: &RoomModel,
        state: &mut UiState,
        commands: &mut Vec<Command>,
    ) {
        let camera = state.camera;
        let under = |point: Pos2| thing_at(room, camera.to_world(point), camera.zoom);
        if self.hand == Hand::Free {
            state.hovered = response.hover_pos().and_then(under);
        }
        let (shift, space) = ui.input(|input| (input.modifiers.shift, input.key_down(Key::Space)));
        if response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|input| input.pointer.press_origin())
        {
            self.hand = self.grasp(under(origin), camera.to_world(origin), room, shift, space, state, commands);
        }
        if let (Hand::Carries(hanging), Some(pointer)) = (&self.hand, response.interact_pointer_pos()) {
            let place = camera.to_world(pointer);
            for (agent, offset) in hanging {
                let position = place + *offset;
                if room.agent(agent).is_some_and(|agent| agent.position.distance(position) > 0.5) {
                    let carry = AgentCommand::Carry { agent: agent.clone(), position };
                    commands.push(Command::Act(RoomAct::Agent(carry), None));
                }
            }
        }
        if response.drag_stopped() {
            let hand = std::mem::take(&mut self.hand);
            let_go(hand, ui, room, state, commands);
        }
        let Some(pointer) = response.interact_pointer_pos() else { return };
        if response.double_clicked() {
            match under(pointer) {
                Some(Thing::Element(id)) => state.open_element = Some(id),
                Some(Thing::Agent(id)) => {
                    if let Some(agent) = room.agent(&id) {
                        state.camera.middle = agent.position;
                        state.camera.zoom = state.camera.zoom.max(1.6);
                    }
                }
                None => state.camera.zoom_at(pointer, 1.6),
            }
        } else if response.clicked() {
            response.request_focus();
            match under(pointer) {
                Some(thing) if shift && state.selected.remove(&thing) => {}
                Some(thing) if shift => {
                    state.selected.insert(thing);
                }
                Some(thing) => state.selected = [thing].into(),
                None if !shift => state.selected.clear(),
                None => {}
            }
        }
    }

    fn grasp(
        &self,
        under: Option<Thing>,
        place: Vec2,
        room: &RoomModel,
        shift: bool,
        space: bool,
        state: &mut UiState,
        commands: &mut Vec<Command>,
    ) -> Hand {
        match under {
            _ if space => Hand::Pans,
            None if shift => Hand::Boxes(place),
            None => Hand::Pans,
            Some(thing) => {
                if !state.selected.contains(&thing) {
                    state.selected = [thing.clone()].into();
                }
                let offset = |position: Vec2| position - place;
                match thing {
                    Thing::Agent(_) => {
                        let agents = state.selected.iter().filter_map(|thing| room.agent(thing.agent()?));
                        let hanging: BTreeMap<Id, Vec2> =
                            agents.map(|agent| (agent.id.clone(), offset(agent.position))).collect();
                        let pick_up = |agent: &Id| AgentCommand::PickUp { agent: agent.clone() };
                        commands.extend(hanging.keys().map(|id| Command::Act(RoomAct::Agent(pick_up(id)), None)));
                        Hand::Carries(hanging)
                    }
                    Thing::Element(_) => {
                        let elements = state.selected.iter().filter_map(|thing| room.element(thing.element()?));
                        Hand::Moves(elements.map(|element| (element.id.clone(), offset(element.position))).collect())
                    }
                }
            }
        }
    }

    /// Shows elements where the hand has them.
    fn place_moved(&self, ui: &Ui, room: &mut RoomModel, state: &UiState) {
        let Hand::Moves(lying) = &self.hand else { return };
        let Some(pointer) = ui.input(|input| input.pointer.latest_pos()) else { return };
        let place = state.camera.to_world(pointer);
        for element in &mut room.elements {
            if let Some(offset) = lying.get(&element.id) {
                element.position = place + *offset;
            }
        }
    }

    /// Puts into the room what was carried from the shelf.
    fn take_drop(
        &mut self,
        ui: &Ui,
        response: &Response,
        room: &RoomModel,
        state: &mut UiState,
        commands: &mut Vec<Command>,
    ) {
        let Some(item) = state.dragging.clone() else { return };
        let (released, pointer, exactly, gave_up) = ui.input(|input| {
            let pointer = input.pointer.latest_pos();
            (input.pointer.any_released(), pointer, input.modifiers.alt, input.key_pressed(Key::Escape))
        });
        if gave_up {
            state.dragging = None;
            return;
        }
        if !released {
            return;
        }
        state.dragging = None;
        let over_room = pointer.filter(|pointer| response.rect.contains(*pointer) && response.contains_pointer());
        let Some(pointer) = over_room else { return };
        let place = state.camera.to_world(pointer);
        match item {
            ShelfItem::Profile(profile) => {
                let position = spawn_place(room, place, exactly);
                commands.push(add_agent(room, &profile, position));
            }
            ShelfItem::Element(kind) => commands.push(super::shelf::element_at(room, &kind, place)),
        }
    }

    fn paint_hand(
        &self,
        ui: &Ui,
        painter: &egui::Painter,
        room: &RoomModel,
        art: &Art,
        theme: &Theme,
        state: &UiState,
    ) {
        let Some(pointer) = ui.input(|input| input.pointer.latest_pos()) else { return };
        if let Hand::Boxes(from) = self.hand {
            let rect = Rect::from_two_pos(state.camera.to_screen(from), pointer);
            painter.rect(
                rect,
                0.0,
                theme.accent.gamma_multiply(0.12),
                Stroke::new(1.0, theme.accent),
                StrokeKind::Inside,
            );
        }
        if let Some(item) = &state.dragging
            && state.camera.viewport.contains(pointer)
        {
            let exactly = ui.input(|input| input.modifiers.alt);
            let place = state.camera.to_world(pointer);
            let place = match item {
                ShelfItem::Profile(_) => spawn_place(room, place, exactly),
                ShelfItem::Element(_) => place,
            };
            let ghost = match item {
                ShelfItem::Profile(id) => {
                    let profile = room.profiles.iter().find(|profile| profile.id == *id);
                    Ghost::Agent(profile.map_or(id, |profile| &profile.look).clone())
                }
                ShelfItem::Element(kind) => Ghost::Element(kind.clone()),
            };
            paint::ghost(painter, art, state.camera, *theme, &ghost, place);
            ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        }
    }
}

fn let_go(hand: Hand, ui: &Ui, room: &RoomModel, state: &mut UiState, commands: &mut Vec<Command>) {
    let pointer = ui.input(|input| input.pointer.latest_pos());
    let place = pointer.map(|pointer| state.camera.to_world(pointer));
    match hand {
        Hand::Free | Hand::Pans => {}
        Hand::Boxes(from) => {
            if let Some(place) = place {
                state.selected.extend(things_in(room, from, place));
            }
        }
        Hand::Carries(hanging) => {
            let put_down =
                |agent: &Id| Command::Act(RoomAct::Agent(AgentCommand::PutDown { agent: agent.clone() }), None);
            commands.extend(hanging.keys().map(put_down));
        }
        Hand::Moves(lying) => {
            let moved = lying.iter().filter_map(|(id, offset)| {
                let element = room.element(id)?;
                let to = |position: Vec2| RoomAct::Element(ElementCommand::Move { element: id.clone(), position });
                Some((to(place? + *offset), Some(to(element.position))))
            });
            commands.push(Command::Acts(moved.collect()));
        }
    }
}

/// Where an agent that is dropped here comes to stand: above all elements, unless it is put there exactly.
pub fn spawn_place(room: &RoomModel, place: Vec2, exactly: bool) -> Vec2 {
    let topmost = room.elements.iter().map(|element| element.position.y).reduce(f32::max);
    match topmost {
        Some(topmost) if !exactly => Vec2::new(place.x, place.y.max(topmost + ABOVE_ELEMENTS)),
        _ => place,
    }
}

/// Puts an agent of a profile here, under an id of its own so that it can be taken away again.
pub fn add_agent(room: &RoomModel, profile: &Id, position: Vec2) -> Command {
    let free = (1..).map(|number| Id::from(format!("{profile}-{number}"))).find(|id| room.agent(id).is_none());
    let id = free.expect("there are more numbers than agents");
    let add =
        AgentCommand::Add { id: Some(id.clone()), profile: profile.clone(), position, behaviour: None, exactly: true };
    Command::Act(RoomAct::Agent(add), Some(RoomAct::Agent(AgentCommand::Remove { agent: id })))
}

fn minimap(ui: &mut Ui, rect: Rect, room: &RoomModel, theme: &Theme, state: &mut UiState) {
    let corner = rect.right_bottom() - egui::Vec2::splat(SPACE[2]);
    let map = Rect::from_min_max(corner - MINIMAP_POINTS, corner);
    let response = ui.interact(map, ui.id().with("minimap"), Sense::click_and_drag());
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
