//! The large view of an approval: everything that an approval card says and shows, for a person who wants to read a long
//! change before answering. It has no answer buttons: what was read is answered on the card.

use egui::{Context, Label, RichText, Ui};

use super::{approval_card, approval_preview, texts};
use crate::ui::ViewerContext;
use crate::ui::widgets::dialog::DialogFrame;
use crate::view::theme::{DIALOG, SPACE};
use crate::view::work::QuestionView;

/// The height of everything but the preview, in points: the title, the sentences and the margins.
const AROUND_POINTS: f32 = 260.0;
/// The minimum height of the preview, in points.
const MIN_PREVIEW_POINTS: f32 = 120.0;

/// Draws the large view; `page` is the index of the shown page of the preview. Returns whether it was closed.
pub(super) fn approval_reader_ui(
    ctx: &Context,
    cx: &ViewerContext<'_>,
    question: &QuestionView,
    page: &mut usize,
) -> bool {
    let agent_name = cx.room.called(&question.approval.agent);
    let title = texts::approval_of(agent_name);
    let frame = DialogFrame { title: &title, closes: texts::APPROVAL, width: DIALOG[3] };
    let height = (ctx.content_rect().height() - AROUND_POINTS).max(MIN_PREVIEW_POINTS);
    let shown = frame.show(ctx, cx.theme, |ui| {
        ui.spacing_mut().item_spacing.y = SPACE[0];
        approval_card::sentences_ui(ui, cx, question, agent_name);
        preview_ui(ui, cx, question, (height, page));
    });
    shown.is_closed
}

fn preview_ui(ui: &mut Ui, cx: &ViewerContext<'_>, question: &QuestionView, (height, page): (f32, &mut usize)) {
    if question.approval.fields().is_empty() {
        return approval_preview::preview_ui(ui, cx, question, (height, page));
    }
    approval_preview::part(ui, "question", height, |ui| {
        ui.add(Label::new(RichText::new(texts::ANSWER_ON_CARD).color(cx.theme.text_soft)).wrap());
        approval_preview::lines_ui(ui, &question.approval.long_question(), cx.theme);
    });
}

#[cfg(test)]
mod tests {
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
}
