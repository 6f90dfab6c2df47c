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
    /// A workflow begins.
    Start {
        /// Its file, its file's name, or its own.
        workflow: String,
        /// What it is asked about.
        #[serde(default)]
        variables: BTreeMap<String, String>,
    },
    /// A run that failed or was stopped continues with the remaining steps.
    Resume {
        /// Which.
        run: RunKey,
        /// How far it was, as its file says it; for a room that does not know it any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<String>,
    },
    /// A run ends; what is done of it is kept.
    Stop {
        /// Which.
        run: RunKey,
    },
    /// The file of a workflow changes.
    Edit {
        /// Which file.
        path: String,
        /// How.
        edit: WorkflowEdit,
    },
    /// A person answers a step that is theirs.
    Answer {
        /// Of which run.
        run: RunKey,
        /// Which step, by id.
        step: String,
        /// What.
        answer: PersonAnswer,
    },
}

impl Input for WorkflowCommand {
    const KIND: &'static str = "workflow";
}
