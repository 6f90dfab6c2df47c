//! Tests of the approval card: its answers keep their places, become active after a moment, and say how far they reach.

use egui::Rect;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use super::*;
use crate::base::ActivationKey;
use crate::gate::Risk;
use crate::gateway::mcp::McpElicitation;
use crate::kernel::KernelCommand;
use crate::ui::UiState;
use crate::ui::panes::canvas::CARD as CANVAS_CARD;
use crate::ui::shell::run_bar::CARD as RUN_BAR_CARD;
use crate::ui::testing::{Stage, asking_piece, drawings, stage_pane};
use crate::ui::testing_keyboard::{are_as_read, controls_have_names, tab_stops};
use crate::view::art::Art;

const SIZE: CardSize = CardSize { head: 44.0, preview: 90.0 };

/// A card of the first question of the room, with this width.
fn cards(width: f32) -> Harness<'static, Stage> {
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

fn ask(window: &mut Harness<'static, Stage>, activation: u64, wants: &str) {
    window.state_mut().room.work.pieces = vec![asking_piece(activation, "ada-1", wants)];
    window.step();
}

/// Steps until a new card accepts answers.
fn rest(window: &mut Harness<'static, Stage>) {
    window.run_steps(40);
}

fn place(window: &Harness<'static, Stage>, label: &str) -> Rect {
    window.get_by_label(label).rect()
}

fn decisions(window: &Harness<'static, Stage>) -> Vec<KernelCommand> {
    let work = |command: &Command| match command {
        Command::Act(RoomAct::Work(command), None) => Some(command.clone()),
        _ => None,
    };
    window.state().commands.iter().filter_map(work).collect()
}

#[test]
fn the_answers_keep_their_places_whatever_is_asked() {
    for width in [280.0, 420.0, 1100.0] {
        let mut window = cards(width);
        rest(&mut window);
        let places = |window: &Harness<'static, Stage>| {
            ["Refuse Ada", "Allow Ada", "Message Ada", "Allow for this task"].map(|label| place(window, label))
        };
        let first = places(&window);
        assert!(first[0].max.x < first[1].min.x && first[0].max.x < first[2].min.x, "Refuse is at the left: {first:?}");
        for length in 1..=20_u64 {
            let wants = "take what was written since the morning away ".repeat(length as usize * length as usize);
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
fn what_has_just_come_is_not_answered_by_a_press_that_was_meant_for_the_one_before() {
    let mut window = cards(420.0);
    let is_off =
        |window: &Harness<'static, Stage>, label: &str| window.get_by_label(label).accesskit_node().is_disabled();
    assert!(is_off(&window, "Allow Ada") && is_off(&window, "Refuse Ada"));
    rest(&mut window);
    assert!(!is_off(&window, "Allow Ada") && !is_off(&window, "Refuse Ada"));
    ask(&mut window, 8, "delete notes.md");
    assert!(is_off(&window, "Allow Ada"), "another question is in its place");
    window.get_by_label("Allow Ada").click();
    window.step();
    assert!(decisions(&window).is_empty());
    rest(&mut window);
    window.get_by_label("Allow Ada").click();
    window.run_steps(3);
    assert_eq!(decisions(&window), [KernelCommand::decide(ActivationKey::numbered(8), 2, 1, true)]);
}

#[test]
fn every_reach_has_its_place_on_the_narrowest_card_and_on_a_wide_one() {
    for width in [APPROVAL.width, WIDE_POINTS + 40.0, 1_400.0] {
        let mut window = cards(width);
        let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
        question.approval.pattern = Some("git status".into());
        rest(&mut window);
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
        let word = place(&window, "Message Ada");
        assert!(word.width() >= 80.0 && !places.iter().any(|one| one.intersects(word)), "{width}: {word:?}");
    }
}

#[test]
fn tab_leads_through_the_card_as_it_is_read_and_everything_on_it_has_a_name() {
    let ways = ["All approvals", "Previous approval", "Next approval", "Go to approval"];
    let scopes = ["Allow only this once", "Allow for this task", "Allow always"];
    let narrow = [&ways[..], &scopes, &["Refuse Ada", "Message Ada", "Allow Ada"]].concat();
    let wide = [&ways[..], &["Refuse Ada"], &scopes, &["Message Ada", "Allow Ada"]].concat();
    for (width, among) in [(420.0, narrow), (1_100.0, wide)] {
        let mut window = cards(width);
        window.state_mut().room.work.pieces.push(asking_piece(8, "bram-1", "write b.md"));
        rest(&mut window);
        controls_have_names(&window);
        are_as_read(&tab_stops(&mut window), &among);
    }
}

#[test]
fn an_answer_says_how_far_it_reaches_and_brings_a_word() {
    let mut window = cards(420.0);
    rest(&mut window);
    let shown =
        |window: &Harness<'static, Stage>, part: &str| window.query_all_by_label_contains(part).next().is_some();
    assert!(shown(&window, "Ada wants to write notes.md") && shown(&window, "Because its safety mode is safe."));
    assert!(shown(&window, "At the end of notes.md") && shown(&window, "+ one"));
    for (choice, told, scope) in [
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
        assert!(shown(&window, told), "{told}");
        window.get_by_label("Allow Ada").click();
        window.run_steps(3);
        let Some(KernelCommand::Decide { allow: true, scope: given, because: None, .. }) = decisions(&window).pop()
        else {
            panic!("it is allowed");
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
        panic!("it is refused");
    };
    assert_eq!(because.as_deref(), Some("Use drafts."));
}

#[test]
fn what_may_go_wrong_is_seen_first_and_what_happens_below_it() {
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
        let of = |part: &str| window.query_all_by_label_contains(part).next().expect("it should be reported").rect();
        let (risk, reason, below) = (of("Risk high"), of("Because no rule"), of("At the end of notes.md"));
        assert!(risk.max.y <= reason.min.y, "{risk} {reason}");
        assert!(reason.max.y <= below.min.y, "nothing is cut at {width} points: {reason} {below}");
    }
}

#[test]
fn what_a_server_asks_is_answered_with_a_form_that_fits() {
    let mut window = cards(420.0);
    let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
    let schema = serde_json::json!({
        "properties": {
            "branch": { "type": "string", "title": "Branch" },
            "force": { "type": "boolean", "title": "Force" },
        },
        "required": ["branch"],
    });
    let asked = McpElicitation::of(1, "Which branch?", &schema).expect("it can be answered");
    question.approval.of_server = Some(Box::new(asked));
    (question.approval.for_task, question.approval.always) = (None, Vec::new());
    rest(&mut window);
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
        panic!("it is answered");
    };
    assert_eq!(serde_json::Value::Object(form), serde_json::json!({ "branch": "main", "force": "true" }));
}

#[test]
fn what_is_asked_each_time_offers_nothing_more() {
    let mut window = cards(420.0);
    let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
    (question.approval.for_task, question.approval.always) = (None, Vec::new());
    rest(&mut window);
    assert!(window.query_by_label("Allow for this task").is_none() && window.query_by_label("Allow always").is_none());
    assert!(window.query_all_by_label_contains("always needs your approval").next().is_some());
}

#[test]
fn of_several_questions_one_stands_in_front_and_the_others_are_a_press_away() {
    let mut window = cards(420.0);
    window.state_mut().room.work.pieces =
        vec![asking_piece(7, "ada-1", "write a.md"), asking_piece(8, "bram-1", "write b.md")];
    rest(&mut window);
    assert!(window.query_by_label("All approvals").is_some() && window.query_by_label("Allow Ada").is_some());
    let before = place(&window, "Allow Ada");
    window.get_by_label("Next approval").click();
    window.run_steps(3);
    let name = window.state().room.called("bram-1").to_owned();
    assert_eq!(place(&window, &format!("Allow {name}")), before);
}

#[test]
fn all_questions_are_listed_and_the_one_that_is_chosen_stands_in_front() {
    let mut window = cards(420.0);
    let asks = [(7, "ada-1", "write a.md"), (8, "bram-1", "write b.md"), (9, "ada-1", "write c.md")];
    window.state_mut().room.work.pieces =
        asks.into_iter().map(|(number, who, what)| asking_piece(number, who, what)).collect();
    let art = Art::load(&window.ctx, 1.0).0;
    window.state_mut().art = Some(art);
    rest(&mut window);
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
    // The one in front is shown on the card as well.
    assert_eq!(listed.iter().map(|sentence| rows(sentence)).collect::<Vec<_>>(), [2, 1, 1]);
    window.get_by_label(&listed[2]).click();
    window.run_steps(3);
    let front = window.state().state.questions.front(&window.state().room).map(|(_, _, at, _)| at);
    assert_eq!(front, Some(2));
}
