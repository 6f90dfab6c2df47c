//! Interpolates movement between ticks: an agent is drawn between its last two positions.

use bevy::math::Vec2;

use crate::base::AgentKey;

/// A longer distance in one tick is a jump and is not interpolated.
const JUMP_UNITS: f32 = 60.0;

/// The positions at the last two ticks, indexed by agent key.
#[derive(Clone, Debug, Default)]
pub struct Interpolation {
    tick: u64,
    before: Vec<Vec2>,
    now: Vec<Vec2>,
}

impl Interpolation {
    /// Records the positions at this tick. Calling it again for the same tick does nothing.
    pub fn update(&mut self, tick: u64, places: impl Iterator<Item = (AgentKey, Vec2)>) {
        if tick == self.tick {
            return;
        }
        self.tick = tick;
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        for (key, place) in places {
            let index = key.0 as usize;
            if self.now.len() <= index {
                self.now.resize(index + 1, Vec2::NAN);
            }
            self.now[index] = place;
        }
    }

    /// The position to draw for an agent at `place`, when `share` (0 to 1) of the time since the last tick has passed.
    pub fn place(&self, key: AgentKey, place: Vec2, share: f32) -> Vec2 {
        let Some(before) = self.before.get(key.0 as usize).copied().filter(|before| before.is_finite()) else {
            return place;
        };
        if before.distance(place) > JUMP_UNITS { place } else { before.lerp(place, share.clamp(0.0, 1.0)) }
    }

    /// The agent's position at the last tick.
    pub fn last(&self, key: AgentKey) -> Option<Vec2> {
        self.now.get(key.0 as usize).copied().filter(|place| place.is_finite())
    }

    /// The agent's movement in the last tick.
    pub fn step(&self, key: AgentKey) -> Vec2 {
        let at = |places: &[Vec2]| places.get(key.0 as usize).copied();
        let step = at(&self.now).zip(at(&self.before)).map_or(Vec2::ZERO, |(now, before)| now - before);
        if step.is_finite() { step } else { Vec2::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_are_interpolated_and_jumps_are_not() {
        let (walker, jumper) = (AgentKey(0), AgentKey(2));
        let mut interpolation = Interpolation::default();
        interpolation.update(1, [(walker, Vec2::ZERO), (jumper, Vec2::ZERO)].into_iter());
        interpolation.update(2, [(walker, Vec2::new(4.0, 0.0)), (jumper, Vec2::new(900.0, 0.0))].into_iter());
        assert_eq!(interpolation.place(walker, Vec2::new(4.0, 0.0), 0.5), Vec2::new(2.0, 0.0));
        assert_eq!(interpolation.place(jumper, Vec2::new(900.0, 0.0), 0.5), Vec2::new(900.0, 0.0));
        assert_eq!(interpolation.place(AgentKey(7), Vec2::ONE, 0.5), Vec2::ONE);
        assert_eq!(interpolation.step(walker), Vec2::new(4.0, 0.0));
    }
}
