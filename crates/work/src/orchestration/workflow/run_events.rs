//! Events of a run: outputs and ends of agents' work, the content of files, and people's answers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::answer::PersonAnswer;
use super::definition::AnswerKind;
use super::limits::Limits;
use super::person_step::{Answered, fitted};
use super::reply_parser;
use super::run_state::{Part, PartAt, PartStage, Run, StepStatus};
use crate::base::ActivationKey;
use crate::mind::Ending;

/// Why a part of a step failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailedBy {
    /// The work failed.
    Itself,
    /// A limit or a budget was reached.
    Limit,
    /// A person refused or aborted it.
    Person,
}

impl Run {
    /// Stores an output from the agent of this work. Returns the text for the agent, or the error.
    pub fn store_output(
        &mut self,
        activation: ActivationKey,
        name: &str,
        value: Value,
        limits: &Limits,
    ) -> Result<String, String> {
        let at = self.at_work(activation).ok_or("this work is not a step of a running workflow")?;
        let plan = self.plan.clone();
        let step = &plan.steps[at.0];
        let names: Vec<&str> = step.outputs.iter().map(|output| output.name.as_str()).collect();
        let meant = reply_parser::matching_name(name, &names);
        let Some(output) = step.outputs.iter().find(|output| meant.as_ref() == Some(&output.name)) else {
            return Err(format!("this step has no output {name:?}; it gives: {}", names.join(", ")));
        };
        let value = fitted(output.kind, value, limits.output_chars);
        let part = self.part_mut(at).ok_or("this work is not a step of a running workflow")?;
        let value = value.map_err(|why| {
            part.refused.insert(output.name.clone(), why.clone());
            format!("{} {why}", output.name)
        })?;
        part.given.insert(output.name.clone(), value);
        let given = &part.given;
        let left: Vec<&str> = step
            .outputs
            .iter()
            .filter(|output| output.file.is_none() && !given.contains_key(&output.name))
            .map(|output| output.name.as_str())
            .collect();
        Ok(match left.as_slice() {
            [] => format!("Saved: {}. That was the last output; conclude with a few words.", output.name),
            left => format!("Saved: {}. Still missing: {}.", output.name, left.join(", ")),
        })
    }

    /// The work of a part has ended. Returns whether it belongs to this run.
    pub fn ended(&mut self, activation: ActivationKey, ending: &Ending, now: u64, limits: &Limits) -> bool {
        let Some(at) = self.at_work(activation) else { return false };
        match ending {
            Ending::Completed { text } => self.concluded(at, text, now, limits),
            Ending::Failed { why } => self.part_failed(at, why.clone(), FailedBy::Itself, now),
            Ending::Aborted { why, by_person } => {
                let by = if *by_person { FailedBy::Person } else { FailedBy::Limit };
                self.part_failed(at, why.clone(), by, now);
            }
        }
        true
    }

    fn concluded(&mut self, at: PartAt, text: &str, now: u64, limits: &Limits) {
        let plan = self.plan.clone();
        let outputs = &plan.steps[at.0].outputs;
        let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
        let found = reply_parser::outputs(text, &names);
        let Some(part) = self.part_mut(at) else { return };
        part.words = text.chars().take(limits.output_chars).collect();
        let mut wrong = Vec::new();
        for (name, value) in found {
            let Some(output) = outputs.iter().find(|output| output.name == name && output.file.is_none()) else {
                continue;
            };
            // Values given with the tool take precedence over those in the answer.
            if part.given.contains_key(&name) {
                continue;
            }
            match fitted(output.kind, value, limits.output_chars) {
                Ok(value) => drop(part.given.insert(name, value)),
                Err(why) => wrong.push(format!("{name} {why}")),
            }
        }
        let files = outputs.iter().filter(|output| output.file.is_some() && !part.given.contains_key(&output.name));
        let left: BTreeSet<String> = files.map(|output| output.name.clone()).collect();
        if left.is_empty() {
            self.complete(at, wrong, now);
        } else {
            part.stage = PartStage::Reading { left, wrong, is_ordered: false };
        }
    }

    /// A file that contains an output was read, or could not be.
    pub fn was_read(&mut self, at: PartAt, output: &str, text: Result<String, String>, now: u64, limits: &Limits) {
        let kind = self.plan.steps.get(at.0).and_then(|step| step.outputs.iter().find(|one| one.name == output));
        let kind = kind.map(|output| output.kind).unwrap_or_default();
        let Some(part) = self.part_mut(at) else { return };
        let PartStage::Reading { left, wrong, .. } = &mut part.stage else { return };
        if !left.remove(output) {
            return;
        }
        let value = text.and_then(|text| fitted(kind, Value::String(text), limits.output_chars));
        match value {
            Ok(value) => drop(part.given.insert(output.to_owned(), value)),
            Err(why) => wrong.push(format!("{output} {why}")),
        }
        if left.is_empty() {
            let wrong = std::mem::take(wrong);
            self.complete(at, wrong, now);
        }
    }

    /// After the agent concluded and all files were read: completes the part, asks for missing outputs once, or fails
    /// it.
    fn complete(&mut self, at: PartAt, wrong: Vec<String>, now: u64) {
        let plan = self.plan.clone();
        let outputs = &plan.steps[at.0].outputs;
        let Some(part) = self.part_mut(at) else { return };
        let is_told = |name: &str| wrong.iter().any(|told| told.starts_with(&format!("{name} ")));
        let missing: Vec<String> = outputs
            .iter()
            .filter(|output| !part.given.contains_key(&output.name) && !is_told(&output.name))
            .map(|output| {
                let why = part.refused.get(&output.name).map_or("is missing", String::as_str);
                format!("{} {why}", output.name)
            })
            .collect();
        let wrong: Vec<String> = wrong.into_iter().chain(missing).collect();
        if wrong.is_empty() {
            part.stage = PartStage::Done;
            let (thread, agent) = part.work.as_ref().map(|work| (work.thread, work.agent.clone())).unzip();
            self.let_go.extend(thread);
            self.active.remove(&at);
            if let Some(agent) = agent {
                let by = &mut self.steps[at.0].by;
                by.retain(|known| *known != agent);
                by.push(agent);
            }
            self.check_parts(at.0, now);
        } else if part.was_asked_again {
            let why = format!("it did not give all outputs, even when asked again: {}", wrong.join("; "));
            self.part_failed(at, why, FailedBy::Itself, now);
        } else {
            part.was_asked_again = true;
            part.stage = PartStage::Missing { what: wrong.join("; ") };
        }
    }

    pub(super) fn part_failed(&mut self, at: PartAt, why: String, by: FailedBy, now: u64) {
        let retry = self.plan.steps[at.0].retry;
        self.active.remove(&at);
        let Some(part) = self.part_mut(at) else { return };
        let thread = part.work.take().map(|work| work.thread);
        if part.tries <= retry && by != FailedBy::Person {
            *part = Part { item: part.item.clone(), tries: part.tries, why, ..Part::default() };
            self.open.insert(at);
        } else {
            (part.stage, part.why, part.is_limited) = (PartStage::Failed, why, by == FailedBy::Limit);
        }
        self.let_go.extend(thread);
        self.check_parts(at.0, now);
    }

    /// A person answers a step. The error says what is wrong with the answer.
    pub fn answered(&mut self, id: &str, answer: &PersonAnswer, now: u64, limits: &Limits) -> Result<(), String> {
        let plan = self.plan.clone();
        let at = plan.places.get(id).copied().filter(|at| self.asked.contains(at));
        let at = at.ok_or_else(|| format!("step {id:?} of {} does not wait for a person", self.key))?;
        let question = self.question_of(at).ok_or_else(|| format!("step {id:?} is not for a person"))?;
        let Answered { approved, outputs, words } = question.answered(answer, limits.output_chars)?;
        // A refusal is not a failure if the workflow itself uses the outcome.
        let is_refused =
            approved == Some(false) && !(question.wants == AnswerKind::Approval && plan.is_asked.contains(&at));
        self.asked.remove(&at);
        self.steps[at].outputs = outputs;
        if is_refused {
            let why = if words.is_empty() { String::new() } else { format!(": {words}") };
            self.end_step(at, StepStatus::Failed, format!("a person refused it{why}"), now);
            return Ok(());
        }
        self.end_step(at, StepStatus::Done, "a person answered".to_owned(), now);
        Ok(())
    }
}
