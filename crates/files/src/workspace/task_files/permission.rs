//! Tasks that wait for a person (`approval_required: true` without `approved: true`), and the changes of a task file
//! that only a person may make. Pure.

use std::collections::BTreeSet;

use super::parse;
use super::{Status, Task};

/// The key that requires a person's approval.
const REQUIRED: &str = "approval_required";
/// The key with which a person approves a task.
pub const APPROVED_KEY: &str = "approved";

/// Whether a task still needs a person's approval.
pub fn waits_for_person(task: &Task) -> bool {
    is_true(task, REQUIRED) && !is_true(task, APPROVED_KEY)
}

fn is_true(task: &Task, key: &str) -> bool {
    task.field(key).is_some_and(|field| field.value.text().trim() == "true")
}

/// Returns the approved content of a task: all properties that an agent may not change after the approval.
fn allowed_of(task: &Task) -> (&str, &str, Vec<&str>, Option<&str>, bool) {
    let names = task.stakeholders.iter().map(|name| name.text.as_str()).collect();
    let description = task.field("description").map(|field| field.value.text());
    (&task.id, &task.title.text, names, description, is_true(task, REQUIRED))
}

/// Returns why an agent may not make this change of a task file; `None` if it may. An agent cannot approve a task,
/// change an approved task into another one, complete one that waits for a person, or remove any task (as overwriting
/// the whole file would). It can skip tasks.
pub fn only_for_a_person(before: &str, after: &str) -> Option<String> {
    let (before, after) = (parse(before), parse(after));
    let mut allowed: Vec<_> = before.tasks.iter().filter(|task| is_true(task, APPROVED_KEY)).map(allowed_of).collect();
    for task in after.tasks.iter().filter(|task| is_true(task, APPROVED_KEY)) {
        let wanted = allowed_of(task);
        match allowed.iter().position(|one| *one == wanted) {
            Some(at) => drop(allowed.swap_remove(at)),
            None => {
                // Only a person can approve a task with `approved: true`; no tool of an agent can.
                rule!("only-a-person-approves-tasks");
                return Some(format!(
                    "only a person can approve a task with approved: true; here \
                    {:?}",
                    task.title.text
                ));
            }
        }
    }
    for task in before.tasks.iter().filter(|task| task.status == Status::Open && waits_for_person(task)) {
        let stays =
            |other: &&Task| other.id == task.id && is_true(other, REQUIRED) && other.status != Status::Completed;
        if !after.tasks.iter().any(|other| stays(&other)) {
            let title = &task.title.text;
            return Some(format!(
                "the task {title:?} waits for a person; only a person can remove it, complete it or release it \
                 without approval"
            ));
        }
    }
    let left: BTreeSet<&str> = after.tasks.iter().map(|task| task.id.as_str()).collect();
    let gone = before.tasks.iter().find(|task| !left.contains(task.id.as_str()))?;
    Some(format!(
        "the task {:?} would be removed from it; change tasks one by one with update_task, and mark tasks that will \
         not be done as skipped",
        gone.title.text
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: &str = "- [ ] @ada \"Dig\"\n  id: dig\n  approval_required: true\n- [ ] @ben \"Plan\"\n  id: plan\n";

    #[test]
    fn an_agent_cannot_approve_a_task_in_any_spelling() {
        checks_rule!("only-a-person-approves-tasks");
        let allowed =
            |line: &str| WAITING.replace("  approval_required: true\n", &format!("  approval_required: true\n{line}"));
        for line in [
            "  approved: true\n",
            "  Approved: true\n",
            "  approved: \"true\"\n",
            "  approved: |\n    true\n",
            "  approved:   true   \n",
        ] {
            let after = allowed(line);
            let is_allowed = parse(after.as_str()).tasks.iter().any(|task| task.id == "dig" && !waits_for_person(task));
            assert!(!is_allowed || only_for_a_person(WAITING, &after).is_some(), "{line:?}");
        }
        for after in [
            allowed("  approved: true\n"),
            WAITING.replace("  approval_required: true\n", ""),
            WAITING.replace("approval_required: true", "approval_required: false"),
            WAITING.replace("[ ] @ada \"Dig\"", "[x] @ada \"Dig\""),
            WAITING.replace("id: dig", "id: other"),
            "- [ ] @ben \"Plan\"\n  id: plan\n".to_owned(),
            "- [ ] @ada \"Dig\" approval_required: true approved: true\n  id: dig\n".to_owned(),
            String::new(),
        ] {
            assert!(only_for_a_person(WAITING, &after).is_some(), "{after}");
        }
        let new = "- [ ] @ada \"New\"\n  approved: true\n";
        assert!(
            only_for_a_person("", new).is_some() && only_for_a_person(WAITING, &(WAITING.to_owned() + new)).is_some()
        );
    }

    #[test]
    fn an_approved_task_cannot_be_changed_into_another() {
        let allowed = WAITING.replace("approval_required: true", "approval_required: true\n  approved: true");
        for (from, to) in
            [("\"Dig\"", "\"Delete all\""), ("@ada", "@ben"), ("  id: dig\n", "  id: dig\n  description: more\n")]
        {
            assert!(only_for_a_person(&allowed, &allowed.replacen(from, to, 1)).is_some(), "{to}");
        }
        let twice = format!("{allowed}{}", allowed.split("- [ ] @ben").next().unwrap_or_default());
        assert!(only_for_a_person(&allowed, &twice).is_some(), "one yes is for one task");
        for after in [
            allowed.clone(),
            allowed.replace("  id: dig\n", "  id: dig\n  status: working\n  note: on it\n"),
            allowed.replace("[ ] @ada", "[x] @ada"),
            allowed.replace("  approved: true\n", ""),
        ] {
            assert_eq!(only_for_a_person(&allowed, &after), None, "{after}");
        }
    }

    #[test]
    fn an_agent_cannot_remove_a_task() {
        for after in [
            WAITING.replace("- [ ] @ben \"Plan\"\n  id: plan\n", ""),
            WAITING.replace("id: plan", "id: other"),
            "# What I found\n\nNothing.\n".to_owned(),
            String::new(),
        ] {
            assert!(only_for_a_person(WAITING, &after).is_some(), "{after}");
        }
        let without_ids = "# Shop\n\n- [ ] @ada \"Find out\"\n- [ ] Taste it\n";
        assert!(only_for_a_person(without_ids, "# Tea shop\n\nWe sell tea.\n").is_some());
        assert_eq!(only_for_a_person(without_ids, &format!("{without_ids}- [ ] More\n")), None);
    }

    #[test]
    fn an_agent_can_change_everything_else() {
        for after in [
            WAITING.replace("[ ] @ada", "[-] @ada"),
            WAITING.replace("[ ] @ben", "[x] @ben"),
            WAITING.replace("\"Dig\"", "\"Dig deeper\""),
            format!("{WAITING}- [ ] @ada \"More\"\n  approval_required: true\n"),
        ] {
            assert_eq!(only_for_a_person(WAITING, &after), None, "{after}");
        }
        assert_eq!(only_for_a_person("", WAITING), None);
    }
}
