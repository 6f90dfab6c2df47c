//! The text with which an agent gets a step as a task.

use std::fmt::Write;

use super::definition::{Output, Step};
use super::run_state::{PartAt, Run};
use super::value::OutputKind;
use crate::mind::headings;

/// The tool for providing outputs.
pub const GIVE_OUTPUT: &str = "give_output";

/// The task for a part of a step.
pub(super) fn task_text(run: &Run, at: PartAt) -> String {
    let Some(step) = run.plan.steps.get(at.0) else { return String::new() };
    let prompt = step.prompt.render(|token| run.text(token, at));
    let mut words = prompt.trim().to_owned();
    let _ = write!(words, "\n\n{}{:?} of the workflow {:?}.", headings::STEP, step.id, run.name);
    let round = run.steps.get(at.0).map_or(1, |state| state.round);
    let most = run.plan.loops_of.get(at.0).and_then(|loops| run.plan.loops.get(*loops.first()?));
    let most = most.and_then(|one| run.plan.steps.get(one.head)?.repeat_until.as_ref()).map(|repeat| repeat.at_most);
    if let Some(most) = most {
        let (before, after) = headings::ROUND;
        let _ = write!(words, " It is repeated: {before}{round}{after}{most}.");
    }
    let parts = run.steps.get(at.0).map_or(1, |state| state.parts.len());
    if step.for_each.is_some() {
        let _ = write!(words, " It is repeated for each entry of a list: this is entry {} of {parts}.", at.1 + 1);
    }
    words.push_str(&outputs(run, step, at));
    words
}

fn outputs(run: &Run, step: &Step, at: PartAt) -> String {
    let mut words = String::new();
    if step.outputs.is_empty() {
        return words;
    }
    let line = |output: &Output| {
        let about = if output.description.is_empty() { String::new() } else { format!(": {}", output.description) };
        match &output.file {
            Some(file) => {
                let file = file.render(|token| run.text(token, at));
                format!("- {} (the file {}){about}", output.name, file.trim())
            }
            None => format!("- {} ({}){about}", output.name, output.kind.description()),
        }
    };
    let lines: Vec<String> = step.outputs.iter().map(line).collect();
    let _ = write!(words, "\n\n{}\n{}", headings::OUTPUTS, lines.join("\n"));
    if step.outputs.iter().any(|output| output.file.is_none()) {
        let _ = write!(
            words,
            "\nGive each of them by name with {GIVE_OUTPUT} before you conclude; without that tool, end your final \
             answer with a block like this:\n```outputs\n{}\n```",
            example(&step.outputs)
        );
    }
    words
}

fn example(outputs: &[Output]) -> String {
    let example = |output: &Output| match output.kind {
        OutputKind::Text => format!("{}: |\n  …", output.name),
        OutputKind::List => format!("{}:\n  - …", output.name),
        OutputKind::YesNo => format!("{}: yes", output.name),
    };
    let given = outputs.iter().filter(|output| output.file.is_none());
    given.map(example).collect::<Vec<_>>().join("\n")
}

/// The message to an agent that did not provide every output.
pub(super) fn missing(what: &str) -> String {
    format!(
        "This step is not done yet: {what}. Give each missing output now, by name, with {GIVE_OUTPUT} or in a block \
         ```outputs at the end of your answer. You will not be asked again."
    )
}
