//! The filter of the log. It scans a bounded number of rows per frame, newest first, to keep frames short.

use std::collections::VecDeque;
use std::sync::Arc;

use super::texts;
use crate::base::{Id, Severity};
use crate::log::EventKind;
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, kind_words, sentence};

/// The scan budget per frame. Checking the fields of a row costs one.
pub const BUDGET: usize = 20_000;
/// The cost of a text search in a row, added again for each `TEXT_COST_BYTES` of its data.
const TEXT_COST: usize = 16;
const TEXT_COST_BYTES: usize = 2_048;
/// With more unscanned new rows than this, the scan restarts from the newest.
const BACKLOG: u64 = 4 * BUDGET as u64;

/// A set of record kinds. The empty set occurs for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KindSet(u64);

impl KindSet {
    /// Whether the set contains a kind.
    pub fn has(self, kind: &EventKind) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    /// Adds a kind.
    pub fn add(&mut self, kind: &EventKind) {
        self.0 |= Self::bit(kind);
    }

    /// Adds or removes a kind.
    pub fn toggle(&mut self, kind: &EventKind) {
        self.0 ^= Self::bit(kind);
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the kinds in the order of the log format.
    pub fn all(self) -> impl Iterator<Item = &'static EventKind> {
        EventKind::ALL_AND_OTHERS.iter().filter(move |kind| self.has(kind))
    }

    fn bit(kind: &EventKind) -> u64 {
        1 << kind.index()
    }
}

/// Which severities are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SeverityFilter {
    /// Records of any severity, or none.
    #[default]
    Everything,
    /// Warnings and errors.
    Warnings,
    /// Errors only.
    Errors,
}

impl SeverityFilter {
    /// All variants with their labels.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Everything, texts::EVERYTHING),
        (Self::Warnings, texts::WARNINGS_AND_ERRORS),
        (Self::Errors, texts::ERRORS),
    ];

    fn fits(self, severity: Option<Severity>) -> bool {
        match self {
            Self::Everything => true,
            Self::Warnings => severity.is_some(),
            Self::Errors => severity == Some(Severity::Error),
        }
    }
}

/// The filter of the log: which records are listed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Only records of this agent.
    pub agent: Option<Id>,
    /// Only these kinds.
    pub kinds: KindSet,
    /// Only records of this tool.
    pub tool: Option<Id>,
    /// Only records of these severities.
    pub severity: SeverityFilter,
    /// Only records of this run.
    pub run: Option<Id>,
    /// Only records that contain all these words, ignoring case.
    pub text: String,
    /// Whether routine records are listed too.
    pub everything: bool,
}

/// Whether a kind of record is routine, such as state changes, queued actions and reactions, and how an agent asked for
/// acts that have records of their own.
pub fn is_routine(kind: &EventKind) -> bool {
    matches!(kind, EventKind::State | EventKind::ActionQueued | EventKind::Reaction | EventKind::Acted)
}

impl Filter {
    /// Whether every record is listed.
    pub fn is_empty(&self) -> bool {
        self.everything && self.is_unfiltered()
    }

    /// Whether no filter is set, except that routine records may be hidden.
    pub fn is_unfiltered(&self) -> bool {
        let Self { agent, kinds, tool, severity, run, text: _, everything: _ } = self;
        let has_id_filter = agent.is_some() || tool.is_some() || run.is_some();
        !has_id_filter && kinds.is_empty() && *severity == SeverityFilter::Everything && !self.has_text()
    }

    /// Returns the filter with everything but `everything` cleared.
    pub fn cleared(&self) -> Self {
        Self { everything: self.everything, ..Self::default() }
    }

    /// Whether the filter has search words.
    pub fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// Whether a row is listed. `words` come from [`Filter::search_terms`].
    pub fn fits(&self, row: &EventRow, words: &[String], names: &Names) -> bool {
        let is = |expected: &Option<Id>, has: Option<&Id>| expected.is_none() || expected.as_ref() == has;
        // An explicitly selected kind is included even if it is routine.
        let has_kind =
            if self.kinds.is_empty() { self.everything || !is_routine(&row.kind) } else { self.kinds.has(&row.kind) };
        has_kind
            && self.severity.fits(row.severity)
            && is(&self.agent, row.agent.as_ref())
            && is(&self.tool, row.tool.as_ref())
            && is(&self.run, Some(&row.run))
            && has_words(row, words, names)
    }

    /// Returns the search words in lower case.
    pub fn search_terms(&self) -> Vec<String> {
        self.text.split_whitespace().map(str::to_lowercase).collect()
    }

    fn cost(&self, row: &EventRow) -> usize {
        if self.has_text() { TEXT_COST * (1 + row.data.bytes() / TEXT_COST_BYTES) } else { 1 }
    }
}

/// Whether every word occurs in the data, in a field or in the sentence, which is formatted only if needed.
fn has_words(row: &EventRow, words: &[String], names: &Names) -> bool {
    if words.is_empty() {
        return true;
    }
    let data = row.data.as_json().to_lowercase();
    let fields = [&row.agent, &row.activation, &row.session, &row.tool, &row.path];
    let fields = fields.map(|field| field.as_deref().map(str::to_lowercase));
    let occurs = |word: &String| {
        data.contains(word.as_str()) || fields.iter().flatten().any(|field| field.contains(word.as_str()))
    };
    let missing: Vec<&String> = words.iter().filter(|word| !occurs(word)).collect();
    if missing.is_empty() {
        return true;
    }
    let text = format!("{} {} {}", row.kind.as_str(), kind_words(&row.kind), sentence(row, names)).to_lowercase();
    missing.iter().all(|word| text.contains(word.as_str()))
}

/// The result of one scan step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScanStep {
    /// The number of rows scanned.
    pub scanned: usize,
    /// The number of hits added before the known ones, minus those removed there.
    pub shift: i64,
    /// Whether the scan was restarted.
    pub restarted: bool,
}

/// An incremental scan of an [`EventList`] for the hits of a filter. Rows are identified by their numbers in the list.
#[derive(Clone, Debug, Default)]
pub struct FilterScan {
    filter: Filter,
    words: Vec<String>,
    /// The generation of the list and of the agent names that were scanned.
    generation: Option<u64>,
    renames: u64,
    /// The row numbers of the hits, oldest first.
    hits: Arc<VecDeque<u64>>,
    /// The range of scanned rows.
    from: u64,
    to: u64,
    /// The range of rows in the list as of the last step.
    first: u64,
    count: u64,
}

impl FilterScan {
    /// Scans on within the budget: new rows first, then older ones.
    pub fn advance(&mut self, book: &EventList, filter: &Filter, names: &Names) -> ScanStep {
        let mut step = ScanStep::default();
        let renamed = filter.has_text() && self.renames != names.renames();
        let is_behind = book.count().saturating_sub(self.to) > BACKLOG && !filter.is_empty();
        if self.generation != Some(book.generation()) || self.filter != *filter || renamed || is_behind {
            step.restarted = true;
            self.restart(book, filter, names);
        }
        if self.lists_all() {
            step.shift = -i64::try_from(book.first().saturating_sub(self.first)).unwrap_or(i64::MAX);
            (self.first, self.count) = (book.first(), book.count());
            return step;
        }
        step.shift -= self.drop_evicted(book);
        (self.first, self.count) = (book.first(), book.count());
        let mut budget = BUDGET;
        self.scan_new(book, names, &mut budget, &mut step);
        self.scan_older(book, names, &mut budget, &mut step);
        step
    }

    fn restart(&mut self, book: &EventList, filter: &Filter, names: &Names) {
        self.filter = filter.clone();
        self.words = filter.search_terms();
        (self.generation, self.renames) = (Some(book.generation()), names.renames());
        self.hits = Arc::default();
        (self.from, self.to) = (book.count(), book.count());
        (self.first, self.count) = (book.first(), book.count());
    }

    /// Drops hits whose rows were evicted from the list. Returns their number.
    fn drop_evicted(&mut self, book: &EventList) -> i64 {
        self.from = self.from.max(book.first());
        self.to = self.to.max(book.first());
        let evicted = self.hits.partition_point(|number| *number < book.first());
        if evicted > 0 {
            Arc::make_mut(&mut self.hits).drain(..evicted);
        }
        evicted as i64
    }

    fn scan_new(&mut self, book: &EventList, names: &Names, budget: &mut usize, step: &mut ScanStep) {
        let from = self.to;
        for (number, row) in book.since(from) {
            if *budget == 0 {
                return;
            }
            *budget = budget.saturating_sub(self.filter.cost(row));
            step.scanned += 1;
            self.to = number + 1;
            if self.filter.fits(row, &self.words, names) {
                Arc::make_mut(&mut self.hits).push_back(number);
            }
        }
    }

    fn scan_older(&mut self, book: &EventList, names: &Names, budget: &mut usize, step: &mut ScanStep) {
        while *budget > 0 && self.from > book.first() {
            let number = self.from - 1;
            let Some(row) = book.row(number) else { return };
            *budget = budget.saturating_sub(self.filter.cost(row));
            step.scanned += 1;
            self.from = number;
            if self.filter.fits(row, &self.words, names) {
                Arc::make_mut(&mut self.hits).push_front(number);
                step.shift += 1;
            }
        }
    }

    fn lists_all(&self) -> bool {
        self.filter.is_empty()
    }

    /// Whether every row was scanned.
    pub fn is_done(&self) -> bool {
        self.lists_all() || (self.from <= self.first && self.to == self.count)
    }

    /// Whether a row was scanned.
    pub fn has_scanned(&self, number: u64) -> bool {
        self.lists_all() || (self.from..self.to).contains(&number)
    }

    /// The number of hits so far.
    pub fn len(&self) -> usize {
        if self.lists_all() { usize::try_from(self.count - self.first).unwrap_or(0) } else { self.hits.len() }
    }

    /// Whether there are no hits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the row number of a hit. Hits are ordered oldest first.
    pub fn number(&self, index: usize) -> Option<u64> {
        if self.lists_all() {
            Some(self.first + index as u64).filter(|number| *number < self.count)
        } else {
            self.hits.get(index).copied()
        }
    }

    /// Returns the index of a row among the hits.
    pub fn index(&self, number: u64) -> Option<usize> {
        if self.lists_all() {
            let index = number.checked_sub(self.first).filter(|_| number < self.count)?;
            usize::try_from(index).ok()
        } else {
            self.hits.binary_search(&number).ok()
        }
    }

    /// Returns the number of hits from a row on.
    pub fn since(&self, number: u64) -> usize {
        if self.lists_all() {
            usize::try_from(self.count.saturating_sub(number.max(self.first))).unwrap_or(0)
        } else {
            self.hits.len() - self.hits.partition_point(|hit| *hit < number)
        }
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
