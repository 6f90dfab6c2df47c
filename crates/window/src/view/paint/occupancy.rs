//! A bitmap of the occupied parts of a view, in small squares: a query costs the same however many things there are.

use egui::{Pos2, Rect};

/// Side of a square, in points.
const CELL: f32 = 6.0;
/// Number of squares per word.
const WORD: usize = u64::BITS as usize;

/// The occupied squares of a view.
#[derive(Clone, Debug)]
pub struct Occupancy {
    view: Rect,
    /// Number of words per row.
    words: usize,
    /// One bit per square, row by row.
    cells: Vec<u64>,
}

/// A rectangle of squares: left, top, right and bottom, inclusive.
type Cells = [usize; 4];

impl Occupancy {
    /// An empty bitmap for a view.
    pub fn new(view: Rect) -> Self {
        let count = |points: f32| (points.max(0.0) / CELL).ceil() as usize + 1;
        let words = count(view.width()).div_ceil(WORD);
        Self { view, words, cells: vec![0; words * count(view.height())] }
    }

    /// Occupies a rectangle if it is free and in view. Returns whether it did.
    pub fn occupy(&mut self, rect: Rect) -> bool {
        let free = self.cells_of(rect).is_some() && self.is_free(rect);
        if free {
            self.claim(rect);
        }
        free
    }

    /// Whether no square of a rectangle is occupied.
    pub fn is_free(&self, rect: Rect) -> bool {
        self.cells_of(rect).is_none_or(|cells| self.row_words(cells).all(|(index, mask)| self.cells[index] & mask == 0))
    }

    /// Number of occupied squares in a rectangle.
    pub fn crowding(&self, rect: Rect) -> usize {
        let Some(cells) = self.cells_of(rect) else { return 0 };
        self.row_words(cells).map(|(index, mask)| (self.cells[index] & mask).count_ones() as usize).sum()
    }

    /// Occupies a rectangle unconditionally.
    pub fn claim(&mut self, rect: Rect) {
        self.change(rect, |word, mask| word | mask);
    }

    /// Frees a rectangle that was occupied by [`Occupancy::occupy`], so that no other rectangle shares its squares.
    pub fn free(&mut self, rect: Rect) {
        self.change(rect, |word, mask| word & !mask);
    }

    fn change(&mut self, rect: Rect, change: impl Fn(u64, u64) -> u64) {
        let Some(cells) = self.cells_of(rect) else { return };
        let words = self.words;
        for (index, mask) in masks(words, cells) {
            self.cells[index] = change(self.cells[index], mask);
        }
    }

    fn row_words(&self, cells: Cells) -> impl Iterator<Item = (usize, u64)> + use<> {
        masks(self.words, cells)
    }

    fn cells_of(&self, rect: Rect) -> Option<Cells> {
        let inside = rect.intersect(self.view);
        if !inside.is_positive() {
            return None;
        }
        let cell = |point: Pos2| ((point - self.view.min) / CELL).floor();
        let (low, high) = (cell(inside.min), cell(inside.max));
        Some([low.x as usize, low.y as usize, high.x as usize, high.y as usize])
    }
}

/// Index and bit mask of each word that covers part of a rectangle.
fn masks(words: usize, [left, top, right, bottom]: Cells) -> impl Iterator<Item = (usize, u64)> {
    let (first, last) = (left / WORD, right / WORD);
    (top..=bottom).flat_map(move |row| {
        (first..=last).map(move |word| {
            let from = if word == first { left % WORD } else { 0 };
            let to = if word == last { right % WORD } else { WORD - 1 };
            (row * words + word, (u64::MAX << from) & (u64::MAX >> (WORD - 1 - to)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{pos2, vec2};

    const VIEW: Rect = Rect { min: pos2(40.0, 30.0), max: pos2(1_320.0, 830.0) };

    #[test]
    fn a_freed_rectangle_can_be_taken_again() {
        // Rectangles across several words, within one word, and over the edge of the view.
        for place in [(100.0, 100.0, 900.0, 14.0), (50.0, 60.0, 20.0, 20.0), (1_300.0, 820.0, 90.0, 90.0)] {
            let mut taken = Occupancy::new(VIEW);
            let rect = Rect::from_min_size(pos2(place.0, place.1), vec2(place.2, place.3));
            assert!(taken.occupy(rect) && !taken.is_free(rect) && !taken.occupy(rect), "{place:?}");
            assert!(taken.crowding(rect) > 0);
            assert!(taken.is_free(rect.translate(vec2(0.0, -2.0 * CELL - rect.height()))));
            taken.free(rect);
            assert!(taken.is_free(rect) && taken.crowding(VIEW) == 0);
        }
    }

    #[test]
    fn rectangles_outside_the_view_cannot_be_taken() {
        let gone = Rect::from_min_size(pos2(2_000.0, 0.0), vec2(10.0, 10.0));
        let mut taken = Occupancy::new(VIEW);
        assert!(!taken.occupy(gone) && taken.is_free(gone));
    }
}
