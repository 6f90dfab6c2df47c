//! Edits of task files under way. Each is one order, which the file thread carries out on the text that the file has
//! then; this module keeps what each was made for, and passes on the result.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::older_task_writes::OlderTaskWrite;
use super::task_assignments::TaskAssignments;
use crate::base::hash::content_hash;
use crate::base::{Author, Backoff, Id, Seq};
use crate::schedule::{SimClock, ticks};
use crate::tools::{OrderKey, OrderOutcome, OrderReport, ToolOutput};
use crate::workspace::KnownFiles;
use crate::workspace::task_files::task_edit::TaskEdit;
use crate::workspace::vfs::{EditReport, FileAnswer, FileOperation, FileOrder, FileOutcome, FileRights, TextEdit};

/// The maximum number of attempts of an edit by the room whose file cannot be written.
const MAX_TRIES: u32 = 8;
/// The delays between these attempts, in seconds of simulated time.
const FIRST_RETRY_SECS: u32 = 5;
const LONGEST_RETRY_SECS: u32 = 60;
/// The maximum number of edits under way by calls.
const MAX_WAITING: usize = 10_000;

/// The reason for an edit, which determines who gets the result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WriteFor {
    /// A tool call.
    Call(OrderKey),
    /// Marking the task of this assignment as taken.
    Mark(u64),
    /// Closing the task of this assignment.
    Close(u64),
}

/// An edit of a task file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct TaskWrite {
    pub(super) path: String,
    pub(super) edit: TaskEdit,
    pub(super) made_for: WriteFor,
    pub(super) author: Author,
    pub(super) activation: Option<Id>,
    pub(super) rights: FileRights,
    pub(super) cause: Seq,
}

/// An edit whose result is not known yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PendingWrite {
    /// The part of the keys of its orders that they have in common.
    name: String,
    /// The key of its newest order.
    key: Id,
    write: TaskWrite,
    /// The number of orders before this one.
    tries: u32,
    /// The tick in which it is ordered again; `None` while its order is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_tick: Option<u64>,
    /// What the edit did if the order succeeds, in a room that was saved when the order was one to save a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saves: Option<EditReport>,
}

/// The edits under way, oldest first. Part of the saved world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "SavedTaskWrites")]
pub(super) struct TaskWrites {
    pending: Vec<PendingWrite>,
    newest: u64,
}

/// The edits as they are saved, now or by earlier versions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SavedTaskWrites {
    pending: Vec<PendingWrite>,
    queue: Vec<OlderTaskWrite<TaskWrite>>,
    newest: u64,
}

impl From<SavedTaskWrites> for TaskWrites {
    fn from(saved: SavedTaskWrites) -> Self {
        let older = saved.queue.into_iter().map(PendingWrite::from);
        Self { pending: older.chain(saved.pending).collect(), newest: saved.newest }
    }
}

impl From<OlderTaskWrite<TaskWrite>> for PendingWrite {
    fn from(older: OlderTaskWrite<TaskWrite>) -> Self {
        let tries = older.attempts();
        let (key, saves, retry_tick) = match older.save_under_way() {
            Some((key, report)) => (key, Some(report), None),
            // Its file was at most read.
            None => (Id::from(older.key.as_str()), None, Some(0)),
        };
        Self { name: older.key, key, write: older.write, tries, retry_tick, saves }
    }
}

/// The result of an edit: the id and the title of its task, or why it was not made and the hash of the text that it
/// does not fit.
type WriteResult = Result<(String, String), (String, u64)>;

impl TaskWrites {
    /// Whether no edits are under way.
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether no further edit by a call is accepted.
    pub(super) fn is_full(&self) -> bool {
        self.pending.len() >= MAX_WAITING
    }

    /// Whether the edit of this call is under way.
    pub(super) fn has_call(&self, key: OrderKey) -> bool {
        self.pending.iter().any(|pending| pending.write.made_for == WriteFor::Call(key))
    }

    /// Adds an edit, and returns its order. `run` makes the keys of orders different from those of other runs.
    #[must_use]
    pub(super) fn push(&mut self, run: &str, write: TaskWrite) -> FileOrder {
        self.newest += 1;
        let name = format!("task-edit/{run}/{}", self.newest);
        let key = format!("{name}/0").into();
        let pending = PendingWrite { name, key, write, tries: 0, retry_tick: None, saves: None };
        let order = pending.order();
        self.pending.push(pending);
        order
    }

    /// Applies an outcome. Returns the edit that it ends, with its result.
    fn apply(&mut self, outcome: &FileOutcome, known: &KnownFiles, now: u64) -> Option<(TaskWrite, WriteResult)> {
        let at = self.pending.iter().position(|pending| pending.waits_for(&outcome.key))?;
        let result = self.pending[at].answered(outcome, known, now)?;
        Some((self.pending.remove(at).write, result))
    }

    /// The orders of the edits to try again now.
    fn take_due(&mut self, now: u64) -> Vec<FileOrder> {
        let due = self.pending.iter_mut().filter(|pending| pending.retry_tick.is_some_and(|tick| tick <= now));
        due.map(PendingWrite::again).collect()
    }
}

impl PendingWrite {
    fn order(&self) -> FileOrder {
        let TaskWrite { path, edit, author, activation, rights, cause, .. } = self.write.clone();
        FileOrder {
            key: self.key.clone(),
            author,
            activation,
            operation: FileOperation::EditWith { path, edit: Box::new(TextEdit::Task(edit)) },
            rights,
            cause,
            worktree: None,
        }
    }

    /// The order under another key, because the answer to the earlier one is final.
    fn again(&mut self) -> FileOrder {
        self.tries += 1;
        self.key = format!("{}/{}", self.name, self.tries).into();
        (self.retry_tick, self.saves) = (None, None);
        self.order()
    }

    fn waits_for(&self, key: &Id) -> bool {
        self.retry_tick.is_none() && self.key == *key
    }

    /// Applies the outcome of the order. Returns the result of the edit; `None` if it is tried again.
    fn answered(&mut self, outcome: &FileOutcome, known: &KnownFiles, now: u64) -> Option<WriteResult> {
        let failure = match &outcome.result {
            Ok(FileAnswer::Edited { report: EditReport::Task { id, title }, .. }) => {
                return Some(Ok((id.clone(), title.clone())));
            }
            Ok(FileAnswer::NotEdited { why, seen }) => return Some(Err((why.clone(), seen.unwrap_or(0)))),
            Ok(_) => {
                return Some(match self.saves.take() {
                    Some(EditReport::Task { id, title }) => Ok((id, title)),
                    None => Err(("it was not edited".to_owned(), 0)),
                });
            }
            Err(failure) => failure,
        };
        let is_call = matches!(self.write.made_for, WriteFor::Call(_));
        if self.saves.is_some() && !failure.is_refusal {
            // The file was changed after it was read.
            self.retry_tick = Some(now);
            return None;
        }
        if failure.is_refusal || is_call || self.tries + 1 >= MAX_TRIES {
            let seen = known.text(&self.write.path).map_or(0, |text| content_hash(text.as_bytes()));
            return Some(Err((failure.what.clone(), seen)));
        }
        let wait_secs = Backoff::new(FIRST_RETRY_SECS, LONGEST_RETRY_SECS).wait_secs(self.tries);
        self.retry_tick = Some(now + ticks(wait_secs as f32));
        None
    }
}

/// Passes the results of edits to those who wait for them, and tries edits of the room again whose file could not be
/// written.
pub(super) fn apply_written_edits(
    mut writes: ResMut<TaskWrites>,
    mut assignments: ResMut<TaskAssignments>,
    (known, clock): (Res<KnownFiles>, Res<SimClock>),
    mut outcomes: MessageReader<FileOutcome>,
    mut files: MessageWriter<FileOrder>,
    mut answers: MessageWriter<OrderOutcome>,
) {
    if writes.is_empty() {
        outcomes.clear();
        return;
    }
    let (writes, now) = (writes.bypass_change_detection(), clock.tick());
    for outcome in outcomes.read() {
        let Some((write, result)) = writes.apply(outcome, &known, now) else { continue };
        match write.made_for {
            WriteFor::Call(key) => drop(answers.write(answer(key, &write, result))),
            WriteFor::Mark(number) => {
                let seen = result.as_ref().err().map_or(0, |(_, seen)| *seen);
                let marked = result.map(|(id, _)| id).map_err(|(why, _)| why);
                assignments.apply_marked(number, marked, seen);
            }
            WriteFor::Close(number) => assignments.apply_closed(number, result.err().map(|(why, _)| why)),
        }
    }
    files.write_batch(writes.take_due(now));
}

/// The outcome of a call's edit.
fn answer(key: OrderKey, write: &TaskWrite, result: WriteResult) -> OrderOutcome {
    let news = match result {
        Ok((id, title)) => {
            let did = if matches!(write.edit, TaskEdit::Create { .. }) { "Written" } else { "Changed" };
            let text = format!("{did}: task {id} “{title}” in {}.", write.path);
            OrderReport::Done {
                output: ToolOutput { text, changed: vec![write.path.clone()], ..ToolOutput::default() },
            }
        }
        Err((why, _)) => OrderReport::Failed { why },
    };
    OrderOutcome { key, news }
}

#[cfg(test)]
#[path = "task_writes_tests.rs"]
mod tests;
