//! Failed writes by the room itself: sessions, workflow progress, archived blackboards. A person is notified once per
//! folder; the write is retried until it succeeds, and then the person is notified again.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::problems::ProblemReport;
use super::vfs::{FileFailure, FileOperation, FileOrder, PendingFileOrders};
use crate::base::paths::folder_of;
use crate::base::{Id, Problem};
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::schedule::{Section, SimClock, TICKS_PER_SEC};

/// The delay before the first retry, in seconds of simulated time.
const RETRY_SECS: u64 = 5;
/// The longest delay between retries.
const MAX_RETRY_SECS: u64 = 60;
/// The maximum number of files that wait to be written again.
const MAX_WAITING: usize = 200;
/// The maximum total size of their texts in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The remedy while all failed writes are being retried.
const REMEDY: &str = "check that the folder is writable and that the disk is not full; saving is retried";
/// The remedy if some failed writes were dropped.
const REMEDY_LOST: &str = "check that the folder is writable and that the disk is not full; too much is waiting \
    already, so this is not retried";

/// A text that must still be written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Waiting {
    order: FileOrder,
    /// The number of attempts so far.
    tries: u32,
    /// The tick of the next attempt.
    due: u64,
}

/// Failed writes of the room, by path. Part of the saved world. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FailedWrites {
    waiting: BTreeMap<String, Waiting>,
    /// The last problem that was reported to the person for each folder.
    told: BTreeMap<String, Problem>,
}

/// A message to the person.
#[derive(Clone, PartialEq, Debug)]
enum FolderNotice {
    /// Writes to this folder fail.
    Fails(String, Problem),
    /// Writes to this folder succeed again.
    Works(String),
}

impl FailedWrites {
    /// Records a failed write.
    fn note_failure(&mut self, order: &FileOrder, failure: &FileFailure, now: u64) -> Option<FolderNotice> {
        let path = room_write(order)?;
        let folder = folder_of(path);
        let tries = self.waiting.remove(path).map_or(0, |before| before.tries).saturating_add(1);
        let bytes: usize = self.waiting.values().map(|one| bytes_of(&one.order)).sum();
        let has_room = self.waiting.len() < MAX_WAITING && bytes + bytes_of(order) <= MAX_BYTES;
        if has_room {
            let secs = RETRY_SECS.saturating_mul(1 << (tries - 1).min(8)).min(MAX_RETRY_SECS);
            let waiting = Waiting { order: order.clone(), tries, due: now + secs * TICKS_PER_SEC };
            self.waiting.insert(path.to_owned(), waiting);
        }
        let remedy = if has_room { REMEDY } else { REMEDY_LOST };
        let problem = Problem::error(path, format!("could not be written: {}", failure.what), remedy);
        // Only the first failed file of a folder is reported.
        if self.told.get(folder).is_some_and(|told| told.remedy == remedy && (told.place != path || *told == problem)) {
            return None;
        }
        self.told.insert(folder.to_owned(), problem.clone());
        Some(FolderNotice::Fails(folder.to_owned(), problem))
    }

    /// Records a successful write.
    fn note_written(&mut self, order: &FileOrder) -> Option<FolderNotice> {
        let path = room_write(order)?;
        let folder = folder_of(path);
        self.waiting.remove(path);
        let is_over = !self.waiting.keys().any(|waiting| folder_of(waiting) == folder);
        let told = is_over.then(|| self.told.remove(folder)).flatten();
        told.map(|_| FolderNotice::Works(folder.to_owned()))
    }

    /// Returns the writes to retry now, each under a new key.
    fn take_due(&mut self, now: u64, is_under_way: impl Fn(&str) -> bool) -> Vec<FileOrder> {
        let mut due = Vec::new();
        for (path, one) in self.waiting.iter_mut().filter(|(_, one)| one.due <= now) {
            // Not again before this is answered.
            one.due = now + MAX_RETRY_SECS * TICKS_PER_SEC;
            if !is_under_way(path) {
                let key = one.order.key.split(AGAIN).next().unwrap_or_default();
                let key: Id = format!("{key}{AGAIN}{}", one.tries).into();
                due.push(FileOrder { key, ..one.order.clone() });
            }
        }
        due
    }
}

/// Separates the key of an operation from the number of attempts.
const AGAIN: &str = "~again-";

/// Returns the path that the room writes on its own behalf with this order; `None` for other orders.
fn room_write(order: &FileOrder) -> Option<&str> {
    match &order.operation {
        FileOperation::Record { path, .. } => Some(path),
        FileOperation::Write { path, .. } if order.is_save_of_room() => Some(path),
        _ => None,
    }
}

fn bytes_of(order: &FileOrder) -> usize {
    match &order.operation {
        FileOperation::Record { content, .. } => content.len(),
        FileOperation::Write { content, .. } => content.len(),
        _ => 0,
    }
}

/// Records the result of one of the room's own writes, and notifies the person if necessary.
pub(super) fn note_outcome(world: &mut World, order: &FileOrder, failure: Option<&FileFailure>) {
    let now = world.resource::<SimClock>().tick();
    let mut failed = world.resource_mut::<FailedWrites>();
    let notice = match failure {
        Some(failure) => failed.note_failure(order, failure, now),
        None if failed.waiting.is_empty() && failed.told.is_empty() => None,
        None => failed.note_written(order),
    };
    match notice {
        None => {}
        Some(FolderNotice::Fails(folder, problem)) => {
            world.write_message(ProblemReport { source: source_of(&folder), problems: vec![problem] });
        }
        Some(FolderNotice::Works(folder)) => {
            world.write_message(ProblemReport { source: source_of(&folder), problems: Vec::new() });
            let what = format!("{folder}/ is writable again, and everything that was waiting has been saved");
            world.resource_mut::<EventLog>().write(EventDraft::of(&Warning::new(what)));
        }
    }
}

fn source_of(folder: &str) -> String {
    format!("writing {folder}")
}

/// Retries the writes that are due. Runs before any layer orders a newer write of the same file.
pub(super) fn try_again(
    mut failed: ResMut<FailedWrites>,
    under_way: Res<PendingFileOrders>,
    clock: Res<SimClock>,
    mut orders: MessageWriter<FileOrder>,
) {
    if failed.waiting.is_empty() {
        return;
    }
    let is_under_way = |path: &str| under_way.iter().any(|order| room_write(order) == Some(path));
    let due = failed.bypass_change_detection().take_due(clock.tick(), is_under_way);
    orders.write_batch(due);
}

impl Section for FailedWrites {
    const NAME: &'static str = "failed_writes";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::ROOM;
    use crate::base::{Author, Seq};
    use crate::workspace::vfs::FileRights;

    fn order(author: &str, operation: FileOperation) -> FileOrder {
        FileOrder {
            key: "k".into(),
            author: Author(author.into()),
            activation: None,
            operation,
            rights: FileRights::default(),
            cause: Seq(0),
            worktree: None,
        }
    }

    fn record(path: &str) -> FileOrder {
        order("ada", FileOperation::Record { path: path.into(), content: "x".into(), over: None })
    }

    fn full() -> FileFailure {
        FileFailure { what: "the disk is full".into(), is_refusal: false }
    }

    #[test]
    fn only_the_rooms_own_writes_are_retried() {
        let write = |author| order(author, FileOperation::Write { path: "a/b.md".into(), content: String::new() });
        assert_eq!(room_write(&write(ROOM)), Some("a/b.md"));
        assert_eq!(room_write(&write("ada")), None, "an agent is told by the result of its call");
        assert_eq!(room_write(&record("sessions/a.yaml")), Some("sessions/a.yaml"));
        assert_eq!(room_write(&order(ROOM, FileOperation::Read { path: "a".into() })), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_reported_once_and_so_is_its_recovery() {
        let mut failed = FailedWrites::default();
        let told = failed.note_failure(&record("sessions/a.yaml"), &full(), 0);
        assert!(matches!(told, Some(FolderNotice::Fails(folder, problem)) if folder == "sessions"
            && problem.place == "sessions/a.yaml" && problem.what.contains("the disk is full")));
        for tick in 1..50 {
            assert_eq!(failed.note_failure(&record("sessions/a.yaml"), &full(), tick), None);
            assert_eq!(failed.note_failure(&record("sessions/b.yaml"), &full(), tick), None);
        }
        assert_eq!(failed.note_written(&record("sessions/a.yaml")), None, "the other one waits");
        assert_eq!(failed.note_written(&record("sessions/b.yaml")), Some(FolderNotice::Works("sessions".into())));
        assert_eq!(failed, FailedWrites::default());
        assert!(failed.note_failure(&record("sessions/b.yaml"), &full(), 60).is_some(), "it is reported again");
    }

    #[test]
    fn failed_writes_are_retried_with_growing_delays_under_new_keys() {
        let mut failed = FailedWrites::default();
        let (mut now, mut keys, mut waits) = (0, Vec::new(), Vec::new());
        let mut order = record("sessions/a.yaml");
        for _ in 0..6 {
            failed.note_failure(&order, &full(), now);
            assert_eq!(failed.take_due(now, |_| false), []);
            let since = now;
            order = loop {
                now += 1;
                if let Some(due) = failed.take_due(now, |_| false).pop() {
                    break due;
                }
            };
            waits.push((now - since) / TICKS_PER_SEC);
            keys.push(order.key.to_string());
        }
        assert_eq!(waits, [5, 10, 20, 40, 60, 60]);
        assert_eq!(keys[..3], ["k~again-1", "k~again-2", "k~again-3"]);
        failed.note_failure(&order, &full(), now);
        assert_eq!(failed.take_due(now + 10_000, |_| true), [], "a newer text is on its way");
    }

    #[test]
    fn waiting_writes_are_limited_and_dropped_ones_are_reported() {
        let mut failed = FailedWrites::default();
        for number in 0..MAX_WAITING {
            failed.note_failure(&record(&format!("sessions/{number}.yaml")), &full(), 0);
        }
        let told = failed.note_failure(&record("sessions/more.yaml"), &full(), 0);
        assert!(matches!(told, Some(FolderNotice::Fails(_, problem)) if problem.remedy == REMEDY_LOST));
        assert_eq!(failed.note_failure(&record("sessions/most.yaml"), &full(), 0), None, "once");
        assert_eq!(failed.waiting.len(), MAX_WAITING);
    }
}
