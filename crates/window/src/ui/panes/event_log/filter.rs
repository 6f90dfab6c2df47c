//! Decides which records are listed: a bounded number per frame, the newest first, so that no frame waits for all of
//! them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::texts;
use crate::base::{Id, Severity};
use crate::log::EventKind;
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, kind_words, sentence};

/// So much is judged in one frame: a row by its fields costs one.
pub const BUDGET: usize = 20_000;
/// The cost of searching a row for words, which is added again for each block of its data.
const TEXT_COST: usize = 16;
const TEXT_COST_BYTES: usize = 2_048;
/// Where more new rows than this wait, the newest of them are judged first, as after a change of the filter.
const BACKLOG: u64 = 4 * BUDGET as u64;

/// Kinds of records; none stands for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kinds(u64);

impl Kinds {
    /// Whether it is among them.
    pub fn has(self, kind: &EventKind) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    /// Puts it among them.
    pub fn add(&mut self, kind: &EventKind) {
        self.0 |= Self::bit(kind);
    }

    /// Puts it among them, or takes it out.
    pub fn toggle(&mut self, kind: &EventKind) {
        self.0 ^= Self::bit(kind);
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All of them, in the order of the contract.
    pub fn all(self) -> impl Iterator<Item = &'static EventKind> {
        EventKind::ALL_AND_OTHERS.iter().filter(move |kind| self.has(kind))
    }

    fn bit(kind: &EventKind) -> u64 {
        1 << kind.index()
    }
}

/// How bad a record must be to be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grade {
    /// Any.
    #[default]
    Everything,
    /// Warnings and errors.
    Warnings,
    /// Errors alone.
    Errors,
}

impl Grade {
    /// Every grade, with its words.
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

/// What is listed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Only what concerns this agent.
    pub agent: Option<Id>,
    /// Only these kinds.
    pub kinds: Kinds,
    /// Only what is about this tool.
    pub tool: Option<Id>,
    /// Only what is at least so bad.
    pub grade: Grade,
    /// Only what happened in this run.
    pub run: Option<Id>,
    /// Only what has all these words somewhere, in large or small letters.
    pub text: String,
    /// Whether what only says that life goes on is listed, too: it is folded otherwise.
    pub everything: bool,
}

/// Whether a record only says that life goes on: states, heartbeats, and what somebody sets out to do.
pub fn is_routine(kind: &EventKind) -> bool {
    matches!(kind, EventKind::State | EventKind::ActionQueued)
}

impl Filter {
    /// Whether every record is listed.
    pub fn is_empty(&self) -> bool {
        self.everything && self.is_clear()
    }

    /// Whether nothing is filtered; what is only routine may be folded.
    pub fn is_clear(&self) -> bool {
        let Self { agent, kinds, tool, grade, run, text: _, everything: _ } = self;
        let names_any = agent.is_some() || tool.is_some() || run.is_some();
        !names_any && kinds.is_empty() && *grade == Grade::Everything && !self.has_text()
    }

    /// The same with no filter.
    pub fn cleared(&self) -> Self {
        Self { everything: self.everything, ..Self::default() }
    }

    /// Whether words are looked for.
    pub fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// Whether a row is listed. Words come from [`Filter::words`].
    pub fn fits(&self, row: &EventRow, words: &[String], names: &Names) -> bool {
        let is = |wanted: &Option<Id>, has: Option<&Id>| wanted.is_none() || wanted.as_ref() == has;
        // An explicitly chosen kind is always included.
        let has_kind =
            if self.kinds.is_empty() { self.everything || !is_routine(&row.kind) } else { self.kinds.has(&row.kind) };
        has_kind
            && self.grade.fits(row.severity)
            && is(&self.agent, row.agent.as_ref())
            && is(&self.tool, row.tool.as_ref())
            && is(&self.run, Some(&row.run))
            && has_words(row, words, names)
    }

    /// The words that are looked for, in small letters.
    pub fn search_terms(&self) -> Vec<String> {
        self.text.split_whitespace().map(str::to_lowercase).collect()
    }

    fn cost(&self, row: &EventRow) -> usize {
        if self.has_text() { TEXT_COST * (1 + row.data.bytes() / TEXT_COST_BYTES) } else { 1 }
    }
}

/// Whether every word occurs somewhere: in the data, in a field, or in the sentence, which is made only if necessary.
fn has_words(row: &EventRow, words: &[String], names: &Names) -> bool {
    if words.is_empty() {
        return true;
    }
    let data = row.data.as_kept().to_lowercase();
    let fields = [&row.agent, &row.activation, &row.session, &row.tool, &row.path];
    let fields = fields.map(|field| field.as_deref().map(str::to_lowercase));
    let stands = |word: &String| {
        data.contains(word.as_str()) || fields.iter().flatten().any(|field| field.contains(word.as_str()))
    };
    let missing: Vec<&String> = words.iter().filter(|word| !stands(word)).collect();
    if missing.is_empty() {
        return true;
    }
    let told = format!("{} {} {}", row.kind.word(), kind_words(&row.kind), sentence(row, names)).to_lowercase();
    missing.iter().all(|word| told.contains(word.as_str()))
}

/// What one frame did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// Rows that were judged.
    pub judged: usize,
    /// Hits that came before those that were known, less those that went there.
    pub shift: i64,
    /// Whether everything is judged anew.
    pub restarted: bool,
}

/// The hits of a filter, as far as they are known. Rows are meant by their numbers in the book.
#[derive(Clone, Debug, Default)]
pub struct FilterScan {
    filter: Filter,
    words: Vec<String>,
    /// The book and the names by which was judged.
    generation: Option<u64>,
    renames: u64,
    /// Oldest first.
    hits: Arc<VecDeque<u64>>,
    /// The rows from here to there are judged.
    from: u64,
    to: u64,
    /// The rows that the book has, when it was looked at last.
    first: u64,
    count: u64,
}

impl FilterScan {
    /// Takes in what is new and judges on, no more than the budget.
    pub fn advance(&mut self, book: &EventList, filter: &Filter, names: &Names) -> Step {
        let mut step = Step::default();
        let renamed = filter.has_text() && self.renames != names.renames();
        let behind = book.count().saturating_sub(self.to) > BACKLOG && !filter.is_empty();
        if self.generation != Some(book.generation()) || self.filter != *filter || renamed || behind {
            step.restarted = true;
            self.restart(book, filter, names);
        }
        if self.lists_all() {
            step.shift = -i64::try_from(book.first().saturating_sub(self.first)).unwrap_or(i64::MAX);
            (self.first, self.count) = (book.first(), book.count());
            return step;
        }
        step.shift -= self.forget_gone(book);
        (self.first, self.count) = (book.first(), book.count());
        let mut left = BUDGET;
        self.judge_new(book, names, &mut left, &mut step);
        self.judge_old(book, names, &mut left, &mut step);
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

    /// Lets go of hits that the book no longer has. How many.
    fn forget_gone(&mut self, book: &EventList) -> i64 {
        self.from = self.from.max(book.first());
        self.to = self.to.max(book.first());
        let gone = self.hits.partition_point(|number| *number < book.first());
        if gone > 0 {
            Arc::make_mut(&mut self.hits).drain(..gone);
        }
        gone as i64
    }

    fn judge_new(&mut self, book: &EventList, names: &Names, left: &mut usize, step: &mut Step) {
        let from = self.to;
        for (number, row) in book.since(from) {
            if *left == 0 {
                return;
            }
            *left = left.saturating_sub(self.filter.cost(row));
            step.judged += 1;
            self.to = number + 1;
            if self.filter.fits(row, &self.words, names) {
                Arc::make_mut(&mut self.hits).push_back(number);
            }
        }
    }

    fn judge_old(&mut self, book: &EventList, names: &Names, left: &mut usize, step: &mut Step) {
        while *left > 0 && self.from > book.first() {
            let number = self.from - 1;
            let Some(row) = book.row(number) else { return };
            *left = left.saturating_sub(self.filter.cost(row));
            step.judged += 1;
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

    /// Whether every row is judged.
    pub fn is_done(&self) -> bool {
        self.lists_all() || (self.from <= self.first && self.to == self.count)
    }

    /// Whether a row is judged.
    pub fn has_judged(&self, number: u64) -> bool {
        self.lists_all() || (self.from..self.to).contains(&number)
    }

    /// Hits so far.
    pub fn len(&self) -> usize {
        if self.lists_all() { usize::try_from(self.count - self.first).unwrap_or(0) } else { self.hits.len() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number in the book of a hit, the oldest first.
    pub fn number(&self, index: usize) -> Option<u64> {
        if self.lists_all() {
            Some(self.first + index as u64).filter(|number| *number < self.count)
        } else {
            self.hits.get(index).copied()
        }
    }

    /// Which hit a row is.
    pub fn index(&self, number: u64) -> Option<usize> {
        if self.lists_all() {
            let index = number.checked_sub(self.first).filter(|_| number < self.count)?;
            usize::try_from(index).ok()
        } else {
            self.hits.binary_search(&number).ok()
        }
    }

    /// How many hits there are from a row on.
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
