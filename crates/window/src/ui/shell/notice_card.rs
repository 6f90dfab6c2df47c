//! The card of a notice, which can be dismissed, and the button that opens the place it is about.

use egui::{RichText, Ui};

use crate::ui::Command;
use crate::ui::commands::{CanvasCommand, WindowCommand};
use crate::ui::shell::texts::{notices as texts, trust_dialog as trust_texts};
use crate::ui::state::NoticeTarget;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::view::theme::{MARK_RADIUS, SPACE, TYPE, Theme};

/// Draws a card with a coloured edge. Returns whether it is dismissed.
pub(super) fn card(
    ui: &mut Ui,
    (title, text): (&str, &str),
    colour: egui::Color32,
    theme: &Theme,
    close: &str,
    more: impl FnOnce(&mut Ui),
) -> bool {
    let mut closed = false;
    let shown = widgets::window(theme).inner_margin(SPACE[2]).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = SPACE[0];
        widgets::line(
            ui,
            close,
            |ui| {
                ui.add(egui::Label::new(RichText::new(title).size(TYPE[1]).color(colour)).truncate());
            },
            |ui| closed = widgets::icon_button(ui, Icon::Cross, close, false, theme).clicked(),
        );
        if !text.is_empty() {
            ui.add(egui::Label::new(text).wrap());
        }
        more(ui);
    });
    let rect = shown.response.rect;
    let edge =
        egui::Rect::from_min_size(rect.left_top() + egui::vec2(1.0, 10.0), egui::vec2(3.0, rect.height() - 20.0));
    ui.painter().rect_filled(edge, MARK_RADIUS, colour);
    closed
}

/// Draws a button that opens a place, unless its agent or element no longer exists. Returns whether it was clicked.
pub fn place_button(ui: &mut Ui, place: &NoticeTarget, room: &RoomModel, commands: &mut Vec<Command>) -> bool {
    let (shown, whole) = match place {
        NoticeTarget::File(file, _) => (texts::OPEN_FILE, texts::open_file(file)),
        NoticeTarget::Setting(setting) => (texts::SHOW_SETTING, texts::show_setting(setting)),
        NoticeTarget::Thing(RoomObject::Agent(id)) if room.agent(id).is_some() => {
            (texts::SHOW_AGENT, texts::show_agent(id))
        }
        NoticeTarget::Thing(RoomObject::Element(id)) if room.element(id).is_some() => {
            (texts::SHOW_ELEMENT, texts::show_element(id))
        }
        NoticeTarget::Thing(_) => return false,
    };
    let button = ui.button(shown);
    widgets::name(&button, whole);
    let clicked = button.clicked();
    if clicked {
        commands.extend(go_to(place));
    }
    clicked
}

/// Draws the button that shows what the workspace wants, for a problem at this place. Returns whether it was clicked.
pub fn trust_button(ui: &mut Ui, place: &str, commands: &mut Vec<Command>) -> bool {
    let button = ui.button(trust_texts::SHOW_WHAT_IT_WANTS);
    widgets::name(&button, trust_texts::show_what_wants(place));
    let is_clicked = button.clicked();
    if is_clicked {
        commands.push(Command::ShowTrust(None));
    }
    is_clicked
}

fn go_to(place: &NoticeTarget) -> Vec<Command> {
    match place {
        NoticeTarget::File(file, line) => vec![Command::OpenFile(file.clone(), *line)],
        NoticeTarget::Setting(setting) => vec![WindowCommand::ShowSettings(Some(setting.clone())).into()],
        NoticeTarget::Thing(thing) => {
            vec![WindowCommand::Select(vec![thing.clone()]).into(), CanvasCommand::Frame.into()]
        }
    }
}
