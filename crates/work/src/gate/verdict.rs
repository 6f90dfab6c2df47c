//! What may be said of something that somebody wants to do.

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
