//! UI tests of the blackboard pane.

use egui_kittest::kittest::Queryable;

use super::*;
use crate::gateway::ExchangeCounts;
use crate::orchestration::ArchivedEntry;
use crate::ui::UiState;
use crate::ui::testing::{PaneHarness, pane_of, sample_room};
use crate::view::collaboration::{ArchivedEntryView, ChannelView, CollaborationView, EntryView};

const RUN: ActivationKey = ActivationKey::numbered(7);

fn stage() -> egui_kittest::Harness<'static, PaneHarness> {
    let entry = EntryView {
        key: "plan".into(),
        value: "count".into(),
        by: "ada-1".into(),
        tick: 90,
        version: 2,
        before: vec![(1, "ada-1".into(), 30, "think".into())],
        ..EntryView::default()
    };
    stage_with(vec![entry])
}

fn stage_with(entries: Vec<EntryView>) -> egui_kittest::Harness<'static, PaneHarness> {
    let mut room = sample_room();
    let board = BoardView {
        run: RUN,
        task: "Plan the party".into(),
        agent: Some("ada-1".into()),
        is_over: false,
        entries,
        exchanged: ExchangeCounts { hand_overs: 1, messages: 2, ..ExchangeCounts::default() },
    };
    let channel = ChannelView {
        name: "findings".into(),
        listeners: vec![("bram-1".into(), 2)],
        messages: vec![(1, "ada-1".into(), "12 chairs".into())],
        counts: (1, 0, 0),
    };
    let kept =
        ArchivedEntry { key: "lesson".into(), value: "ask".into(), by: "ada-1".into(), run: "act-3".into(), secs: 5 };
    let kept = vec![ArchivedEntryView { entry: kept, value: "ask".into() }];
    room.collaboration =
        CollaborationView { channels: vec![channel], boards: vec![board], kept, shown: [].into() }.into();
    let pane = std::cell::RefCell::new(BlackboardPane::default());
    pane_of(PaneHarness::new(room, UiState::default()), move |ui, cx, _| pane.borrow_mut().show(ui, cx))
}

/// Returns the requested changes and their inverses.
fn asked(
    window: &egui_kittest::Harness<'static, PaneHarness>,
) -> Vec<(CollaborationCommand, Option<CollaborationCommand>)> {
    let of = |command: &Command| match command {
        Command::Act(RoomAct::Together(command), None) => Some((command.clone(), None)),
        Command::Act(RoomAct::Together(command), Some(RoomAct::Together(back))) => {
            Some((command.clone(), Some(back.clone())))
        }
        _ => None,
    };
    window.state().commands.iter().filter_map(of).collect()
}

fn click(window: &mut egui_kittest::Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run();
}

fn write(value: Option<&str>, shared: Option<bool>, was: Option<&str>) -> CollaborationCommand {
    let [value, was] = [value, was].map(|text| text.map(str::to_owned));
    CollaborationCommand::Write { run: RUN, key: "plan".into(), value, shared, was }
}

#[test]
fn entries_are_shown_with_author_and_earlier_values() {
    let mut window = stage();
    window.run();
    for text in [
        "plan",
        "count",
        "#findings",
        "12 chairs",
        "lesson",
        "ask",
        "In this run: 1 task handed over, 2 channel messages",
    ] {
        assert!(window.query_by_label(text).is_some(), "{text}");
    }
    click(&mut window, "1 earlier value");
    assert!(window.query_by_label("think").is_some());
}

#[test]
fn every_change_can_be_undone() {
    let mut window = stage();
    window.run();
    click(&mut window, "Remove plan");
    click(&mut window, "Keep plan for later runs");
    click(&mut window, "Stop Bram from listening to findings");
    click(&mut window, "Remove lesson");
    let listen = |listens| CollaborationCommand::Listen { channel: "findings".into(), agent: "bram-1".into(), listens };
    let kept =
        ArchivedEntry { key: "lesson".into(), value: "ask".into(), by: "ada-1".into(), run: "act-3".into(), secs: 5 };
    let keep = |now: Option<ArchivedEntry>, was: Option<ArchivedEntry>| CollaborationCommand::WriteKept {
        key: "lesson".into(),
        now: now.map(Box::new),
        was: was.map(Box::new),
    };
    assert_eq!(
        asked(&window),
        [
            (write(None, None, Some("count")), Some(write(Some("count"), Some(false), None))),
            (write(Some("count"), Some(true), Some("count")), Some(write(Some("count"), Some(false), Some("count")))),
            (listen(false), Some(listen(true))),
            (keep(None, Some(kept.clone())), Some(keep(Some(kept), None))),
        ]
    );
}

#[test]
fn a_value_can_be_edited() {
    let mut window = stage();
    window.run();
    click(&mut window, "Edit plan");
    window.get_by_label("Value of plan").focus();
    window.run();
    window.get_by_label("Value of plan").type_text(" twice");
    window.run();
    click(&mut window, "Save");
    let told = asked(&window);
    let (CollaborationCommand::Write { value: Some(value), was: Some(was), .. }, Some(_)) = &told[0] else {
        panic!("{told:?}")
    };
    assert!(value.contains("twice") && was == "count", "{value}, {was}");
}

#[test]
fn many_entries_are_shown_in_pages_and_can_be_searched() {
    let entry = |number: usize| EntryView {
        key: format!("entry {number}"),
        value: if number == 777 { "a needle".into() } else { "line\n".repeat(40) },
        ..EntryView::default()
    };
    let entries = (0..1_000).map(entry).collect();
    let mut window = stage_with(entries);
    window.run();
    assert!(window.query_by_label("entry 49").is_some() && window.query_by_label("entry 50").is_none());
    // The button is below the visible part.
    window.get_by_label("Show 50 more of 950 entries").click_accesskit();
    window.run();
    assert!(window.query_by_label("entry 99").is_some());
    window.get_by_label("Find entries").focus();
    window.run();
    window.get_by_label("Find entries").type_text("NEEDLE");
    window.run();
    assert!(window.query_by_label("entry 777").is_some() && window.query_by_label("entry 1").is_none());
}

#[test]
fn a_channel_can_be_shown_on_a_new_or_existing_board() {
    use crate::element::ElementCommand;
    let mut window = stage();
    window.state_mut().room.elements.push(crate::ui::testing::element(
        9,
        "wall",
        "messageboard",
        crate::view::model::ContentView::Text(String::new()),
    ));
    window.run();
    click(&mut window, "Show findings on a new board");
    click(&mut window, "Show findings on a board");
    click(&mut window, "wall");
    let [Command::Act(RoomAct::Element(ElementCommand::Add { keys }), Some(_)), assigned] =
        &window.state().commands[..]
    else {
        panic!("{:?}", window.state().commands)
    };
    assert_eq!((&keys["kind"], &keys["channel"]), (&"messageboard".into(), &"findings".into()));
    let set = |channel: Option<&str>| {
        let channel = channel.map(str::to_owned);
        RoomAct::Element(ElementCommand::SetChannel { element: "wall".into(), channel })
    };
    assert_eq!(*assigned, Command::Act(set(Some("findings")), Some(set(None))));
    let mut together = (*window.state().room.collaboration).clone();
    together.shown.insert("wall".into(), "findings".into());
    window.state_mut().room.collaboration = together.into();
    window.run();
    click(&mut window, "On wall");
    let selected: Vec<&str> = window.state().state.selection.things().iter().map(|thing| &**thing.id()).collect();
    assert_eq!(selected, ["wall"]);
}
