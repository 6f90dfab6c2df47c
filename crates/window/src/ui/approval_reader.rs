//! The large view of an approval: everything that an approval card says and shows, for a person who wants to read a long
//! change before answering. It has no answer buttons: what was read is answered on the card.

use egui::{Context, Label, RichText, Ui};

use super::{approval_preview, texts};
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
        approval_preview::sentences_ui(ui, cx, question, agent_name);
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
#[path = "approval_reader_tests.rs"]
mod tests;
