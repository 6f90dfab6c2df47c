//! Drives the clock of a room: when the next tick may run, how fast, and when a snapshot is due.
//!
//! This is the only place that waits; systems never do.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::approvals;
use super::persons_clock::local_secs;
use crate::agent::Roster;
use crate::base::{Id, Seq};
use crate::gateway;
use crate::learning;
use crate::log::{EventLog, EventRecord};
use crate::schedule::saved::SavedWorld;
use crate::schedule::{
    self, DateCorrected, InputJournal, InputQueue, RoomDate, RoomOpened, RoomPaused, SetRoomPaused, SimClock, Speed,
    TICKS_PER_SEC,
};
use crate::simulation::Reacted;
use crate::store::{self, HistoryLimits, Snapshot, Store};
use crate::workspace::{self, KnownFiles, RoomStart};

/// Maximum real time that a stall of the machine advances the room.
const MAX_STALL: Duration = Duration::from_millis(100);

/// The interval in ticks (10 s of simulated time) at which the hash of the world is recorded for replays to compare
/// with.
const HASH_EVERY_TICKS: u64 = 10 * TICKS_PER_SEC;

/// Maximum duration of one wait for a reply or the disk, after which control returns to the caller.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// How long a tick with very many records waits until their numbers are reserved.
const SHOW_WITHIN: Duration = Duration::from_secs(2);

/// The room's date is corrected if it differs from the person's clock by at least this many seconds.
const DATE_OFF_SECS: i64 = 10;

/// The result of [`Driver::step`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// One tick passed.
    Ticked,
    /// A reply, a file result or the log is pending; the driver waited a little.
    Owed,
    /// The next tick is not due yet; the driver waited a little.
    Early,
    /// The clock is paused.
    Paused,
}

/// Paces the ticks of one room against real time.
#[derive(Default)]
pub struct Driver {
    next_tick_at: Option<Instant>,
    tick_length: Duration,
    last_snapshot_tick: u64,
    dates: DateKeeper,
}

/// Keeps the room's date in step with the person's clock at normal speed, however long the computer sleeps or the room
/// is paused. Time gained by running faster is kept.
#[derive(Default)]
struct DateKeeper {
    /// How far the room's date should be ahead of the person's clock, in seconds.
    ahead_secs: Option<i64>,
}

impl DateKeeper {
    /// The date that the room should have, if its date is off.
    fn correction(&mut self, date_secs: i64, shown_secs: i64) -> Option<i64> {
        let ahead = date_secs.saturating_sub(shown_secs);
        let wanted = *self.ahead_secs.get_or_insert(ahead);
        let is_off = ahead.saturating_sub(wanted).saturating_abs() >= DATE_OFF_SECS;
        is_off.then(|| shown_secs.saturating_add(wanted))
    }
}

impl Driver {
    /// Runs the next tick if it is permitted and due; otherwise waits a little and returns why.
    pub fn step(&mut self, world: &mut World) -> Step {
        let step = self.try_step(world);
        match step {
            Step::Ticked => {}
            Step::Paused => std::thread::sleep(MAX_WAIT),
            Step::Owed if gateway::must_wait(world) => {
                gateway::wait_for_reply(world, MAX_WAIT);
            }
            Step::Owed if workspace::vfs::must_wait(world) => {
                workspace::vfs::wait_for_answer(world, MAX_WAIT);
            }
            Step::Owed if learning::must_wait(world) => learning::wait_for_answer(world, MAX_WAIT),
            // The log is never dropped: the clock waits for the disk instead.
            Step::Owed => std::thread::sleep(Duration::from_millis(1)),
            Step::Early => {
                let due = self.next_tick_at.unwrap_or_else(Instant::now);
                std::thread::sleep(due.saturating_duration_since(Instant::now()).min(MAX_WAIT));
            }
        }
        step
    }

    /// Runs the next tick if it is permitted and due. Never waits, so it can be called from a frame.
    pub fn try_step(&mut self, world: &mut World) -> Step {
        let clock = world.resource::<SimClock>();
        let (speed, paused) = (clock.speed, clock.paused);
        // A paused room only processes the person's commands.
        let stands_still = world.resource::<RoomPaused>().holds();
        let has_news = schedule::any_input_waits(world) || workspace::has_news(world) || approvals::has_answers(world);
        let has_news = has_news || learning::has_news(world);
        if paused && stands_still && !has_news {
            self.next_tick_at = None;
            return Step::Paused;
        }
        if paused != stands_still && world.resource::<InputQueue<SetRoomPaused>>().is_empty() {
            world.resource_mut::<InputQueue<SetRoomPaused>>().push(SetRoomPaused { on: paused });
        }
        if let Speed::Times(times) = speed
            && self.next_tick_at.is_some_and(|due| Instant::now() < due)
        {
            self.tick_length = tick_length(times);
            gateway::poll_worker(world);
            return Step::Early;
        }
        let log_is_full = world.get_resource::<Store>().is_some_and(|store| !store.has_room());
        let must_wait = log_is_full || workspace::vfs::must_wait(world) || learning::must_wait(world);
        if must_wait || gateway::must_wait(world) || store::orders_must_wait(world) {
            return Step::Owed;
        }
        if let Speed::Times(times) = speed {
            self.note_tick(tick_length(times));
        }
        self.update_date(world, speed);
        schedule::advance(world);
        wait_to_show(world);
        let tick = world.resource::<SimClock>().tick();
        let keeps_up = world.get_resource::<Store>().is_some_and(Store::keeps_up);
        if tick.is_multiple_of(HASH_EVERY_TICKS) && keeps_up {
            note_hash(world);
        }
        let every_ticks = world.resource::<HistoryLimits>().snapshot_secs.max(1).saturating_mul(TICKS_PER_SEC);
        if tick >= self.last_snapshot_tick.saturating_add(every_ticks) && keeps_up {
            self.last_snapshot_tick = tick;
            let scene = world.resource::<RoomStart>().scene.clone();
            save_snapshot(world, &scene);
        }
        Step::Ticked
    }

    /// From now on, keeps the room's date equal to the person's clock while it runs at normal speed.
    pub fn follow_persons_clock(&mut self, world: &mut World) {
        self.dates.ahead_secs = Some(0);
        correct_date(&mut self.dates, world);
    }

    /// Checks the date once a second. At higher speeds, the date follows simulated time.
    fn update_date(&mut self, world: &mut World, speed: Speed) {
        // Wait until the date given at opening, or by a replay, has been applied.
        let is_set = world.get_resource::<InputQueue<RoomOpened>>().is_some_and(InputQueue::is_empty);
        let is_live = world.get_resource::<InputJournal>().is_none_or(|journal| !journal.is_replaying());
        if speed != Speed::Times(1) || !is_set || !is_live {
            self.dates.ahead_secs = None;
        } else if world.resource::<SimClock>().tick().is_multiple_of(TICKS_PER_SEC) {
            correct_date(&mut self.dates, world);
        }
    }

    /// Schedules the next tick as if the last one had just run: lost time is not made up for.
    pub fn reset_pacing(&mut self) {
        self.next_tick_at = Some(Instant::now() + self.tick_length);
    }

    /// The share of the time from the last tick to the next that has passed, from 0 to 1; 1 if ticks are not paced.
    pub fn share(&self) -> f32 {
        let Some(due) = self.next_tick_at.filter(|_| !self.tick_length.is_zero()) else { return 1.0 };
        let left = due.saturating_duration_since(Instant::now());
        1.0 - (left.as_secs_f32() / self.tick_length.as_secs_f32()).clamp(0.0, 1.0)
    }

    /// Schedules the next tick. At most [`MAX_STALL`] of lost time is made up for.
    fn note_tick(&mut self, length: Duration) {
        let now = Instant::now();
        let due = self.next_tick_at.unwrap_or(now);
        let is_stalled = now.saturating_duration_since(due) > MAX_STALL;
        self.next_tick_at = Some(if is_stalled { now + length } else { due + length });
        self.tick_length = length;
    }
}

fn correct_date(dates: &mut DateKeeper, world: &mut World) {
    let Some(date_secs) = world.resource::<RoomDate>().secs(world.resource::<SimClock>()) else { return };
    if let Some(local_secs) = dates.correction(date_secs, local_secs()) {
        world.resource_mut::<InputQueue<DateCorrected>>().push(DateCorrected { local_secs });
    }
}

fn tick_length(times: u32) -> Duration {
    Duration::from_secs(1) / (TICKS_PER_SEC as u32 * times.max(1))
}

/// Waits until the tick's record numbers are reserved. The caller shows the tick's events, so their numbers must never
/// be reused, even if this process is killed now. The log reserves numbers far ahead; only a tick with thousands of
/// records waits here.
fn wait_to_show(world: &World) {
    let Some(newest) = world.resource::<EventLog>().next_seq().0.checked_sub(1) else { return };
    if let Some(store) = world.get_resource::<Store>() {
        // If nothing can be written, the log reports that itself.
        let _is_reserved = store.wait_to_show(Seq(newest), SHOW_WITHIN);
    }
}

/// Records the hash of the current world, if the room has a store.
pub(super) fn note_hash(world: &mut World) {
    if world.contains_resource::<Store>() {
        let (tick, now) = (world.resource::<SimClock>().tick(), SavedWorld::of(world));
        world.resource_mut::<Store>().note_hash(tick, move || now.hash());
    }
}

/// Passes the current world to the store, if the room has one. If the store's queue is full, this snapshot is skipped:
/// the log contains everything since the last one.
pub(super) fn save_snapshot(world: &mut World, scene: &str) {
    if !world.contains_resource::<Store>() {
        return;
    }
    let (now, files) = (SavedWorld::of(world), world.resource::<KnownFiles>().clone());
    let log = world.resource::<EventLog>();
    let (run, next_seq, scene) = (log.run().clone(), log.next_seq(), scene.to_owned());
    let tick = world.resource::<SimClock>().tick();
    let compute = move || {
        let (sections, files) = (now.to_value()?, serde_json::to_value(files.all())?);
        Ok(Snapshot { scene, run, tick, next_seq, sections, files })
    };
    if !world.resource_mut::<Store>().save_snapshot(compute) {
        tracing::info!("the log was too busy for a snapshot at tick {tick}");
    }
}

/// Collects events for a caller that shows them as they happen. Without this resource, none are kept.
#[derive(Resource, Default)]
pub struct EventTap {
    events: Vec<EventRecord>,
    reactions: BTreeMap<Id, &'static str>,
    /// Whether a tick has run since the tap was inserted.
    pub has_ticked: bool,
}

impl EventTap {
    /// Whether there are events since the last [`take`](Self::take).
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The events since the last call.
    pub fn take(&mut self) -> Vec<EventRecord> {
        std::mem::take(&mut self.events)
    }

    /// The last reaction sign of each agent since the last call, by agent id.
    pub fn take_reactions(&mut self) -> BTreeMap<Id, &'static str> {
        std::mem::take(&mut self.reactions)
    }
}

/// Copies the reactions of this tick into the tap.
pub(super) fn tap_reactions(mut reacted: MessageReader<Reacted>, roster: Res<Roster>, tap: Option<ResMut<EventTap>>) {
    let Some(mut tap) = tap else { return };
    for shown in reacted.read() {
        if let Some(id) = roster.id(shown.agent) {
            tap.reactions.insert(id.clone(), shown.emoji);
        }
    }
}

/// Copies the events of this tick into the tap, before the store takes them.
pub(super) fn tap_events(log: Res<EventLog>, tap: Option<ResMut<EventTap>>) {
    if let Some(mut tap) = tap {
        tap.has_ticked = true;
        tap.events.extend_from_slice(log.unwritten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_corrected_after_sleep_or_a_clock_change_only() {
        let mut dates = DateKeeper::default();
        assert_eq!(dates.correction(1_000, 1_000), None);
        assert_eq!(dates.correction(1_060, 1_065), None, "a slow computer");
        assert_eq!(dates.correction(1_070, 8_270), Some(8_270), "two hours of sleep");
        assert_eq!(dates.correction(8_271, 4_671), Some(4_671), "set back by an hour");
        assert_eq!(dates.correction(4_672, 4_672), None);
    }

    #[test]
    fn time_gained_by_running_faster_is_kept() {
        let mut dates = DateKeeper::default();
        assert_eq!(dates.correction(5_000, 1_000), None);
        assert_eq!(dates.correction(5_001, 1_001), None);
        assert_eq!(dates.correction(5_002, 2_000), Some(6_000), "asleep meanwhile");
    }
}
