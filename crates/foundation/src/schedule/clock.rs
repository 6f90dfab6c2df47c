//! The clock of the room, which counts ticks and is independent of the wall clock.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::inputs::Input;
use super::saved::Section;

/// The number of ticks in one second of simulated time.
pub const TICKS_PER_SEC: u64 = 30;

/// Converts seconds of simulated time to ticks, rounded to the nearest and at least one.
pub fn ticks(secs: f32) -> u64 {
    ((f64::from(secs) * TICKS_PER_SEC as f64).round() as u64).max(1)
}

/// The ratio of simulated time to real time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    /// This many simulated seconds per real second: 1, 4 or 16.
    Times(u32),
    /// As fast as the machine can, waiting only for pending replies.
    Max,
}

/// The room's clock: its time and its speed.
#[derive(Resource, Clone, Debug)]
pub struct SimClock {
    tick: u64,
    /// The speed of time. Read by the driver of the world, never by the world.
    pub speed: Speed,
    /// Whether time is paused. Read by the driver of the world, never by the world.
    pub paused: bool,
}

impl Default for SimClock {
    fn default() -> Self {
        Self { tick: 0, speed: Speed::Times(1), paused: false }
    }
}

impl SimClock {
    /// Returns the tick that is running, or ran last; 0 before the first.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns the seconds of simulated time since the room was first opened.
    pub fn secs(&self) -> f64 {
        self.tick as f64 / TICKS_PER_SEC as f64
    }

    pub(super) fn step(&mut self) {
        self.tick += 1;
    }
}

/// Whether the room is paused: no agent moves or starts anything, while a person can continue to arrange the room.
/// Ticks during this time only process the person's input.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RoomPaused(bool);

impl RoomPaused {
    /// Whether the room is paused.
    pub fn holds(self) -> bool {
        self.0
    }
}

/// A person pauses or resumes the room.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SetRoomPaused {
    /// Whether to pause.
    pub on: bool,
}

impl Input for SetRoomPaused {
    const KIND: &'static str = "standstill";
}

/// A run condition: whether the room is not paused.
pub fn room_not_paused(standstill: Res<RoomPaused>) -> bool {
    !standstill.holds()
}

pub(super) fn apply_standstill(mut wishes: MessageReader<SetRoomPaused>, mut standstill: ResMut<RoomPaused>) {
    for wish in wishes.read() {
        standstill.0 = wish.on;
    }
}

/// The saved state of the clock.
#[derive(Serialize, Deserialize)]
pub(super) struct ClockSaved {
    tick: u64,
    seed: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stands_still: bool,
}

impl Section for ClockSaved {
    const NAME: &'static str = "clock";

    fn save(world: &mut World) -> Self {
        Self {
            tick: world.resource::<SimClock>().tick,
            seed: world.resource::<super::RoomSeed>().0,
            stands_still: world.resource::<RoomPaused>().holds(),
        }
    }

    fn load(self, world: &mut World) {
        world.resource_mut::<SimClock>().tick = self.tick;
        world.resource_mut::<super::RoomSeed>().0 = self.seed;
        world.insert_resource(RoomPaused(self.stands_still));
    }
}
