//! The area that each kind of object occupies, and the places where agents use it: one table, by the kind's word in
//! scene files.

use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::footprint::Footprint;
use super::obstacles::{BESIDE, Obstacles};
use super::{BODY_UNITS, CLEARANCE_UNITS};
use crate::workspace::Decor;

/// The width and height of every element, as drawn.
pub const ELEMENT_SIZE: Vec2 = Vec2::new(100.0, 80.0);

/// How agents use a piece of furniture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// Sitting down.
    Sit,
    /// Getting a coffee.
    Coffee,
    /// Looking out of the window.
    Window,
    /// Looking along a shelf.
    Browse,
    /// Working.
    Work,
}

impl Use {
    /// The activity of an agent on its way there, for people.
    pub fn going(self) -> &'static str {
        match self {
            Self::Sit => "going to sit down for a while",
            Self::Coffee => "going for a coffee",
            Self::Window => "going to the window",
            Self::Browse => "going to the shelf",
            Self::Work => "going to a desk",
        }
    }

    /// The activity of an agent there, for people.
    pub fn doing(self) -> &'static str {
        match self {
            Self::Sit => "sitting on the bench",
            Self::Coffee => "having a coffee",
            Self::Window => "looking out of the window",
            Self::Browse => "looking along the shelf",
            Self::Work => "at a desk",
        }
    }

    /// Whether idle agents go there: desks are for work.
    pub fn is_for_rest(self) -> bool {
        self != Self::Work
    }
}

/// A position at which agents use a piece of furniture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Seat {
    /// The position for standing or sitting.
    pub at: Vec2,
    /// The use.
    pub used_for: Use,
}

/// A kind of decor.
struct Kind {
    word: &'static str,
    /// The occupied part of its drawing: left, lower, right and upper edge, as fractions of the drawing's size.
    footprint: Option<[f32; 4]>,
    used_for: Option<Use>,
}

const WHOLE: Option<[f32; 4]> = Some([0.0, 0.0, 1.0, 1.0]);

const KINDS: [Kind; 13] = [
    Kind { word: "rug", footprint: None, used_for: None },
    Kind { word: "window", footprint: None, used_for: Some(Use::Window) },
    Kind { word: "wall", footprint: WHOLE, used_for: None },
    Kind { word: "shelf", footprint: WHOLE, used_for: Some(Use::Browse) },
    Kind { word: "workbench", footprint: WHOLE, used_for: Some(Use::Work) },
    Kind { word: "desk", footprint: WHOLE, used_for: Some(Use::Work) },
    Kind { word: "coffee", footprint: WHOLE, used_for: Some(Use::Coffee) },
    // An agent on a bench has its feet in front of it, on the lower part of the drawing.
    Kind { word: "bench", footprint: Some([0.0, 0.4, 1.0, 1.0]), used_for: Some(Use::Sit) },
    // Leaves and light do not block agents.
    Kind { word: "plant", footprint: Some([0.15, 0.0, 0.85, 0.5]), used_for: None },
    Kind { word: "lamp", footprint: Some([0.2, 0.0, 0.8, 0.25]), used_for: None },
    Kind { word: "tiles", footprint: None, used_for: None },
    Kind { word: "stone", footprint: None, used_for: None },
    Kind { word: "carpet", footprint: None, used_for: None },
];

/// An unknown kind, whose whole drawing is in the way.
const UNKNOWN: Kind = Kind { word: "", footprint: WHOLE, used_for: None };

/// The words of all kinds of furniture.
pub fn decor_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.word)
}

fn kind_of(decor: &Decor) -> &'static Kind {
    KINDS.iter().find(|kind| kind.word == &*decor.kind).unwrap_or(&UNKNOWN)
}

/// The area that an element occupies.
pub fn element_footprint(middle: Vec2) -> Option<Footprint> {
    Footprint::centered_at(middle, ELEMENT_SIZE)
}

/// The area that a piece of decor occupies; `None` if agents can walk over it.
pub fn decor_footprint(decor: &Decor) -> Option<Footprint> {
    let [left, low, right, high] = kind_of(decor).footprint?;
    let corner = decor.position - decor.size / 2.0;
    let (low, high) = (Vec2::new(left, low) * decor.size, Vec2::new(right, high) * decor.size);
    Footprint::centered_at(corner + (low + high) / 2.0, high - low)
}

/// The seats of a piece of decor, from left to right: side by side in front of it, in the light of a window.
pub fn seats_of(decor: &Decor) -> Vec<Seat> {
    let Some(used_for) = kind_of(decor).used_for else { return Vec::new() };
    let (line, spacing) = match decor_footprint(decor) {
        Some(footprint) => (footprint.low.y - CLEARANCE_UNITS - BESIDE, BODY_UNITS + 2.0),
        None => (decor.position.y, 2.0 * BODY_UNITS),
    };
    let count = (decor.size.x / spacing).floor().clamp(1.0, 8.0);
    let left = decor.position.x - decor.size.x / 2.0;
    let seat = |index: usize| Vec2::new(left + (index as f32 + 0.5) * decor.size.x / count, line);
    (0..count as usize).map(|index| Seat { at: seat(index), used_for }).collect()
}

/// The seats of a room that nothing blocks.
pub fn seats(decor: &[Decor], obstacles: &Obstacles) -> Vec<Seat> {
    decor.iter().flat_map(seats_of).filter(|seat| seat.at.is_finite() && !obstacles.blocks(seat.at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decor(kind: &str, wide: f32, tall: f32) -> Decor {
        Decor { kind: kind.into(), position: Vec2::new(100.0, 50.0), size: Vec2::new(wide, tall), turned: false }
    }

    #[test]
    fn agents_walk_over_rugs_and_light_and_around_everything_else() {
        for kind in ["rug", "window", "tiles", "stone", "carpet"] {
            assert_eq!(decor_footprint(&decor(kind, 300.0, 200.0)), None);
        }
        for kind in ["shelf", "desk", "bench", "plant", "lamp", "no such kind"] {
            let decor = decor(kind, 80.0, 90.0);
            let drawn = Footprint::centered_at(decor.position, decor.size).expect("it is a rectangle");
            let footprint = decor_footprint(&decor).expect("it is in the way");
            assert!(footprint.low.cmpge(drawn.low).all() && footprint.high.cmple(drawn.high).all(), "{kind}");
        }
    }

    #[test]
    fn seats_are_a_body_apart_and_outside_their_furniture() {
        for (kind, wide) in [("bench", 140.0), ("coffee", 66.0), ("window", 300.0), ("shelf", 320.0), ("desk", 110.0)] {
            let decor = decor(kind, wide, 80.0);
            let obstacles = Obstacles::new(decor_footprint(&decor));
            let seats = seats(std::slice::from_ref(&decor), &obstacles);
            assert_eq!(seats.len(), seats_of(&decor).len(), "{kind}: all are free");
            assert!(!seats.is_empty());
            let apart = seats.windows(2).all(|two| two[0].at.distance(two[1].at) >= BODY_UNITS);
            assert!(apart, "{kind}: {seats:?}");
        }
        assert_eq!(seats_of(&decor("bench", 140.0, 60.0)).len(), 3);
        assert!(seats_of(&decor("plant", 60.0, 90.0)).is_empty());
    }
}
