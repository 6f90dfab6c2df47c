//! The text with which an agent gets a step as a task.

use std::fmt::Write;

use super::definition::{Assignee, Output, Step};
use super::run_state::{PartAt, Run};
use super::template::Token;
use super::value::OutputKind;
use crate::mind::headings;
use crate::mind::inserted_text::push_inserted;
use crate::mind::untrusted_text::quoted;

/// The maximum length of a path in a task, in characters.
const PATH_CHARS: usize = 400;

/// The tool for providing outputs.
pub const GIVE_OUTPUT: &str = "give_output";

/// The task for a part of a step.
pub(super) fn task_text(run: &Run, at: PartAt) -> String {
    let Some(step) = run.plan.steps.get(at.0) else { return String::new() };
    let prompt = step.prompt.render_with(|prompt, token| push_value(prompt, run, token, at));
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

/// Appends the value of a placeholder: the words of agents as data, those of a person unchanged.
fn push_value(prompt: &mut String, run: &Run, token: &Token, at: PartAt) {
    let value = run.text(token, at);
    let is_of_agent = match token {
        Token::Item => true,
        Token::Output { .. } => {
            let step = run.plan.output(token).and_then(|(step, _)| run.plan.steps.get(step));
            !step.is_some_and(|step| matches!(step.doer, Assignee::Person { .. }))
        }
        Token::Variable(_) | Token::Index | Token::Round => false,
    };
    if is_of_agent { push_inserted(prompt, &value) } else { prompt.push_str(&value) }
}

/// A path that may contain outputs, as it is written in a task.
fn path_in_task(path: &str) -> String {
    let is_plain = path.chars().all(|letter| letter.is_alphanumeric() || "/-_. ".contains(letter));
    if is_plain && path.chars().count() <= PATH_CHARS { path.to_owned() } else { quoted(path, PATH_CHARS) }
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
                format!("- {} (the file {}){about}", output.name, path_in_task(file.trim()))
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
