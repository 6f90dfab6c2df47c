//! Applies a change of a task file to another state of that file: textually if the changes touch different lines,
//! otherwise task by task, so that both sides' changes to the same task are kept.

use std::collections::BTreeMap;

use super::edit::{self, Change};
use super::model::{Task, TaskFile};
use super::parse;
use super::render::NewTask;
use crate::base::Severity;
use crate::workspace::text_merge::TextMerge;

/// A file after a change was applied to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppliedChange {
    /// The new text.
    pub text: String,
    /// The changes that could not be applied: the task, and why not.
    pub left: Vec<(String, String)>,
}

/// Applies the change from `base` to `changed` to `onto`.
pub fn carry_over(base: &str, changed: &str, onto: &str) -> AppliedChange {
    let whole = |text: &str| AppliedChange { text: text.to_owned(), left: Vec::new() };
    if base == onto || changed == onto {
        return whole(changed);
    }
    if base == changed {
        return whole(onto);
    }
    let joined = TextMerge::new(base, changed, onto).text();
    let is_sound = |text: &String| errors(&parse(text.as_str())) <= errors(&parse(changed)).max(errors(&parse(onto)));
    match joined.filter(is_sound) {
        Some(text) => AppliedChange { text, left: Vec::new() },
        None => task_by_task(&parse(base), &parse(changed), onto),
    }
}

fn errors(file: &TaskFile) -> usize {
    file.issues.iter().filter(|issue| issue.severity == Severity::Error).count()
}

fn task_by_task(base: &TaskFile, changed: &TaskFile, onto: &str) -> AppliedChange {
    let mut carried = AppliedChange { text: onto.to_owned(), left: Vec::new() };
    let (before, after) = (by_id(base), by_id(changed));
    // In file order, so that parents come before their children.
    for (place, task) in changed.tasks.iter().enumerate().filter(|(place, task)| after[task.id.as_str()] == *place) {
        let changes = before.get(task.id.as_str()).map(|old| changes(&base.tasks[*old], task));
        if changes.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let file = parse(carried.text.as_str());
        let there = file.tasks.iter().position(|one| one.id == task.id);
        let done = match (changes, there) {
            (Some(_), None) => Err("it no longer exists".to_owned()),
            (Some(changes), Some(there)) => {
                let updated = edit::update(&file, &BTreeMap::from([(there, changes)]));
                updated.map(|updated| updated.text).map_err(|error| error.to_string())
            }
            // Both sides added the same task.
            (None, Some(there)) if file.tasks[there].title.text == task.title.text => continue,
            (None, there) => insert(&file, changed, place, there.is_some()),
        };
        carried.take(&task.id, done);
    }
    for id in before.keys().filter(|id| !after.contains_key(*id)) {
        let file = parse(carried.text.as_str());
        let Some(place) = file.tasks.iter().position(|one| one.id == *id) else { continue };
        let done = edit::delete(&file, &[place].into(), false).map_err(|error| error.to_string());
        carried.take(id, done);
    }
    carried
}

/// Adds a task of `changed` to the text of `file`, below the same parent. If its id is taken, it gets another one.
fn insert(file: &TaskFile, changed: &TaskFile, place: usize, is_taken: bool) -> Result<String, String> {
    let task = &changed.tasks[place];
    let mut new = NewTask::like(task);
    new.fields.retain(|(key, _)| !(key.eq_ignore_ascii_case("parent") || is_taken && key.eq_ignore_ascii_case("id")));
    let above = task.parent.map(|parent| changed.tasks[parent].id.as_str());
    let parent = above.and_then(|above| file.tasks.iter().position(|one| one.id == above));
    edit::insert(file, parent, &new).map(|(text, _)| text).map_err(|error| error.to_string())
}

impl AppliedChange {
    fn take(&mut self, id: &str, done: Result<String, String>) {
        match done {
            Ok(text) => self.text = text,
            Err(why) => self.left.push((id.to_owned(), why)),
        }
    }
}

/// Returns the index of each id's task; the first if several share one.
fn by_id(file: &TaskFile) -> BTreeMap<&str, usize> {
    let mut places = BTreeMap::new();
    for (place, task) in file.tasks.iter().enumerate() {
        places.entry(task.id.as_str()).or_insert(place);
    }
    places
}

/// Returns the changes that turn `old` into `new`.
pub fn changes(old: &Task, new: &Task) -> Vec<Change> {
    let (was, is) = (NewTask::like(old), NewTask::like(new));
    let mut changes = Vec::new();
    if was.status != is.status {
        changes.push(Change::Status(is.status));
    }
    if was.priority != is.priority {
        changes.push(Change::Priority(is.priority));
    }
    if was.title != is.title {
        changes.push(Change::Title(is.title.clone()));
    }
    if was.stakeholders != is.stakeholders {
        changes.push(Change::Stakeholders(is.stakeholders.clone()));
    }
    if was.tags != is.tags {
        changes.push(Change::Tags(is.tags.clone()));
    }
    let is_own = |key: &str| !["id", "parent"].iter().any(|other| key.eq_ignore_ascii_case(other));
    for (key, value) in is.fields.iter().filter(|(key, _)| is_own(key)) {
        if old.field(key).is_none_or(|field| field.value != *value) {
            changes.push(Change::Field(key.clone(), Some(value.clone())));
        }
    }
    let gone = was.fields.iter().filter(|(key, _)| is_own(key) && new.field(key).is_none());
    changes.extend(gone.map(|(key, _)| Change::Field(key.clone(), None)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# Plan\n\n- [ ] A \"one\"\n  id: one\n- [ ] \"two\"\n  id: two\n";

    #[test]
    fn changes_of_different_lines_are_merged_byte_for_byte() {
        let ticked = BASE.replace("[ ] A", "[x] A");
        let edited = BASE.replace("# Plan", "# Our plan").replace("  id: two\n", "  id: two\n  note: new\n");
        let carried = carry_over(BASE, &ticked, &edited);
        assert_eq!(carried.text, edited.replace("[ ] A", "[x] A"));
        assert_eq!(carried.left, []);
        assert_eq!(carry_over(BASE, &ticked, BASE).text, ticked);
        assert_eq!(carry_over(BASE, BASE, &edited).text, edited);
    }

    #[test]
    fn changes_of_the_same_line_are_merged_task_by_task() {
        let ticked = BASE.replace("[ ] A", "[x] A");
        let theirs = BASE.replace("A \"one\"", "B @ada \"one, and more\"");
        assert_eq!(carry_over(BASE, &ticked, &theirs).text, theirs.replace("[ ] B", "[x] B"));
        let (mine, theirs) = (format!("{BASE}- mine\n"), format!("{BASE}- theirs\n"));
        let file = parse(carry_over(BASE, &mine, &theirs).text);
        let titles: Vec<&str> = file.tasks.iter().map(|task| task.title.text.as_str()).collect();
        assert_eq!(titles, ["one", "two", "theirs", "mine"]);
        assert_eq!(file.issues, []);
    }

    #[test]
    fn changes_that_cannot_be_applied_are_named() {
        let ticked = BASE.replace("[ ] A", "[x] A");
        let gone = "# Plan\n\n- [ ] \"two, once more\"\n  id: two\n";
        let carried = carry_over(BASE, &ticked, gone);
        assert_eq!(carried.text, gone);
        assert_eq!(carried.left, [("one".to_owned(), "it no longer exists".to_owned())]);
        let broken = BASE.replace("A \"one\"", "A \"one");
        let carried = carry_over(BASE, &ticked, &broken);
        assert_eq!(carried.text, broken, "a task with an error is not written to");
        assert!(carried.left[0].1.contains("line 3"), "{:?}", carried.left);
    }

    #[test]
    fn undoing_an_added_task_keeps_the_others() {
        let added = format!("{BASE}- [ ] \"three\"\n  id: three\n");
        let since = added.replace("- [ ] A", "- [x] A").replace("[ ] \"three\"", "[ ] B \"three\"");
        let carried = carry_over(&added, BASE, &since);
        assert_eq!(carried.text, BASE.replace("- [ ] A", "- [x] A"));
    }
}
