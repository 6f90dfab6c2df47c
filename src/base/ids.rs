//! Names of things: an *id* is the word that stands in a person's file, a *key* the room's number for it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The word by which a person's file names a thing: `researcher-1`, `rules`. Cheap to clone.
pub type Id = Arc<str>;

macro_rules! key {
    ($(#[$doc:meta])* $name:ident($number:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

key! {
    /// The room's number for an agent: counted up from 0 and never given twice within a room.
    AgentKey(u32)
}
key! {
    /// The room's number for an element: counted up from 0 and never given twice within a room.
    ElementKey(u32)
}
key! {
    /// The room's number for a conversation: counted up from 0 and never given twice within a room.
    ConversationKey(u32)
}
key! {
    /// A piece of work: the number of the record that says it was queued, so never given twice in a workspace.
    ActivationKey(u64)
}

impl ActivationKey {
    /// As it stands in logs and file names: `act-412`.
    pub fn id(self) -> Id {
        format!("act-{}", self.0).into()
    }
}

key! {
    /// Names one question to a model, from the asking to its answer. Never given twice within a run.
    RequestId(u64)
}
key! {
    /// The place of a record in the event log; a record's `cause` is the [`Seq`] of an earlier one.
    Seq(u64)
}

/// Who did something: the person ([`Author::user`]), an agent by its id, or something outside the room.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Author(pub Id);

impl Author {
    /// The person at the keyboard, in the window or in an editor.
    pub fn user() -> Self {
        Self("user".into())
    }

    /// The agent with this id.
    pub fn agent(id: &Id) -> Self {
        Self(id.clone())
    }

    /// Whether this is the person.
    pub fn is_user(&self) -> bool {
        &*self.0 == "user"
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
