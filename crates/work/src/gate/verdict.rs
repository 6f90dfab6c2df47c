//! The possible verdicts about an act.

use serde::{Deserialize, Serialize};

/// What is said of an act, mildest first; of several the strictest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may happen.
    Allow,
    /// A person is asked first.
    Ask,
    /// It may not happen.
    Deny,
}
