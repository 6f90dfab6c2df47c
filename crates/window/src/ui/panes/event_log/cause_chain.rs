//! Follows a record to its causes and its effects. Damaged data may have gaps and cycles.

use std::collections::BTreeSet;

use super::texts;
use crate::base::{Seq, Severity};
use crate::log::EventKind;
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, sentence};

/// The maximum number of causes shown.
pub const MAX_CAUSES: usize = 20;
/// The maximum number of effects shown.
pub const MAX_EFFECTS: usize = 30;

/// A link to another record.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Sequence number of the record.
    pub seq: Seq,
    /// Kind of the record.
    pub kind: EventKind,
    /// Severity of the record.
    pub severity: Option<Severity>,
    /// The record as a sentence.
    pub text: String,
}

impl Link {
    fn to(row: &EventRow, names: &Names) -> Self {
        Self { seq: row.seq, kind: row.kind.clone(), severity: row.severity, text: sentence(row, names) }
    }
}

/// Why a chain of causes ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChainEnd {
    /// The last record has no cause.
    Beginning,
    /// This record is not loaded.
    Missing(Seq),
    /// The chain leads back to this record, which happens only with damaged data.
    Cycle(Seq),
    /// There are more causes than are shown, beginning with this one.
    More(Seq),
}

/// Returns the causes of a record, the nearest first, and why the chain ends.
pub fn causes(book: &EventList, row: &EventRow, names: &Names) -> (Vec<Link>, ChainEnd) {
    let mut seen = BTreeSet::from([row.seq]);
    let (mut links, mut next) = (Vec::new(), row.cause);
    while let Some(seq) = next {
        if !seen.insert(seq) {
            return (links, ChainEnd::Cycle(seq));
        }
        let Some(cause) = book.find(seq) else { return (links, ChainEnd::Missing(seq)) };
        if links.len() >= MAX_CAUSES {
            return (links, ChainEnd::More(seq));
        }
        links.push(Link::to(cause, names));
        next = cause.cause;
    }
    (links, ChainEnd::Beginning)
}

/// Returns the text for the end of a chain.
pub fn chain_end_text(end: ChainEnd) -> String {
    match end {
        ChainEnd::Beginning => texts::NO_CAUSES.to_owned(),
        ChainEnd::Missing(seq) => texts::cause_is_missing(seq),
        ChainEnd::Cycle(seq) => texts::causes_form_a_loop(seq),
        ChainEnd::More(seq) => texts::and_what_came_before(seq),
    }
}

/// The effects of a record in the rows scanned so far.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The first effects, oldest first.
    pub links: Vec<Link>,
    /// The total number of effects.
    pub count: usize,
    /// The end of the scanned rows.
    to: u64,
}

impl Effects {
    /// Starts a scan after a record.
    pub fn of(book: &EventList, seq: Seq) -> Self {
        let to = book.number_of(seq).map_or(book.first(), |number| number + 1);
        Self { to, ..Self::default() }
    }

    /// Scans new rows; the first call scans all after the record. Returns the number of rows scanned.
    pub fn update(&mut self, book: &EventList, seq: Seq, names: &Names) -> usize {
        let mut scanned = 0;
        for (_, row) in book.since(self.to) {
            scanned += 1;
            if row.cause != Some(seq) || row.seq == seq {
                continue;
            }
            self.count += 1;
            if self.links.len() < MAX_EFFECTS {
                self.links.push(Link::to(row, names));
            }
        }
        self.to = book.count();
        scanned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::events::Warning;
    use crate::ui::panes::event_log::tests::{book_of, row};

    fn caused(seq: u64, cause: Option<u64>) -> EventRow {
        EventRow { cause: cause.map(Seq), ..row(seq, Warning::new(format!("number {seq}"))) }
    }

    fn chain(rows: &[(u64, Option<u64>)], of: u64) -> (Vec<u64>, ChainEnd) {
        let book = book_of(rows.iter().map(|(seq, cause)| caused(*seq, *cause)));
        let row = book.find(Seq(of)).expect("it should exist").clone();
        let (links, end) = causes(&book, &row, &Names::default());
        (links.iter().map(|link| link.seq.0).collect(), end)
    }

    #[test]
    fn causes_are_followed_to_the_beginning() {
        assert_eq!(chain(&[(1, None), (2, Some(1)), (4, Some(2))], 4), (vec![2, 1], ChainEnd::Beginning));
        assert_eq!(chain(&[(1, None)], 1), (vec![], ChainEnd::Beginning));
    }

    #[test]
    fn a_missing_record_or_a_cycle_ends_the_chain() {
        assert_eq!(chain(&[(5, Some(3)), (6, Some(5))], 6), (vec![5], ChainEnd::Missing(Seq(3))));
        assert_eq!(chain(&[(5, Some(6)), (6, Some(5))], 6), (vec![5], ChainEnd::Cycle(Seq(6))));
        assert_eq!(chain(&[(5, Some(5))], 5), (vec![], ChainEnd::Cycle(Seq(5))));
        assert_eq!(
            chain(&[(1, None), (2, Some(3)), (3, Some(2)), (4, Some(3))], 4),
            (vec![3, 2], ChainEnd::Cycle(Seq(3)))
        );
    }

    #[test]
    fn a_long_chain_is_cut() {
        let rows: Vec<_> = (0..100).map(|seq: u64| (seq, seq.checked_sub(1))).collect();
        let (links, end) = chain(&rows, 99);
        assert_eq!((links.len(), links.last(), end), (MAX_CAUSES, Some(&79), ChainEnd::More(Seq(78))));
    }

    #[test]
    fn effects_are_bounded_counted_and_scanned_once() {
        let mut book = book_of((0..100).map(|seq| caused(seq, Some(10).filter(|cause| *cause < seq))));
        let names = Names::default();
        let mut effects = Effects::of(&book, Seq(10));
        assert_eq!(effects.update(&book, Seq(10), &names), 89);
        assert_eq!((effects.links.len(), effects.count, effects.links[0].seq), (MAX_EFFECTS, 89, Seq(11)));
        assert_eq!(effects.update(&book, Seq(10), &names), 0, "nothing is new");
        book.push_row(caused(200, Some(10)).into());
        book.push_row(caused(201, Some(200)).into());
        assert_eq!(effects.update(&book, Seq(10), &names), 2);
        assert_eq!(effects.count, 90);
    }

    #[test]
    fn a_record_is_never_its_own_effect() {
        let book = book_of([caused(4, Some(4)), caused(5, Some(4))]);
        let mut effects = Effects::of(&book, Seq(4));
        effects.update(&book, Seq(4), &Names::default());
        assert_eq!(effects.count, 1);
        let mut gone = Effects::of(&book, Seq(3));
        gone.update(&book, Seq(3), &Names::default());
        assert_eq!(gone.count, 0);
    }
}
