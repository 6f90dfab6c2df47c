//! A person's answer to a step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A person's answer to a step.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PersonAnswer {
    /// Whether it is approved, if the step asks for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// A comment.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// The fields of a form.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

impl PersonAnswer {
    /// An approval or refusal with a comment.
    pub fn approval(approved: bool, comment: &str) -> Self {
        Self { approved: Some(approved), comment: comment.to_owned(), fields: BTreeMap::new() }
    }
}
