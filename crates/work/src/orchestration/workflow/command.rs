//! A person's commands about workflows. Inputs.

use std::collections::BTreeMap;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use super::answer::PersonAnswer;
use super::edit::WorkflowEdit;
use super::run_key::RunKey;
use crate::schedule::Input;

/// A person's command about workflows.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum WorkflowCommand {
    /// Starts a workflow.
    Start {
        /// Its path, file name or name.
        workflow: String,
        /// The values of its variables.
        #[serde(default)]
        variables: BTreeMap<String, String>,
    },
    /// Resumes a failed or stopped run with its remaining steps.
    Resume {
        /// The run.
        run: RunKey,
        /// The progress from its file, if the room no longer knows the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
    /// Stops a run; the results of finished steps are kept.
    Stop {
        /// The run.
        run: RunKey,
    },
    /// Changes the file of a workflow.
    Edit {
        /// The path of the file.
        path: String,
        /// The change.
        edit: WorkflowEdit,
    },
    /// Answers a step that waits for a person.
    Answer {
        /// The run.
        run: RunKey,
        /// The id of the step.
        step: String,
        /// The answer.
        answer: PersonAnswer,
    },
}

impl Input for WorkflowCommand {
    const KIND: &'static str = "workflow";
}
