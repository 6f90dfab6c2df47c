//! Reports everything that is wrong with a task file: in its text, and with the agents that it names.

use std::collections::{BTreeMap, BTreeSet};

use super::issue::{Code, Issue};
use super::model::{TaskFile, Value};
use super::relations::place;
use crate::base::{Problem, Severity, calendar};
use crate::workspace::layout::APPROVALS_FILE;

/// The extension of task files.
pub const ENDING: &str = ".task.md";
/// The keys whose values are dates.
const DATES: [&str; 3] = ["due", "start", "deadline"];
/// The names that mean the person as a stakeholder, in lower case.
pub const PEOPLE: [&str; 3] = ["human", "user", "me"];

/// The context of a file: the existing agents and other tasks.
#[derive(Clone, Default, Debug)]
pub struct LintContext {
    /// The possible stakeholders, in lower case; `None` if they are not known.
    pub stakeholders: Option<BTreeSet<String>>,
    /// The ids of tasks in other files; `None` if they are not known, so that any could exist.
    pub other_ids: Option<BTreeSet<String>>,
}

impl LintContext {
    /// Creates the context from the agents of the workspace and the ids of tasks in other files.
    pub fn of(agents: impl IntoIterator<Item = String>, other_ids: Option<BTreeSet<String>>) -> Self {
        let agents = agents.into_iter().map(|agent| agent.to_lowercase());
        Self { stakeholders: Some(agents.chain(PEOPLE.map(str::to_owned)).collect()), other_ids }
    }
}

/// Returns all problems of a file, each with its line, column and code.
pub fn problems(path: &str, file: &TaskFile, known: &LintContext) -> Vec<Problem> {
    let problem = |issue: Issue| {
        let (line, column) = file.position(issue.at);
        let what = format!("{} (column {column}, {})", issue.what, issue.code.as_str());
        let remedy = issue.code.remedy().to_owned();
        Problem { severity: issue.severity, place: path.to_owned(), line: Some(line), column: None, what, remedy }
    };
    lint(file, known).into_iter().map(problem).collect()
}

/// The maximum number of reported problems per file.
const MAX_PROBLEMS: usize = 50;

/// Returns the problems of each file that has any. The file of approvals is skipped: it is checked when the answers are
/// read.
pub fn problems_by_file(
    files: &BTreeMap<String, TaskFile>,
    agents: impl IntoIterator<Item = String>,
) -> BTreeMap<String, Vec<Problem>> {
    let mut known = LintContext::of(agents, None);
    let ids = files.values().flat_map(|file| file.tasks.iter().map(|task| task.id.clone()));
    known.other_ids = Some(ids.collect());
    let found = files.iter().filter(|(path, _)| *path != APPROVALS_FILE).map(|(path, file)| {
        let mut problems = problems(path, file, &known);
        problems.truncate(MAX_PROBLEMS);
        (path.clone(), problems)
    });
    found.filter(|(_, problems)| !problems.is_empty()).collect()
}

/// Whether a text is a calendar day, with or without a time, also in UTC.
fn is_date(text: &str) -> bool {
    let text = text.trim_end_matches(['Z', 'z']);
    // Fractions of a second may follow.
    let text = text.split_once('.').map_or(text, |(whole, _)| whole);
    calendar::parse_stamp(text).or_else(|| calendar::parse_stamp(&format!("{text}T00:00"))).is_some()
}

/// Returns all issues of a file, sorted by position.
pub fn lint(file: &TaskFile, known: &LintContext) -> Vec<Issue> {
    let mut issues = file.issues.clone();
    let mut warn = |code, task, at, what| {
        issues.push(Issue { code, severity: Severity::Warning, task: Some(task), at, what });
    };
    let ids: BTreeSet<&str> = file.tasks.iter().map(|task| task.id.as_str()).collect();
    for (index, task) in file.tasks.iter().enumerate() {
        let others = known.other_ids.as_ref();
        for id in task.dependencies() {
            if !ids.contains(id) && others.is_some_and(|others| !others.contains(id)) {
                let what = format!("it depends on {id:?}, but no task has this id");
                warn(Code::UnknownDependency, index, place(task, "depends_on"), what);
            }
        }
        for key in DATES {
            if let Some(Value::Text(value)) = task.field(key).map(|field| &field.value)
                && !is_date(value)
            {
                let what = format!("{key} is {value:?}, which is not a date");
                warn(Code::UnreadableDate, index, place(task, key), what);
            }
        }
        let Some(there) = &known.stakeholders else { continue };
        for stakeholder in task.stakeholders.iter().filter(|one| !there.contains(&one.text.to_lowercase())) {
            let what = format!("@{} does not exist in this workspace", stakeholder.text);
            warn(Code::UnknownStakeholder, index, stakeholder.span.start, what);
        }
    }
    issues.sort_by_key(|issue| issue.at);
    issues
}
