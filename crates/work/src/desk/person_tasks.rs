//! Tasks in files that only a person can continue, while work of agents waits for them: who is waited for, and for what.
//! Pure, except for the function that reads the room.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::world::World;

use super::settings::TaskSettings;
use super::task_assignments::{AssignmentStage, TaskAssignments, TaskTexts, task_of};
use super::task_cache::{self, KnownTasks};
use super::task_start::names_in;
use crate::base::Id;
use crate::workspace::KnownFiles;
use crate::workspace::layout::APPROVALS_FILE;
use crate::workspace::task_files::columns::is_for_person;
use crate::workspace::task_files::permission::waits_for_person;
use crate::workspace::task_files::{Status, Task};

/// A task that only a person can continue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
pub struct PersonTask {
    /// The path of the task file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The id of the task.
    pub id: String,
    /// The title.
    pub title: String,
    /// What is missing: "it is for a person", "it names no agent".
    pub why: String,
    /// What a person can do.
    pub remedy: String,
}

/// The tasks behind some work, sorted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TasksBehind {
    /// Those that only a person can continue.
    pub of_person: BTreeSet<PersonTask>,
    /// Whether any of the others can continue by itself.
    pub can_continue: bool,
}

/// What it takes to decide who can continue a task.
struct Plan<'a> {
    files: &'a TaskTexts,
    assignments: &'a TaskAssignments,
    agents: &'a BTreeMap<String, Id>,
    /// Whether tasks start work by themselves.
    begins: bool,
}

/// Returns the tasks behind the work of those sessions that `is_meant` selects: the tasks that they wait for, and
/// everything that these depend on.
pub fn behind_sessions(world: &World, is_meant: impl Fn(&str) -> bool) -> TasksBehind {
    with_plan(world, |plan| {
        let awaited = plan.assignments.awaited().filter(|(_, _, session)| is_meant(session));
        plan.behind(awaited.map(|(path, id, _)| (path.to_owned(), id.to_owned())).collect())
    })
}

/// Returns the tasks behind all work: what sessions wait for, and what keeps agents from their open tasks.
pub fn behind_all(world: &World) -> TasksBehind {
    with_plan(world, |plan| {
        let awaited = plan.assignments.awaited().map(|(path, id, _)| (path.to_owned(), id.to_owned()));
        let mut wanted: Vec<(String, String)> = awaited.collect();
        for (path, file) in plan.files.iter().filter(|(path, _)| path.as_str() != APPROVALS_FILE) {
            let of_agents = file.tasks.iter().filter(|task| plan.agent_of(task).is_some() && plan.is_agents(task));
            wanted.extend(of_agents.map(|task| (path.clone(), task.id.clone())));
        }
        plan.behind(wanted)
    })
}

fn with_plan(world: &World, ask: impl FnOnce(&Plan<'_>) -> TasksBehind) -> TasksBehind {
    let agents = names_in(world);
    // A room that is only looked at has not read its task files.
    let read = world.resource::<KnownTasks>().texts_if_read();
    let parsed = read.is_none().then(|| task_cache::texts_of(world.resource::<KnownFiles>()));
    let Some(files) = read.or(parsed.as_ref()) else { return TasksBehind::default() };
    ask(&Plan {
        files,
        assignments: world.resource::<TaskAssignments>(),
        agents: &agents,
        begins: world.resource::<TaskSettings>().begin,
    })
}

impl Plan<'_> {
    fn agent_of(&self, task: &Task) -> Option<&Id> {
        task.stakeholders.iter().find_map(|name| self.agents.get(&name.text.to_lowercase()))
    }

    /// Whether a task is one that agents do without a person.
    fn is_agents(&self, task: &Task) -> bool {
        !is_for_person(task) && !waits_for_person(task)
    }

    /// Follows the dependencies of these open tasks.
    fn behind(&self, mut wanted: Vec<(String, String)>) -> TasksBehind {
        let (mut seen, mut found) = (BTreeSet::new(), TasksBehind::default());
        while let Some((path, id)) = wanted.pop() {
            let Some(task) = task_of(self.files, &path, &id).filter(|task| task.status == Status::Open) else {
                continue;
            };
            if !seen.insert((path.clone(), id.clone())) {
                continue;
            }
            let is_active = self.assignments.iter().any(|one| {
                one.path == path
                    && one.id == id
                    && !matches!(one.stage, AssignmentStage::Blocked { .. } | AssignmentStage::Over)
            });
            if is_active {
                found.can_continue = true;
                continue;
            }
            if let Some((why, remedy)) = self.needs_person(task) {
                found.of_person.insert(self.person_task(&path, task, why, remedy));
                continue;
            }
            let open = self.open_dependencies(&path, task);
            match open {
                Err((why, remedy)) => {
                    found.of_person.insert(self.person_task(&path, task, why, remedy));
                }
                Ok(open) if open.is_empty() => found.can_continue = true,
                Ok(open) => wanted.extend(open),
            }
        }
        // If nothing is missing and nothing can begin, they wait for each other.
        let circle = seen.first().filter(|_| found == TasksBehind::default());
        if let Some((path, id)) = circle
            && let Some(task) = task_of(self.files, path, id)
        {
            let remedy = "remove one of their lines depends_on:".to_owned();
            let why = "it depends on tasks that depend on it".to_owned();
            found.of_person.insert(self.person_task(path, task, why, remedy));
        }
        found
    }

    /// Why only a person can continue this task, and what to do; `None` if an agent can.
    fn needs_person(&self, task: &Task) -> Option<(String, String)> {
        let name_an_agent =
            || "put @ and the name of an agent before its title, or do it yourself and tick it".to_owned();
        if is_for_person(task) {
            return Some(("it is for a person".to_owned(), "do it, and tick it in the file".to_owned()));
        }
        if waits_for_person(task) {
            let remedy = "allow it with the line `approved: true` below it, or tick [-] to skip it".to_owned();
            return Some(("it needs a person's approval".to_owned(), remedy));
        }
        if task.has_errors {
            return Some(("it has an error".to_owned(), "see it with: workshop task lint".to_owned()));
        }
        if self.agent_of(task).is_none() {
            let names: Vec<String> = task.stakeholders.iter().map(|name| format!("@{}", name.text)).collect();
            let why = match names.as_slice() {
                [] => "it names no agent".to_owned(),
                names => format!("no agent here is called {}", names.join(" or ")),
            };
            return Some((why, name_an_agent()));
        }
        (!self.begins).then(|| {
            let remedy = "set tasks.begin: true in settings.yaml, or do it yourself and tick it".to_owned();
            ("tasks do not start by themselves here".to_owned(), remedy)
        })
    }

    /// The tasks that must be done before this one; an error if it can never begin.
    fn open_dependencies(&self, path: &str, task: &Task) -> Result<Vec<(String, String)>, (String, String)> {
        let mut open = Vec::new();
        for id in task.dependencies() {
            let own = task_of(self.files, path, id).map(|task| (path, task));
            let elsewhere = || {
                self.files
                    .iter()
                    .find_map(|(path, file)| Some((path.as_str(), file.tasks.iter().find(|task| task.id == id)?)))
            };
            match own.or_else(elsewhere) {
                None => {
                    let remedy = "correct its line depends_on:".to_owned();
                    return Err((format!("it depends on {id}, which does not exist"), remedy));
                }
                Some((_, before)) if before.status == Status::Skipped => {
                    let remedy = "remove it from the line depends_on:, or open it again".to_owned();
                    return Err((format!("it depends on {id}, which was skipped"), remedy));
                }
                Some((path, before)) if before.status == Status::Open => {
                    open.push((path.to_owned(), before.id.clone()))
                }
                Some(_) => {}
            }
        }
        Ok(open)
    }

    fn person_task(&self, path: &str, task: &Task, why: String, remedy: String) -> PersonTask {
        let line = self.files.get(path).map_or(1, |file| file.position(task.head.start).0);
        PersonTask { file: path.to_owned(), line, id: task.id.clone(), title: task.title.text.clone(), why, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::task_files;

    const PATH: &str = "tasks/plan.task.md";

    fn behind(text: &str, begins: bool) -> (Vec<(String, String)>, bool) {
        let files = TaskTexts::from([(PATH.to_owned(), task_files::parse(text))]);
        let agents = BTreeMap::from([("ada".to_owned(), Id::from("ada"))]);
        let assignments = TaskAssignments::default();
        let plan = Plan { files: &files, assignments: &assignments, agents: &agents, begins };
        let found = plan.behind(vec![(PATH.to_owned(), "a".to_owned())]);
        let of_person = found.of_person.into_iter().map(|one| (one.id, one.why)).collect();
        (of_person, found.can_continue)
    }

    #[test]
    fn a_task_that_no_agent_can_do_is_a_persons() {
        for (text, why) in [
            ("- [ ] @human Look\n  id: a\n", "it is for a person"),
            ("- [ ] Look\n  id: a\n", "it names no agent"),
            ("- [ ] @carl Look\n  id: a\n", "no agent here is called @carl"),
            ("- [ ] @ada Look\n  id: a\n  approval_required: true\n", "it needs a person's approval"),
            ("- [ ] @ada Look\n  id: a\n  depends_on: b\n", "it depends on b, which does not exist"),
            (
                "- [ ] @ada Look\n  id: a\n  depends_on: b\n- [-] @ada B\n  id: b\n",
                "it depends on b, which was skipped",
            ),
        ] {
            assert_eq!(behind(text, true), (vec![("a".to_owned(), why.to_owned())], false), "{text}");
        }
        assert_eq!(behind("- [ ] @ada Look\n  id: a\n", true), (Vec::new(), true));
        assert_eq!(behind("- [x] Look\n  id: a\n", true), (Vec::new(), false), "nobody waits for what is done");
        let off = behind("- [ ] @ada Look\n  id: a\n", false).0;
        assert_eq!(off[0].1, "tasks do not start by themselves here");
    }

    #[test]
    fn what_a_task_depends_on_is_found_behind_it() {
        let text = "- [ ] @ada Last\n  id: a\n  depends_on: b, c\n- [x] @ada First\n  id: b\n- [ ] @ada Middle\n  id: c\n  \
                    depends_on: d\n- [ ] @human Mine\n  id: d\n";
        let found = behind(text, true);
        assert_eq!(found, (vec![("d".to_owned(), "it is for a person".to_owned())], false));
        let circle = "- [ ] @ada One\n  id: a\n  depends_on: b\n- [ ] @ada Two\n  id: b\n  depends_on: a\n";
        assert_eq!(behind(circle, true).0, [("a".to_owned(), "it has an error".to_owned())]);
    }

    #[test]
    fn tasks_of_two_files_that_wait_for_each_other_are_a_persons() {
        let one = "- [ ] @ada One\n  id: a\n  depends_on: b\n";
        let other = "- [ ] @ada Two\n  id: b\n  depends_on: a\n";
        let files = TaskTexts::from([
            (PATH.to_owned(), task_files::parse(one)),
            ("tasks/z.task.md".to_owned(), task_files::parse(other)),
        ]);
        let agents = BTreeMap::from([("ada".to_owned(), Id::from("ada"))]);
        let assignments = TaskAssignments::default();
        let plan = Plan { files: &files, assignments: &assignments, agents: &agents, begins: true };
        let found = plan.behind(vec![(PATH.to_owned(), "a".to_owned())]);
        let why: Vec<&str> = found.of_person.iter().map(|one| one.why.as_str()).collect();
        assert_eq!(why, ["it depends on tasks that depend on it"]);
    }
}
