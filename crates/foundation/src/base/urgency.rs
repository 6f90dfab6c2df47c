//! Urgency: one order for what wakes agents, for their queues and for access to models.

use serde::{Deserialize, Serialize};

/// The urgency of something that waits: smaller values go first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// For work: a person's task, and what it set going.
    Task,
    /// To read what a person wants read by everyone: a rulebook, a message board.
    Rule,
    /// To read its mail.
    Mail,
    /// To speak when another party wants to say or ask something.
    Talk,
    /// To read what changed, or to sum up.
    #[default]
    Read,
    /// To look at something for want of anything else.
    Seek,
    /// To chat.
    Banter,
}

impl Urgency {
    /// Whether it goes before everything that an agent only reads or tells, and stops it on its way there.
    pub fn is_high(self) -> bool {
        self <= Self::Mail
    }

    /// Whether it may wait until there is nothing else.
    pub fn is_low(self) -> bool {
        self >= Self::Seek
    }
}
