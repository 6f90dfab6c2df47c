//! What an approval says, and its preview: everything that would happen, of which nothing is cut. Long texts are shown page by
//! page, so that a frame lays out only a part of them.

use std::sync::Arc;

use egui::{
    Align, CornerRadius, Frame, Id as WidgetId, Label, Layout, Margin, RichText, ScrollArea, TextStyle, Ui, vec2,
};

use super::texts;
use crate::gate::RiskLevel;
use crate::kernel::ChangedFile;
use crate::tools::preview_lines::CONTINUATION;
use crate::tools::{Preview, PreviewLine, PreviewLineKind};
use crate::ui::ViewerContext;
use crate::ui::widgets::{mix, name, small};
use crate::view::theme::{RADIUS, SPACE, TYPE, Theme};
use crate::view::work::QuestionView;

/// The maximum number of rows of a page.
const PAGE_ROWS: usize = 400;
/// The maximum number of characters of a row; it is wrapped to the width of the card.
const ROW_CHARS: usize = 400;
/// The vertical margin inside the preview, in points.
pub(super) const MARGIN: f32 = 4.0;

/// The cached lines of a preview.
#[derive(Clone)]
struct Lines {
    /// The preview and the changed files.
    of: Arc<(Preview, Vec<ChangedFile>)>,
    lines: Arc<Vec<PreviewLine>>,
}

/// Draws who wants what, its risk and why it needs approval.
pub(super) fn sentences_ui(ui: &mut Ui, cx: &ViewerContext<'_>, question: &QuestionView, agent_name: &str) {
    let sentence = RichText::new(question.approval.sentence(agent_name)).strong().color(cx.theme.text);
    ui.add(Label::new(sentence).wrap());
    // The risk comes first, so that it is visible without scrolling.
    let is_risky = question.approval.risk.level == RiskLevel::High;
    let is_risky = is_risky || !question.approval.secret_warning().is_empty();
    let colour = if is_risky { cx.theme.bad } else { cx.theme.text };
    let details =
        [small(question.approval.warning(), cx.theme).color(colour), small(question.approval.reason(), cx.theme)];
    for detail in details.into_iter().filter(|detail| !detail.is_empty()) {
        ui.add(Label::new(detail).wrap());
    }
}

/// Draws the preview of the effect; `page` is the index of the shown page.
pub(super) fn preview_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    question: &QuestionView,
    (height, page): (f32, &mut usize),
) {
    let lines = lines_of(ui, cx, question);
    let theme = cx.theme;
    let frame = Frame::new()
        .fill(mix(theme.card, theme.line, 0.35))
        .corner_radius(CornerRadius::same(RADIUS[0]))
        .inner_margin(Margin::symmetric(SPACE[1] as i8, MARGIN as i8));
    frame.show(ui, |ui| {
        part(ui, "preview", height, |ui| {
            let pages = lines.chunks(PAGE_ROWS).collect::<Vec<_>>();
            *page = (*page).min(pages.len().saturating_sub(1));
            let before = *page;
            if pages.len() > 1 {
                pages_ui(ui, theme, (page, pages.len()), lines.len());
            }
            if let Some(shown) = pages.get(before) {
                lines_ui(ui, shown, theme);
            }
            if before + 1 < pages.len() {
                next_ui(ui, page);
            }
            if *page != before {
                // The next page begins at its top.
                ui.scroll_to_rect(ui.min_rect(), Some(egui::Align::Min));
            }
        });
    });
}

/// Draws a scrolling part of the card with a fixed height.
pub(super) fn part(ui: &mut Ui, salt: &str, height: f32, content: impl FnOnce(&mut Ui)) {
    let size = vec2(ui.available_width(), height);
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        ui.set_min_size(size);
        let area = ScrollArea::vertical().id_salt(salt).auto_shrink(false).max_height(height).min_scrolled_height(0.0);
        area.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            content(ui);
        });
    });
}

/// Draws lines; consecutive ones with the same mark are laid out as one text.
pub(super) fn lines_ui(ui: &mut Ui, lines: &[PreviewLine], theme: &Theme) {
    for block in lines.chunk_by(|one, other| one.mark == other.mark) {
        ui.add(Label::new(block_text(block, theme)).wrap());
    }
}

/// Draws which page is shown, and the buttons for the others.
fn pages_ui(ui: &mut Ui, theme: &Theme, (page, pages): (&mut usize, usize), rows: usize) {
    ui.horizontal(|ui| {
        let first = *page * PAGE_ROWS;
        ui.label(small(texts::rows_of(first + 1, (first + PAGE_ROWS).min(rows), rows), theme));
        let previous = ui.add_enabled(*page > 0, egui::Button::new(texts::PREVIOUS_ROWS));
        name(&previous, texts::PREVIOUS_ROWS);
        if previous.clicked() {
            *page -= 1;
        } else if *page + 1 < pages {
            next_ui(ui, page);
        }
    });
}

fn next_ui(ui: &mut Ui, page: &mut usize) {
    if ui.button(texts::NEXT_ROWS).clicked() {
        *page += 1;
    }
}

fn block_text(lines: &[PreviewLine], theme: &Theme) -> RichText {
    let mark = lines.first().map_or(PreviewLineKind::Plain, |line| line.mark);
    let colour = match mark {
        PreviewLineKind::Heading | PreviewLineKind::Gap => theme.text_soft,
        PreviewLineKind::Plain => theme.text,
        PreviewLineKind::Added => theme.good,
        PreviewLineKind::Removed => theme.bad,
    };
    let text = RichText::new(text_of(lines)).size(TYPE[0]).color(colour);
    if mark == PreviewLineKind::Heading { text } else { text.text_style(TextStyle::Monospace).size(TYPE[0]) }
}

/// Returns the text of lines with the same mark.
fn text_of(lines: &[PreviewLine]) -> String {
    let sign = |line: &PreviewLine| match line.mark {
        PreviewLineKind::Heading | PreviewLineKind::Gap => "",
        // The further rows of a long line have a sign already.
        _ if line.text.starts_with(CONTINUATION) => "",
        PreviewLineKind::Plain => "  ",
        PreviewLineKind::Added => "+ ",
        PreviewLineKind::Removed => "- ",
    };
    lines.iter().map(|line| format!("{}{}", sign(line), line.text)).collect::<Vec<_>>().join("\n")
}

/// Returns the lines of the preview, compared with the current file content once it has been read.
fn lines_of(ui: &Ui, cx: &ViewerContext<'_>, question: &QuestionView) -> Arc<Vec<PreviewLine>> {
    let now = question.preview.unknown_file().and_then(|path| match cx.ui.texts.text(path) {
        Some(Ok(Some(read))) => Some(read.text.clone()),
        _ => None,
    });
    let preview = match now {
        Some(now) => question.preview.clone().with_current_text(&now),
        None => question.preview.clone(),
    };
    let id = WidgetId::new(("approval lines", question.approval.id.as_str()));
    if let Some(cached) = ui.data(|data| data.get_temp::<Lines>(id))
        && cached.of.0 == preview
        && cached.of.1 == question.approval.changed_files
    {
        return cached.lines;
    }
    let lines = Arc::new(rows_of(question.approval.lines(&preview)));
    let of = Arc::new((preview, question.approval.changed_files.clone()));
    ui.data_mut(|data| data.insert_temp(id, Lines { of, lines: lines.clone() }));
    lines
}

/// Breaks very long lines, so that each page has a bounded size.
fn rows_of(lines: Vec<PreviewLine>) -> Vec<PreviewLine> {
    let rows = |line: PreviewLine| {
        let mark = line.mark;
        line.pieces(ROW_CHARS).map(|text| PreviewLine { mark, text }).collect::<Vec<_>>()
    };
    lines.into_iter().flat_map(rows).collect()
}

#[cfg(test)]
#[path = "approval_preview_tests.rs"]
mod tests;
