//! The menu of a thing in the room, or of the floor: everything that can be done there, with its keys.

use bevy::math::Vec2;
use egui::{Button, Ui};

use super::command::RoomAct;
use super::state::ShelfItem;
use super::{Command, UiState, canvas, keys};
use crate::agent::AgentCommand;
use crate::base::Behaviour;
use crate::simulation::State;
use crate::view::model::RoomModel;
use crate::view::pick::Thing;

/// Draws the menu for what it was opened on.
pub fn menu_ui(ui: &mut Ui, room: &RoomModel, thing: Option<&Thing>, place: Vec2, state: &mut UiState) -> Vec<Command> {
    let mut commands = Vec::new();
    match thing {
        Some(Thing::Agent(id)) => agent_menu(ui, room, id, &mut commands),
        Some(Thing::Element(id)) => {
            if entry(ui, "Open", "Double-click") {
                state.open_element = Some(id.clone());
            }
        }
        None => floor_menu(ui, room, place, state, &mut commands),
    }
    if let Some(thing) = thing {
        ui.separator();
        let chosen: Vec<Thing> =
            if state.selected.contains(thing) { state.selected.iter().cloned().collect() } else { vec![thing.clone()] };
        if entry(ui, "Show", "F") {
            keys::frame(room, state);
        }
        if entry(ui, "Duplicate", "D") {
            commands.push(Command::Duplicate(chosen.clone()));
        }
        if entry(ui, "Copy", "Ctrl+C") {
            commands.push(Command::Copy(chosen.clone()));
        }
        if entry(ui, "Delete", "Del") {
            commands.push(Command::Delete(chosen));
        }
    }
    commands
}

fn agent_menu(ui: &mut Ui, room: &RoomModel, id: &crate::base::Id, commands: &mut Vec<Command>) {
    let Some(agent) = room.agent(id) else { return };
    let act = |command| Command::Act(RoomAct::Agent(command), None);
    if agent.state == State::Paused {
        if entry(ui, "Let it go on", "") {
            commands.push(act(AgentCommand::Resume { agent: id.clone() }));
        }
    } else if entry(ui, "Pause", "") {
        commands.push(act(AgentCommand::Pause { agent: id.clone() }));
    }
    let now = agent.detail.as_ref().map(|detail| detail.behaviour);
    ui.menu_button("When nothing calls", |ui| {
        for (behaviour, word) in [
            (Behaviour::Stationary, "Stay where it is"),
            (Behaviour::Wander, "Wander about"),
            (Behaviour::Patrol, "Walk its round"),
        ] {
            if ui.radio(now == Some(behaviour), word).clicked() {
                let set = |behaviour| RoomAct::Agent(AgentCommand::SetBehaviour { agent: id.clone(), behaviour });
                commands.push(Command::Act(set(behaviour), now.map(set)));
                ui.close();
            }
        }
    });
}

fn floor_menu(ui: &mut Ui, room: &RoomModel, place: Vec2, state: &mut UiState, commands: &mut Vec<Command>) {
    ui.menu_button("Add an agent", |ui| {
        for profile in &room.profiles {
            if ui.button(&profile.name).on_hover_text(&profile.description).clicked() {
                commands.push(canvas::add_agent(room, &profile.id, place));
                ui.close();
            }
        }
    });
    ui.menu_button("Add an element", |ui| {
        for (kind, word) in
            [("pinboard", "Pinboard"), ("messageboard", "Message board"), ("inbox", "Inbox"), ("rulebook", "Rulebook")]
        {
            if ui.button(word).clicked() {
                commands.push(super::shelf::element_at(room, kind, place));
                ui.close();
            }
        }
    });
    ui.separator();
    if !state.copied.is_empty() && entry(ui, "Paste", "Ctrl+V") {
        commands.push(Command::Paste(place));
    }
    if entry(ui, "Show everything", "F") {
        state.selected.clear();
        keys::frame(room, state);
    }
    // What is in the hand is put down by a click elsewhere.
    if matches!(state.dragging, Some(ShelfItem::Profile(_) | ShelfItem::Element(_))) {
        state.dragging = None;
    }
}

fn entry(ui: &mut Ui, text: &str, keys: &str) -> bool {
    let clicked = ui.add(Button::new(text).shortcut_text(keys)).clicked();
    if clicked {
        ui.close();
    }
    clicked
}
