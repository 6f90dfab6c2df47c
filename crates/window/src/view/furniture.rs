//! Geometry of arranging furniture: which piece is at a point, and where it is after moving, resizing or turning it.
//! Pure functions.

use bevy::math::Vec2;

use super::model::DecorView;
use crate::workspace::DECOR_SIDE;

/// Grid spacing in world units, to which pieces snap.
pub const GRID_UNITS: f32 = 10.0;
/// Distance in points within which edges and centres snap to those of other pieces.
const REACH_POINTS: f32 = 8.0;
/// Distance in points within which a corner can be grabbed.
const CORNER_POINTS: f32 = 9.0;

/// Drawing layer. Later variants are drawn first and are hit last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// Stands on the floor.
    Standing,
    /// Lies flat on the floor: rugs and light.
    Lying,
    /// Covers the floor itself.
    Covering,
}

/// The layer of a kind of furniture.
pub fn layer(kind: &str) -> Layer {
    match kind {
        "tiles" | "stone" | "carpet" => Layer::Covering,
        "rug" | "window" => Layer::Lying,
        _ => Layer::Standing,
    }
}

/// Whether a kind lies flat, below everything that stands.
pub fn is_flat(kind: &str) -> bool {
    layer(kind) != Layer::Standing
}

/// Whether pieces of a kind can be resized. Plants and lamps have a fixed size.
pub fn can_be_resized(kind: &str) -> bool {
    !matches!(kind, "plant" | "lamp" | "coffee")
}

/// The topmost piece at a position: standing before lying before covering, and within a layer the one drawn last.
pub fn decor_at(all: &[DecorView], place: Vec2) -> Option<&DecorView> {
    let under = |decor: &&DecorView| {
        let from_middle = (place - decor.position).abs() * 2.0;
        from_middle.x <= decor.size.x && from_middle.y <= decor.size.y
    };
    // The depth used for drawing: standing pieces by their lower edge, lying ones by their centre.
    let height = |decor: &DecorView| decor.position.y - if is_flat(&decor.kind) { 0.0 } else { decor.size.y / 2.0 };
    let topmost = |one: &&DecorView, other: &&DecorView| {
        let layers = (layer(&one.kind), layer(&other.kind));
        layers.0.cmp(&layers.1).then_with(|| match layers.0 {
            Layer::Covering => std::cmp::Ordering::Equal,
            Layer::Standing | Layer::Lying => height(one).total_cmp(&height(other)),
        })
    };
    // `min_by` returns the first of equal pieces, which is the last one of the scene.
    all.iter().rev().filter(under).min_by(topmost)
}

/// An alignment line to another piece.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Guide {
    /// A vertical line at this x.
    Upright(f32),
    /// A horizontal line at this y.
    Level(f32),
}

/// Snaps a piece to nearby edges and centres of other pieces, otherwise to the grid. Returns it with the alignment
/// lines.
pub fn snapped(moved: &DecorView, others: &[DecorView], zoom: f32) -> (DecorView, Vec<Guide>) {
    let reach = REACH_POINTS / zoom.max(0.05);
    let mut guides = Vec::new();
    let mut place = moved.position;
    for axis in 0..2 {
        let lines = |decor: &DecorView, at: f32| [-0.5, 0.0, 0.5].map(|share| at + share * decor.size[axis]);
        let own = lines(moved, moved.position[axis]);
        let theirs = others.iter().flat_map(|other| lines(other, other.position[axis]));
        let pairs = theirs.flat_map(|line| own.map(|mine| (line, line - mine)));
        let nearest =
            pairs.filter(|(_, by)| by.abs() <= reach).min_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
        match nearest {
            Some((line, by)) => {
                place[axis] += by;
                guides.push(if axis == 0 { Guide::Upright(line) } else { Guide::Level(line) });
            }
            None => place[axis] = to_grid(place[axis]),
        }
    }
    (DecorView { position: place, ..moved.clone() }, guides)
}

fn to_grid(number: f32) -> f32 {
    (number / GRID_UNITS).round() * GRID_UNITS
}

/// The corner at a position, as its direction (±1, ±1) from the centre.
pub fn corner_at(decor: &DecorView, place: Vec2, zoom: f32) -> Option<Vec2> {
    let reach = CORNER_POINTS / zoom.max(0.05);
    let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)].map(|(x, y)| Vec2::new(x, y));
    let found =
        corners.into_iter().find(|corner| (decor.position + *corner * decor.size / 2.0).distance(place) <= reach);
    found.filter(|_| can_be_resized(&decor.kind))
}

/// Resizes a piece by dragging a corner to a position; the opposite corner stays.
pub fn resized(decor: &DecorView, corner: Vec2, to: Vec2, exactly: bool) -> DecorView {
    let fixed = decor.position - corner * decor.size / 2.0;
    let to = if exactly { to } else { Vec2::new(to_grid(to.x), to_grid(to.y)) };
    let [least, most] = DECOR_SIDE;
    let size = ((to - fixed) * corner).clamp(Vec2::splat(least), Vec2::splat(most));
    DecorView { position: fixed + corner * size / 2.0, size, ..decor.clone() }
}

/// Turns a piece: kinds drawn from above by 90°, kinds drawn from the front by mirroring.
pub fn rotated(decor: &DecorView) -> DecorView {
    match &*decor.kind {
        "rug" | "wall" | "tiles" | "stone" | "carpet" => {
            DecorView { size: Vec2::new(decor.size.y, decor.size.x), ..decor.clone() }
        }
        _ => DecorView { turned: !decor.turned, ..decor.clone() },
    }
}

/// A new piece of a kind at the free place nearest to a position.
pub fn new_piece(kind: &str, place: Vec2, others: &[DecorView]) -> DecorView {
    let size = DecorView::usual_size(kind);
    let mut position = Vec2::new(to_grid(place.x), to_grid(place.y));
    while others.iter().any(|other| &*other.kind == kind && other.position.distance(position) < GRID_UNITS) {
        position += Vec2::new(2.0, -2.0) * GRID_UNITS;
    }
    DecorView { kind: kind.into(), position, size, turned: false }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece(kind: &str, x: f32, y: f32) -> DecorView {
        DecorView { kind: kind.into(), position: Vec2::new(x, y), size: Vec2::new(100.0, 60.0), turned: false }
    }

    #[test]
    fn hit_testing_prefers_furniture_in_front() {
        let all = [piece("desk", 0.0, 20.0), piece("rug", 0.0, 0.0), piece("bench", 10.0, 0.0)];
        assert_eq!(decor_at(&all, Vec2::ZERO).map(|found| &*found.kind), Some("bench"));
        assert_eq!(decor_at(&all, Vec2::new(-45.0, -25.0)).map(|found| &*found.kind), Some("rug"));
        assert_eq!(decor_at(&all, Vec2::new(-45.0, 45.0)).map(|found| &*found.kind), Some("desk"));
        assert_eq!(decor_at(&all, Vec2::new(500.0, 0.0)), None);
        let rugs = [piece("rug", 0.0, -10.0), piece("rug", 0.0, 10.0)];
        assert_eq!(decor_at(&rugs, Vec2::ZERO), Some(&rugs[0]), "the nearer of two rugs, in whatever order");
        let covered = [piece("tiles", 0.0, -20.0), piece("carpet", 0.0, 0.0), piece("rug", 0.0, 20.0)];
        assert_eq!(decor_at(&covered, Vec2::ZERO), Some(&covered[2]), "a rug lies on what covers the floor");
        assert_eq!(decor_at(&covered[..2], Vec2::ZERO), Some(&covered[1]), "of two coverings the last is on top");
    }

    #[test]
    fn pieces_snap_to_edges_nearby_and_to_the_grid_otherwise() {
        let (shelf, desk) = (piece("shelf", 0.0, 0.0), piece("desk", 203.0, 63.0));
        let (stands, guides) = snapped(&desk, std::slice::from_ref(&shelf), 1.0);
        assert_eq!(stands.position, Vec2::new(200.0, 60.0), "its lower edge on the shelf's upper one; x on the grid");
        assert_eq!(guides, [Guide::Level(30.0)]);
        let (stands, guides) = snapped(&piece("desk", 503.0, 263.0), &[shelf], 1.0);
        assert_eq!((stands.position, guides), (Vec2::new(500.0, 260.0), Vec::new()));
    }

    #[test]
    fn rugs_can_be_resized_and_plants_cannot() {
        let rug = piece("rug", 0.0, 0.0);
        assert_eq!(corner_at(&rug, Vec2::new(51.0, -29.0), 1.0), Some(Vec2::new(1.0, -1.0)));
        assert_eq!(corner_at(&rug, Vec2::new(30.0, 0.0), 1.0), None);
        assert_eq!(corner_at(&piece("plant", 0.0, 0.0), Vec2::new(50.0, 30.0), 1.0), None);
    }

    proptest! {
        #[test]
        fn resizing_keeps_the_opposite_corner(
            x in -500.0_f32..500.0, y in -500.0_f32..500.0, right in any::<bool>(), up in any::<bool>(),
        ) {
            let rug = piece("rug", 10.0, 20.0);
            let corner = Vec2::new(if right { 1.0 } else { -1.0 }, if up { 1.0 } else { -1.0 });
            let now = resized(&rug, corner, Vec2::new(x, y), true);
            let fixed = |decor: &DecorView| decor.position - corner * decor.size / 2.0;
            prop_assert!(fixed(&now).distance(fixed(&rug)) < 0.01);
            prop_assert!(now.size.min_element() >= DECOR_SIDE[0] && now.size.max_element() <= DECOR_SIDE[1]);
        }

        #[test]
        fn turning_twice_restores_a_piece(kind in prop::sample::select(vec!["rug", "wall", "desk", "shelf", "stone"])) {
            let before = piece(kind, 3.0, 4.0);
            prop_assert_ne!(rotated(&before), before.clone());
            prop_assert_eq!(rotated(&rotated(&before)), before);
        }
    }
}
