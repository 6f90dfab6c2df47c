//! Follows a record to its causes and its effects. Damaged data may have gaps and cycles.

use std::collections::BTreeSet;

use super::texts;
use crate::base::{Seq, Severity};
use crate::log::EventKind;
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, sentence};

/// So many causes are shown.
pub const CAUSES_SHOWN: usize = 20;
/// So many effects are shown.
pub const EFFECTS_SHOWN: usize = 30;

/// A record that another leads to.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Which.
    pub seq: Seq,
    /// What it is about.
    pub kind: EventKind,
    /// How bad it is.
    pub severity: Option<Severity>,
    /// What it says.
    pub told: String,
}

impl Link {
    fn to(row: &EventRow, names: &Names) -> Self {
        Self { seq: row.seq, kind: row.kind.clone(), severity: row.severity, told: sentence(row, names) }
    }
}

/// Why a chain of causes goes no further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Nothing in the log came before it.
    Beginning,
    /// This record is not at hand.
    Missing(Seq),
    /// It leads back into itself, which only broken data does.
    Circle(Seq),
    /// There are more causes than are shown; the next is this.
    More(Seq),
}

/// What a record came from, the nearest first, and why there is no more.
pub fn causes(book: &EventList, row: &EventRow, names: &Names) -> (Vec<Link>, End) {
    let mut seen = BTreeSet::from([row.seq]);
    let (mut links, mut next) = (Vec::new(), row.cause);
    while let Some(seq) = next {
        if !seen.insert(seq) {
            return (links, End::Circle(seq));
        }
        let Some(cause) = book.find(seq) else { return (links, End::Missing(seq)) };
        if links.len() >= CAUSES_SHOWN {
            return (links, End::More(seq));
        }
        links.push(Link::to(cause, names));
        next = cause.cause;
    }
    (links, End::Beginning)
}

/// Why there is no cause, or none further back, in words.
pub fn nothing_before(end: End) -> String {
    match end {
        End::Beginning => texts::NO_CAUSES.to_owned(),
        End::Missing(seq) => texts::cause_is_missing(seq),
        End::Circle(seq) => texts::causes_form_a_loop(seq),
        End::More(seq) => texts::and_what_came_before(seq),
    }
}

/// What came of a record, as far as rows were looked at.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The first of them, oldest first.
    pub links: Vec<Link>,
    /// How many there are.
    pub count: usize,
    /// Rows before this one were looked at.
    to: u64,
}

impl Effects {
    /// Nothing is looked at yet of what came after a record.
    pub fn of(book: &EventList, seq: Seq) -> Self {
        let to = book.number_of(seq).map_or(book.first(), |number| number + 1);
        Self { to, ..Self::default() }
    }

    /// Looks at rows that were not looked at yet: all after the record at first, then only what is new. How many.
    pub fn update(&mut self, book: &EventList, seq: Seq, names: &Names) -> usize {
        let mut looked_at = 0;
        for (_, row) in book.since(self.to) {
            looked_at += 1;
            if row.cause != Some(seq) || row.seq == seq {
                continue;
            }
            self.count += 1;
            if self.links.len() < EFFECTS_SHOWN {
                self.links.push(Link::to(row, names));
            }
        }
        self.to = book.count();
        looked_at
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

    fn chain(rows: &[(u64, Option<u64>)], of: u64) -> (Vec<u64>, End) {
        let book = book_of(rows.iter().map(|(seq, cause)| caused(*seq, *cause)));
        let row = book.find(Seq(of)).expect("it should exist").clone();
        let (links, end) = causes(&book, &row, &Names::default());
        (links.iter().map(|link| link.seq.0).collect(), end)
    }

    #[test]
    fn causes_are_followed_to_the_beginning() {
        assert_eq!(chain(&[(1, None), (2, Some(1)), (4, Some(2))], 4), (vec![2, 1], End::Beginning));
        assert_eq!(chain(&[(1, None)], 1), (vec![], End::Beginning));
    }

    #[test]
    fn what_is_missing_or_leads_in_a_circle_ends_the_chain() {
        assert_eq!(chain(&[(5, Some(3)), (6, Some(5))], 6), (vec![5], End::Missing(Seq(3))));
        assert_eq!(chain(&[(5, Some(6)), (6, Some(5))], 6), (vec![5], End::Circle(Seq(6))));
        assert_eq!(chain(&[(5, Some(5))], 5), (vec![], End::Circle(Seq(5))));
        assert_eq!(chain(&[(1, None), (2, Some(3)), (3, Some(2)), (4, Some(3))], 4), (vec![3, 2], End::Circle(Seq(3))));
    }

    #[test]
    fn a_long_chain_is_cut_and_says_so() {
        let rows: Vec<_> = (0..100).map(|seq: u64| (seq, seq.checked_sub(1))).collect();
        let (links, end) = chain(&rows, 99);
        assert_eq!((links.len(), links.last(), end), (CAUSES_SHOWN, Some(&79), End::More(Seq(78))));
    }

    #[test]
    fn effects_are_bounded_counted_and_looked_up_once() {
        let mut book = book_of((0..100).map(|seq| caused(seq, Some(10).filter(|cause| *cause < seq))));
        let names = Names::default();
        let mut effects = Effects::of(&book, Seq(10));
        assert_eq!(effects.update(&book, Seq(10), &names), 89);
        assert_eq!((effects.links.len(), effects.count, effects.links[0].seq), (EFFECTS_SHOWN, 89, Seq(11)));
        assert_eq!(effects.update(&book, Seq(10), &names), 0, "nothing is new");
        book.push_row(caused(200, Some(10)).into());
        book.push_row(caused(201, Some(200)).into());
        assert_eq!(effects.update(&book, Seq(10), &names), 2);
        assert_eq!(effects.count, 90);
    }

    #[test]
    fn a_record_that_claims_to_be_its_own_cause_is_no_effect_of_itself() {
        let book = book_of([caused(4, Some(4)), caused(5, Some(4))]);
        let mut effects = Effects::of(&book, Seq(4));
        effects.update(&book, Seq(4), &Names::default());
        assert_eq!(effects.count, 1);
        let mut gone = Effects::of(&book, Seq(3));
        gone.update(&book, Seq(3), &Names::default());
        assert_eq!(gone.count, 0);
    }
}
