//! An element in the inspector: its name, its owner, and its content.

use std::collections::BTreeMap;

use egui::{Painter, RichText, Sense, Ui, vec2};

use super::{fact, readers, texts};
use crate::base::Id;
use crate::element::kinds::kind;
use crate::element::{ElementCommand, MailStatus};
use crate::ui::Command;
use crate::ui::commands::{RoomAct, WindowCommand, create};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::{menu, text_format};
use crate::view::model::{ContentView, ElementView, TasksView};
use crate::view::paint;
use crate::view::theme::{MENU, SPACE, TYPE, Theme};
use crate::workspace::task_files::Column;

pub(super) fn element_card(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    element: &ElementView,
    drafts: &mut BTreeMap<String, String>,
    commands: &mut Vec<Command>,
) {
    let ViewerContext { room, art, theme, .. } = *cx;
    let kind = kind(&element.kind);
    let kind_name = kind.map_or_else(|| element.kind.to_string(), |kind| text_format::capitalised(kind.name));
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(64.0, 64.0), Sense::hover());
        widgets::portrait_background(ui.painter(), rect, theme);
        paint::element_picture(ui.painter(), rect.shrink(4.0), &element.kind, art);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.add_space(SPACE[1]);
            ui.add(egui::Label::new(RichText::new(&*element.label).heading().size(TYPE[3])).truncate());
            ui.label(widgets::small(format!("{kind_name}, {}", element.id), theme));
        });
    });
    label(ui, element, theme, drafts, commands);
    if kind.is_some_and(|kind| kind.private) {
        owner(ui, cx, element, commands);
    }
    if *element.kind == *create::CHANNEL_BOARD {
        channel(ui, cx, element, commands);
    }
    widgets::section(ui, texts::HOLDS, theme);
    ui.label(holds(&element.content));
    readers::content_ui(ui, room, element, theme);
    if let Some(file) = &element.file {
        ui.horizontal(|ui| {
            fact(ui, texts::FILE, file, theme);
        });
        if ui.button(texts::OPEN_ITS_FILE).clicked() {
            commands.push(Command::OpenFile(file.clone(), None));
        }
    } else {
        ui.label(widgets::small(texts::KEPT_IN_SCENE, theme));
    }
    if widgets::primary(ui, true, texts::OPEN, theme).clicked() {
        commands.push(WindowCommand::OpenElement(element.id.clone()).into());
    }
    readers::readers_ui(ui, cx, element);
}

/// Returns a short summary of an element's content.
pub fn holds(content: &ContentView) -> String {
    match content {
        ContentView::Text(text) | ContentView::Other(text) if text.trim().is_empty() => texts::EMPTY.to_owned(),
        ContentView::Text(text) | ContentView::Other(text) => {
            texts::text_size(text.chars().count(), text.lines().count())
        }
        ContentView::Tasks(board) => tasks_in_words(board),
        ContentView::Pins(pins) => {
            let comments: usize = pins.iter().map(|pin| pin.comments.len()).sum();
            let votes: usize = pins.iter().map(|pin| pin.up.len() + pin.down.len()).sum();
            texts::pins(pins.len(), votes, comments)
        }
        ContentView::Mail { items, outbox } => {
            let unread = items.iter().filter(|mail| !mail.read).count();
            let open = items.iter().filter(|mail| mail.status != MailStatus::Closed).count();
            texts::letters(items.len(), unread, open, outbox.len())
        }
    }
}

/// Returns the number of tasks, in total and per column.
pub fn tasks_in_words(board: &TasksView) -> String {
    let counts = Column::SHOWN.iter().zip(&board.columns).filter(|(_, tasks)| !tasks.is_empty());
    let parts: Vec<String> =
        counts.map(|(column, tasks)| format!("{} {}", tasks.len(), column.name().to_lowercase())).collect();
    match parts.as_slice() {
        [] => texts::NO_TASKS.to_owned(),
        parts => texts::tasks(board.file.tasks.len(), &parts.join(", ")),
    }
}

fn label(
    ui: &mut Ui,
    element: &ElementView,
    theme: &Theme,
    drafts: &mut BTreeMap<String, String>,
    commands: &mut Vec<Command>,
) {
    widgets::section(ui, texts::NAME, theme);
    let draft_name = format!("label of {}", element.id);
    let mut draft = drafts.get(&draft_name).cloned().unwrap_or_else(|| element.label.to_string());
    let field = widgets::field(ui, &mut draft, texts::LABEL, &element.id);
    let is_new = draft.trim() != &*element.label;
    if field.changed() {
        drafts.insert(draft_name.clone(), draft.clone());
    }
    if widgets::committed(ui, &field) {
        if is_new && !ui.input(|input| input.key_pressed(egui::Key::Escape)) {
            let relabel = |label: &str| {
                RoomAct::Element(ElementCommand::Relabel { element: element.id.clone(), label: label.to_owned() })
            };
            commands.push(Command::Act(relabel(draft.trim()), Some(relabel(&element.label))));
        }
        drafts.remove(&draft_name);
    }
}

fn owner(ui: &mut Ui, cx: &ViewerContext<'_>, element: &ElementView, commands: &mut Vec<Command>) {
    let ViewerContext { room, art, theme, .. } = *cx;
    widgets::section(ui, texts::BELONGS_TO, theme);
    let called = |owner: &str| match room.profiles.iter().find(|profile| &*profile.id == owner) {
        Some(profile) if room.agent(owner).is_none() => texts::every(&profile.name),
        _ => room.called(owner).to_owned(),
    };
    let shown = element.owner.as_deref().map_or_else(|| texts::NOBODY.to_owned(), called);
    let mut chosen: Option<Option<Id>> = None;
    menu::drop_down(ui, texts::OWNER, shown, MENU[1], theme, |ui| {
        let agents = room.agents.iter().map(|agent| (agent.id.clone(), &agent.look));
        let profiles = room.profiles.iter().map(|profile| (profile.id.clone(), &profile.look));
        if menu::choice(ui, element.owner.is_none(), texts::NOBODY).clicked() {
            chosen = Some(None);
        }
        for (owner, look) in agents.chain(profiles) {
            let face = |painter: &Painter, place| paint::portrait(painter, place, look, art);
            let is_chosen = element.owner.as_ref() == Some(&owner);
            if menu::choice_with_picture(ui, is_chosen, &called(&owner), face).clicked() {
                chosen = Some(Some(owner));
            }
        }
    });
    if let Some(owner) = chosen.filter(|owner| *owner != element.owner) {
        let set = |owner| RoomAct::Element(ElementCommand::SetOwner { element: element.id.clone(), owner });
        commands.push(Command::Act(set(owner), Some(set(element.owner.clone()))));
    }
}

/// Draws the menu for the channel that a message board shows.
fn channel(ui: &mut Ui, cx: &ViewerContext<'_>, element: &ElementView, commands: &mut Vec<Command>) {
    let together = &cx.room.collaboration;
    let shown = together.shown.get(&element.id);
    widgets::section(ui, texts::SHOWS, cx.theme);
    let label = |channel: &str| format!("#{channel}");
    let words = shown.map_or_else(|| texts::NO_CHANNEL.to_owned(), |channel| label(channel));
    let mut chosen: Option<Option<&str>> = None;
    menu::drop_down(ui, texts::CHANNEL, words, MENU[1], cx.theme, |ui| {
        if menu::choice(ui, shown.is_none(), texts::NO_CHANNEL).clicked() {
            chosen = Some(None);
        }
        // The board may show a channel that has no messages yet.
        let unknown = shown.filter(|shown| together.channels.iter().all(|channel| channel.name != **shown));
        for channel in unknown.into_iter().chain(together.channels.iter().map(|channel| &channel.name)) {
            if menu::choice(ui, shown == Some(channel), &label(channel)).clicked() {
                chosen = Some(Some(channel));
            }
        }
    });
    match (shown.is_some(), together.channels.is_empty()) {
        (true, _) => {
            ui.label(widgets::small(texts::CHANNEL_REPLACES_TEXT, cx.theme));
        }
        (false, true) => {
            ui.label(widgets::small(texts::NO_CHANNELS, cx.theme));
        }
        (false, false) => {}
    }
    if let Some(channel) = chosen.filter(|channel| *channel != shown.map(String::as_str)) {
        commands.push(create::show_channel(cx.room, &element.id, channel));
    }
}
