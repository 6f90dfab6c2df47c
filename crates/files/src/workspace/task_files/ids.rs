//! Ids for tasks without one: derived from their titles, and unique in the file.

use std::collections::{HashMap, HashSet};

use super::model::Task;
use crate::base::text::slug;

/// The maximum number of letters of an id that is derived from a title, before its number.
const MAX_LETTERS: usize = 40;

/// Gives an id to every task without one, in file order.
pub(super) fn assign(tasks: &mut [Task]) {
    if tasks.iter().all(|task| task.has_written_id) {
        return;
    }
    let mut taken: HashSet<String> = HashSet::with_capacity(tasks.len());
    taken.extend(tasks.iter().filter(|task| task.has_written_id).map(|task| task.id.clone()));
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for task in tasks.iter_mut().filter(|task| !task.has_written_id) {
        task.id = free(&stem(&task.title.text), &mut taken, &mut numbers);
    }
}

/// Returns an id for a new task with this title.
pub(super) fn for_title(title: &str, tasks: &[Task]) -> String {
    let mut taken = tasks.iter().map(|task| task.id.clone()).collect();
    free(&stem(title), &mut taken, &mut HashMap::new())
}

fn stem(title: &str) -> String {
    let short: String = slug(title).chars().take(MAX_LETTERS).collect();
    let short = short.trim_end_matches('-');
    if short.is_empty() { "task".to_owned() } else { short.to_owned() }
}

fn free(stem: &str, taken: &mut HashSet<String>, numbers: &mut HashMap<String, usize>) -> String {
    let number = numbers.entry(stem.to_owned()).or_insert(0);
    loop {
        *number += 1;
        let id = if *number == 1 { stem.to_owned() } else { format!("{stem}-{number}") };
        if taken.insert(id.clone()) {
            return id;
        }
    }
}
