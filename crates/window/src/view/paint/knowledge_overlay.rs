//! Highlights all agents that know a given piece of knowledge, and how it reached them. With details on, also paints a
//! thought bubble over an agent that recalls something, with a line to its source.

use bevy::math::Vec2 as World;
use egui::{Color32, Painter, Rect, Stroke, vec2};

use super::PaintParameters;
use super::batch::{Batch, fade};
use super::figure::HEIGHT;
use super::floor::sign_ground;
use super::talk::Rope;
use crate::base::Id;
use crate::simulation::State;
use crate::view::art::Sprite;
use crate::view::model::RoomModel;
use crate::view::recent_events::{Recent, RecentRecall, THOUGHT_SECS};
use crate::view::theme::{Theme, state_colour};
use crate::view::who_knows::{Travel, WhoKnows};

/// Height of the lines above the floor, in world units.
const HEIGHT_UNITS: f32 = 26.0;

/// The colour of a line, by how the knowledge travelled.
pub fn travel_colour(travel: Travel, theme: Theme) -> Color32 {
    match travel {
        Travel::Told => state_colour(State::Conversing),
        Travel::Read => state_colour(State::Reading),
        Travel::Recalled => theme.accent,
    }
}

/// Paints light under all agents that know it, and lines for how it spread, below the figures.
pub(super) fn who_knows(batch: &mut Batch, room: &RoomModel, known: &WhoKnows, scene: &PaintParameters) {
    let PaintParameters { camera, theme, .. } = *scene;
    // At least this large, to be visible when zoomed out.
    let zoom = camera.zoom.max(0.3);
    for agent in known.knowers.keys().filter_map(|agent| room.agent(agent)) {
        let at = camera.to_screen(agent.position);
        let middle = at - vec2(0.0, 24.0 * camera.zoom);
        batch.fill(Sprite::Glow, Rect::from_center_size(middle, vec2(150.0, 164.0) * zoom), theme.accent);
        for width in [56.0, 61.0, 66.0] {
            batch.fill(Sprite::Ring, Rect::from_center_size(at, vec2(width, 0.45 * width) * zoom), theme.accent);
        }
    }
    for (from, to, travel) in &known.ways {
        let (Some(from), Some(to)) = (place(room, from, *travel), place(room, to, Travel::Told)) else {
            continue;
        };
        let rope = Rope::between(from, to, camera, HEIGHT_UNITS);
        if !rope.seen_in(camera.viewport) {
            continue;
        }
        let colour = travel_colour(*travel, theme);
        rope.draw(batch, (2.4 * camera.zoom).clamp(1.4, 4.0), colour.gamma_multiply(0.9));
        batch.disc(rope.point(0.97), (4.0 * camera.zoom).clamp(2.5, 7.0), colour);
    }
}

/// The position of an agent, or of the element that shows a file.
fn place(room: &RoomModel, id: &Id, travel: Travel) -> Option<World> {
    if travel == Travel::Read {
        let element = room.elements.iter().find(|element| element.file.as_deref() == Some(&**id))?;
        return Some(element.position);
    }
    room.agent(id).map(|agent| agent.position)
}

/// Paints lines from agents that recall something to its source, below the figures.
pub(super) fn thought_threads(batch: &mut Batch, room: &RoomModel, recent: &Recent, scene: &PaintParameters) {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    for (agent, thought) in &recent.thoughts {
        let Some(agent) = room.agent(agent) else { continue };
        let strength = strength(thought, now_secs);
        for from in thought.from.iter().filter_map(|from| room.agent(from)) {
            let rope = Rope::between(from.position, agent.position, camera, HEIGHT_UNITS);
            if rope.seen_in(camera.viewport) {
                rope.draw(batch, (1.4 * camera.zoom).clamp(0.8, 2.6), theme.accent.gamma_multiply(0.7 * strength));
            }
        }
    }
}

/// Paints thought bubbles over agents that have just recalled something.
pub(super) fn thoughts(painter: &Painter, room: &RoomModel, recent: &Recent, scene: &PaintParameters) {
    let PaintParameters { camera, theme, now_secs, .. } = *scene;
    let size = camera.zoom.sqrt().clamp(0.7, 1.6);
    for (agent, thought) in &recent.thoughts {
        let Some(agent) = room.agent(agent) else { continue };
        let strength = strength(thought, now_secs);
        // Above the head: the card and the handles are beside it.
        let head = camera.to_screen(agent.position + World::new(0.0, HEIGHT + 1.0));
        let cloud = head + vec2(4.0, -18.0) * size;
        let (ground, edge) = (sign_ground(theme).gamma_multiply(strength), theme.accent.gamma_multiply(strength));
        for (part, radius) in [(0.25, 1.6), (0.6, 2.4)] {
            painter.circle(head.lerp(cloud, part), radius * size, ground, Stroke::new(1.0, edge));
        }
        let puffs = [vec2(-6.0, 1.5), vec2(6.0, 1.0), vec2(0.0, -3.5), vec2(0.0, 3.0)];
        for puff in puffs {
            painter.circle_filled(cloud + puff * size, 7.2 * size, edge);
        }
        for puff in puffs {
            painter.circle_filled(cloud + puff * size, 6.2 * size, ground);
        }
        for dot in -1..=1_i8 {
            painter.circle_filled(cloud + vec2(4.2 * f32::from(dot), 0.0) * size, 1.3 * size, edge);
        }
    }
}

fn strength(thought: &RecentRecall, now_secs: f64) -> f32 {
    let share = ((now_secs - thought.since_secs) / THOUGHT_SECS).clamp(0.0, 1.0) as f32;
    fade(0.0, 0.06, share) * (1.0 - fade(0.8, 1.0, share))
}
