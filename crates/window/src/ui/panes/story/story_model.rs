//! Selects the records of the log that make the story, and groups them by their causes. Pure and bounded; every record
//! is read once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::gone::Left;
use super::texts;
use crate::base::{Id, Seq};
use crate::log::events::{
    ActionQueued, AgentAdded, AgentInput, AgentRemoved, Budget, ConversationStart, ElementChanged, ElementDeed, Input,
    Knowledge, Memory, Read, ReadOutcome, TalkInput,
};
use crate::log::{EventDraft, EventKind, Naming};
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, sentence, sentence_of_many};
use crate::view::pick::Thing;

/// How many stories are kept.
pub const TALES_KEPT: usize = 40;
/// So many steps of a tale are kept: its beginning, and the newest.
pub const STEPS_KEPT: usize = 6;
/// How many of the agents that did the same are kept by name; where there are more, they are told of as at least so
/// many.
pub const ACTORS_KEPT: usize = 256;
/// How many records remember their story.
pub const HOMES_KEPT: usize = 20_000;
/// So many records are looked at in one frame.
pub const BUDGET: usize = 4_000;
/// How much of an already long log is read.
const BACKLOG: u64 = 8_000;
/// What comes of a tale that has been quiet for so many ticks begins a tale of its own.
const QUIET_TICKS: u64 = 3_600;
/// The same action without a cause belongs to what happened within this many ticks.
const TOGETHER_TICKS: u64 = 60;

/// Something that happened, to one or several: one entry of the strip.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The first record of it, which tells it apart.
    pub first: Seq,
    /// The newest record of it.
    pub row: Arc<EventRow>,
    /// Who did it, each once, in the order in which they did.
    pub actors: Vec<Id>,
    /// How often it happened.
    pub times: u32,
    /// Where it happened.
    pub place: Option<Thing>,
    /// Whether what came in had been there before and was taken out: Undo puts things back so.
    pub is_restored: bool,
    key: Key,
}

/// What makes two records the same thing, done by others or once more: what it is, and about what.
type Key = (usize, String);

/// What one thing led to, oldest first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StoryEntry {
    /// Its steps; where some were let go, they stood after the first.
    pub steps: Vec<Step>,
    /// How many were let go.
    pub let_go: usize,
    number: u64,
    last_tick: u64,
}

/// The tales, the one that something happened in last at the end.
#[derive(Clone, Debug, Default)]
pub struct Story {
    tales: VecDeque<StoryEntry>,
    /// Which tale a record belongs to, by the tale's number.
    homes: BTreeMap<Seq, u64>,
    generation: Option<u64>,
    next_number: u64,
    /// Rows before this one were looked at.
    to: u64,
    left: Left,
    /// What everyone is called, those that left too.
    pub names: Names,
}

impl Story {
    /// The tales, newest last.
    pub fn tales(&self) -> impl DoubleEndedIterator<Item = &StoryEntry> + ExactSizeIterator {
        self.tales.iter()
    }

    /// Looks at what is new in the log, no more than the budget. How many records were looked at.
    pub fn follow(&mut self, book: &EventList) -> usize {
        if self.generation != Some(book.generation()) || self.to > book.count() {
            let names = std::mem::take(&mut self.names);
            *self = Self { generation: Some(book.generation()), names, ..Self::default() };
        }
        self.to = self.to.max(book.first()).max(book.count().saturating_sub(BACKLOG));
        let mut looked_at = 0;
        for (number, row) in book.since(self.to).take(BUDGET) {
            self.note(row);
            self.to = number + 1;
            looked_at += 1;
        }
        while self.homes.len() > HOMES_KEPT {
            self.homes.pop_first();
        }
        looked_at
    }

    /// How many records remember their story.
    #[cfg(test)]
    pub fn homes(&self) -> usize {
        self.homes.len()
    }

    /// Whether nothing is left to be looked at.
    pub fn is_done(&self, book: &EventList) -> bool {
        self.to >= book.count()
    }

    fn note(&mut self, row: &Arc<EventRow>) {
        if let Some((agent, added)) = row.agent.as_ref().zip(row.read::<AgentAdded>())
            && !added.name.is_empty()
        {
            self.names.learn_former(agent, added.name);
        }
        let home = row.cause.and_then(|cause| self.home_of(cause));
        let is_restored = self.left.note(row);
        let Some(step) = step_of(row, is_restored) else {
            // What is folded leads on to what is not.
            if let Some(home) = home {
                self.homes.insert(row.seq, home);
            }
            return;
        };
        let mut index = home.and_then(|number| self.index(number));
        if row.cause.is_none() {
            index = self.tales.len().checked_sub(1).filter(|last| self.tales[*last].goes_on_with(&step));
        }
        let lasts = |tale: &StoryEntry| row.tick.saturating_sub(tale.last_tick) <= QUIET_TICKS;
        let mut tale = match index.filter(|index| lasts(&self.tales[*index])) {
            Some(index) => self.tales.remove(index).unwrap_or_default(),
            None => {
                self.next_number += 1;
                StoryEntry { number: self.next_number, ..StoryEntry::default() }
            }
        };
        self.homes.insert(row.seq, tale.number);
        tale.add_step(step);
        self.tales.push_back(tale);
        if self.tales.len() > TALES_KEPT {
            self.tales.pop_front();
        }
    }

    /// The tale that a record belongs to. The first records of long tales are forgotten by the list of records, but not
    /// by their tales.
    fn home_of(&self, record: Seq) -> Option<u64> {
        let of_step = || self.tales.iter().rev().find(|tale| tale.steps.iter().any(|step| step.first == record));
        self.homes.get(&record).copied().or_else(|| of_step().map(|tale| tale.number))
    }

    fn index(&self, number: u64) -> Option<usize> {
        // What happened last is looked for most.
        self.tales.iter().rposition(|tale| tale.number == number)
    }
}

impl StoryEntry {
    /// Whether something without a cause is only more of the same.
    fn goes_on_with(&self, step: &Step) -> bool {
        let [only] = self.steps.as_slice() else { return false };
        only.key == step.key && step.row.tick.saturating_sub(self.last_tick) <= TOGETHER_TICKS
    }

    fn add_step(&mut self, step: Step) {
        self.last_tick = step.row.tick;
        if let Some(known) = self.steps.iter_mut().rev().find(|known| known.key == step.key) {
            known.times += 1;
            for actor in step.actors {
                if known.actors.len() < ACTORS_KEPT && !known.actors.contains(&actor) {
                    known.actors.push(actor);
                }
            }
            (known.row, known.place) = (step.row, step.place);
            return;
        }
        self.steps.push(step);
        if self.steps.len() > STEPS_KEPT {
            self.steps.remove(1);
            self.let_go += 1;
        }
    }
}

impl Step {
    /// What happened, in words: what several did is told of all of them, and only what holds for all of them.
    pub fn describe(&self, names: &Names) -> String {
        if self.is_restored {
            return self.describe_restored(names);
        }
        let others = self.actors.len().saturating_sub(1);
        if others == 0 {
            return sentence(&self.row, names);
        }
        let Some(common) = common(&self.row) else {
            let told = sentence(&self.row, names);
            return if self.has_more() {
                texts::and_many_others(&told, others)
            } else {
                texts::and_others(&told, others)
            };
        };
        sentence_of_many(&self.row, &self.everyone(names), common.data(), names)
    }

    /// Whether more may have done it than are kept.
    pub fn has_more(&self) -> bool {
        self.actors.len() >= ACTORS_KEPT
    }

    /// The one who did it by name, two by both names, more by their number.
    fn everyone(&self, names: &Names) -> String {
        match self.actors.as_slice() {
            all if self.has_more() => texts::many_agents(all.len()),
            [one] => names.called(one).to_owned(),
            [one, other] => texts::both(names.called(one), names.called(other)),
            all => texts::agents(all.len()),
        }
    }

    fn describe_restored(&self, names: &Names) -> String {
        match &self.place {
            Some(Thing::Element(id)) => texts::was_restored(names.element(id).as_ref().unwrap_or(id)),
            _ if self.actors.len() == 1 => texts::was_restored(&self.everyone(names)),
            _ => texts::were_restored(&self.everyone(names)),
        }
    }
}

/// The part of a record that applies to everyone who did the same; `None` if each did something different.
fn common(row: &EventRow) -> Option<EventDraft> {
    Some(match &row.kind {
        EventKind::ActionQueued => EventDraft::of(&ActionQueued { priority: None, why: None, ..row.read()? }),
        EventKind::Read => EventDraft::of(&Read { version: None, said: None, why: None, ..row.read()? }),
        EventKind::AgentAdded => EventDraft::of(&AgentAdded { profile: "".into(), ..row.read()? }),
        EventKind::AgentRemoved => EventDraft::of(&AgentRemoved { profile: "".into() }),
        _ => return None,
    })
}

/// What a record adds to the story; `None` if it does not matter. States, heartbeats and intermediate events are
/// ignored.
fn step_of(row: &Arc<EventRow>, is_restored: bool) -> Option<Step> {
    let here = || row.agent.clone().map(Thing::Agent);
    let (about, place) = match &row.kind {
        EventKind::ElementChanged => {
            let change: ElementChanged = row.read()?;
            let is_news = match change.change {
                ElementDeed::Added => is_restored,
                ElementDeed::Rearranged => false,
                _ => true,
            };
            if !is_news {
                return None;
            }
            let is_gone = change.change == ElementDeed::Removed;
            let about = format!("{:?} {}", change.change, change.element);
            (about, Some(Thing::Element(change.element)).filter(|_| !is_gone))
        }
        EventKind::ActionQueued => {
            let queued: ActionQueued = row.read().filter(|_| row.cause.is_some())?;
            let target = queued.target?;
            match &*queued.action {
                "readElement" => (format!("read {target}"), Some(Thing::Element(target))),
                "approachAgent" => (format!("tell {target}"), here()),
                _ => return None,
            }
        }
        EventKind::Read => {
            let read: Read = row.read().filter(|read: &Read| read.outcome != ReadOutcome::Nothing)?;
            let element = read.element?;
            (format!("{:?} {element}", read.outcome), Some(Thing::Element(element)))
        }
        EventKind::Memory => match row.read::<Memory>()? {
            Memory::Noted { .. } => ("noted".to_owned(), here()),
            Memory::Cleared => ("cleared".to_owned(), here()),
            _ => return None,
        },
        EventKind::ConversationStart => {
            let start: ConversationStart = row.read()?;
            (session(row), start.participants.into_iter().next().map(Thing::Agent))
        }
        EventKind::Message => (session(row), here()),
        EventKind::Input => (input(row)?, here()),
        EventKind::Budget => {
            row.read().filter(Budget::is_refusal)?;
            (String::new(), here())
        }
        EventKind::FileChange => (row.path.as_deref().unwrap_or_default().to_owned(), here()),
        EventKind::Knowledge => {
            row.read().filter(is_shown)?;
            (row.seq.to_string(), here())
        }
        EventKind::AgentAdded if is_restored => ("restored".to_owned(), here()),
        EventKind::AgentAdded | EventKind::AgentRemoved | EventKind::Provider => (String::new(), here()),
        EventKind::Activation
        | EventKind::Spawn
        | EventKind::Signal
        | EventKind::HandOver
        | EventKind::TaskResultReturned
        | EventKind::Publish
        | EventKind::Blackboard
        | EventKind::ApprovalRequested
        | EventKind::ApprovalDecided
        | EventKind::WorkflowStep
        | EventKind::Complete
        | EventKind::Abort
        | EventKind::Warning
        | EventKind::Error => (row.seq.to_string(), here()),
        EventKind::State
        | EventKind::RunStart
        | EventKind::RunEnd
        | EventKind::ActionDropped
        | EventKind::ConversationEnd
        | EventKind::Subscribe
        | EventKind::Deliver
        | EventKind::Compaction
        | EventKind::ToolCall
        | EventKind::ToolResult
        | EventKind::ModelCall
        | EventKind::Other(_) => return None,
    };
    let (actors, key) = (row.agent.iter().cloned().collect(), (row.kind.index(), about));
    Some(Step { first: row.seq, row: row.clone(), actors, times: 1, place, is_restored, key })
}

/// What an agent learned is shown; that it was reminded, and how many things it looked at, is not.
fn is_shown(knowledge: &Knowledge) -> bool {
    matches!(knowledge, Knowledge::Added { .. } | Knowledge::Updated { .. } | Knowledge::Forgotten { .. })
}

fn session(row: &EventRow) -> String {
    row.session.as_deref().unwrap_or_default().to_owned()
}

/// A person's action; `None` if somebody was only moved, or if another record says it.
fn input(row: &EventRow) -> Option<String> {
    let about = match row.read::<Input>()? {
        Input::Agent(input) => match input {
            AgentInput::Remove { .. } | AgentInput::SetBehaviour { .. } | AgentInput::Pause { .. } => {
                row.seq.to_string()
            }
            AgentInput::Resume { .. } => row.seq.to_string(),
            AgentInput::Add { .. }
            | AgentInput::SetHome { .. }
            | AgentInput::Place { .. }
            | AgentInput::PickUp { .. }
            | AgentInput::Carry { .. }
            | AgentInput::PutDown { .. } => return None,
        },
        Input::Talk(TalkInput::Speak { .. }) => session(row),
        Input::Work(_) | Input::Relationship(_) | Input::Talk(_) | Input::ProviderOverride { .. } => {
            row.seq.to_string()
        }
        // Furniture that is moved about is no news.
        Input::Furnished { .. } | Input::Dropped { .. } => return None,
    };
    Some(about)
}
