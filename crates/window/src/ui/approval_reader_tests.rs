//! Tests of the large view of an approval: it shows everything, and answers nothing.

use egui::vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::tools::Preview;
use crate::ui::UiState;
use crate::ui::approval_card::{CardSize, Turn, approval_card};
use crate::ui::testing::{PaneHarness, asking_piece, stage_pane};

/// A card like that of the task bar, which shows no preview, for a long file.
fn card(lines: usize) -> Harness<'static, PaneHarness> {
    let mut window = stage_pane(UiState::default(), move |ui, cx, _| {
        let Some((_, question, at, count)) = cx.ui.questions.front(cx.room) else { return Vec::new() };
        let size = CardSize { head: 54.0, preview: 0.0 };
        approval_card(ui, cx, question, ("test", size, Some(Turn { at, count })))
    });
    window.set_size(vec2(1_200.0, 800.0));
    window.state_mut().room.work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
    let question = window.state_mut().room.work.pieces[0].question.as_mut().expect("it should ask");
    let text = (1..=lines).map(|number| format!("line {number}\n")).collect();
    question.preview = Preview::Write { path: "notes.md".into(), text };
    window.run_steps(40);
    window
}

fn shows(window: &Harness<'static, PaneHarness>, part: &str) -> bool {
    window.query_all_by_label_contains(part).next().is_some()
}

#[test]
fn a_card_without_a_preview_opens_everything_that_would_happen() {
    let mut window = card(300);
    assert!(!shows(&window, "line 300"));
    window.get_by_label("Read everything").click();
    window.run_steps(3);
    assert!(shows(&window, "line 1\n") && shows(&window, "line 300"));
    let sentences = window.query_all_by_label_contains("Ada wants to write notes.md").count();
    assert_eq!(sentences, 2, "on the card and in the large view");
    window.get_by_label("Close approval").click();
    window.run_steps(3);
    assert!(!shows(&window, "line 300"));
}

#[test]
fn the_large_view_of_one_approval_does_not_stay_for_the_next() {
    let mut window = card(3);
    window.get_by_label("Read everything").click();
    window.run_steps(3);
    assert!(shows(&window, "line 3"));
    window.state_mut().room.work.pieces = vec![asking_piece(8, "ada-1", "write other.md")];
    window.run_steps(3);
    assert!(window.query_by_label("Close approval").is_none());
}

#[test]
fn nothing_is_answered_while_it_is_read() {
    let mut window = card(3);
    window.get_by_label("Read everything").click();
    window.run_steps(40);
    window.key_press(egui::Key::A);
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
    assert!(window.state().commands.is_empty(), "{:?}", window.state().commands.len());
    let allow = window.query_by_label("Allow Ada").expect("the card is behind it");
    assert!(!allow.accesskit_node().is_focused());
}
