//! The outputs of a workflow step: texts, lists, yes or no, and files.

use serde_json::{Value, json};

use super::artifacts::{document, key_sentences};
use super::data::at_work;
use super::draft::fill;
use super::history::History;
use super::speaker::{MAX_QUOTED_WORDS, Speaker};
use super::text::{clause, quoted};
use crate::mind::headings;

/// The tool that records an output.
pub const GIVE_OUTPUT: &str = "give_output";

/// A requested output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestedOutput<'a> {
    /// The name of the output.
    pub name: &'a str,
    /// The type of the output as the task describes it: “a list, one entry per line”.
    description: &'a str,
    /// The path of the file to write, if the output is a file.
    pub file: Option<&'a str>,
}

/// Returns the outputs that a task asks for, in order.
pub fn requested_outputs(task: &str) -> Vec<RequestedOutput<'_>> {
    let Some((_, rest)) = task.split_once(headings::OUTPUTS) else { return Vec::new() };
    let lines = rest.trim_start().lines().map_while(|line| line.strip_prefix("- "));
    let outputs = lines.filter_map(|line| {
        let (name, rest) = line.split_once(" (")?;
        let description = rest.split(')').next()?;
        Some(RequestedOutput { name, description, file: description.strip_prefix("the file ") })
    });
    outputs.collect()
}

/// Returns the text of a task without the description of its workflow step.
pub fn task_only(task: &str) -> &str {
    let step = format!("\n\n{}", headings::STEP);
    task.split(step.as_str()).next().unwrap_or(task)
}

/// Whether a check passes. The first of several rounds never does, so that the loop is shown.
fn passes(task: &str) -> bool {
    let (before, after) = headings::ROUND;
    let first = format!("{before}1{after}");
    !task.contains(first.as_str()) || task.contains(format!("{first}1.").as_str())
}

/// Makes up a value for an output.
pub fn output_value(speaker: &mut Speaker, task: &str, output: &RequestedOutput<'_>) -> Value {
    if output.description.starts_with("yes or no") {
        return json!(passes(task));
    }
    let text = document(speaker, task_only(task), &[]);
    if !output.description.starts_with("a list") {
        return json!(text);
    }
    match key_sentences(speaker, &text) {
        points if points.is_empty() => json!([clause(task_only(task), MAX_QUOTED_WORDS)]),
        points => json!(points),
    }
}

/// Returns the outputs that were not given yet.
pub fn missing<'a>(history: &History, outputs: Vec<RequestedOutput<'a>>) -> Vec<RequestedOutput<'a>> {
    let is_given = |output: &RequestedOutput<'_>| match output.file {
        Some(file) => history.calls("vfs_write").any(|call| call.argument("path") == file),
        None => history.calls(GIVE_OUTPUT).any(|call| call.argument("name") == output.name),
    };
    outputs.into_iter().filter(|output| !is_given(output)).collect()
}

/// Returns the sentence that says that a task is done.
pub fn done_sentence(task: &str) -> String {
    fill(&at_work().given, &[("t", &quoted(task_only(task), MAX_QUOTED_WORDS))])
}

/// Returns a reply that ends in a block with the outputs, for an agent without the `give_output` tool.
pub fn outputs_block(speaker: &mut Speaker, task: &str, outputs: &[RequestedOutput<'_>]) -> String {
    let values: serde_json::Map<String, Value> =
        outputs.iter().map(|output| (output.name.to_owned(), output_value(speaker, task, output))).collect();
    // JSON is valid YAML.
    format!("{}\n\n```outputs\n{}\n```", done_sentence(task), Value::Object(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_outputs_are_parsed() {
        let task = "Plan it.\n\nThis is the step \"a\" of the workflow \"W\".\n\nOutputs of this step:\n- topics (a list, one entry per line): the parts\n- ok (yes or no)\n- paper (the file artifacts/a.md)\n- notes (a text)\nGive each of them by its name";
        let found: Vec<(&str, &str, Option<&str>)> =
            requested_outputs(task).iter().map(|output| (output.name, output.description, output.file)).collect();
        assert_eq!(
            found,
            [
                ("topics", "a list, one entry per line", None),
                ("ok", "yes or no", None),
                ("paper", "the file artifacts/a.md", Some("artifacts/a.md")),
                ("notes", "a text", None),
            ]
        );
        assert_eq!(task_only(task), "Plan it.");
        assert!(requested_outputs("Plan it.").is_empty());
    }

    #[test]
    fn the_first_of_several_rounds_never_passes() {
        for (task, expected) in [
            ("Check it.", true),
            ("Check it. It is repeated: round 1 of at most 3.", false),
            ("Check it. It is repeated: round 1 of at most 1.", true),
            ("Check it. It is repeated: round 2 of at most 3.", true),
        ] {
            assert_eq!(passes(task), expected, "{task}");
        }
    }
}
