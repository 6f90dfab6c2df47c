//! What an element holds, opened above the room to be read and changed.

mod inbox;
mod other;
mod pinboard;
mod text;

use std::collections::BTreeMap;

use egui::{Id as WidgetId, RichText, Ui, Window};

use crate::base::{Author, Id};
use crate::element::kinds::kind;
use crate::element::{ElementAct, ElementEdit};
use crate::ui::Command;
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words;
use crate::view::model::{ContentView, ElementView};
use crate::view::theme::{TYPE, Theme};

/// What the overlays keep between frames.
#[derive(Clone, Debug, Default)]
pub struct Overlays {
    /// Texts that are being written, by the field they stand in; not yet part of the room.
    pub drafts: BTreeMap<String, String>,
    /// The texts that drafts of elements began from, by the same names: tells whether somebody else wrote meanwhile.
    pub draft_bases: BTreeMap<String, String>,
}

/// Draws the overlay of the element that is open, if one is.
pub fn overlays_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut Overlays) -> Vec<Command> {
    let ViewerContext { room, theme, .. } = *cx;
    let Some(id) = cx.ui.front.element() else { return Vec::new() };
    let Some(element) = room.element(id) else { return vec![WindowCommand::CloseElement.into()] };
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
                ContentView::Text(written) => text::text_ui(ui, element, written, theme, own, &mut commands),
                ContentView::Pins(pins) => pinboard::pinboard_ui(ui, room, element, pins, theme, own, &mut commands),
                ContentView::Other(text) => other::other_ui(ui, element, text, theme, own, &mut commands),
                ContentView::Mail { items, outbox } => {
                    inbox::inbox_ui(
                        ui,
                        room,
                        element,
                        (items.as_slice(), outbox.as_slice()),
                        theme,
                        own,
                        &mut commands,
                    );
                }
            }
        });
    if closed {
        commands.push(WindowCommand::CloseElement.into());
    }
    commands
}

/// The title of an overlay. Whether it is to be closed.
fn head(ui: &mut Ui, element: &ElementView, theme: &Theme) -> bool {
    let kind_name = kind(&element.kind).map_or_else(|| element.kind.to_string(), |kind| words::capitalised(kind.name));
    let file = element.file.as_deref().map_or_else(String::new, |file| format!(", {file}"));
    let about = widgets::small(format!("{kind_name}{file}"), theme);
    let title = RichText::new(&*element.label).heading().size(TYPE[3]);
    // From the right: what is long is cut before the cross.
    let from_the_right = egui::Layout::right_to_left(egui::Align::Center);
    let line = ui.allocate_ui_with_layout(
        egui::vec2(ui.available_width(), ui.spacing().interact_size.y),
        from_the_right,
        |ui| {
            let is_closed = widgets::icon_button(ui, Icon::Cross, "Close", false, theme).clicked();
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(egui::Label::new(title).selectable(false).truncate());
                ui.add(egui::Label::new(about).selectable(false).truncate());
            });
            is_closed
        },
    );
    line.inner
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
