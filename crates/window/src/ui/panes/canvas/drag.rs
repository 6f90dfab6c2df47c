//! Drag state in the room: what is being dragged, and what happens when it is dropped or the drag is cancelled.

use std::collections::BTreeMap;

use bevy::math::Vec2;
use egui::{Response, Ui};

use super::texts;
use crate::agent::AgentCommand;
use crate::agent::spawn_position::tenths;
use crate::base::Id;
use crate::element::ElementCommand;
use crate::simulation::State;
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::state::Naming;
use crate::ui::state::room_view::place_of;
use crate::ui::{Command, ViewerContext};
use crate::view::camera::Camera;
use crate::view::model::RoomModel;
use crate::view::pick::{Thing, thing_at, things_in};

/// Something that a hand holds. The room knows nothing of it until it is put down.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DraggedItem {
    /// What it is called, for when it is gone.
    name: Id,
    /// So far from the pointer.
    offset: Vec2,
}

/// What a hand is doing in the room.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum DragState {
    #[default]
    Free,
    /// Moves the view.
    Pans,
    /// Draws a box, from this place.
    Boxes(Vec2),
    /// Holds agents and elements.
    Holds(BTreeMap<Thing, DraggedItem>),
    /// Draws a rope from this agent to another.
    Relates(Id),
}

/// Says that somebody left who was held.
fn left(who: &str) -> Command {
    WindowCommand::Tell(texts::left_while_dragged(who), false).into()
}

/// Takes hold of what is under the pointer; `place` is where that is in the room.
pub(super) fn grasp(
    under: Option<Thing>,
    place: Vec2,
    cx: &ViewerContext<'_>,
    shift: bool,
    commands: &mut Vec<Command>,
) -> DragState {
    let (room, selection) = (cx.room, &cx.ui.selection);
    let Some(thing) = under else { return if shift { DragState::Boxes(place) } else { DragState::Pans } };
    let alone = [thing.clone()].into();
    let things = if selection.things().contains(&thing) { selection.things() } else { &alone };
    commands.push(WindowCommand::Select(things.iter().cloned().collect()).into());
    let held = things.iter().filter_map(|thing| {
        let name = match thing {
            Thing::Agent(id) => room.agent(id)?.name.clone(),
            Thing::Element(id) => id.clone(),
        };
        Some((thing.clone(), DraggedItem { name, offset: place_of(room, thing)? - place }))
    });
    DragState::Holds(held.collect())
}

impl DragState {
    /// Notices who has left.
    pub(super) fn notice_gone(&mut self, room: &RoomModel, commands: &mut Vec<Command>) {
        match self {
            Self::Holds(held) => {
                held.retain(|thing, held| {
                    let is_here = place_of(room, thing).is_some();
                    if !is_here {
                        commands.push(left(&held.name));
                    }
                    is_here
                });
                if held.is_empty() {
                    *self = Self::Free;
                }
            }
            Self::Relates(from) if room.agent(from).is_none() => *self = Self::Free,
            _ => {}
        }
    }

    /// Where what is held would be put down, with the pointer at this place.
    pub(super) fn places(&self, pointer: Vec2) -> BTreeMap<Thing, Vec2> {
        let Self::Holds(held) = self else { return BTreeMap::new() };
        held.iter().map(|(thing, held)| (thing.clone(), tenths(pointer + held.offset))).collect()
    }

    /// The hand opens at this place: what it held is put down there, all by one order. Where that is.
    pub(super) fn let_go(
        self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        camera: Camera,
        commands: &mut Vec<Command>,
    ) -> BTreeMap<Thing, Vec2> {
        let Some(pointer) = ui.input(|input| input.pointer.latest_pos()) else { return BTreeMap::new() };
        let (room, place) = (cx.room, camera.to_world(pointer));
        let places = self.places(place);
        match self {
            Self::Free | Self::Pans => {}
            Self::Boxes(from) => {
                let things = cx.ui.selection.things().iter().cloned().chain(things_in(room, from, place));
                commands.push(WindowCommand::Select(things.collect()).into());
            }
            Self::Holds(_) => {
                let put = places.iter().filter_map(|(thing, place)| put_down(thing, *place, room));
                commands.push(Command::Acts(put.collect()));
            }
            Self::Relates(from) => {
                // On a panel nobody stands.
                let under = response.contains_pointer().then(|| thing_at(room, place, camera.zoom)).flatten();
                if let Some(Thing::Agent(to)) = under
                    && to != from
                {
                    commands.push(WindowCommand::Name(Naming::of(&from, &to, room.relationships())).into());
                }
            }
        }
        places
    }
}

/// Puts a thing down somewhere. What takes that back for an agent is known to the room: its home until now.
fn put_down(thing: &Thing, position: Vec2, room: &RoomModel) -> Option<(RoomAct, Option<RoomAct>)> {
    match thing {
        Thing::Agent(id) => Some((RoomAct::Agent(AgentCommand::Place { agent: id.clone(), position }), None)),
        Thing::Element(id) => {
            let before = room.element(id)?.position;
            let to = |position: Vec2| RoomAct::Element(ElementCommand::Move { element: id.clone(), position });
            Some((to(position), Some(to(before))))
        }
    }
}

/// Shows things where they are held, or where they were put while the room has not heard of it yet.
pub(super) fn show_at(places: &BTreeMap<Thing, Vec2>, is_held: bool, room: &mut RoomModel) {
    if places.is_empty() {
        return;
    }
    for agent in &mut room.agents {
        if let Some(place) = places.get(&Thing::Agent(agent.id.clone())) {
            agent.position = *place;
            if is_held {
                (agent.state, agent.walks) = (State::Dragged, false);
            }
        }
    }
    for element in &mut room.elements {
        if let Some(place) = places.get(&Thing::Element(element.id.clone())) {
            element.position = *place;
        }
    }
}
