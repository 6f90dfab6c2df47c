//! The data of an open task board, computed from its file: which tasks are listed, the problems of each, and what
//! dropping one somewhere means. Pure.

use std::collections::BTreeMap;

use crate::base::{Problem, Severity};
use crate::element::{TaskAct, TaskPlace};
use crate::ui::panes::overlays::texts;
use crate::view::model::{RoomModel, TasksView};
use crate::workspace::task_files::{Column, Task, TaskFile, columns};

/// The problems of a file's tasks, by their positions, and its other problems.
#[derive(Default)]
pub(super) struct Found<'a> {
    /// At a task.
    pub(super) at: BTreeMap<usize, Vec<&'a Problem>>,
    /// Anywhere else in the file.
    pub(super) beside: Vec<&'a Problem>,
}

impl<'a> Found<'a> {
    /// What the room knows to be wrong with this file.
    pub(super) fn of(file: &TaskFile, path: Option<&str>, problems: &'a [Problem]) -> Self {
        let mut found = Self::default();
        for problem in problems.iter().filter(|problem| path == Some(problem.place.as_str())) {
            let start = problem.line.and_then(|line| file.line_starts.get(line.checked_sub(1)?));
            // The last task that begins above the line and reaches to it: the innermost.
            let task = start.and_then(|start| {
                let above = file.tasks.partition_point(|task| task.span.start <= *start);
                file.tasks[..above].iter().rposition(|task| *start < task.span.end)
            });
            match task {
                Some(task) => found.at.entry(task).or_default().push(problem),
                None => found.beside.push(problem),
            }
        }
        found
    }

    /// The worst that is wrong with a task.
    pub(super) fn worst(&self, task: usize) -> Option<&'a Problem> {
        let problems = self.at.get(&task)?;
        problems.iter().find(|problem| problem.severity == Severity::Error).or(problems.first()).copied()
    }
}

/// Whether a task matches the search: by its title, its tags, its names or its id.
pub(super) fn fits(task: &Task, wanted: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(wanted);
    wanted.is_empty()
        || has(&task.title.text)
        || has(&task.id)
        || task.tags.iter().any(|tag| has(&format!("#{}", tag.text)))
        || task.stakeholders.iter().any(|name| has(&format!("@{}", name.text)))
}

/// The tasks of a column that match the search, in the order in which they are shown: of finished ones, the last first.
pub(super) fn listed(board: &TasksView, column: usize, wanted: &str) -> Vec<usize> {
    let fit = board.columns[column].iter().copied().filter(|task| fits(&board.file.tasks[*task], wanted));
    if Column::SHOWN[column] == Column::Done { fit.rev().collect() } else { fit.collect() }
}

/// Why a task cannot be moved into a column by hand, if it cannot: agents take their tasks themselves.
pub(super) fn why_not(room: &RoomModel, task: &Task, column: Column) -> Option<String> {
    let agent = task.stakeholders.iter().find_map(|name| room.agent_named(&name.text))?;
    let is_agents = column == Column::InWork && Column::of(task) != Column::InWork && !columns::is_for_person(task);
    is_agents.then(|| texts::starts_automatically(&agent.name))
}

/// The command of dropping a task in a column, before or after another one, or anywhere in it; `None` if it is there
/// already.
pub(super) fn put_down(file: &TaskFile, task: usize, column: Column, beside: Option<(usize, bool)>) -> Option<TaskAct> {
    let moved = &file.tasks[task];
    let to = (Column::of(moved).shown() != column).then_some(column);
    let place =
        beside.filter(|(other, _)| *other != task).and_then(|(other, is_before)| place(file, task, other, is_before));
    (to.is_some() || place.is_some()).then(|| TaskAct::MoveTask { id: moved.id.clone(), column: to, place })
}

/// The new position of a task beside another one of its list; `None` in another list, or if it is there already.
fn place(file: &TaskFile, task: usize, other: usize, is_before: bool) -> Option<TaskPlace> {
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

/// One place up or down in its list.
pub(super) fn step(file: &TaskFile, task: usize, is_up: bool) -> Option<TaskAct> {
    let list = siblings(file, task);
    let own = list.iter().position(|one| *one == task)?;
    let beside = if is_up { own.checked_sub(1)? } else { own + 1 };
    let place = place(file, task, *list.get(beside)?, is_up)?;
    Some(TaskAct::MoveTask { id: file.tasks[task].id.clone(), column: None, place: Some(place) })
}

/// The tasks of the list that contains a task.
fn siblings(file: &TaskFile, task: usize) -> Vec<usize> {
    let section = |task: &Task| file.sections.iter().rposition(|section| section.start <= task.span.start);
    let own = &file.tasks[task];
    let is_beside = |other: &Task| other.parent == own.parent && section(other) == section(own);
    (0..file.tasks.len()).filter(|other| is_beside(&file.tasks[*other])).collect()
}

/// What becomes of the names of a task where one is chosen: one that has it has it no more.
pub(super) fn names_with(task: &Task, name: &str) -> Vec<String> {
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
    fn a_task_is_put_down_where_its_list_allows_it() {
        let file = parse(PLAN);
        let before = |id: &str| Some(TaskPlace::Before(id.to_owned()));
        assert_eq!(moved(put_down(&file, 0, Column::Open, Some((3, true)))), Some((None, before("three"))));
        assert_eq!(moved(put_down(&file, 0, Column::Open, Some((3, false)))), Some((None, before("four"))));
        assert_eq!(
            moved(put_down(&file, 0, Column::Done, Some((4, false)))),
            Some((Some(Column::Done), Some(TaskPlace::Last)))
        );
        assert_eq!(put_down(&file, 0, Column::Open, Some((2, true))), None, "it is there already");
        assert_eq!(put_down(&file, 0, Column::Open, None), None);
        assert_eq!(put_down(&file, 1, Column::Open, Some((2, true))), None, "it is in another list");
        assert_eq!(moved(put_down(&file, 1, Column::InWork, Some((2, true)))), Some((Some(Column::InWork), None)));
        assert_eq!(moved(step(&file, 2, true)), Some((None, before("one"))));
        assert_eq!(moved(step(&file, 3, false)), Some((None, Some(TaskPlace::Last))));
        assert_eq!((step(&file, 0, true), step(&file, 1, false)), (None, None));
    }

    #[test]
    fn what_is_wrong_is_found_at_its_task() {
        let file = parse("# Plan\n- one\n  - deep\n    note: x\n- two\n");
        let problem = |line: usize| Problem::warning("tasks/a.task.md", "odd", "mend it").at_line(Some(line));
        let problems = [problem(1), problem(4), problem(5), Problem::warning("else", "odd", "x").at_line(Some(2))];
        let found = Found::of(&file, Some("tasks/a.task.md"), &problems);
        assert_eq!(found.at.keys().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(found.beside.len(), 1);
        assert!(found.worst(0).is_none() && found.worst(2).is_some());
    }

    #[test]
    fn a_name_that_is_chosen_again_is_taken_away() {
        let file = parse("- @ada @bo x\n");
        assert_eq!(names_with(&file.tasks[0], "Ada"), ["bo"]);
        assert_eq!(names_with(&file.tasks[0], "cy"), ["ada", "bo", "cy"]);
    }
}
