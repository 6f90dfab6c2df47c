//! What the graph asks of the records of the log: a few facts, each of which may be missing.

use std::borrow::Cow;

use serde::Deserialize;

use crate::view::book::EventRow;

/// What a record may say. Records that say it otherwise say nothing here.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Facts<'a> {
    /// Who did it.
    #[serde(borrow)]
    pub by: Option<Cow<'a, str>>,
    /// How deep an agent is.
    pub depth: Option<u32>,
    /// What an agent runs.
    #[serde(borrow)]
    pub profile: Option<Cow<'a, str>>,
    /// The agent that was started.
    #[serde(borrow)]
    pub child: Option<Cow<'a, str>>,
    /// A file.
    #[serde(borrow)]
    pub path: Option<Cow<'a, str>>,
    /// What a file was called before.
    #[serde(borrow)]
    pub from: Option<Cow<'a, str>>,
    /// On what a tool was called.
    #[serde(borrow)]
    pub target: Option<Cow<'a, str>>,
    /// The work whose agent told this.
    #[serde(borrow)]
    pub signal_of: Option<Cow<'a, str>>,
    /// Whether a tool did what it was to do.
    pub ok: Option<bool>,
    /// Whether a file is new.
    pub new: Option<bool>,
    /// Whether a file is gone.
    pub gone: Option<bool>,
    /// Tokens of a question.
    pub tokens_in: Option<u64>,
    /// Tokens of an answer.
    pub tokens_out: Option<u64>,
    /// Tokens of a whole piece of work.
    pub tokens: Option<u64>,
    /// Turns of a piece of work that is over.
    pub turns: Option<u64>,
}

impl<'a> Facts<'a> {
    /// What a record says.
    pub fn of(row: &'a EventRow) -> Self {
        serde_json::from_str(&row.data).unwrap_or_default()
    }
}
