//! The card of a task: title, assignees, dependencies and problems.

use egui::{Align, Button, Color32, CornerRadius, Frame, Label, Layout, Margin, RichText, Sense, Stroke, Ui, vec2};

use super::Board;
use crate::base::text::{one_line, truncate};
use crate::base::{Problem, Severity};
use crate::element::TaskAct;
use crate::element::taskboard::open_dependencies;
use crate::ui::Command;
use crate::ui::panes::overlays::texts;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::paint;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme, word_colour};
use crate::workspace::task_files::columns::{field_text, is_person, is_question};
use crate::workspace::task_files::permission::waits_for_person;
use crate::workspace::task_files::{Column, Priority, Task};

/// The maximum number of characters of a title.
const TITLE_CHARS: usize = 160;
/// The maximum number of characters of a result.
const RESULT_CHARS: usize = 120;
/// The size of a portrait.
const FACE_POINTS: f32 = 20.0;
/// The size of the checkbox.
const TICK_POINTS: f32 = 16.0;

/// Returns the colour of a column.
pub(super) fn column_colour(column: Column, theme: &Theme) -> Color32 {
    use crate::simulation::State;
    use crate::view::theme::state_colour;
    match column {
        Column::Open => theme.text_soft,
        Column::InWork => state_colour(State::Working),
        Column::NeedsPerson => state_colour(State::Waiting),
        Column::Done | Column::Skipped => theme.good,
    }
}

/// Returns the frame of a card.
pub(super) fn frame(theme: &Theme, is_open: bool, is_near: bool) -> Frame {
    let stroke = match (is_open, is_near) {
        (true, _) => Stroke::new(LINE[2], theme.accent),
        (_, true) => Stroke::new(LINE[0], theme.accent),
        _ => Stroke::new(LINE[0], theme.line),
    };
    Frame::new()
        .fill(theme.card)
        .stroke(stroke)
        .corner_radius(CornerRadius::same(RADIUS[0]))
        .inner_margin(Margin::symmetric(SPACE[1] as i8, 6))
}

/// Draws the content of a card.
pub(super) fn content_ui(ui: &mut Ui, board: &Board<'_>, index: usize, commands: &mut Vec<Command>) {
    let (task, theme) = (&board.tasks.file.tasks[index], board.theme);
    ui.spacing_mut().item_spacing = vec2(SPACE[0], 3.0);
    ui.horizontal_top(|ui| {
        checkbox_ui(ui, board, index, commands);
        ui.add(Label::new(title(task, theme)).wrap().selectable(false));
    });
    if let Some(parent) = task.parent {
        let above = truncate(&one_line(&board.tasks.file.tasks[parent].title.text), 60);
        ui.add(Label::new(widgets::small(texts::part_of(&above), theme)).truncate().selectable(false));
    }
    if task.priority.is_some() || !task.stakeholders.is_empty() || !task.tags.is_empty() {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().interact_size.y = FACE_POINTS;
            marks_ui(ui, board, task);
        });
    }
    for notes in status_notes(board, task) {
        ui.add(Label::new(widgets::small(notes, theme)).wrap().selectable(false));
    }
    if let Some(problem) = board.problems.worst(index) {
        problem_ui(ui, problem, theme, commands);
    }
}

/// Returns the title; struck through if the task is skipped.
pub(super) fn title(task: &Task, theme: &Theme) -> RichText {
    let text = RichText::new(truncate(&one_line(&task.title.text), TITLE_CHARS)).size(TYPE[1]);
    match Column::of(task) {
        Column::Skipped => text.strikethrough().color(theme.text_soft),
        Column::Done => text.color(theme.text_soft),
        _ => text.color(theme.text),
    }
}

/// Draws priority, assignees and tags.
pub(super) fn marks_ui(ui: &mut Ui, board: &Board<'_>, task: &Task) {
    let theme = board.theme;
    if let Some((priority, _)) = &task.priority {
        let colour = match priority {
            Priority::A => theme.bad,
            Priority::B => theme.warn,
            Priority::C | Priority::D => theme.text_soft,
        };
        let text = RichText::new(priority.letter()).size(TYPE[0]).strong().color(colour);
        ui.add(Label::new(text).selectable(false)).on_hover_text(texts::priority(priority.letter()));
    }
    for name in &task.stakeholders {
        assignee_ui(ui, board, &name.text);
    }
    for tag in &task.tags {
        let text = widgets::small(format!("#{}", tag.text), theme);
        ui.add(Label::new(text).selectable(false));
    }
}

/// Draws an assignee with a portrait if it is an agent in the room.
fn assignee_ui(ui: &mut Ui, board: &Board<'_>, name: &str) {
    let agent = board.cx.room.agent_named(name);
    if let Some(agent) = agent {
        let (rect, _) = ui.allocate_exact_size(vec2(FACE_POINTS * 0.8, FACE_POINTS), Sense::hover());
        paint::portrait(ui.painter(), rect, &agent.look, board.cx.art);
    } else if !is_person(name) {
        let (rect, _) = ui.allocate_exact_size(vec2(8.0, FACE_POINTS), Sense::hover());
        ui.painter().circle_filled(rect.center(), 3.5, word_colour(name));
    }
    let called = text_format::assignee(board.cx.room, name);
    ui.add(Label::new(RichText::new(called).size(TYPE[0]).color(board.theme.text)).selectable(false));
}

/// Returns notes on the status of a task: the reason why it waits, and its result.
fn status_notes(board: &Board<'_>, task: &Task) -> Vec<String> {
    let file = &board.tasks.file;
    let mut notes = Vec::new();
    let column = Column::of(task);
    let called = |id: &str| {
        let other = file.tasks.iter().find(|other| other.id == id);
        other.map_or_else(|| id.to_owned(), |other| truncate(&one_line(&other.title.text), 50))
    };
    let waits: Vec<String> = open_dependencies(file, task).into_iter().map(called).collect();
    if !waits.is_empty() && !column.is_closed() {
        notes.push(texts::waits_for(&waits));
    }
    if waits_for_person(task) && !column.is_closed() {
        notes.push(texts::NEEDS_YOUR_APPROVAL.to_owned());
    }
    let result = field_text(task, "conclusion").or_else(|| field_text(task, "why"));
    notes.extend(result.filter(|_| !is_question(task)).map(|result| truncate(&one_line(result), RESULT_CHARS)));
    notes
}

/// Draws the checkbox that completes or reopens a task.
pub(super) fn checkbox_ui(ui: &mut Ui, board: &Board<'_>, index: usize, commands: &mut Vec<Command>) {
    let (task, theme) = (&board.tasks.file.tasks[index], board.theme);
    let column = Column::of(task);
    let is_on = column.is_closed();
    let is_closed = task.has_errors || board.is_record || is_question(task);
    let sense = if is_closed { Sense::hover() } else { Sense::click() };
    let (rect, response) = ui.allocate_exact_size(vec2(TICK_POINTS, TICK_POINTS), sense);
    let name = if is_on { texts::reopen_task(&task.title.text) } else { texts::complete_task(&task.title.text) };
    response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::Checkbox, !is_closed, is_on, &name));
    let edge = if response.hovered() && !is_closed { theme.accent } else { column_colour(column, theme) };
    let square = rect.shrink(1.0);
    ui.painter().rect(
        square,
        CornerRadius::same(RADIUS[0]),
        if is_on { widgets::mix(theme.card, edge, 0.25) } else { theme.card },
        Stroke::new(LINE[1], edge),
        egui::StrokeKind::Inside,
    );
    match column {
        Column::Done => Icon::Tick.paint(ui.painter(), square.shrink(3.0), edge),
        Column::Skipped => Icon::Cross.paint(ui.painter(), square.shrink(4.0), edge),
        Column::InWork => drop(ui.painter().circle_filled(square.center(), 3.0, edge)),
        Column::NeedsPerson => Icon::Question.paint(ui.painter(), square.shrink(3.0), edge),
        Column::Open => {}
    }
    let hint = match (task.has_errors, is_question(task)) {
        (true, _) => texts::TASK_HAS_AN_ERROR,
        (_, true) => texts::ANSWER_ON_CARD,
        _ if is_on => texts::REOPEN,
        _ => texts::COMPLETE,
    };
    let response = response.on_hover_text(hint);
    if response.clicked() && !is_closed {
        let to = if is_on { Column::Open } else { Column::Done };
        commands.push(board.act(TaskAct::MoveTask { id: task.id.clone(), column: Some(to), place: None }));
    }
}

/// Draws a problem with its remedy and a link to its line in the editor.
pub(super) fn problem_ui(ui: &mut Ui, problem: &Problem, theme: &Theme, commands: &mut Vec<Command>) {
    let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        let notes = text_format::capitalised(&texts::problem(&problem.what, &problem.remedy));
        let what = RichText::new(notes).size(TYPE[0]).color(colour);
        ui.add(Label::new(what).wrap().selectable(false));
        let shown = problem.line.map_or(texts::OPEN_IN_EDITOR.to_owned(), texts::open_line);
        let name = problem.line.map_or(shown.clone(), texts::open_in_editor_at);
        let link = Button::new(RichText::new(shown).size(TYPE[0]).color(theme.accent)).small().truncate();
        let link = ui.add(link).on_hover_text(&name);
        widgets::name(&link, name);
        if link.clicked() {
            commands.push(Command::OpenFile(problem.place.clone(), problem.line));
        }
    });
}
