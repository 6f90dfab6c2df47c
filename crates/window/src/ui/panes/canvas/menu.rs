//! The menu of a thing in the room, or of the floor: everything that can be done there, with its keys.

use bevy::math::Vec2;
use egui::{Button, Ui};

use crate::agent::AgentCommand;
use crate::base::Behaviour;
use crate::element::kinds::kinds;
use crate::simulation::State;
use crate::ui::commands::RoomAct;
use crate::ui::commands::keys;
use crate::ui::panes::canvas;
use crate::ui::panes::canvas::MenuOn;
use crate::ui::panes::shelf;
use crate::ui::state::Naming;
use crate::ui::state::ShelfItem;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;

/// Draws the menu for what it was opened on.
pub fn menu_ui(ui: &mut Ui, room: &RoomModel, on: &MenuOn, place: Vec2, state: &mut UiState) -> Vec<Command> {
    let mut commands = Vec::new();
    match on {
        MenuOn::Thing(Thing::Agent(id)) => agent_menu(ui, room, id, state, &mut commands),
        MenuOn::Thing(Thing::Element(id)) => {
            if entry(ui, "Open", "Double-click") {
                state.open_element = Some(id.clone());
            }
        }
        MenuOn::Rope(relationship) => {
            if entry(ui, "Rename", "Enter") {
                canvas::rename(relationship.clone(), state);
            }
            if entry(ui, "Delete", "Del") {
                commands.push(keys::end_relationship(relationship.clone()));
                state.rope = None;
            }
        }
        MenuOn::Floor => floor_menu(ui, room, place, state, &mut commands),
    }
    if let MenuOn::Thing(thing) = on {
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

fn agent_menu(ui: &mut Ui, room: &RoomModel, id: &crate::base::Id, state: &mut UiState, commands: &mut Vec<Command>) {
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
    relate_menus(ui, room, id, state);
}

/// Whom an agent could be related to, and to whom it is: all that ropes and their handles do, for the keyboard.
fn relate_menus(ui: &mut Ui, room: &RoomModel, id: &crate::base::Id, state: &mut UiState) {
    const LIST_POINTS: f32 = 320.0;
    let list = |ui: &mut Ui, rows: &mut dyn FnMut(&mut Ui)| {
        egui::ScrollArea::vertical().max_height(LIST_POINTS).show(ui, |ui| rows(ui));
    };
    if room.agents.len() > 1 {
        ui.menu_button("Relate to…", |ui| {
            list(ui, &mut |ui| {
                for other in room.agents.iter().filter(|other| other.id != *id) {
                    if ui.button(&*other.name).clicked() {
                        state.naming = Some(Naming::of(id, &other.id, room.relationships()));
                        ui.close();
                    }
                }
            });
        });
    }
    let own = || room.relationships().filter(|tie| tie.from == *id || tie.to == *id);
    if own().next().is_none() {
        return;
    }
    ui.menu_button("Relationships", |ui| {
        list(ui, &mut |ui| {
            for tie in own() {
                let label = if tie.label.is_empty() { "related to" } else { &tie.label };
                let words = format!("{}: {label} {}", room.called(&tie.from), room.called(&tie.to));
                if ui.button(words).on_hover_text("Selects it; Enter renames, Delete removes").clicked() {
                    state.selected.clear();
                    state.rope = Some(tie);
                    ui.close();
                }
            }
        });
    });
}

fn floor_menu(ui: &mut Ui, room: &RoomModel, place: Vec2, state: &mut UiState, commands: &mut Vec<Command>) {
    ui.menu_button("Add an agent", |ui| {
        for profile in room.profiles.iter() {
            if ui.button(&profile.name).on_hover_text(&profile.description).clicked() {
                let place = canvas::spawn_place(room, place, ui.input(|input| input.modifiers.alt));
                commands.push(canvas::add_agent(room, &profile.id, place));
                ui.close();
            }
        }
    });
    ui.menu_button("Add an element", |ui| {
        for kind in kinds() {
            if ui.button(shelf::capitalised(kind.name)).on_hover_text(kind.purpose).clicked() {
                commands.push(shelf::element_at(room, kind.word, place));
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
