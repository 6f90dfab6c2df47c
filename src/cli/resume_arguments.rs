//! Finds the workflow run that a command names, and resumes it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::workflow_goal::WorkflowGoal;
use super::{CliError, status};
use crate::app::workflows::{self, RunHead};
use crate::orchestration::workflow::value::is_truthy;
use crate::orchestration::workflow::{PersonAnswer, RunKey, WorkflowCommand};

/// Finds a run by its id, or by its number if only one run has it.
pub(super) fn chosen_run(folder: &Path, word: &str) -> Result<RunHead, CliError> {
    let runs = workflows::runs(folder);
    let number = word.trim().trim_start_matches("wf-");
    let mut numbered = runs.iter().filter(|run| run.key.number().to_string() == number);
    let only = numbered.next().filter(|_| numbered.next().is_none());
    let exact = RunKey::parse(word.trim()).and_then(|key| runs.iter().find(|run| run.key == key));
    exact.or(only).cloned().ok_or_else(|| {
        let known: Vec<String> =
            runs.iter().take(5).map(|run| format!("{} ({}, {})", run.key, run.name, run.status)).collect();
        let hint = if known.is_empty() {
            "no workflow has run here".to_owned()
        } else {
            format!("recent runs: {}", known.join(", "))
        };
        CliError::usage(format!("there is no workflow run {word:?}")).hint(hint)
    })
}

/// The goal that resumes a run with the given answers, and the run's scene.
pub(super) fn resumed(
    folder: &Path,
    word: &str,
    given: &[(String, String)],
) -> Result<(WorkflowGoal, String), CliError> {
    let head = chosen_run(folder, word)?;
    let unusable = |why: String| CliError::failed(format!("{}: {why}", head.path.display()));
    let (record, text) = workflows::run(&head).map_err(unusable)?;
    if head.status == "done" {
        return Err(CliError::usage(format!("{} is already done", head.key)));
    }
    let answers = answers(given)?.into_iter();
    let answers = answers.map(|(step, answer)| WorkflowCommand::Answer { run: head.key, step, answer });
    let goal = WorkflowGoal::new(WorkflowCommand::Resume { run: head.key, state: Some(text) }, answers.collect());
    Ok((goal, status::stem(&record.scene).to_owned()))
}

/// Parses `STEP=VALUE` and `STEP.FIELD=VALUE` pairs into answers by step.
fn answers(given: &[(String, String)]) -> Result<BTreeMap<String, PersonAnswer>, CliError> {
    let mut answers: BTreeMap<String, PersonAnswer> = BTreeMap::new();
    for (name, value) in given {
        let (step, field) = name.split_once('.').unwrap_or((name, "approved"));
        let answer = answers.entry(step.to_owned()).or_default();
        match field {
            "approved" => answer.approved = Some(is_truthy(&Value::from(value.as_str()))),
            "comment" => {
                answer.comment.clone_from(value);
                answer.fields.insert(field.to_owned(), value.clone());
            }
            field => drop(answer.fields.insert(field.to_owned(), value.clone())),
        }
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_to_steps_are_parsed() {
        let pairs = [("ok", "no"), ("ok.comment", "too long"), ("form.budget", "7")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let Ok(answers) = answers(&pairs) else { panic!("they can be read") };
        assert_eq!((answers["ok"].approved, answers["ok"].comment.as_str()), (Some(false), "too long"));
        assert_eq!(answers["form"].fields["budget"], "7");
    }
}
