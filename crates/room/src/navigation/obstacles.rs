//! All obstacles, indexed by position.

use bevy::math::Vec2;

use super::footprint::Footprint;
use super::{CLEARANCE_UNITS, TOUCH_UNITS};

/// The width of a grid cell; wider if the room would have too many cells.
const CELL_UNITS: f32 = 128.0;
const MAX_CELLS: f32 = 65_536.0;
/// The distance of a point beside an obstacle from its edge.
pub(super) const BESIDE: f32 = 0.5;
/// How many overlapping obstacles are considered when looking for the way out.
const MAX_CLUSTER: usize = 24;

/// The obstacles, each enlarged by [`CLEARANCE_UNITS`], so that an agent can be treated as a point.
#[derive(Clone, Debug, Default)]
pub struct Obstacles {
    shapes: Vec<Footprint>,
    low: Vec2,
    cell: f32,
    columns: usize,
    rows: usize,
    /// Where the obstacles of each cell begin in `of_cell`; one more than there are cells.
    starts: Vec<u32>,
    of_cell: Vec<u32>,
}

impl Obstacles {
    /// Creates the obstacles of a room, given in any order.
    pub fn new(footprints: impl IntoIterator<Item = Footprint>) -> Self {
        let shapes: Vec<Footprint> = footprints.into_iter().map(|shape| shape.expanded(CLEARANCE_UNITS)).collect();
        let Some(first) = shapes.first().copied() else { return Self::default() };
        let whole = shapes
            .iter()
            .fold(first, |whole, shape| Footprint { low: whole.low.min(shape.low), high: whole.high.max(shape.high) });
        let extent = whole.high - whole.low;
        let mut cell = CELL_UNITS;
        while (extent.x / cell).ceil() * (extent.y / cell).ceil() > MAX_CELLS {
            cell *= 2.0;
        }
        let (columns, rows) = ((extent.x / cell) as usize + 1, (extent.y / cell) as usize + 1);
        let mut made = Self { shapes, low: whole.low, cell, columns, rows, starts: Vec::new(), of_cell: Vec::new() };
        let mut lists = vec![Vec::new(); columns * rows];
        for (index, shape) in made.shapes.iter().enumerate() {
            for cell in made.cells(shape.low, shape.high) {
                lists[cell].push(index as u32);
            }
        }
        made.starts.push(0);
        for list in lists {
            made.of_cell.extend(list);
            made.starts.push(made.of_cell.len() as u32);
        }
        made
    }

    /// Whether there are no obstacles.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// The obstacles, each enlarged by [`CLEARANCE_UNITS`].
    pub fn shapes(&self) -> &[Footprint] {
        &self.shapes
    }

    /// The cells between two points, clamped to the grid.
    fn cells(&self, low: Vec2, high: Vec2) -> impl Iterator<Item = usize> + use<> {
        let index = |value: f32, count: usize| (value / self.cell).clamp(0.0, count as f32 - 1.0) as usize;
        let (low, high, columns) = (low - self.low, high - self.low, self.columns);
        let across = index(low.x, columns)..=index(high.x, columns);
        (index(low.y, self.rows)..=index(high.y, self.rows))
            .flat_map(move |row| across.clone().map(move |column| row * columns + column))
    }

    /// The obstacles that may contain a point.
    #[inline]
    fn at(&self, point: Vec2) -> &[u32] {
        let place = (point - self.low) / self.cell;
        if self.shapes.is_empty() || !(place.x >= 0.0 && place.y >= 0.0) {
            return &[];
        }
        let (column, row) = (place.x as usize, place.y as usize);
        if column >= self.columns || row >= self.rows {
            return &[];
        }
        let cell = row * self.columns + column;
        &self.of_cell[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// Whether this point is too close to an obstacle.
    pub fn blocks(&self, point: Vec2) -> bool {
        self.at(point).iter().any(|index| self.shapes[*index as usize].holds(point))
    }

    /// The position to which an agent at this point is moved if it was pushed into an obstacle; `None` if there is no
    /// obstacle.
    #[inline]
    pub fn pushed_out(&self, point: Vec2) -> Option<Vec2> {
        let near = self.at(point);
        if near.is_empty() {
            return None;
        }
        let touch = |index: &u32| self.shapes[*index as usize].expanded(TOUCH_UNITS - CLEARANCE_UNITS);
        let shape = near.iter().map(touch).find(|shape| shape.holds(point))?;
        let beside = shape.edge_beside(point);
        let is_free = !self.at(beside).iter().map(touch).any(|other| other.holds(beside));
        Some(if is_free { beside } else { self.free_point(point) })
    }

    /// The first obstacle on a straight path.
    pub fn first_on(&self, from: Vec2, to: Vec2) -> Option<usize> {
        if self.shapes.is_empty() {
            return None;
        }
        let (low, high) = (from.min(to), from.max(to));
        let mut first: Option<(f32, usize)> = None;
        let mut look = |index: usize| {
            if let Some(at) = self.shapes[index].entered_at(from, to)
                && first.is_none_or(|(least, held)| (at, index) < (least, held))
            {
                first = Some((at, index));
            }
        };
        let extent = (high - low) / self.cell;
        if (extent.x + 1.0) * (extent.y + 1.0) > self.shapes.len() as f32 {
            (0..self.shapes.len()).for_each(look);
        } else {
            for cell in self.cells(low, high) {
                let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                self.of_cell[range].iter().for_each(|index| look(*index as usize));
            }
        }
        first.map(|(_, index)| index)
    }

    /// The nearest point at which an agent can stand.
    pub fn free_point(&self, point: Vec2) -> Vec2 {
        if !point.is_finite() || !self.blocks(point) {
            return point;
        }
        let cluster = self.cluster(point);
        let (mut across, mut up) = (vec![point.x], vec![point.y]);
        for shape in &cluster {
            across.extend([shape.low.x - BESIDE, shape.high.x + BESIDE]);
            up.extend([shape.low.y - BESIDE, shape.high.y + BESIDE]);
        }
        let all = across.iter().flat_map(|x| up.iter().map(|y| Vec2::new(*x, *y)));
        let free = all.filter(|candidate| !self.blocks(*candidate));
        // Of points at the same distance, prefer the lower one, which is in front of a thing rather than behind it.
        let order = |one: &Vec2, other: &Vec2| {
            let far = |at: &Vec2| at.distance_squared(point);
            far(one).total_cmp(&far(other)).then(one.y.total_cmp(&other.y)).then(one.x.total_cmp(&other.x))
        };
        free.min_by(order).unwrap_or(point)
    }

    /// The other obstacles that leave no path between themselves and this one.
    pub(super) fn leaning_on(&self, index: usize) -> impl Iterator<Item = usize> {
        let shape = self.shapes[index].expanded(2.0 * BESIDE);
        let all = self.shapes.iter().enumerate();
        all.filter(move |(other, it)| *other != index && it.overlaps(&shape)).map(|(other, _)| other)
    }

    /// The obstacles that contain a point, with all that overlap these.
    fn cluster(&self, point: Vec2) -> Vec<Footprint> {
        let holding = (0..self.shapes.len()).filter(|index| self.shapes[*index].holds(point));
        let mut found: Vec<usize> = holding.collect();
        let mut next = 0;
        while next < found.len() && found.len() < MAX_CLUSTER {
            let leaning: Vec<usize> = self.leaning_on(found[next]).filter(|index| !found.contains(index)).collect();
            next += 1;
            found.extend(leaning.into_iter().take(MAX_CLUSTER - found.len()));
        }
        found.into_iter().map(|index| self.shapes[index]).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn obstacles(list: &[(f32, f32, f32, f32)]) -> Obstacles {
        let shape = |(x, y, wide, tall): &(f32, f32, f32, f32)| {
            Footprint::centered_at(Vec2::new(*x, *y), Vec2::new(*wide, *tall)).expect("it is a rectangle")
        };
        Obstacles::new(list.iter().map(shape))
    }

    #[test]
    fn an_empty_room_blocks_nothing() {
        let none = Obstacles::new([]);
        let (here, there) = (Vec2::ZERO, Vec2::splat(900.0));
        assert!(!none.blocks(here) && none.pushed_out(here).is_none() && none.first_on(here, there).is_none());
        assert_eq!(none.free_point(here), here);
    }

    #[test]
    fn the_first_of_two_obstacles_on_a_path_is_found() {
        let two = obstacles(&[(600.0, 0.0, 100.0, 80.0), (300.0, 0.0, 100.0, 80.0)]);
        assert_eq!(two.first_on(Vec2::ZERO, Vec2::new(900.0, 0.0)), Some(1));
        assert_eq!(two.first_on(Vec2::new(900.0, 0.0), Vec2::ZERO), Some(0));
        assert_eq!(two.first_on(Vec2::ZERO, Vec2::new(0.0, 900.0)), None);
    }

    #[test]
    fn nobody_is_moved_out_between_two_touching_obstacles() {
        let row = obstacles(&[(0.0, 0.0, 100.0, 80.0), (100.0, 0.0, 100.0, 80.0)]);
        let out = row.free_point(Vec2::new(50.0, -5.0));
        assert_eq!(out, Vec2::new(50.0, -54.5), "before them, not in the middle of the row");
    }

    fn rectangles() -> impl Strategy<Value = Vec<(f32, f32, f32, f32)>> {
        prop::collection::vec((-600.0_f32..600.0, -600.0_f32..600.0, 10.0_f32..300.0, 10.0_f32..200.0), 0..24)
    }

    proptest! {
        #[test]
        fn a_free_point_is_free_and_a_free_one_stays(
            shapes in rectangles(), x in -700.0_f32..700.0, y in -700.0_f32..700.0,
        ) {
            let (room, point) = (obstacles(&shapes), Vec2::new(x, y));
            let by_hand = room.shapes().iter().any(|shape| shape.holds(point));
            prop_assert_eq!(room.blocks(point), by_hand);
            let free = room.free_point(point);
            prop_assert!(!room.blocks(free));
            prop_assert!(by_hand || free == point);
            if let Some(out) = room.pushed_out(point) {
                let touch = |shape: &Footprint| shape.expanded(TOUCH_UNITS - CLEARANCE_UNITS).holds(out);
                prop_assert!(!room.shapes().iter().any(touch));
            }
        }

        #[test]
        fn the_first_obstacle_equals_that_of_an_exhaustive_search(
            shapes in rectangles(),
            ax in -900.0_f32..900.0, ay in -900.0_f32..900.0, bx in -900.0_f32..900.0, by in -900.0_f32..900.0,
        ) {
            let (room, from, to) = (obstacles(&shapes), Vec2::new(ax, ay), Vec2::new(bx, by));
            let hits = room.shapes().iter().enumerate();
            let first = hits
                .filter_map(|(index, shape)| Some((shape.entered_at(from, to)?, index)))
                .min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            prop_assert_eq!(room.first_on(from, to), first.map(|(_, index)| index));
        }
    }
}
