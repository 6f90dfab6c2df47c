//! UI tests of the event log pane.

use std::sync::Arc;

use egui::{Key, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use super::*;
use crate::log::events::{
    Activation, AgentAdded, AgentRemoved, Error, FileChange, Message, State, ToolCall, ToolResult, UnknownEvent,
    Warning,
};
use crate::log::{Event, EventDraft, EventKind, EventRecord};
use crate::store::RunInfo;
use crate::ui::UiState;
use crate::ui::panes::conversations::ConversationsPane;
use crate::ui::state::dock::Tab;
use crate::ui::state::file_texts::FileTextRequest;
use crate::ui::testing::{PaneHarness, agent, stage_pane};
use crate::ui::testing_keyboard::tab_stops;
use crate::view::event_list::EventRow;
use crate::view::pick::RoomObject;

/// 2026-01-01 in Unix milliseconds.
const BEGAN_MS: u64 = 1_767_225_600_000;

/// Returns a row at `seq` seconds.
pub(super) fn row(seq: u64, event: impl Into<Event>) -> EventRow {
    let draft = EventDraft::from(event.into());
    EventRow::of(&EventRecord {
        seq: Seq(seq),
        tick: seq * 30,
        time_ms: BEGAN_MS + seq * 1_000,
        run: "r-1".into(),
        draft,
    })
}

/// Returns a log of these rows.
pub(super) fn book_of(rows: impl IntoIterator<Item = EventRow>) -> EventList {
    let mut book = EventList::default();
    for row in rows {
        book.push_row(Arc::new(row));
    }
    book
}

/// A task, what Ada did for it, and its result.
fn story() -> EventList {
    let of = |agent: &str, cause: Option<u64>, row: EventRow| EventRow {
        agent: Some(agent.into()),
        activation: Some("act-1".into()),
        cause: cause.map(Seq),
        ..row
    };
    let task = row(1, Activation { task: "write a plan".into(), by: "user".into(), ..Activation::default() });
    let target = Some("artifacts/plan.md".into());
    let call = row(2, ToolCall { tool: "vfs_write".into(), target, ..ToolCall::default() });
    let change = FileChange { chars: Some(9), version: Some(2), ..FileChange::new("artifacts/plan.md", "ada-1") };
    let change = row(3, change);
    let result = row(4, ToolResult { tool: "vfs_write".into(), ok: true, ..ToolResult::default() });
    let warning = row(5, Warning { element: Some("ideas".into()), ..Warning::new("the board is full") });
    let said = row(6, said("Done."));
    let said = EventRow { session: Some("conversation-4".into()), agent: Some("bram-1".into()), ..said };
    let left = EventRow { agent: Some("gone-1".into()), ..row(7, AgentRemoved { profile: "gone".into() }) };
    book_of([
        of("ada-1", None, task),
        of("ada-1", Some(1), call),
        of("ada-1", Some(2), change),
        of("ada-1", Some(2), result),
        of("ada-1", Some(2), warning),
        said,
        left,
    ])
}

fn said(text: &str) -> Message {
    Message { by: None, text: text.into(), id: None }
}

fn many(count: u64) -> EventList {
    book_of((1..=count).map(|seq| match seq % 100 {
        0 => row(seq, Error::Problem(Warning::new(format!("failure {seq}")).into())),
        _ => row(seq, said(&format!("word {seq}"))),
    }))
}

fn log_of(book: EventList, size: egui::Vec2) -> Harness<'static, PaneHarness> {
    let mut window =
        stage_pane(UiState::default(), |ui, cx, panes| event_log_ui(ui, cx, panes.pane_mut::<EventLogPane>()));
    window.set_size(size);
    window.state_mut().recent.book = book;
    window.run_steps(4);
    window
}

fn log(book: EventList) -> Harness<'static, PaneHarness> {
    log_of(book, vec2(1200.0, 700.0))
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(4);
}

fn click_row(window: &mut Harness<'static, PaneHarness>, seq: u64) {
    window.get_by_label_contains(&format!("Record {seq}:")).click();
    window.run_steps(4);
}

fn rows_on_screen(window: &Harness<'static, PaneHarness>) -> Vec<u64> {
    let number = |label: String| label.strip_prefix("Record ")?.split_once(':')?.0.parse().ok();
    let labels = window.query_all_by_label_contains("Record ").filter_map(|node| node.accesskit_node().label());
    labels.filter_map(number).collect()
}

fn pane<'a>(window: &'a mut Harness<'static, PaneHarness>) -> &'a mut EventLogPane {
    window.state_mut().parts.pane_mut::<EventLogPane>()
}

#[test]
fn an_empty_log_explains_itself() {
    let window = log(EventList::default());
    assert!(window.query_by_label("No events yet").is_some());
    assert!(window.query_by_label("0 records").is_some());
}

#[test]
fn rows_are_plain_sentences() {
    let window = log(story());
    assert!(
        window
            .query_by_label("Record 3: File change, Ada, Ada wrote artifacts/plan.md (version 2, 9 characters)")
            .is_some()
    );
    assert!(window.query_by_label("Record 5: Warning, Ada, Ada could not change ideas: the board is full").is_some());
    assert!(window.query_by_label("7 records").is_some());
}

/// A log with routine records around one message.
fn day() -> EventList {
    let state =
        |from: &'static str, to: &'static str| State { from: from.into(), to: to.into(), why: "nothing calls".into() };
    book_of([
        row(1, state("idle", "heartbeat")),
        row(2, state("heartbeat", "idle")),
        row(3, said("Done.")),
        row(4, state("idle", "heartbeat")),
    ])
}

#[test]
fn routine_records_are_hidden_until_everything_is_shown() {
    let mut window = log(day());
    assert_eq!(rows_on_screen(&window), [3]);
    assert!(window.query_by_label("1 record, 3 folded").is_some());
    click(&mut window, "Show everything");
    assert_eq!(rows_on_screen(&window), [1, 2, 3, 4]);
    assert!(window.query_by_label("4 records").is_some());
    assert!(window.query_by_label("Clear filters").is_none(), "hidden routine records are not a filter");
    click(&mut window, "Show everything");
    assert_eq!(rows_on_screen(&window), [3]);
}

#[test]
fn a_hidden_routine_record_can_be_revealed() {
    let mut window = log(day());
    pane(&mut window).chosen = Some(Seq(2));
    window.run_steps(3);
    assert!(window.query_by_label("This record is collapsed in the list.").is_some());
    click(&mut window, "Clear the filters and show this record");
    assert_eq!(rows_on_screen(&window), [1, 2, 3, 4]);
}

#[test]
fn a_long_sentence_has_two_lines() {
    let long = "a word and another one ".repeat(40);
    let window = log_of(book_of([row(1, said(&long)), row(2, said("short"))]), vec2(420.0, 400.0));
    let rect = |label: &str| window.get_by_label_contains(label).rect();
    assert_eq!(rect("Record 1:").height(), rows::ROW_POINTS);
    assert_eq!(rect("Record 2:").height(), rows::ROW_POINTS, "rows far down are found by their number");
    const { assert!(rows::ROW_POINTS >= 2.0 * crate::view::theme::TYPE[1] * 1.25) };
}

#[test]
fn the_tail_hides_routine_records_like_the_log() {
    let mut window =
        stage_pane(UiState::default(), |ui, cx, panes| event_tail_ui(ui, cx, panes.pane_mut::<EventLogPane>()));
    window.set_size(vec2(300.0, 600.0));
    window.state_mut().recent.book = day();
    window.run_steps(4);
    assert_eq!(rows_on_screen(&window), [3]);
}

#[test]
fn only_visible_rows_are_drawn() {
    let mut window = log(many(100_000));
    let shown = rows_on_screen(&window);
    assert!((10..40).contains(&shown.len()), "{} rows", shown.len());
    assert_eq!(shown.last(), Some(&100_000), "the newest is visible");
    assert!(pane(&mut window).sentence_count() < 40, "only visible rows have sentences");
    pane(&mut window).filter.severity = filter::SeverityFilter::Errors;
    window.run_steps(1);
    assert!(window.query_by_label("Still counting").is_some());
    window.run_steps(8);
    assert!(window.query_by_label("1,000 of 100,000").is_some());
    assert!(window.query_by_label("Still counting").is_none());
}

#[test]
fn new_rows_are_followed_unless_the_user_scrolled_away() {
    let mut window = log(many(500));
    let push = |window: &mut Harness<'static, PaneHarness>, seq| {
        let row = row(seq, said("new"));
        window.state_mut().recent.book.push_row(Arc::new(row));
        window.run_steps(3);
    };
    push(&mut window, 501);
    assert_eq!(rows_on_screen(&window).last(), Some(&501));
    window.hover_at(egui::pos2(400.0, 400.0));
    window.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, 2_000.0),
        phase: egui::TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
    });
    window.run_steps(20);
    let before = rows_on_screen(&window);
    assert!(before.last() < Some(&490), "{before:?}");
    push(&mut window, 502);
    push(&mut window, 503);
    assert_eq!(rows_on_screen(&window), before, "the visible rows stay in place");
    click(&mut window, "2 new");
    assert_eq!(rows_on_screen(&window).last(), Some(&503));
    assert!(window.query_by_label("2 new").is_none());
    click(&mut window, "Follow");
    assert!(window.query_by_label("Jump to newest").is_none(), "it is there");
    push(&mut window, 504);
    push(&mut window, 505);
    assert!(!rows_on_screen(&window).contains(&505), "the switch is off");
    assert!(window.query_by_label("2 new").is_some());
    click(&mut window, "Follow");
    assert_eq!(rows_on_screen(&window).last(), Some(&505));
}

#[test]
fn rows_inserted_above_do_not_scroll_the_list() {
    let mut window = log(many(100_000));
    pane(&mut window).chosen = Some(Seq(60_000));
    window.run_steps(2);
    assert!(rows_on_screen(&window).contains(&60_000));
    pane(&mut window).filter.severity = filter::SeverityFilter::Errors;
    window.run_steps(3);
    let before = rows_on_screen(&window);
    assert!(before.contains(&60_000), "{before:?}");
    window.run_steps(6);
    assert_eq!(rows_on_screen(&window), before);
}

#[test]
fn the_card_shows_the_record_with_links_to_causes_and_effects() {
    let mut window = log(story());
    click_row(&mut window, 4);
    assert!(window.query_by_label("Record 4").is_some());
    assert!(window.query_by_label("act-1").is_some());
    assert!(window.query_by_label("Caused by record 1: Ada was asked by you: write a plan").is_some());
    click(&mut window, "Caused by record 2: Ada called vfs_write: artifacts/plan.md");
    assert_eq!(pane(&mut window).chosen, Some(Seq(2)));
    click(&mut window, "Led to record 5: Ada could not change ideas: the board is full");
    assert_eq!(pane(&mut window).chosen, Some(Seq(5)));
    assert!(window.query_by_label("This is a warning").is_some());
    click(&mut window, "Close card");
    assert!(window.query_by_label("Record 5").is_none());
}

#[test]
fn the_card_links_to_agent_file_and_conversation() {
    let mut window = log(story());
    click_row(&mut window, 3);
    click(&mut window, "Show agent");
    assert_eq!(*window.state().state.selection.things(), [RoomObject::Agent("ada-1".into())].into());
    click(&mut window, "Show file");
    click_row(&mut window, 6);
    assert!(window.query_by_label("Show file").is_none());
    click(&mut window, "Show conversation");
    assert_eq!(window.state().parts.pane::<ConversationsPane>().open.as_deref(), Some("conversation-4"));
    let expected = [Command::OpenFile("artifacts/plan.md".into(), None), Command::Show(Tab::TALKS)];
    assert_eq!(window.state().commands, expected);
    window.state_mut().state.selection.select([]);
    click_row(&mut window, 7);
    click(&mut window, "Show agent");
    assert!(window.state().state.selection.things().is_empty(), "a removed agent cannot be shown");
    click(&mut window, "Copy as JSON");
    assert_eq!(
        window.state().state.notices.outcomes().last().map(|told| told.text.as_str()),
        Some("Record 7 was copied")
    );
}

#[test]
fn the_card_says_when_the_filter_hides_its_record() {
    let mut window = log(story());
    click_row(&mut window, 4);
    pane(&mut window).filter.severity = filter::SeverityFilter::Warnings;
    window.run_steps(3);
    assert_eq!(rows_on_screen(&window), [5]);
    click(&mut window, "Clear the filters and show this record");
    assert!(pane(&mut window).filter.is_unfiltered());
    assert_eq!(rows_on_screen(&window).len(), 7);
}

#[test]
fn the_card_says_when_its_record_is_not_loaded() {
    let mut window = log(story());
    pane(&mut window).chosen = Some(Seq(4_000));
    window.run_steps(3);
    assert!(window.query_by_label("This record is not available").is_some());
    window.state_mut().recent.book.push_row(Arc::new(row(4_000, said("here"))));
    window.run_steps(3);
    assert!(window.query_by_label("Somebody said: here").is_some());
}

#[test]
fn filter_menus_list_occurring_values_and_can_be_cleared() {
    let mut window = log(story());
    click(&mut window, "Agent filter");
    click(&mut window, "Bram");
    assert_eq!(rows_on_screen(&window), [6]);
    click(&mut window, "Clear filters");
    click(&mut window, "Tool filter");
    assert!(window.query_by_label("vfs_read").is_none(), "the value does not occur");
    click(&mut window, "vfs_write");
    assert_eq!(rows_on_screen(&window), [2, 4]);
    assert!(window.query_by_label("2 of 7").is_some());
    click(&mut window, "Clear filters");
    click(&mut window, "Type filter");
    click(&mut window, "Message");
    click(&mut window, "Warning");
    assert_eq!(rows_on_screen(&window), [5, 6]);
    window.key_press(Key::Escape);
    window.run_steps(3);
    click(&mut window, "Clear filters");
    click(&mut window, "Severity filter");
    click(&mut window, "Errors");
    assert!(window.query_by_label("No results").is_some());
}

#[test]
fn the_search_follows_typing() {
    let mut window = log(story());
    window.get_by_label("Search the log").focus();
    window.run_steps(2);
    window.get_by_label("Search the log").type_text("PLAN version");
    window.run_steps(4);
    assert_eq!(rows_on_screen(&window), [3]);
}

#[test]
fn keys_move_the_selection_and_open_its_card() {
    let mut window = log(many(1_000));
    click_row(&mut window, 1_000);
    click(&mut window, "Close card");
    click_row(&mut window, 999);
    let press = |window: &mut Harness<'static, PaneHarness>, key| {
        window.key_press(key);
        window.run_steps(4);
        window.state().parts.pane::<EventLogPane>().chosen.map(|seq| seq.0)
    };
    assert_eq!(press(&mut window, Key::ArrowUp), Some(998));
    assert_eq!(press(&mut window, Key::ArrowDown), Some(999));
    assert_eq!(press(&mut window, Key::Home), Some(1));
    assert_eq!(rows_on_screen(&window).first(), Some(&1));
    let paged = press(&mut window, Key::PageDown);
    assert!(paged > Some(10) && paged < Some(40), "{paged:?}");
    assert_eq!(press(&mut window, Key::PageUp), Some(1));
    assert_eq!(press(&mut window, Key::End), Some(1_000));
    assert_eq!(rows_on_screen(&window).last(), Some(&1_000));
    assert_eq!(press(&mut window, Key::ArrowDown), Some(1_000), "there are no further rows");
    pane(&mut window).is_card_closed = true;
    press(&mut window, Key::Enter);
    assert!(window.query_by_label("Record 1000").is_some());
}

#[test]
fn tab_moves_from_the_list_to_the_card_and_every_stop_has_a_name() {
    for size in [vec2(1200.0, 700.0), vec2(700.0, 700.0)] {
        let mut window = log_of(story(), size);
        click_row(&mut window, 4);
        let stops = tab_stops(&mut window);
        let names: Vec<&str> = stops.iter().map(|stop| stop.name.as_str()).collect();
        assert!(names.iter().all(|name| !name.is_empty()), "at {size}: {stops:?}");
        let mut rest = names.iter();
        for wanted in ["Search the log", texts::ROWS_OF_THE_LOG, "Close card", "Copy as JSON"] {
            assert!(rest.any(|name| *name == wanted), "at {size}: {wanted} has not its turn in {names:?}");
        }
    }
}

#[test]
fn times_are_simulated_or_wall_clock() {
    let mut window = log(story());
    click(&mut window, "Clock time");
    assert!(pane(&mut window).by_clock);
    click(&mut window, "Simulated time");
    assert!(!pane(&mut window).by_clock);
}

#[test]
fn the_log_is_exported_and_earlier_runs_are_shown() {
    let mut window = log(story());
    click(&mut window, "Export JSON");
    click(&mut window, "Run");
    assert!(window.state().state.texts.has_requests(&FileTextRequest::Runs));
    assert!(window.query_by_label("Loading runs…").is_some());
    let run = RunInfo {
        id: "r-0".into(),
        scene: "morning".into(),
        seed: 1,
        started_ms: BEGAN_MS,
        end: None,
        first_seq: Seq(1),
        first_tick: 0,
        last_tick: 90,
    };
    window.state_mut().state.time.born_ms = BEGAN_MS + 1_000;
    window.state_mut().state.texts.runs = Some(Ok(Arc::new(vec![run])));
    window.run_steps(2);
    click(&mut window, "morning, today, 00:00: not ended");
    click(&mut window, "Back to the open run");
    let expected = [Command::ExportLog(None), Command::ShowRun(Some("r-0".into())), Command::ShowRun(None)];
    assert_eq!(window.state().commands, expected);
}

#[test]
fn runs_that_fail_to_load_say_why() {
    let mut window = log(story());
    window.state_mut().state.texts.runs = Some(Err("the history is locked".into()));
    click(&mut window, "Run");
    assert!(window.query_by_label("Runs could not be loaded: the history is locked").is_some());
}

#[test]
fn the_log_of_another_room_replaces_the_last_one() {
    let mut window = log(story());
    click_row(&mut window, 3);
    pane(&mut window).filter.severity = filter::SeverityFilter::Warnings;
    window.run_steps(3);
    assert_eq!(rows_on_screen(&window), [5]);
    let other = |seq| row(seq, Warning::new(format!("warning {seq}")));
    window.state_mut().recent.book = book_of((1..12).map(other));
    window.run_steps(3);
    assert_eq!(rows_on_screen(&window), (1..12).collect::<Vec<_>>());
    assert!(window.query_by_label("Warning 3").is_some(), "the card shows the current record");
}

#[test]
fn a_former_agent_keeps_its_name() {
    let came = row(1, AgentAdded { name: "Cleo".into(), ..AgentAdded::default() });
    let went = row(2, AgentRemoved { profile: "cleo".into() });
    let of = |row: EventRow| EventRow { agent: Some("cleo-1".into()), ..row };
    let window = log(book_of([of(came), of(went)]));
    assert!(window.query_by_label("Record 2: Agent removed, Cleo, Cleo left the room (profile cleo)").is_some());
}

#[test]
fn agent_names_are_updated_incrementally() {
    let mut window = log(EventList::default());
    window.state_mut().room.agents =
        (0..1_000).map(|key| agent(key, &format!("agent-{key}"), &format!("Agent {key}"))).collect();
    let book = book_of((0..100_000).map(|seq| {
        let (from, to, why) = ("idle".into(), "wandering".into(), "nothing calls".into());
        let row = row(seq, State { from, to, why });
        EventRow { agent: Some(format!("agent-{}", seq % 1_000).into()), cause: seq.checked_sub(1).map(Seq), ..row }
    }));
    window.state_mut().recent.book = book;
    window.run_steps(12);
    let PaneHarness { room, recent, parts, .. } = window.state_mut();
    let mut facets = std::mem::take(&mut parts.pane_mut::<EventLogPane>().facets);
    let version = facets.names.version();
    assert_eq!((facets.advance(&recent.book, room), facets.is_done(), facets.agents.len()), (0, true, 1_000));
    assert_eq!(facets.names.version(), version);
}

#[test]
fn the_tail_shows_the_newest_records_and_opens_the_log() {
    let mut window =
        stage_pane(UiState::default(), |ui, cx, panes| event_tail_ui(ui, cx, panes.pane_mut::<EventLogPane>()));
    window.set_size(vec2(300.0, 600.0));
    window.state_mut().recent.book = many(100_000);
    window.run_steps(6);
    let shown = rows_on_screen(&window);
    assert!(shown.len() < 40, "{} rows", shown.len());
    assert_eq!(shown.last(), Some(&100_000));
    click_row(&mut window, 100_000);
    assert!(window.query_by_label("Record 100000").is_some());
    click(&mut window, "Whole log");
    assert_eq!(window.state().commands, [Command::Show(Tab::LOG)]);
    assert_eq!(pane(&mut window).chosen, Some(Seq(100_000)));
}

#[test]
fn long_and_non_latin_names_are_drawn() {
    let long = EventRow {
        agent: Some("ü🦀".repeat(500).into()), ..row(1, said(&"𝔘𝔫𝔦𝔠𝔬𝔡𝔢\u{202e}\n\t".repeat(500)))
    };
    let odd = |kind: &str| Event::Unknown(UnknownEvent::new(EventKind::from_name(kind), [1, 2]));
    let odd = [row(2, odd("tool_call")), row(3, odd(&"odd_".repeat(10_000)))];
    let mut window = log_of(book_of([long].into_iter().chain(odd)), vec2(320.0, 500.0));
    assert_eq!(rows_on_screen(&window), [1, 2, 3]);
    click_row(&mut window, 2);
    let told = "this version cannot read its data: [1,2]";
    assert!(window.query_all_by_label_contains(told).next().is_some());
}
