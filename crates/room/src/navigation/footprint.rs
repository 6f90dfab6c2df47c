//! The area of the ground that a thing occupies: a rectangle.

use bevy::math::Vec2;

/// How far something may reach over an edge and still count as only touching.
const TOLERANCE: f32 = 0.01;

/// A rectangle on the ground, by its corners.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Footprint {
    /// The lower left corner.
    pub low: Vec2,
    /// The upper right corner.
    pub high: Vec2,
}

impl Footprint {
    /// The rectangle of this size around a point; `None` if the size is not positive.
    pub fn centered_at(middle: Vec2, size: Vec2) -> Option<Self> {
        let half = size / 2.0;
        let (low, high) = (middle - half, middle + half);
        (low.is_finite() && high.is_finite() && low.cmplt(high).all()).then_some(Self { low, high })
    }

    /// The rectangle enlarged by `units` on every side.
    pub fn expanded(self, units: f32) -> Self {
        Self { low: self.low - units, high: self.high + units }
    }

    /// Whether a point is strictly inside, not on an edge.
    #[inline]
    pub fn holds(&self, point: Vec2) -> bool {
        point.x > self.low.x + TOLERANCE
            && point.x < self.high.x - TOLERANCE
            && point.y > self.low.y + TOLERANCE
            && point.y < self.high.y - TOLERANCE
    }

    /// Whether both share more than an edge.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low.cmplt(other.high).all() && other.low.cmplt(self.high).all()
    }

    /// Where a straight path, as a fraction from 0 to 1, enters the rectangle; `None` if it does not.
    pub fn entered_at(&self, from: Vec2, to: Vec2) -> Option<f32> {
        let way = to - from;
        let (mut begin, mut end) = (0.0_f32, 1.0_f32);
        for (along, start, low, high) in
            [(way.x, from.x, self.low.x, self.high.x), (way.y, from.y, self.low.y, self.high.y)]
        {
            let (low, high) = (low + TOLERANCE, high - TOLERANCE);
            if along.abs() < 1.0e-6 {
                if start <= low || start >= high {
                    return None;
                }
                continue;
            }
            let (one, other) = ((low - start) / along, (high - start) / along);
            begin = begin.max(one.min(other));
            end = end.min(one.max(other));
        }
        (begin < end).then_some(begin)
    }

    /// The nearest point on the edge, for a point inside.
    #[inline]
    pub fn edge_beside(&self, point: Vec2) -> Vec2 {
        let (left, right) = (point.x - self.low.x, self.high.x - point.x);
        let (below, above) = (point.y - self.low.y, self.high.y - point.y);
        let least = left.min(right).min(below).min(above);
        if least == below {
            Vec2::new(point.x, self.low.y)
        } else if least == left {
            Vec2::new(self.low.x, point.y)
        } else if least == right {
            Vec2::new(self.high.x, point.y)
        } else {
            Vec2::new(point.x, self.high.y)
        }
    }

    /// The corners, moved outwards by `outside`.
    pub fn corners(&self, outside: f32) -> [Vec2; 4] {
        let (low, high) = (self.low - outside, self.high + outside);
        [low, Vec2::new(high.x, low.y), high, Vec2::new(low.x, high.y)]
    }

    /// The distance of a point from the rectangle; 0 inside.
    pub fn distance(&self, point: Vec2) -> f32 {
        (point - point.clamp(self.low, self.high)).length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Footprint {
        Footprint::centered_at(Vec2::ZERO, Vec2::new(100.0, 80.0)).expect("it is a rectangle")
    }

    #[test]
    fn invalid_sizes_have_no_footprint() {
        for size in [Vec2::ZERO, Vec2::new(-5.0, 5.0), Vec2::new(f32::NAN, 5.0), Vec2::new(f32::INFINITY, 5.0)] {
            assert_eq!(Footprint::centered_at(Vec2::ZERO, size), None);
        }
    }

    #[test]
    fn a_path_through_it_enters_and_one_along_the_edge_does_not() {
        let (left, right) = (Vec2::new(-100.0, 0.0), Vec2::new(100.0, 0.0));
        assert!((table().entered_at(left, right).expect("it leads through") - 0.25).abs() < 1.0e-3);
        let edge = Vec2::new(0.0, 40.0);
        assert_eq!(table().entered_at(left + edge, right + edge), None);
        assert_eq!(table().entered_at(left, Vec2::new(-51.0, 0.0)), None, "it ends before");
        assert_eq!(table().entered_at(Vec2::ZERO, right), Some(0.0), "it begins inside");
    }

    #[test]
    fn a_point_inside_leaves_at_the_nearest_edge() {
        assert_eq!(table().edge_beside(Vec2::new(10.0, -35.0)), Vec2::new(10.0, -40.0));
        assert_eq!(table().edge_beside(Vec2::new(45.0, 3.0)), Vec2::new(50.0, 3.0));
        assert!(!table().holds(Vec2::new(50.0, 3.0)));
    }
}
