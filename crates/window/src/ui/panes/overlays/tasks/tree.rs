//! The task board as a tree in the order of the file. Only visible rows are drawn.

use egui::{Align, CornerRadius, Label, Layout, ScrollArea, Sense, Stroke, Ui, UiBuilder, vec2};

use super::board::matches_search;
use super::{Board, BoardOutput, card};
use crate::base::Severity;
use crate::ui::panes::overlays::texts;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::theme::{LINE, RADIUS, SPACE};
use crate::workspace::task_files::Column;

/// The height of a row.
const ROW_POINTS: f32 = 30.0;
/// The indentation per level of subtasks, and the maximum depth that is indented.
const INDENT_POINTS: f32 = 18.0;
const MAX_INDENTED_DEPTH: usize = 8;
/// The share of a row's width for the assignees.
const MARKS_SHARE: f32 = 0.36;

pub(super) fn tree_ui(ui: &mut Ui, board: &Board<'_>, output: &mut BoardOutput) {
    let tasks = &board.tasks.file.tasks;
    let shown: Vec<usize> = (0..tasks.len()).filter(|index| matches_search(&tasks[*index], board.search)).collect();
    if shown.is_empty() {
        ui.label(widgets::secondary_text(texts::NO_RESULTS, board.theme));
        return;
    }
    ui.spacing_mut().item_spacing.y = 2.0;
    let area = ScrollArea::vertical().id_salt("tree").auto_shrink(false);
    area.show_rows(ui, ROW_POINTS, shown.len(), |ui, rows| {
        for index in &shown[rows] {
            row_ui(ui, board, *index, output);
        }
    });
}

fn row_ui(ui: &mut Ui, board: &Board<'_>, index: usize, output: &mut BoardOutput) {
    let (task, theme) = (&board.tasks.file.tasks[index], board.theme);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_POINTS), Sense::click());
    let is_open = board.open == Some(index);
    let name = texts::task_name(&task.title.text);
    response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::SelectableLabel, true, is_open, &name));
    let share = if is_open {
        0.2
    } else if response.hovered() {
        0.08
    } else {
        0.0
    };
    let stroke = Stroke::new(LINE[0], if response.has_focus() { theme.accent } else { theme.line });
    let fill = widgets::mix(theme.card, theme.accent, share);
    ui.painter().rect(rect, CornerRadius::same(RADIUS[0]), fill, stroke, egui::StrokeKind::Inside);
    let indent = INDENT_POINTS * task.depth.min(MAX_INDENTED_DEPTH) as f32;
    let inner = rect.shrink2(vec2(SPACE[1], 3.0));
    let inner = inner.with_min_x(inner.left() + indent);
    let mut cell = ui.new_child(UiBuilder::new().max_rect(inner).layout(Layout::left_to_right(Align::Center)));
    cell.spacing_mut().item_spacing.x = SPACE[0] + 2.0;
    card::checkbox_ui(&mut cell, board, index, &mut output.commands);
    if let Some(problem) = board.problems.worst(index) {
        let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
        let (rect, mark) = cell.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
        Icon::Warning.paint(cell.painter(), rect, colour);
        mark.on_hover_text(texts::problem(&problem.what, &problem.remedy));
    }
    let title = cell.available_width() * (1.0 - MARKS_SHARE);
    let size = vec2(title, cell.available_height());
    cell.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_width(title);
        ui.add(Label::new(card::title(task, theme)).truncate().selectable(false));
    });
    let column = Column::of(task);
    if column == Column::InWork || column == Column::NeedsPerson {
        let (dot, response) = cell.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
        cell.painter().circle_filled(dot.center(), 4.0, card::column_colour(column, theme));
        response.on_hover_text(column.name());
    }
    card::marks_ui(&mut cell, board, task);
    if response.clicked() {
        output.clicked = Some(index);
    }
}
