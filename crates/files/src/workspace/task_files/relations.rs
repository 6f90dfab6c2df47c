//! Checks the relations between tasks: duplicate ids, parents that differ from the nesting, and cyclic dependencies.

use std::collections::HashMap;

use super::issue::{Code, Issue};
use super::model::Task;
use crate::base::Severity;

/// Finds relations that are ambiguous or make tasks impossible to complete.
pub(super) fn check(tasks: &[Task], issues: &mut Vec<Issue>) {
    let mut error = |code, task: usize, at, what| {
        issues.push(Issue { code, severity: Severity::Error, task: Some(task), at, what });
    };
    // The first task with each id, and the number of tasks that have it.
    let mut by_id: HashMap<&str, (usize, usize)> = HashMap::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        by_id.entry(&task.id).or_insert((index, 0)).1 += 1;
    }
    for (index, task) in tasks.iter().enumerate() {
        let count = by_id.get(task.id.as_str()).map_or(0, |(_, count)| *count);
        if count > 1 {
            let what = format!("{count} tasks have the id {:?}", task.id);
            error(Code::DuplicateId, index, place(task, "id"), what);
        }
        let above = task.parent.map(|parent| tasks[parent].id.as_str());
        let written = task.field("parent").map(|field| field.value.text()).filter(|parent| !parent.is_empty());
        if let Some(written) = written.filter(|written| above != Some(written)) {
            let stands = above.map_or("below no task".to_owned(), |above| format!("below {above:?}"));
            let what = format!("its parent is given as {written:?}, but it is {stands}");
            error(Code::ParentMismatch, index, place(task, "parent"), what);
        }
    }
    let first = |id: &str| by_id.get(id).map(|(first, _)| *first);
    let waits: Vec<Vec<usize>> = tasks.iter().map(|task| task.dependencies().filter_map(first).collect()).collect();
    for index in in_cycles(&waits) {
        let what = format!("{:?} depends on itself through its dependencies", tasks[index].id);
        error(Code::DependencyCycle, index, place(&tasks[index], "depends_on"), what);
    }
}

/// Returns the position of a key of a task, or of the task if the key is missing.
pub(super) fn place(task: &Task, key: &str) -> usize {
    let line = task.field(key).map(|field| field.value_span.start.saturating_sub(field.key.len() + 1));
    line.unwrap_or(task.head.start + task.indent)
}

/// Returns the nodes that are in a cycle, using Tarjan's strongly connected components without recursion.
fn in_cycles(edges: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = edges.len();
    let (mut order, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let (mut path, mut is_on_path): (Vec<usize>, Vec<bool>) = (Vec::new(), vec![false; count]);
    let (mut seen, mut found) = (0, Vec::new());
    for root in 0..count {
        if order[root] != UNSEEN || edges[root].is_empty() {
            continue;
        }
        let mut due = vec![(root, 0)];
        while let Some((node, edge)) = due.pop() {
            if edge == 0 {
                (order[node], low[node]) = (seen, seen);
                seen += 1;
                path.push(node);
                is_on_path[node] = true;
            } else {
                let before = edges[node][edge - 1];
                if is_on_path[before] {
                    low[node] = low[node].min(low[before]);
                }
            }
            if let Some(&next) = edges[node].get(edge) {
                due.push((node, edge + 1));
                if order[next] == UNSEEN {
                    due.push((next, 0));
                }
                continue;
            }
            if low[node] != order[node] {
                continue;
            }
            let start = path.iter().rposition(|one| *one == node).unwrap_or(0);
            let group = path.split_off(start);
            group.iter().for_each(|one| is_on_path[*one] = false);
            if group.len() > 1 || edges[node].contains(&node) {
                found.extend(group);
            }
        }
    }
    found.sort_unstable();
    found
}
