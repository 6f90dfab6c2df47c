//! The selected task with all its properties and commands. Approvals are answered here on the approval card.

use egui::{Label, RichText, Ui};

use super::super::Overlays;
use super::board::{move_by_one, move_refusal, toggle_assignee};
use super::{Board, BoardOutput, card};
use crate::element::TaskAct;
use crate::ui::Command;
use crate::ui::approval_card::{CardSize, approval_card};
use crate::ui::commands::{GraphCommand, WindowCommand};
use crate::ui::panes::overlays::texts;
use crate::ui::texts::YOU;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::menu;
use crate::ui::widgets::text_format;
use crate::view::paint;
use crate::view::theme::{MENU, SPACE, TYPE};
use crate::workspace::task_files::columns::{QUESTION_KEY, field_text, is_person, is_question};
use crate::workspace::task_files::lint::PEOPLE;
use crate::workspace::task_files::{Column, Priority, Task};

/// The states that the user can set.
const STATES: [Column; 5] = [Column::Open, Column::InWork, Column::NeedsPerson, Column::Done, Column::Skipped];
/// The priorities, and none.
const PRIORITIES: [Option<Priority>; 5] =
    [Some(Priority::A), Some(Priority::B), Some(Priority::C), Some(Priority::D), None];
/// The maximum number of characters of a text.
const TEXT_CHARS: usize = 4_000;
/// The size of the approval card.
const QUESTION: CardSize = CardSize { head: 64.0, preview: 96.0 };

pub(super) fn detail_ui(
    ui: &mut Ui,
    board: &Board<'_>,
    index: usize,
    overlays: &mut Overlays,
    output: &mut BoardOutput,
) {
    let task = &board.tasks.file.tasks[index];
    if is_question(task) {
        question_ui(ui, board, index, output);
        return;
    }
    widgets::in_card(ui, board.theme, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        title_ui(ui, board, index, overlays, output);
        for problem in board.problems.by_task.get(&index).into_iter().flatten() {
            card::problem_ui(ui, problem, board.theme, &mut output.commands);
        }
        ui.add_enabled_ui(!task.has_errors, |ui| {
            state_ui(ui, board, index, output);
            ui.horizontal_wrapped(|ui| {
                priority_ui(ui, board, task, output);
                assignees_ui(ui, board, task, output);
            });
            tags_ui(ui, board, task, overlays, output);
        });
        text_fields_ui(ui, board, task);
        ui.add_enabled_ui(!task.has_errors, |ui| new_subtask_ui(ui, board, task, overlays, output));
        buttons_ui(ui, board, index, output);
    });
}

fn no_changes(task: &Task) -> (String, Option<String>, Option<String>, Option<Vec<String>>, Option<Vec<String>>) {
    (task.id.clone(), None, None, None, None)
}

/// Draws the title field, which is saved when it loses focus.
fn title_ui(ui: &mut Ui, board: &Board<'_>, index: usize, overlays: &mut Overlays, output: &mut BoardOutput) {
    let task = &board.tasks.file.tasks[index];
    let mut new_title = None;
    let write = |ui: &mut Ui| {
        let name = format!("title of {} on {}", task.id, board.element.id);
        let mut draft = overlays.drafts.get(&name).cloned().unwrap_or_else(|| task.title.text.clone());
        let field = ui.add_enabled_ui(!task.has_errors, |ui| {
            widgets::field(ui, &mut draft, texts::TASK_TITLE, texts::TASK_TITLE_HINT)
        });
        new_title = committed_text(ui, &field.inner, (name, draft, &task.title.text), overlays);
    };
    let close = |ui: &mut Ui| widgets::icon_button(ui, Icon::Cross, texts::CLOSE_TASK, false, board.theme).clicked();
    if widgets::line(ui, "title", write, close) {
        output.clicked = Some(index);
    }
    if let Some(title) = new_title.filter(|title| !title.trim().is_empty()) {
        let (id, _, priority, assignees, tags) = no_changes(task);
        output.commands.push(board.act(TaskAct::ChangeTask { id, title: Some(title), priority, assignees, tags }));
    }
}

/// Stores the draft of a field, and returns its text when the field loses focus after a change.
fn committed_text(
    ui: &Ui,
    field: &egui::Response,
    (name, draft, before): (String, String, &str),
    overlays: &mut Overlays,
) -> Option<String> {
    if field.changed() {
        overlays.drafts.insert(name.clone(), draft.clone());
    }
    if !widgets::committed(ui, field) {
        return None;
    }
    overlays.drafts.remove(&name);
    let is_given_up = ui.input(|input| input.key_pressed(egui::Key::Escape));
    (!is_given_up && draft.trim() != before.trim()).then(|| draft.trim().to_owned())
}

fn state_ui(ui: &mut Ui, board: &Board<'_>, index: usize, output: &mut BoardOutput) {
    let task = &board.tasks.file.tasks[index];
    let now = Column::of(task);
    let choices = STATES.map(|column| (column.name().to_owned(), texts::move_to(column.name())));
    let chosen = STATES.iter().position(|column| *column == now);
    if let Some(to) = widgets::segments(ui, &choices, chosen, board.theme).map(|index| STATES[index]) {
        match move_refusal(board.cx.room, task, to) {
            Some(why) => output.commands.push(WindowCommand::Tell(why, false).into()),
            None => output.commands.push(board.act(TaskAct::MoveTask {
                id: task.id.clone(),
                column: Some(to),
                place: None,
            })),
        }
    }
}

fn priority_ui(ui: &mut Ui, board: &Board<'_>, task: &Task, output: &mut BoardOutput) {
    let now = task.priority.as_ref().map(|(priority, _)| *priority);
    let letter = |priority: &Option<Priority>| priority.map_or("–", Priority::letter).to_owned();
    let choices: Vec<(String, String)> = PRIORITIES
        .iter()
        .map(|priority| {
            (letter(priority), priority.map_or(texts::NO_PRIORITY.to_owned(), |one| texts::priority(one.letter())))
        })
        .collect();
    let chosen = PRIORITIES.iter().position(|priority| *priority == now);
    if let Some(index) = widgets::segments(ui, &choices, chosen, board.theme) {
        let (id, title, _, assignees, tags) = no_changes(task);
        let priority = Some(PRIORITIES[index].map_or("", Priority::letter).to_owned());
        output.commands.push(board.act(TaskAct::ChangeTask { id, title, priority, assignees, tags }));
    }
}

/// Draws the menu of assignees: agents in the room, the user, or none.
fn assignees_ui(ui: &mut Ui, board: &Board<'_>, task: &Task, output: &mut BoardOutput) {
    let room = board.cx.room;
    let names: Vec<&str> = task.stakeholders.iter().map(|name| text_format::assignee(room, &name.text)).collect();
    let shown = if names.is_empty() { texts::NOBODY.to_owned() } else { names.join(", ") };
    let mut chosen: Option<Vec<String>> = None;
    menu::menu_button(ui, texts::assigned_to(&shown), texts::WHO_HAS_IT, MENU[1], board.theme, |ui| {
        egui::ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            let has_person = task.stakeholders.iter().any(|name| is_person(&name.text));
            if menu::choice(ui, task.stakeholders.is_empty(), texts::NOBODY).clicked() {
                chosen = Some(Vec::new());
            }
            if menu::choice(ui, has_person, YOU).clicked() {
                let written = task.stakeholders.iter().find(|name| is_person(&name.text));
                chosen = Some(toggle_assignee(task, written.map_or(PEOPLE[0], |name| &name.text)));
            }
            for agent in &room.agents {
                let written = task
                    .stakeholders
                    .iter()
                    .find(|name| room.agent_named(&name.text).is_some_and(|named| named.key == agent.key));
                let face = |painter: &egui::Painter, place| paint::portrait(painter, place, &agent.look, board.cx.art);
                if menu::choice_with_picture(ui, written.is_some(), &agent.name, face).clicked() {
                    chosen = Some(toggle_assignee(task, written.map_or(&*agent.id, |name| &name.text)));
                }
            }
        });
    });
    if let Some(assignees) = chosen {
        let (id, title, priority, _, tags) = no_changes(task);
        output.commands.push(board.act(TaskAct::ChangeTask { id, title, priority, assignees: Some(assignees), tags }));
    }
}

fn tags_ui(ui: &mut Ui, board: &Board<'_>, task: &Task, overlays: &mut Overlays, output: &mut BoardOutput) {
    let name = format!("tags of {} on {}", task.id, board.element.id);
    let before: Vec<String> = task.tags.iter().map(|tag| format!("#{}", tag.text)).collect();
    let before = before.join(" ");
    let mut draft = overlays.drafts.get(&name).cloned().unwrap_or_else(|| before.clone());
    let field = widgets::field(ui, &mut draft, texts::TAGS, texts::TAGS_HINT);
    if let Some(text) = committed_text(ui, &field, (name, draft, &before), overlays) {
        let tags = text.split([' ', ',']).map(|tag| tag.trim_start_matches('#').to_owned());
        let tags = Some(tags.filter(|tag| !tag.is_empty()).collect());
        let (id, title, priority, assignees, _) = no_changes(task);
        output.commands.push(board.act(TaskAct::ChangeTask { id, title, priority, assignees, tags }));
    }
}

/// Draws dependencies, description and result.
fn text_fields_ui(ui: &mut Ui, board: &Board<'_>, task: &Task) {
    let theme = board.theme;
    let waits: Vec<String> = task
        .dependencies()
        .map(|id| {
            let other = board.tasks.file.tasks.iter().find(|other| other.id == id);
            other.map_or_else(
                || texts::in_another_file(id),
                |other| texts::task_in_column(&other.title.text, Column::of(other).name()),
            )
        })
        .collect();
    let mut part = |title: &str, text: &str| {
        ui.label(widgets::small(title, theme));
        widgets::long_text(ui, title, text, TEXT_CHARS, |ui, text| {
            ui.add(Label::new(RichText::new(text).size(TYPE[1]).color(theme.text)).wrap());
        });
    };
    if !waits.is_empty() {
        part(texts::DEPENDS_ON, &waits.join(", "));
    }
    for (key, title) in [("description", texts::DESCRIPTION), ("conclusion", texts::RESULT), ("why", texts::REASON)] {
        if let Some(text) = field_text(task, key) {
            part(title, text);
        }
    }
}

/// Draws the field for a new subtask.
fn new_subtask_ui(ui: &mut Ui, board: &Board<'_>, task: &Task, overlays: &mut Overlays, output: &mut BoardOutput) {
    let draft = overlays.drafts.entry(format!("new below {} on {}", task.id, board.element.id)).or_default();
    let field = widgets::field(ui, draft, texts::NEW_SUBTASK, texts::NEW_SUBTASK_HINT);
    if widgets::entered(ui, &field) && !draft.trim().is_empty() {
        let below = Some(task.id.clone());
        output.commands.push(board.act(TaskAct::AddTask { line: draft.trim().to_owned(), below }));
        draft.clear();
        field.request_focus();
    }
}

fn buttons_ui(ui: &mut Ui, board: &Board<'_>, index: usize, output: &mut BoardOutput) {
    let (file, theme) = (&board.tasks.file, board.theme);
    let task = &file.tasks[index];
    ui.horizontal_wrapped(|ui| {
        for (icon, label, is_up) in [(Icon::Up, texts::MOVE_UP, true), (Icon::Down, texts::MOVE_DOWN, false)] {
            let act = move_by_one(file, index, is_up).filter(|_| !task.has_errors);
            let button = ui.add_enabled_ui(act.is_some(), |ui| widgets::icon_button(ui, icon, label, false, theme));
            if let Some(act) = act.filter(|_| button.inner.clicked()) {
                output.commands.push(board.act(act));
            }
        }
        if let Some(path) = &board.element.file
            && ui.button(texts::OPEN_IN_EDITOR).clicked()
        {
            let line = file.position(task.head.start).0;
            output.commands.push(Command::OpenFile(path.clone(), Some(line)));
        }
        let hint = texts::delete_hint(task.next - index - 1);
        let delete = ui.add_enabled_ui(!task.has_errors, |ui| widgets::danger(ui, texts::DELETE_TASK, theme)).inner;
        if delete.on_hover_text(hint).clicked() {
            output.commands.push(board.act(TaskAct::RemoveTask { id: task.id.clone() }));
            output.clicked = Some(index);
        }
    });
}

/// Draws an agent's request for approval: its card while it is open in this room, and its outcome afterwards.
fn question_ui(ui: &mut Ui, board: &Board<'_>, index: usize, output: &mut BoardOutput) {
    let task = &board.tasks.file.tasks[index];
    let mut requests = board.cx.room.work.pieces.iter().filter_map(|piece| piece.question.as_ref());
    let request = requests.find(|question| question.approval.id.as_str() == task.id);
    if let Some(question) = request {
        output.commands.extend(approval_card(ui, &board.cx, question, ("task board", QUESTION, None)));
        return;
    }
    widgets::in_card(ui, board.theme, |ui| {
        ui.spacing_mut().item_spacing.y = SPACE[0];
        let title = RichText::new(&task.title.text).size(TYPE[1]).strong();
        let (_, is_closed) = widgets::beside_button(ui, title, |ui| {
            widgets::icon_button(ui, Icon::Cross, texts::CLOSE_TASK, false, board.theme).clicked()
        });
        if is_closed {
            output.clicked = Some(index);
        }
        let state = field_text(task, "status").unwrap_or("open");
        ui.label(widgets::small(texts::state_of_question(state), board.theme));
        for problem in board.problems.by_task.get(&index).into_iter().flatten() {
            card::problem_ui(ui, problem, board.theme, &mut output.commands);
        }
        if let Some(text) = field_text(task, "description") {
            widgets::long_text(ui, "question", text, TEXT_CHARS, |ui, text| {
                ui.add(Label::new(RichText::new(text).monospace().size(TYPE[0])).wrap());
            });
        }
        if field_text(task, QUESTION_KEY) == Some("workflow_step")
            && !Column::of(task).is_closed()
            && widgets::primary(ui, true, texts::ANSWER_IN_WORKFLOW, board.theme).clicked()
        {
            output.commands.push(GraphCommand::ShowWorkflow { path: None, runs: false }.into());
        }
        if let Some(path) = &board.element.file
            && ui.button(texts::OPEN_IN_EDITOR).clicked()
        {
            let line = board.tasks.file.position(task.head.start).0;
            output.commands.push(Command::OpenFile(path.clone(), Some(line)));
        }
    });
}
