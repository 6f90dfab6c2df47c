//! Who has read what of an element, and what it holds, in brief.

use egui::{Label, RichText, ScrollArea, Ui};

use super::{ago, face_ui};
use crate::base::text::{one_line, truncate};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::model::{ContentView, ElementView, KnownBy, Knows, MailView, RoomModel};
use crate::view::theme::{LINE, SPACE, Theme};
use crate::workspace::task_files::Column;
use crate::workspace::task_files::columns::is_person;

/// Of a text so much is shown.
const TEXT_CHARS: usize = 500;
/// Of pins and mail so many are shown, the newest first.
const ENTRIES: usize = 5;
/// And so much of each.
const ENTRY_CHARS: usize = 120;
/// And so much of the name of a reader.
const NAME_CHARS: usize = 24;
/// How high the list of readers grows, in points.
const LIST_HEIGHT: f32 = 260.0;

/// What an element holds, the newest first.
pub(super) fn content_ui(ui: &mut Ui, room: &RoomModel, element: &ElementView, theme: &Theme) {
    let short = |text: &str| truncate(&one_line(text), ENTRY_CHARS);
    let entry = |ui: &mut Ui, by: &str, text: &str| {
        ui.label(widgets::small(by, theme));
        ui.add(Label::new(text).wrap());
    };
    let mail = |ui: &mut Ui, mail: &MailView, is_sent: bool| {
        let (word, whom) = if is_sent { ("To", &mail.to) } else { ("From", &mail.from) };
        let unread = if mail.read || is_sent { "" } else { ", unread" };
        entry(ui, &format!("{word} {}{unread}", room.called(whom)), &short(&mail.subject));
    };
    let more = |ui: &mut Ui, all: usize| {
        if all > ENTRIES {
            ui.label(widgets::small(format!("and {} more", all - ENTRIES), theme));
        }
    };
    if is_empty(&element.content) {
        return;
    }
    widgets::in_card(ui, theme, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        match &*element.content {
            ContentView::Text(text) | ContentView::Other(text) => {
                ui.add(Label::new(truncate(text.trim(), TEXT_CHARS)).wrap());
            }
            ContentView::Pins(pins) => {
                for pin in pins.iter().rev().take(ENTRIES) {
                    entry(ui, room.called(&pin.author), &short(&pin.text));
                }
                more(ui, pins.len());
            }
            ContentView::Tasks(board) => {
                let called = |name: &str| match room.agent_named(name) {
                    Some(agent) => agent.name.to_string(),
                    None if is_person(name) => "You".to_owned(),
                    None => name.to_owned(),
                };
                let open = || board.file.tasks.iter().filter(|task| !Column::of(task).is_over());
                for task in open().take(ENTRIES) {
                    let names: Vec<String> = task.stakeholders.iter().map(|name| called(&name.text)).collect();
                    let by = if names.is_empty() { "No one has it".to_owned() } else { names.join(", ") };
                    entry(ui, &by, &short(&task.title.text));
                }
                more(ui, open().count());
            }
            ContentView::Mail { items, outbox } => {
                items.iter().rev().take(ENTRIES).for_each(|item| mail(ui, item, false));
                more(ui, items.len());
                outbox.iter().rev().take(ENTRIES).for_each(|item| mail(ui, item, true));
                more(ui, outbox.len());
            }
        }
    });
}

fn is_empty(content: &ContentView) -> bool {
    match content {
        ContentView::Text(text) | ContentView::Other(text) => text.trim().is_empty(),
        ContentView::Pins(pins) => pins.is_empty(),
        ContentView::Tasks(board) => board.file.tasks.iter().all(|task| Column::of(task).is_over()),
        ContentView::Mail { items, outbox } => items.is_empty() && outbox.is_empty(),
    }
}

/// Who has read the newest, who knows something older, who has not read it.
pub(super) fn readers_ui(ui: &mut Ui, cx: &ViewerContext<'_>, element: &ElementView) {
    let ViewerContext { room, theme, .. } = *cx;
    // Letters are read or unread each by itself; their box is looked into.
    let is_box = matches!(*element.content, ContentView::Mail { .. });
    let seen = if is_box { "looked into it" } else { "read it" };
    widgets::section(ui, &format!("Who has {seen}"), theme);
    let Some(known) = room.known.get(&element.id) else {
        ui.label(widgets::soft("Looking…", theme));
        return;
    };
    if known.readers.is_empty() {
        ui.label(widgets::soft("No agent here may read it.", theme));
        return;
    }
    ui.label(summary(known));
    ui.spacing_mut().item_spacing.y = SPACE[0];
    let area = ScrollArea::vertical().id_salt(("readers", &element.id)).max_height(LIST_HEIGHT);
    area.show_rows(ui, 20.0, known.readers.len(), |ui, rows| {
        for reader in &known.readers[rows] {
            let (word, colour) = match reader.knows {
                Knows::Newest { read_tick } => (format!("up to date, {seen} {}", ago(room, read_tick)), theme.good),
                Knows::Older { version, read_tick } => {
                    (format!("read version {version} of {} {}", known.version, ago(room, read_tick)), theme.warn)
                }
                Knows::Nothing => (format!("has not {seen}"), theme.text_soft),
            };
            ui.horizontal(|ui| {
                ui.set_height(20.0);
                let (dot, _) = ui.allocate_exact_size(egui::vec2(9.0, 18.0), egui::Sense::hover());
                match reader.knows {
                    Knows::Newest { .. } => Icon::Tick.paint(ui.painter(), dot, colour),
                    Knows::Older { .. } => Icon::Clock.paint(ui.painter(), dot, colour),
                    Knows::Nothing => {
                        ui.painter().circle_stroke(dot.center(), 3.5, egui::Stroke::new(LINE[0], colour));
                    }
                }
                face_ui(ui, cx, &reader.agent, 18.0);
                let name = RichText::new(truncate(&reader.name, NAME_CHARS)).strong();
                ui.label(name).on_hover_text(&*reader.agent);
                ui.add(Label::new(widgets::small(&word, theme)).truncate());
            });
        }
    });
}

/// How many know what.
fn summary(known: &KnownBy) -> String {
    let [newest, ..] = known.counts();
    let verb = if newest == 1 { "is" } else { "are" };
    format!("{newest} of {} {verb} up to date", known.readers.len())
}
