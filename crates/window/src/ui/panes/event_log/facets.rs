//! The values that occur in the log, for the filter menus, and the names of agents; collected as rows arrive, a bounded
//! number per frame.

use std::collections::BTreeSet;

use super::filter::Kinds;
use crate::base::Id;
use crate::log::EventKind;
use crate::log::events::AgentAdded;
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, learn_room};
use crate::view::model::RoomModel;

/// So much is gathered in one frame: a row costs one, one that says what an agent is called costs more.
pub const BUDGET: usize = 10_000;
const NAME_COST: usize = 16;

/// What occurs.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Agents, by id.
    pub agents: BTreeSet<Id>,
    /// Tools.
    pub tools: BTreeSet<Id>,
    /// Runs.
    pub runs: BTreeSet<Id>,
    /// Kinds of records.
    pub kinds: Kinds,
    /// What everyone is called.
    pub names: Names,
    generation: Option<u64>,
    from: u64,
    to: u64,
    is_done: bool,
}

impl Known {
    /// Gathers on, no more than the budget, the newest first. How many rows were looked at.
    pub fn advance(&mut self, book: &EventList, room: &RoomModel) -> usize {
        learn_room(&mut self.names, room);
        if self.generation != Some(book.generation()) {
            let names = std::mem::take(&mut self.names);
            *self = Self { names, generation: Some(book.generation()), ..Self::default() };
            (self.from, self.to) = (book.count(), book.count());
        }
        (self.from, self.to) = (self.from.max(book.first()), self.to.max(book.first()));
        let (mut left, mut looked_at) = (BUDGET, 0);
        for (number, row) in book.since(self.to) {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(self.note(row));
            looked_at += 1;
            self.to = number + 1;
        }
        while left > 0 && self.from > book.first() {
            let Some(row) = book.row(self.from - 1) else { break };
            left = left.saturating_sub(self.note(row));
            looked_at += 1;
            self.from -= 1;
        }
        self.is_done = self.from <= book.first() && self.to == book.count();
        looked_at
    }

    /// Whether every row was looked at.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Takes in a row. What it costs.
    fn note(&mut self, row: &EventRow) -> usize {
        let add = |set: &mut BTreeSet<Id>, id: &Id| {
            if !set.contains(id) {
                set.insert(id.clone());
            }
        };
        self.kinds.add(&row.kind);
        add(&mut self.runs, &row.run);
        if let Some(tool) = &row.tool {
            add(&mut self.tools, tool);
        }
        let Some(agent) = &row.agent else { return 1 };
        add(&mut self.agents, agent);
        if row.kind != EventKind::AgentAdded {
            return 1;
        }
        if let Some(added) = row.read::<AgentAdded>().filter(|added| !added.name.is_empty()) {
            self.names.learn_former(agent, added.name);
        }
        NAME_COST
    }
}
