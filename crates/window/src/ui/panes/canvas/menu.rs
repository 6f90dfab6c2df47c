//! The menu of a thing in the room, or of the floor: everything that can be done there, with its keys.

use bevy::math::Vec2;
use egui::{Button, Ui};

use super::MenuOn;
use crate::agent::AgentCommand;
use crate::base::Behaviour;
use crate::element::kinds::kinds;
use crate::simulation::State;
use crate::ui::Command;
use crate::ui::commands::table::{CommandContext, CommandTable, Menu};
use crate::ui::commands::{RoomAct, WindowCommand, create, keys};
use crate::ui::state::Naming;
use crate::ui::widgets::words;
use crate::view::model::RoomModel;
use crate::view::pick::Thing;

/// Draws the menu for what it was opened on, which is selected.
pub fn menu_ui(ui: &mut Ui, cx: &CommandContext<'_>, on: &MenuOn, place: Vec2) -> Vec<Command> {
    let mut commands = Vec::new();
    match on {
        MenuOn::Thing(Thing::Agent(id)) => agent_menu(ui, cx.room, id, &mut commands),
        MenuOn::Thing(Thing::Element(id)) => {
            if entry(ui, "Open", "Double-click") {
                commands.push(WindowCommand::OpenElement(id.clone()).into());
            }
        }
        MenuOn::Rope(_) => entries(ui, cx, Menu::Rope, &mut commands),
        MenuOn::Floor => floor_menu(ui, cx, place, &mut commands),
    }
    if let MenuOn::Thing(_) = on {
        ui.separator();
        entries(ui, cx, Menu::Thing, &mut commands);
    }
    commands
}

/// The commands that the table has for a menu.
fn entries(ui: &mut Ui, cx: &CommandContext<'_>, menu: Menu, commands: &mut Vec<Command>) {
    for (command, label) in CommandTable::standard().in_menu(menu) {
        let keys = keys::first_shown(ui.ctx(), command);
        let applies = (command.applies)(cx);
        let button = ui.add_enabled(applies.is_ok(), Button::new(label).shortcut_text(keys));
        if button.on_disabled_hover_text(applies.err().unwrap_or_default()).clicked() {
            commands.extend(command.run(cx));
            ui.close();
        }
    }
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
    relate_menus(ui, room, id, commands);
}

/// Whom an agent could be related to, and to whom it is: all that ropes and their handles do, for the keyboard.
fn relate_menus(ui: &mut Ui, room: &RoomModel, id: &crate::base::Id, commands: &mut Vec<Command>) {
    const LIST_POINTS: f32 = 320.0;
    let list = |ui: &mut Ui, rows: &mut dyn FnMut(&mut Ui)| {
        egui::ScrollArea::vertical().max_height(LIST_POINTS).show(ui, |ui| rows(ui));
    };
    if room.agents.len() > 1 {
        ui.menu_button("Relate to…", |ui| {
            list(ui, &mut |ui| {
                for other in room.agents.iter().filter(|other| other.id != *id) {
                    if ui.button(&*other.name).clicked() {
                        let naming = Naming::of(id, &other.id, room.relationships());
                        commands.push(WindowCommand::Name(naming).into());
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
                    commands.push(WindowCommand::SelectRope(tie).into());
                    ui.close();
                }
            }
        });
    });
}

fn floor_menu(ui: &mut Ui, cx: &CommandContext<'_>, place: Vec2, commands: &mut Vec<Command>) {
    let room = cx.room;
    ui.menu_button("Add an agent", |ui| {
        for profile in room.profiles.iter() {
            if ui.button(&profile.name).on_hover_text(&profile.description).clicked() {
                let place = create::spawn_place(room, place, ui.input(|input| input.modifiers.alt));
                commands.push(create::add_agent(room, &profile.id, place));
                ui.close();
            }
        }
    });
    ui.menu_button("Add an element", |ui| {
        for kind in kinds() {
            if ui.button(words::capitalised(kind.name)).on_hover_text(kind.purpose).clicked() {
                commands.push(create::element_at(room, kind.word, place));
                ui.close();
            }
        }
    });
    ui.separator();
    // Here it comes to where the menu was opened, by key to the middle of what is seen.
    if !cx.ui.copied.is_empty() && entry(ui, "Paste", &keys::shown(ui.ctx(), "room.paste")) {
        commands.push(Command::Paste(place));
    }
    entries(ui, cx, Menu::Floor, commands);
    // What is in the hand is put down by a click elsewhere.
    if cx.ui.dragging.is_some() {
        commands.push(WindowCommand::Drag(None).into());
    }
}

fn entry(ui: &mut Ui, text: &str, keys: &str) -> bool {
    let clicked = ui.add(Button::new(text).shortcut_text(keys)).clicked();
    if clicked {
        ui.close();
    }
    clicked
}
