//! The result of answering an approval on the command line.

use crate::base::AllowScope;
use crate::workspace::answer_files::Answer;

/// A person's answer.
pub(super) struct Said {
    /// Whether it may happen.
    pub(super) allow: bool,
    /// For how long.
    pub(super) scope: AllowScope,
    /// A message to the agent.
    pub(super) because: Option<String>,
}

/// The message about an answer that the room has not read yet.
pub(super) fn not_taken_in(answer: Option<&Answer>) -> &'static str {
    match answer.map(|answer| answer.allow) {
        Some(true) => " (allowed, not applied yet)",
        Some(false) => " (refused, not applied yet)",
        None => "",
    }
}
