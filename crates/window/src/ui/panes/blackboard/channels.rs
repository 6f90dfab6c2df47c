//! A channel: its listeners, its latest messages, and a field to send one.

use egui::Ui;

use super::entries::title;
use super::{BlackboardPane, Changes, texts};
use crate::base::Id;
use crate::orchestration::CollaborationCommand;
use crate::ui::Command;
use crate::ui::commands::{WindowCommand, create};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::menu;
use crate::view::collaboration::ChannelView;
use crate::view::pick::RoomObject;
use crate::view::theme::{MENU, SPACE};

/// The number of characters of a message that are shown at first.
const MESSAGE_CHARS: usize = 600;

impl BlackboardPane {
    /// Draws a channel.
    pub(super) fn channel_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        channel: &ChannelView,
        changes: &mut Changes,
        commands: &mut Vec<Command>,
    ) {
        let theme = cx.theme;
        widgets::in_card(ui, theme, |ui| {
            let (said, delivered, bounced) = channel.counts;
            let name = format!("#{}", channel.name);
            title(ui, &name);
            ui.label(widgets::small(texts::messages(said, delivered, bounced), theme));
            boards(ui, cx, &channel.name, commands);
            listeners(ui, cx, channel, changes);
            for (number, by, text) in &channel.messages {
                ui.label(widgets::small(format!("{number} · {}", cx.room.called(by)), theme));
                widgets::long_text(ui, number, text, MESSAGE_CHARS, |ui, text| drop(ui.label(text)));
            }
            let draft = self.drafts.entry(channel.name.clone()).or_default();
            let field = widgets::field(ui, draft, &texts::say_in(&channel.name), texts::SEND_TO_LISTENERS);
            if widgets::entered(ui, &field) && !draft.trim().is_empty() {
                let message = std::mem::take(draft);
                changes.push((CollaborationCommand::Publish { channel: channel.name.clone(), message }, None));
            }
        });
        ui.add_space(SPACE[0]);
    }
}

/// Draws buttons for the message boards that show the channel, and menus to show it on others.
fn boards(ui: &mut Ui, cx: &ViewerContext<'_>, channel: &str, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    let boards = |shows: bool| {
        let all = room.elements.iter().filter(|element| *element.kind == *create::CHANNEL_BOARD);
        all.filter(move |element| {
            room.collaboration.shown.get(&element.id).is_some_and(|shown| shown == channel) == shows
        })
    };
    ui.horizontal_wrapped(|ui| {
        for board in boards(true) {
            let shows = ui.button(texts::on_board(&board.label)).on_hover_text(texts::SELECT_BOARD);
            if shows.clicked() {
                commands.push(WindowCommand::Select(vec![RoomObject::Element(board.id.clone())]).into());
            }
        }
        let new = ui.button(texts::SHOW_ON_NEW_BOARD);
        widgets::name(&new, texts::show_channel_on_new_board(channel));
        if new.clicked() {
            commands.push(create::board_of_channel(room, channel, cx.ui.view.camera.middle));
        }
        if boards(false).next().is_none() {
            return;
        }
        let called = texts::show_channel_on_board(channel);
        menu::menu_button(ui, texts::SHOW_ON_BOARD, &called, MENU[1], theme, |ui| {
            for board in boards(false) {
                if menu::listed(ui, &*board.label).clicked() {
                    commands.push(create::show_channel(room, &board.id, Some(channel)));
                }
            }
        });
    });
}

/// Draws the listeners of a channel as buttons that remove them.
fn listeners(ui: &mut Ui, cx: &ViewerContext<'_>, channel: &ChannelView, changes: &mut Changes) {
    if channel.listeners.is_empty() {
        ui.label(widgets::small(texts::NO_LISTENERS, cx.theme));
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for (agent, waits) in &channel.listeners {
            let called = cx.room.called(agent);
            let ends = ui.button(texts::listener(called, *waits)).on_hover_text(texts::STOP_LISTENING);
            widgets::name(&ends, texts::stop_listening(called, &channel.name));
            if ends.clicked() {
                let (channel, agent): (String, Id) = (channel.name.clone(), agent.clone());
                let inverse =
                    CollaborationCommand::Listen { channel: channel.clone(), agent: agent.clone(), listens: true };
                changes.push((CollaborationCommand::Listen { channel, agent, listens: false }, Some(inverse)));
            }
        }
    });
}
