//! The overlay of an inbox: received and sent messages with their status, and a form to write one.

use egui::{RichText, ScrollArea, Stroke, Ui, Vec2, vec2};
use serde_json::{Map, Value, json};

use super::frame::split_in_two;
use super::{Overlays, author_colour, edit, texts};
use crate::base::text;
use crate::element::{ItemList, ListAct, MailAct, MailStatus};
use crate::ui::Command;
use crate::ui::widgets;
use crate::ui::widgets::ChoiceRow;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::model::{ElementView, MailView, RoomModel};
use crate::view::theme::{LINE, MARK_RADIUS, SPACE, TYPE, Theme};

/// The size of an envelope.
const ENVELOPE_POINTS: Vec2 = vec2(30.0, 20.0);

const STATUSES: [(MailStatus, &str); 3] = [
    (MailStatus::Open, texts::STATUS_OPEN),
    (MailStatus::Pending, texts::STATUS_PENDING),
    (MailStatus::Closed, texts::STATUS_CLOSED),
];

pub(super) fn inbox_ui(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    (items, outbox): (&[MailView], &[MailView]),
    theme: &Theme,
    overlays: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let open_name = format!("open mail of {}", element.id);
    let box_id = ui.id().with("box");
    let mut sent_box: bool = ui.data(|data| data.get_temp(box_id)).unwrap_or(false);
    let owner = element.owner.as_deref().map(|owner| texts::of_owner(room.called(owner)));
    ui.horizontal(|ui| {
        let choices = [
            (texts::received(items.len()), texts::RECEIVED_MAIL.to_owned()),
            (texts::sent(outbox.len()), texts::SENT_MAIL.to_owned()),
        ];
        if let Some(chosen) = widgets::segments(ui, &choices, Some(usize::from(sent_box)), theme) {
            sent_box = chosen == 1;
            ui.data_mut(|data| data.insert_temp(box_id, sent_box));
        }
        ui.label(widgets::small(owner.unwrap_or_else(|| texts::NO_OWNER.to_owned()), theme));
    });
    let [mut list, mut detail] = split_in_two(ui);
    let mails = if sent_box { outbox } else { items };
    let open = overlays.drafts.get(&open_name).and_then(|id| mails.iter().position(|mail| &*mail.id == id));
    if mails.is_empty() {
        let (title, how) = if sent_box {
            (texts::NOTHING_SENT_YET, texts::NOTHING_SENT_HINT)
        } else {
            (texts::NO_MAIL_YET, texts::NO_MAIL_HINT)
        };
        widgets::empty(&mut list, Icon::Note, title, how, theme);
    } else {
        let area = ScrollArea::vertical().id_salt("mail").auto_shrink(false);
        area.show_rows(&mut list, ChoiceRow::POINTS, mails.len(), |ui, rows| {
            for index in rows {
                // Newest first.
                let index = mails.len() - 1 - index;
                if mail_row(ui, room, &mails[index], (open == Some(index), sent_box), theme) {
                    overlays.drafts.insert(open_name.clone(), mails[index].id.to_string());
                }
            }
        });
    }
    ScrollArea::vertical().id_salt("letter").auto_shrink(false).show(&mut detail, |ui| {
        if let Some(at) = open {
            mail_ui(ui, room, element, (&mails[at], at, sent_box), theme, commands);
            ui.add_space(SPACE[2]);
        }
        compose_ui(ui, room, element, theme, overlays, commands);
    });
}

/// Draws a message in the list with an envelope, open if it was read. Returns whether it was clicked.
fn mail_row(ui: &mut Ui, room: &RoomModel, mail: &MailView, (chosen, sent): (bool, bool), theme: &Theme) -> bool {
    let subject =
        if mail.subject.is_empty() { text::one_line(&text::truncate(&mail.text, 80)) } else { mail.subject.clone() };
    let status = STATUSES.iter().find(|(status, _)| *status == mail.status).map_or("", |(_, word)| word);
    let about = if sent {
        texts::sent_to(room.called(&mail.to))
    } else {
        texts::received_from(room.called(&mail.from), status, mail.read)
    };
    let row = ChoiceRow { name: texts::mail_name(&mail.id, &subject), title: &subject, about, chosen };
    let colour = author_colour(if sent { &mail.to } else { &mail.from }, theme);
    let is_closed = mail.status == MailStatus::Closed;
    row.show_with(ui, theme, ENVELOPE_POINTS.x + SPACE[1] + SPACE[2], |painter, rect| {
        let middle = rect.left_center() + vec2(SPACE[1] + ENVELOPE_POINTS.x / 2.0, 0.0);
        let place = egui::Rect::from_center_size(middle, ENVELOPE_POINTS);
        envelope(painter, place, (mail.read || sent, is_closed), colour, theme);
    })
}

/// Paints an envelope: sealed in the sender's colour until it is read, and faded once it is closed.
fn envelope(
    painter: &egui::Painter,
    rect: egui::Rect,
    (is_read, is_closed): (bool, bool),
    colour: egui::Color32,
    theme: &Theme,
) {
    let [paper, ink] = theme.note(colour);
    let (paper, ink) = if is_closed {
        (widgets::mix(theme.card, paper, 0.4), widgets::mix(theme.card, theme.text_soft, 0.7))
    } else {
        (paper, ink)
    };
    let stroke = Stroke::new(LINE[0], ink);
    let middle = rect.center();
    if is_read {
        // An open flap with the letter sticking out.
        let peak = rect.center_top() - vec2(0.0, rect.height() * 0.35);
        let flap = vec![rect.left_top(), peak, rect.right_top()];
        painter.add(egui::Shape::convex_polygon(flap, paper, stroke));
        let sheet = egui::Rect::from_min_max(rect.min + vec2(4.0, -3.0), rect.max - vec2(4.0, 6.0));
        painter.rect(sheet, MARK_RADIUS, theme.card, Stroke::new(LINE[0], ink), egui::StrokeKind::Inside);
    }
    painter.rect(rect, MARK_RADIUS, paper, stroke, egui::StrokeKind::Inside);
    let corners = if is_read { [rect.left_bottom(), rect.right_bottom()] } else { [rect.left_top(), rect.right_top()] };
    for corner in corners {
        painter.line_segment([corner, middle + vec2(0.0, 1.0)], stroke);
    }
    if !is_read {
        painter.circle_filled(middle + vec2(0.0, 1.0), 3.6, colour);
        painter.circle_stroke(middle + vec2(0.0, 1.0), 3.6, Stroke::new(LINE[0], ink));
    }
}

/// Returns the properties of a message, to restore it.
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

/// Draws a sheet of paper with `content`.
fn paper_ui(ui: &mut Ui, theme: &Theme, content: impl FnOnce(&mut Ui, &Theme)) {
    let page_theme = theme.page();
    let background = ui.painter().add(egui::Shape::Noop);
    let frame = egui::Frame::new().inner_margin(egui::Margin::same(SPACE[3] as i8));
    let shown = frame.show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        widgets::apply_style(ui.style_mut(), &page_theme);
        ui.style_mut().visuals.override_text_color = Some(page_theme.text);
        content(ui, &page_theme);
    });
    let rect = shown.response.rect.shrink(3.0);
    let fill = egui::Shape::rect_filled(rect, MARK_RADIUS, page_theme.card);
    ui.painter().set(background, fill);
    ui.painter().rect_stroke(rect, MARK_RADIUS, Stroke::new(LINE[0], page_theme.line), egui::StrokeKind::Inside);
}

fn mail_ui(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    (mail, at, sent): (&MailView, usize, bool),
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    paper_ui(ui, theme, |ui, theme| {
        ui.add(egui::Label::new(RichText::new(&mail.subject).heading().size(TYPE[2])).wrap());
        let (from, to) = (room.called(&mail.from), room.called(&mail.to));
        let when = text_format::duration(mail.sent_secs);
        ui.label(widgets::small(texts::from_to_when(from, to, &when), theme));
        ui.add_space(SPACE[0]);
        ui.add(egui::Label::new(&mail.text).wrap());
        if sent {
            return;
        }
        ui.label(widgets::small(if mail.read { texts::READ_BY_OWNER } else { texts::NOT_READ_BY_OWNER }, theme));
        ui.horizontal(|ui| {
            let choices = STATUSES.map(|(_, word)| (word.to_owned(), texts::status_name(word)));
            let chosen = STATUSES.iter().position(|(status, _)| *status == mail.status);
            if let Some(index) = widgets::segments(ui, &choices, chosen, theme) {
                let set = |status| edit(&element.id, MailAct::SetMailStatus { id: mail.id.clone(), status }.into());
                commands.push(Command::Act(set(STATUSES[index].0), Some(set(mail.status))));
            }
            if widgets::danger(ui, texts::DISCARD_MAIL, theme).clicked() {
                let act = edit(&element.id, MailAct::RemoveMail { id: mail.id.clone() }.into());
                let put = ListAct::Put { list: ItemList::Items, item: mail_keys(mail), at }.into();
                commands.push(Command::Act(act, Some(edit(&element.id, put))));
            }
        });
    });
}

/// Draws the form for a message from the user to the owner.
fn compose_ui(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    theme: &Theme,
    overlays: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let Some(owner) = element.owner.clone() else {
        ui.label(widgets::secondary_text(texts::INBOX_WITHOUT_OWNER, theme));
        ui.label(widgets::small(texts::CHOOSE_AN_OWNER, theme));
        return;
    };
    widgets::section(ui, &texts::write_to(room.called(&owner)), theme);
    let (subject_name, text_name) = (format!("subject for {}", element.id), format!("letter for {}", element.id));
    let subject = overlays.drafts.entry(subject_name.clone()).or_default();
    widgets::field(ui, subject, texts::SUBJECT, texts::SUBJECT);
    let subject = subject.trim().to_owned();
    let written = overlays.drafts.entry(text_name.clone()).or_default();
    widgets::area(ui, written, texts::MESSAGE, texts::MESSAGE_HINT, 5);
    let written = written.trim().to_owned();
    let full = !(subject.is_empty() && written.is_empty());
    if ui.horizontal(|ui| widgets::primary(ui, full, texts::SEND, theme)).inner.clicked() {
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
        overlays.drafts.remove(&subject_name);
        overlays.drafts.remove(&text_name);
    }
}
