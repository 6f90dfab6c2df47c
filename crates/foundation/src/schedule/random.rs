//! Replayable random numbers: one small generator per agent, all seeded from the room's seed.

use bevy::ecs::prelude::*;
use bevy::math::{Vec2, ops};
use rand::Rng;
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

use crate::base::AgentKey;

/// The seed of the room, from the scene or the command line.
#[derive(Resource, Clone, Copy, Default, Debug)]
pub struct RoomSeed(pub u64);

/// An agent's own random generator: a PCG stream selected by the agent's key, so that the numbers of one agent never
/// affect another's. 16 bytes; the sequence is documented and the same on every machine.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentRandom(Pcg32);

impl AgentRandom {
    /// Creates the generator of an agent in a room with this seed.
    pub fn new(seed: RoomSeed, agent: AgentKey) -> Self {
        Self(Pcg32::new(seed.0 ^ 0xcafe_f00d_d15e_a5e5, 0x0a02_bdbf_7bb3_c0a7 ^ u64::from(agent.0)))
    }

    /// Returns a number uniformly distributed in 0.0..1.0.
    pub fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 / (1_u32 << 24) as f32
    }

    /// Returns a number uniformly distributed between `low` and `high`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns true with this probability.
    pub fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }

    /// Returns an index uniformly distributed in 0..`count`; 0 if `count` is 0.
    pub fn index(&mut self, count: usize) -> usize {
        ((self.unit() * count as f32) as usize).min(count.saturating_sub(1))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a random direction of length 1.
    pub fn direction(&mut self) -> Vec2 {
        let angle = self.between(0.0, core::f32::consts::TAU);
        Vec2::new(ops::cos(angle), ops::sin(angle))
    }
}
