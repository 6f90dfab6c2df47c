//! An inbox: mail that came, copies of what went, where each stands, and a letter from the person.

use egui::{RichText, ScrollArea, Sense, Ui, vec2};
use serde_json::{Map, Value, json};

use super::{Overlays, author_colour, edit};
use crate::base::text;
use crate::element::{ItemList, ListAct, MailAct, MailStatus};
use crate::ui::Command;
use crate::ui::widgets;
use crate::ui::widgets::ChoiceRow;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words;
use crate::view::model::{ElementView, MailView, RoomModel};
use crate::view::theme::{SPACE, TYPE, Theme};

const STATUSES: [(MailStatus, &str); 3] =
    [(MailStatus::Open, "Open"), (MailStatus::Pending, "Pending"), (MailStatus::Closed, "Closed")];

pub(super) fn inbox_ui(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    (items, outbox): (&[MailView], &[MailView]),
    theme: &Theme,
    own: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let open_name = format!("open mail of {}", element.id);
    let box_id = ui.id().with("box");
    let mut sent_box: bool = ui.data(|data| data.get_temp(box_id)).unwrap_or(false);
    let height = ui.available_height().max(240.0);
    let owner = element.owner.as_deref().map_or("nobody", |owner| room.called(owner)).to_owned();
    ui.columns(2, |columns| {
        let [list, detail] = columns else { return };
        list.horizontal(|ui| {
            let choices = [
                (format!("In {}", items.len()), "Mail that came in".to_owned()),
                (format!("Sent {}", outbox.len()), "Mail that went out".to_owned()),
            ];
            if let Some(chosen) = widgets::segments(ui, &choices, Some(usize::from(sent_box)), theme) {
                sent_box = chosen == 1;
                ui.data_mut(|data| data.insert_temp(box_id, sent_box));
            }
            ui.label(widgets::small(format!("of {owner}"), theme));
        });
        let mails = if sent_box { outbox } else { items };
        let open = own.drafts.get(&open_name).and_then(|id| mails.iter().position(|mail| &*mail.id == id));
        if mails.is_empty() {
            let (title, how) = if sent_box {
                ("Nothing was sent yet", "Copies of what its owner sends lie here.")
            } else {
                ("No mail yet", "Write a letter at the right; agents write to each other as well.")
            };
            widgets::empty(list, Icon::Note, title, how, theme);
        }
        ScrollArea::vertical().id_salt("mail").auto_shrink(false).max_height((height - 44.0).max(120.0)).show_rows(
            list,
            ChoiceRow::POINTS,
            mails.len(),
            |ui, rows| {
                for index in rows {
                    // Newest first.
                    let index = mails.len() - 1 - index;
                    if row(ui, room, &mails[index], (open == Some(index), sent_box), theme) {
                        own.drafts.insert(open_name.clone(), mails[index].id.to_string());
                    }
                }
            },
        );
        ScrollArea::vertical().id_salt("letter").max_height(height).show(detail, |ui| {
            if let Some(at) = open {
                one(ui, room, element, (&mails[at], at, sent_box), theme, commands);
                ui.add_space(SPACE[2]);
            }
            letter(ui, room, element, theme, own, commands);
        });
    });
}

/// One piece of mail in the list. Whether it was chosen.
fn row(ui: &mut Ui, room: &RoomModel, mail: &MailView, (chosen, sent): (bool, bool), theme: &Theme) -> bool {
    let subject =
        if mail.subject.is_empty() { text::one_line(&text::truncate(&mail.text, 80)) } else { mail.subject.clone() };
    let who = if sent { format!("to {}", room.called(&mail.to)) } else { format!("from {}", room.called(&mail.from)) };
    let status = STATUSES.iter().find(|(status, _)| *status == mail.status).map_or("", |(_, word)| word);
    let about = if sent { who } else { format!("{who}, {}", status.to_lowercase()) };
    let row = ChoiceRow { name: format!("Mail {}: {subject}", mail.id), title: &subject, about, chosen };
    row.show(ui, theme, |painter, rect| {
        if !mail.read && !sent {
            painter.circle_filled(rect.left_center() + vec2(9.0, 0.0), 3.5, theme.accent);
        }
    })
}

/// The keys of a piece of mail, to put it back as it was.
fn mail_keys(mail: &MailView) -> Map<String, Value> {
    let keys = [
        ("id", json!(mail.id)),
        ("from", json!(mail.from)),
        ("to", json!(mail.to)),
        ("subject", json!(mail.subject)),
        ("text", json!(mail.text)),
        ("status", json!(mail.status)),
        ("sent", json!(mail.sent_secs)),
        ("read", json!(mail.read)),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn one(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    (mail, at, sent): (&MailView, usize, bool),
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    widgets::in_card(ui, theme, |ui| {
        ui.label(RichText::new(&mail.subject).size(TYPE[2]));
        ui.horizontal(|ui| {
            let (dot, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
            ui.painter().circle_filled(dot.center(), 4.0, author_colour(&mail.from, theme));
            let (from, to) = (room.called(&mail.from), room.called(&mail.to));
            let when = words::duration(mail.sent_secs);
            ui.label(widgets::small(format!("{from} to {to}, {when} after the beginning"), theme));
        });
        ui.add(egui::Label::new(&mail.text).wrap());
        if sent {
            return;
        }
        ui.label(widgets::small(
            if mail.read { "Its owner has read it" } else { "Its owner has not read it yet" },
            theme,
        ));
        ui.horizontal(|ui| {
            let choices = STATUSES.map(|(_, word)| (word.to_owned(), format!("Status {}", word.to_lowercase())));
            let chosen = STATUSES.iter().position(|(status, _)| *status == mail.status);
            if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
                let set = |status| edit(&element.id, MailAct::SetMailStatus { id: mail.id.clone(), status }.into());
                commands.push(Command::Act(set(STATUSES[index].0), Some(set(mail.status))));
            }
            if widgets::danger(ui, "Throw away", theme).clicked() {
                let act = edit(&element.id, MailAct::RemoveMail { id: mail.id.clone() }.into());
                let put = ListAct::Put { list: ItemList::Items, item: mail_keys(mail), at }.into();
                commands.push(Command::Act(act, Some(edit(&element.id, put))));
            }
        });
    });
}

/// A letter from the person to the owner of the box.
fn letter(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    theme: &Theme,
    own: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let Some(owner) = element.owner.clone() else {
        ui.label(widgets::soft("This box belongs to nobody, so nobody reads what lies in it.", theme));
        ui.label(widgets::small("Choose whose it is in the inspector.", theme));
        return;
    };
    widgets::section(ui, &format!("Write to {}", room.called(&owner)), theme);
    let (subject_name, text_name) = (format!("subject for {}", element.id), format!("letter for {}", element.id));
    let subject = own.drafts.entry(subject_name.clone()).or_default();
    widgets::field(ui, subject, "Subject", "Subject");
    let subject = subject.trim().to_owned();
    let written = own.drafts.entry(text_name.clone()).or_default();
    widgets::area(ui, written, "Letter", "Your letter", 5);
    let written = written.trim().to_owned();
    let full = !(subject.is_empty() && written.is_empty());
    if ui.horizontal(|ui| widgets::primary(ui, full, "Send", theme)).inner.clicked() {
        let act = MailAct::AddMail {
            id: None,
            from: "user".into(),
            to: owner,
            subject,
            text: written,
            attachments: Vec::new(),
        }
        .into();
        commands.push(Command::Act(edit(&element.id, act), None));
        own.drafts.remove(&subject_name);
        own.drafts.remove(&text_name);
    }
}
