//! Stand-in.
use std::collections::BTreeSet;
use bevy::math::Vec2;
use egui::{Painter, Pos2, Rect};
use super::art::Art; use super::camera::Camera; use super::model::RoomModel; use super::pick::Thing; use super::recent::Recent; use super::theme::Theme;
/// Stand-in.
pub struct Look<'a> { /// c
 pub camera: Camera, /// t
 pub theme: Theme, /// n
 pub now_secs: f64, /// s
 pub selected: &'a BTreeSet<Thing>, /// h
 pub hovered: Option<&'a Thing>, /// p
 pub pointer: Option<Pos2> }
/// Stand-in.
pub fn room(painter: &Painter, room: &RoomModel, _recent: &Recent, _art: &Art, look: &Look) {
    painter.rect_filled(look.camera.viewport, 0.0, look.theme.floor);
    for element in &room.elements { painter.rect_filled(look.camera.rect_to_screen(element.position, Vec2::new(100.0, 80.0)), 6.0, super::theme::element_colour(&element.kind)); }
    for agent in &room.agents { painter.circle_filled(look.camera.to_screen(agent.position), 20.0*look.camera.zoom, super::theme::state_colour(agent.state)); }
}
/// Stand-in.
pub fn minimap(_painter: &Painter, _rect: Rect, _room: &RoomModel, _camera: &Camera, _theme: &Theme) {}
/// Stand-in.
pub fn minimap_place(_rect: Rect, _room: &RoomModel, camera: &Camera, _point: Pos2) -> Vec2 { camera.middle }
/// Stand-in.
pub fn ghost(_painter: &Painter, _art: &Art, _camera: &Camera, _theme: &Theme, _place: Vec2, _word: &str, _agent: bool) {}
