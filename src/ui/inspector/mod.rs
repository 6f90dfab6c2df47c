//! The card at the right: what is selected, what it does and why, and what can be done about it.

mod agent;
mod element;
mod prompt;

use egui::Ui;

use super::icons::Icon;
use super::{Command, UiState, kit, words};
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::paint;
use crate::view::pick::Thing;
use crate::view::theme::{SPACE, Theme};

/// Draws the inspector.
pub fn inspector_ui(ui: &mut Ui, room: &RoomModel, art: &Art, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    kit::dress(ui.style_mut(), theme);
    let mut commands = Vec::new();
    let selected: Vec<Thing> = state.selected.iter().cloned().collect();
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| match selected.as_slice() {
        [] => {
            let how = "Click an agent or an element in the room. Shift-click or drag a box for several.";
            kit::empty(ui, Icon::Agent, "Nothing is selected", how, theme);
        }
        [thing] => one(ui, room, art, thing, theme, state, &mut commands),
        several => many(ui, room, art, several, theme, &mut commands),
    });
    commands
}

fn one(
    ui: &mut Ui,
    room: &RoomModel,
    art: &Art,
    thing: &Thing,
    theme: &Theme,
    state: &mut UiState,
    commands: &mut Vec<Command>,
) {
    let found = match thing {
        Thing::Agent(id) => {
            room.agent(id).map(|agent| agent::agent_card(ui, room, agent, art, theme, state, commands)).is_some()
        }
        Thing::Element(id) => room
            .element(id)
            .map(|element| element::element_card(ui, room, element, art, theme, state, commands))
            .is_some(),
    };
    if found {
        ui.add_space(SPACE[3]);
        last_row(ui, std::slice::from_ref(thing), theme, commands);
    } else {
        kit::empty(ui, Icon::Agent, &format!("{} has left the room", thing.id()), "Select something else.", theme);
    }
}

fn many(ui: &mut Ui, room: &RoomModel, art: &Art, things: &[Thing], theme: &Theme, commands: &mut Vec<Command>) {
    ui.label(kit::heading(format!("{} things", things.len()), theme));
    let agents = things.iter().filter(|thing| thing.agent().is_some()).count();
    let parts = [(agents, "agent", "agents"), (things.len() - agents, "element", "elements")];
    let said: Vec<String> =
        parts.iter().filter(|part| part.0 > 0).map(|(number, one, many)| words::count(*number, one, many)).collect();
    ui.label(kit::soft(said.join(", "), theme));
    kit::in_card(ui, theme, |ui| {
        const SHOWN: usize = 40;
        for thing in things.iter().take(SHOWN) {
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(egui::vec2(28.0, 28.0), egui::Sense::hover());
                let label = match thing {
                    Thing::Agent(id) => room.agent(id).map(|agent| {
                        paint::portrait(ui.painter(), rect, &agent.look, art);
                        agent.name.clone()
                    }),
                    Thing::Element(id) => room.element(id).map(|element| {
                        paint::element_picture(ui.painter(), rect, &element.kind, art);
                        element.label.clone()
                    }),
                };
                let label = label.unwrap_or_else(|| thing.id().clone());
                ui.add(egui::Label::new(&*label).truncate());
            });
        }
        if things.len() > SHOWN {
            ui.label(kit::small(format!("and {} more", things.len() - SHOWN), theme));
        }
    });
    last_row(ui, things, theme, commands);
}

/// Duplicate and delete, for one thing or several.
fn last_row(ui: &mut Ui, things: &[Thing], theme: &Theme, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        if ui.button("Duplicate").clicked() {
            commands.push(Command::Duplicate(things.to_vec()));
        }
        if kit::danger(ui, "Delete", theme).clicked() {
            commands.push(Command::Delete(things.to_vec()));
        }
    });
}

/// A key and its value on one line.
fn fact(ui: &mut Ui, key: &str, value: &str, theme: &Theme) {
    ui.horizontal_top(|ui| {
        let width = 84.0;
        let (rect, _) = ui.allocate_exact_size(egui::vec2(width, 18.0), egui::Sense::hover());
        let mut cell = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        cell.label(kit::soft(key, theme));
        ui.add(egui::Label::new(value).wrap());
    });
}

#[cfg(test)]
mod tests;
