//! Selects the records of the log that make up the story and groups them by cause. Pure and bounded; reads every record
//! once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::departures::Departures;
use super::texts;
use crate::base::{Id, Seq};
use crate::log::events::{
    ActionQueued, AgentAdded, AgentInput, AgentRemoved, Budget, ConversationStart, ElementChangeKind, ElementChanged,
    Input, Knowledge, Memory, Read, ReadOutcome, TalkInput,
};
use crate::log::{EventDraft, EventKind, Naming};
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, sentence, sentence_of_many};
use crate::view::pick::RoomObject;

/// The maximum number of storylines kept.
pub const MAX_STORYLINES: usize = 40;
/// The maximum number of steps kept per storyline: the first, and the newest.
pub const MAX_STEPS: usize = 6;
/// The maximum number of agents kept per step; at this number texts say "at least".
pub const MAX_ACTORS: usize = 256;
/// The maximum number of records whose storyline is indexed.
pub const MAX_INDEXED_RECORDS: usize = 20_000;
/// The maximum number of records scanned per frame.
pub const BUDGET: usize = 4_000;
/// The number of newest records that are read from a log that is already long.
const BACKLOG: u64 = 8_000;
/// An effect begins a new storyline if the old one has been quiet for this many ticks.
const QUIET_TICKS: u64 = 3_600;
/// Equal actions without a cause are grouped if they happen within this many ticks.
const TOGETHER_TICKS: u64 = 60;

/// Something that one or more agents did: one entry of the strip.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The first record, which identifies the step.
    pub first: Seq,
    /// The newest record.
    pub row: Arc<EventRow>,
    /// The agents that did it, without duplicates, in order.
    pub actors: Vec<Id>,
    /// How often it happened.
    pub times: u32,
    /// The agent or element where it happened.
    pub place: Option<RoomObject>,
    /// Whether the agent or element had been in the room before, as after Undo.
    pub is_restored: bool,
    key: Key,
}

/// Records with equal keys belong to the same step: the index of their kind, and a text that identifies the event and
/// its subject.
type Key = (usize, String);

/// A cause and its effects, oldest first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Storyline {
    /// The steps. Omitted steps come after the first.
    pub steps: Vec<Step>,
    /// The number of omitted steps.
    pub omitted_steps: usize,
    number: u64,
    last_tick: u64,
}

/// All storylines, the one with the newest record last.
#[derive(Clone, Debug, Default)]
pub struct Story {
    storylines: VecDeque<Storyline>,
    /// The number of the storyline that each record belongs to.
    storyline_by_record: BTreeMap<Seq, u64>,
    generation: Option<u64>,
    next_number: u64,
    /// The end of the scanned rows.
    to: u64,
    departures: Departures,
    /// The names of all agents, including former ones.
    pub names: Names,
}

impl Story {
    /// The storylines, newest last.
    pub fn storylines(&self) -> impl DoubleEndedIterator<Item = &Storyline> + ExactSizeIterator {
        self.storylines.iter()
    }

    /// Reads new records of the log within the budget. Returns the number of records read.
    pub fn update(&mut self, book: &EventList) -> usize {
        if self.generation != Some(book.generation()) || self.to > book.count() {
            let names = std::mem::take(&mut self.names);
            *self = Self { generation: Some(book.generation()), names, ..Self::default() };
        }
        self.to = self.to.max(book.first()).max(book.count().saturating_sub(BACKLOG));
        let mut scanned = 0;
        for (number, row) in book.since(self.to).take(BUDGET) {
            self.add_record(row);
            self.to = number + 1;
            scanned += 1;
        }
        while self.storyline_by_record.len() > MAX_INDEXED_RECORDS {
            self.storyline_by_record.pop_first();
        }
        scanned
    }

    /// Returns the number of records in the index.
    #[cfg(test)]
    pub fn indexed_records(&self) -> usize {
        self.storyline_by_record.len()
    }

    /// Whether all records were read.
    pub fn is_done(&self, book: &EventList) -> bool {
        self.to >= book.count()
    }

    fn add_record(&mut self, row: &Arc<EventRow>) {
        if let Some((agent, added)) = row.agent.as_ref().zip(row.read::<AgentAdded>())
            && !added.name.is_empty()
        {
            self.names.learn_removed_agent(agent, added.name);
        }
        let storyline_number = row.cause.and_then(|cause| self.storyline_of(cause));
        let is_restored = self.departures.add_record(row);
        let Some(step) = step_of(row, is_restored) else {
            // A record that is not shown can still have effects that are.
            if let Some(storyline_number) = storyline_number {
                self.storyline_by_record.insert(row.seq, storyline_number);
            }
            return;
        };
        let mut index = storyline_number.and_then(|number| self.index(number));
        if row.cause.is_none() {
            index = self.storylines.len().checked_sub(1).filter(|last| self.storylines[*last].is_repeated_by(&step));
        }
        let is_recent = |storyline: &Storyline| row.tick.saturating_sub(storyline.last_tick) <= QUIET_TICKS;
        let mut storyline = match index.filter(|index| is_recent(&self.storylines[*index])) {
            Some(index) => self.storylines.remove(index).unwrap_or_default(),
            None => {
                self.next_number += 1;
                Storyline { number: self.next_number, ..Storyline::default() }
            }
        };
        self.storyline_by_record.insert(row.seq, storyline.number);
        storyline.add_step(step);
        self.storylines.push_back(storyline);
        if self.storylines.len() > MAX_STORYLINES {
            self.storylines.pop_front();
        }
    }

    /// Returns the storyline of a record. The first records of a long storyline may have left the index, but not its
    /// steps.
    fn storyline_of(&self, record: Seq) -> Option<u64> {
        let of_step =
            || self.storylines.iter().rev().find(|storyline| storyline.steps.iter().any(|step| step.first == record));
        self.storyline_by_record.get(&record).copied().or_else(|| of_step().map(|storyline| storyline.number))
    }

    fn index(&self, number: u64) -> Option<usize> {
        // Recent storylines are looked up most often.
        self.storylines.iter().rposition(|storyline| storyline.number == number)
    }
}

impl Storyline {
    /// Whether a step without a cause repeats the only step of this storyline.
    fn is_repeated_by(&self, step: &Step) -> bool {
        let [only] = self.steps.as_slice() else { return false };
        only.key == step.key && step.row.tick.saturating_sub(self.last_tick) <= TOGETHER_TICKS
    }

    fn add_step(&mut self, step: Step) {
        self.last_tick = step.row.tick;
        if let Some(known) = self.steps.iter_mut().rev().find(|known| known.key == step.key) {
            known.times += 1;
            for actor in step.actors {
                if known.actors.len() < MAX_ACTORS && !known.actors.contains(&actor) {
                    known.actors.push(actor);
                }
            }
            (known.row, known.place) = (step.row, step.place);
            return;
        }
        self.steps.push(step);
        if self.steps.len() > MAX_STEPS {
            self.steps.remove(1);
            self.omitted_steps += 1;
        }
    }
}

impl Step {
    /// Returns a sentence about the step. With several agents it says only what holds for all of them.
    pub fn describe(&self, names: &Names) -> String {
        if self.is_restored {
            return self.describe_restored(names);
        }
        let others = self.actors.len().saturating_sub(1);
        if others == 0 {
            return sentence(&self.row, names);
        }
        let Some(common) = common(&self.row) else {
            let text = sentence(&self.row, names);
            return if self.has_more() {
                texts::and_many_others(&text, others)
            } else {
                texts::and_others(&text, others)
            };
        };
        sentence_of_many(&self.row, &self.actor_names(names), common.data(), names)
    }

    /// Whether the list of agents may be incomplete.
    pub fn has_more(&self) -> bool {
        self.actors.len() >= MAX_ACTORS
    }

    /// Returns the name of one agent, the names of two, or the number of more.
    fn actor_names(&self, names: &Names) -> String {
        match self.actors.as_slice() {
            all if self.has_more() => texts::many_agents(all.len()),
            [one] => names.called(one).to_owned(),
            [one, other] => texts::both(names.called(one), names.called(other)),
            all => texts::agents(all.len()),
        }
    }

    fn describe_restored(&self, names: &Names) -> String {
        match &self.place {
            Some(RoomObject::Element(id)) => texts::was_restored(names.element(id).as_ref().unwrap_or(id)),
            _ if self.actors.len() == 1 => texts::was_restored(&self.actor_names(names)),
            _ => texts::were_restored(&self.actor_names(names)),
        }
    }
}

/// Returns the part of a record that is the same for all agents that did it; `None` if each did something different.
fn common(row: &EventRow) -> Option<EventDraft> {
    Some(match &row.kind {
        EventKind::ActionQueued => EventDraft::of(&ActionQueued { priority: None, why: None, ..row.read()? }),
        EventKind::Read => EventDraft::of(&Read { version: None, said: None, why: None, ..row.read()? }),
        EventKind::AgentAdded => EventDraft::of(&AgentAdded { profile: "".into(), ..row.read()? }),
        EventKind::AgentRemoved => EventDraft::of(&AgentRemoved { profile: "".into() }),
        _ => return None,
    })
}

/// Returns the step for a record; `None` if it is not part of the story, such as states and intermediate events.
fn step_of(row: &Arc<EventRow>, is_restored: bool) -> Option<Step> {
    let here = || row.agent.clone().map(RoomObject::Agent);
    let (about, place) = match &row.kind {
        EventKind::ElementChanged => {
            let change: ElementChanged = row.read()?;
            let is_news = match change.change {
                ElementChangeKind::Added => is_restored,
                ElementChangeKind::Rearranged => false,
                _ => true,
            };
            if !is_news {
                return None;
            }
            let is_gone = change.change == ElementChangeKind::Removed;
            let about = format!("{:?} {}", change.change, change.element);
            (about, Some(RoomObject::Element(change.element)).filter(|_| !is_gone))
        }
        EventKind::ActionQueued => {
            let queued: ActionQueued = row.read().filter(|_| row.cause.is_some())?;
            let target = queued.target?;
            match &*queued.action {
                "readElement" => (format!("read {target}"), Some(RoomObject::Element(target))),
                "approachAgent" => (format!("tell {target}"), here()),
                _ => return None,
            }
        }
        EventKind::Read => {
            let read: Read = row.read().filter(|read: &Read| read.outcome != ReadOutcome::Nothing)?;
            let element = read.element?;
            (format!("{:?} {element}", read.outcome), Some(RoomObject::Element(element)))
        }
        EventKind::Memory => match row.read::<Memory>()? {
            Memory::Noted { .. } => ("noted".to_owned(), here()),
            Memory::Cleared => ("cleared".to_owned(), here()),
            _ => return None,
        },
        EventKind::ConversationStart => {
            let start: ConversationStart = row.read()?;
            (session(row), start.participants.into_iter().next().map(RoomObject::Agent))
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
        | EventKind::Reaction
        | EventKind::ConversationEnd
        | EventKind::Subscribe
        | EventKind::Deliver
        | EventKind::Compaction
        | EventKind::Acted
        | EventKind::ToolCall
        | EventKind::ToolResult
        | EventKind::ModelCall
        | EventKind::Other(_) => return None,
    };
    let (actors, key) = (row.agent.iter().cloned().collect(), (row.kind.index(), about));
    Some(Step { first: row.seq, row: row.clone(), actors, times: 1, place, is_restored, key })
}

/// Whether a knowledge record is shown: learning is, recalling is not.
fn is_shown(knowledge: &Knowledge) -> bool {
    matches!(knowledge, Knowledge::Added { .. } | Knowledge::Updated { .. } | Knowledge::Forgotten { .. })
}

fn session(row: &EventRow) -> String {
    row.session.as_deref().unwrap_or_default().to_owned()
}

/// Returns what a user's action is about; `None` if something was only moved, or if another record covers it.
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
        // Moved furniture is not part of the story.
        Input::Furnished { .. } | Input::Dropped { .. } => return None,
    };
    Some(about)
}
