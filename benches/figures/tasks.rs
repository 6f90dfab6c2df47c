//! What a large task file costs: reading it, a query, and writing it back with one change.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;

use agent_workshop::workspace::task_files::edit::{Change, update};
use agent_workshop::workspace::task_files::query::evaluate::{Source, select};
use agent_workshop::workspace::task_files::query::{Query, parse as parse_query};
use agent_workshop::workspace::task_files::{Status, parse};

use crate::measure::{Figure, Times};

const TASKS: usize = 10_000;

/// Ten thousand tasks, every fourth with three subtasks; all have an id and keys, and every second has a dependency.
fn text() -> String {
    let mut text = String::from("# Plan\n\n## TODO\n\n");
    for number in 0..TASKS {
        let indent = if number % 4 == 0 { "" } else { "  " };
        let mark = [" ", "x", "-", "_"][number % 4];
        let written = writeln!(
            text,
            "{indent}- [{mark}] {} @agent-{} #tag-{} \"Do the thing number {number}, and look at the result\"\n\
             {indent}  id: task-{number}\n{indent}  created: 2026-01-{:02}T10:00:00Z\n{indent}  effort: {}",
            ["A", "B", "C", "D"][number / 4 % 4],
            number % 7,
            number % 11,
            number % 28 + 1,
            number % 13,
        );
        written.expect("writing to a string cannot fail");
        if number % 2 == 1 {
            writeln!(text, "{indent}  depends_on: task-{}", number - 1).expect("writing to a string cannot fail");
        }
    }
    text
}

/// Measures reading, querying and changing a file of ten thousand tasks.
pub fn ten_thousand() -> Vec<Figure> {
    let text = text();
    let size = format!("{:.1} MB", text.len() as f64 / 1e6);
    let parsing = Times::of(2, 30, || drop(black_box(parse(black_box(text.as_str())))));
    let file = parse(text.as_str());
    assert!(file.tasks.len() == TASKS && file.issues.is_empty(), "the file is sound");
    let sources = [Source { path: "tasks/plan.task.md".into(), file }];
    let query = parse_query(
        "SELECT id FROM tasks/plan.task.md WHERE status = open AND (title CONTAINS 'number 9' OR tags = 'tag-3') \
         AND effort > 4 ORDER BY priority, created DESC LIMIT 50",
    );
    let Ok(Query::Select(query)) = query else { panic!("it is understood: {query:?}") };
    let asking = Times::of(2, 30, || assert_eq!(black_box(select(&sources, &query)).len(), 50));
    let mut number = 0;
    let changing = Times::of(2, 30, || {
        number = (number + 4_001) % TASKS;
        let changes = vec![Change::Status(Status::Completed), Change::Field("note".into(), None)];
        let file = parse(text.as_str());
        let changed = update(&file, &BTreeMap::from([(number, changes)])).expect("the task is sound");
        assert!(changed.text.len().abs_diff(text.len()) < 10);
    });
    vec![
        Figure::at_most_ms(format!("reading a task file of {TASKS} tasks"), 20.0, &parsing).against(size),
        Figure::at_most_ms("a query over them", 5.0, &asking),
        Figure::at_most_ms("changing one task: reading, and building the new text", 20.0, &changing),
    ]
}
