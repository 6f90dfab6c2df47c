//! Tests of the page about what a workspace wants: what is on it, and which commands it returns.

use std::collections::BTreeMap;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use proptest::prelude::*;

use super::*;
use crate::base::visible_text::original;
use crate::desk::trust_page::{SAVED_ROOM, SelfStarter};
use crate::ui::UiState;
use crate::ui::shell::dialogs::dialogs_ui;
use crate::ui::state::{Dialog, TrustNote};
use crate::ui::testing::{PaneHarness, pane_of, sample_room};
use crate::ui::testing_keyboard::{are_as_read, controls_have_names, tab_stops};
use crate::workspace::trust::Widening;

fn wishes() -> Vec<Widening> {
    vec![
        Widening::new("settings.yaml", "commands.network", "true", "commands may use the network"),
        Widening::new("storage/terminal-cmd-allowlist.yaml", "curl", "true", "runs this command without asking"),
        Widening::starting("agents/ada/modules/clock.ts", "2 lines of code", "is code of this agent"),
    ]
}

/// A page with these wishes; of a trusted workspace, all but the first `before` are new.
fn page(wants: Vec<Widening>, before: Option<usize>) -> TrustPage {
    TrustPage {
        folder: "/home/room".into(),
        trusted: before.is_some(),
        new: wants[before.unwrap_or(0)..].to_vec(),
        wants,
        starts: vec![SelfStarter { place: "tasks/a.task.md".into(), what: "the task “Do it”".into() }],
        unreadable: vec!["agents/odd.md".into()],
        has_unknown_room: false,
        runs: Vec::new(),
        code: BTreeMap::from([("agents/ada/modules/clock.ts".to_owned(), "export default {\u{202e}};\n".to_owned())]),
    }
}

fn open(view: TrustView) -> Harness<'static, PaneHarness> {
    let mut state = UiState::default();
    state.trust = view;
    state.front.ask(Dialog::Trust);
    let mut window =
        pane_of(PaneHarness::new(sample_room(), state), |ui, cx, panes| dialogs_ui(ui, cx, &mut panes.dialogs));
    window.run_steps(4);
    window
}

fn showing(page: TrustPage) -> (Harness<'static, PaneHarness>, Arc<TrustPage>) {
    let page = Arc::new(page);
    (open(TrustView { page: Some(page.clone()), ..TrustView::default() }), page)
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(4);
}

#[test]
fn the_page_of_a_restricted_workspace_shows_everything_and_trusts_exactly_this() {
    let (mut window, page) = showing(page(wishes(), None));
    for shown in [
        "/home/room",
        "commands.network: true",
        "curl: true",
        "agents/ada/modules/clock.ts",
        "export default {‹U+202E›};",
        "the task “Do it”",
        "agents/odd.md",
    ] {
        assert!(window.query_all_by_label(shown).next().is_some(), "{shown}");
    }
    assert!(window.query_by_label("Revoke trust").is_none());
    click(&mut window, "Trust these 3 wishes");
    assert_eq!(window.state().commands, [Command::TrustWorkspace(page)]);
    assert_eq!(window.state().state.front.dialog(), Some(&Dialog::Trust), "it closes once that is saved");
}

#[test]
fn keeping_it_restricted_changes_nothing() {
    for close in ["Keep it restricted", "Close question"] {
        let (mut window, _) = showing(page(wishes(), None));
        click(&mut window, close);
        assert_eq!((window.state().commands.len(), window.state().state.front.dialog()), (0, None), "{close}");
    }
}

#[test]
fn of_a_trusted_workspace_only_the_difference_is_shown_and_the_rest_is_counted() {
    let (mut window, page) = showing(page(wishes(), Some(2)));
    assert!(window.query_by_label_contains("1 wish came in since you trusted it").is_some());
    assert!(window.query_by_label_contains("You have trusted 2 other wishes before.").is_some());
    assert!(window.query_all_by_label("agents/ada/modules/clock.ts").next().is_some());
    for old in ["commands.network: true", "curl: true", "the task “Do it”"] {
        assert!(window.query_by_label(old).is_none(), "{old}");
    }
    click(&mut window, "Trust this wish");
    click(&mut window, "Revoke trust");
    let expected = [Command::TrustWorkspace(page), Command::RevokeTrust("/home/room".into())];
    assert_eq!(window.state().commands, expected);
}

#[test]
fn a_saved_room_that_came_into_a_trusted_workspace_is_shown_and_can_be_trusted() {
    let with_room = |before| {
        let mut page = page(wishes(), Some(before));
        page.starts.push(SelfStarter { place: SAVED_ROOM.into(), what: "the saved room".into() });
        TrustPage { has_unknown_room: true, ..page }
    };
    let (mut window, page) = showing(with_room(3));
    assert!(window.query_by_label_contains("It is not opened until you trust it").is_some());
    assert!(window.query_all_by_label("the saved room").next().is_some());
    assert!(window.query_by_label("the task “Do it”").is_none(), "tasks start as usual");
    assert!(window.query_by_label("Leave it closed").is_some());
    click(&mut window, "Trust the saved room");
    assert_eq!(window.state().commands, [Command::TrustWorkspace(page)]);
    let (mut window, page) = showing(with_room(2));
    assert!(window.query_by_label_contains("1 wish came in since you trusted it").is_some());
    click(&mut window, "Trust all of this");
    assert_eq!(window.state().commands, [Command::TrustWorkspace(page)]);
}

#[test]
fn a_workspace_without_news_can_only_be_restricted_again() {
    let (mut window, _) = showing(page(wishes(), Some(3)));
    assert!(window.query_by_label_contains("You trust 3 wishes of it.").is_some());
    assert!(window.query_by_label_contains("Trust th").is_none());
    click(&mut window, "Revoke trust");
    assert_eq!(window.state().commands, [Command::RevokeTrust("/home/room".into())]);
}

#[test]
fn a_decision_that_is_being_saved_cannot_be_given_twice_and_a_note_is_shown() {
    let note = TrustNote { text: "The files changed in the meantime.".to_owned(), is_good: false };
    let view = TrustView {
        page: Some(Arc::new(page(wishes(), Some(1)))),
        is_saving: true,
        note: Some(note),
        ..TrustView::default()
    };
    let mut window = open(view);
    assert!(window.query_by_label_contains("Trust these").is_none() && window.query_by_label("Revoke trust").is_none());
    assert!(window.query_by_label("The files changed in the meantime.").is_some());
    window.state_mut().state.trust.is_saving = false;
    window.run_steps(2);
    assert!(window.query_by_label("Trust these 2 wishes").is_some());
}

#[test]
fn a_page_that_cannot_be_read_says_why_and_can_be_read_again() {
    assert!(open(TrustView::default()).query_by_label("Reading the workspace…").is_some());
    let note = TrustNote { text: "It cannot be read.".to_owned(), is_good: false };
    let mut window = open(TrustView { note: Some(note), folder: Some("/rooms/other".into()), ..TrustView::default() });
    click(&mut window, "Read again");
    assert_eq!(window.state().commands, [Command::ShowTrust(Some("/rooms/other".into()))]);
}

#[test]
fn its_controls_have_names_and_tab_follows_their_order() {
    let (mut window, _) = showing(page(wishes(), Some(1)));
    controls_have_names(&window);
    let stops = tab_stops(&mut window);
    are_as_read(&stops, &["Close question", "Trust these 2 wishes", "Leave them without effect", "Revoke trust"]);
}

#[test]
fn a_page_of_thousands_of_wishes_is_drawn_in_time_and_keeps_its_buttons_in_the_window() {
    let many = (0..5_000).map(|number| Widening::new("settings.yaml", format!("gate.touches.k{number}"), "allow", "x"));
    let (mut window, _) = showing(page(many.collect(), None));
    let began = std::time::Instant::now();
    window.run_steps(30);
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "thirty frames: {:?}", began.elapsed());
    let button = window.get_by_label("Trust these 5000 wishes").rect();
    assert!(button.bottom() <= window.ctx.content_rect().bottom(), "{button:?}");
}

proptest! {
    #[test]
    fn every_character_of_a_wish_can_be_read(
        key in "[a-z]{1,8}",
        value in proptest::collection::vec(
            prop_oneof![
                Just('\u{202e}'), Just('\u{200b}'), Just('\r'), Just('\n'), Just('\u{1b}'), Just('\t'), Just(' '),
                Just('‹'), Just('›'), Just('↳'), Just('א'), Just('\u{301}'), any::<char>(), proptest::char::range('a', 'z')
            ],
            0..400,
        ),
    ) {
        let value: String = value.into_iter().collect();
        let wish = Widening::new("settings.yaml", key.clone(), value.clone(), "");
        let page = TrustPage { starts: Vec::new(), unreadable: Vec::new(), ..page(vec![wish], None) };
        let rows = rows(&page);
        let words: String = rows.iter().filter(|row| row.kind == RowKind::Words)
            .enumerate()
            .map(|(index, row)| if index == 0 { &*row.text } else { row.text.strip_prefix(texts::CONTINUED).unwrap_or("") })
            .collect();
        prop_assert_eq!(original([&*words]), format!("{key}: {value}"));
        prop_assert!(rows.iter().all(|row| row.text.chars().count() <= ROW_CHARS + texts::CONTINUED.chars().count() + 40));
    }
}
