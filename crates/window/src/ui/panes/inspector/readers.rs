//! The readers of an element with the versions they know, and a summary of its content.

use egui::{Label, RichText, ScrollArea, Ui};

use super::{ago, texts};
use crate::base::text::{one_line, truncate};
use crate::ui::context::ViewerContext;
use crate::ui::faces::face_ui;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::model::{ContentView, ElementReaders, ElementView, KnownElement, MailView, RoomModel};
use crate::view::theme::{LINE, SPACE, Theme};
use crate::workspace::task_files::Column;

/// The maximum number of characters of a text.
const TEXT_CHARS: usize = 500;
/// The maximum number of pins, tasks or messages shown, newest first.
const ENTRIES: usize = 5;
/// The maximum number of characters of each.
const ENTRY_CHARS: usize = 120;
/// The maximum number of characters of a reader's name.
const NAME_CHARS: usize = 24;
/// The maximum height of the list of readers, in points.
const LIST_HEIGHT: f32 = 260.0;

/// Draws an excerpt of an element's content, newest entries first.
pub(super) fn content_ui(ui: &mut Ui, room: &RoomModel, element: &ElementView, theme: &Theme) {
    let short = |text: &str| truncate(&one_line(text), ENTRY_CHARS);
    let entry = |ui: &mut Ui, by: &str, text: &str| {
        ui.label(widgets::small(by, theme));
        ui.add(Label::new(text).wrap());
    };
    let mail = |ui: &mut Ui, mail: &MailView, is_sent: bool| {
        let by = if is_sent {
            texts::letter_to(room.called(&mail.to))
        } else {
            texts::letter_from(room.called(&mail.from), !mail.read)
        };
        entry(ui, &by, &short(&mail.subject));
    };
    let more = |ui: &mut Ui, all: usize| {
        if all > ENTRIES {
            ui.label(widgets::small(texts::and_more(all - ENTRIES), theme));
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
                let open = || board.file.tasks.iter().filter(|task| !Column::of(task).is_closed());
                for task in open().take(ENTRIES) {
                    let names = task.stakeholders.iter().map(|name| text_format::assignee(room, &name.text));
                    let names: Vec<&str> = names.collect();
                    let by = if names.is_empty() { texts::NO_ONE_HAS_IT.to_owned() } else { names.join(", ") };
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
        ContentView::Tasks(board) => board.file.tasks.iter().all(|task| Column::of(task).is_closed()),
        ContentView::Mail { items, outbox } => items.is_empty() && outbox.is_empty(),
    }
}

/// Lists which version each reader knows.
pub(super) fn readers_ui(ui: &mut Ui, cx: &ViewerContext<'_>, element: &ElementView) {
    let ViewerContext { room, theme, .. } = *cx;
    // Messages are read one by one, so for a mailbox the texts say "opened".
    let is_box = matches!(*element.content, ContentView::Mail { .. });
    widgets::section(ui, &texts::who_has_seen(is_box), theme);
    let Some(known) = room.known.get(&element.id) else {
        ui.label(widgets::secondary_text(texts::LOADING, theme));
        return;
    };
    if known.readers.is_empty() {
        ui.label(widgets::secondary_text(texts::NO_READERS, theme));
        return;
    }
    ui.label(summary(known));
    ui.spacing_mut().item_spacing.y = SPACE[0];
    let area = ScrollArea::vertical().id_salt(("readers", &element.id)).max_height(LIST_HEIGHT);
    area.show_rows(ui, 20.0, known.readers.len(), |ui, rows| {
        for reader in &known.readers[rows] {
            let (word, colour) = match reader.knows {
                KnownElement::Newest { read_tick } => (texts::up_to_date(is_box, &ago(room, read_tick)), theme.good),
                KnownElement::Older { version, read_tick } => {
                    (texts::read_version(version, known.version, &ago(room, read_tick)), theme.warn)
                }
                KnownElement::Nothing => (texts::has_not_seen(is_box), theme.text_soft),
            };
            ui.horizontal(|ui| {
                ui.set_height(20.0);
                let (dot, _) = ui.allocate_exact_size(egui::vec2(9.0, 18.0), egui::Sense::hover());
                match reader.knows {
                    KnownElement::Newest { .. } => Icon::Tick.paint(ui.painter(), dot, colour),
                    KnownElement::Older { .. } => Icon::Clock.paint(ui.painter(), dot, colour),
                    KnownElement::Nothing => {
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

/// Returns how many readers are up to date.
fn summary(known: &ElementReaders) -> String {
    let [newest, ..] = known.counts();
    texts::readers_up_to_date(newest, known.readers.len())
}
