//! Seeded randomness: one generator per case of a loop, so that a single case can be repeated.

use std::time::Duration;

use agent_workshop::base::hash::content_hash;
use rand::Rng;
use rand_pcg::Pcg32;

/// The generator of one case.
pub struct Chance(Pcg32);

impl Chance {
    /// The generator of this case of this loop with this seed.
    pub fn new(seed: u64, name: &str, case: u64) -> Self {
        Self(Pcg32::new(seed ^ content_hash(name.as_bytes()), case))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to, not including, `count`; 0 if there is nothing to choose from.
    pub fn below(&mut self, count: usize) -> usize {
        if count == 0 { 0 } else { usize::try_from(self.bits() % count as u64).unwrap_or(0) }
    }

    /// A number from `low` up to and including `high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in this percentage of calls.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of these; there must be at least one.
    pub fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// This many random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits().to_le_bytes()[0]).collect()
    }

    /// A duration up to this one.
    pub fn up_to(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.below(100_000) as f64 / 100_000.0)
    }
}
