//! Finds nearby agents: a uniform grid of cells, hashed into buckets and filled by counting sort.
//!
//! Neighbouring cells of a row are in consecutive buckets, so a search reads one contiguous range of memory per row.
//! Different rows may share buckets: every candidate is verified by its row and its distance, so any extent works and
//! no point is found twice. The order of results depends only on the positions and the order in which they were given.

use bevy::math::Vec2;

/// One thing in the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The position.
    pub position: Vec2,
    /// The key of the thing.
    pub key: u32,
}

/// A spatial index of points with keys.
#[derive(Clone, Debug)]
pub struct Grid {
    inverse_cell: f32,
    mask: u32,
    /// Where each bucket begins in `entries`; one more than there are buckets.
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

/// Odd, so that rows spread over all buckets.
const ROW_STRIDE: u32 = 0x9E37_79B1;

impl Grid {
    /// Creates an empty grid with square cells of this width.
    pub fn new(cell_units: f32) -> Self {
        Self { inverse_cell: cell_units.max(1.0).recip(), mask: 0, starts: vec![0, 0], entries: Vec::new() }
    }

    /// Replaces all points. Points that are not finite are omitted.
    pub fn rebuild(&mut self, points: &[Entry]) {
        // Only finite points are counted, because the order of results must not depend on how many agents have left.
        let kept = points.iter().filter(|point| point.position.is_finite()).count();
        let buckets = kept.next_power_of_two().max(64);
        self.mask = (buckets - 1) as u32;
        self.starts.clear();
        self.starts.resize(buckets + 1, 0);
        for point in points.iter().filter(|point| point.position.is_finite()) {
            let bucket = self.bucket_at(point.position) as usize;
            self.starts[bucket] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.entries.clear();
        self.entries.resize(kept, Entry { position: Vec2::ZERO, key: 0 });
        // Backwards, so that within a bucket the given order stays; each start ends up at its bucket's beginning.
        for point in points.iter().rev().filter(|point| point.position.is_finite()) {
            let bucket = self.bucket_at(point.position) as usize;
            self.starts[bucket] -= 1;
            self.entries[self.starts[bucket] as usize] = *point;
        }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the grid is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All points, in the order of their cells.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Calls `found` with every point within `radius` and the square of its distance.
    #[inline]
    pub fn within(&self, middle: Vec2, radius: f32, mut found: impl FnMut(&Entry, f32)) {
        let radius_squared = radius * radius;
        let (low, high) = (middle - radius, middle + radius);
        let (first, last) = (self.cell_of(low.x), self.cell_of(high.x));
        // A search wider than the table would visit its own buckets again.
        if self.entries.is_empty() || !middle.is_finite() {
            return;
        }
        let (low_row, high_row) = (self.cell_of(low.y), self.cell_of(high.y));
        let wide = i64::from(last) - i64::from(first) >= i64::from(self.mask);
        if wide || i64::from(high_row) - i64::from(low_row) > self.entries.len() as i64 {
            for entry in &self.entries {
                let distance_squared = entry.position.distance_squared(middle);
                if distance_squared <= radius_squared {
                    found(entry, distance_squared);
                }
            }
            return;
        }
        for row in low_row..=high_row {
            let begin = self.bucket(first, row);
            let end = self.bucket(last, row);
            if begin <= end {
                self.scan(begin, end, row, middle, radius_squared, &mut found);
            } else {
                self.scan(begin, self.mask, row, middle, radius_squared, &mut found);
                self.scan(0, end, row, middle, radius_squared, &mut found);
            }
        }
    }

    #[inline]
    fn scan(
        &self,
        begin: u32,
        end: u32,
        row: i32,
        middle: Vec2,
        radius_squared: f32,
        found: &mut impl FnMut(&Entry, f32),
    ) {
        let range = self.starts[begin as usize] as usize..self.starts[end as usize + 1] as usize;
        for entry in &self.entries[range] {
            let distance_squared = entry.position.distance_squared(middle);
            if distance_squared <= radius_squared && self.cell_of(entry.position.y) == row {
                found(entry, distance_squared);
            }
        }
    }

    /// The nearest point within `radius` for which `fits` returns true; at equal distance the smallest key.
    pub fn nearest(&self, middle: Vec2, radius: f32, mut fits: impl FnMut(u32) -> bool) -> Option<Entry> {
        let mut reach = (self.inverse_cell.recip() * 0.75).min(radius);
        loop {
            let mut best: Option<(f32, Entry)> = None;
            self.within(middle, reach, |entry, distance| {
                let nearer = best.is_none_or(|(least, held)| (distance, entry.key) < (least, held.key));
                if nearer && fits(entry.key) {
                    best = Some((distance, *entry));
                }
            });
            if best.is_some() || reach >= radius {
                return best.map(|(_, entry)| entry);
            }
            reach = (reach * 2.0).min(radius);
        }
    }

    fn cell_of(&self, along: f32) -> i32 {
        // Casting saturates, so that even absurd extents stay in range.
        (along * self.inverse_cell).floor() as i32
    }

    fn bucket(&self, column: i32, row: i32) -> u32 {
        (row as u32).wrapping_mul(ROW_STRIDE).rotate_left(16).wrapping_add(column as u32) & self.mask
    }

    fn bucket_at(&self, position: Vec2) -> u32 {
        self.bucket(self.cell_of(position.x), self.cell_of(position.y))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grid_of(points: &[(f32, f32)]) -> Grid {
        let mut grid = Grid::new(70.0);
        let entries: Vec<Entry> =
            (0..).zip(points).map(|(key, (x, y))| Entry { position: Vec2::new(*x, *y), key }).collect();
        grid.rebuild(&entries);
        grid
    }

    fn found(grid: &Grid, middle: Vec2, radius: f32) -> Vec<u32> {
        let mut keys = Vec::new();
        grid.within(middle, radius, |entry, _| keys.push(entry.key));
        keys
    }

    #[test]
    fn finds_the_nearest_that_fits() {
        let grid = grid_of(&[(0.0, 0.0), (10.0, 0.0), (-10.0, 0.0), (290.0, 0.0)]);
        let nearest = |fits: fn(u32) -> bool| grid.nearest(Vec2::ZERO, 300.0, fits).map(|entry| entry.key);
        assert_eq!(nearest(|_| true), Some(0));
        assert_eq!(nearest(|key| key != 0), Some(1));
        assert_eq!(nearest(|key| key > 2), Some(3));
        assert_eq!(nearest(|key| key > 3), None);
    }

    #[test]
    fn omits_points_that_are_not_finite() {
        let grid = grid_of(&[(f32::NAN, 0.0), (f32::INFINITY, 1.0), (1.0, 1.0)]);
        assert_eq!(found(&grid, Vec2::ZERO, 10.0), [2]);
        assert!(found(&grid, Vec2::new(f32::NAN, 0.0), 10.0).is_empty());
        assert!(found(&Grid::new(70.0), Vec2::ZERO, 10.0).is_empty());
    }

    fn coordinate() -> impl Strategy<Value = f32> {
        prop_oneof![8 => -500.0_f32..500.0, 1 => -1.0e5_f32..1.0e5, 1 => Just(1.0e5_f32)]
    }

    proptest! {
        #[test]
        fn finds_every_point_within_the_radius_once(
            points in prop::collection::vec((coordinate(), coordinate()), 0..200),
            x in coordinate(), y in coordinate(), radius in 1.0_f32..900.0,
        ) {
            let grid = grid_of(&points);
            let middle = Vec2::new(x, y);
            let mut near = found(&grid, middle, radius);
            near.sort_unstable();
            let by_hand: Vec<u32> = (0..)
                .zip(&points)
                .filter(|(_, (x, y))| Vec2::new(*x, *y).distance_squared(middle) <= radius * radius)
                .map(|(key, _)| key)
                .collect();
            prop_assert_eq!(&near, &by_hand);
            let nearest = grid.nearest(middle, radius, |_| true).map(|entry| entry.position.distance_squared(middle));
            let least = by_hand.iter().map(|key| {
                let (x, y) = points[*key as usize];
                Vec2::new(x, y).distance_squared(middle)
            }).min_by(f32::total_cmp);
            prop_assert_eq!(nearest, least);
        }

        #[test]
        fn the_same_points_are_found_in_the_same_order(
            points in prop::collection::vec((coordinate(), coordinate()), 0..100),
        ) {
            let (one, other) = (grid_of(&points), grid_of(&points));
            prop_assert_eq!(found(&one, Vec2::ZERO, 400.0), found(&other, Vec2::ZERO, 400.0));
        }
    }
}
