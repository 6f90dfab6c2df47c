//! Tests of the approval card: its answer buttons never move, ignore clicks for a moment, and have a scope.

use egui::Rect;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use super::*;
use crate::base::ActivationKey;
use crate::gate::commands::EditedRule;
use crate::gate::{Risk, RiskLevel};
use crate::gateway::mcp::McpElicitation;
use crate::kernel::{ChangedFile, KernelCommand};
use crate::tools::Preview;
use crate::ui::UiState;
use crate::ui::panes::canvas::CARD as CANVAS_CARD;
use crate::ui::shell::run_bar::CARD as RUN_BAR_CARD;
use crate::ui::testing::{PaneHarness, asking_piece, drawings, stage_pane};
use crate::ui::testing_keyboard::{are_as_read, controls_have_names, tab_stops};
use crate::view::art::Art;

const SIZE: CardSize = CardSize { head: 44.0, preview: 90.0 };

/// A card of this width with the first approval of the room.
fn cards(width: f32) -> Harness<'static, PaneHarness> {
    let mut window = stage_pane(UiState::default(), move |ui, cx, _| {
        ui.set_max_width(width);
        match cx.ui.questions.front(cx.room) {
            Some((_, question, at, count)) => approval_card(ui, cx, question, ("test", SIZE, Some(Turn { at, count }))),
            None => Vec::new(),
        }
    });
    ask(&mut window, 7, "write notes.md");
    window
}

fn ask(window: &mut Harness<'static, PaneHarness>, activation: u64, wants: &str) {
    window.state_mut().room.work.pieces = vec![asking_piece(activation, "ada-1", wants)];
    window.step();
}

/// Steps until a new card accepts clicks.
fn wait_until_unlocked(window: &mut Harness<'static, PaneHarness>) {
    window.run_steps(40);
}

fn place(window: &Harness<'static, PaneHarness>, label: &str) -> Rect {
    window.get_by_label(label).rect()
}

fn decisions(window: &Harness<'static, PaneHarness>) -> Vec<KernelCommand> {
    let work = |command: &Command| match command {
        Command::Act(RoomAct::Work(command), None) => Some(command.clone()),
        _ => None,
    };
    window.state().commands.iter().filter_map(work).collect()
}

#[test]
fn the_answer_buttons_never_move() {
    for width in [280.0, 420.0, 1100.0] {
        let mut window = cards(width);
        wait_until_unlocked(&mut window);
        let places = |window: &Harness<'static, PaneHarness>| {
            ["Refuse Ada", "Allow Ada", "Message Ada", "Allow for this task"].map(|label| place(window, label))
        };
        let first = places(&window);
        assert!(first[0].max.x < first[1].min.x && first[0].max.x < first[2].min.x, "Refuse is at the left: {first:?}");
        for length in 1..=20_u64 {
            let wants = "remove everything written since this morning ".repeat(length as usize * length as usize);
            ask(&mut window, 7 + length, &wants);
            let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
            let text = "a long line of text that wraps\n".repeat(length as usize * 7);
            question.preview = Preview::Write { path: "notes.md".into(), text };
            window.run_steps(3);
            assert_eq!(places(&window), first, "{width} points wide, length {length}");
        }
    }
}

#[test]
fn a_new_approval_ignores_clicks_meant_for_the_previous_one() {
    let mut window = cards(420.0);
    let is_off =
        |window: &Harness<'static, PaneHarness>, label: &str| window.get_by_label(label).accesskit_node().is_disabled();
    assert!(is_off(&window, "Allow Ada") && is_off(&window, "Refuse Ada"));
    wait_until_unlocked(&mut window);
    assert!(!is_off(&window, "Allow Ada") && !is_off(&window, "Refuse Ada"));
    ask(&mut window, 8, "delete notes.md");
    assert!(is_off(&window, "Allow Ada"), "another approval has replaced it");
    window.get_by_label("Allow Ada").click();
    window.step();
    assert!(decisions(&window).is_empty());
    wait_until_unlocked(&mut window);
    window.get_by_label("Allow Ada").click();
    window.run_steps(3);
    assert_eq!(decisions(&window), [KernelCommand::decide(ActivationKey::numbered(8), 2, 1, true)]);
}

#[test]
fn every_scope_fits_on_the_narrowest_and_on_a_wide_card() {
    for width in [APPROVAL.width, WIDE_POINTS + 40.0, 1_400.0] {
        let mut window = cards(width);
        let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
        question.approval.pattern = Some("git status".into());
        wait_until_unlocked(&mut window);
        let choices = [
            "Allow only this once",
            "Allow for this task",
            "Allow for one hour",
            "Allow until the end of the day",
            "Allow commands matching this pattern",
            "Allow always",
        ];
        let places = choices.map(|choice| place(&window, choice));
        assert!(places.is_sorted_by(|one, next| one.max.x <= next.min.x), "{width}: {places:?}");
        let right = place(&window, "Allow Ada").max.x;
        assert!(places[5].max.x <= right, "{width}: {places:?} in {right}");
        let comment = place(&window, "Message Ada");
        assert!(comment.width() >= 80.0 && !places.iter().any(|one| one.intersects(comment)), "{width}: {comment:?}");
    }
}

#[test]
fn tab_follows_the_reading_order_and_every_control_has_a_name() {
    let navigation = ["All approvals", "Previous approval", "Next approval", "Read everything", "Go to approval"];
    let scopes = ["Allow only this once", "Allow for this task", "Allow always"];
    let narrow = [&navigation[..], &scopes, &["Refuse Ada", "Message Ada", "Allow Ada"]].concat();
    let wide = [&navigation[..], &["Refuse Ada"], &scopes, &["Message Ada", "Allow Ada"]].concat();
    for (width, among) in [(420.0, narrow), (1_100.0, wide)] {
        let mut window = cards(width);
        window.state_mut().room.work.pieces.push(asking_piece(8, "bram-1", "write b.md"));
        wait_until_unlocked(&mut window);
        controls_have_names(&window);
        are_as_read(&tab_stops(&mut window), &among);
    }
}

#[test]
fn an_answer_has_the_chosen_scope_and_the_comment() {
    let mut window = cards(420.0);
    wait_until_unlocked(&mut window);
    let shown =
        |window: &Harness<'static, PaneHarness>, part: &str| window.query_all_by_label_contains(part).next().is_some();
    assert!(shown(&window, "Ada wants to write notes.md") && shown(&window, "Because its safety mode is safe."));
    assert!(shown(&window, "At the end of notes.md") && shown(&window, "+ one"));
    for (choice, explanation, scope) in [
        (
            "Allow for this task",
            "Until this task ends, Ada and agents that it starts may change files",
            AllowScope::Task,
        ),
        (
            "Allow for one hour",
            "For one hour, Ada and agents that it starts may change files",
            AllowScope::Until(TimeLimit::HOUR),
        ),
        (
            "Allow until the end of the day",
            "Until the end of the day, Ada and agents that it starts may",
            AllowScope::Until(TimeLimit::DAY),
        ),
        ("Allow always", "gate.allow.ada: vfs_write(notes.md)", AllowScope::Always),
    ] {
        window.get_by_label(choice).click();
        window.run_steps(3);
        assert!(shown(&window, explanation), "{explanation}");
        window.get_by_label("Allow Ada").click();
        window.run_steps(3);
        let Some(KernelCommand::Decide { allow: true, scope: given, because: None, .. }) = decisions(&window).pop()
        else {
            panic!("not allowed");
        };
        assert_eq!(given, scope);
    }
    window.get_by_label("Message Ada").focus();
    window.run_steps(2);
    window.get_by_label("Message Ada").type_text("Use drafts.");
    window.run_steps(2);
    window.get_by_label("Refuse Ada").click();
    window.run_steps(3);
    let Some(KernelCommand::Decide { allow: false, scope: AllowScope::Once, because, .. }) = decisions(&window).pop()
    else {
        panic!("not refused");
    };
    assert_eq!(because.as_deref(), Some("Use drafts."));
}

#[test]
fn the_risk_is_above_the_reason_and_the_preview() {
    for (width, size) in [(380.0, CANVAS_CARD), (840.0, RUN_BAR_CARD)] {
        let mut window = stage_pane(UiState::default(), move |ui, cx, _| {
            ui.set_max_width(width);
            let Some((_, question, at, count)) = cx.ui.questions.front(cx.room) else { return Vec::new() };
            approval_card(ui, cx, question, ("test", size, Some(Turn { at, count })))
        });
        ask(&mut window, 7, "run `git push --force --tags origin main`");
        let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
        question.approval.risk =
            Risk { level: RiskLevel::High, reasons: vec!["a program runs on this computer".to_owned()] };
        question.approval.because =
            "no rule of storage/terminal-cmd-allowlist.yaml allows it, and its safety mode is safe".to_owned();
        window.run_steps(3);
        let of = |part: &str| window.query_all_by_label_contains(part).next().expect("it is shown").rect();
        let (risk, reason, below) = (of("Risk high"), of("Because no rule"), of("At the end of notes.md"));
        assert!(risk.max.y <= reason.min.y, "{risk} {reason}");
        assert!(reason.max.y <= below.min.y, "nothing is cut at {width} points: {reason} {below}");
    }
}

#[test]
fn an_elicitation_is_answered_with_a_valid_form() {
    let mut window = cards(420.0);
    let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
    let schema = serde_json::json!({
        "properties": {
            "branch": { "type": "string", "title": "Branch" },
            "force": { "type": "boolean", "title": "Force" },
        },
        "required": ["branch"],
    });
    let elicitation = McpElicitation::of(1, "Which branch?", &schema).expect("the schema is supported");
    question.approval.of_server = Some(Box::new(elicitation));
    (question.approval.for_task, question.approval.always) = (None, Vec::new());
    wait_until_unlocked(&mut window);
    assert!(window.query_by_label("Allow only this once").is_none(), "an answer is no permission");
    assert!(window.get_by_label("Answer Ada").accesskit_node().is_disabled(), "it must be filled in");
    window.get_by_label("Fill in Branch").focus();
    window.run_steps(2);
    window.get_by_label("Fill in Branch").type_text("main");
    window.run_steps(2);
    window.get_by_label("Force").click();
    window.run_steps(3);
    window.get_by_label("Answer Ada").click();
    window.run_steps(3);
    let Some(KernelCommand::Decide { allow: true, form, .. }) = decisions(&window).pop() else {
        panic!("not answered");
    };
    assert_eq!(serde_json::Value::Object(form), serde_json::json!({ "branch": "main", "force": "true" }));
}

#[test]
fn an_approval_needed_every_time_offers_no_wider_scope() {
    let mut window = cards(420.0);
    let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
    (question.approval.for_task, question.approval.always) = (None, Vec::new());
    wait_until_unlocked(&mut window);
    assert!(window.query_by_label("Allow for this task").is_none() && window.query_by_label("Allow always").is_none());
    assert!(window.query_all_by_label_contains("always needs your approval").next().is_some());
}

#[test]
fn of_several_approvals_one_is_in_front_and_next_shows_another() {
    let mut window = cards(420.0);
    window.state_mut().room.work.pieces =
        vec![asking_piece(7, "ada-1", "write a.md"), asking_piece(8, "bram-1", "write b.md")];
    wait_until_unlocked(&mut window);
    assert!(window.query_by_label("All approvals").is_some() && window.query_by_label("Allow Ada").is_some());
    let before = place(&window, "Allow Ada");
    window.get_by_label("Next approval").click();
    window.run_steps(3);
    let name = window.state().room.called("bram-1").to_owned();
    assert_eq!(place(&window, &format!("Allow {name}")), before);
}

#[test]
fn all_approvals_are_listed_and_choosing_one_moves_it_to_the_front() {
    let mut window = cards(420.0);
    let asks = [(7, "ada-1", "write a.md"), (8, "bram-1", "write b.md"), (9, "ada-1", "write c.md")];
    window.state_mut().room.work.pieces =
        asks.into_iter().map(|(number, who, what)| asking_piece(number, who, what)).collect();
    let art = Art::load(&window.ctx, 1.0).0;
    window.state_mut().art = Some(art);
    wait_until_unlocked(&mut window);
    window.get_by_label("All approvals").click();
    window.run_steps(3);
    let listed: Vec<String> = {
        let room = &window.state().room;
        let sentence = |(piece, question): (&crate::view::work::PieceView, &QuestionView)| {
            question.approval.sentence(room.called(&piece.agent))
        };
        room.work.questions().map(sentence).collect()
    };
    let rows = |sentence: &str| window.query_all_by_label(sentence).count();
    let faces = drawings(&window);
    let is_in = |place: Rect| faces.iter().any(|face| place.contains(face.center()));
    let has_face = |sentence: &String| window.query_all_by_label(sentence).any(|row| is_in(row.rect()));
    assert!(listed.iter().all(has_face), "{faces:?}");
    // The one in front is also shown on the card.
    assert_eq!(listed.iter().map(|sentence| rows(sentence)).collect::<Vec<_>>(), [2, 1, 1]);
    window.get_by_label(&listed[2]).click();
    window.run_steps(3);
    let front = window.state().state.questions.front(&window.state().room).map(|(_, _, at, _)| at);
    assert_eq!(front, Some(2));
}

#[test]
fn a_changed_line_is_shown_once_and_the_rule_for_edited_sources_can_be_chosen() {
    let mut window = cards(420.0);
    let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
    let why = "src/lib.rs, which it loads, changed since it was last allowed or shown (+1 \u{2212}1)".to_owned();
    let changed = ChangedFile {
        path: "src/lib.rs".into(),
        old: "fn old() {}\n".into(),
        new: "fn new() {}\n".into(),
        is_cut: false,
    };
    let approval = &mut question.approval;
    approval.risk =
        Risk { level: RiskLevel::High, reasons: vec!["a program runs on this computer".to_owned(), why.clone()] };
    (approval.because, approval.changed_files) = (why, vec![changed]);
    (approval.for_task, approval.always) = (None, Vec::new());
    approval.edited = Some(EditedRule { command: "cargo test".into(), folder: String::new() });
    wait_until_unlocked(&mut window);
    for part in ["fn new() {}", "fn old() {}", "changed since", "a program runs on this computer"] {
        assert_eq!(window.query_all_by_label_contains(part).count(), 1, "{part}");
    }
    window.get_by_label("Allow this command also with edited sources").click();
    window.run_steps(3);
    let explanation = "Adds to storage/terminal-cmd-allowlist.yaml: cargo test: edited";
    assert!(window.query_all_by_label_contains(explanation).next().is_some());
    window.get_by_label("Allow Ada").click();
    window.run_steps(3);
    let Some(KernelCommand::Decide { allow: true, scope, .. }) = decisions(&window).pop() else {
        panic!("not allowed");
    };
    assert_eq!(scope, AllowScope::Edited);
}
