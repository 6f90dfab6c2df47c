//! Paints coverings of the wooden floor: tiles, stone or carpet, below rugs and everything else.

use egui::epaint::Mesh;
use egui::{Color32, CornerRadius, Painter, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use super::batch::{fade, lit, mixed};
use crate::view::camera::Camera;
use crate::view::model::DecorView;
use crate::view::theme::{Theme, rgb};

/// Zoom at which joints begin to appear, and from which they are fully visible.
const JOINTS_SEEN: [f32; 2] = [0.25, 0.6];

/// The pattern of a covering.
struct Laying {
    kind: &'static str,
    ground: u32,
    joint: u32,
    /// Width and height of one tile in world units; `None` if there are no joints.
    piece: Option<[f32; 2]>,
    /// Offset of every other row, as a share of a tile's width.
    shift: f32,
    /// Whether every other tile is slightly darker.
    chequered: bool,
}

const LAYINGS: [Laying; 3] = [
    Laying {
        kind: "tiles",
        ground: 0xea_e3d3,
        joint: 0xc9_bda6,
        piece: Some([40.0, 40.0]),
        shift: 0.0,
        chequered: true,
    },
    Laying {
        kind: "stone",
        ground: 0xd2_cbbd,
        joint: 0xad_a391,
        piece: Some([72.0, 44.0]),
        shift: 0.5,
        chequered: false,
    },
    Laying { kind: "carpet", ground: 0xbd_b79f, joint: 0xa0_997f, piece: None, shift: 0.0, chequered: false },
];

fn laying(kind: &str) -> Option<&'static Laying> {
    LAYINGS.iter().find(|laying| laying.kind == kind)
}

/// The colour of a covering on the floor; `None` if the kind is not a covering.
pub(super) fn ground(kind: &str, theme: Theme) -> Option<Color32> {
    laying(kind).map(|laying| colour(laying.ground, theme))
}

fn colour(colour: u32, theme: Theme) -> Color32 {
    // In the dark theme, coverings are nearly as dark as the wood.
    lit(mixed(rgb(colour), theme.floor, if theme.dark { 0.45 } else { 0.0 }), theme.rug_light())
}

/// Paints a covered part of the floor. Tiles start at its upper left corner.
pub(super) fn covering(painter: &Painter, decor: &DecorView, camera: Camera, theme: Theme) {
    let Some(laying) = laying(&decor.kind) else { return };
    let rect = camera.rect_to_screen(decor.position, decor.size);
    let (ground, joint) = (colour(laying.ground, theme), colour(laying.joint, theme));
    painter.rect_filled(rect, 0.0, ground);
    let strength = fade(JOINTS_SEEN[0], JOINTS_SEEN[1], camera.zoom);
    let joint = mixed(ground, joint, strength);
    let seen = rect.intersect(painter.clip_rect());
    if let Some([wide, high]) = laying.piece.filter(|_| strength > 0.0 && seen.is_positive()) {
        let size = vec2(wide, high) * camera.zoom;
        let mut mesh = Mesh::default();
        if laying.chequered {
            let darker = mixed(ground, joint, 0.35);
            for (piece, _) in pieces(rect, seen, size, laying.shift).filter(|(_, is_odd)| *is_odd) {
                mesh.add_colored_rect(piece.intersect(seen), darker);
            }
        }
        let line = (1.6 * camera.zoom).clamp(0.5, 4.0);
        for (piece, _) in pieces(rect, seen, size, laying.shift) {
            let piece = piece.intersect(rect);
            mesh.add_colored_rect(Rect::from_min_size(piece.min, vec2(piece.width(), line)), joint);
            mesh.add_colored_rect(Rect::from_min_size(piece.min, vec2(line, piece.height())), joint);
        }
        painter.add(Shape::mesh(mesh));
    }
    let edge = Stroke::new((2.0 * camera.zoom).max(0.5), joint);
    painter.rect_stroke(rect, CornerRadius::ZERO, edge, StrokeKind::Inside);
}

/// The visible tiles, and whether each is an odd one.
fn pieces(rect: Rect, seen: Rect, size: egui::Vec2, shift: f32) -> impl Iterator<Item = (Rect, bool)> {
    let rows = ((seen.top() - rect.top()) / size.y).floor() as i32..=((seen.bottom() - rect.top()) / size.y) as i32;
    rows.flat_map(move |row| {
        let left = rect.left() - if row % 2 == 0 { 0.0 } else { shift * size.x };
        let columns = ((seen.left() - left) / size.x).floor() as i32..=((seen.right() - left) / size.x) as i32;
        columns.map(move |column| {
            let corner = pos2(left + column as f32 * size.x, rect.top() + row as f32 * size.y);
            (Rect::from_min_size(corner, size), (row + column) % 2 != 0)
        })
    })
    .filter(move |(piece, _)| piece.intersects(seen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::furniture::{Layer, layer};
    use crate::view::theme::{DARK, LIGHT, contrast};

    #[test]
    fn ring_edges_are_visible_on_every_covering() {
        for theme in [LIGHT, DARK] {
            for laying in &LAYINGS {
                for ground in [laying.ground, laying.joint].map(|part| colour(part, theme)) {
                    let contrast = contrast(theme.ring_edge(), ground);
                    assert!(contrast >= 3.0, "{}, dark={}: {contrast:.2}", laying.kind, theme.dark);
                }
            }
        }
    }

    #[test]
    fn coverings_are_on_the_lowest_layer() {
        let kinds: Vec<&str> = crate::navigation::furniture::decor_kinds().collect();
        for laying in &LAYINGS {
            assert!(kinds.contains(&laying.kind), "{} cannot be chosen", laying.kind);
        }
        for kind in kinds {
            assert_eq!(laying(kind).is_some(), layer(kind) == Layer::Covering, "{kind}");
        }
    }

    #[test]
    fn only_visible_tiles_are_drawn() {
        let (rect, seen) = (
            Rect::from_min_size(pos2(-90_000.0, -90_000.0), vec2(200_000.0, 200_000.0)),
            Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 200.0)),
        );
        let count = pieces(rect, seen, vec2(40.0, 40.0), 0.5).count();
        assert!((50..=77).contains(&count), "{count}");
    }
}
