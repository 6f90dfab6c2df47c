//! The event log as systems see it: writing a draft immediately returns its [`Seq`], so that other records can name it
//! as their cause.

use std::time::{SystemTime, UNIX_EPOCH};

use bevy::ecs::prelude::*;

use super::event::{EventDraft, EventRecord};
use crate::base::{Id, Seq};

/// Collects the records of a tick until [`crate::schedule::WorkshopSystems::Record`] sends them to the writer.
#[derive(Resource, Debug)]
pub struct EventLog {
    run: Id,
    tick: u64,
    time_ms: u64,
    next_seq: u64,
    unwritten: Vec<EventRecord>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self { run: "r-0".into(), tick: 0, time_ms: 0, next_seq: 1, unwritten: Vec::new() }
    }
}

impl EventLog {
    /// Creates a log for this run, whose first record gets the number `first_seq`.
    pub fn new(run: Id, first_seq: Seq) -> Self {
        Self { run, next_seq: first_seq.0, time_ms: now_ms(), ..Self::default() }
    }

    /// Sets the tick for a room that continues.
    pub fn at_tick(mut self, tick: u64) -> Self {
        self.tick = tick;
        self
    }

    /// Returns the current run.
    pub fn run(&self) -> &Id {
        &self.run
    }

    /// Returns the number of the next record.
    pub fn next_seq(&self) -> Seq {
        Seq(self.next_seq)
    }

    /// Appends a record and returns its sequence number.
    pub fn write(&mut self, draft: EventDraft) -> Seq {
        let seq = Seq(self.next_seq);
        self.next_seq += 1;
        self.unwritten.push(EventRecord { seq, tick: self.tick, time_ms: self.time_ms, run: self.run.clone(), draft });
        seq
    }

    /// Returns the records that were not taken yet.
    pub fn unwritten(&self) -> &[EventRecord] {
        &self.unwritten
    }

    /// Removes and returns the records that were not taken yet.
    pub fn take(&mut self) -> Vec<EventRecord> {
        std::mem::take(&mut self.unwritten)
    }

    /// Drops the oldest records beyond this many, for a room whose log is not stored.
    pub fn keep_newest(&mut self, count: usize) {
        let surplus = self.unwritten.len().saturating_sub(count);
        self.unwritten.drain(..surplus);
    }

    /// Sets the tick and time of the following records; the wall clock is read once per tick, only here.
    pub fn stamp(&mut self, tick: u64) {
        self.tick = tick;
        self.time_ms = now_ms();
    }
}

/// Returns the wall-clock time in milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}
