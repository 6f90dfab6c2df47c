//! The clock of a call: the time that it has run and waited, and whether it must stop.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::limits::EngineLimits;

/// Why a call is stopped from outside of its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    Cancelled,
    RunLimit,
    WaitLimit,
    /// It waits for something that can never happen.
    NeverSettles,
}

/// The state that the thread of a call and its caller share.
#[derive(Default, Debug)]
pub(super) struct Pulse {
    is_cancelled: AtomicBool,
    has_ended: AtomicBool,
    /// The time by which the code must return; `None` while it waits or has ended.
    due: Mutex<Option<Instant>>,
}

impl Pulse {
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Records that the thread has ended.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due.lock().map_or(None, |due| *due)
    }

    fn set_due(&self, at: Option<Instant>) {
        if let Ok(mut due) = self.due.lock() {
            *due = at;
        }
    }
}

/// The clock of a call.
pub(super) struct Clock {
    pulse: Arc<Pulse>,
    run_limit: Duration,
    wait_limit: Duration,
    begun: Cell<Instant>,
    ran: Cell<Duration>,
    waited: Cell<Duration>,
    running_since: Cell<Option<Instant>>,
    stop: Cell<Option<Stop>>,
}

impl Clock {
    pub(super) fn new(pulse: Arc<Pulse>, limits: &EngineLimits) -> Self {
        Self {
            pulse,
            run_limit: limits.run,
            wait_limit: limits.wait,
            begun: Cell::new(Instant::now()),
            ran: Cell::default(),
            waited: Cell::default(),
            running_since: Cell::default(),
            stop: Cell::default(),
        }
    }

    /// Records that the code starts running.
    pub(super) fn run(&self) {
        let now = Instant::now();
        self.running_since.set(Some(now));
        self.pulse.set_due(Some(now + self.run_limit.saturating_sub(self.ran.get())));
    }

    /// Records that the code stops running.
    pub(super) fn rest(&self) {
        self.ran.set(self.ran());
        self.running_since.set(None);
        self.pulse.set_due(None);
    }

    /// Begins the call now, in a runtime that was created earlier.
    pub(super) fn begin(&self) {
        self.begun.set(Instant::now());
    }

    /// Records that code of a long-lived runtime starts running for an order that has already run for this time.
    pub(super) fn run_on(&self, ran: Duration) {
        self.ran.set(ran);
        self.waited.set(Duration::ZERO);
        self.run();
    }

    pub(super) fn ran(&self) -> Duration {
        self.ran.get() + self.running_since.get().map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn waited(&self) -> Duration {
        self.waited.get()
    }

    pub(super) fn add_waited(&self, time: Duration) {
        self.waited.set(self.waited.get() + time);
    }

    /// Returns how much longer it may wait.
    pub(super) fn wait_left(&self) -> Duration {
        self.wait_limit.saturating_sub(self.waited.get())
    }

    /// Returns the time since the call began, both waiting and running.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.get().elapsed()
    }

    pub(super) fn stop(&self, why: Stop) {
        self.stop.set(self.stop.get().or(Some(why)));
    }

    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stop.get()
    }

    /// Whether the code must end now. The engine calls this frequently while code runs.
    pub(super) fn must_stop(&self) -> bool {
        if self.stop.get().is_none() {
            if self.pulse.is_cancelled() {
                self.stop(Stop::Cancelled);
            } else if self.ran() >= self.run_limit {
                self.stop(Stop::RunLimit);
            }
        }
        self.stop.get().is_some()
    }
}
