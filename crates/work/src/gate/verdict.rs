//! Verdicts about an act.

use serde::{Deserialize, Serialize};

/// A verdict about an act, mildest first. If there are several, the strictest applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The act is allowed.
    Allow,
    /// The act needs a person's approval.
    Ask,
    /// The act is denied.
    Deny,
}
