//! What an element holds, opened above the room to be read and changed.

mod inbox;
mod other;
mod pinboard;
mod text;

use egui::{Id as WidgetId, RichText, Ui, Window};

use crate::base::{Author, Id};
use crate::element::kinds::kind;
use crate::element::{ElementAct, ElementEdit};
use crate::ui::commands::RoomAct;
use crate::ui::panes::shelf;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::{Command, UiState};
use crate::view::model::{ContentView, ElementView, RoomModel};
use crate::view::theme::{TYPE, Theme};

/// Draws the overlay of the element that is open, if one is.
pub fn overlays_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    let Some(id) = state.open_element.clone() else { return Vec::new() };
    let Some(element) = room.element(&id) else {
        state.open_element = None;
        return Vec::new();
    };
    let mut commands = Vec::new();
    let mut closed = false;
    let area = ui.ctx().content_rect().shrink(24.0);
    Window::new(&*element.label)
        .id(WidgetId::new("overlay").with(&*element.kind))
        .title_bar(false)
        .collapsible(false)
        .frame(widgets::window(theme))
        .default_size(egui::vec2(760.0, 560.0).min(area.size()))
        .default_pos(area.center() - egui::vec2(380.0, 300.0).min(area.size() / 2.0))
        .min_size([420.0, 320.0])
        .show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), theme);
            closed = head(ui, element, theme);
            ui.separator();
            match &*element.content {
                ContentView::Text(written) => text::text_ui(ui, element, written, theme, state, &mut commands),
                ContentView::Pins(pins) => pinboard::pinboard_ui(ui, room, element, pins, theme, state, &mut commands),
                ContentView::Other(text) => other::other_ui(ui, element, text, theme, state, &mut commands),
                ContentView::Mail { items, outbox } => {
                    inbox::inbox_ui(
                        ui,
                        room,
                        element,
                        (items.as_slice(), outbox.as_slice()),
                        theme,
                        state,
                        &mut commands,
                    );
                }
            }
        });
    if closed {
        state.open_element = None;
    }
    commands
}

/// The title of an overlay. Whether it is to be closed.
fn head(ui: &mut Ui, element: &ElementView, theme: &Theme) -> bool {
    let kind_name = kind(&element.kind).map_or_else(|| element.kind.to_string(), |kind| shelf::capitalised(kind.name));
    widgets::line(
        ui,
        |ui| {
            ui.add(egui::Label::new(RichText::new(&*element.label).heading().size(TYPE[3])).selectable(false));
            let file = element.file.as_deref().map_or_else(String::new, |file| format!(", {file}"));
            ui.add(egui::Label::new(widgets::small(format!("{kind_name}{file}"), theme)).selectable(false));
        },
        |ui| widgets::icon_button(ui, Icon::Cross, "Close", false, theme).clicked(),
    )
}

/// Something that the person does to what an element holds.
fn edit(element: &Id, act: ElementAct) -> RoomAct {
    RoomAct::Edit(ElementEdit { element: element.clone(), act, by: Author::user(), cause: None })
}

/// A colour for whoever wrote something.
fn author_colour(author: &str, theme: &Theme) -> egui::Color32 {
    if author == "user" { theme.accent } else { crate::view::theme::word_colour(author) }
}

#[cfg(test)]
mod tests;
