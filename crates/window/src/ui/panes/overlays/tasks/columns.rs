//! The task board as columns, between which cards can be dragged. If there is little space, one column is shown at a
//! time.

use egui::{
    Align2, CornerRadius, DragAndDrop, FontId, LayerId, Order, RichText, ScrollArea, Sense, Stroke, Ui, UiBuilder,
    pos2, vec2,
};

use super::board::{column_tasks, drop_task, move_refusal};
use super::{Board, BoardOutput, card};
use crate::base::text::{one_line, truncate};
use crate::ui::commands::WindowCommand;
use crate::ui::panes::overlays::texts;
use crate::ui::widgets;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE};
use crate::workspace::task_files::Column;

/// The minimum width of a column; if not all fit, one is shown.
const MIN_COLUMN_POINTS: f32 = 128.0;
/// The maximum number of cards per column; the search finds the others.
const MAX_CARDS: usize = 60;

/// The payload of a dragged card: the ids of its task and board.
#[derive(Clone, PartialEq)]
struct DraggedCard {
    board: String,
    id: String,
}

pub(super) fn columns_ui(ui: &mut Ui, board: &Board<'_>, output: &mut BoardOutput) {
    let gap = SPACE[1];
    let width = (ui.available_width() - 3.0 * gap) / 4.0;
    if width >= MIN_COLUMN_POINTS {
        let rect = ui.available_rect_before_wrap();
        for index in 0..4 {
            let left = rect.left() + index as f32 * (width + gap);
            let place = egui::Rect::from_min_max(pos2(left, rect.top()), pos2(left + width, rect.bottom()));
            let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt(("column", index)));
            column_ui(&mut child, board, index, true, output);
        }
    } else {
        let chosen_id = ui.id().with("column");
        let mut chosen: usize = ui.data(|data| data.get_temp(chosen_id)).unwrap_or(0);
        let choices: Vec<(String, String)> = Column::SHOWN
            .iter()
            .zip(&board.tasks.columns)
            .map(|(column, tasks)| {
                (texts::column_and_number(column.name(), tasks.len()), texts::show_column(column.name()))
            })
            .collect();
        if let Some(index) = widgets::segments(ui, &choices, Some(chosen), board.theme) {
            chosen = index;
            ui.data_mut(|data| data.insert_temp(chosen_id, chosen));
        }
        column_ui(ui, board, chosen, false, output);
    }
    drag_preview_ui(ui, board);
}

fn column_ui(ui: &mut Ui, board: &Board<'_>, index: usize, has_head: bool, output: &mut BoardOutput) {
    let (column, theme) = (Column::SHOWN[index], board.theme);
    let place = ui.available_rect_before_wrap();
    let area = ui.interact(place, ui.id().with("area"), Sense::hover());
    let is_over = area.dnd_hover_payload::<DraggedCard>().is_some_and(|dragged| dragged.board == *board.element.id);
    let fill = widgets::mix(theme.panel, theme.line, if is_over { 0.75 } else { 0.4 });
    ui.painter().rect_filled(place, CornerRadius::same(RADIUS[1]), fill);
    let inner = place.shrink2(vec2(SPACE[0] + 2.0, SPACE[1]));
    let mut ui = ui.new_child(UiBuilder::new().max_rect(inner));
    let tasks = column_tasks(board.tasks, index, board.search);
    if has_head {
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
            ui.painter().circle_filled(rect.center(), 4.0, card::column_colour(column, theme));
            ui.label(RichText::new(column.name()).size(TYPE[1]).strong().color(theme.text));
            ui.label(widgets::small(tasks.len().to_string(), theme));
        });
    }
    let mut beside = None;
    ScrollArea::vertical().id_salt("cards").auto_shrink(false).show(&mut ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        for task in tasks.iter().take(MAX_CARDS) {
            if let Some(is_before) = card_ui(ui, board, *task, output) {
                beside = Some((*task, is_before));
            }
        }
        if tasks.len() > MAX_CARDS {
            let more = texts::more_tasks(tasks.len() - MAX_CARDS);
            ui.label(widgets::small(more, theme));
        }
        if tasks.is_empty() {
            ui.label(widgets::small(texts::NO_TASKS_IN_COLUMN, theme));
        }
    });
    if let Some(dragged) =
        area.dnd_release_payload::<DraggedCard>().filter(|dragged| dragged.board == *board.element.id)
    {
        let file = &board.tasks.file;
        let Some(task) = file.tasks.iter().position(|task| task.id == dragged.id) else { return };
        match move_refusal(board.cx.room, &file.tasks[task], column) {
            Some(why) => output.commands.push(WindowCommand::Tell(why, false).into()),
            None => output.commands.extend(drop_task(file, task, column, beside).map(|act| board.act(act))),
        }
    }
}

/// Draws a card. While another card is dragged over it, returns whether that would be dropped before it.
fn card_ui(ui: &mut Ui, board: &Board<'_>, index: usize, output: &mut BoardOutput) -> Option<bool> {
    let (task, theme) = (&board.tasks.file.tasks[index], board.theme);
    let is_open = board.open == Some(index);
    let is_free = !task.has_errors && !board.is_record && !crate::workspace::task_files::columns::is_question(task);
    let sense = if is_free { Sense::click_and_drag() } else { Sense::click() };
    let builder = UiBuilder::new().id_salt(("card", &task.id, index)).sense(sense);
    let shown = ui.scope_builder(builder, |ui| {
        let response = ui.response();
        let is_near = response.hovered() || response.has_focus();
        card::frame(theme, is_open, is_near).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            card::content_ui(ui, board, index, &mut output.commands);
        });
    });
    let response = shown.response;
    let name = texts::task_name(&task.title.text);
    response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::SelectableLabel, true, is_open, &name));
    if response.clicked() {
        output.clicked = Some(index);
    }
    response.dnd_set_drag_payload(DraggedCard { board: board.element.id.to_string(), id: task.id.clone() });
    let pointer = ui.ctx().pointer_interact_pos()?;
    let dragged = DragAndDrop::payload::<DraggedCard>(ui.ctx()).filter(|dragged| dragged.id != task.id)?;
    let is_here = dragged.board == *board.element.id && response.rect.expand(3.0).contains(pointer);
    is_here.then(|| {
        let is_before = pointer.y < response.rect.center().y;
        let y = if is_before { response.rect.top() - 3.0 } else { response.rect.bottom() + 3.0 };
        ui.painter().hline(response.rect.x_range(), y, Stroke::new(LINE[2], theme.accent));
        is_before
    })
}

/// Draws the dragged card beside the pointer.
fn drag_preview_ui(ui: &Ui, board: &Board<'_>) {
    let Some(dragged) =
        DragAndDrop::payload::<DraggedCard>(ui.ctx()).filter(|dragged| dragged.board == *board.element.id)
    else {
        return;
    };
    let (Some(at), Some(task)) =
        (ui.ctx().pointer_interact_pos(), board.tasks.file.tasks.iter().find(|task| task.id == dragged.id))
    else {
        return;
    };
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Tooltip, ui.id().with("dragged card")));
    let text = truncate(&one_line(&task.title.text), 40);
    let galley = painter.layout_no_wrap(text, FontId::proportional(TYPE[1]), board.theme.text);
    let place = Align2::LEFT_TOP.anchor_size(at + vec2(12.0, 8.0), galley.size()).expand2(vec2(SPACE[1], SPACE[0]));
    painter.rect(
        place,
        CornerRadius::same(RADIUS[0]),
        board.theme.card,
        Stroke::new(LINE[1], board.theme.accent),
        egui::StrokeKind::Outside,
    );
    painter.galley(place.min + vec2(SPACE[1], SPACE[0]), galley, board.theme.text);
}
