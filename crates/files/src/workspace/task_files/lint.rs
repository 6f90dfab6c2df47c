//! Everything that is wrong with a task file, for the person who writes it: what its text says, and whom it names.

use std::collections::BTreeSet;

use super::issue::{Code, Issue};
use super::model::TaskFile;
use super::relations::place;
use crate::base::Severity;

/// Who and what there is beside the file.
#[derive(Clone, Default, Debug)]
pub struct Known {
    /// Who may be a stakeholder, in lower case; none where that is not known.
    pub stakeholders: Option<BTreeSet<String>>,
    /// Ids of tasks in other files.
    pub other_ids: BTreeSet<String>,
}

/// All issues of a file, in its order.
pub fn lint(file: &TaskFile, known: &Known) -> Vec<Issue> {
    let mut issues = file.issues.clone();
    let mut warn = |code, task, at, what| {
        issues.push(Issue { code, severity: Severity::Warning, task: Some(task), at, what });
    };
    let ids: BTreeSet<&str> = file.tasks.iter().map(|task| task.id.as_str()).collect();
    for (index, task) in file.tasks.iter().enumerate() {
        for id in task.dependencies() {
            if !ids.contains(id) && !known.other_ids.contains(id) {
                let what = format!("it depends on {id:?}, and no task has that id");
                warn(Code::UnknownDependency, index, place(task, "depends_on"), what);
            }
        }
        let Some(there) = &known.stakeholders else { continue };
        for stakeholder in task.stakeholders.iter().filter(|one| !there.contains(&one.text.to_lowercase())) {
            let what = format!("@{} is nobody in this workspace", stakeholder.text);
            warn(Code::UnknownStakeholder, index, stakeholder.span.start, what);
        }
    }
    issues.sort_by_key(|issue| issue.at);
    issues
}
