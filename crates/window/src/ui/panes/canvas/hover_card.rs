//! The hover card: for an agent, its state, the reason, the duration and the next action; for a board, its content, its
//! readers and its last change.

use bevy::math::Vec2;
use egui::{Area, Id as WidgetId, Label, Order, Popup, Pos2, Rect, Response, RichText, Sense, Ui, pos2, vec2};

use super::texts;
use crate::base::Id;
use crate::element::kinds::kind;
use crate::simulation::State;
use crate::ui::ViewerContext;
use crate::ui::panes::inspector::holds;
use crate::ui::widgets;
use crate::ui::widgets::text_format;
use crate::view::activity_text::ActivityTexts;
use crate::view::event_text::{Names, learn_room, sentence};
use crate::view::model::{AgentView, ContentView, ElementReaders, ElementView, KnownElement, RoomModel};
use crate::view::paint;
use crate::view::pick::{ELEMENT_HALF, RoomObject};
use crate::view::theme::{SPACE, TYPE, state_colour};

/// How long the pointer rests on something before its card appears.
const HOVER_DELAY_SECS: f64 = 0.45;
/// The width of the card's content, in points.
const WIDTH: f32 = 230.0;
/// Assumed height of a card before it is first drawn, in points.
const INITIAL_HEIGHT: f32 = 150.0;
/// Distance from the card to its subject and to the pointer, in points.
const GAP: f32 = 14.0;
/// Maximum number of readers listed by name.
const MAX_NAMES: usize = 3;

/// State of the hover card between frames.
#[derive(Clone, Debug, Default)]
pub(super) struct HoverCard {
    /// The hovered thing, and the time in seconds at which the pointer reached it.
    hovered: Option<(RoomObject, f64)>,
    /// Size of the card in the last frame.
    size: Option<egui::Vec2>,
    names: Names,
}

/// The content of a card: its title, and lines of text, each with a heading.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Facts {
    title: String,
    lines: Vec<(&'static str, String)>,
}

impl HoverCard {
    /// Shows the card of the hovered thing after a short delay, clear of the approval card at `approval_rect`. Shows
    /// nothing unless `is_free`, that is, nothing is being dragged and nothing else is open.
    pub(super) fn show(
        &mut self,
        ui: &Ui,
        response: &Response,
        cx: &ViewerContext<'_>,
        (camera, approval_rect): (crate::view::camera::Camera, Option<Rect>),
        is_free: bool,
    ) {
        let (now, pressed) = ui.input(|input| (input.time, input.pointer.any_down()));
        let is_quiet = is_free && !pressed && !Popup::is_any_open(ui.ctx());
        let over = response.hover_pos().filter(|_| is_quiet);
        let Some((thing, pointer)) = cx.ui.view.hovered.clone().zip(over) else {
            self.hovered = None;
            return;
        };
        if self.hovered.as_ref().is_none_or(|(hovered, _)| *hovered != thing) {
            (self.hovered, self.size) = (Some((thing.clone(), now)), None);
        }
        let since = self.hovered.as_ref().map_or(now, |(_, since)| *since);
        let left = HOVER_DELAY_SECS - (now - since);
        if left > 0.0 {
            ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(left));
            return;
        }
        learn_room(&mut self.names, cx.room);
        let Some((facts, around)) = facts_of(cx, &thing, &self.names) else { return };
        let around = Rect::from_two_pos(camera.to_screen(around.0), camera.to_screen(around.1));
        let size = self.size.unwrap_or(vec2(WIDTH + 2.0 * SPACE[2], INITIAL_HEIGHT));
        let place = card_place((camera.viewport.shrink(SPACE[0]), approval_rect), around, size, pointer);
        let area = Area::new(WidgetId::new("hover card"))
            .order(Order::Tooltip)
            .interactable(false)
            .constrain(false)
            .fixed_pos(place.min);
        let shown = area.show(ui.ctx(), |ui| {
            widgets::apply_style(ui.style_mut(), cx.theme);
            widgets::window(cx.theme).inner_margin(SPACE[2]).show(ui, |ui| {
                ui.set_width(WIDTH);
                card_ui(ui, cx, &thing, &facts);
            });
        });
        self.size = Some(shown.response.rect.size());
    }
}

/// Returns the facts about a thing, and two opposite corners of its bounds in the room.
fn facts_of(cx: &ViewerContext<'_>, thing: &RoomObject, names: &Names) -> Option<(Facts, (Vec2, Vec2))> {
    let room = cx.room;
    match thing {
        RoomObject::Agent(id) => {
            let agent = room.agent(id)?;
            let corners = (agent.position - Vec2::new(22.0, 8.0), agent.position + Vec2::new(22.0, 60.0));
            Some((agent_facts(room, agent), corners))
        }
        RoomObject::Element(id) => {
            let element = room.element(id)?;
            let corners = (element.position - ELEMENT_HALF, element.position + ELEMENT_HALF);
            let changed = cx
                .recent
                .changes
                .get(id)
                .map(|row| texts::changed_ago(&sentence(row, names), &text_format::since(room, row.tick)));
            Some((element_facts(room, element, changed), corners))
        }
    }
}

/// Returns an agent's activity, the reason, its next action and the number of unread messages in its inboxes.
fn agent_facts(room: &RoomModel, agent: &AgentView) -> Facts {
    let mut lines = vec![("", ActivityTexts::of(room).line(agent))];
    if let Some(detail) = &agent.detail {
        if !detail.why.is_empty() {
            lines.push((texts::WHY, text_format::capitalised(&detail.why)));
        }
        let next = detail.queue.first().map(|next| match detail.queue.len() {
            1 => text_format::capitalised(next),
            many => texts::next_and_more(&text_format::capitalised(next), many - 1),
        });
        lines.push((texts::NEXT, next.unwrap_or_else(|| texts::NOTHING_QUEUED.to_owned())));
    }
    let unread = unread(room, &agent.id);
    if unread > 0 {
        lines.push((texts::INBOX, texts::unread_messages(unread)));
    }
    Facts { title: agent.name.to_string(), lines }
}

fn unread(room: &RoomModel, agent: &Id) -> usize {
    let own = room.elements.iter().filter(|element| element.owner.as_ref() == Some(agent));
    own.map(|element| match &*element.content {
        ContentView::Mail { items, .. } => items.iter().filter(|mail| !mail.read).count(),
        _ => 0,
    })
    .sum()
}

/// Returns the contents of an element, who has read which version, and its last change.
fn element_facts(room: &RoomModel, element: &ElementView, changed: Option<String>) -> Facts {
    let mut lines = vec![(texts::CONTENTS, holds(&element.content))];
    if let Some(known) = room.known.get(&element.id).filter(|known| !known.readers.is_empty()) {
        lines.push((texts::VERSION, known.version.to_string()));
        lines.extend(reading_now(room, element).map(|readers| (texts::READING_NOW, readers)));
        let newest = readers_where(known, |knows| matches!(knows, KnownElement::Newest { .. }).then(String::new));
        lines.push((texts::UP_TO_DATE, newest.unwrap_or_else(|| texts::NO_ONE_YET.to_owned())));
        let older = readers_where(known, |knows| match knows {
            KnownElement::Older { version, .. } => Some(texts::version_suffix(version)),
            _ => None,
        });
        lines.extend(older.map(|older| (texts::READ_AN_OLDER_VERSION, older)));
        let not_read = readers_where(known, |knows| matches!(knows, KnownElement::Nothing).then(String::new));
        lines.extend(not_read.map(|not_read| (texts::NOT_YET, not_read)));
    }
    lines.extend(changed.map(|changed| (texts::LAST_CHANGE, changed)));
    Facts { title: element.label.to_string(), lines }
}

/// Returns the names of the agents that are reading an element right now.
fn reading_now(room: &RoomModel, element: &ElementView) -> Option<String> {
    let is_reader =
        |agent: &&AgentView| agent.state == State::Reading && !agent.walks && agent.reads == Some(element.key);
    join_names(room.agents.iter().filter(is_reader), |agent| agent.name.to_string())
}

/// Returns the names of the readers for which `suffix` returns text, each with that text appended.
fn readers_where(known: &ElementReaders, suffix: impl Fn(KnownElement) -> Option<String>) -> Option<String> {
    let all = known.readers.iter().filter_map(|reader| Some((&reader.name, suffix(reader.knows)?)));
    join_names(all, |(name, suffix)| format!("{name}{suffix}"))
}

/// Joins the first names and counts the rest. The card is drawn every frame, so only the first are formatted.
fn join_names<T>(all: impl Iterator<Item = T>, name: impl Fn(T) -> String) -> Option<String> {
    let mut all = all.fuse();
    let some: Vec<String> = all.by_ref().take(MAX_NAMES).map(name).collect();
    match (some.is_empty(), all.count()) {
        (true, _) => None,
        (false, 0) => Some(some.join(", ")),
        (false, more) => Some(texts::names_and_more(&some.join(", "), more)),
    }
}

fn card_ui(ui: &mut Ui, cx: &ViewerContext<'_>, thing: &RoomObject, facts: &Facts) {
    let ViewerContext { room, theme, art, .. } = *cx;
    ui.spacing_mut().item_spacing.y = SPACE[0];
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(40.0, 46.0), Sense::hover());
        widgets::portrait_background(ui.painter(), rect, theme);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.add(Label::new(RichText::new(&facts.title).heading().size(TYPE[2])).truncate());
            match thing {
                RoomObject::Agent(id) => {
                    let Some(agent) = room.agent(id) else { return };
                    paint::portrait(ui.painter(), rect.shrink(3.0), &agent.look, art);
                    ui.horizontal(|ui| {
                        widgets::badge(ui, text_format::state(agent.state), state_colour(agent.state), theme);
                        ui.label(widgets::small(text_format::state_duration(agent), theme));
                    });
                }
                RoomObject::Element(id) => {
                    let Some(element) = room.element(id) else { return };
                    paint::element_picture(ui.painter(), rect.shrink(3.0), &element.kind, art);
                    let name = kind(&element.kind).map_or(&*element.kind, |kind| kind.name);
                    ui.label(widgets::small(text_format::capitalised(name), theme));
                }
            }
        });
    });
    for (about, text) in &facts.lines {
        if !about.is_empty() {
            ui.label(widgets::small(*about, theme));
        }
        ui.add(Label::new(text.as_str()).wrap());
    }
}

/// Returns where to put a card of this size: right of its subject, left of it, below or above it. The card never lies
/// under the pointer, stays within `view` and, if possible, does not cover `avoid`.
fn card_place((view, avoid): (Rect, Option<Rect>), around: Rect, size: egui::Vec2, pointer: Pos2) -> Rect {
    let beside = around.center().y - 0.5 * size.y;
    let above = around.center().x - 0.5 * size.x;
    let corners = [
        pos2(around.right() + GAP, beside),
        pos2(around.left() - GAP - size.x, beside),
        pos2(above, around.bottom() + GAP),
        pos2(above, around.top() - GAP - size.y),
        // A subject that fills the view has no free side.
        pointer + vec2(GAP, GAP),
        pointer + vec2(-GAP - size.x, GAP),
        pointer + vec2(GAP, -GAP - size.y),
        pointer - vec2(GAP, GAP) - size,
    ];
    let places = corners.map(|corner| paint::inside(Rect::from_min_size(corner, size), view));
    let is_clear = |place: &&Rect| !place.expand(0.5 * GAP).contains(pointer);
    let is_beside = |place: &&Rect| is_clear(place) && !place.intersect(around).is_positive();
    let covers = |place: &&Rect| avoid.is_some_and(|avoid| avoid.intersect(**place).is_positive());
    let best = places.iter().find(|place| is_beside(place) && !covers(place));
    let best = best.or_else(|| places.iter().find(|place| is_clear(place) && !covers(place)));
    let best = best.or_else(|| places.iter().find(is_beside)).or_else(|| places.iter().find(is_clear));
    *best.unwrap_or(&places[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{agent, sample_room};
    use crate::view::model::ReaderView;
    use proptest::prelude::*;
    use std::sync::Arc;

    #[test]
    fn an_agent_s_card_shows_state_reason_and_next_action() {
        let mut room = sample_room();
        room.elements[3].owner = Some("ada-1".into());
        let facts = agent_facts(&room, &room.agents[0]);
        assert_eq!(facts.title, "Ada");
        let expected = [
            ("", "Idle"),
            ("Why", "Nothing calls"),
            ("Next", "Read House rules (high), and 1 more"),
            ("Inbox", "1 unread message"),
        ];
        assert_eq!(facts.lines, expected.map(|(about, text)| (about, text.to_owned())));
        room.agents[1].state = State::Conversing;
        assert_eq!(agent_facts(&room, &room.agents[1]).lines[0].1, "Talking with Ada");
    }

    #[test]
    fn a_board_s_card_shows_who_has_read_which_version() {
        let mut room = sample_room();
        let reader = |name: &str, knows| ReaderView { agent: name.into(), name: name.into(), knows };
        let newest = KnownElement::Newest { read_tick: 4 };
        let mut readers: Vec<ReaderView> = ["Ada", "Bram", "Cleo", "Dov"].map(|name| reader(name, newest)).into();
        readers.push(reader("Esme", KnownElement::Older { version: 3, read_tick: 2 }));
        readers.push(reader("Finn", KnownElement::Nothing));
        room.known.insert("ideas".into(), Arc::new(ElementReaders { version: 4, readers }));
        let key = room.element("ideas").map(|element| element.key);
        (room.agents[1].state, room.agents[1].reads) = (State::Reading, key);
        let ideas = room.element("ideas").expect("it is here");
        let facts = element_facts(&room, ideas, Some("Ada added a pin".to_owned()));
        let of = |about: &str| facts.lines.iter().find(|line| line.0 == about).map(|line| &*line.1);
        assert_eq!(of("Up to date"), Some("Ada, Bram, Cleo and 1 more"));
        assert_eq!(of("Version"), Some("4"));
        assert_eq!(of("Reading it now"), Some("Bram"));
        assert_eq!(of("Read an older version"), Some("Esme (version 3)"));
        assert_eq!(of("Not yet"), Some("Finn"));
        assert_eq!(of("Last change"), Some("Ada added a pin"));
        let nobody = ElementReaders { version: 1, readers: vec![reader("Esme", KnownElement::Nothing)] };
        room.known.insert("ideas".into(), Arc::new(nobody));
        room.agents[1].walks = true;
        let facts = element_facts(&room, room.element("ideas").expect("it is here"), None);
        assert_eq!(facts.lines[2], ("Up to date", "No one yet".to_owned()), "an agent on its way is not reading yet");
    }

    #[test]
    fn a_card_stays_short_with_ten_thousand_agents() {
        let mut room = sample_room();
        let key = room.element("ideas").map(|element| element.key);
        let agents = (2..10_000).map(|key| agent(key, &format!("agent-{key}"), &format!("Agent {key}")));
        room.agents.extend(agents);
        for agent in &mut room.agents[2..] {
            (agent.state, agent.reads) = (State::Reading, key);
        }
        let knows = [
            KnownElement::Newest { read_tick: 4 },
            KnownElement::Older { version: 3, read_tick: 2 },
            KnownElement::Nothing,
        ];
        let reader = |(index, agent): (usize, &AgentView)| ReaderView {
            agent: agent.id.clone(),
            name: agent.name.clone(),
            knows: knows[index % 3],
        };
        let readers = room.agents.iter().enumerate().map(reader).collect();
        room.known.insert("ideas".into(), Arc::new(ElementReaders { version: 4, readers }));
        let ideas = room.element("ideas").expect("it is here");
        let facts = element_facts(&room, ideas, Some("Ada added a pin".to_owned()));
        assert!(facts.lines.len() <= 8, "{facts:?}");
        assert!(facts.lines.iter().all(|(_, text)| text.chars().count() < 120), "{facts:?}");
        let reading = facts.lines.iter().find(|line| line.0 == "Reading it now").map(|line| &*line.1);
        assert_eq!(reading, Some("Agent 2, Agent 3, Agent 4 and 9995 more"));
        let mut detail = (**room.agents[0].detail.as_ref().expect("it has details")).clone();
        detail.queue = (0..10_000).map(|number| format!("read board {number}")).collect();
        room.agents[0].detail = Some(Arc::new(detail));
        let facts = agent_facts(&room, &room.agents[0]);
        assert!(facts.lines.len() <= 5, "{facts:?}");
        assert!(facts.lines.iter().all(|(_, text)| text.chars().count() < 120), "{facts:?}");
    }

    proptest! {
        #[test]
        fn a_card_lies_inside_the_view_and_never_under_the_pointer(
            x in 0.0_f32..1_280.0, y in 0.0_f32..800.0, wide in 10.0_f32..300.0, high in 80.0_f32..300.0,
            small in any::<bool>(),
        ) {
            let view = Rect::from_min_size(pos2(0.0, 0.0), if small { vec2(660.0, 640.0) } else { vec2(1_280.0, 800.0) });
            let pointer = view.clamp(pos2(x, y));
            let around = Rect::from_center_size(pointer + vec2(3.0, 5.0), vec2(wide, wide));
            let place = card_place((view, None), around, vec2(WIDTH, high), pointer);
            prop_assert!(view.contains_rect(place));
            prop_assert!(!place.contains(pointer));
            // An approval card lies to the right, where this card would go.
            let approval_rect = Rect::from_min_size(around.right_top(), vec2(380.0, 320.0));
            let place = card_place((view, Some(approval_rect)), around, vec2(WIDTH, high), pointer);
            prop_assert!(view.contains_rect(place) && !place.contains(pointer));
            let has_room = around.left() - view.left() > WIDTH + 2.0 * GAP;
            prop_assert!(!has_room || !approval_rect.intersect(place).is_positive(), "{:?} covers {:?}", place, approval_rect);
        }
    }
}
