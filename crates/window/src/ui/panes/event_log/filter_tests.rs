//! Tests of the filter: an incremental scan finds the same as a full scan and stays within its budget.

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

/// Returns records of several kinds, agents, tools and runs.
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

/// Like [`varied`], with some routine records.
fn mixed(seq: u64) -> EventRow {
    if seq % 11 == 10 { routine(seq) } else { varied(seq) }
}

fn routine(seq: u64) -> EventRow {
    let (from, to, why) = ("heartbeat".into(), "idle".into(), "nothing calls".into());
    EventRow { agent: Some("ada-1".into()), ..row(seq, State { from, to, why }) }
}

/// Returns the hits of a full scan.
fn full_scan(book: &EventList, filter: &Filter, names: &Names) -> Vec<u64> {
    let words = filter.search_terms();
    book.since(0).filter(|(_, row)| filter.fits(row, &words, names)).map(|(number, _)| number).collect()
}

fn hits(scan: &FilterScan) -> Vec<u64> {
    (0..scan.len()).filter_map(|index| scan.number(index)).collect()
}

fn scan_to_end(scan: &mut FilterScan, book: &EventList, filter: &Filter, names: &Names) {
    for _ in 0..10_000 {
        scan.advance(book, filter, names);
        if scan.is_done() {
            return;
        }
    }
    panic!("it is never done");
}

fn fits(filter: &Filter, row: &EventRow) -> bool {
    filter.fits(row, &filter.search_terms(), &names())
}

#[test]
fn each_part_of_a_filter_is_applied() {
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
        (filter(|filter| filter.severity = SeverityFilter::Warnings), false),
        (filter(|filter| filter.run = Some("r-0".into())), true),
        (filter(|filter| filter.run = Some("r-1".into())), false),
    ];
    for (filter, expected) in table {
        assert_eq!(fits(&filter, &call), expected, "{filter:?}");
    }
    let hit_count =
        |severity| (0..5).filter(|seq| fits(&Filter { severity, ..Filter::default() }, &varied(*seq))).count();
    assert_eq!(
        [SeverityFilter::Everything, SeverityFilter::Warnings, SeverityFilter::Errors].map(hit_count),
        [5, 2, 1]
    );
}

#[test]
fn routine_records_are_hidden_unless_selected() {
    let looks = ActionQueued { action: "seekInfo".into(), target: Some("news".into()), ..ActionQueued::default() };
    let routine = [routine(1), row(2, looks)];
    let hits = |filter: Filter| routine.iter().filter(|row| fits(&filter, row)).count();
    assert_eq!(hits(Filter::default()), 0);
    assert_eq!(hits(Filter { everything: true, ..Filter::default() }), 2);
    let mut of_kind = Filter::default();
    of_kind.kinds.add(&EventKind::State);
    assert_eq!(hits(of_kind), 1, "a selected kind is always listed");
    assert!(fits(&Filter::default(), &varied(2)), "messages are never hidden");
}

#[test]
fn words_are_found_in_sentences_and_data_ignoring_case() {
    let found = |text: &str, seq: u64| fits(&Filter { text: text.into(), ..Filter::default() }, &varied(seq));
    assert!(found("plan-0.MD", 0), "a path");
    assert!(found("ada CALLED", 0), "the sentence with the name");
    assert!(found("target vfs", 0), "the raw data");
    assert!(found("tool call", 0), "the kind");
    assert!(found("österreich grüsse", 2) == found("GRÜSSE", 2), "every word must be there");
    assert!(found("ÖSTERREICH grüße", 2));
    assert!(found("  ", 2), "spaces match everything");
    assert!(!found("österreich tea", 2));
    assert!(!found("\"", 2) || varied(2).data.as_json().contains('"'));
}

#[test]
fn a_changed_filter_is_scanned_in_steps_newest_first() {
    let book = book_of((0..100_000).map(varied));
    let (names, mut scan) = (names(), FilterScan::default());
    let everything = Filter { everything: true, ..Filter::default() };
    assert_eq!(scan.advance(&book, &everything, &names).scanned, 0, "no scan is needed without a filter");
    assert_eq!((scan.len(), scan.is_done()), (100_000, true));
    let filter = Filter { severity: SeverityFilter::Errors, ..Filter::default() };
    let step = scan.advance(&book, &filter, &names);
    assert_eq!((step.scanned, step.restarted), (BUDGET, true));
    assert_eq!(scan.number(scan.len() - 1), Some(99_999), "the newest is found first");
    assert!(!scan.is_done() && scan.has_scanned(80_000) && !scan.has_scanned(79_999));
    let steps = (0..).take_while(|_| scan.advance(&book, &filter, &names).scanned > 0).count();
    assert_eq!((steps, scan.len(), scan.is_done()), (4, 20_000, true));
    assert_eq!(scan.advance(&book, &filter, &names), ScanStep::default(), "the scan is complete");
}

#[test]
fn text_searches_scan_fewer_rows_per_step() {
    let book = book_of((0..100_000).map(varied));
    let (names, mut scan) = (names(), FilterScan::default());
    let filter = Filter { text: "österreich".into(), ..Filter::default() };
    assert_eq!(scan.advance(&book, &filter, &names).scanned, BUDGET / TEXT_COST);
    let huge = row(2, said(&"x".repeat(4_000_000)));
    let book = book_of((0..20).map(|seq| EventRow { seq: Seq(seq), ..huge.clone() }));
    let scanned = FilterScan::default().advance(&book, &filter, &names).scanned;
    assert!((1..=2).contains(&scanned), "huge rows: {scanned}");
}

#[test]
fn only_new_rows_are_scanned_when_rows_arrive() {
    let mut book = book_of((0..50_000).map(varied));
    let (names, mut scan) = (names(), FilterScan::default());
    let filter = Filter { severity: SeverityFilter::Warnings, ..Filter::default() };
    scan_to_end(&mut scan, &book, &filter, &names);
    for seq in 50_000..50_007 {
        book.push_row(varied(seq).into());
    }
    assert_eq!(scan.advance(&book, &filter, &names), ScanStep { scanned: 7, shift: 0, restarted: false });
    assert_eq!(hits(&scan), full_scan(&book, &filter, &names));
    assert_eq!(scan.since(50_000), hits(&scan).iter().filter(|number| **number >= 50_000).count());
}

#[test]
fn a_renamed_agent_restarts_a_text_search() {
    let book = book_of((0..30).map(varied));
    let (mut names, mut scan) = (names(), FilterScan::default());
    let filter = Filter { text: "lovelace".into(), ..Filter::default() };
    scan_to_end(&mut scan, &book, &filter, &names);
    assert!(scan.is_empty());
    names.learn_agent(&"ada-1".into(), &"Ada Lovelace".into());
    scan_to_end(&mut scan, &book, &filter, &names);
    assert_eq!(hits(&scan), full_scan(&book, &filter, &names));
    assert!(!scan.is_empty());
}

#[derive(Clone, Debug)]
enum Op {
    Push(u8),
    Earlier(u8),
    Clear,
    Filter(Filter),
    Frame,
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let id = |words: &'static [&'static str]| proptest::option::of(prop::sample::select(words).prop_map(Id::from));
    let severity =
        prop::sample::select(vec![SeverityFilter::Everything, SeverityFilter::Warnings, SeverityFilter::Errors]);
    let kind = proptest::option::of(0..EventKind::ALL.len());
    let text = prop::sample::select(vec!["", "", "plan", "ada full", "ÖSTER"]);
    let everything = any::<bool>();
    (id(&["ada-1", "bram-1"]), id(&["vfs_read", "vfs_write"]), id(&["r-0"]), severity, kind, text, everything).prop_map(
        |(agent, tool, run, severity, kind, text, everything)| {
            let mut kinds = KindSet::default();
            kind.into_iter().for_each(|index| kinds.add(&EventKind::ALL[index]));
            Filter { agent, kinds, tool, severity, run, text: text.to_owned(), everything }
        },
    )
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let one = prop_oneof![
        4 => any::<u8>().prop_map(Op::Push),
        1 => any::<u8>().prop_map(Op::Earlier),
        1 => Just(Op::Clear),
        3 => any_filter().prop_map(Op::Filter),
        6 => Just(Op::Frame),
    ];
    prop::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn an_incremental_scan_finds_the_same_as_a_full_scan(ops in ops()) {
        let (mut book, names, mut scan) = (EventList::default(), names(), FilterScan::default());
        let (mut filter, mut first, mut next) = (Filter::default(), 100_000, 100_000);
        for op in ops {
            match op {
                Op::Push(count) => for _ in 0..count {
                    book.push_row(mixed(next).into());
                    next += 1;
                },
                Op::Earlier(count) => {
                    let rows = (first - u64::from(count)..first).map(|seq| Arc::new(mixed(seq))).collect();
                    first -= u64::from(count);
                    book.put_before(rows);
                }
                Op::Clear => {
                    book.clear();
                    first = next;
                }
                Op::Filter(other) => filter = other,
                Op::Frame => {
                    let step = scan.advance(&book, &filter, &names);
                    prop_assert!(step.scanned <= BUDGET);
                    let all = full_scan(&book, &filter, &names);
                    let scanned: Vec<u64> = all.into_iter().filter(|number| scan.has_scanned(*number)).collect();
                    prop_assert_eq!(hits(&scan), scanned);
                }
            }
        }
        scan_to_end(&mut scan, &book, &filter, &names);
        let all = full_scan(&book, &filter, &names);
        for (index, number) in all.iter().enumerate() {
            prop_assert_eq!(scan.index(*number), Some(index));
        }
        prop_assert_eq!(hits(&scan), all);
    }
}

#[test]
fn evicted_rows_are_dropped_and_reported_as_a_shift() {
    let kept = crate::view::event_list::ROWS_KEPT as u64;
    let shared = varied(0);
    let light = |seq: u64| EventRow { seq: Seq(seq), ..shared.clone() };
    let mut book = book_of((0..kept).map(light));
    let (names, mut scan) = (names(), FilterScan::default());
    let filter = Filter { tool: Some("vfs_read".into()), ..Filter::default() };
    scan_to_end(&mut scan, &book, &filter, &names);
    for seq in kept..kept + 10 {
        book.push_row(light(seq).into());
    }
    let step = scan.advance(&book, &filter, &names);
    assert_eq!((step.scanned, step.shift), (10, -10));
    assert_eq!((scan.number(0), scan.len() as u64), (Some(10), kept));
    let step = scan.advance(&book, &Filter { everything: true, ..Filter::default() }, &names);
    assert_eq!((step.shift, scan.number(0), scan.len() as u64), (0, Some(10), kept));
}
