//! Overlays: the content of an element, opened above the room to be read and edited.

mod frame;
mod generic;
mod inbox;
mod pinboard;
mod tasks;
mod text;
mod texts;

use std::collections::BTreeMap;

use egui::{Id as WidgetId, RichText, Ui, Window};

use self::frame::Object;
use crate::base::{Author, Id};
use crate::element::kinds::kind;
use crate::element::{ElementAct, ElementEdit};
use crate::ui::Command;
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::model::{ContentView, ElementView};
use crate::view::theme::{SPACE, TYPE, Theme};

/// The size of an element in the room, including its label.
const THING_UNITS: egui::Vec2 = egui::vec2(110.0, 110.0);

/// The state of the overlays.
#[derive(Clone, Debug, Default)]
pub struct Overlays {
    /// Unsaved texts, by field.
    pub drafts: BTreeMap<String, String>,
    /// The texts that drafts started from, by field, to detect changes made meanwhile by others.
    pub draft_bases: BTreeMap<String, String>,
}

/// Draws the overlay of the open element, if there is one.
pub fn overlays_ui(ui: &mut Ui, cx: &ViewerContext<'_>, overlays: &mut Overlays) -> Vec<Command> {
    let ViewerContext { room, theme, .. } = *cx;
    let Some(id) = cx.ui.front.element() else { return Vec::new() };
    let Some(element) = room.element(id) else { return vec![WindowCommand::CloseElement.into()] };
    let mut commands = Vec::new();
    let mut closed = false;
    let view = cx.ui.view.camera.viewport;
    let is_seen = cx.ui.dock.is_visible(&Tab::ROOM) && ui.ctx().content_rect().contains_rect(view);
    let area = if is_seen { view } else { ui.ctx().content_rect() };
    let camera = &cx.ui.view.camera;
    let thing = egui::Rect::from_center_size(camera.to_screen(element.position), THING_UNITS * camera.zoom);
    let object = Object::of(&element.kind, &element.content);
    let place = frame::place_beside(area, thing, object.min_width_points());
    let own_theme = object.theme(theme);
    Window::new(&*element.label)
        // The position depends on the visible part of the room, so it is chosen once that is known.
        .id(WidgetId::new("overlay").with((&*element.id, cx.ui.view.is_framed)))
        .title_bar(false)
        .collapsible(false)
        .frame(object.frame(theme))
        .default_size(place.size())
        .default_pos(place.min)
        .min_size(place.size().min(egui::vec2(340.0, 240.0)))
        .max_size(area.size())
        .constrain_to(area)
        .show(ui.ctx(), |ui| {
            let theme = &own_theme;
            let below = object.dress(ui, theme);
            closed = header_ui(ui, element, theme);
            ui.add_space(SPACE[0]);
            match &*element.content {
                ContentView::Text(written) => text::text_ui(ui, element, written, theme, overlays, &mut commands),
                ContentView::Pins(pins) => {
                    pinboard::pinboard_ui(ui, room, element, pins, theme, overlays, &mut commands)
                }
                ContentView::Other(text) => generic::other_ui(ui, element, text, theme, overlays, &mut commands),
                ContentView::Tasks(tasks) => {
                    tasks::taskboard_ui(ui, cx, element, tasks, theme, overlays, &mut commands)
                }
                ContentView::Mail { items, outbox } => {
                    let mails = (items.as_slice(), outbox.as_slice());
                    inbox::inbox_ui(ui, room, element, mails, theme, overlays, &mut commands);
                }
            }
            object.draw(ui, below, theme);
        });
    if closed {
        commands.push(WindowCommand::CloseElement.into());
    }
    commands
}

/// Draws the title of an overlay. Returns whether it was closed.
fn header_ui(ui: &mut Ui, element: &ElementView, theme: &Theme) -> bool {
    let kind_name =
        kind(&element.kind).map_or_else(|| element.kind.to_string(), |kind| text_format::capitalised(kind.name));
    let about = widgets::small(texts::kind_and_file(&kind_name, element.file.as_deref()), theme);
    let title = RichText::new(&*element.label).heading().size(TYPE[3]);
    // Laid out from the right, so that long titles are cut before the close button.
    let from_the_right = egui::Layout::right_to_left(egui::Align::Center);
    let line = ui.allocate_ui_with_layout(
        egui::vec2(ui.available_width(), ui.spacing().interact_size.y),
        from_the_right,
        |ui| {
            let is_closed = widgets::icon_button(ui, Icon::Cross, texts::CLOSE, false, theme).clicked();
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(egui::Label::new(title).selectable(false).truncate());
                ui.add(egui::Label::new(about).selectable(false).truncate());
            });
            is_closed
        },
    );
    line.inner
}

/// Returns the user's edit of an element's content.
fn edit(element: &Id, act: ElementAct) -> RoomAct {
    RoomAct::Edit(ElementEdit { element: element.clone(), act, by: Author::user(), cause: None })
}

/// Returns the colour of an author.
fn author_colour(author: &str, theme: &Theme) -> egui::Color32 {
    if author == "user" { theme.accent } else { crate::view::theme::word_colour(author) }
}

#[cfg(test)]
mod tasks_tests;
#[cfg(test)]
mod tests;
