//! The bridge between the world and the file service: orders are sent at the end of a tick; answers, saves and external
//! changes enter as inputs.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::super::files::FileChanged;
use super::limits::FileLimits;
use super::order::{FileFailure, FileOperation, FileOrder, FileOutcome};
use super::pending_orders::PendingFileOrders;
use super::saving::{SaveOrder, not_recorded};
use super::service::FileService;
use super::service_events::{OutsideChange, RecordChanged, SaveReport, ServiceEvent};
use crate::base::{Id, Problem};
use crate::schedule::{InputJournal, InputQueue};
use crate::store::Store;

/// The interval at which a waiting bridge checks whether the log has written the tick that issued an order.
const LOG_LOOK: Duration = Duration::from_millis(1);
/// The maximum time for handing over the last records of a room.
const MAX_HAND_OVER: Duration = Duration::from_secs(10);
/// The maximum number of events per tick.
const MAX_EVENTS_PER_TICK: usize = 500;

/// The bridge to the file service. It is not part of the saved world; everything that arrives over it enters the world
/// as an input. Without a service, orders wait.
#[derive(Resource, Default)]
pub struct FileBridge {
    service: Option<FileService>,
    /// The number of pending orders that were sent: the oldest ones, because the service answers in order.
    sent: usize,
    /// The number of sent operations that have no answer yet.
    owed: usize,
    arrived: VecDeque<FileOutcome>,
    /// The last records of the room that were handed over: the path of each, by the key of its order.
    last_records: BTreeMap<Id, String>,
    /// Whether the limits must still be sent to the service.
    limits_due: bool,
}

impl FileBridge {
    /// Creates a bridge to `service`.
    pub fn new(service: FileService) -> Self {
        Self { service: Some(service), ..Self::default() }
    }

    /// Returns the service, for example to ask it to examine files.
    pub fn service(&self) -> Option<&FileService> {
        self.service.as_ref()
    }

    /// Whether the service still owes an answer.
    pub fn has_pending(&self) -> bool {
        self.owed > 0
    }

    /// Whether the service has reported something that is not in the inbox yet.
    fn has_events(&self) -> bool {
        self.owed > 0 || !self.arrived.is_empty() || self.service.as_ref().is_some_and(FileService::has_news)
    }

    /// Requests that one of the room's texts be saved; without a service, nothing happens. Never waits.
    pub(in crate::workspace) fn save(&self, path: &str, order: SaveOrder) {
        if let Some(service) = &self.service {
            service.save(path, order);
        }
    }

    /// Waits until all operations are on disk, and returns a problem for each one that is not.
    pub(in crate::workspace) fn flush(&mut self) -> Vec<Problem> {
        let Some(service) = self.service.take() else { return Vec::new() };
        let problems = service.flush(|outcome| self.receive(outcome));
        self.service = Some(service);
        problems
    }

    /// Completes all orders and stops the service. Returns a problem for each text that could not be saved.
    pub fn close(self) -> Vec<Problem> {
        let failed = self.arrived.iter().filter_map(|outcome| {
            Some(not_recorded(self.last_records.get(&outcome.key)?, outcome.result.as_ref().err()?))
        });
        let mut problems: Vec<Problem> = failed.collect();
        problems.extend(self.service.map(FileService::close).unwrap_or_default());
        problems
    }

    /// Records that the order at index `at` was answered and removed.
    pub(in crate::workspace) fn note_answer(&mut self, at: usize) {
        if at < self.sent {
            self.sent -= 1;
        }
    }

    /// Sends the orders that were not sent yet, in order, until the queue of the service is full.
    fn send(&mut self, under_way: &PendingFileOrders) {
        let Some(service) = &self.service else { return };
        for order in under_way.0.iter().skip(self.sent) {
            if service.send(order.clone()).is_err() {
                break;
            }
            self.sent += 1;
            self.owed += 1;
        }
        if service.is_dead() {
            self.give_up(under_way);
        }
    }

    /// Receives all available answers, without waiting.
    fn receive_all(&mut self) {
        while let Some(outcome) = self.service.as_ref().and_then(FileService::try_next) {
            self.receive(outcome);
        }
    }

    /// Whether there are unsent orders that could be sent now.
    fn has_unsent(&self, under_way: &PendingFileOrders) -> bool {
        self.service.is_some() && self.sent < under_way.0.len()
    }

    /// Waits for the next answer, at most `timeout`; `false` if none came.
    fn wait(&mut self, timeout: Duration) -> bool {
        if self.owed == 0 {
            // Unsent orders wait for the log, which takes a moment.
            std::thread::sleep(timeout.min(LOG_LOOK));
            return false;
        }
        let Some(outcome) = self.service.as_ref().and_then(|service| service.next(timeout)) else { return false };
        self.receive(outcome);
        self.receive_all();
        true
    }

    fn receive(&mut self, outcome: FileOutcome) {
        self.owed = self.owed.saturating_sub(1);
        self.arrived.push_back(outcome);
    }

    /// Answers orders that the service will not answer any more with a failure.
    fn give_up(&mut self, under_way: &PendingFileOrders) {
        self.receive_all();
        for order in under_way.0.iter().skip(self.sent - self.owed) {
            let what = "the file thread has stopped; nothing is lost, restart the program.";
            self.arrived.push_back(FileOutcome {
                key: order.key.clone(),
                author: order.author.clone(),
                activation: order.activation.clone(),
                result: Err(FileFailure { what: what.to_owned(), is_refusal: false }),
                cause: order.cause,
                worktree: None,
                restores: false,
            });
        }
        (self.sent, self.owed) = (under_way.0.len(), 0);
    }
}

/// Whether the service has results that the world has not received, or orders still have to be sent to it. A paused
/// room must not keep a person waiting for file operations.
pub fn has_news(world: &World) -> bool {
    let under_way = world.resource::<PendingFileOrders>();
    world.get_resource::<FileBridge>().is_some_and(|bridge| bridge.has_events() || bridge.has_unsent(under_way))
}

/// Whether the next tick must wait: the answer to a file operation belongs to the tick after the one that requested it.
/// On replay, nothing waits.
///
/// An order is sent only once the log contains the tick that issued it, together with the reply that asked for it. So
/// even if the process is killed or the power fails, no file is changed by an order that the room does not remember.
pub fn must_wait(world: &mut World) -> bool {
    if world.resource::<InputJournal>().is_replaying() {
        return false;
    }
    let is_recorded = world.get_resource::<Store>().is_none_or(Store::has_written_all);
    world.resource_scope(|world, mut bridge: Mut<FileBridge>| {
        let under_way = world.resource::<PendingFileOrders>();
        bridge.receive_all();
        if is_recorded {
            bridge.send(under_way);
        }
        bridge.has_pending() || (!is_recorded && bridge.has_unsent(under_way))
    })
}

/// Sends all orders before a room is closed, waiting for the log at most `timeout`. Unsent orders are sent when the
/// room is opened again.
pub fn send_all(world: &mut World, timeout: Duration) {
    let until = Instant::now() + timeout;
    while must_wait(world)
        && world.resource::<FileBridge>().has_unsent(world.resource::<PendingFileOrders>())
        && Instant::now() < until
    {
        std::thread::sleep(LOG_LOOK);
    }
}

/// Passes the last records of a room to the file service before the room is closed. `false` if some could not be
/// passed.
pub fn hand_over(world: &mut World, records: Vec<FileOrder>) -> bool {
    let mut bridge = world.resource_mut::<FileBridge>();
    let until = Instant::now() + MAX_HAND_OVER;
    for mut record in records {
        if let FileOperation::Record { path, .. } = &record.operation {
            bridge.last_records.insert(record.key.clone(), path.clone());
        }
        loop {
            let Some(service) = bridge.service() else { return true };
            let Err(refused) = service.send(record) else { break };
            if service.is_dead() || Instant::now() >= until {
                return false;
            }
            record = *refused;
            // Receiving answers makes room in the queue.
            bridge.receive_all();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    true
}

/// Waits for a report of the service, at most `timeout`; `false` if there was none.
pub fn wait_for_answer(world: &mut World, timeout: Duration) -> bool {
    world.resource_mut::<FileBridge>().wait(timeout)
}

/// Waits until the next tick may run, at most `timeout`; `false` if it still may not.
pub fn wait_before_tick(world: &mut World, timeout: Duration) -> bool {
    let until = Instant::now() + timeout;
    while must_wait(world) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        wait_for_answer(world, left);
    }
    true
}

/// The reports of the file service are in the inputs.
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct FileReportsReceived;

/// Moves what the service reports into the inbox.
pub(in crate::workspace) fn collect(
    mut bridge: ResMut<FileBridge>,
    journal: Res<InputJournal>,
    mut outcomes: ResMut<InputQueue<FileOutcome>>,
    mut saves: ResMut<InputQueue<SaveReport>>,
    mut changes: ResMut<InputQueue<FileChanged>>,
    (mut others, mut records): (ResMut<InputQueue<OutsideChange>>, ResMut<InputQueue<RecordChanged>>),
) {
    if journal.is_replaying() {
        return;
    }
    bridge.receive_all();
    bridge.arrived.drain(..).for_each(|outcome| outcomes.push(outcome));
    for news in bridge.service.as_ref().map(|service| service.take_events(MAX_EVENTS_PER_TICK)).unwrap_or_default() {
        match news {
            ServiceEvent::Changed(change) => changes.push(change),
            ServiceEvent::Outside(change) => others.push(change),
            ServiceEvent::Record(change) => records.push(change),
            ServiceEvent::Saved(report) => saves.push(report),
        }
    }
}

/// Sends the operations of this tick. Runs in the last phase, so that the operations of every layer are included. If
/// the room has no log, they are sent at once.
pub(in crate::workspace) fn send(
    mut orders: MessageReader<FileOrder>,
    mut under_way: ResMut<PendingFileOrders>,
    mut bridge: ResMut<FileBridge>,
    limits: Res<FileLimits>,
    journal: Res<InputJournal>,
    store: Option<Res<Store>>,
) {
    under_way.0.extend(orders.read().cloned());
    if journal.is_replaying() {
        // A replay changes no file.
        rule!("a-replay-changes-no-file");
        return;
    }
    bridge.limits_due |= limits.is_changed();
    if bridge.limits_due {
        bridge.limits_due = bridge.service.as_ref().is_some_and(|service| !service.set_limits(limits.clone()));
    }
    if store.is_none() {
        bridge.send(&under_way);
    }
}

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod tests;
