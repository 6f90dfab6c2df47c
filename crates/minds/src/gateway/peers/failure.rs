//! Why a defined program or server cannot be started or reached here.

/// A missing program or variable, or a folder that cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct SetupFailure {
    /// The description, as one sentence without a full stop.
    pub what: String,
    /// What to do about it; empty if nothing can be done.
    pub remedy: String,
}

impl SetupFailure {
    pub(super) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}
