//! The data of an open task board, computed from its file: the tasks of each column, problems, and the effect of a
//! drop. Pure.

use std::collections::BTreeMap;

use crate::base::{Problem, Severity};
use crate::element::{TaskAct, TaskPlace};
use crate::ui::panes::overlays::texts;
use crate::view::model::{RoomModel, TasksView};
use crate::workspace::task_files::{Column, Task, TaskFile, columns};

/// The problems of a task file, grouped by task.
#[derive(Default)]
pub(super) struct TaskFileProblems<'a> {
    /// Problems by the index of their task.
    pub(super) by_task: BTreeMap<usize, Vec<&'a Problem>>,
    /// Problems that belong to no task.
    pub(super) other: Vec<&'a Problem>,
}

impl<'a> TaskFileProblems<'a> {
    /// Groups the problems of the file at `path`.
    pub(super) fn of(file: &TaskFile, path: Option<&str>, problems: &'a [Problem]) -> Self {
        let mut found = Self::default();
        for problem in problems.iter().filter(|problem| path == Some(problem.place.as_str())) {
            let start = problem.line.and_then(|line| file.line_starts.get(line.checked_sub(1)?));
            // The innermost task: the last one that begins above the line and includes it.
            let task = start.and_then(|start| {
                let above = file.tasks.partition_point(|task| task.span.start <= *start);
                file.tasks[..above].iter().rposition(|task| *start < task.span.end)
            });
            match task {
                Some(task) => found.by_task.entry(task).or_default().push(problem),
                None => found.other.push(problem),
            }
        }
        found
    }

    /// Returns the most severe problem of a task.
    pub(super) fn worst(&self, task: usize) -> Option<&'a Problem> {
        let problems = self.by_task.get(&task)?;
        problems.iter().find(|problem| problem.severity == Severity::Error).or(problems.first()).copied()
    }
}

/// Whether the title, id, tags or assignees of a task contain `search`.
pub(super) fn matches_search(task: &Task, search: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(search);
    search.is_empty()
        || has(&task.title.text)
        || has(&task.id)
        || task.tags.iter().any(|tag| has(&format!("#{}", tag.text)))
        || task.stakeholders.iter().any(|name| has(&format!("@{}", name.text)))
}

/// Returns the tasks of a column that match the search in display order: finished ones newest first.
pub(super) fn column_tasks(board: &TasksView, column: usize, search: &str) -> Vec<usize> {
    let fit = board.columns[column].iter().copied().filter(|task| matches_search(&board.file.tasks[*task], search));
    if Column::SHOWN[column] == Column::Done { fit.rev().collect() } else { fit.collect() }
}

/// Returns why the user cannot move a task to a column: agents start their tasks themselves.
pub(super) fn move_refusal(room: &RoomModel, task: &Task, column: Column) -> Option<String> {
    let agent = task.stakeholders.iter().find_map(|name| room.agent_named(&name.text))?;
    let is_agents = column == Column::InWork && Column::of(task) != Column::InWork && !columns::is_for_person(task);
    is_agents.then(|| texts::starts_automatically(&agent.name))
}

/// Returns the edit for dropping a task in a column, optionally before or after another task; `None` if nothing would
/// change.
pub(super) fn drop_task(
    file: &TaskFile,
    task: usize,
    column: Column,
    beside: Option<(usize, bool)>,
) -> Option<TaskAct> {
    let moved = &file.tasks[task];
    let to = (Column::of(moved).shown() != column).then_some(column);
    let place = beside
        .filter(|(other, _)| *other != task)
        .and_then(|(other, is_before)| new_place(file, task, other, is_before));
    (to.is_some() || place.is_some()).then(|| TaskAct::MoveTask { id: moved.id.clone(), column: to, place })
}

/// Returns the new position of a task beside another one of its list; `None` in another list, or if it is there
/// already.
fn new_place(file: &TaskFile, task: usize, other: usize, is_before: bool) -> Option<TaskPlace> {
    let list = siblings(file, task);
    let at = list.iter().position(|one| *one == other)?;
    let own = list.iter().position(|one| *one == task)?;
    let at = if is_before { at } else { at + 1 };
    if at == own || at == own + 1 {
        return None;
    }
    Some(match list.get(at) {
        Some(next) => TaskPlace::Before(file.tasks[*next].id.clone()),
        None => TaskPlace::Last,
    })
}

/// Returns the edit that moves a task up or down by one in its list.
pub(super) fn move_by_one(file: &TaskFile, task: usize, is_up: bool) -> Option<TaskAct> {
    let list = siblings(file, task);
    let own = list.iter().position(|one| *one == task)?;
    let beside = if is_up { own.checked_sub(1)? } else { own + 1 };
    let place = new_place(file, task, *list.get(beside)?, is_up)?;
    Some(TaskAct::MoveTask { id: file.tasks[task].id.clone(), column: None, place: Some(place) })
}

/// Returns the tasks of the list that contains a task.
fn siblings(file: &TaskFile, task: usize) -> Vec<usize> {
    let section = |task: &Task| file.sections.iter().rposition(|section| section.start <= task.span.start);
    let own = &file.tasks[task];
    let is_beside = |other: &Task| other.parent == own.parent && section(other) == section(own);
    (0..file.tasks.len()).filter(|other| is_beside(&file.tasks[*other])).collect()
}

/// Returns the assignees of a task with `name` added, or removed if it was assigned.
pub(super) fn toggle_assignee(task: &Task, name: &str) -> Vec<String> {
    let names = task.stakeholders.iter().map(|name| name.text.to_string());
    if task.stakeholders.iter().any(|one| one.text.eq_ignore_ascii_case(name)) {
        names.filter(|one| !one.eq_ignore_ascii_case(name)).collect()
    } else {
        names.chain([name.to_owned()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::task_files::parse;

    const PLAN: &str = "## TODO\n\n- one\n  - deep\n- two\n- three\n- [x] four\n\n## Other\n- not a task\n";

    fn moved(act: Option<TaskAct>) -> Option<(Option<Column>, Option<TaskPlace>)> {
        match act? {
            TaskAct::MoveTask { column, place, .. } => Some((column, place)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_task_is_dropped_where_its_list_allows_it() {
        let file = parse(PLAN);
        let before = |id: &str| Some(TaskPlace::Before(id.to_owned()));
        assert_eq!(moved(drop_task(&file, 0, Column::Open, Some((3, true)))), Some((None, before("three"))));
        assert_eq!(moved(drop_task(&file, 0, Column::Open, Some((3, false)))), Some((None, before("four"))));
        assert_eq!(
            moved(drop_task(&file, 0, Column::Done, Some((4, false)))),
            Some((Some(Column::Done), Some(TaskPlace::Last)))
        );
        assert_eq!(drop_task(&file, 0, Column::Open, Some((2, true))), None, "it is there already");
        assert_eq!(drop_task(&file, 0, Column::Open, None), None);
        assert_eq!(drop_task(&file, 1, Column::Open, Some((2, true))), None, "it is in another list");
        assert_eq!(moved(drop_task(&file, 1, Column::InWork, Some((2, true)))), Some((Some(Column::InWork), None)));
        assert_eq!(moved(move_by_one(&file, 2, true)), Some((None, before("one"))));
        assert_eq!(moved(move_by_one(&file, 3, false)), Some((None, Some(TaskPlace::Last))));
        assert_eq!((move_by_one(&file, 0, true), move_by_one(&file, 1, false)), (None, None));
    }

    #[test]
    fn problems_are_assigned_to_their_tasks() {
        let file = parse("# Plan\n- one\n  - deep\n    note: x\n- two\n");
        let problem = |line: usize| Problem::warning("tasks/a.task.md", "odd", "mend it").at_line(Some(line));
        let problems = [problem(1), problem(4), problem(5), Problem::warning("else", "odd", "x").at_line(Some(2))];
        let found = TaskFileProblems::of(&file, Some("tasks/a.task.md"), &problems);
        assert_eq!(found.by_task.keys().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(found.other.len(), 1);
        assert!(found.worst(0).is_none() && found.worst(2).is_some());
    }

    #[test]
    fn choosing_an_assignee_again_removes_it() {
        let file = parse("- @ada @bo x\n");
        assert_eq!(toggle_assignee(&file.tasks[0], "Ada"), ["bo"]);
        assert_eq!(toggle_assignee(&file.tasks[0], "cy"), ["ada", "bo", "cy"]);
    }
}
