//! Drag state in the room: the dragged things, and the effect of dropping them or cancelling the drag.

use std::collections::BTreeMap;

use bevy::math::Vec2;
use egui::{Response, Ui};

use super::texts;
use crate::agent::AgentCommand;
use crate::agent::spawn_position::tenths;
use crate::base::Id;
use crate::element::ElementCommand;
use crate::simulation::State;
use crate::ui::commands::{CanvasCommand, RoomAct, WindowCommand};
use crate::ui::state::RelationshipNaming;
use crate::ui::state::room_view::place_of;
use crate::ui::{Command, ViewerContext};
use crate::view::camera::Camera;
use crate::view::model::RoomModel;
use crate::view::pick::{RoomObject, hit_test, hit_test_rect};

/// An agent or element being dragged. The simulation learns of the move only when it is dropped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DraggedItem {
    /// Display name, for the notice if the thing leaves the room meanwhile.
    name: Id,
    /// Offset of its position from the pointer, in world units.
    offset: Vec2,
}

/// The current drag in the room.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum DragState {
    #[default]
    Idle,
    /// The view is panned.
    Panning,
    /// A selection box is drawn from this position.
    BoxSelecting(Vec2),
    /// Agents and elements are dragged.
    Dragging(BTreeMap<RoomObject, DraggedItem>),
    /// A relationship is drawn from this agent to another.
    Relating(Id),
}

/// Returns the notice that a dragged agent or element left the room.
fn left_room_notice(who: &str) -> Command {
    WindowCommand::Tell(texts::left_during_drag(who), false).into()
}

/// Starts a drag on `under`, the thing under the pointer; `place` is the pointer's position in the room.
pub(super) fn begin_drag(
    under: Option<RoomObject>,
    place: Vec2,
    cx: &ViewerContext<'_>,
    shift: bool,
    commands: &mut Vec<Command>,
) -> DragState {
    let (room, selection) = (cx.room, &cx.ui.selection);
    let Some(thing) = under else { return if shift { DragState::BoxSelecting(place) } else { DragState::Panning } };
    let alone = [thing.clone()].into();
    let things = if selection.things().contains(&thing) { selection.things() } else { &alone };
    commands.push(WindowCommand::Select(things.iter().cloned().collect()).into());
    let dragged = things.iter().filter_map(|thing| {
        let name = match thing {
            RoomObject::Agent(id) => room.agent(id)?.name.clone(),
            RoomObject::Element(id) => id.clone(),
        };
        Some((thing.clone(), DraggedItem { name, offset: place_of(room, thing)? - place }))
    });
    DragState::Dragging(dragged.collect())
}

impl DragState {
    /// Drops things from the drag that have left the room.
    pub(super) fn remove_missing(&mut self, room: &RoomModel, commands: &mut Vec<Command>) {
        match self {
            Self::Dragging(dragged) => {
                dragged.retain(|thing, dragged| {
                    let is_here = place_of(room, thing).is_some();
                    if !is_here {
                        commands.push(left_room_notice(&dragged.name));
                    }
                    is_here
                });
                if dragged.is_empty() {
                    *self = Self::Idle;
                }
            }
            Self::Relating(from) if room.agent(from).is_none() => *self = Self::Idle,
            _ => {}
        }
    }

    /// Returns where each dragged thing would be dropped with the pointer at this position.
    pub(super) fn drop_positions(&self, pointer: Vec2) -> BTreeMap<RoomObject, Vec2> {
        let Self::Dragging(dragged) = self else { return BTreeMap::new() };
        dragged.iter().map(|(thing, dragged)| (thing.clone(), tenths(pointer + dragged.offset))).collect()
    }

    /// Ends the drag at the pointer and returns the drop positions. All dragged things are moved with one command.
    pub(super) fn drop_at_pointer(
        self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        camera: Camera,
        commands: &mut Vec<Command>,
    ) -> BTreeMap<RoomObject, Vec2> {
        let Some(pointer) = ui.input(|input| input.pointer.latest_pos()) else { return BTreeMap::new() };
        let (room, place) = (cx.room, camera.to_world(pointer));
        let positions = self.drop_positions(place);
        match self {
            Self::Idle | Self::Panning => {}
            Self::BoxSelecting(from) => {
                let things = cx.ui.selection.things().iter().cloned().chain(hit_test_rect(room, from, place));
                commands.push(WindowCommand::Select(things.collect()).into());
            }
            Self::Dragging(_) => {
                let acts = positions.iter().filter_map(|(thing, place)| drop_act(thing, *place, room));
                commands.push(Command::Acts(acts.collect()));
            }
            Self::Relating(from) => {
                // A panel over the room hides any agent beneath it.
                let under = response.contains_pointer().then(|| hit_test(room, place, camera.zoom)).flatten();
                if let Some(RoomObject::Agent(to)) = under
                    && to != from
                {
                    commands.push(CanvasCommand::Name(RelationshipNaming::of(&from, &to, room.relationships())).into());
                }
            }
        }
        positions
    }
}

/// Returns the act that moves a thing and its inverse. An agent has no inverse here: the simulation knows its former
/// home.
fn drop_act(thing: &RoomObject, position: Vec2, room: &RoomModel) -> Option<(RoomAct, Option<RoomAct>)> {
    match thing {
        RoomObject::Agent(id) => Some((RoomAct::Agent(AgentCommand::Place { agent: id.clone(), position }), None)),
        RoomObject::Element(id) => {
            let before = room.element(id)?.position;
            let to = |position: Vec2| RoomAct::Element(ElementCommand::Move { element: id.clone(), position });
            Some((to(position), Some(to(before))))
        }
    }
}

/// Overrides positions in the model, for things being dragged or dropped before the simulation has applied the move.
pub(super) fn apply_positions(positions: &BTreeMap<RoomObject, Vec2>, is_dragged: bool, room: &mut RoomModel) {
    if positions.is_empty() {
        return;
    }
    for agent in &mut room.agents {
        if let Some(place) = positions.get(&RoomObject::Agent(agent.id.clone())) {
            agent.position = *place;
            if is_dragged {
                (agent.state, agent.walks) = (State::Dragged, false);
            }
        }
    }
    for element in &mut room.elements {
        if let Some(place) = positions.get(&RoomObject::Element(element.id.clone())) {
            element.position = *place;
        }
    }
}
