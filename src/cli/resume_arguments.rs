//! Which workflow run is meant, and how it is resumed.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::workflow_goal::WorkflowGoal;
use super::{Complaint, status};
use crate::app::workflows::{self, RunHead};
use crate::orchestration::workflow::value::is_truthy;
use crate::orchestration::workflow::{PersonAnswer, RunKey, WorkflowCommand};

/// The run that is meant by its id, or by its number where that is one run's alone.
pub(super) fn chosen_run(folder: &Path, word: &str) -> Result<RunHead, Complaint> {
    let runs = workflows::runs(folder);
    let number = word.trim().trim_start_matches("wf-");
    let mut numbered = runs.iter().filter(|run| run.key.number().to_string() == number);
    let only = numbered.next().filter(|_| numbered.next().is_none());
    let exact = RunKey::parse(word.trim()).and_then(|key| runs.iter().find(|run| run.key == key));
    exact.or(only).cloned().ok_or_else(|| {
        let there: Vec<String> =
            runs.iter().take(5).map(|run| format!("{} ({}, {})", run.key, run.name, run.status)).collect();
        let hint = if there.is_empty() {
            "no workflow has run here".to_owned()
        } else {
            format!("the last are: {}", there.join(", "))
        };
        Complaint::usage(format!("there is no workflow run {word:?}")).hint(hint)
    })
}

/// The run to be continued, and the scene of its room.
pub(super) fn resumed(
    folder: &Path,
    word: &str,
    given: &[(String, String)],
) -> Result<(WorkflowGoal, String), Complaint> {
    let head = chosen_run(folder, word)?;
    let unusable = |why: String| Complaint::failed(format!("{}: {why}", head.path.display()));
    let (record, text) = workflows::run(&head).map_err(unusable)?;
    if head.status == "done" {
        return Err(Complaint::usage(format!("{} is already done", head.key)));
    }
    let answers = answers(given)?.into_iter();
    let answers = answers.map(|(step, answer)| WorkflowCommand::Answer { run: head.key, step, answer });
    let goal = WorkflowGoal::new(WorkflowCommand::Resume { run: head.key, state: Some(text) }, answers.collect());
    Ok((goal, status::stem(&record.scene).to_owned()))
}

/// What a person says, step by step.
fn answers(given: &[(String, String)]) -> Result<BTreeMap<String, PersonAnswer>, Complaint> {
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
    fn what_a_person_says_to_steps_is_read() {
        let pairs = [("ok", "no"), ("ok.comment", "too long"), ("form.budget", "7")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let Ok(answers) = answers(&pairs) else { panic!("they can be read") };
        assert_eq!((answers["ok"].approved, answers["ok"].comment.as_str()), (Some(false), "too long"));
        assert_eq!(answers["form"].fields["budget"], "7");
    }
}
