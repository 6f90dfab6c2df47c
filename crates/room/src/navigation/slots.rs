//! The positions where agents stand: in arcs in front of a board, in a queue behind them, and in groups that talk.

use bevy::math::{Vec2, ops};

use super::obstacles::Obstacles;
use super::{BODY_UNITS, CLEARANCE_UNITS};

/// The places in front of a board, relative to its center: two arcs, in which no agent covers the board or overlaps
/// another, and the queue behind them. The lower side of a board is its front.
const READING_OFFSETS: [[(f32, f32); 10]; 2] = [
    [
        (0.0, -100.0),
        (-45.0, -90.0),
        (45.0, -90.0),
        (-68.0, -48.0),
        (68.0, -48.0),
        (-66.0, 0.0),
        (66.0, 0.0),
        // Places behind the board, in case furniture is in front of it.
        (0.0, 58.0),
        (-46.0, 58.0),
        (46.0, 58.0),
    ],
    [
        (-23.0, -140.0),
        (23.0, -140.0),
        (-68.0, -130.0),
        (68.0, -130.0),
        (-100.0, -97.0),
        (100.0, -97.0),
        (-113.0, -52.0),
        (113.0, -52.0),
        (-113.0, -6.0),
        (113.0, -6.0),
    ],
];
/// How many places of the first arc are in front of the board or beside it.
const FRONT_COUNT: usize = 7;
const QUEUE_OFFSETS: [(f32, f32); 7] = [
    (0.0, -187.0),
    (-46.0, -186.0),
    (46.0, -186.0),
    (-91.0, -174.0),
    (91.0, -174.0),
    (-133.0, -146.0),
    (133.0, -146.0),
];
/// The number of places in the queue.
pub const WAITING_PLACES: usize = QUEUE_OFFSETS.len();
/// The distance between two agents that talk, so that both are fully visible.
pub const TALK_UNITS: f32 = 1.5 * BODY_UNITS;
/// The number of rings of places around a point.
const RINGS: usize = 5;

/// The number of a place in front of a board, while an agent has it.
pub type Slot = u8;

/// The position of a place at a board.
pub fn place(board: Vec2, slot: Slot) -> Vec2 {
    let (row, index) = (usize::from(slot) / READING_OFFSETS[0].len(), usize::from(slot) % READING_OFFSETS[0].len());
    let (x, y) = READING_OFFSETS[row.min(READING_OFFSETS.len() - 1)][index];
    board + Vec2::new(x, y)
}

/// The places at a board from which an agent can read, in order of preference: by row, then by distance. The places
/// behind a board are used only if there is no room in front of it.
pub fn reading_places(board: Vec2, from: Vec2, obstacles: &Obstacles) -> Vec<Slot> {
    let slots = 0..(READING_OFFSETS.len() * READING_OFFSETS[0].len()) as Slot;
    let row = |slot: Slot| match usize::from(slot) {
        slot if slot < FRONT_COUNT => 0,
        slot if slot < READING_OFFSETS[0].len() => 2,
        _ => 1,
    };
    let mut open: Vec<Slot> = slots.filter(|slot| !obstacles.blocks(place(board, *slot))).collect();
    if open.iter().any(|slot| row(*slot) < 2) {
        open.retain(|slot| row(*slot) < 2);
    }
    let far = |slot: &Slot| place(board, *slot).distance_squared(from);
    open.sort_by(|one, other| row(*one).cmp(&row(*other)).then(far(one).total_cmp(&far(other))).then(one.cmp(other)));
    open
}

/// The position of the waiting agent with this number, from 0; `None` for later ones, which wait where they are.
pub fn waiting_place(board: Vec2, number: usize, obstacles: &Obstacles) -> Option<Vec2> {
    let open = QUEUE_OFFSETS.iter().map(|(x, y)| board + Vec2::new(*x, *y)).filter(|place| !obstacles.blocks(*place));
    open.into_iter().nth(number)
}

/// Points around a point, the nearest first: the point itself, then ring by ring, each a body's width from the next.
pub fn around(middle: Vec2) -> impl Iterator<Item = Vec2> {
    let ring = move |ring: usize| {
        let count = 6 * ring;
        (0..count).map(move |index| {
            let angle = core::f32::consts::TAU * index as f32 / count as f32 - core::f32::consts::FRAC_PI_2;
            middle + Vec2::new(ops::cos(angle), ops::sin(angle)) * (BODY_UNITS + 2.0) * ring as f32
        })
    };
    std::iter::once(middle).chain((1..=RINGS).flat_map(ring))
}

/// The positions of agents that talk to each other, in the given order: two face each other, more form an open circle;
/// none is inside an obstacle, and no obstacle is between them. `is_free` says whether no one else is at a position.
/// The agents stay where they are if there is no such place.
pub fn talk_places(at: &[Vec2], obstacles: &Obstacles, is_free: impl Fn(Vec2) -> bool) -> Vec<Vec2> {
    let middle = at.iter().sum::<Vec2>() / at.len().max(1) as f32;
    let circle = circle_of(at, middle);
    let fits = |middle: &Vec2| {
        circle.iter().all(|offset| {
            let place = *middle + *offset;
            !obstacles.blocks(place) && is_free(place) && obstacles.first_on(*middle, place).is_none()
        })
    };
    match around(middle).find(fits) {
        Some(middle) => circle.iter().map(|offset| middle + *offset).collect(),
        None => at.iter().map(|place| obstacles.free_point(*place)).collect(),
    }
}

/// The places of a group around its center, assigned so that the paths of the agents do not cross.
fn circle_of(at: &[Vec2], middle: Vec2) -> Vec<Vec2> {
    let angle = |place: Vec2| ops::atan2(place.y - middle.y, place.x - middle.x);
    let count = at.len().max(1) as f32;
    if let [one, other] = at {
        // For two agents side by side on screen, the left one stays on the left.
        let left = if one.x <= other.x { -1.0 } else { 1.0 };
        let half = Vec2::new(left * TALK_UNITS / 2.0, 0.0);
        return vec![half, -half];
    }
    let radius = TALK_UNITS / (2.0 * ops::sin(core::f32::consts::PI / count.max(2.0)));
    let mut order: Vec<usize> = (0..at.len()).collect();
    order.sort_by(|one, other| angle(at[*one]).total_cmp(&angle(at[*other])).then(one.cmp(other)));
    let mut places = vec![Vec2::ZERO; at.len()];
    for (step, index) in order.into_iter().enumerate() {
        let turn = core::f32::consts::TAU * step as f32 / count - core::f32::consts::PI;
        places[index] = Vec2::new(ops::cos(turn), ops::sin(turn)) * radius;
    }
    places
}

/// A point on the circle around home in this direction; closer to home if the point is blocked.
pub fn round_point(home: Vec2, radius: f32, angle: f32, obstacles: &Obstacles) -> Vec2 {
    let direction = Vec2::new(ops::cos(angle), ops::sin(angle));
    let steps = (radius / CLEARANCE_UNITS).ceil().clamp(1.0, 64.0);
    let free = (0..steps as usize)
        .map(|step| home + direction * radius * (1.0 - step as f32 / steps))
        .find(|point| !obstacles.blocks(*point));
    free.unwrap_or_else(|| obstacles.free_point(home))
}

/// Whether a circle of this radius is free of obstacles.
pub fn round_is_free(home: Vec2, radius: f32, obstacles: &Obstacles) -> bool {
    const SIDES: usize = 16;
    let point = |side: usize| {
        let angle = core::f32::consts::TAU * side as f32 / SIDES as f32;
        home + Vec2::new(ops::cos(angle), ops::sin(angle)) * radius
    };
    obstacles.is_empty() || (0..SIDES).all(|side| obstacles.first_on(point(side), point(side + 1)).is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::navigation::Footprint;
    use crate::navigation::furniture::{ELEMENT_SIZE, element_footprint};

    fn apart(places: &[Vec2]) -> f32 {
        let pairs =
            places.iter().enumerate().flat_map(|(at, one)| places[at + 1..].iter().map(|two| one.distance(*two)));
        pairs.fold(f32::INFINITY, f32::min)
    }

    fn board() -> Obstacles {
        Obstacles::new(element_footprint(Vec2::ZERO))
    }

    #[test]
    fn seventeen_agents_read_in_two_rows_and_seven_wait_each_a_body_apart() {
        let slots = reading_places(Vec2::ZERO, Vec2::new(0.0, 300.0), &board());
        let mut places: Vec<Vec2> = slots.iter().map(|slot| place(Vec2::ZERO, *slot)).collect();
        assert_eq!(places.len(), 17);
        assert!(places.iter().all(|place| place.y <= 0.0), "nobody reads from behind: {places:?}");
        assert!(places[..7].iter().all(|place| place.length() < 105.0), "the first row first: {places:?}");
        places.extend((0..20).filter_map(|number| waiting_place(Vec2::ZERO, number, &board())));
        assert_eq!(places.len(), 24);
        assert!(apart(&places) >= BODY_UNITS, "{}", apart(&places));
    }

    #[test]
    fn readers_do_not_cover_the_board() {
        /// The height of a figure and half of its width, as drawn.
        const FIGURE: (f32, f32) = (56.0, 16.0);
        let half = ELEMENT_SIZE / 2.0;
        for slot in reading_places(Vec2::ZERO, Vec2::ZERO, &board()) {
            let at = place(Vec2::ZERO, slot);
            let (beside, below) = (at.x.abs() - FIGURE.1 >= half.x, at.y + FIGURE.0 <= -half.y + 10.0);
            assert!(beside || below, "{at} stands before the board");
        }
    }

    #[test]
    fn the_nearest_place_is_taken_and_the_back_only_if_the_front_is_blocked() {
        let from_left = reading_places(Vec2::ZERO, Vec2::new(-500.0, 0.0), &board());
        assert_eq!(place(Vec2::ZERO, from_left[0]), Vec2::new(-66.0, 0.0));
        let shelf = Footprint::centered_at(Vec2::new(0.0, -90.0), Vec2::new(400.0, 200.0));
        let blocked = Obstacles::new(element_footprint(Vec2::ZERO).into_iter().chain(shelf));
        let places: Vec<Vec2> = reading_places(Vec2::ZERO, Vec2::new(300.0, 300.0), &blocked)
            .into_iter()
            .map(|slot| place(Vec2::ZERO, slot))
            .collect();
        assert_eq!(places, [Vec2::new(46.0, 58.0), Vec2::new(0.0, 58.0), Vec2::new(-46.0, 58.0)]);
    }

    #[test]
    fn two_face_each_other_and_more_open_a_circle() {
        let (ada, ben) = (Vec2::new(30.0, 40.0), Vec2::new(-100.0, 0.0));
        let two = talk_places(&[ada, ben], &Obstacles::default(), |_| true);
        assert_eq!(two[0] - two[1], Vec2::new(TALK_UNITS, 0.0), "whoever is on the right stays there");
        for count in 3..9 {
            let at: Vec<Vec2> =
                (0..count).map(|index| Vec2::new(20.0 * index as f32, (index * index) as f32)).collect();
            let places = talk_places(&at, &Obstacles::default(), |_| true);
            assert!(apart(&places) >= BODY_UNITS, "{count}: {places:?}");
        }
    }

    proptest! {
        #[test]
        fn nobody_talks_inside_or_across_a_board(
            ax in -150.0_f32..150.0, ay in -150.0_f32..150.0, bx in -150.0_f32..150.0, by in -150.0_f32..150.0,
        ) {
            let at = [Vec2::new(ax, ay), Vec2::new(bx, by)];
            let places = talk_places(&at, &board(), |_| true);
            prop_assert!(places.iter().all(|place| !board().blocks(*place)));
            prop_assert!(board().first_on(places[0], places[1]).is_none());
            prop_assert!(places[0].distance(places[1]) >= BODY_UNITS);
        }

        #[test]
        fn circle_points_are_free(x in -200.0_f32..200.0, y in -200.0_f32..200.0, angle in 0.0_f32..6.3) {
            let home = Vec2::new(x, y);
            prop_assert!(!board().blocks(round_point(home, 100.0, angle, &board())));
        }
    }
}
