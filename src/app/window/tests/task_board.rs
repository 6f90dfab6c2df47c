//! Undo and redo on a task board, down to the bytes of its file.

use bevy::math::Vec2;

use super::House;
use crate::element::{TaskAct, TaskPlace};
use crate::ui::Command;
use crate::ui::commands::create;
use crate::workspace::task_files::Column;

#[test]
fn what_is_done_on_a_task_board_is_undone_and_redone() {
    let mut house = House::new();
    let model = house.model();
    house.act(create::element_at(&model, "taskboard", Vec2::new(900.0, 100.0)));
    let file = "tasks/board.task.md";
    assert_eq!(house.saved(file), "## TODO\n");
    let change = TaskAct::ChangeTask {
        id: "count".into(),
        title: None,
        priority: Some("b".into()),
        assignees: Some(vec!["human".into()]),
        tags: None,
    };
    let to = |column, place| TaskAct::MoveTask { id: "count".into(), column, place };
    let acts = [
        TaskAct::AddTask { line: "A #shop Count".into(), below: None },
        TaskAct::AddTask { line: "Sweep".into(), below: None },
        TaskAct::AddTask { line: "In the hall".into(), below: Some("count".into()) },
        change,
        to(Some(Column::Done), None),
        to(None, Some(TaskPlace::Last)),
        TaskAct::RemoveTask { id: "count".into() },
    ];
    let mut texts = vec![house.saved(file)];
    for act in acts {
        house.edit("taskboard-1", act.into());
        texts.push(house.saved(file));
    }
    for text in texts.iter().rev().skip(1) {
        house.act(Command::Undo);
        assert_eq!(house.saved(file), *text);
    }
    for text in texts.iter().skip(1) {
        house.act(Command::Redo);
        assert_eq!(house.saved(file), *text);
    }
    // External changes to another task are kept.
    house.notify_at(file, &texts[7].replace("\"Sweep\"", "\"Sweep all\""));
    house.act(Command::Undo);
    assert_eq!(house.saved(file), texts[6].replace("\"Sweep\"", "\"Sweep all\""));
}
