//! The context menus of agents, elements, relationships and the floor, with submenus for adding and relating.

use bevy::math::Vec2;
use egui::Ui;

use super::{MenuTarget, texts};
use crate::base::Id;
use crate::element::kinds::kinds;
use crate::ui::commands::table::{CommandContext, Menu};
use crate::ui::commands::{CanvasCommand, WindowCommand, create};
use crate::ui::menus::entries_for;
use crate::ui::state::RelationshipNaming;
use crate::ui::widgets::{menu, text_format};
use crate::ui::{Command, ViewerContext};
use crate::view::pick::RoomObject;
use crate::view::theme::MENU;

/// Maximum height of a submenu before it scrolls.
const LIST_POINTS: f32 = 320.0;

/// Draws the context menu of `on`, which is selected; `place` is where it was opened in the room.
pub fn menu_ui(ui: &mut Ui, cx: &ViewerContext<'_>, on: &MenuTarget, place: Vec2) -> Vec<Command> {
    let mut commands = Vec::new();
    let context = CommandContext { at: Some(place), ..cx.commands() };
    menu::content(ui, cx.theme, MENU[1], |ui| {
        let commands = &mut commands;
        let entries = |ui: &mut Ui, menu: Menu, commands: &mut Vec<Command>| {
            entries_for(ui, cx.table, &context, menu, commands);
        };
        match on {
            MenuTarget::Thing(RoomObject::Agent(id)) => {
                entries(ui, Menu::Agent, commands);
                menu::submenu(ui, texts::WHEN_IDLE, MENU[0], cx.theme, |ui| entries(ui, Menu::WhenIdle, commands));
                relate_menus(ui, cx, id, commands);
            }
            MenuTarget::Thing(RoomObject::Element(_)) => entries(ui, Menu::Element, commands),
            MenuTarget::Rope(_) => entries(ui, Menu::Rope, commands),
            MenuTarget::Floor => {
                add_menus(ui, cx, place, commands);
                ui.separator();
                entries(ui, Menu::Floor, commands);
            }
        }
        if let MenuTarget::Thing(_) = on {
            ui.separator();
            entries(ui, Menu::Thing, commands);
        }
    });
    // A click elsewhere ends a drag from the shelf.
    if *on == MenuTarget::Floor && cx.ui.transfer.dragging.is_some() {
        commands.push(WindowCommand::Drag(None).into());
    }
    commands
}

/// Draws a submenu that scrolls if it is long.
fn scrolling_submenu(ui: &mut Ui, cx: &ViewerContext<'_>, label: &str, width: f32, rows: impl FnOnce(&mut Ui)) {
    menu::submenu(ui, label, width, cx.theme, |ui| {
        egui::ScrollArea::vertical().max_height(LIST_POINTS).show(ui, rows);
    });
}

/// Draws the submenus for adding and selecting an agent's relationships, for use without a mouse.
fn relate_menus(ui: &mut Ui, cx: &ViewerContext<'_>, id: &Id, commands: &mut Vec<Command>) {
    let room = cx.room;
    if room.agents.len() > 1 {
        scrolling_submenu(ui, cx, texts::RELATE_TO, MENU[0], |ui| {
            for other in room.agents.iter().filter(|other| other.id != *id) {
                if menu::listed(ui, &*other.name).clicked() {
                    let naming = RelationshipNaming::of(id, &other.id, room.relationships());
                    commands.push(CanvasCommand::Name(naming).into());
                }
            }
        });
    }
    let own = || room.relationships().filter(|tie| tie.from == *id || tie.to == *id);
    if own().next().is_none() {
        return;
    }
    scrolling_submenu(ui, cx, texts::RELATIONSHIPS, MENU[1], |ui| {
        for tie in own() {
            let label = if tie.label.is_empty() { texts::RELATED_TO } else { &tie.label };
            let text = texts::relationship(room.called(&tie.from), label, room.called(&tie.to));
            let row = menu::listed(ui, text).on_hover_text(texts::RELATIONSHIP_TIP);
            if row.clicked() {
                commands.push(WindowCommand::SelectRope(tie).into());
            }
        }
    });
}

/// Draws the submenus for adding an agent or an element at `place`.
fn add_menus(ui: &mut Ui, cx: &ViewerContext<'_>, place: Vec2, commands: &mut Vec<Command>) {
    let room = cx.room;
    scrolling_submenu(ui, cx, texts::ADD_AN_AGENT, MENU[0], |ui| {
        for profile in room.profiles.iter() {
            if menu::listed(ui, &profile.name).on_hover_text(&profile.description).clicked() {
                let exactly = ui.input(|input| create::is_exact(input.modifiers));
                commands.extend(create::add_agent(room, &profile.id, place, exactly));
            }
        }
    });
    scrolling_submenu(ui, cx, texts::ADD_AN_ELEMENT, MENU[0], |ui| {
        for kind in kinds() {
            if menu::listed(ui, text_format::capitalised(kind.name)).on_hover_text(kind.purpose).clicked() {
                commands.push(create::element_at(room, kind.word, place));
            }
        }
    });
}
