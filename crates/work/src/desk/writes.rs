//! Writes what is to become of task files: one change of a file after another, each made of what stands there then.
//! Where somebody else changed the file meanwhile, it is read and changed again.

use std::collections::{BTreeSet, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::duties::Duties;
use super::edits::{Edited, TaskEdit, apply};
use crate::base::hash::content_hash;
use crate::base::{Author, Id, Seq};
use crate::tools::{OrderKey, OrdersUnderWay, ToolNews, ToolOutcome, ToolOutput};
use crate::workspace::KnownFiles;
use crate::workspace::vfs::{FileAnswer, FileOperation, FileOrder, FileOutcome, FileRights};

/// What the names of its orders to files begin with.
const ORDERS: &str = "desk/";
/// A file that others keep changing is given up after so many tries.
const TRIES: u32 = 8;
/// What was done in the room and is not on disk yet is waited for, for so many reads at most.
const STALE_READS: u32 = 90;
/// So many changes wait at the same time.
const WAITING_AT_MOST: usize = 10_000;

/// Whom a change is made for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WriteFor {
    /// A call of a tool.
    Call(OrderKey),
    /// A task that somebody takes, by its number.
    Mark(u64),
    /// A task that is over, by its number.
    Close(u64),
}

/// How far a change is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Waiting,
    Reading,
    Saving { id: String, title: String },
}

/// A change that is to be made.
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
struct Queued {
    /// Names its orders.
    key: String,
    write: TaskWrite,
    stage: Stage,
    tries: u32,
    /// How often the disk had another text than the room knows.
    #[serde(default)]
    stale: u32,
}

/// The changes that are on their way, in their order. Part of the saved world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TaskWrites {
    queue: VecDeque<Queued>,
    newest: u64,
}

impl TaskWrites {
    /// Whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether a call's change is on its way.
    pub(super) fn has_call(&self, key: OrderKey) -> bool {
        self.queue.iter().any(|queued| queued.write.made_for == WriteFor::Call(key))
    }

    /// Takes up a change; whether there was room for it. `run` makes its orders' names unlike those of other runs.
    pub(super) fn push(&mut self, run: &str, write: TaskWrite) -> bool {
        if self.queue.len() >= WAITING_AT_MOST {
            return false;
        }
        self.newest += 1;
        let key = format!("{ORDERS}{run}/{}", self.newest);
        self.queue.push_back(Queued { key, write, stage: Stage::Waiting, tries: 0, stale: 0 });
        true
    }
}

impl Queued {
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
        format!("{}/{}/{what}", self.key, self.tries + self.stale)
    }

    /// Whether an answer is to the order that it waits for.
    fn waits_for(&self, key: &str) -> bool {
        let what = match self.stage {
            Stage::Waiting => return false,
            Stage::Reading => "read",
            Stage::Saving { .. } => "save",
        };
        key == self.order_key(what)
    }

    /// What comes of an answer: an order that goes on with it, or how it ended.
    fn answered(&mut self, outcome: &FileOutcome, known: Option<&str>) -> Result<FileOrder, Result<Edited, String>> {
        let is_known = known.is_some();
        match (&self.stage, &outcome.result) {
            // What was done on a board a moment ago is on its way to the disk.
            (Stage::Reading, Ok(FileAnswer::Text { content, .. }))
                if known.is_some_and(|known| known != content) && self.stale < STALE_READS =>
            {
                self.stale += 1;
                Ok(self.read())
            }
            (Stage::Reading, Err(failure)) if is_known && !failure.is_refusal && self.stale < STALE_READS => {
                self.stale += 1;
                Ok(self.read())
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
            (Stage::Waiting, _) => Ok(self.read()),
        }
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

/// Brings on the changes that are on their way.
pub(super) fn carry_on(
    mut writes: ResMut<TaskWrites>,
    mut duties: ResMut<Duties>,
    (known, under_way): (Res<KnownFiles>, Res<OrdersUnderWay>),
    mut outcomes: MessageReader<FileOutcome>,
    mut files: MessageWriter<FileOrder>,
    mut answers: MessageWriter<ToolOutcome>,
) {
    if writes.is_empty() {
        outcomes.clear();
        return;
    }
    let queue = &mut writes.bypass_change_detection().queue;
    let mut over = Vec::new();
    for outcome in outcomes.read().filter(|outcome| outcome.key.starts_with(ORDERS)) {
        let Some(at) = queue.iter().position(|queued| queued.waits_for(&outcome.key)) else { continue };
        let text = known.text(&queue[at].write.path);
        match queue[at].answered(outcome, text) {
            Ok(order) => drop(files.write(order)),
            Err(result) => {
                // What the disk said then: where the room knows another text, the task is looked at again.
                let seen = match &outcome.result {
                    Ok(FileAnswer::Text { content, .. }) => Some(content.as_str()),
                    _ => text,
                };
                let seen = seen.map_or(0, |text| content_hash(text.as_bytes()));
                over.extend(queue.remove(at).map(|queued| (queued.write, result, seen)));
            }
        }
    }
    // Work that was stopped wants no more what it has not begun to write.
    queue.retain(|queued| match (&queued.stage, &queued.write.made_for) {
        (Stage::Waiting, WriteFor::Call(key)) => under_way.get(*key).is_some(),
        _ => true,
    });
    let mut busy: BTreeSet<String> = BTreeSet::new();
    for queued in queue.iter_mut() {
        let is_first = busy.insert(queued.write.path.clone());
        if is_first && queued.stage == Stage::Waiting {
            files.write(queued.read());
        }
    }
    for (write, result, seen) in over {
        match write.made_for {
            WriteFor::Call(key) => drop(answers.write(answer(key, &write, result))),
            WriteFor::Mark(number) => duties.was_marked(number, result.map(|edited| edited.id), seen),
            WriteFor::Close(number) => duties.was_closed(number, result.err()),
        }
    }
}

/// What an agent is told of its change.
fn answer(key: OrderKey, write: &TaskWrite, result: Result<Edited, String>) -> ToolOutcome {
    let news = match result {
        Ok(edited) => {
            let did = if matches!(write.edit, TaskEdit::Create { .. }) { "Written" } else { "Changed" };
            let text = format!("{did}: task {} “{}” in {}.", edited.id, edited.title, write.path);
            ToolNews::Done { output: ToolOutput { text, changed: vec![write.path.clone()], ..ToolOutput::default() } }
        }
        Err(why) => ToolNews::Failed { why },
    };
    ToolOutcome { key, news }
}
