//! What was put back of rights, owners, times and attributes of guarded files, in words for a person.

use std::fmt;
use std::sync::Arc;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use crate::base::Problem;
use crate::schedule::Input;

/// The maximum number of files that one report names.
const MAX_NAMED: usize = 10;

/// A change of a guarded file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttributeChange {
    /// The path in the workspace.
    pub path: String,
    /// What was changed, in words.
    pub changed: String,
    /// Why it could not be put back, if that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Attributes of guarded files were changed while programs ran. An input.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttributesPutBack {
    /// The programs that may have done it, as a person knows them.
    pub programs: Vec<String>,
    /// The changes, up to a limit.
    pub changes: Vec<AttributeChange>,
    /// The number of further changes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
    /// The number of guarded files that are compared, if there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_only: Option<usize>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Input for AttributesPutBack {
    const KIND: &'static str = "attributes_put_back";
}

impl AttributesPutBack {
    /// Creates a report that names a limited number of files.
    pub(in crate::gateway) fn of(
        programs: Vec<String>,
        mut changes: Vec<AttributeChange>,
        compared_only: Option<usize>,
    ) -> Self {
        let more = changes.len().saturating_sub(MAX_NAMED);
        changes.truncate(MAX_NAMED);
        Self { programs, changes, more, compared_only }
    }

    /// Describes what happened, for a person.
    pub fn sentence(&self) -> String {
        let programs = self.programs.join(" or ");
        let of = |change: &&AttributeChange| format!("{} of {}", change.changed, change.path);
        let mut parts = Vec::new();
        let mut put_back: Vec<String> =
            self.changes.iter().filter(|change| change.failure.is_none()).map(|change| of(&change)).collect();
        if self.more > 0 {
            put_back.push(format!("those of {} more files", self.more));
        }
        if !put_back.is_empty() {
            let all = put_back.join("; ");
            parts.push(format!("changed while {programs} was running, and put back: {all}"));
        }
        for change in &self.changes {
            if let Some(failure) = &change.failure {
                let path = &change.path;
                parts.push(format!(
                    "what was changed of {path} while {programs} was running could not be put back: {failure}"
                ));
            }
        }
        if let Some(count) = self.compared_only {
            parts.push(format!("only {count} guarded files are compared beside {programs}; there are more"));
        }
        parts.join("; ")
    }

    /// The problem that is reported for the `number`th time.
    pub(in crate::gateway) fn problem(&self, number: u64) -> Problem {
        let again = if number > 1 { format!(" (report {number} since the room was opened)") } else { String::new() };
        let remedy = "if you did this yourself, do it again while no such program is running; otherwise, ask whoever \
                      made the program, or forbid it; bubblewrap or user namespaces would prevent it";
        Problem::warning("guarded files", format!("{}{again}", self.sentence()), remedy)
    }
}

/// Receives reports about guarded files. It may be called from any thread.
#[derive(Clone, Default)]
pub struct PutBackListener(Option<Arc<dyn Fn(AttributesPutBack) + Send + Sync>>);

impl fmt::Debug for PutBackListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PutBackListener").field(&self.0.is_some()).finish()
    }
}

impl PutBackListener {
    /// Passes reports on.
    pub fn new(listener: impl Fn(AttributesPutBack) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(in crate::gateway) fn tell(&self, report: AttributesPutBack) {
        // When the room is being closed, nobody may receive the report any more.
        tracing::warn!("{}", report.sentence());
        if let Some(listener) = &self.0 {
            listener(report);
        }
    }
}
