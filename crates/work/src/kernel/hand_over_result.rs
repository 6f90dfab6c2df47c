//! The result of a delegated task, and the report to the agent that delegated it. Pure data.

use serde::{Deserialize, Serialize};

use crate::base::text;
use crate::mind::Ending;
use crate::tools::Terms;

/// The maximum number of task characters that are quoted with the result.
const TASK_QUOTED_CHARS: usize = 160;
/// The text between the agent's name and the result.
const FROM: &str = "of a task that you handed over";

/// The obligation of a thread to the agent that delegated the task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DelegatedTask {
    /// A short version of the task.
    pub task: String,
    /// The deadline, priority and format of the result.
    pub terms: Terms,
    /// The number of turns of the thread's ended activations.
    #[serde(default)]
    pub turns: u32,
    /// Whether the result was sent back once because of its format.
    #[serde(default)]
    pub was_sent_back: bool,
}

/// The outcome of a delegated task, before its format is checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DelegatedOutcome {
    /// Whether the agent concluded.
    pub is_done: bool,
    /// The final text, or the reason why there is none.
    pub text: String,
}

impl DelegatedTask {
    /// Creates the record of a task that is delegated on these terms.
    pub fn new(task: &str, terms: &Terms) -> Self {
        let terms = Terms { context: String::new(), ..terms.clone() };
        Self { task: text::truncate(&text::one_line(task), TASK_QUOTED_CHARS), terms, turns: 0, was_sent_back: false }
    }

    /// The message to the delegating agent, whether there is a result, and the result or the reason why there is none.
    pub(super) fn report_for(&self, given: &DelegatedOutcome) -> (String, bool, String) {
        let expected = self.terms.expected.as_ref();
        let result = match (given.is_done, expected.map(|expected| expected.fit(&given.text))) {
            (false, _) => Err(given.text.clone()),
            (true, Some(Err(fault))) => Err(invalid_format_message(&fault)),
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

/// The error message for a result with this fault.
pub(super) fn invalid_format_message(fault: &str) -> String {
    format!("its result does not have the required format: {fault}")
}

/// The outcome of delegated work.
pub(super) fn given(ending: &Ending) -> DelegatedOutcome {
    DelegatedOutcome { is_done: matches!(ending, Ending::Completed { .. }), text: ending.text().to_owned() }
}
