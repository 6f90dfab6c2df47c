//! Undo and redo on a task board, down to the bytes of its file.

use bevy::math::Vec2;

use super::PausedRoom;
use crate::element::{TaskAct, TaskPlace};
use crate::ui::Command;
use crate::ui::commands::create;
use crate::workspace::task_files::Column;

#[test]
fn task_board_changes_are_undone_and_redone() {
    let mut fixture = PausedRoom::new();
    let model = fixture.model();
    fixture.act(create::element_at(&model, "taskboard", Vec2::new(900.0, 100.0)));
    let file = "tasks/board.task.md";
    assert_eq!(fixture.saved(file), "## TODO\n");
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
    let mut texts = vec![fixture.saved(file)];
    for act in acts {
        fixture.edit("taskboard-1", act.into());
        texts.push(fixture.saved(file));
    }
    for text in texts.iter().rev().skip(1) {
        fixture.act(Command::Undo);
        assert_eq!(fixture.saved(file), *text);
    }
    for text in texts.iter().skip(1) {
        fixture.act(Command::Redo);
        assert_eq!(fixture.saved(file), *text);
    }
    // External changes to another task are kept.
    fixture.notify_at(file, &texts[7].replace("\"Sweep\"", "\"Sweep all\""));
    fixture.act(Command::Undo);
    assert_eq!(fixture.saved(file), texts[6].replace("\"Sweep\"", "\"Sweep all\""));
}
