//! Names of things: an *id* is the word in a person's file, a *key* is the room's number for it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::text_normalization::skeleton;

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
    /// Names one question to a model, from the asking to its answer. Never given twice within a run.
    RequestId(u64)
}
key! {
    /// The place of a record in the event log; a record's `cause` is the [`Seq`] of an earlier one.
    Seq(u64)
}

/// The person, as an author.
pub const USER: &str = "user";
/// The author of versions that were made by no order: in an editor, by git, by another program.
pub const OUTSIDE: &str = "outside";
/// The author of versions that the room saved by itself: scenes and boards.
pub const ROOM: &str = "room";
/// The author of refusals that no person made.
pub const GATE: &str = "gate";
/// Ids that do not mean an agent, in the log, in files and in messages; no agent can have them.
pub const RESERVED_IDS: [&str; 7] = [USER, OUTSIDE, ROOM, GATE, "you", "person", "human"];

/// Whether an id is reserved, or looks like a reserved one.
pub fn is_reserved(id: &str) -> bool {
    RESERVED_IDS.contains(&skeleton(id.trim()).as_str())
}

/// The id by which an agent goes whose file asks for this one: itself, or another where it is [reserved](is_reserved).
pub fn free_id(id: Id) -> Id {
    if is_reserved(&id) { format!("{}-agent", id.trim()).into() } else { id }
}

/// Who did something: the person ([`Author::user`]), an agent by its id, or something outside the room.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Author(pub Id);

impl Author {
    /// The person at the keyboard, in the window or in an editor.
    pub fn user() -> Self {
        Self(USER.into())
    }

    /// The agent with this id.
    pub fn agent(id: &Id) -> Self {
        Self(id.clone())
    }

    /// Whether this is the person.
    pub fn is_user(&self) -> bool {
        &*self.0 == USER
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_something_else_is_no_agents_id_in_any_spelling() {
        for id in ["user", "User", " outside ", "ROOM", "us\u{435}r", "ｇate", "ro\u{f6}m"] {
            assert!(is_reserved(id), "{id:?}");
            assert!(!is_reserved(&free_id(id.into())), "{id:?}");
        }
        assert_eq!(&*free_id("room".into()), "room-agent");
        assert_eq!(&*free_id("roommate".into()), "roommate");
    }
}
