//! A person's answer to an approval or a workflow step, given on the command line.

use crate::base::AllowScope;
use crate::workspace::answer_files::Answer;

/// A person's answer to an approval or a workflow step.
pub(super) struct Decision {
    /// Whether it is allowed.
    pub(super) allow: bool,
    /// How far a permission reaches.
    pub(super) scope: AllowScope,
    /// A comment for the agent.
    pub(super) because: Option<String>,
}

/// A suffix that marks an answer which the room has not applied yet; empty if there is no answer.
pub(super) fn pending_suffix(answer: Option<&Answer>) -> &'static str {
    match answer.map(|answer| answer.allow) {
        Some(true) => " (allowed, not applied yet)",
        Some(false) => " (refused, not applied yet)",
        None => "",
    }
}
