//! Writes edits of task files one after another, each based on the current text of the file. If the file changes in
//! the meantime, it is read and edited again.

use std::collections::{BTreeSet, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::task_assignments::TaskAssignments;
use super::task_edits::{Edited, TaskEdit, apply};
use crate::base::hash::content_hash;
use crate::base::{Author, Id, Problem, Seq};
use crate::tools::{OrderKey, OrderOutcome, OrderReport, PendingToolOrders, ToolOutput};
use crate::workspace::vfs::{FileAnswer, FileOperation, FileOrder, FileOutcome, FileRights};
use crate::workspace::{KnownFiles, SaveReport, Unsaved};

/// The prefix of the keys of its file orders.
const ORDERS: &str = "desk/";
/// The maximum number of attempts to edit a file that keeps changing.
const TRIES: u32 = 8;
/// The maximum number of pending edits.
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

/// The progress of an edit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Waiting,
    Reading,
    /// Waiting for a change made on a board to be saved. Until then, the file is older than the room's text.
    AwaitingDisk,
    Saving {
        id: String,
        title: String,
    },
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

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PendingWrite {
    /// The prefix of the keys of its orders.
    key: String,
    write: TaskWrite,
    stage: Stage,
    tries: u32,
    /// How often the edit has waited for the disk.
    #[serde(default)]
    waits: u32,
}

/// The pending edits in their order. Part of the saved world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TaskWrites {
    queue: VecDeque<PendingWrite>,
    newest: u64,
}

impl TaskWrites {
    /// Whether no edits are pending.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the edit of this call is pending.
    pub(super) fn has_call(&self, key: OrderKey) -> bool {
        self.queue.iter().any(|pending| pending.write.made_for == WriteFor::Call(key))
    }

    /// Queues an edit. Returns false if the queue is full. `run` makes the keys of its orders different from those of
    /// other runs.
    pub(super) fn push(&mut self, run: &str, write: TaskWrite) -> bool {
        if self.queue.len() >= MAX_WAITING {
            return false;
        }
        self.newest += 1;
        let key = format!("{ORDERS}{run}/{}", self.newest);
        self.queue.push_back(PendingWrite { key, write, stage: Stage::Waiting, tries: 0, waits: 0 });
        true
    }
}

impl PendingWrite {
    fn order(&self, what: &str, operation: FileOperation) -> FileOrder {
        FileOrder {
            key: self.order_key(what).into(),
            author: self.write.author.clone(),
            activation: self.write.activation.clone(),
            operation,
            rights: self.write.rights.clone(),
            cause: self.write.cause,
            worktree: None,
        }
    }

    fn order_key(&self, what: &str) -> String {
        format!("{}/{}/{what}", self.key, self.tries + self.waits)
    }

    /// Whether this is the key of the order that the edit waits for.
    fn waits_for(&self, key: &str) -> bool {
        let what = match self.stage {
            Stage::Waiting | Stage::AwaitingDisk => return false,
            Stage::Reading => "read",
            Stage::Saving { .. } => "save",
        };
        key == self.order_key(what)
    }

    /// Applies the outcome of an order. Returns the next order, if there is one, or the result of the edit as the
    /// error.
    fn answered(
        &mut self,
        outcome: &FileOutcome,
        known: Option<&str>,
        is_unsaved: bool,
    ) -> Result<Option<FileOrder>, Result<Edited, String>> {
        let is_known = known.is_some();
        let next = match (&self.stage, &outcome.result) {
            (Stage::Reading, Ok(FileAnswer::Text { content, .. })) if is_unsaved && known != Some(content.as_str()) => {
                self.await_disk();
                return Ok(None);
            }
            (Stage::Reading, Err(failure)) if is_unsaved && !failure.is_refusal => {
                self.await_disk();
                return Ok(None);
            }
            (Stage::Reading, Ok(FileAnswer::Text { content, .. })) => self.save(Some(content)),
            (Stage::Reading, Ok(_)) => Err(Err("it cannot be read as a whole".to_owned())),
            (Stage::Reading, Err(failure)) if !failure.is_refusal && !is_known => match self.write.edit {
                TaskEdit::Create { .. } => self.save(None),
                TaskEdit::Update { .. } => Err(Err(failure.what.clone())),
            },
            (Stage::Saving { id, title }, Ok(_)) => {
                Err(Ok(Edited { text: String::new(), id: id.clone(), title: title.clone() }))
            }
            (_, Err(failure)) if failure.is_refusal || self.tries + 1 >= TRIES => Err(Err(failure.what.clone())),
            (Stage::Saving { .. } | Stage::Reading, Err(_)) => {
                self.tries += 1;
                Ok(self.read())
            }
            (Stage::Waiting | Stage::AwaitingDisk, _) => Ok(self.read()),
        };
        next.map(Some)
    }

    fn await_disk(&mut self) {
        self.stage = Stage::AwaitingDisk;
        self.waits += 1;
    }

    fn read(&mut self) -> FileOrder {
        self.stage = Stage::Reading;
        self.order("read", FileOperation::Read { path: self.write.path.clone() })
    }

    fn save(&mut self, text: Option<&str>) -> Result<FileOrder, Result<Edited, String>> {
        let edited = match apply(text, &self.write.edit) {
            Err(why) => return Err(Err(format!("{}: {why}", self.write.path))),
            Ok(edited) if text == Some(edited.text.as_str()) => return Err(Ok(edited)),
            Ok(edited) => edited,
        };
        self.stage = Stage::Saving { id: edited.id, title: edited.title };
        let base = text.map(|text| content_hash(text.as_bytes()));
        let path = self.write.path.clone();
        Ok(self.order("save", FileOperation::Save { path, base, content: edited.text }))
    }
}

/// Applies outcomes to the pending edits, and starts edits that are due.
pub(super) fn advance_writes(
    mut writes: ResMut<TaskWrites>,
    mut assignments: ResMut<TaskAssignments>,
    (known, unsaved, under_way): (Res<KnownFiles>, Res<Unsaved>, Res<PendingToolOrders>),
    (mut outcomes, mut saves): (MessageReader<FileOutcome>, MessageReader<SaveReport>),
    mut files: MessageWriter<FileOrder>,
    mut answers: MessageWriter<OrderOutcome>,
) {
    if writes.is_empty() {
        outcomes.clear();
        saves.clear();
        return;
    }
    let queue = &mut writes.bypass_change_detection().queue;
    let mut over = Vec::new();
    for outcome in outcomes.read().filter(|outcome| outcome.key.starts_with(ORDERS)) {
        match apply_outcome(queue, outcome, &known, &unsaved) {
            AnswerEffect::Nothing => {}
            AnswerEffect::Next(order) => drop(files.write(*order)),
            AnswerEffect::Over(ended) => over.push(*ended),
        }
    }
    for (path, problem) in saves.read().filter_map(|report| Some((&report.path, report.problem.as_ref()?))) {
        over.extend(fail_unsaved(queue, path, problem));
    }
    // If work was stopped, its edits that have not begun are dropped.
    queue.retain(|pending| match (&pending.stage, &pending.write.made_for) {
        (Stage::Waiting | Stage::AwaitingDisk, WriteFor::Call(key)) => under_way.get(*key).is_some(),
        _ => true,
    });
    files.write_batch(due(queue, &unsaved));
    for (write, result, seen) in over {
        match write.made_for {
            WriteFor::Call(key) => drop(answers.write(answer(key, &write, result))),
            WriteFor::Mark(number) => assignments.apply_marked(number, result.map(|edited| edited.id), seen),
            WriteFor::Close(number) => assignments.apply_closed(number, result.err()),
        }
    }
}

/// A finished edit, its result, and the hash of the file's text at that time.
type Ended = (TaskWrite, Result<Edited, String>, u64);

/// The effect of an outcome on the pending edits.
enum AnswerEffect {
    Nothing,
    Next(Box<FileOrder>),
    Over(Box<Ended>),
}

fn apply_outcome(
    queue: &mut VecDeque<PendingWrite>,
    outcome: &FileOutcome,
    known: &KnownFiles,
    unsaved: &Unsaved,
) -> AnswerEffect {
    let Some(at) = queue.iter().position(|pending| pending.waits_for(&outcome.key)) else {
        return AnswerEffect::Nothing;
    };
    let path = &queue[at].write.path;
    let (text, is_unsaved) = (known.text(path), unsaved.holds_file(path));
    let result = match queue[at].answered(outcome, text, is_unsaved) {
        Ok(order) => return order.map_or(AnswerEffect::Nothing, |order| AnswerEffect::Next(Box::new(order))),
        Err(result) => result,
    };
    // If the text on disk differs from the one known to the room, the task is checked again.
    let seen = match &outcome.result {
        Ok(FileAnswer::Text { content, .. }) => Some(content.as_str()),
        _ => text,
    };
    let seen = seen.map_or(0, |text| content_hash(text.as_bytes()));
    let ended = queue.remove(at).map(|pending| AnswerEffect::Over(Box::new((pending.write, result, seen))));
    ended.unwrap_or(AnswerEffect::Nothing)
}

/// The orders of the edits that are due: the first edit of each file, and edits whose file has been saved meanwhile.
fn due(queue: &mut VecDeque<PendingWrite>, unsaved: &Unsaved) -> Vec<FileOrder> {
    let (mut busy, mut orders) = (BTreeSet::new(), Vec::new());
    for pending in queue.iter_mut() {
        let is_first = busy.insert(pending.write.path.clone());
        let is_due = match pending.stage {
            Stage::Waiting => is_first,
            Stage::AwaitingDisk => !unsaved.holds_file(&pending.write.path),
            Stage::Reading | Stage::Saving { .. } => false,
        };
        if is_due {
            orders.push(pending.read());
        }
    }
    orders
}

/// Fails the calls that wait for a change to be saved if that is impossible. Edits by the room keep waiting.
fn fail_unsaved(queue: &mut VecDeque<PendingWrite>, path: &str, problem: &Problem) -> Vec<Ended> {
    let is_its = |pending: &PendingWrite| {
        pending.stage == Stage::AwaitingDisk
            && pending.write.path == path
            && matches!(pending.write.made_for, WriteFor::Call(_))
    };
    let why = format!("the changes on the board are not saved yet: {}", problem.what);
    let ended =
        queue.iter().filter(|pending| is_its(pending)).map(|pending| (pending.write.clone(), Err(why.clone()), 0));
    let ended = ended.collect();
    queue.retain(|pending| !is_its(pending));
    ended
}

/// The outcome of a call's edit.
fn answer(key: OrderKey, write: &TaskWrite, result: Result<Edited, String>) -> OrderOutcome {
    let news = match result {
        Ok(edited) => {
            let did = if matches!(write.edit, TaskEdit::Create { .. }) { "Written" } else { "Changed" };
            let text = format!("{did}: task {} “{}” in {}.", edited.id, edited.title, write.path);
            OrderReport::Done {
                output: ToolOutput { text, changed: vec![write.path.clone()], ..ToolOutput::default() },
            }
        }
        Err(why) => OrderReport::Failed { why },
    };
    OrderOutcome { key, news }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::ROOM;
    use crate::tools::TaskUpdate;

    const ON_DISK: &str = "- [ ] Buy milk\n";
    const KNOWN: &str = "- [ ] Buy oat milk\n";

    fn reading() -> PendingWrite {
        let update = TaskUpdate { status: Some("completed".to_owned()), ..TaskUpdate::default() };
        let write = TaskWrite {
            path: "tasks/shop.task.md".to_owned(),
            edit: TaskEdit::Update { id: "milk".to_owned(), update },
            made_for: WriteFor::Call("act-7-3kq9x2mf/1/0/0123456789abcdef".parse().expect("it names a call")),
            author: Author(ROOM.into()),
            activation: None,
            rights: FileRights::default(),
            cause: Seq(0),
        };
        PendingWrite { key: "desk/r/1".to_owned(), write, stage: Stage::Reading, tries: 0, waits: 0 }
    }

    fn text(pending: &PendingWrite, content: &str) -> FileOutcome {
        let (path, content) = (pending.write.path.clone(), content.to_owned());
        FileOutcome {
            key: pending.order_key("read").into(),
            author: pending.write.author.clone(),
            activation: None,
            result: Ok(FileAnswer::Text { path, content, version: 1 }),
            cause: Seq(0),
            worktree: None,
            restores: false,
        }
    }

    #[test]
    fn an_edit_waits_until_a_boards_change_is_on_disk() {
        let mut pending = reading();
        let answer = text(&pending, ON_DISK);
        assert_eq!(pending.answered(&answer, Some(KNOWN), true), Ok(None));
        assert_eq!(pending.stage, Stage::AwaitingDisk);
        assert!(!pending.waits_for(&answer.key), "nothing more is asked of the disk meanwhile");
        let order = pending.read();
        assert_ne!(order.key, answer.key, "the next answer is not mistaken for the old one");
    }

    #[test]
    fn an_edit_applies_to_text_on_disk_that_the_room_has_not_read_yet() {
        let mut pending = reading();
        let theirs = "- [ ] Buy milk\n  id: milk\n";
        let answer = text(&pending, theirs);
        let order = pending.answered(&answer, Some(KNOWN), false).expect("it should continue").expect("it saves");
        let FileOperation::Save { base, content, .. } = order.operation else { panic!("{order:?}") };
        assert_eq!(base, Some(content_hash(theirs.as_bytes())));
        assert!(content.starts_with("- [x] Buy milk"), "{content}");
    }

    #[test]
    fn a_call_fails_if_a_boards_change_cannot_be_saved_and_the_rooms_own_edit_keeps_waiting() {
        let (mut of_call, mut of_room) = (reading(), reading());
        of_room.write.made_for = WriteFor::Mark(1);
        of_call.await_disk();
        of_room.await_disk();
        let mut queue = VecDeque::from([of_call, of_room]);
        let problem = Problem::error("tasks/shop.task.md", "the disk is full", "make room");
        assert!(fail_unsaved(&mut queue, "tasks/other.task.md", &problem).is_empty());
        let ended = fail_unsaved(&mut queue, "tasks/shop.task.md", &problem);
        let [(_, Err(why), _)] = ended.as_slice() else { panic!("{ended:?}") };
        assert!(why.contains("the disk is full"), "{why}");
        assert_eq!(queue.len(), 1);
        assert_eq!(queue[0].write.made_for, WriteFor::Mark(1));
    }
}
