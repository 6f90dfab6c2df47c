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
use crate::schedule::{Door, InputJournal};
use crate::store::{EventDraft, EventKind, EventLog};

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

    /// Waits for the next answer, at most so long; `false` if none came.
    fn wait(&mut self, timeout: Duration) -> bool {
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
pub fn must_wait(world: &mut World) -> bool {
    if world.resource::<InputJournal>().is_replaying() {
        return false;
    }
    world.resource_scope(|world, mut line: Mut<FileLine>| {
        line.take_in();
        line.send(world.resource::<FilesUnderWay>());
        line.owes()
    })
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

/// Takes up the orders of this tick and sends them. In the last phase, so that an order that any floor gives in a
/// tick is sent in that tick.
pub(in crate::workspace) fn send(
    mut orders: MessageReader<FileOrder>,
    mut under_way: ResMut<FilesUnderWay>,
    mut line: ResMut<FileLine>,
    limits: Res<FileLimits>,
    journal: Res<InputJournal>,
) {
    under_way.0.extend(orders.read().cloned());
    if journal.is_replaying() {
        return;
    }
    line.limits_due |= limits.is_changed();
    if line.limits_due {
        line.limits_due = line.desk.as_ref().is_some_and(|desk| !desk.set_limits(limits.clone()));
    }
    line.send(&under_way);
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
    for OutsideChange { path, version, is_gone } in changes {
        let mut data = json!({ "path": path, "by": OUTSIDE });
        if version > 0 {
            data["version"] = version.into();
        }
        if is_gone {
            data["gone"] = true.into();
        }
        world.resource_mut::<EventLog>().write(EventDraft::new(EventKind::FileChange, data));
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
    if !is_record {
        let draft = about(outcome, EventDraft::new(EventKind::FileChange, data));
        let seq = world.resource_mut::<EventLog>().write(draft);
        if !conflict_with.is_empty() {
            let what = "a file changed that others have read since its writer did";
            let data = json!({ "what": what, "path": path, "writer": by, "readers": conflict_with });
            let draft = about(outcome, EventDraft::new(EventKind::Warning, data)).cause(seq);
            world.resource_mut::<EventLog>().write(draft);
        }
    }
    match done {
        FileDone::Written { path, content: Some(text), .. } => take_in_written(world, path, Some(text.clone())),
        FileDone::Written { .. } => {}
        FileDone::Deleted { path } => take_in_gone(world, path),
        FileDone::Renamed { from, to, content } => {
            take_in_gone(world, from);
            if let Some(text) = content {
                take_in_written(world, to, Some(text.clone()));
            }
        }
    }
}

fn take_in_gone(world: &mut World, path: &str) {
    if layout::matters(path) {
        take_in_written(world, path, None);
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
