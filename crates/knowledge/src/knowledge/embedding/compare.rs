//! Compares many vectors at once in integer arithmetic, so that the results are the same on every instruction set.

use std::sync::OnceLock;

use fearless_simd::{Level, dispatch};

use super::Embedding;

/// Returns the dot product of two vectors of the same length.
pub(super) fn dot(one: &[i8], other: &[i8]) -> i32 {
    one.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// A query vector to compare many others with.
pub(in crate::knowledge) struct QueryVector {
    levels: Vec<i16>,
    scale: f32,
}

impl QueryVector {
    /// Prepares a vector.
    pub(in crate::knowledge) fn new(embedding: &Embedding) -> Self {
        Self { levels: embedding.levels.iter().map(|level| i16::from(*level)).collect(), scale: embedding.scale }
    }

    /// Returns the similarity to each of the vectors, which are stored consecutively, with their scales; 0 where a
    /// scale is 0.
    pub(in crate::knowledge) fn similarities(&self, rows: &[i8], scales: &[f32]) -> Vec<f32> {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        let mut found = vec![0.0; scales.len()];
        let level = *LEVEL.get_or_init(Level::new);
        dispatch!(level, _simd => compare(&self.levels, self.scale, rows, scales, &mut found));
        found
    }
}

/// Compiled once for each instruction set.
#[inline(always)]
fn compare(wanted: &[i16], wanted_scale: f32, rows: &[i8], scales: &[f32], found: &mut [f32]) {
    let rows = rows.chunks_exact(wanted.len().max(1));
    for ((row, scale), found) in rows.zip(scales).zip(found) {
        let sum: i32 = wanted.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        *found = sum as f32 * wanted_scale * scale;
    }
}
