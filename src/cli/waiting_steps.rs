//! Workflow steps that wait for a person: listed, shown and answered like approvals.

use std::collections::BTreeMap;

use serde_json::Value;

use super::decision::{Decision, pending_suffix};
use super::report::Verdict;
use super::{CliError, ExitStatus, output};
use crate::app::approvals::{OpenStep, person_answer};
use crate::base::AllowScope;
use crate::orchestration::workflow::PersonQuestion;
use crate::workspace::answer_files::Answer;

/// A step in one line.
pub(super) fn summary(step: &OpenStep) -> String {
    format!("{} [{}]{}", step.question.sentence(), step.question.id, pending_suffix(step.answer.as_ref()))
}

/// A step with all details.
pub(super) fn details(step: &OpenStep) -> String {
    let mut lines = vec![summary(step), format!("  run: {}, in {}", step.question.run, step.scene)];
    lines.extend(step.question.fields.iter().map(|field| {
        let about = if field.description.is_empty() { String::new() } else { format!(": {}", field.description) };
        format!("  field {} ({}){about}", field.name, field.kind.description())
    }));
    lines.push(format!("  answer with: {}", command(&step.question)));
    lines.join("\n")
}

pub(super) fn to_json(step: &OpenStep) -> Value {
    let mut json = serde_json::to_value(&step.question).unwrap_or_default();
    json["scene"] = step.scene.as_str().into();
    json["answer"] = step.answer.as_ref().map(|answer| if answer.allow { "allow" } else { "refuse" }).into();
    json
}

/// Builds the answer to a step; fields that are missing are asked on the terminal.
pub(super) fn answer(step: &OpenStep, decision: &Decision, given: &[(String, String)]) -> Result<Answer, CliError> {
    let question = &step.question;
    if decision.scope != AllowScope::Once {
        let what = format!("{} is a workflow step and can only be answered once", question.id);
        return Err(CliError::usage(what).hint("leave out --for-task and --always"));
    }
    let mut fields: BTreeMap<String, String> = given.iter().cloned().collect();
    if question.fields.is_empty() && !fields.is_empty() {
        return Err(CliError::usage(format!("{} is a yes-or-no approval and has no fields", question.id))
            .hint("leave out --field; use --because for a comment"));
    }
    if decision.allow && output::is_interactive() {
        for field in question.fields.iter().filter(|field| !given.iter().any(|(name, _)| *name == field.name)) {
            fields.insert(
                field.name.clone(),
                output::answer(&format!("{} ({}): ", field.name, field.kind.description()))?,
            );
        }
    }
    let person = person_answer(decision.allow, decision.because.clone(), fields.clone());
    question.check(&person, step.chars_at_most).map_err(|why| {
        CliError::usage(format!("{} would reject this answer: {why}", question.id))
            .hint(format!("answer with: {}", command(question)))
    })?;
    let (id, scene, because) = (question.id.clone(), step.scene.clone(), decision.because.clone());
    Ok(Answer { id, scene, allow: decision.allow, scope: AllowScope::Once, because, fields })
}

/// The command that answers a question.
fn command(question: &PersonQuestion) -> String {
    let fields = question.fields.iter().map(|field| format!(" --field {}=…", field.name));
    format!("workshop approvals allow {}{}", question.id, fields.collect::<String>())
}

/// The verdict of a run that only these answers can continue; `None` if there are no questions.
pub(super) fn waiting(questions: &[PersonQuestion]) -> Option<Verdict> {
    let first = questions.first()?;
    let sentence: Vec<String> = questions.iter().map(PersonQuestion::sentence).collect();
    let go_on = format!("then: workshop workflow resume {}", first.run);
    Some(
        Verdict::new(ExitStatus::Waiting, sentence.join("; "))
            .hint(format!("answer with: {}; {go_on}", command(first))),
    )
}
