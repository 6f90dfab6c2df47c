//! The id of a workflow run: `wf-7-3kq9x2mf` is the seventh of its room, started in the run with that tag.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::{Id, RunTag};

/// The permanent id of a workflow run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunKey {
    number: u64,
    room: RunTag,
}

impl RunKey {
    /// Creates the key of the run with this number, started in the run of the room with this tag.
    pub fn new(number: u64, room: RunTag) -> Self {
        Self { number, room }
    }

    /// The number of the run in its room, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// The id in logs and files.
    pub fn id(self) -> Id {
        self.to_string().into()
    }

    /// Parses an id written by [`Self::id`].
    pub fn parse(text: &str) -> Option<Self> {
        let (number, room) = text.strip_prefix("wf-")?.split_once('-')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number)?;
        Some(Self { number, room: RunTag::parse(room)? })
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wf-{}-{}", self.number, self.room)
    }
}

impl From<RunKey> for String {
    fn from(key: RunKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for RunKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is not a workflow run such as wf-7-3kq9x2mf"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_keys_round_trip_and_other_texts_are_refused() {
        let key = RunKey::new(7, RunTag::of("r-1"));
        assert_eq!(RunKey::parse(&key.id()), Some(key));
        let json = serde_json::to_string(&key).expect("it can be written");
        assert_eq!(serde_json::from_str::<RunKey>(&json).ok(), Some(key));
        for odd in ["", "wf-7", "wf-7-", "wf-+7-3kq9x2mf", "wf--3kq9x2mf", "act-7-3kq9x2mf"] {
            assert_eq!(RunKey::parse(odd), None, "{odd}");
        }
    }
}
