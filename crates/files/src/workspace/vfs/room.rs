//! Files in the world: orders go out over a line at the end of a tick, answers come in through the one door, and
//! what they changed is known in the same tick.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bevy::ecs::message::{MessageCursor, Messages};
use bevy::ecs::prelude::*;
use serde_json::json;

use super::super::layout;
use super::super::room::take_in_written;
use super::OUTSIDE;
use super::limits::FileLimits;
use super::order::{FileAnswer, FileDone, FileFailure, FileOrder, FileOutcome};
use super::outside::OutsideChange;
use super::person::FilesTold;
use super::readers::is_agent;
use super::saved::FilesUnderWay;
use super::thread::FileDesk;
use crate::base::Id;
use crate::log::{EventDraft, EventKind, EventLog};
use crate::schedule::{Door, InputJournal};
use crate::store::Store;

/// How often is looked whether the log has written what orders wait for.
const LOG_LOOK: Duration = Duration::from_millis(1);
/// At most so many edits of others come in at one tick.
const MAX_NEWS_PER_TICK: usize = 100;

/// The line between the world and the desk that has the files. Nothing of it is saved; what it decides comes into
/// the world through the door. Without a desk, orders wait.
#[derive(Resource, Default)]
pub struct FileLine {
    desk: Option<FileDesk>,
    /// So many of the orders under way, from the oldest on, were sent: the desk answers in order.
    sent: usize,
    /// Of those, so many have no answer yet.
    owed: usize,
    arrived: VecDeque<FileOutcome>,
    /// Whether the desk must still be told the limits.
    limits_due: bool,
}

impl FileLine {
    /// A line to this desk.
    pub fn new(desk: FileDesk) -> Self {
        Self { desk: Some(desk), ..Self::default() }
    }

    /// The desk, for asking it to look at files.
    pub fn desk(&self) -> Option<&FileDesk> {
        self.desk.as_ref()
    }

    /// Whether an answer is still to come.
    pub fn owes(&self) -> bool {
        self.owed > 0
    }

    /// Whether something has come that is not at the door yet.
    pub(in crate::workspace) fn has_news(&self) -> bool {
        self.owed > 0 || !self.arrived.is_empty() || self.desk.as_ref().is_some_and(FileDesk::has_news)
    }

    /// Sends what was not sent yet, in order, as far as there is room.
    fn send(&mut self, under_way: &FilesUnderWay) {
        let Some(desk) = &self.desk else { return };
        for order in under_way.0.iter().skip(self.sent) {
            if desk.send(order.clone()).is_err() {
                break;
            }
            self.sent += 1;
            self.owed += 1;
        }
        if desk.is_dead() {
            self.give_up(under_way);
        }
    }

    /// Takes in what the desk has answered, without waiting.
    fn take_in(&mut self) {
        while let Some(outcome) = self.desk.as_ref().and_then(FileDesk::try_next) {
            self.hear(outcome);
        }
    }

    /// Whether there are orders that were not sent and could be.
    fn has_unsent(&self, under_way: &FilesUnderWay) -> bool {
        self.desk.is_some() && self.sent < under_way.0.len()
    }

    /// Waits for the next answer, at most so long; `false` if none came.
    fn wait(&mut self, timeout: Duration) -> bool {
        if self.owed == 0 {
            // What is to be sent waits for the log, which takes a moment.
            std::thread::sleep(timeout.min(LOG_LOOK));
            return false;
        }
        let Some(outcome) = self.desk.as_ref().and_then(|desk| desk.next(timeout)) else { return false };
        self.hear(outcome);
        self.take_in();
        true
    }

    fn hear(&mut self, outcome: FileOutcome) {
        self.owed = self.owed.saturating_sub(1);
        self.arrived.push_back(outcome);
    }

    /// Answers what the desk will not answer any more.
    fn give_up(&mut self, under_way: &FilesUnderWay) {
        self.take_in();
        for order in under_way.0.iter().skip(self.sent - self.owed) {
            let what = "the thread that has the files has stopped; nothing is lost, start the workshop again.";
            self.arrived.push_back(FileOutcome {
                key: order.key.clone(),
                author: order.author.clone(),
                activation: order.activation.clone(),
                result: Err(FileFailure { what: what.to_owned(), is_refusal: false }),
                cause: order.cause,
            });
        }
        (self.sent, self.owed) = (under_way.0.len(), 0);
    }
}

/// Whether the next tick must not run yet: an answer about files is owed, and it comes in with the tick after the
/// one that asked. Nothing is owed on replay.
///
/// An order is sent once the tick that gave it is in the log, with the reply that asked for it: whatever stops the
/// process, or the power, no file is changed by something that the room does not remember.
pub fn must_wait(world: &mut World) -> bool {
    if world.resource::<InputJournal>().is_replaying() {
        return false;
    }
    let is_recorded = world.get_resource::<Store>().is_none_or(Store::has_written_all);
    world.resource_scope(|world, mut line: Mut<FileLine>| {
        let under_way = world.resource::<FilesUnderWay>();
        line.take_in();
        if is_recorded {
            line.send(under_way);
        }
        line.owes() || (!is_recorded && line.has_unsent(under_way))
    })
}

/// Sends what was ordered, waiting for the log at most so long: for whoever closes a room. What was not sent then is
/// sent when the room goes on.
pub fn send_all(world: &mut World, timeout: Duration) {
    let until = Instant::now() + timeout;
    while must_wait(world)
        && world.resource::<FileLine>().has_unsent(world.resource::<FilesUnderWay>())
        && Instant::now() < until
    {
        std::thread::sleep(LOG_LOOK);
    }
}

/// Waits until the desk says something, at most so long; `false` if it said nothing.
pub fn wait_for_answer(world: &mut World, timeout: Duration) -> bool {
    world.resource_mut::<FileLine>().wait(timeout)
}

/// Waits until the next tick may run, at most so long; `false` if it still may not.
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

/// Moves what the desk says to the door.
pub(in crate::workspace) fn collect(
    mut line: ResMut<FileLine>,
    journal: Res<InputJournal>,
    mut outcomes: ResMut<Door<FileOutcome>>,
    mut changes: ResMut<Door<OutsideChange>>,
) {
    if journal.is_replaying() {
        return;
    }
    line.take_in();
    line.arrived.drain(..).for_each(|outcome| outcomes.push(outcome));
    let news = line.desk.as_ref().map(|desk| desk.take_news(MAX_NEWS_PER_TICK)).unwrap_or_default();
    news.into_iter().for_each(|change| changes.push(change));
}

/// Takes up the orders of this tick. In the last phase, so that an order that any floor gives in a tick is sent after
/// that tick; where nothing is recorded, it is sent at once.
pub(in crate::workspace) fn send(
    mut orders: MessageReader<FileOrder>,
    mut under_way: ResMut<FilesUnderWay>,
    mut line: ResMut<FileLine>,
    limits: Res<FileLimits>,
    journal: Res<InputJournal>,
    store: Option<Res<Store>>,
) {
    under_way.0.extend(orders.read().cloned());
    if journal.is_replaying() {
        return;
    }
    line.limits_due |= limits.is_changed();
    if line.limits_due {
        line.limits_due = line.desk.as_ref().is_some_and(|desk| !desk.set_limits(limits.clone()));
    }
    if store.is_none() {
        line.send(&under_way);
    }
}

/// What was read of the messages about files.
#[derive(Default)]
pub(in crate::workspace) struct FilesRead {
    outcomes: MessageCursor<FileOutcome>,
    changes: MessageCursor<OutsideChange>,
}

/// Takes in how orders went and what others did: keeps the record, and tells the room what it must know.
pub(in crate::workspace) fn take_in(world: &mut World, read: &mut FilesRead) {
    let changes: Vec<OutsideChange> = read.changes.read(world.resource::<Messages<OutsideChange>>()).cloned().collect();
    for OutsideChange { path, version, is_gone, displaced_by } in changes {
        let mut data = json!({ "path": path, "by": OUTSIDE });
        if version > 0 {
            data["version"] = version.into();
        }
        if is_gone {
            data["gone"] = true.into();
        }
        let seq = world.resource_mut::<EventLog>().write(EventDraft::new(EventKind::FileChange, data));
        if let Some(by) = displaced_by {
            let what =
                format!("{by} replaced an edit made outside before seeing it; the edit is kept as version {version}");
            let remedy = "compare the two versions of the file, and restore that one if it is the right one";
            let data = json!({ "place": path, "what": what, "remedy": remedy, "version": version });
            world.resource_mut::<EventLog>().write(EventDraft::new(EventKind::Warning, data).cause(seq));
        }
    }
    let outcomes: Vec<FileOutcome> = read.outcomes.read(world.resource::<Messages<FileOutcome>>()).cloned().collect();
    for outcome in outcomes {
        let mut under_way = world.resource_mut::<FilesUnderWay>();
        if let Some(at) = under_way.0.iter().position(|order| order.key == outcome.key) {
            under_way.0.remove(at);
            let mut line = world.resource_mut::<FileLine>();
            if at < line.sent {
                line.sent -= 1;
            }
        }
        if outcome.author.is_user() {
            world.resource_mut::<FilesTold>().note(&outcome);
            if let Err(failure) = &outcome.result {
                let data = json!({ "what": failure.what, "by": "user", "order": outcome.key });
                world.resource_mut::<EventLog>().write(EventDraft::new(EventKind::Warning, data));
            }
        }
        if let Ok(FileAnswer::Changed { done, conflict_with }) = &outcome.result {
            take_in_change(world, &outcome, done, conflict_with);
        }
    }
}

fn take_in_change(world: &mut World, outcome: &FileOutcome, done: &FileDone, conflict_with: &[Id]) {
    let by = &outcome.author.0;
    let (path, data) = match done {
        FileDone::Written { path, version, chars, is_new, .. } => {
            let mut data = json!({ "path": path, "by": by, "chars": chars, "new": is_new });
            if *version > 0 {
                data["version"] = (*version).into();
            }
            (path, data)
        }
        FileDone::Deleted { path } => (path, json!({ "path": path, "by": by, "gone": true })),
        FileDone::Renamed { from, to, .. } => (to, json!({ "path": to, "by": by, "from": from })),
    };
    // The program's own records are written with every word of a session: that is no news.
    let is_record = path.starts_with("sessions/");
    let mut record = None;
    if !is_record {
        let draft = about(outcome, EventDraft::new(EventKind::FileChange, data));
        let seq = world.resource_mut::<EventLog>().write(draft);
        record = Some(seq);
        if !conflict_with.is_empty() {
            let what = "a file changed that others have read since its writer did";
            let data = json!({ "what": what, "path": path, "writer": by, "readers": conflict_with });
            let draft = about(outcome, EventDraft::new(EventKind::Warning, data)).cause(seq);
            world.resource_mut::<EventLog>().write(draft);
        }
    }
    let mut take_in = |path: &str, text: Option<&String>| {
        if layout::matters(path) {
            take_in_written(world, path, text.cloned(), &outcome.author, record);
        }
    };
    match done {
        FileDone::Written { path, content: Some(text), .. } => take_in(path, Some(text)),
        FileDone::Written { .. } => {}
        FileDone::Deleted { path } => take_in(path, None),
        FileDone::Renamed { from, to, content } => {
            take_in(from, None);
            if let Some(text) = content {
                take_in(to, Some(text));
            }
        }
    }
}

fn about(outcome: &FileOutcome, draft: EventDraft) -> EventDraft {
    let draft = draft.cause(outcome.cause);
    let draft = if is_agent(&outcome.author) { draft.agent(&outcome.author.0) } else { draft };
    match &outcome.activation {
        Some(activation) => draft.activation(activation),
        None => draft,
    }
}

#[cfg(test)]
#[path = "room_tests.rs"]
mod tests;
