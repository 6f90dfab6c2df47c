//! What a hand is doing in the room: what it took hold of, and what becomes of that when it lets go or gives up.

use std::collections::BTreeMap;

use bevy::math::Vec2;
use egui::{Response, Ui};

use crate::agent::AgentCommand;
use crate::base::Id;
use crate::element::ElementCommand;
use crate::ui::commands::{RoomAct, WindowCommand, create};
use crate::ui::state::Naming;
use crate::ui::{Command, ViewerContext};
use crate::view::camera::Camera;
use crate::view::model::RoomModel;
use crate::view::pick::{Thing, thing_at, things_in};

/// An agent that hangs from a hand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Carried {
    /// What it is called, for when it is gone.
    name: Id,
    /// So far from the pointer.
    offset: Vec2,
    /// Where it was lifted.
    lifted_at: Vec2,
    /// Its home until now, where known.
    home: Option<Vec2>,
}

/// What a hand is doing in the room.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Hand {
    #[default]
    Free,
    /// Moves the view.
    Pans,
    /// Draws a box, from this place.
    Boxes(Vec2),
    /// Carries agents.
    Carries(BTreeMap<Id, Carried>),
    /// Moves elements; each lies so far from the pointer. Where they end is told when they are put down.
    Moves(BTreeMap<Id, Vec2>),
    /// Draws a rope from this agent to another.
    Relates(Id),
}

/// Says that somebody left who was held.
fn left(who: &str) -> Command {
    WindowCommand::Tell(format!("{who} left the room while you held it."), false).into()
}

fn act(command: AgentCommand) -> (RoomAct, Option<RoomAct>) {
    (RoomAct::Agent(command), None)
}

fn set_home(agent: &Id, position: Vec2) -> RoomAct {
    RoomAct::Agent(AgentCommand::SetHome { agent: agent.clone(), position })
}

/// Takes hold of what is under the pointer; `place` is where that is in the room.
pub(super) fn grasp(
    under: Option<Thing>,
    place: Vec2,
    cx: &ViewerContext<'_>,
    shift: bool,
    commands: &mut Vec<Command>,
) -> Hand {
    let (room, selection) = (cx.room, &cx.ui.selection);
    let Some(thing) = under else { return if shift { Hand::Boxes(place) } else { Hand::Pans } };
    let alone = [thing.clone()].into();
    let things = if selection.things().contains(&thing) { selection.things() } else { &alone };
    commands.push(WindowCommand::Select(things.iter().cloned().collect()).into());
    if matches!(thing, Thing::Element(_)) {
        let elements = things.iter().filter_map(|thing| room.element(thing.element()?));
        return Hand::Moves(elements.map(|element| (element.id.clone(), element.position - place)).collect());
    }
    let agents = things.iter().filter_map(|thing| room.agent(thing.agent()?));
    let carried = agents.map(|agent| {
        let carried = Carried {
            name: agent.name.clone(),
            offset: agent.position - place,
            lifted_at: create::tenths(agent.position),
            home: agent.detail.as_ref().map(|detail| detail.home),
        };
        (agent.id.clone(), carried)
    });
    let carried: BTreeMap<Id, Carried> = carried.collect();
    let lift = |agent: &Id| act(AgentCommand::PickUp { agent: agent.clone() });
    commands.push(Command::Acts(carried.keys().map(lift).collect()));
    Hand::Carries(carried)
}

impl Hand {
    /// Lets carried agents follow the pointer, learns where their homes are, and notices who has left.
    pub(super) fn follow(&mut self, place: Option<Vec2>, room: &RoomModel, commands: &mut Vec<Command>) {
        match self {
            Self::Carries(carried) => {
                carried.retain(|id, carried| {
                    let is_here = room.agent(id).is_some();
                    if !is_here {
                        commands.push(left(&carried.name));
                    }
                    is_here
                });
                let mut acts = Vec::new();
                for (id, carried) in carried.iter_mut() {
                    let Some(agent) = room.agent(id) else { continue };
                    carried.home = carried.home.or(agent.detail.as_ref().map(|detail| detail.home));
                    let position = place.map_or(agent.position, |place| place + carried.offset);
                    if agent.position.distance(position) > 0.5 {
                        acts.push(act(AgentCommand::Carry { agent: id.clone(), position }));
                    }
                }
                if carried.is_empty() {
                    *self = Self::Free;
                }
                if !acts.is_empty() {
                    commands.push(Command::Acts(acts));
                }
            }
            Self::Moves(moved) => {
                moved.retain(|id, _| {
                    let is_here = room.element(id).is_some();
                    if !is_here {
                        commands.push(left(id));
                    }
                    is_here
                });
                if moved.is_empty() {
                    *self = Self::Free;
                }
            }
            Self::Relates(from) if room.agent(from).is_none() => *self = Self::Free,
            _ => {}
        }
    }

    /// Shows what is held where the hand has it: the room hears of it a tick later.
    pub(super) fn place_held(&self, place: Vec2, room: &mut RoomModel) {
        match self {
            Self::Moves(moved) => {
                for element in &mut room.elements {
                    if let Some(offset) = moved.get(&element.id) {
                        element.position = place + *offset;
                    }
                }
            }
            Self::Carries(carried) => {
                for agent in &mut room.agents {
                    if let Some(carried) = carried.get(&agent.id) {
                        agent.position = place + carried.offset;
                    }
                }
            }
            _ => {}
        }
    }

    /// The hand opens at this place: what it held is put down there.
    pub(super) fn let_go(
        self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        camera: Camera,
        commands: &mut Vec<Command>,
    ) {
        let Some(pointer) = ui.input(|input| input.pointer.latest_pos()) else { return };
        let (room, place) = (cx.room, camera.to_world(pointer));
        match self {
            Self::Free | Self::Pans => {}
            Self::Boxes(from) => {
                let things = cx.ui.selection.things().iter().cloned().chain(things_in(room, from, place));
                commands.push(WindowCommand::Select(things.collect()).into());
            }
            Self::Carries(carried) => {
                commands.push(Command::Acts(put_down(&carried, |carried| create::tenths(place + carried.offset))));
            }
            Self::Moves(moved) => {
                let moved = moved.iter().filter_map(|(id, offset)| {
                    let element = room.element(id)?;
                    let to = |position: Vec2| RoomAct::Element(ElementCommand::Move { element: id.clone(), position });
                    Some((to(create::tenths(place + *offset)), Some(to(element.position))))
                });
                commands.push(Command::Acts(moved.collect()));
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
    }

    /// The hand gives up: agents stand again where they were lifted and keep their homes, elements never moved.
    pub(super) fn give_up(self, commands: &mut Vec<Command>) {
        if let Self::Carries(carried) = self {
            let mut acts = put_down(&carried, |carried| carried.lifted_at);
            // What is as before is no step that could be taken back.
            for (act, back) in &mut acts {
                if let Some(before) = back.take() {
                    *act = before;
                }
            }
            commands.push(Command::Acts(acts));
        }
    }
}

/// Puts agents down, each at its place. That is its new home; taken back, it goes home to the old one.
fn put_down(carried: &BTreeMap<Id, Carried>, place: impl Fn(&Carried) -> Vec2) -> Vec<(RoomAct, Option<RoomAct>)> {
    let put = |(agent, carried): (&Id, &Carried)| {
        let position = place(carried);
        let settled = carried.home.map(|home| (set_home(agent, position), Some(set_home(agent, home))));
        let carry = act(AgentCommand::Carry { agent: agent.clone(), position });
        let down = act(AgentCommand::PutDown { agent: agent.clone() });
        [Some(carry), Some(down), settled].into_iter().flatten()
    };
    carried.iter().flat_map(put).collect()
}
