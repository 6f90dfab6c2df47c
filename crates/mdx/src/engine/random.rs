//! The random numbers of a call: the same seed produces the same numbers.

/// A small generator (SplitMix64), good enough for `Math.random`, but never for secrets.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number in 0..1.
    pub(super) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a UUID in the format of `crypto.randomUUID`.
    pub(super) fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        let (third, fourth) = (a & 0xfff | 0x4000, b >> 48 & 0x3fff | 0x8000);
        format!("{:08x}-{:04x}-{third:04x}-{fourth:04x}-{:012x}", a >> 32, a >> 16 & 0xffff, b & 0xffff_ffff_ffff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_produces_the_same_valid_numbers() {
        let (mut one, mut two) = (Random(7), Random(7));
        for _ in 0..100 {
            let uuid = one.uuid();
            assert_eq!(uuid, two.uuid());
            let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12]);
            assert_eq!(uuid.as_bytes()[14], b'4');
            assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
            let fraction = one.fraction();
            assert!((0.0..1.0).contains(&fraction));
            two.next();
        }
    }
}
