//! Paints interaction between agents: conversation ropes, relationship ropes, speech bubbles and small signs.

use std::collections::HashMap;

use bevy::math::Vec2 as World;
use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2, vec2};

use super::PaintParameters;
use super::batch::{Batch, fade, mixed};
use super::figure::HEIGHT;
use super::floor::sign_ground;
use super::label_layout::inside;
use super::markdown_text::bubble_text;
use super::occupancy::Occupancy;
use super::text_scaling;
use crate::simulation::State;
use crate::view::bubble::{Bubble, Lifetime};
use crate::view::camera::Camera;
use crate::view::model::{AgentView, RelationshipView, RoomModel};
use crate::view::recent_events::PULSE_SECS;
use crate::view::theme::{RADIUS, Theme, state_colour, word_colour};

/// Height of the ends of a rope above the floor, in world units.
const ROPE_HEIGHT: f32 = 20.0;
/// Maximum number of segments of a rope.
const ROPE_PIECES: usize = 10;
/// Maximum width of a bubble's text, in points.
const BUBBLE_WIDTH: f32 = 196.0;

/// A rope that hangs between two screen points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rope {
    from: Pos2,
    sag: Pos2,
    to: Pos2,
}

impl Rope {
    pub(super) fn between(from: World, to: World, camera: Camera, height: f32) -> Self {
        let (from, to) =
            (camera.to_screen(from + World::new(0.0, height)), camera.to_screen(to + World::new(0.0, height)));
        let sag = (0.2 * from.distance(to)).min(46.0 * camera.zoom);
        Self { from, sag: from.lerp(to, 0.5) + vec2(0.0, sag), to }
    }

    /// The same rope hanging lower, so that several ropes between two agents do not overlap.
    fn lower(self, ropes: u32) -> Self {
        let more = 0.5 * self.from.distance(self.sag).min(60.0) * ropes.min(4) as f32;
        Self { sag: self.sag + vec2(0.0, more), ..self }
    }

    /// Distance of a point from the rope.
    fn distance(&self, point: Pos2) -> f32 {
        const PIECES: usize = 16;
        let ends = |piece: usize| self.point(piece as f32 / PIECES as f32);
        let pieces = (0..PIECES).map(|piece| distance_to_line(ends(piece), ends(piece + 1), point));
        pieces.fold(f32::INFINITY, f32::min)
    }

    /// The point at a share of the rope's length, from 0 to 1.
    pub(super) fn point(&self, share: f32) -> Pos2 {
        self.from.lerp(self.sag, share).lerp(self.sag.lerp(self.to, share), share)
    }

    pub(super) fn draw(&self, batch: &mut Batch, width: f32, colour: Color32) {
        let mut before = self.from;
        // Short ropes need few segments to look round.
        let pieces = ((self.from.distance(self.to) / 12.0) as usize).clamp(2, ROPE_PIECES);
        for piece in 1..=pieces {
            let now = self.point(piece as f32 / pieces as f32);
            batch.line(before, now, width, colour);
            before = now;
        }
    }

    pub(super) fn seen_in(&self, view: Rect) -> bool {
        Rect::from_points(&[self.from, self.sag, self.to]).expand(8.0).intersects(view)
    }
}

/// Paints ropes between talking agents, with light moving from the speaker to the listeners.
pub(super) fn talk_ropes(batch: &mut Batch, room: &RoomModel, camera: Camera, theme: Theme, now_secs: f64) {
    let colour = state_colour(State::Conversing);
    for talk in &room.conversations {
        let Some(speaker) = talk.participants.get(talk.speaker).and_then(|key| room.agent_of(*key)) else { continue };
        for listener in talk.participants.iter().filter(|key| **key != speaker.key) {
            let Some(listener) = room.agent_of(*listener) else { continue };
            let rope = Rope::between(speaker.position, listener.position, camera, ROPE_HEIGHT);
            if !rope.seen_in(camera.viewport) {
                continue;
            }
            let width = (2.6 * camera.zoom).clamp(1.2, 5.0);
            let near = camera.zoom > 0.3;
            if near {
                rope.draw(batch, width + 1.6, theme.shadow.gamma_multiply(0.6));
            }
            rope.draw(batch, width, mixed(colour, theme.bubble, 0.45).gamma_multiply(0.9));
            for pulse in 0..if near { 3 } else { 1 } {
                let share = ((now_secs * 0.55 + f64::from(pulse) / 3.0) % 1.0) as f32;
                let strength = fade(0.0, 0.15, share) * (1.0 - fade(0.85, 1.0, share));
                let at = rope.point(share);
                if near {
                    batch.disc(at, 2.6 * width, colour.gamma_multiply(0.25 * strength));
                }
                batch.disc(at, 1.3 * width, mixed(colour, Color32::WHITE, 0.35).gamma_multiply(strength));
            }
        }
    }
}

/// Paints relationship ropes: thin, with dots that grow toward the target.
pub(super) fn tie_ropes(batch: &mut Batch, room: &RoomModel, camera: Camera, theme: Theme) {
    let strength = fade(0.12, 0.4, camera.zoom);
    for (_, rope, tie) in ties(room, camera) {
        let colour = tie_colour(tie, theme).gamma_multiply(0.75 * strength);
        rope.draw(batch, (1.5 * camera.zoom).clamp(0.8, 2.6), colour);
        for dot in [0.78_f32, 0.84, 0.9] {
            batch.disc(rope.point(dot), (1.6 + 12.0 * (dot - 0.78)) * camera.zoom.clamp(0.5, 1.6), colour);
        }
    }
}

/// The labels of relationship ropes: index of the tie, text, top centre, and the rope's colour.
pub(super) fn tie_labels(
    room: &RoomModel,
    camera: Camera,
    theme: Theme,
) -> impl Iterator<Item = (usize, &str, Pos2, Color32)> {
    ties(room, camera).filter_map(move |(index, rope, tie)| {
        let is_long = rope.from.distance(rope.to) > 50.0 && !tie.label.is_empty();
        is_long.then(|| (index, &*tie.label, rope.point(0.5) - vec2(0.0, 8.0), tie_colour(tie, theme)))
    })
}

/// The visible relationship ropes, each with the index of its tie.
fn ties(room: &RoomModel, camera: Camera) -> impl Iterator<Item = (usize, Rope, &RelationshipView)> {
    let mut between = HashMap::new();
    room.relationships.iter().enumerate().filter_map(move |(index, tie)| {
        let before = between.entry((tie.from.min(tie.to), tie.from.max(tie.to))).or_insert(0_u32);
        let rope = tie_rope(room, camera, tie)?.lower(*before);
        *before += 1;
        rope.seen_in(camera.viewport).then_some((index, rope, tie))
    })
}

fn tie_rope(room: &RoomModel, camera: Camera, tie: &RelationshipView) -> Option<Rope> {
    let (from, to) = (room.agent_of(tie.from)?, room.agent_of(tie.to)?);
    Some(Rope::between(from.position, to.position, camera, 0.55 * ROPE_HEIGHT))
}

/// Minimum zoom at which ropes can be clicked.
const GRASPED_FROM_ZOOM: f32 = 0.15;

/// The index of the tie whose rope or label is under a screen point.
pub fn relationship_at(room: &RoomModel, camera: Camera, point: Pos2) -> Option<usize> {
    const NEAR_POINTS: f32 = 7.0;
    if camera.zoom < GRASPED_FROM_ZOOM {
        return None;
    }
    let distance = |rope: &Rope, tie: &RelationshipView| {
        let on_label = !tie.label.is_empty() && label_place(rope, tie, camera).contains(point);
        if on_label { 0.0 } else { rope.distance(point) }
    };
    let near = ties(room, camera).map(|(index, rope, tie)| (index, distance(&rope, tie)));
    let nearest = near.filter(|(_, away)| *away <= NEAR_POINTS).min_by(|one, other| one.1.total_cmp(&other.1));
    nearest.map(|(index, _)| index)
}

/// The approximate rectangle of a rope's label.
fn label_place(rope: &Rope, tie: &RelationshipView, camera: Camera) -> Rect {
    let size = tie_label_size(camera);
    let wide = 0.55 * size * tie.label.chars().count().min(28) as f32 + 10.0;
    let top = rope.point(0.5) - vec2(0.0, 8.0);
    Rect::from_center_size(top + vec2(0.0, 0.5 * size + 3.0), vec2(wide, size + 8.0))
}

pub(super) fn tie_label_size(camera: Camera) -> f32 {
    10.5 * camera.zoom.sqrt().clamp(0.85, 1.5)
}

/// The screen position of the middle of the rope between two agents, whether or not they are related.
pub fn relationship_midpoint(room: &RoomModel, camera: Camera, from: &str, to: &str) -> Option<Pos2> {
    let (from, to) = (room.agent(from)?, room.agent(to)?);
    let known = ties(room, camera).find(|(_, _, tie)| tie.from == from.key && tie.to == to.key);
    let new = || Rope::between(from.position, to.position, camera, 0.55 * ROPE_HEIGHT);
    Some(known.map_or_else(new, |(_, rope, _)| rope).point(0.5))
}

/// Highlights a selected or hovered relationship.
pub fn chosen_tie(painter: &Painter, room: &RoomModel, camera: Camera, theme: Theme, index: usize, selected: bool) {
    let Some((_, rope, tie)) = ties(room, camera).find(|(place, ..)| *place == index) else { return };
    let strength = if selected { 1.0 } else { 0.45 };
    let points: Vec<Pos2> = (0..=16).map(|piece| rope.point(piece as f32 / 16.0)).collect();
    painter.line(points.clone(), Stroke::new(7.0, theme.accent.gamma_multiply(0.25 * strength)));
    painter.line(points, Stroke::new(2.2, theme.accent.gamma_multiply(strength)));
    if selected && !tie.label.is_empty() {
        let corners = CornerRadius::same(8);
        let place = label_place(&rope, tie, camera);
        painter.rect_filled(place, corners, theme.accent);
        let shown = crate::base::text::truncate(&tie.label, 28);
        let size = tie_label_size(camera);
        text_scaling::paint_line(
            painter,
            (place.center(), Align2::CENTER_CENTER),
            shown,
            size,
            theme.on_accent,
            camera,
        );
    }
}

/// Paints the rope that is being dragged from an agent to the pointer.
pub fn dragged_rope(painter: &Painter, camera: Camera, theme: Theme, from: World, to: World) {
    let rope = Rope::between(from, to, camera, 0.55 * ROPE_HEIGHT);
    let points: Vec<Pos2> = (0..=16).map(|piece| rope.point(piece as f32 / 16.0)).collect();
    painter.extend(Shape::dashed_line(&points, Stroke::new(2.4, theme.accent), 7.0, 5.0));
    painter.circle_filled(rope.to, 5.0, theme.accent);
}

/// The screen position of an agent's handle: beside the figure, close enough to be reached before it disappears.
pub fn handle_place(agent: &AgentView, camera: Camera) -> Pos2 {
    camera.to_screen(agent.position) + vec2(22.0 * camera.zoom + 9.0, -30.0 * camera.zoom)
}

/// Paints the handle beside a figure from which a relationship is dragged.
pub fn handle(painter: &Painter, at: Pos2, hot: bool, theme: Theme) {
    let radius = if hot { 9.0 } else { 7.0 };
    painter.circle(at + vec2(0.0, 1.5), radius + 1.0, theme.shadow.gamma_multiply(0.6), Stroke::NONE);
    let (ground, ink) = if hot { (theme.accent, theme.on_accent) } else { (theme.panel, theme.accent) };
    painter.circle(at, radius, ground, Stroke::new(1.5, theme.accent));
    // Two linked dots.
    painter.line_segment([at + vec2(-3.0, 1.8), at + vec2(3.0, -1.8)], Stroke::new(1.4, ink));
    painter.circle_filled(at + vec2(-3.2, 2.0), 1.9, ink);
    painter.circle_filled(at + vec2(3.2, -2.0), 1.9, ink);
}

fn distance_to_line(one: Pos2, other: Pos2, point: Pos2) -> f32 {
    let along = other - one;
    let length_squared = along.length_sq();
    let share = if length_squared > 0.0 { ((point - one).dot(along) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    (one + along * share).distance(point)
}

fn tie_colour(tie: &RelationshipView, theme: Theme) -> Color32 {
    let ground = if theme.dark { theme.bubble } else { Color32::BLACK };
    mixed(word_colour(&tie.label), ground, if theme.dark { 0.15 } else { 0.3 })
}

/// Obstacles for bubbles.
#[derive(Clone, Copy)]
pub(super) struct Air<'a> {
    /// Bubbles stay within this rectangle.
    pub(super) view: Rect,
    /// Heads, which no bubble may cover.
    pub(super) faces: &'a Occupancy,
    /// Figures and boards, which bubbles avoid if possible; `None` in a crowd, where that is not possible.
    pub(super) spared: Option<&'a Occupancy>,
}

/// Finds a place for a bubble of this size: straight above the mouth, to a side, or higher. For selected agents also
/// farther away.
pub(super) fn bubble_place(mouth: Pos2, size: Vec2, air: Air<'_>, taken: &Occupancy, is_chosen: bool) -> Option<Rect> {
    // In order of preference: sideways by a share of its width, upward by its height.
    let places = [0.0, -0.42, 0.42, -0.7, 0.7].into_iter().map(|aside| (aside, 0.0));
    let higher = |up: f32| [0.0, -0.42, 0.42, -0.8, 0.8].map(|aside| (aside, up));
    let far = if is_chosen { [-1.8, -2.4, 0.6, 1.2, 1.8].as_slice() } else { &[] };
    let places = places.chain([-0.6, -1.2].iter().chain(far).flat_map(|up| higher(*up)));
    let at = |(aside, above): (f32, f32)| {
        let middle = mouth + vec2(aside * size.x, above * size.y - size.y / 2.0 - 8.0);
        inside(Rect::from_center_size(middle, size), air.view)
    };
    // Prefer the free place that covers least of figures and boards, then the nearest one above.
    let free = places.map(at).enumerate().filter(|(_, place)| taken.is_free(*place) && air.faces.is_free(*place));
    let covered = |place: Rect| air.spared.map_or(0, |spared| spared.crowding(place));
    free.min_by_key(|(index, place)| covered(*place) + 2 * index).map(|(_, place)| place)
}

/// Paints the bubble of an agent if there is room. Returns `false` if there is none.
pub(super) fn bubble(
    painter: &Painter,
    agent: &AgentView,
    bubble: &Bubble,
    scene: &PaintParameters,
    air: Air<'_>,
    taken: &mut Occupancy,
    is_chosen: bool,
) -> bool {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    let strength = bubble.strength(now_secs);
    if strength <= 0.01 {
        return true;
    }
    let mouth = camera.to_screen(agent.position + World::new(0.0, HEIGHT + 4.0));
    let text = bubble_text(&bubble.text);
    if text.is_empty() {
        return true;
    }
    let ink = if bubble.aloud { theme.bubble_text } else { mixed(theme.bubble_text, theme.bubble, 0.25) };
    let size = (12.0 * camera.zoom.powf(0.35)).clamp(11.0, 17.0);
    // The width grows with the font size.
    let width = BUBBLE_WIDTH * size / 12.0;
    let lay_out = |text: String| text_scaling::rows(painter, text, size, BUBBLE_WIDTH / 12.0, usize::MAX, camera);
    // In a crowd, measuring every bubble would cost more than painting the few that fit.
    let room_for = if air.spared.is_some() {
        lay_out(text.clone()).size() + vec2(20.0, 14.0)
    } else {
        let letters = text.chars().count() as f32;
        let lines = (letters * 0.56 * size / width).ceil().clamp(1.0, 6.0);
        vec2((letters * 0.6 * size).min(width) + 20.0, lines * size * 1.3 + 16.0)
    };
    let Some(place) = bubble_place(mouth, room_for, air, taken, is_chosen) else { return false };
    let galley = lay_out(text);
    // The actual size may exceed the estimate, and needs room as well.
    let whole = galley.size() + vec2(18.0, 12.0);
    let place = inside(Rect::from_center_size(pos2(place.center().x, place.bottom() - whole.y / 2.0), whole), air.view);
    if !(taken.is_free(place) && air.faces.is_free(place)) {
        return false;
    }
    taken.claim(place);
    let around = whole * bubble.size(now_secs);
    let rect = Rect::from_center_size(pos2(place.center().x, place.bottom() - around.y / 2.0), around);
    let ground = if theme.dark { mixed(theme.bubble, theme.bubble_text, 0.05) } else { theme.bubble };
    let ground = ground.gamma_multiply(strength);
    let corners = CornerRadius::same(RADIUS[2].min((rect.height() / 2.0) as u8));
    painter.rect_filled(
        rect.translate(vec2(0.0, 2.0)).expand(1.0),
        corners,
        theme.shadow.gamma_multiply(0.5 * strength),
    );
    // In the dark theme, bubbles are nearly as dark as the floor and need an edge; remarks always have one.
    let edge = if theme.dark { mixed(theme.line, theme.text_soft, 0.35) } else { theme.line };
    let shown = theme.dark || !bubble.aloud;
    let edge = if shown { Stroke::new(1.0, edge.gamma_multiply(strength)) } else { Stroke::NONE };
    painter.rect(rect, corners, ground, edge, StrokeKind::Inside);
    tail(painter, rect, mouth, bubble.aloud, ground, edge);
    let corner = rect.center() - galley.size() / 2.0;
    galley.paint(painter, corner, ink.gamma_multiply(strength));
    true
}

/// Paints the tail of a bubble: a wedge for speech, two small discs for thoughts.
fn tail(painter: &Painter, rect: Rect, mouth: Pos2, is_aloud: bool, ground: Color32, edge: Stroke) {
    let within = |at: f32, low: f32, high: f32, from_edge: f32| {
        at.clamp(low + from_edge, (high - from_edge).max(low + from_edge))
    };
    // From the lower edge, or from a side if the mouth is beside the bubble.
    let (root, across) = if mouth.y > rect.bottom() {
        (pos2(within(mouth.x, rect.left(), rect.right(), 14.0), rect.bottom() - 1.0), vec2(6.0, 0.0))
    } else {
        let side = if mouth.x < rect.center().x { rect.left() + 1.0 } else { rect.right() - 1.0 };
        (pos2(side, within(mouth.y, rect.top(), rect.bottom(), 10.0)), vec2(0.0, 5.0))
    };
    let toward = (mouth - root).normalized();
    if is_aloud {
        let tip = root + toward * mouth.distance(root).min(42.0);
        let (left, right) = (root - across, root + across);
        painter.add(Shape::convex_polygon(vec![left, right, tip], ground, Stroke::NONE));
        painter.line_segment([left + toward, tip], edge);
        painter.line_segment([right + toward, tip], edge);
    } else {
        painter.circle(root + toward * 6.0, 3.4, ground, edge);
        painter.circle(root + toward * 12.5, 2.0, ground, edge);
    }
}

/// Paints a rising reaction sign over an agent that passed another.
pub(super) fn reaction(
    painter: &Painter,
    agent: &AgentView,
    (sign, since_secs): (&str, f64),
    now_secs: f64,
    camera: Camera,
    theme: Theme,
) {
    let share = ((now_secs - since_secs) / PULSE_SECS).clamp(0.0, 1.0) as f32;
    let strength = fade(0.0, 0.1, share) * (1.0 - fade(0.65, 1.0, share));
    let at = camera.to_screen(agent.position + World::new(-16.0, HEIGHT + 4.0 + 14.0 * share));
    let size = (15.0 * camera.zoom.sqrt()).clamp(10.0, 24.0);
    painter.circle_filled(at, 0.78 * size, sign_ground(theme).gamma_multiply(0.85 * strength));
    let colour = theme.accent.gamma_multiply(strength);
    text_scaling::paint_line(painter, (at, Align2::CENTER_CENTER), sign, size, colour, camera);
}

/// Paints the refusal sign beside an agent's head: a ring with a bar.
pub(super) fn refusal(painter: &Painter, agent: &AgentView, since_secs: f64, scene: &PaintParameters) {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    let strength = Lifetime::REFUSAL.opacity(since_secs, now_secs);
    let radius = (6.5 * camera.zoom.sqrt()).clamp(5.0, 11.0);
    let at = camera.to_screen(agent.position + World::new(-19.0, HEIGHT - 9.0));
    let colour = theme.bad.gamma_multiply(strength);
    let stroke = Stroke::new(0.3 * radius, colour);
    painter.circle_filled(at, 1.35 * radius, sign_ground(theme).gamma_multiply(0.92 * strength));
    painter.circle_stroke(at, 0.85 * radius, stroke);
    let bar = vec2(0.6, 0.6) * radius;
    painter.line_segment([at - bar, at + bar], stroke);
}

/// Paints the refusal text of a selected agent, with its upper edge at `top`.
pub(super) fn refusal_words(painter: &Painter, top: Pos2, refused: &(String, f64), scene: &PaintParameters) -> Rect {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    let strength = Lifetime::REFUSAL.opacity(refused.1, now_secs);
    let size = (11.0 * camera.zoom.powf(0.35)).clamp(11.0, 15.0);
    let text = format!("Not done: {}", bubble_text(&refused.0));
    let galley = text_scaling::rows(painter, text, size, BUBBLE_WIDTH / 12.0, usize::MAX, camera);
    let around = galley.size() + vec2(20.0, 8.0);
    let rect = Rect::from_center_size(top + vec2(0.0, around.y / 2.0), around);
    let rect = inside(rect, camera.viewport.shrink(4.0));
    let corners = CornerRadius::same(RADIUS[0]);
    let edge = Stroke::new(1.0, mixed(theme.line, theme.bad, 0.5).gamma_multiply(strength));
    painter.rect(rect, corners, theme.bubble.gamma_multiply(strength), edge, StrokeKind::Inside);
    let corner = rect.center() - galley.size() / 2.0;
    galley.paint(painter, corner, theme.bubble_text.gamma_multiply(strength));
    rect
}

/// The place of the three dots over an agent whose bubble has no room.
pub(super) fn folded_place(agent: &AgentView, camera: Camera) -> Rect {
    let at = camera.to_screen(agent.position + World::new(0.0, HEIGHT + 8.0));
    Rect::from_center_size(at, vec2(24.0, 13.0) * camera.zoom.clamp(0.4, 1.6))
}

/// Paints the three dots.
pub(super) fn folded(batch: &mut Batch, agent: &AgentView, camera: Camera, theme: Theme) {
    let place = folded_place(agent, camera);
    let (at, zoom) = (place.center(), camera.zoom.clamp(0.4, 1.6));
    batch.fill(crate::view::art::Sprite::Disc, place, sign_ground(theme));
    for dot in [-1.0, 0.0, 1.0] {
        batch.disc(at + Vec2::new(5.5 * dot * zoom, 0.0), 1.6 * zoom, state_colour(State::Conversing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rope_hangs_between_its_ends() {
        let camera = Camera::default();
        let rope = Rope::between(World::ZERO, World::new(200.0, 0.0), camera, 0.0);
        assert_eq!(rope.point(0.0), camera.to_screen(World::ZERO));
        assert!(rope.point(1.0).distance(camera.to_screen(World::new(200.0, 0.0))) < 0.01);
        assert!(rope.point(0.5).y > rope.point(0.0).y, "the middle hangs lower on the screen");
    }

    #[test]
    fn ropes_can_be_hovered_and_a_second_one_hangs_lower() {
        let mut other = super::super::tests::agent(1, "Bram", State::Idle);
        other.position = World::new(300.0, 0.0);
        let agents = vec![super::super::tests::agent(0, "Ada", State::Idle), other];
        let mut room = RoomModel { agents, ..RoomModel::default() };
        let tie = |from: u32, to: u32, label: &str| RelationshipView {
            from: crate::base::AgentKey(from),
            to: crate::base::AgentKey(to),
            label: label.into(),
        };
        room.relationships = vec![tie(0, 1, "mentors"), tie(1, 0, "")];
        let camera = Camera::default();
        let middle = |from, to| relationship_midpoint(&room, camera, from, to).expect("both are here");
        let (first, second) = (middle("ada-0", "bram-1"), middle("bram-1", "ada-0"));
        assert!(second.y > first.y + 10.0, "{first} {second}");
        assert_eq!(relationship_at(&room, camera, first), Some(0));
        assert_eq!(relationship_at(&room, camera, second + vec2(0.0, 5.0)), Some(1));
        assert_eq!(relationship_at(&room, camera, first - vec2(0.0, 40.0)), None);
    }

    proptest! {
        #[test]
        fn a_bubble_stays_within_the_view_and_off_heads(
            mouth in (0.0_f32..1_280.0, 0.0_f32..800.0),
            heads in prop::collection::vec((0.0_f32..1_280.0, 0.0_f32..800.0), 0..80),
            size in (40.0_f32..220.0, 24.0_f32..120.0),
            is_chosen in any::<bool>(),
        ) {
            let view = Rect::from_min_size(Pos2::ZERO, vec2(1_280.0, 800.0));
            let head = |(x, y): &(f32, f32)| Rect::from_center_size(pos2(*x, *y), vec2(20.0, 20.0));
            let mut faces = Occupancy::new(view);
            let own = (mouth.0, mouth.1 + 22.0);
            heads.iter().chain([&own]).for_each(|at| faces.claim(head(at)));
            let air = Air { view, faces: &faces, spared: None };
            let (mouth, size) = (pos2(mouth.0, mouth.1), vec2(size.0, size.1));
            if let Some(place) = bubble_place(mouth, size, air, &Occupancy::new(view), is_chosen) {
                prop_assert!(view.contains_rect(place));
                prop_assert!(heads.iter().chain([&own]).all(|at| !head(at).intersect(place).is_positive()));
            }
        }
    }
}
