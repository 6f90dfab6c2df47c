//! How the threads of an outside report: through a bounded channel that wakes whoever drives the world, and so that an
//! order that nobody works on any more is noticed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bevy::ecs::prelude::*;
use crossbeam_channel::{Receiver, Sender, bounded};

use super::Outside;

/// The maximum number of reports of one outside that wait for the world; more make the reporting thread wait.
pub(super) const MAX_REPORTS: usize = 1024;
/// The reports above which [`Reporter::report_if_room`] drops what may be lost, because final reports need room.
const ROOM_FOR_FINAL_REPORTS: usize = MAX_REPORTS / 2;

/// Wakes the thread that drives the world when something has arrived. Clones share one signal.
#[derive(Resource, Clone, Debug)]
pub struct Wakeup {
    sender: Sender<()>,
    receiver: Receiver<()>,
}

impl Default for Wakeup {
    fn default() -> Self {
        let (sender, receiver) = bounded(1);
        Self { sender, receiver }
    }
}

impl Wakeup {
    /// Says that something has arrived.
    pub fn wake(&self) {
        // If the signal is already there, it is enough.
        let _ = self.sender.try_send(());
    }

    /// Waits until something arrives, at most this long; `false` if nothing did.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.receiver.recv_timeout(timeout).is_ok()
    }

    /// The channel on which the signal arrives, to wait for it together with others.
    pub fn signal(&self) -> &Receiver<()> {
        &self.receiver
    }
}

/// The reports of one outside on their way to its driver.
pub(super) struct Reports<O: Outside> {
    sender: Sender<(O::Key, O::Report)>,
    receiver: Receiver<(O::Key, O::Report)>,
    /// The orders about which nobody can report any more.
    ended: Arc<Mutex<Vec<O::Key>>>,
    wakeup: Wakeup,
}

impl<O: Outside> Reports<O> {
    pub(super) fn new(wakeup: Wakeup) -> Self {
        let (sender, receiver) = bounded(MAX_REPORTS);
        Self { sender, receiver, ended: Arc::default(), wakeup }
    }

    pub(super) fn reporter(&self, key: O::Key) -> Reporter<O> {
        let (reports, ended, wakeup) = (self.sender.clone(), self.ended.clone(), self.wakeup.clone());
        Reporter(Arc::new(OrderLine { key, reports, ended, wakeup }))
    }

    /// Whether a report waits.
    pub(super) fn has_any(&self) -> bool {
        !self.receiver.is_empty()
    }

    /// Removes and returns what has arrived by now, and the orders about which nothing more can arrive.
    pub(super) fn take(&self) -> (Vec<(O::Key, O::Report)>, Vec<O::Key>) {
        // First the ends, so that the last report about each of them is among those taken.
        let ended = std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner));
        // Only what is there now: a thread that reports without end must not keep the tick.
        let arrived = self.receiver.try_iter().take(self.receiver.len()).collect();
        (arrived, ended)
    }
}

/// Reports about one order. When the last clone is dropped without a final report, the driver answers the order itself:
/// a thread that panics or forgets its order leaves nobody waiting.
pub struct Reporter<O: Outside>(Arc<OrderLine<O>>);

impl<O: Outside> Clone for Reporter<O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

struct OrderLine<O: Outside> {
    key: O::Key,
    reports: Sender<(O::Key, O::Report)>,
    ended: Arc<Mutex<Vec<O::Key>>>,
    wakeup: Wakeup,
}

impl<O: Outside> Drop for OrderLine<O> {
    fn drop(&mut self) {
        // Never waits: the thread of the world may be the one that drops it.
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(self.key.clone());
        self.wakeup.wake();
    }
}

impl<O: Outside> Reporter<O> {
    /// The key of the order.
    pub fn key(&self) -> &O::Key {
        &self.0.key
    }

    /// Reports something. Waits while very many reports are waiting, so it must not be called on the thread of the
    /// world.
    pub fn report(&self, report: O::Report) {
        // The world may have ended.
        let _ = self.0.reports.send((self.0.key.clone(), report));
        self.0.wakeup.wake();
    }

    /// Reports something that may be lost: it is dropped if many reports are waiting.
    pub fn report_if_room(&self, report: O::Report) {
        if self.0.reports.len() < ROOM_FOR_FINAL_REPORTS {
            self.report(report);
        }
    }
}
