//! The result of a task that was handed over, and what the agent that handed it over is told. Pure data.

use serde::{Deserialize, Serialize};

use crate::base::text;
use crate::mind::Ending;
use crate::tools::Terms;

/// How many characters of a task are repeated with its result.
const TASK_TOLD_CHARS: usize = 160;
/// The text between the name of the giver and a result.
const FROM: &str = "of a task that you handed over";

/// What a thread has to return to the agent that handed the task over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Handed {
    /// The task in short.
    pub task: String,
    /// How soon, in how many turns, in which form.
    pub terms: Terms,
    /// Turns of those pieces of work that are over.
    #[serde(default)]
    pub turns: u32,
    /// Whether its result was sent back once because it was not what was asked for.
    #[serde(default)]
    pub was_sent_back: bool,
}

/// The outcome of a task that was handed over, before its format is checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Given {
    /// Whether its agent concluded.
    pub is_done: bool,
    /// Its last words, or why it ended otherwise.
    pub text: String,
}

impl Handed {
    /// A task that is handed over on these terms.
    pub fn new(task: &str, terms: &Terms) -> Self {
        let terms = Terms { context: String::new(), ..terms.clone() };
        Self { task: text::truncate(&text::one_line(task), TASK_TOLD_CHARS), terms, turns: 0, was_sent_back: false }
    }

    /// The message to the one who handed it over, whether it is a result, and the result or the reason for its absence.
    pub(super) fn report_for(&self, given: &Given) -> (String, bool, String) {
        let expected = self.terms.expected.as_ref();
        let result = match (given.is_done, expected.map(|expected| expected.fit(&given.text))) {
            (false, _) => Err(given.text.clone()),
            (true, Some(Err(fault))) => Err(unfit(&fault)),
            (true, Some(Ok(result))) => Ok(result),
            (true, None) => Ok(given.text.clone()),
        };
        let task = &self.task;
        match result {
            Ok(result) => (format!("result {FROM} ({task:?}):\n{result}"), true, result),
            Err(why) => (format!("no result {FROM} ({task:?}): {why}"), false, why),
        }
    }
}

/// What is said of a result with this fault.
pub(super) fn unfit(fault: &str) -> String {
    format!("its result does not have the required format: {fault}")
}

/// The result of work that was handed over.
pub(super) fn given(ending: &Ending) -> Given {
    Given { is_done: matches!(ending, Ending::Completed { .. }), text: ending.words().to_owned() }
}
