//! Identifiers: an *id* is the name in a person's file, a *key* is the room's number.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::text_normalization::skeleton;

/// The name of an agent, element and so on in a person's file, such as `researcher-1` or `rules`. Cheap to clone.
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
    /// The room's number of an agent, counted from 0 and never reused within a room.
    AgentKey(u32)
}
key! {
    /// The room's number of an element, counted from 0 and never reused within a room.
    ElementKey(u32)
}
key! {
    /// The room's number of a conversation, counted from 0 and never reused within a room.
    ConversationKey(u32)
}
key! {
    /// The number of a request to a model, never reused within a run.
    RequestId(u64)
}
key! {
    /// The number of a record in the event log; a record's `cause` is the [`Seq`] of an earlier one.
    Seq(u64)
}

/// The person, as an author.
pub const USER: &str = "user";
/// The author of versions without an order: made in an editor, by git, or by another program.
pub const OUTSIDE: &str = "outside";
/// The author of versions that the room saved by itself: scenes and boards.
pub const ROOM: &str = "room";
/// The author of refusals that no person made.
pub const GATE: &str = "gate";
/// The author of decisions that the option `--on-ask` of a command makes, without a person.
pub const ON_ASK: &str = "--on-ask";
/// Ids that do not stand for an agent in the log, in files and in messages; no agent can have them.
pub const RESERVED_IDS: [&str; 8] = [USER, OUTSIDE, ROOM, GATE, ON_ASK, "you", "person", "human"];

/// Whether an id is reserved, or looks like a reserved one.
pub fn is_reserved(id: &str) -> bool {
    RESERVED_IDS.contains(&skeleton(id.trim()).as_str())
}

/// Returns the id of an agent whose file specifies this one: the same, or another if it is [reserved](is_reserved).
pub fn free_id(id: Id) -> Id {
    if is_reserved(&id) {
        // No agent is called `user`, `outside`, `room`, `gate`, `you`, `person` or `human`, in any spelling.
        rule!("reserved-ids-are-no-agents");
        return format!("{}-agent", id.trim()).into();
    }
    id
}

/// The author of something: the person ([`Author::user`]), an agent by its id, or something outside of the room.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Author(pub Id);

impl Author {
    /// Returns the person, in the window or in an editor.
    pub fn user() -> Self {
        Self(USER.into())
    }

    /// Returns the agent with this id.
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
    fn reserved_ids_are_no_agents_in_any_spelling() {
        checks_rule!("reserved-ids-are-no-agents");
        for id in ["user", "User", " outside ", "ROOM", "us\u{435}r", "ｇate", "ro\u{f6}m"] {
            assert!(is_reserved(id), "{id:?}");
            assert!(!is_reserved(&free_id(id.into())), "{id:?}");
        }
        assert_eq!(&*free_id("room".into()), "room-agent");
        assert_eq!(&*free_id("roommate".into()), "roommate");
    }
}
