//! Tests of the filter: applied in steps, it lists what it would list if applied at once, and never does too much per
//! frame.

use proptest::prelude::*;

use super::*;
use crate::base::Seq;
use crate::log::Event;
use crate::log::events::{ActionQueued, Error, Message, State, ToolCall, ToolResult, Warning, WorkFailed};
use crate::ui::panes::event_log::tests::{book_of, row};
use crate::ui::testing::sample_room;
use crate::view::event_text::learn_room;

fn names() -> Names {
    let mut names = Names::default();
    learn_room(&mut names, &sample_room());
    names
}

fn said(text: &str) -> Event {
    Message { by: None, text: text.into(), id: None }.into()
}

/// Records of several kinds, agents, tools and runs.
fn varied(seq: u64) -> EventRow {
    let (tool, target) = ("vfs_read".into(), Some(format!("artifacts/Plan-{seq}.md")));
    let event: Event = match seq % 5 {
        0 => ToolCall { tool, target, ..ToolCall::default() }.into(),
        1 => ToolResult { tool: "vfs_write".into(), ok: true, text: "Written".into(), ..ToolResult::default() }.into(),
        2 => said("Grüße aus ÖSTERREICH"),
        3 => Warning { element: Some("ideas".into()), ..Warning::new("the board is full") }.into(),
        _ => Error::Work(WorkFailed { what: "no answer".into(), ..WorkFailed::default() }).into(),
    };
    let mut row = row(seq, event);
    row.agent = [Some("ada-1"), Some("bram-1"), None][seq as usize % 3].map(Id::from);
    row.run = if seq.is_multiple_of(7) { "r-0".into() } else { "r-1".into() };
    row
}

/// The same, with some that are only routine.
fn mixed(seq: u64) -> EventRow {
    if seq % 11 == 10 { routine(seq) } else { varied(seq) }
}

fn routine(seq: u64) -> EventRow {
    let (from, to, why) = ("heartbeat".into(), "idle".into(), "nothing calls".into());
    EventRow { agent: Some("ada-1".into()), ..row(seq, State { from, to, why }) }
}

/// What filtering everything at once lists.
fn at_once(book: &EventList, filter: &Filter, names: &Names) -> Vec<u64> {
    let words = filter.search_terms();
    book.since(0).filter(|(_, row)| filter.fits(row, &words, names)).map(|(number, _)| number).collect()
}

fn listed(sieve: &FilterScan) -> Vec<u64> {
    (0..sieve.len()).filter_map(|index| sieve.number(index)).collect()
}

fn settle(sieve: &mut FilterScan, book: &EventList, filter: &Filter, names: &Names) {
    for _ in 0..10_000 {
        sieve.advance(book, filter, names);
        if sieve.is_done() {
            return;
        }
    }
    panic!("it is never done");
}

fn fits(filter: &Filter, row: &EventRow) -> bool {
    filter.fits(row, &filter.search_terms(), &names())
}

#[test]
fn each_part_of_a_filter_asks_for_its_own() {
    let call = varied(0);
    let filter = |change: fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        filter
    };
    let table: [(Filter, bool); 10] = [
        (Filter::default(), true),
        (filter(|filter| filter.agent = Some("ada-1".into())), true),
        (filter(|filter| filter.agent = Some("bram-1".into())), false),
        (filter(|filter| filter.tool = Some("vfs_read".into())), true),
        (filter(|filter| filter.tool = Some("vfs_write".into())), false),
        (filter(|filter| filter.kinds.add(&EventKind::ToolCall)), true),
        (filter(|filter| filter.kinds.add(&EventKind::Message)), false),
        (filter(|filter| filter.grade = Grade::Warnings), false),
        (filter(|filter| filter.run = Some("r-0".into())), true),
        (filter(|filter| filter.run = Some("r-1".into())), false),
    ];
    for (filter, expected) in table {
        assert_eq!(fits(&filter, &call), expected, "{filter:?}");
    }
    let graded = |grade| (0..5).filter(|seq| fits(&Filter { grade, ..Filter::default() }, &varied(*seq))).count();
    assert_eq!([Grade::Everything, Grade::Warnings, Grade::Errors].map(graded), [5, 2, 1]);
}

#[test]
fn states_and_heartbeats_are_folded_unless_somebody_asks_for_them() {
    let looks = ActionQueued { action: "seekInfo".into(), target: Some("news".into()), ..ActionQueued::default() };
    let routine = [routine(1), row(2, looks)];
    let listed = |filter: Filter| routine.iter().filter(|row| fits(&filter, row)).count();
    assert_eq!(listed(Filter::default()), 0);
    assert_eq!(listed(Filter { everything: true, ..Filter::default() }), 2);
    let mut of_kind = Filter::default();
    of_kind.kinds.add(&EventKind::State);
    assert_eq!(listed(of_kind), 1, "whoever asks for a kind gets it");
    assert!(fits(&Filter::default(), &varied(2)), "what somebody said is never folded");
}

#[test]
fn words_are_found_in_sentences_and_data_in_large_or_small_letters() {
    let found = |text: &str, seq: u64| fits(&Filter { text: text.into(), ..Filter::default() }, &varied(seq));
    assert!(found("plan-0.MD", 0), "a path");
    assert!(found("ada CALLED", 0), "the sentence, which says the name");
    assert!(found("target vfs", 0), "the data as it is");
    assert!(found("tool call", 0), "the kind");
    assert!(found("österreich grüsse", 2) == found("GRÜSSE", 2), "every word must be there");
    assert!(found("ÖSTERREICH grüße", 2));
    assert!(found("  ", 2), "blanks ask for nothing");
    assert!(!found("österreich tea", 2));
    assert!(!found("\"", 2) || varied(2).data.as_kept().contains('"'));
}

#[test]
fn a_changed_filter_is_judged_a_slice_at_a_time_the_newest_first() {
    let book = book_of((0..100_000).map(varied));
    let (names, mut sieve) = (names(), FilterScan::default());
    let everything = Filter { everything: true, ..Filter::default() };
    assert_eq!(sieve.advance(&book, &everything, &names).judged, 0, "everything needs no judging");
    assert_eq!((sieve.len(), sieve.is_done()), (100_000, true));
    let filter = Filter { grade: Grade::Errors, ..Filter::default() };
    let step = sieve.advance(&book, &filter, &names);
    assert_eq!((step.judged, step.restarted), (BUDGET, true));
    assert_eq!(sieve.number(sieve.len() - 1), Some(99_999), "the newest is there at once");
    assert!(!sieve.is_done() && sieve.has_judged(80_000) && !sieve.has_judged(79_999));
    let steps = (0..).take_while(|_| sieve.advance(&book, &filter, &names).judged > 0).count();
    assert_eq!((steps, sieve.len(), sieve.is_done()), (4, 20_000, true));
    assert_eq!(sieve.advance(&book, &filter, &names), Step::default(), "nothing is left to do");
}

#[test]
fn looking_for_words_takes_smaller_slices() {
    let book = book_of((0..100_000).map(varied));
    let (names, mut sieve) = (names(), FilterScan::default());
    let filter = Filter { text: "österreich".into(), ..Filter::default() };
    assert_eq!(sieve.advance(&book, &filter, &names).judged, BUDGET / TEXT_COST);
    let huge = row(2, said(&"x".repeat(4_000_000)));
    let book = book_of((0..20).map(|seq| EventRow { seq: Seq(seq), ..huge.clone() }));
    let judged = FilterScan::default().advance(&book, &filter, &names).judged;
    assert!((1..=2).contains(&judged), "huge rows: {judged}");
}

#[test]
fn only_new_rows_are_judged_when_rows_come() {
    let mut book = book_of((0..50_000).map(varied));
    let (names, mut sieve) = (names(), FilterScan::default());
    let filter = Filter { grade: Grade::Warnings, ..Filter::default() };
    settle(&mut sieve, &book, &filter, &names);
    for seq in 50_000..50_007 {
        book.push_row(varied(seq).into());
    }
    assert_eq!(sieve.advance(&book, &filter, &names), Step { judged: 7, shift: 0, restarted: false });
    assert_eq!(listed(&sieve), at_once(&book, &filter, &names));
    assert_eq!(sieve.since(50_000), listed(&sieve).iter().filter(|number| **number >= 50_000).count());
}

#[test]
fn who_is_called_something_else_is_looked_for_again() {
    let book = book_of((0..30).map(varied));
    let (mut names, mut sieve) = (names(), FilterScan::default());
    let filter = Filter { text: "lovelace".into(), ..Filter::default() };
    settle(&mut sieve, &book, &filter, &names);
    assert!(sieve.is_empty());
    names.learn_agent(&"ada-1".into(), &"Ada Lovelace".into());
    settle(&mut sieve, &book, &filter, &names);
    assert_eq!(listed(&sieve), at_once(&book, &filter, &names));
    assert!(!sieve.is_empty());
}

#[derive(Clone, Debug)]
enum Happens {
    Push(u8),
    Earlier(u8),
    Clear,
    Filter(Filter),
    Frame,
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let id = |words: &'static [&'static str]| proptest::option::of(prop::sample::select(words).prop_map(Id::from));
    let grade = prop::sample::select(vec![Grade::Everything, Grade::Warnings, Grade::Errors]);
    let kind = proptest::option::of(0..EventKind::ALL.len());
    let text = prop::sample::select(vec!["", "", "plan", "ada full", "ÖSTER"]);
    let everything = any::<bool>();
    (id(&["ada-1", "bram-1"]), id(&["vfs_read", "vfs_write"]), id(&["r-0"]), grade, kind, text, everything).prop_map(
        |(agent, tool, run, grade, kind, text, everything)| {
            let mut kinds = Kinds::default();
            kind.into_iter().for_each(|index| kinds.add(&EventKind::ALL[index]));
            Filter { agent, kinds, tool, grade, run, text: text.to_owned(), everything }
        },
    )
}

fn happenings() -> impl Strategy<Value = Vec<Happens>> {
    let one = prop_oneof![
        4 => any::<u8>().prop_map(Happens::Push),
        1 => any::<u8>().prop_map(Happens::Earlier),
        1 => Just(Happens::Clear),
        3 => any_filter().prop_map(Happens::Filter),
        6 => Just(Happens::Frame),
    ];
    prop::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn a_slice_at_a_time_lists_what_judging_all_at_once_lists(happenings in happenings()) {
        let (mut book, names, mut sieve) = (EventList::default(), names(), FilterScan::default());
        let (mut filter, mut first, mut next) = (Filter::default(), 100_000, 100_000);
        for happens in happenings {
            match happens {
                Happens::Push(count) => for _ in 0..count {
                    book.push_row(mixed(next).into());
                    next += 1;
                },
                Happens::Earlier(count) => {
                    let rows = (first - u64::from(count)..first).map(|seq| Arc::new(mixed(seq))).collect();
                    first -= u64::from(count);
                    book.put_before(rows);
                }
                Happens::Clear => {
                    book.clear();
                    first = next;
                }
                Happens::Filter(other) => filter = other,
                Happens::Frame => {
                    let step = sieve.advance(&book, &filter, &names);
                    prop_assert!(step.judged <= BUDGET);
                    let all = at_once(&book, &filter, &names);
                    let judged: Vec<u64> = all.into_iter().filter(|number| sieve.has_judged(*number)).collect();
                    prop_assert_eq!(listed(&sieve), judged);
                }
            }
        }
        settle(&mut sieve, &book, &filter, &names);
        let all = at_once(&book, &filter, &names);
        for (index, number) in all.iter().enumerate() {
            prop_assert_eq!(sieve.index(*number), Some(index));
        }
        prop_assert_eq!(listed(&sieve), all);
    }
}

#[test]
fn rows_that_the_book_lets_go_leave_the_list_and_the_list_says_by_how_much_it_moved() {
    let kept = crate::view::event_list::ROWS_KEPT as u64;
    let shared = varied(0);
    let light = |seq: u64| EventRow { seq: Seq(seq), ..shared.clone() };
    let mut book = book_of((0..kept).map(light));
    let (names, mut sieve) = (names(), FilterScan::default());
    let filter = Filter { tool: Some("vfs_read".into()), ..Filter::default() };
    settle(&mut sieve, &book, &filter, &names);
    for seq in kept..kept + 10 {
        book.push_row(light(seq).into());
    }
    let step = sieve.advance(&book, &filter, &names);
    assert_eq!((step.judged, step.shift), (10, -10));
    assert_eq!((sieve.number(0), sieve.len() as u64), (Some(10), kept));
    let step = sieve.advance(&book, &Filter { everything: true, ..Filter::default() }, &names);
    assert_eq!((step.shift, sieve.number(0), sieve.len() as u64), (0, Some(10), kept));
}
