//! UI tests of the task board.

use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::base::Problem;
use crate::element::{TaskAct, TaskPlace};
use crate::ui::UiState;
use crate::ui::testing::{PaneHarness, element, pane_of, sample_room};
use crate::view::model::TasksView;
use crate::workspace::task_files::{Column, parse};

const PATH: &str = "tasks/work.task.md";
const PLAN: &str = "## TODO\n\n- [ ] A @ada #shop \"Count the chairs\"\n  id: chairs\n  - [ ] \"In the hall\"\n    id: hall\n\
    - [ ] \"Paint\"\n  id: paint\n  depends_on: chairs\n- [ ] @human \"Sign it\"\n  id: sign\n\
    - [x] \"Find the list\"\n  id: list\n  conclusion: It was in the drawer.\n- [ ] \"broken\n";

fn tasks(text: &str) -> ContentView {
    ContentView::Tasks(TasksView::of(Arc::new(parse(text))))
}

fn opened_with(text: &str, path: &str) -> Harness<'static, PaneHarness> {
    let mut room = sample_room();
    let mut board = element(9, "work", "taskboard", tasks(text));
    board.file = Some(path.to_owned());
    room.elements.push(board);
    room.problems = vec![Problem::error(PATH, "the quote is not closed", "close it").at_line(Some(14))].into();
    let mut state = UiState::default();
    state.front.open_element("work".into());
    let mut window = pane_of(PaneHarness::new(room, state), |ui, cx, panes| overlays_ui(ui, cx, &mut panes.overlays));
    window.run_steps(4);
    window
}

fn opened() -> Harness<'static, PaneHarness> {
    opened_with(PLAN, PATH)
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).scroll_to_me();
    window.run_steps(10);
    window.get_by_label(label).click();
    window.run_steps(3);
}

fn write(window: &mut Harness<'static, PaneHarness>, field: &str, text: &str) {
    window.get_by_label(field).scroll_to_me();
    window.run_steps(10);
    window.get_by_label(field).focus();
    window.run_steps(1);
    window.get_by_label(field).type_text(text);
    window.run_steps(2);
}

fn enter(window: &mut Harness<'static, PaneHarness>) {
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
}

/// Returns the edits requested since the last call.
fn acts(window: &mut Harness<'static, PaneHarness>) -> Vec<TaskAct> {
    let commands = std::mem::take(&mut window.state_mut().commands);
    let acts = commands.into_iter().map(|command| match command {
        Command::Act(RoomAct::Edit(edit), None) if &*edit.element == "work" => edit.act.read().expect("it is an act"),
        other => panic!("{other:?}"),
    });
    acts.collect()
}

fn moved(id: &str, column: Option<Column>, place: Option<TaskPlace>) -> TaskAct {
    TaskAct::MoveTask { id: id.into(), column, place }
}

#[test]
fn tasks_are_shown_in_columns_and_can_be_completed() {
    let mut window = opened();
    for shown in [
        "Open",
        "In progress",
        "Needs you",
        "Done",
        "Task: Count the chairs",
        "Task: Sign it",
        "Waits for: Count the chairs",
    ] {
        assert!(window.query_by_label(shown).is_some(), "{shown}");
    }
    assert!(window.query_by_label("It was in the drawer.").is_some(), "a result is shown");
    click(&mut window, "Complete Paint");
    click(&mut window, "Reopen Find the list");
    assert_eq!(acts(&mut window), [moved("paint", Some(Column::Done), None), moved("list", Some(Column::Open), None)]);
}

#[test]
fn a_task_is_edited_in_place() {
    let mut window = opened();
    click(&mut window, "Task: Paint");
    write(&mut window, "Title", " it green");
    enter(&mut window);
    click(&mut window, "Priority B");
    click(&mut window, "Move to Skipped");
    click(&mut window, "Move up");
    write(&mut window, "New subtask", "The door");
    enter(&mut window);
    click(&mut window, "Delete task");
    let change = |title: Option<&str>, priority: Option<&str>| TaskAct::ChangeTask {
        id: "paint".into(),
        title: title.map(Into::into),
        priority: priority.map(Into::into),
        assignees: None,
        tags: None,
    };
    assert_eq!(
        acts(&mut window),
        [
            change(Some("Paint it green"), None),
            change(None, Some("B")),
            moved("paint", Some(Column::Skipped), None),
            moved("paint", None, Some(TaskPlace::Before("chairs".into()))),
            TaskAct::AddTask { line: "The door".into(), below: Some("paint".into()) },
            TaskAct::RemoveTask { id: "paint".into() },
        ]
    );
    assert!(window.query_by_label("Delete task").is_none(), "a deleted task is deselected");
}

#[test]
fn tasks_can_be_assigned_and_agents_start_theirs_themselves() {
    let mut window = opened();
    click(&mut window, "Task: Paint");
    click(&mut window, "Assigned to");
    let agents = &window.state().room.agents;
    let is_only = |name: &str| agents.iter().filter(|agent| &*agent.name == name).count() == 1;
    let agent = agents.iter().find(|agent| is_only(&agent.name)).expect("it exists").clone();
    window.get_by_role_and_label(egui::accesskit::Role::Button, &agent.name).click();
    window.run_steps(3);
    let [TaskAct::ChangeTask { assignees: Some(names), .. }] = &acts(&mut window)[..] else { panic!("one change") };
    assert_eq!(names, &[agent.id.to_string()]);
    click(&mut window, "Task: Count the chairs");
    click(&mut window, "Move to In progress");
    assert_eq!(acts(&mut window), [], "the user cannot start an agent's task");
    assert!(
        window.state().asked.iter().any(
            |asked| matches!(asked, Command::Window(WindowCommand::Tell(why, false)) if why.contains("automatically"))
        ),
        "the reason is shown"
    );
}

#[test]
fn a_task_is_added_in_the_format_of_the_file() {
    let mut window = opened();
    write(&mut window, "New task", "A @ada Sweep");
    enter(&mut window);
    assert_eq!(acts(&mut window), [TaskAct::AddTask { line: "A @ada Sweep".into(), below: None }]);
}

#[test]
fn the_tree_shows_every_task_and_can_be_searched() {
    let mut window = opened();
    click(&mut window, "Show as tree");
    assert!(window.query_by_label("Task: In the hall").is_some());
    write(&mut window, "Search tasks", "#shop");
    assert!(
        window.query_by_label("Task: Count the chairs").is_some() && window.query_by_label("Task: Paint").is_none()
    );
    click(&mut window, "Complete Count the chairs");
    assert_eq!(acts(&mut window), [moved("chairs", Some(Column::Done), None)]);
}

#[test]
fn problems_are_shown_on_cards_with_links() {
    let mut window = opened();
    assert!(window.query_by_label("The quote is not closed; close it").is_some());
    click(&mut window, "Open in editor at line 14");
    assert_eq!(window.state().commands, [Command::OpenFile(PATH.to_owned(), Some(14))]);
    window.state_mut().commands.clear();
    let broken = parse(PLAN).tasks.last().unwrap().title.text.clone();
    click(&mut window, &format!("Task: {broken}"));
    click(&mut window, "Move to Done");
    assert_eq!(acts(&mut window), [], "a task with an error is read-only");
}

#[test]
fn an_approval_is_answered_only_on_its_card() {
    let mut window = opened_with("", "tasks/approvals.task.md");
    let piece = crate::ui::testing::asking_piece(7, "ada-1", "write notes.md");
    let id = piece.question.as_ref().expect("it should ask").approval.id.to_string();
    let text = format!(
        "- [ ] A @human #approval \"Ada wants it\"\n  id: {id}\n  approval_type: file_write\n  status: pending\n"
    );
    let stage = window.state_mut();
    let index = stage.room.elements.iter().position(|element| &*element.id == "work").unwrap();
    stage.room.elements[index].content = Arc::new(tasks(&text));
    stage.room.work.pieces.push(piece);
    window.run_steps(3);
    assert!(window.query_by_label("New task").is_none(), "approvals are read-only");
    click(&mut window, "Task: Ada wants it");
    window.step();
    assert!(window.query_by_label("Move to Done").is_none());
    let called = window.state().room.called("ada-1").to_owned();
    // A new card ignores clicks for a moment.
    for _ in 0..120 {
        window.step();
    }
    click(&mut window, &format!("Allow {called}"));
    let [Command::Act(RoomAct::Work(_), None)] = &window.state().commands[..] else {
        panic!("{:?}", window.state().commands)
    };
}

#[test]
fn a_card_can_be_dragged_to_another_column_and_position() {
    let mut window = opened();
    let rect = |window: &Harness<'static, PaneHarness>, label: &str| window.get_by_label(label).rect();
    let grip = |rect: egui::Rect| rect.right_bottom() - egui::vec2(8.0, 4.0);
    let drag = |window: &mut Harness<'static, PaneHarness>, from: egui::Pos2, to: egui::Pos2| {
        window.drag_at(from);
        window.run_steps(2);
        for share in [0.3, 0.7, 1.0] {
            window.hover_at(from + (to - from) * share);
            window.run_steps(2);
        }
        window.drop_at(to);
        window.run_steps(3);
    };
    let (paint, chairs) = (rect(&window, "Task: Paint"), rect(&window, "Task: Count the chairs"));
    let column = rect(&window, "Done").center() + egui::vec2(0.0, 400.0);
    drag(&mut window, grip(paint), column);
    assert_eq!(acts(&mut window), [moved("paint", Some(Column::Done), None)]);
    drag(&mut window, grip(paint), chairs.center_top() + egui::vec2(0.0, 4.0));
    assert_eq!(acts(&mut window), [moved("paint", None, Some(TaskPlace::Before("chairs".into())))]);
    let at_work = rect(&window, "In progress").center() + egui::vec2(0.0, 300.0);
    drag(&mut window, grip(chairs), at_work);
    assert_eq!(acts(&mut window), [], "agents start their tasks themselves");
}

#[test]
fn a_task_can_be_opened_and_completed_by_keyboard() {
    let mut window = opened();
    window.get_by_label("Task: Paint").focus();
    window.run_steps(2);
    enter(&mut window);
    assert!(window.query_by_label("Delete task").is_some());
    window.get_by_label("Complete Paint").focus();
    window.run_steps(2);
    window.key_press(egui::Key::Space);
    window.run_steps(2);
    assert_eq!(acts(&mut window), [moved("paint", Some(Column::Done), None)]);
}
