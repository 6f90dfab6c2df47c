//! Paints work: lines from agents to the agents they started, the files they write, and the messages they send.

use bevy::math::Vec2;
use egui::{Align2, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, pos2, vec2};

use super::batch::{Batch, fade, mixed};
use super::talk::Rope;
use super::text_scaling;
use crate::simulation::State;
use crate::view::camera::Camera;
use crate::view::model::RoomModel;
use crate::view::recent_events::{LETTER_SECS, Recent, SHEET_SECS};
use crate::view::theme::{Theme, state_colour};

/// Height of work lines above the floor, in world units.
const HEIGHT_UNITS: f32 = 20.0;
/// Size of a sheet of paper, in world units.
const SHEET_UNITS: [f32; 2] = [15.0, 19.0];
/// Size of a letter, in world units.
const LETTER_UNITS: [f32; 2] = [17.0, 11.0];

/// Paints thin lines from each agent to the agents it started.
pub(super) fn threads(batch: &mut Batch, room: &RoomModel, camera: Camera, theme: Theme) {
    let colour = mixed(state_colour(State::Working), theme.bubble, 0.25);
    for (parent, child) in &room.work.threads {
        let (Some(parent), Some(child)) = (room.agent_of(*parent), room.agent_of(*child)) else { continue };
        let thread = Rope::between(parent.position, child.position, camera, HEIGHT_UNITS);
        if thread.seen_in(camera.viewport) {
            thread.draw(batch, (1.6 * camera.zoom).clamp(0.9, 3.0), colour.gamma_multiply(0.85));
            batch.disc(thread.point(0.97), (3.0 * camera.zoom).clamp(1.5, 5.0), colour);
        }
    }
}

/// Paints files that were just written, as sheets on their way to the shelf.
pub(super) fn sheets(
    painter: &Painter,
    room: &RoomModel,
    recent: &Recent,
    camera: Camera,
    theme: Theme,
    now_secs: f64,
) {
    for sheet in &recent.sheets {
        let Some(agent) = room.agent(&sheet.agent) else { continue };
        let share = ((now_secs - sheet.since_secs) / SHEET_SECS).clamp(0.0, 1.0) as f32;
        // The sheet is held up first, then flies, and fades out at the shelf.
        let going = fade(0.35, 0.9, share);
        let hands = agent.position + Vec2::new(16.0, 24.0);
        let shelf = shelf_near(room, agent.position).unwrap_or(hands);
        let arc = Vec2::new(0.0, 60.0 * (std::f32::consts::PI * going).sin());
        let at = camera.to_screen(hands.lerp(shelf, going) + if shelf == hands { Vec2::ZERO } else { arc });
        let strength = fade(0.0, 0.06, share) * (1.0 - fade(0.92, 1.0, share));
        paper(painter, at, camera.zoom, &sheet.name, strength, theme);
    }
}

/// Paints messages between working agents, as letters flying from sender to recipient.
pub(super) fn letters(
    painter: &Painter,
    room: &RoomModel,
    recent: &Recent,
    camera: Camera,
    theme: Theme,
    now_secs: f64,
) {
    for letter in &recent.letters {
        // Messages from outside the room have no sender to start from.
        let (Some(from), Some(to)) = (room.agent(&letter.from), room.agent(&letter.to)) else { continue };
        let share = ((now_secs - letter.since_secs) / LETTER_SECS).clamp(0.0, 1.0) as f32;
        let going = fade(0.0, 0.92, share);
        let chest = Vec2::new(0.0, 26.0);
        let arc = Vec2::new(0.0, 46.0 * (std::f32::consts::PI * going).sin());
        let at = camera.to_screen((from.position + chest).lerp(to.position + chest, going) + arc);
        let strength = fade(0.0, 0.08, share) * (1.0 - fade(0.92, 1.0, share));
        envelope(painter, at, camera.zoom, strength, theme);
    }
}

fn envelope(painter: &Painter, middle: Pos2, zoom: f32, strength: f32, theme: Theme) {
    let scale = zoom.clamp(0.4, 1.6);
    let rect = Rect::from_center_size(middle, vec2(LETTER_UNITS[0], LETTER_UNITS[1]) * scale);
    let ink = Stroke::new(1.0, theme.bubble_text.gamma_multiply(0.5 * strength));
    let shadow = rect.translate(vec2(1.0, 2.0) * scale);
    painter.rect_filled(shadow, CornerRadius::same(1), theme.shadow.gamma_multiply(strength));
    painter.rect_filled(rect, CornerRadius::same(1), theme.bubble.gamma_multiply(strength));
    painter.rect_stroke(rect, CornerRadius::same(1), ink, StrokeKind::Inside);
    let flap = pos2(rect.center().x, rect.top() + rect.height() * 0.6);
    painter.line_segment([rect.left_top(), flap], ink);
    painter.line_segment([rect.right_top(), flap], ink);
}

fn shelf_near(room: &RoomModel, from: Vec2) -> Option<Vec2> {
    let shelves = room.decor.iter().filter(|decor| &*decor.kind == "shelf");
    let nearest = |one: &Vec2, other: &Vec2| from.distance_squared(*one).total_cmp(&from.distance_squared(*other));
    shelves.map(|shelf| shelf.position).min_by(nearest)
}

fn paper(painter: &Painter, middle: Pos2, zoom: f32, name: &str, strength: f32, theme: Theme) {
    let scale = zoom.clamp(0.4, 1.6);
    let rect = Rect::from_center_size(middle, vec2(SHEET_UNITS[0], SHEET_UNITS[1]) * scale);
    let ink = theme.bubble_text.gamma_multiply(strength);
    painter.rect_filled(
        rect.translate(vec2(1.0, 2.0) * scale),
        CornerRadius::same(1),
        theme.shadow.gamma_multiply(strength),
    );
    painter.rect_filled(rect, CornerRadius::same(1), theme.bubble.gamma_multiply(strength));
    painter.rect_stroke(rect, CornerRadius::same(1), Stroke::new(1.0, ink.gamma_multiply(0.4)), StrokeKind::Inside);
    for line in 1..4 {
        let y = rect.top() + rect.height() * line as f32 / 4.5;
        let right = if line == 3 { rect.center().x } else { rect.right() - 2.5 * scale };
        painter.line_segment(
            [pos2(rect.left() + 2.5 * scale, y), pos2(right, y)],
            Stroke::new(1.0, ink.gamma_multiply(0.5)),
        );
    }
    if zoom >= 0.6 {
        let galley = text_scaling::line(painter, name, 11.0, Camera::default());
        let label = Align2::CENTER_TOP.anchor_size(rect.center_bottom() + vec2(0.0, 3.0), galley.size());
        let ground = label.expand2(vec2(4.0, 1.0));
        painter.rect_filled(ground, CornerRadius::same(4), theme.bubble.gamma_multiply(0.92 * strength));
        galley.paint(painter, label.min, ink);
    }
}
