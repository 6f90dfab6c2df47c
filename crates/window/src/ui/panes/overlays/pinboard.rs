//! The overlay of a pinboard: notes on cork, of which only visible ones are drawn, and the selected one next to them.

use egui::text::LayoutJob;
use egui::{FontId, RichText, ScrollArea, Sense, Stroke, Ui, Vec2, vec2};
use serde_json::{Map, Value, json};

use super::frame::split_in_two;
use super::{Overlays, author_colour, edit, texts};
use crate::base::{Id, text};
use crate::element::{ItemList, ListAct, PinAct};
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::model::{ElementView, PinView, RoomModel};
use crate::view::theme::{LINE, OWN_NOTE, SPACE, TYPE, Theme};

/// The minimum size of a note.
const NOTE_POINTS: Vec2 = vec2(142.0, 124.0);
/// The maximum number of lines on a note.
const NOTE_LINES: usize = 4;
/// The sort orders.
const ORDERS: [&str; 2] = [texts::NEWEST, texts::MAX_VOTES];

/// Returns the votes for a pin minus those against it.
fn score(pin: &PinView) -> i64 {
    pin.up.len() as i64 - pin.down.len() as i64
}

/// Returns the user's vote: up, down or none.
fn own_vote(pin: &PinView) -> Option<bool> {
    let has = |voters: &[Id]| voters.iter().any(|voter| &**voter == "user");
    if has(&pin.up) { Some(true) } else { has(&pin.down).then_some(false) }
}

/// Returns the indices of the pins that match the search, in the selected order.
fn listed_pins(pins: &[PinView], search: &str, by_votes: bool) -> Vec<usize> {
    let search = search.trim().to_lowercase();
    let matches = |pin: &PinView| search.is_empty() || pin.text.to_lowercase().contains(&search);
    let mut indices: Vec<usize> = (0..pins.len()).rev().filter(|index| matches(&pins[*index])).collect();
    if by_votes {
        indices.sort_by_key(|index| -score(&pins[*index]));
    }
    indices
}

pub(super) fn pinboard_ui(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    pins: &[PinView],
    theme: &Theme,
    overlays: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let open_name = format!("open pin of {}", element.id);
    let search_name = format!("search of {}", element.id);
    let order_id = ui.id().with("order");
    let mut order: usize = ui.data(|data| data.get_temp(order_id)).unwrap_or(0);
    let open = overlays.drafts.get(&open_name).and_then(|id| pins.iter().find(|pin| &*pin.id == id));
    ui.horizontal(|ui| {
        let choices = ORDERS.map(|order| (order.to_owned(), texts::order_name(order)));
        if let Some(chosen) = widgets::segments(ui, &choices, Some(order), theme) {
            order = chosen;
            ui.data_mut(|data| data.insert_temp(order_id, order));
        }
        ui.label(widgets::small(texts::pins(pins.len()), theme));
        let search = overlays.drafts.entry(search_name.clone()).or_default();
        widgets::field(ui, search, texts::SEARCH_PINS, texts::SEARCH);
    });
    let [mut list, mut detail] = split_in_two(ui);
    let indices = listed_pins(pins, overlays.drafts.get(&search_name).map_or("", String::as_str), order == 1);
    if indices.is_empty() {
        let how = texts::NO_PINS_HINT;
        let title = if pins.is_empty() { texts::NO_PINS_YET } else { texts::NO_RESULTS };
        widgets::empty(&mut list, Icon::Note, title, how, theme);
    } else if let Some(chosen) = notes_ui(&mut list, room, pins, &indices, open, theme) {
        overlays.drafts.insert(open_name, chosen.to_string());
    }
    ScrollArea::vertical().id_salt("pin").auto_shrink(false).show(&mut detail, |ui| {
        if let Some(pin) = open {
            let at = pins.iter().position(|other| other.id == pin.id).unwrap_or(0);
            pin_ui(ui, room, element, (pin, at), theme, overlays, commands);
        } else if !pins.is_empty() {
            ui.label(widgets::secondary_text(texts::SELECT_A_PIN, theme));
        }
        ui.add_space(SPACE[1]);
        new_pin_ui(ui, element, theme, overlays, commands);
    });
}

/// Draws the notes in rows; only visible ones are drawn. Returns the clicked one.
fn notes_ui(
    ui: &mut Ui,
    room: &RoomModel,
    pins: &[PinView],
    indices: &[usize],
    open: Option<&PinView>,
    theme: &Theme,
) -> Option<Id> {
    let columns = ((ui.available_width() / NOTE_POINTS.x) as usize).max(1);
    let width = ui.available_width() / columns as f32;
    let mut chosen = None;
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    let area = ScrollArea::vertical().id_salt("pins").auto_shrink(false);
    area.show_rows(ui, NOTE_POINTS.y, indices.len().div_ceil(columns), |ui, rows| {
        for row in rows {
            ui.horizontal(|ui| {
                for index in indices.iter().skip(row * columns).take(columns) {
                    let pin = &pins[*index];
                    let is_open = open.is_some_and(|open| open.id == pin.id);
                    if note_ui(ui, room, pin, is_open, vec2(width, NOTE_POINTS.y), theme) {
                        chosen = Some(pin.id.clone());
                    }
                }
            });
        }
    });
    chosen
}

/// Draws a note in its author's colour, with votes and comments. Returns whether it was clicked.
fn note_ui(ui: &mut Ui, room: &RoomModel, pin: &PinView, is_open: bool, size: Vec2, theme: &Theme) -> bool {
    let short = text::truncate(&text::one_line(&text::truncate(&pin.text, 400)), 140);
    let (place, response) = ui.allocate_exact_size(size, Sense::click());
    let name = texts::pin_name(&pin.id, &short);
    response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::SelectableLabel, true, is_open, &name));
    let author = author_colour(&pin.author, theme);
    let [fill, ink] = theme.note(if &*pin.author == "user" { OWN_NOTE } else { author });
    let edge = match (is_open || response.has_focus(), response.hovered()) {
        (true, _) => Stroke::new(LINE[2], theme.accent),
        (_, true) => Stroke::new(LINE[0], theme.accent),
        _ => Stroke::new(LINE[0], widgets::mix(fill, ink, 0.2)),
    };
    // Notes hang at slightly different heights.
    let sag = f32::from(pin.id.bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte)) % 5);
    let paper = place.shrink2(vec2(5.0, 6.0)).translate(vec2(0.0, sag - 2.0));
    let painter = ui.painter();
    super::frame::paper(painter, paper, fill, edge, theme.shadow);
    let inner = paper.shrink(SPACE[1]);
    let mut job = LayoutJob::simple(short, FontId::proportional(TYPE[1]), ink, inner.width());
    job.wrap.max_rows = NOTE_LINES;
    painter.galley(inner.min + vec2(0.0, 6.0), painter.layout_job(job), ink);
    let votes = match score(pin) {
        0 => String::new(),
        score => format!("  {score:+}"),
    };
    let comments = match pin.comments.len() {
        0 => String::new(),
        number => format!("  {}", texts::comments(number)),
    };
    let foot = format!("{}{votes}{comments}", room.called(&pin.author));
    let mut job = LayoutJob::simple(foot, FontId::proportional(TYPE[0]), ink, inner.width());
    (job.wrap.max_rows, job.wrap.break_anywhere) = (1, true);
    let foot = painter.layout_job(job);
    painter.galley(inner.left_bottom() - vec2(0.0, foot.size().y), foot, ink);
    let pinhead = paper.center_top() + vec2(0.0, 4.0);
    painter.circle_filled(pinhead + vec2(1.0, 2.0), 4.5, theme.shadow);
    painter.circle_filled(pinhead, 4.5, author);
    painter.circle_stroke(pinhead, 4.5, Stroke::new(LINE[0], widgets::mix(author, ink, 0.5)));
    response.clicked()
}

fn new_pin_ui(ui: &mut Ui, element: &ElementView, theme: &Theme, overlays: &mut Overlays, commands: &mut Vec<Command>) {
    let draft = overlays.drafts.entry(format!("new pin on {}", element.id)).or_default();
    widgets::area(ui, draft, texts::NEW_PIN, texts::NEW_PIN_HINT, 2);
    let ready = !draft.trim().is_empty();
    if ui.horizontal(|ui| widgets::primary(ui, ready, texts::ADD_PIN, theme)).inner.clicked() {
        let act = edit(&element.id, PinAct::AddPin { id: None, text: draft.trim().to_owned() }.into());
        commands.push(Command::Act(act, None));
        draft.clear();
    }
}

/// Returns the properties of a pin, to restore it.
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

/// Returns the command for a vote and its inverse. The same vote again removes it.
fn vote(element: &Id, pin: &PinView, up: bool) -> (RoomAct, RoomAct) {
    let before = own_vote(pin);
    let correct = |up| PinAct::CorrectVote { id: pin.id.clone(), voter: "user".into(), up }.into();
    let act = if before == Some(up) { correct(None) } else { PinAct::Vote { id: pin.id.clone(), up }.into() };
    (edit(element, act), edit(element, correct(before)))
}

fn pin_ui(
    ui: &mut Ui,
    room: &RoomModel,
    element: &ElementView,
    (pin, at): (&PinView, usize),
    theme: &Theme,
    overlays: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    widgets::in_card(ui, theme, |ui| {
        let when = text_format::duration(pin.time_secs);
        ui.label(widgets::small(texts::pinned_by(room.called(&pin.author), &when), theme));
        ui.add(egui::Label::new(RichText::new(&pin.text).size(TYPE[1])).wrap());
        ui.horizontal(|ui| {
            for (up, icon, label) in [(true, Icon::Up, texts::VOTE_UP), (false, Icon::Down, texts::VOTE_DOWN)] {
                if widgets::icon_button(ui, icon, label, own_vote(pin) == Some(up), theme).clicked() {
                    let (act, inverse) = vote(&element.id, pin, up);
                    commands.push(Command::Act(act, Some(inverse)));
                }
                ui.label((if up { pin.up.len() } else { pin.down.len() }).to_string());
            }
            if widgets::danger(ui, texts::REMOVE_PIN, theme).clicked() {
                let act = edit(&element.id, PinAct::RemovePin { id: pin.id.clone() }.into());
                let put = ListAct::Put { list: ItemList::Pins, item: pin_keys(pin), at }.into();
                commands.push(Command::Act(act, Some(edit(&element.id, put))));
            }
        });
    });
    widgets::section(ui, texts::COMMENTS, theme);
    for (author, comment) in &pin.comments {
        widgets::in_card(ui, theme, |ui| {
            ui.label(RichText::new(room.called(author)).size(TYPE[0]).color(theme.text_soft));
            ui.add(egui::Label::new(comment).wrap());
        });
    }
    let draft = overlays.drafts.entry(format!("comment on {} of {}", pin.id, element.id)).or_default();
    widgets::area(ui, draft, texts::COMMENT, texts::COMMENT_HINT, 2);
    let ready = !draft.trim().is_empty();
    if ui.horizontal(|ui| widgets::primary(ui, ready, texts::ADD_COMMENT, theme)).inner.clicked() {
        let act = PinAct::Comment { id: pin.id.clone(), text: draft.trim().to_owned() }.into();
        commands.push(Command::Act(edit(&element.id, act), None));
        draft.clear();
    }
}
