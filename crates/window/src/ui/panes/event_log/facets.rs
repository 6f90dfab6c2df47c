//! The values that occur in the log, for the filter menus, and the names of agents; collected incrementally with a
//! bounded number of rows per frame.

use std::collections::BTreeSet;

use super::filter::KindSet;
use crate::base::Id;
use crate::log::EventKind;
use crate::log::events::AgentAdded;
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, learn_room};
use crate::view::model::RoomModel;

/// The budget per frame. A row costs one, a row with an agent's name costs `NAME_COST`.
pub const BUDGET: usize = 10_000;
const NAME_COST: usize = 16;

/// The agents, tools, runs and kinds that occur in the log.
#[derive(Clone, Debug, Default)]
pub struct Facets {
    /// Ids of agents.
    pub agents: BTreeSet<Id>,
    /// Ids of tools.
    pub tools: BTreeSet<Id>,
    /// Ids of runs.
    pub runs: BTreeSet<Id>,
    /// The kinds of records.
    pub kinds: KindSet,
    /// The names of all agents, including former ones.
    pub names: Names,
    generation: Option<u64>,
    from: u64,
    to: u64,
    is_done: bool,
}

impl Facets {
    /// Continues collecting within the budget, newest rows first. Returns the number of rows scanned.
    pub fn advance(&mut self, book: &EventList, room: &RoomModel) -> usize {
        learn_room(&mut self.names, room);
        if self.generation != Some(book.generation()) {
            let names = std::mem::take(&mut self.names);
            *self = Self { names, generation: Some(book.generation()), ..Self::default() };
            (self.from, self.to) = (book.count(), book.count());
        }
        (self.from, self.to) = (self.from.max(book.first()), self.to.max(book.first()));
        let (mut budget, mut scanned) = (BUDGET, 0);
        for (number, row) in book.since(self.to) {
            if budget == 0 {
                break;
            }
            budget = budget.saturating_sub(self.add_row(row));
            scanned += 1;
            self.to = number + 1;
        }
        while budget > 0 && self.from > book.first() {
            let Some(row) = book.row(self.from - 1) else { break };
            budget = budget.saturating_sub(self.add_row(row));
            scanned += 1;
            self.from -= 1;
        }
        self.is_done = self.from <= book.first() && self.to == book.count();
        scanned
    }

    /// Whether every row was scanned.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Adds the values of a row. Returns its cost.
    fn add_row(&mut self, row: &EventRow) -> usize {
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
            self.names.learn_removed_agent(agent, added.name);
        }
        NAME_COST
    }
}
