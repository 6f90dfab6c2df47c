//! The question of a step to a person, and the check of the answer: shared by the pane, the command line and the run
//! itself.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::answer::PersonAnswer;
use super::definition::{APPROVED, AnswerKind, Assignee, COMMENT, Output, RESULT};
use super::run_key::RunKey;
use super::run_state::Run;
use super::runs::WorkflowRuns;
use super::value::OutputKind;

/// A step of a run that waits for a person.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PersonQuestion {
    /// The key of the question, different in each round of the step. Also valid as a file name.
    pub id: String,
    /// The run.
    pub run: RunKey,
    /// The name of the workflow.
    pub workflow: String,
    /// The id of the step.
    pub step: String,
    /// The question.
    pub asks: String,
    /// The kind of answer.
    pub wants: AnswerKind,
    /// The fields of a form; empty for an approval.
    pub fields: Vec<Output>,
}

/// A checked answer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Answered {
    /// Whether it was approved; `None` if that was not asked.
    pub(super) approved: Option<bool>,
    /// The outputs of the step.
    pub(super) outputs: BTreeMap<String, Value>,
    /// The person's comment.
    pub(super) words: String,
}

impl PersonQuestion {
    /// The question in one line.
    pub fn sentence(&self) -> String {
        let step = format!("step {} of the workflow {}", self.step, self.workflow);
        match self.fields.is_empty() {
            true => format!("{step} asks you: {}", self.asks),
            false => format!("{step} asks you for {}: {}", self.field_names().join(", "), self.asks),
        }
    }

    /// The fields of a form, by name.
    pub fn field_names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    /// Checks an answer. The error says what is wrong with it.
    pub fn check(&self, answer: &PersonAnswer, output_chars: usize) -> Result<(), String> {
        self.answered(answer, output_chars).map(|_| ())
    }

    pub(super) fn answered(&self, answer: &PersonAnswer, output_chars: usize) -> Result<Answered, String> {
        let words: String = answer.comment.chars().take(output_chars).collect();
        let mut outputs: BTreeMap<String, Value> = BTreeMap::from([(RESULT.to_owned(), words.clone().into())]);
        match self.wants {
            AnswerKind::Approval => {
                let approved = answer.approved.ok_or("say whether it is approved")?;
                outputs.insert(APPROVED.to_owned(), approved.into());
                outputs.insert(COMMENT.to_owned(), words.clone().into());
                Ok(Answered { approved: Some(approved), outputs, words })
            }
            // A person can decline to fill in a form; its step then fails.
            AnswerKind::Form if answer.approved == Some(false) => {
                Ok(Answered { approved: Some(false), outputs, words })
            }
            AnswerKind::Form => {
                let names = self.field_names();
                if let Some(odd) =
                    answer.fields.keys().find(|name| !names.contains(&name.as_str()) && **name != *COMMENT)
                {
                    return Err(format!("there is no field {odd}; there are: {}", names.join(", ")));
                }
                for field in &self.fields {
                    let given = answer.fields.get(&field.name).map(|text| Value::from(text.as_str()));
                    let value = given.ok_or_else(|| format!("the field {} is missing", field.name))?;
                    let value =
                        fitted(field.kind, value, output_chars).map_err(|why| format!("{} {why}", field.name))?;
                    outputs.insert(field.name.clone(), value);
                }
                Ok(Answered { approved: None, outputs, words })
            }
        }
    }
}

impl Run {
    /// The question that this step asks a person, if it is for a person.
    pub fn question_of(&self, at: usize) -> Option<PersonQuestion> {
        let step = self.plan.steps.get(at)?;
        let Assignee::Person { wants } = &step.doer else { return None };
        let round = self.steps.get(at)?.round;
        let round = if round > 1 { format!("@{round}") } else { String::new() };
        let fields = if *wants == AnswerKind::Form { step.outputs.clone() } else { Vec::new() };
        Some(PersonQuestion {
            id: format!("{}.{}{round}", self.key, step.id.replace('/', ".")),
            run: self.key,
            workflow: self.name.clone(),
            step: step.id.clone(),
            asks: self.question(at),
            wants: *wants,
            fields,
        })
    }

    /// All questions to a person that are open now.
    pub fn questions(&self) -> impl Iterator<Item = PersonQuestion> {
        let asked = if self.is_running() { Some(self.asked()) } else { None };
        asked.into_iter().flatten().filter_map(|at| self.question_of(at))
    }
}

/// The key of a workflow's question: the run, the index of the step, and its round.
pub type StepKey = (RunKey, usize, u32);

impl WorkflowRuns {
    /// The keys of all open questions, without rendering them, for checking whether they changed.
    pub fn open_questions(&self) -> impl Iterator<Item = StepKey> {
        self.iter()
            .filter(|run| run.is_running())
            .flat_map(|run| run.asked().filter_map(|at| Some((run.key, at, run.steps.get(at)?.round))))
    }

    /// All open questions of all runs, the oldest run first.
    pub fn questions(&self) -> impl Iterator<Item = PersonQuestion> {
        self.iter().flat_map(Run::questions)
    }
}

/// Converts an output to its kind and checks its length. The error is a clause that follows the output's name.
pub(super) fn fitted(kind: OutputKind, value: Value, output_chars: usize) -> Result<Value, String> {
    let value = kind.fit(value)?;
    let chars = match &value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    };
    if chars > output_chars {
        return Err(format!(
            "has {chars} characters, more than {output_chars} (workflow.max_output_chars); write it into a file in \
             artifacts/ and give its path with a summary"
        ));
    }
    Ok(value)
}
