//! The outputs of a workflow step: a text, a list of points, or yes or no.

use serde_json::{Value, json};

use super::artifacts::{gist, piece};
use super::data::at_work;
use super::draft::fill;
use super::history::History;
use super::speaker::{QUOTED_WORDS, Speaker};
use super::text::{clause, quoted};
use crate::mind::headings;

/// The tool with which outputs are given.
pub const GIVE_OUTPUT: &str = "give_output";

/// A requested output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked<'a> {
    /// Its name.
    pub name: &'a str,
    /// What kind of thing it is, in words.
    about: &'a str,
    /// The file that is to hold it.
    pub file: Option<&'a str>,
}

/// The outputs that a task asks for, in order.
pub fn asked(task: &str) -> Vec<Asked<'_>> {
    let Some((_, rest)) = task.split_once(headings::OUTPUTS) else { return Vec::new() };
    let lines = rest.trim_start().lines().map_while(|line| line.strip_prefix("- "));
    let asked = lines.filter_map(|line| {
        let (name, about) = line.split_once(" (")?;
        let about = about.split(')').next()?;
        Some(Asked { name, about, file: about.strip_prefix("the file ") })
    });
    asked.collect()
}

/// What is to be done, without what is said of the step that it is.
pub fn bare(task: &str) -> &str {
    task.split("\n\nThis is the step ").next().unwrap_or(task)
}

/// A value for an output.
pub fn value(speaker: &mut Speaker, task: &str, asked: &Asked<'_>) -> Value {
    if asked.about.starts_with("yes or no") {
        // What is looked at for the first time can be better.
        return json!(!task.contains("round 1 of at most ") || task.contains("round 1 of at most 1."));
    }
    let text = piece(speaker, bare(task), &[]);
    if !asked.about.starts_with("a list") {
        return json!(text);
    }
    match gist(speaker, &text) {
        points if points.is_empty() => json!([clause(bare(task), QUOTED_WORDS)]),
        points => json!(points),
    }
}

/// The outputs that were not given yet.
pub fn left<'a>(history: &History, asked: Vec<Asked<'a>>) -> Vec<Asked<'a>> {
    let is_given = |asked: &Asked<'_>| match asked.file {
        Some(file) => history.calls("vfs_write").any(|deed| deed.argument("path") == file),
        None => history.calls(GIVE_OUTPUT).any(|deed| deed.argument("name") == asked.name),
    };
    asked.into_iter().filter(|asked| !is_given(asked)).collect()
}

/// That a task is done.
pub fn is_done(task: &str) -> String {
    fill(&at_work().given, &[("t", &quoted(bare(task), QUOTED_WORDS))])
}

/// The outputs as a block at the end of words, for one who has no tool to give them with.
pub fn block(speaker: &mut Speaker, task: &str, asked: &[Asked<'_>]) -> String {
    let given: serde_json::Map<String, Value> =
        asked.iter().map(|asked| (asked.name.to_owned(), value(speaker, task, asked))).collect();
    // A JSON text is a YAML text.
    format!("{}\n\n```outputs\n{}\n```", is_done(task), Value::Object(given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outputs_that_a_task_asks_for_are_found() {
        let task = "Plan it.\n\nThis is the step \"a\" of the workflow \"W\".\n\nOutputs of this step:\n- topics (a list, one entry per line): the parts\n- ok (yes or no)\n- paper (the file artifacts/a.md)\n- notes (a text)\nGive each of them by its name";
        let found: Vec<(&str, &str, Option<&str>)> =
            asked(task).iter().map(|asked| (asked.name, asked.about, asked.file)).collect();
        assert_eq!(
            found,
            [
                ("topics", "a list, one entry per line", None),
                ("ok", "yes or no", None),
                ("paper", "the file artifacts/a.md", Some("artifacts/a.md")),
                ("notes", "a text", None),
            ]
        );
        assert_eq!(bare(task), "Plan it.");
        assert!(asked("Plan it.").is_empty());
    }
}
