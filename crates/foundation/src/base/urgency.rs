//! Urgency: one order for what wakes agents, for their queues and for access to models.

use serde::{Deserialize, Serialize};

/// The urgency of something that waits: smaller values go first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Working on a person's task, and everything that follows from it.
    Task,
    /// Reading what a person wants everyone to read: a rulebook, a message board.
    Rule,
    /// Reading mail.
    Mail,
    /// Speaking, when another agent wants to say or ask something.
    Talk,
    /// Reading changes, or summarising.
    #[default]
    Read,
    /// Exploring when there is nothing else to do.
    Seek,
    /// Small talk.
    Banter,
}

impl Urgency {
    /// Whether it takes precedence over everything that an agent only reads or says, and interrupts it on its way
    /// there.
    pub fn is_high(self) -> bool {
        self <= Self::Mail
    }

    /// Whether it may wait until there is nothing else to do.
    pub fn is_low(self) -> bool {
        self >= Self::Seek
    }
}
