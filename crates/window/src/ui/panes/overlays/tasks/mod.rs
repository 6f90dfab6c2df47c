//! The overlay of a task board: the tasks of a file in columns or as a tree, edited in place. Every change is an edit
//! of the file; approvals are answered on the approval card.

mod board;
mod card;
mod columns;
mod detail;
mod tree;

use egui::{ScrollArea, Ui};

use self::board::TaskFileProblems;
use super::{Overlays, edit, frame};
use crate::element::TaskAct;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::panes::overlays::texts;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::model::{ElementView, TasksView};
use crate::view::theme::{SPACE, Theme};
use crate::workspace::layout::APPROVALS_FILE;

/// The minimum width for the selected task beside the others; otherwise it is below them.
const BESIDE_POINTS: f32 = 820.0;
/// The width of the selected task beside the others.
const DETAIL_POINTS: f32 = 320.0;
/// The minimum height for the selected task below the others; otherwise it replaces them.
const BELOW_POINTS: f32 = 320.0;
/// Its share of the height below the others.
const DETAIL_SHARE: f32 = 0.5;
/// The height of the form for a new task.
const ADD_POINTS: f32 = 36.0;
/// The views of the board.
const VIEWS: [&str; 2] = [texts::COLUMNS_VIEW, texts::TREE_VIEW];

/// The data that every part of the board is drawn from.
#[derive(Clone, Copy)]
struct Board<'a> {
    cx: ViewerContext<'a>,
    theme: &'a Theme,
    element: &'a ElementView,
    tasks: &'a TasksView,
    problems: &'a TaskFileProblems<'a>,
    /// The search text in lower case.
    search: &'a str,
    /// The index of the selected task.
    open: Option<usize>,
    /// Whether this is the file of approvals, which is read-only.
    is_record: bool,
}

impl Board<'_> {
    /// Returns the command for an edit of the file.
    fn act(&self, act: TaskAct) -> Command {
        Command::Act(edit(&self.element.id, act.into()), None)
    }
}

/// The user's actions on the board in this frame.
#[derive(Default)]
struct BoardOutput {
    commands: Vec<Command>,
    /// The index of the clicked task, which becomes selected, or deselected if it was selected.
    clicked: Option<usize>,
}

/// Returns the key under which the selected task is stored.
fn open_name(element: &ElementView) -> String {
    format!("open task of {}", element.id)
}

pub(super) fn taskboard_ui(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    element: &ElementView,
    tasks: &TasksView,
    theme: &Theme,
    overlays: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let problems = TaskFileProblems::of(&tasks.file, element.file.as_deref(), &cx.room.problems);
    let chosen = overlays.drafts.get(&open_name(element));
    let open = chosen.and_then(|id| tasks.file.tasks.iter().position(|task| task.id == *id));
    let view_id = ui.id().with("view");
    let mut view: usize = ui.data(|data| data.get_temp(view_id)).unwrap_or(0);
    let mut output = BoardOutput::default();
    if let Some(chosen) = header_ui(ui, element, tasks, theme, view, overlays) {
        view = chosen;
        ui.data_mut(|data| data.insert_temp(view_id, view));
    }
    file_problems_ui(ui, &problems, theme, commands);
    let search = overlays.drafts.get(&search_name(element)).map(|text| text.trim().to_lowercase()).unwrap_or_default();
    let is_record = element.file.as_deref() == Some(APPROVALS_FILE);
    let board = Board { cx: *cx, theme, element, tasks, problems: &problems, search: &search, open, is_record };
    let add_points = if is_record { 0.0 } else { ADD_POINTS };
    let [mut list, mut detail] = split_ui(ui, open.is_some(), add_points);
    if list.max_rect().height() < 1.0 {
        // The selected task takes all the space.
    } else if tasks.file.tasks.is_empty() {
        let how = if is_record { texts::NO_QUESTIONS_HINT } else { texts::NO_TASKS_HINT };
        widgets::empty(&mut list, Icon::Tick, texts::NO_TASKS_YET, how, theme);
    } else if view == 0 {
        columns::columns_ui(&mut list, &board, &mut output);
    } else {
        tree::tree_ui(&mut list, &board, &mut output);
    }
    if let Some(task) = open {
        let area = ScrollArea::vertical().id_salt(("task", &tasks.file.tasks[task].id)).auto_shrink(false);
        area.show(&mut detail, |ui| detail::detail_ui(ui, &board, task, overlays, &mut output));
    }
    if !is_record {
        add_ui(ui, &board, overlays, &mut output);
    }
    if let Some(task) = output.clicked {
        let name = open_name(element);
        if open == Some(task) {
            overlays.drafts.remove(&name);
        } else {
            overlays.drafts.insert(name, tasks.file.tasks[task].id.clone());
        }
    }
    commands.append(&mut output.commands);
}

fn search_name(element: &ElementView) -> String {
    format!("search of {}", element.id)
}

/// Draws the view switch, the number of tasks, and the search field. Returns the selected view.
fn header_ui(
    ui: &mut Ui,
    element: &ElementView,
    tasks: &TasksView,
    theme: &Theme,
    view: usize,
    overlays: &mut Overlays,
) -> Option<usize> {
    ui.horizontal(|ui| {
        let choices = VIEWS.map(|view| (view.to_owned(), texts::show_as(view)));
        let chosen = widgets::segments(ui, &choices, Some(view), theme);
        let open = tasks.columns[..3].iter().map(Vec::len).sum::<usize>();
        let text = texts::open_tasks(open, tasks.file.tasks.len());
        ui.label(widgets::small(text, theme));
        let search = overlays.drafts.entry(search_name(element)).or_default();
        widgets::field(ui, search, texts::SEARCH_TASKS, texts::SEARCH_TASKS_HINT);
        chosen
    })
    .inner
}

/// Draws problems of the file that belong to no task.
fn file_problems_ui(ui: &mut Ui, problems: &TaskFileProblems<'_>, theme: &Theme, commands: &mut Vec<Command>) {
    for problem in problems.other.iter().take(3) {
        card::problem_ui(ui, problem, theme, commands);
    }
}

/// Splits the space between the tasks and the selected one.
fn split_ui(ui: &mut Ui, is_open: bool, below: f32) -> [Ui; 2] {
    let rect = ui.available_rect_before_wrap();
    let rect = rect.with_max_y((rect.bottom() - below).max(rect.top() + 120.0));
    let gap = SPACE[1] / 2.0;
    let (list, detail) = if !is_open {
        (rect, rect.with_min_y(rect.bottom()))
    } else if rect.width() >= BESIDE_POINTS {
        let (list, detail) = rect.split_left_right_at_x(rect.right() - DETAIL_POINTS);
        (list.with_max_x(list.right() - gap), detail.with_min_x(detail.left() + gap))
    } else if rect.height() < BELOW_POINTS {
        // Without room for both, the selected task takes all the space until it is closed.
        (rect.with_max_y(rect.top()), rect)
    } else {
        let (list, detail) = rect.split_top_bottom_at_fraction(1.0 - DETAIL_SHARE);
        (list.with_max_y(list.bottom() - gap), detail.with_min_y(detail.top() + gap))
    };
    ui.advance_cursor_after_rect(rect);
    [(list, "tasks"), (detail, "chosen task")].map(|(part, salt)| frame::part_ui(ui, part, salt))
}

/// Draws the form for a new task, which is written in the format of the file.
fn add_ui(ui: &mut Ui, board: &Board<'_>, overlays: &mut Overlays, output: &mut BoardOutput) {
    let draft = overlays.drafts.entry(format!("new task on {}", board.element.id)).or_default();
    let is_written = !draft.trim().is_empty();
    let (mut entered, mut field) = (false, None);
    let write = |ui: &mut Ui| {
        let response = widgets::field(ui, draft, texts::NEW_TASK, texts::NEW_TASK_HINT);
        entered = widgets::entered(ui, &response);
        field = Some(response);
    };
    let add = |ui: &mut Ui| widgets::primary(ui, is_written, texts::ADD_TASK, board.theme).clicked();
    let is_clicked = widgets::line(ui, "new task", write, add);
    if is_written && (is_clicked || entered) {
        output.commands.push(board.act(TaskAct::AddTask { line: draft.trim().to_owned(), below: None }));
        draft.clear();
        field.iter().for_each(egui::Response::request_focus);
    }
}
