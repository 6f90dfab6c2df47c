//! The debug overlay: next to each visible agent, its activity and the reason, its next activity, its memory and its
//! cost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use egui::{Align2, Color32, CornerRadius, FontId, Galley, Painter, Pos2, Rect, Stroke, StrokeKind, vec2};

use super::texts;
use crate::base::text;
use crate::ui::state::RoomView;
use crate::ui::widgets;
use crate::ui::widgets::provider_health;
use crate::ui::widgets::text_format;
use crate::view::camera::Camera;
use crate::view::model::{AgentDetail, AgentView, RoomModel};
use crate::view::paint::Occupancy;
use crate::view::pick::RoomObject;
use crate::view::recent_events::Recent;
use crate::view::theme::{LINE, RADIUS, TYPE, Theme, state_colour};

/// Maximum width of a card.
const CARD_POINTS: f32 = 210.0;
/// Minimum horizontal distance between an agent's position and its card.
const OFFSET_POINTS: f32 = 30.0;
/// Number of queued actions listed on a card.
const QUEUE_SHOWN: usize = 3;
/// Maximum number of full cards; further agents get badges, except the hovered one.
const MAX_CARDS: usize = 40;

/// Maximum number of characters of the state on a badge.
const MAX_BADGE_CHARS: usize = 12;
/// Size of an agent's figure, which other agents' cards avoid, in world units.
const FIGURE_UNITS: egui::Vec2 = vec2(22.0, 46.0);

/// The card or badge of one agent, laid out.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacedCard {
    /// Index into [`RoomModel::agents`].
    pub agent: usize,
    /// Whether this is a full card rather than a badge.
    pub is_full: bool,
    /// Rectangle on screen.
    pub rect: Rect,
}

/// Returns the lines of an agent's card, starting with its state. `refused` is the latest command that was refused to
/// it.
pub fn lines(room: &RoomModel, agent: &AgentView, detail: &AgentDetail, refused: Option<&str>) -> Vec<String> {
    let mut lines =
        vec![texts::state_and_duration(text_format::state(agent.state), &text_format::state_duration(agent))];
    if !detail.why.is_empty() && !detail.why.eq_ignore_ascii_case(text_format::state(agent.state)) {
        lines.push(text::truncate(&detail.why, 60));
    }
    lines.extend(room.fault_of(agent.key).map(provider_health::summary));
    lines.extend(refused.map(|what| texts::refused(&text::truncate(&text::one_line(what), 60))));
    for (index, action) in detail.queue.iter().take(QUEUE_SHOWN).enumerate() {
        lines.push(format!("{}. {}", index + 1, text::truncate(action, 40)));
    }
    if detail.queue.len() > QUEUE_SHOWN {
        lines.push(texts::and_more(detail.queue.len() - QUEUE_SHOWN));
    }
    if !detail.memory.context_summary.is_empty() {
        lines.push(format!("“{}”", text::truncate(&text::one_line(&detail.memory.context_summary), 60)));
    }
    let memory = &detail.memory;
    lines.push(texts::notes_and_elements(memory.workspace_notes.len(), memory.environment_state.len()));
    if let Some(prompt) = &detail.last_prompt {
        lines.push(texts::last_prompt(&text_format::compact(prompt.chars().div_ceil(4) as u64)));
    }
    lines.push(texts::spent(&text_format::compact(detail.spent.tokens), &text_format::cost(&detail.spent)));
    lines
}

/// Lays out the cards of all visible agents: the hovered agent first, then the selected ones, then from the center of
/// the view outwards. An agent whose card does not fit gets a badge, and none if that does not fit either. `names` are
/// the screen rectangles of labels, which cards avoid where possible; `size` returns the size of an agent's full card.
pub fn place(
    room: &RoomModel,
    camera: &Camera,
    (room_view, selected, names): (&RoomView, &BTreeSet<RoomObject>, &[Rect]),
    mut size: impl FnMut(usize) -> egui::Vec2,
) -> Vec<PlacedCard> {
    let view = camera.viewport;
    let rank = |agent: &AgentView| {
        let thing = RoomObject::Agent(agent.id.clone());
        if room_view.hovered.as_ref() == Some(&thing) { 0 } else { 2 - u8::from(selected.contains(&thing)) }
    };
    let mut visible: Vec<(u8, f32, usize, Pos2)> = room
        .agents
        .iter()
        .enumerate()
        .map(|(index, agent)| (index, agent, camera.to_screen(agent.position)))
        .filter(|(_, _, point)| view.contains(*point))
        .map(|(index, agent, point)| (rank(agent), point.distance_sq(view.center()), index, point))
        .collect();
    visible.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2)));
    let mut figures = Occupancy::new(view);
    for (_, _, _, point) in &visible {
        figures.claim(Rect::from_center_size(*point - vec2(0.0, 28.0) * camera.zoom, FIGURE_UNITS * camera.zoom));
    }
    names.iter().for_each(|name| figures.claim(*name));
    let mut taken = Occupancy::new(view);
    let offset = OFFSET_POINTS.max(16.0 * camera.zoom);
    let mut placed: Vec<PlacedCard> = Vec::new();
    for (rank, _, agent, point) in visible {
        let has_detail = room.agents[agent].detail.is_some();
        let is_full = (has_detail && (rank == 0 || placed.len() < MAX_CARDS)).then(|| {
            let candidate_rects =
                candidate_rects(point, size(agent), offset, view).into_iter().map(|rect| clamp_vertically(rect, view));
            let free: Vec<Rect> = candidate_rects.filter(|rect| taken.is_free(rect.expand(2.0))).collect();
            // The hovered and selected agents get a card in any case, others only where it covers no figure.
            let unobstructed = free.iter().find(|rect| figures.is_free(**rect));
            unobstructed.or(free.first().filter(|_| rank < 2)).copied()
        });
        if let Some(rect) = is_full.flatten() {
            taken.claim(rect);
            placed.push(PlacedCard { agent, is_full: true, rect });
            continue;
        }
        let small = badge_size(&room.agents[agent]);
        let candidate_rects =
            candidate_rects(point, small, offset, view).into_iter().map(|rect| clamp_vertically(rect, view));
        let free: Vec<Rect> = candidate_rects.filter(|rect| taken.is_free(rect.expand(2.0))).collect();
        let badge = free.iter().find(|rect| figures.is_free(**rect)).or(free.first()).copied();
        if let Some(rect) = badge {
            taken.claim(rect);
            placed.push(PlacedCard { agent, is_full: false, rect });
        }
    }
    placed
}

/// Returns the size of an agent's badge, which holds a dot and the name of the state.
fn badge_size(agent: &AgentView) -> egui::Vec2 {
    let chars = text_format::state(agent.state).chars().count().min(MAX_BADGE_CHARS);
    vec2(25.0 + 6.0 * chars as f32, 18.0)
}

/// Returns the rectangles in which a card could lie next to an agent, best first: right, left, then higher and lower.
fn candidate_rects(point: Pos2, size: egui::Vec2, offset: f32, view: Rect) -> Vec<Rect> {
    let at = |left: f32, up: f32| Rect::from_min_size(point + vec2(left, -size.y / 2.0 - 16.0 - up * size.y), size);
    let sides = [offset, -offset - size.x];
    let sides = if at(sides[0], 0.0).right() > view.right() { [sides[1], sides[0]] } else { sides };
    let all = [0.0, 0.45, -0.45].into_iter().flat_map(|up| sides.map(|left| at(left, up)));
    // In a view narrower than the card, half a card is better than none.
    let fits_width =
        |rect: &Rect| (rect.left() >= view.left() && rect.right() <= view.right()) || size.x > view.width();
    all.filter(fits_width).collect()
}

/// Moves `rect` vertically into `view`, as far as it fits.
fn clamp_vertically(rect: Rect, view: Rect) -> Rect {
    let low = (view.top() - rect.top()).max(0.0);
    let high = (view.bottom() - rect.bottom()).min(0.0);
    rect.translate(vec2(0.0, if low > 0.0 { low } else { high }))
}

/// Draws the overlay onto the room.
pub fn debug_overlay_ui(
    painter: &Painter,
    room: &RoomModel,
    recent: &Recent,
    theme: &Theme,
    (view, selected, names): (&RoomView, &BTreeSet<RoomObject>, &[Rect]),
) {
    let camera = &view.camera;
    if !view.debug_overlay {
        return;
    }
    let painter = painter.with_clip_rect(camera.viewport);
    // Lays out only cards that may be shown.
    let mut galleys: BTreeMap<usize, Arc<Galley>> = BTreeMap::new();
    let size = |index: usize| {
        let agent = &room.agents[index];
        let Some(detail) = &agent.detail else { return vec2(CARD_POINTS, 40.0) };
        let galley = galleys.entry(index).or_insert_with(|| {
            let refused = recent.refusals.get(&agent.id).map(|(what, _)| what.as_str());
            layout(&painter, &lines(room, agent, detail, refused), theme)
        });
        galley.size() + vec2(26.0, 14.0)
    };
    let places = place(room, camera, (view, selected, names), size);
    for place in places {
        let agent = &room.agents[place.agent];
        let colour = state_colour(agent.state);
        let foot = camera.to_screen(agent.position) - vec2(0.0, 16.0);
        let edge = if place.rect.center().x > foot.x { place.rect.left_center() } else { place.rect.right_center() };
        painter.line_segment([foot, edge], Stroke::new(LINE[0], colour.gamma_multiply(0.6)));
        let fill = Color32::from(egui::Rgba::from(theme.bubble).multiply(0.94));
        let corner = CornerRadius::same(RADIUS[0]);
        painter.rect(
            place.rect,
            corner,
            fill,
            Stroke::new(LINE[0], widgets::mix(theme.line, colour, 0.5)),
            StrokeKind::Inside,
        );
        let top = if place.is_full { place.rect.top() + 14.0 } else { place.rect.center().y };
        painter.circle_filled(Pos2::new(place.rect.left() + 10.0, top), 3.5, colour);
        match galleys.get(&place.agent) {
            Some(galley) if place.is_full => {
                painter.galley(place.rect.min + vec2(18.0, 7.0), galley.clone(), theme.bubble_text);
            }
            _ => {
                let word = text::truncate(text_format::state(agent.state), MAX_BADGE_CHARS);
                let at = place.rect.left_center() + vec2(18.0, 0.0);
                painter.text(at, Align2::LEFT_CENTER, word, FontId::proportional(TYPE[0]), theme.bubble_text);
            }
        }
    }
}

fn layout(painter: &Painter, lines: &[String], theme: &Theme) -> Arc<Galley> {
    let mut job = egui::text::LayoutJob::default();
    job.wrap.max_width = CARD_POINTS - 26.0;
    for (index, line) in lines.iter().enumerate() {
        let (size, colour) = if index == 0 { (TYPE[1] - 1.0, theme.bubble_text) } else { (TYPE[0], theme.text_soft) };
        let format = egui::TextFormat::simple(FontId::proportional(size), colour);
        let end = if index + 1 == lines.len() { "" } else { "\n" };
        job.append(&format!("{line}{end}"), 0.0, format);
    }
    painter.layout_job(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::ledger::Tally;
    use crate::mind::Prompt;
    use crate::ui::testing::{agent, sample_room};
    use bevy::math::Vec2;

    fn crowd(count: u32, apart: f32) -> RoomModel {
        let mut room = RoomModel::default();
        for key in 0..count {
            let mut agent = agent(key, &format!("a-{key}"), "A");
            agent.position = Vec2::new((key % 32) as f32 - 16.0, (key / 32) as f32 - 16.0) * apart;
            agent.detail = Some(Arc::new(AgentDetail::default()));
            room.agents.push(agent);
        }
        room
    }

    fn placed(room: &RoomModel, view: &RoomView, selected: &BTreeSet<RoomObject>) -> Vec<PlacedCard> {
        place(room, &Camera::default(), (view, selected, &[]), |_| vec2(180.0, 90.0))
    }

    #[test]
    fn a_card_lists_the_state_queue_memory_and_cost_of_an_agent() {
        let mut room = sample_room();
        let mut detail = (**room.agents[0].detail.as_ref().unwrap()).clone();
        detail.spent = Tally { calls: 3, tokens: 3_100, cost_micro_usd: 40_000, ..Tally::default() };
        detail.last_prompt = Some(Prompt { moment: "x".repeat(400), ..Prompt::default() });
        detail.memory.workspace_notes = vec!["tea is out".into()];
        detail.memory.context_summary = "It was a long day.".into();
        room.agents[0].detail = Some(detail.clone().into());
        let expected = [
            "Idle for 4 s",
            "nothing calls",
            "1. read House rules (high)",
            "2. go and tell Bram",
            "“It was a long day.”",
            "1 note, 0 elements known",
            "last prompt 100 tokens",
            "3.1 k tokens, $0.04",
        ];
        assert_eq!(lines(&room, &room.agents[0], &detail, None), expected);
        let refused = lines(&room, &room.agents[0], &detail, Some("there is no pin\ncalled p9"));
        assert_eq!(refused[2], "not done: there is no pin called p9");
    }

    #[test]
    fn agents_off_screen_get_no_card() {
        let mut room = crowd(3, 100.0);
        room.agents[0].position = Vec2::new(9e4, 0.0);
        room.agents[1].detail = None;
        room.agents[2].position = Vec2::ZERO;
        let placed = placed(&room, &RoomView::default(), &BTreeSet::new());
        assert_eq!(placed.iter().map(|placed| placed.agent).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn no_card_covers_a_label() {
        let mut room = crowd(1, 100.0);
        room.agents[0].position = Vec2::ZERO;
        let (view, nobody) = (RoomView::default(), BTreeSet::new());
        let card = |names: &[Rect]| {
            let placed = place(&room, &Camera::default(), (&view, &nobody, names), |_| vec2(180.0, 90.0));
            (placed[0].is_full, placed[0].rect)
        };
        let (is_full, first) = card(&[]);
        assert!(is_full);
        let name = Rect::from_center_size(first.center(), vec2(36.0, 16.0));
        let (is_full, second) = card(&[name]);
        assert!(is_full && !second.intersects(name) && second != first);
    }

    #[test]
    fn in_a_crowd_hovered_and_selected_agents_get_full_cards_and_nothing_overlaps() {
        let room = crowd(1_000, 20.0);
        let view = RoomView { hovered: Some(RoomObject::Agent("a-999".into())), ..RoomView::default() };
        let selected = [RoomObject::Agent("a-400".into())].into();
        let mut room = room;
        room.agents[999].position = Vec2::new(500.0, 300.0);
        let placed = placed(&room, &view, &selected);
        assert!(placed[0].is_full && placed[0].agent == 999 && placed[1].is_full && placed[1].agent == 400);
        assert!(placed.iter().any(|placed| !placed.is_full), "the rest are badges");
        for (index, one) in placed.iter().enumerate() {
            assert!(placed[..index].iter().all(|other| !other.rect.intersects(one.rect)));
        }
    }
}
