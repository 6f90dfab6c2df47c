//! A pinboard: a list of pins of which only those on screen are drawn, and the chosen pin beside it.

use egui::{CornerRadius, RichText, ScrollArea, Ui, vec2};
use serde_json::{Map, Value, json};

use super::{Overlays, author_colour, edit};
use crate::base::{Id, text};
use crate::element::{ItemList, ListAct, PinAct};
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::widgets;
use crate::ui::widgets::ChoiceRow;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words;
use crate::view::model::{ElementView, PinView, RoomModel};
use crate::view::theme::{RADIUS, SPACE, TYPE, Theme};

/// How the list is ordered.
const ORDERS: [&str; 2] = ["Newest", "Most votes"];

/// Votes for it less votes against it.
fn net(pin: &PinView) -> i64 {
    pin.up.len() as i64 - pin.down.len() as i64
}

/// How the person votes on it.
fn own_vote(pin: &PinView) -> Option<bool> {
    let has = |voters: &[Id]| voters.iter().any(|voter| &**voter == "user");
    if has(&pin.up) { Some(true) } else { has(&pin.down).then_some(false) }
}

/// The pins that fit what is searched for, in the order that was chosen, as indices.
fn listed(pins: &[PinView], wanted: &str, by_votes: bool) -> Vec<usize> {
    let wanted = wanted.trim().to_lowercase();
    let fits = |pin: &PinView| wanted.is_empty() || pin.text.to_lowercase().contains(&wanted);
    let mut indices: Vec<usize> = (0..pins.len()).rev().filter(|index| fits(&pins[*index])).collect();
    if by_votes {
        indices.sort_by_key(|index| -net(&pins[*index]));
    }
    indices
}

pub(super) fn pinboard_ui(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    pins: &[PinView],
    theme: &Theme,
    own: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let open_name = format!("open pin of {}", element.id);
    let search_name = format!("search of {}", element.id);
    let order_id = ui.id().with("order");
    let mut order: usize = ui.data(|data| data.get_temp(order_id)).unwrap_or(0);
    let height = ui.available_height().max(240.0);
    let open = own.drafts.get(&open_name).and_then(|id| pins.iter().find(|pin| &*pin.id == id));
    ui.columns(2, |columns| {
        let [list, detail] = columns else { return };
        list.horizontal(|ui| {
            let choices = ORDERS.map(|order| (order.to_owned(), format!("{order} first")));
            if let Some(chosen) = widgets::segments(ui, &choices, Some(order), theme) {
                order = chosen;
                ui.data_mut(|data| data.insert_temp(order_id, order));
            }
            ui.label(widgets::small(words::count(pins.len(), "pin", "pins"), theme));
        });
        let search = own.drafts.entry(search_name).or_default();
        widgets::field(list, search, "Search pins", "Search");
        let indices = listed(pins, search, order == 1);
        if indices.is_empty() {
            let how = "Write one at the right; agents pin things up as well.";
            widgets::empty(
                list,
                Icon::Note,
                if pins.is_empty() { "No pins yet" } else { "No pin says that" },
                how,
                theme,
            );
        }
        let list_height = (height - 84.0).max(120.0);
        ScrollArea::vertical().id_salt("pins").auto_shrink(false).max_height(list_height).show_rows(
            list,
            ChoiceRow::POINTS,
            indices.len(),
            |ui, rows| {
                for index in &indices[rows] {
                    let pin = &pins[*index];
                    let chosen = open.is_some_and(|open| open.id == pin.id);
                    if row(ui, room, pin, chosen, theme) {
                        own.drafts.insert(open_name.clone(), pin.id.to_string());
                    }
                }
            },
        );
        ScrollArea::vertical().id_salt("pin").max_height(height).show(detail, |ui| {
            add(ui, element, theme, own, commands);
            if let Some(pin) = open {
                let at = pins.iter().position(|other| other.id == pin.id).unwrap_or(0);
                one(ui, room, element, (pin, at), theme, own, commands);
            } else if !pins.is_empty() {
                ui.label(widgets::soft("Choose a pin to read it whole, vote and comment.", theme));
            }
        });
    });
}

/// One pin in the list. Whether it was chosen.
fn row(ui: &mut Ui, room: &RoomModel, pin: &PinView, chosen: bool, theme: &Theme) -> bool {
    let short = text::truncate(&text::one_line(&text::truncate(&pin.text, 400)), 140);
    let votes = match net(pin) {
        0 => String::new(),
        net => format!(", {net:+}"),
    };
    let comments = match pin.comments.len() {
        0 => String::new(),
        number => format!(", {}", words::count(number, "comment", "comments")),
    };
    let about = format!("{}{votes}{comments}", room.called(&pin.author));
    let row = ChoiceRow { name: format!("Pin {}: {short}", pin.id), title: &short, about, chosen };
    row.show(ui, theme, |painter, rect| {
        let strip = egui::Rect::from_min_size(rect.min, vec2(5.0, rect.height()));
        let corners = CornerRadius { nw: RADIUS[0], sw: RADIUS[0], ne: 0, se: 0 };
        painter.rect_filled(strip, corners, author_colour(&pin.author, theme));
    })
}

fn add(ui: &mut Ui, element: &ElementView, theme: &Theme, own: &mut Overlays, commands: &mut Vec<Command>) {
    let draft = own.drafts.entry(format!("new pin on {}", element.id)).or_default();
    widgets::area(ui, draft, "New pin", "Pin something up", 2);
    let ready = !draft.trim().is_empty();
    if ui.horizontal(|ui| widgets::primary(ui, ready, "Add pin", theme)).inner.clicked() {
        let act = edit(&element.id, PinAct::AddPin { id: None, text: draft.trim().to_owned() }.into());
        commands.push(Command::Act(act, None));
        draft.clear();
    }
    ui.add_space(SPACE[2]);
}

/// The keys of a pin, to put it up again as it was.
fn pin_keys(pin: &PinView) -> Map<String, Value> {
    let comments: Vec<Value> =
        pin.comments.iter().map(|(author, text)| json!({ "author": author, "text": text })).collect();
    let keys = [
        ("id", json!(pin.id)),
        ("text", json!(pin.text)),
        ("author", json!(pin.author)),
        ("time", json!(pin.time_secs)),
        ("up", json!(pin.up)),
        ("down", json!(pin.down)),
        ("comments", json!(comments)),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The vote that a click on a side means, and what takes it back. Voting the same way again takes the vote back.
fn vote(element: &Id, pin: &PinView, up: bool) -> (RoomAct, RoomAct) {
    let before = own_vote(pin);
    let correct = |up| PinAct::CorrectVote { id: pin.id.clone(), voter: "user".into(), up }.into();
    let act = if before == Some(up) { correct(None) } else { PinAct::Vote { id: pin.id.clone(), up }.into() };
    (edit(element, act), edit(element, correct(before)))
}

fn one(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    (pin, at): (&PinView, usize),
    theme: &Theme,
    own: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    widgets::in_card(ui, theme, |ui| {
        let when = words::duration(pin.time_secs);
        ui.label(widgets::small(format!("{}, {when} after the beginning", room.called(&pin.author)), theme));
        ui.add(egui::Label::new(RichText::new(&pin.text).size(TYPE[1])).wrap());
        ui.horizontal(|ui| {
            for (up, icon, label) in [(true, Icon::Up, "Vote up"), (false, Icon::Down, "Vote down")] {
                if widgets::icon_button(ui, icon, label, own_vote(pin) == Some(up), theme).clicked() {
                    let (act, inverse) = vote(&element.id, pin, up);
                    commands.push(Command::Act(act, Some(inverse)));
                }
                ui.label((if up { pin.up.len() } else { pin.down.len() }).to_string());
            }
            if widgets::danger(ui, "Take down", theme).clicked() {
                let act = edit(&element.id, PinAct::RemovePin { id: pin.id.clone() }.into());
                let put = ListAct::Put { list: ItemList::Pins, item: pin_keys(pin), at }.into();
                commands.push(Command::Act(act, Some(edit(&element.id, put))));
            }
        });
    });
    widgets::section(ui, "Comments", theme);
    for (author, said) in &pin.comments {
        widgets::in_card(ui, theme, |ui| {
            ui.label(RichText::new(room.called(author)).size(TYPE[0]).color(theme.text_soft));
            ui.add(egui::Label::new(said).wrap());
        });
    }
    let draft = own.drafts.entry(format!("comment on {} of {}", pin.id, element.id)).or_default();
    widgets::area(ui, draft, "Comment", "Say something about it", 2);
    let ready = !draft.trim().is_empty();
    if ui.horizontal(|ui| widgets::primary(ui, ready, "Add comment", theme)).inner.clicked() {
        let act = PinAct::Comment { id: pin.id.clone(), text: draft.trim().to_owned() }.into();
        commands.push(Command::Act(edit(&element.id, act), None));
        draft.clear();
    }
}
