//! Ids of things created while a room runs. Each contains the run in which it was created, so that two runs that start
//! from the same room and do the same never create the same id.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::hash::content_hash;
use super::ids::Id;

/// The alphabet of run tags: Crockford's base 32, without letters that look like digits.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The number of characters of a run tag, of 5 bits each.
const TAG_CHARS: u32 = 8;

/// The short id of a run: 40 bits of the hash of its name, written as eight letters and digits. It is zero in ids
/// created by older versions, which do not contain their run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct RunTag(u64);

impl RunTag {
    /// Returns the tag of the run with this name.
    pub fn of(run: &str) -> Self {
        // Zero stands for no run.
        Self((content_hash(run.as_bytes()) & ((1 << (5 * TAG_CHARS)) - 1)).max(1))
    }

    /// Whether it stands for no run.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte| DIGITS.iter().position(|digit| *digit == byte);
        let push = |tag: u64, byte| Some(tag << 5 | u64::try_from(digit(byte)?).ok()?);
        let tag = text.bytes().try_fold(0, push).filter(|_| text.len() == TAG_CHARS as usize)?;
        (tag != 0).then_some(Self(tag))
    }
}

impl fmt::Display for RunTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |place: u32| char::from(DIGITS[(self.0 >> (5 * place) & 31) as usize]);
        (0..TAG_CHARS).rev().try_for_each(|place| fmt::Write::write_char(f, digit(place)))
    }
}

/// The id of an activation: `act-7-3kq9x2mf` is the seventh of its room, created in the run with that tag. Ids of one
/// room are sorted by creation. Older versions named activations by the number of their record alone: `act-412`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ActivationKey {
    number: u64,
    run: RunTag,
}

impl ActivationKey {
    /// Creates the id with this number, in the run with this tag.
    pub fn new(number: u64, run: RunTag) -> Self {
        Self { number, run }
    }

    /// Creates an id of an older version, which only has a number.
    pub const fn numbered(number: u64) -> Self {
        Self { number, run: RunTag(0) }
    }

    /// Returns the number, counted from 1 in its room.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Returns the run in which it was created.
    pub fn run(self) -> RunTag {
        self.run
    }

    /// Returns the id as in logs and file names: `act-7-3kq9x2mf`.
    pub fn id(self) -> Id {
        self.to_string().into()
    }

    /// Parses the output of [`Self::id`], of this version or an older one.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("act-")?;
        let (number, run) = match text.split_once('-') {
            Some((number, run)) => (number, RunTag::parse(run)?),
            None => (text, RunTag::default()),
        };
        Some(Self { number: parse_number(number)?, run })
    }
}

/// The id of a message: a mail, or one utterance. `msg-7-3kq9x2mf` is the seventh of its room, created in the run with
/// that tag; the copy that its sender keeps has the same id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageKey {
    number: u64,
    run: RunTag,
}

impl MessageKey {
    /// Creates the id with this number, in the run with this tag.
    pub fn new(number: u64, run: RunTag) -> Self {
        Self { number, run }
    }

    /// Returns the id as in logs and files: `msg-7-3kq9x2mf`.
    pub fn id(self) -> Id {
        self.to_string().into()
    }

    /// Parses the output of [`Self::id`].
    pub fn parse(text: &str) -> Option<Self> {
        let (number, run) = text.strip_prefix("msg-")?.split_once('-')?;
        Some(Self { number: parse_number(number)?, run: RunTag::parse(run)? })
    }
}

impl fmt::Display for MessageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "msg-{}-{}", self.number, self.run)
    }
}

impl From<MessageKey> for String {
    fn from(key: MessageKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for MessageKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is not a message id such as msg-7-3kq9x2mf"))
    }
}

/// Parses a number that consists of digits only, without sign and spaces.
fn parse_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

impl fmt::Display for ActivationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "act-{}", self.number)?;
        if self.run.is_none() { Ok(()) } else { write!(f, "-{}", self.run) }
    }
}

impl Serialize for ActivationKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.run.is_none() { serializer.serialize_u64(self.number) } else { serializer.collect_str(self) }
    }
}

impl<'de> Deserialize<'de> for ActivationKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

/// Deserialises an id, or the bare number of an older version, which is a text as the key of a map.
struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = ActivationKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a piece of work, such as act-7-3kq9x2mf")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<ActivationKey, E> {
        Ok(ActivationKey::numbered(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<ActivationKey, E> {
        let number = u64::try_from(number);
        number.map(ActivationKey::numbered).map_err(|_| E::invalid_value(de::Unexpected::Other("below 0"), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ActivationKey, E> {
        let key = ActivationKey::parse(text).or_else(|| text.parse().ok().map(ActivationKey::numbered));
        key.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn only_valid_activation_ids_are_parsed() {
        let key = ActivationKey::new(7, RunTag::of("r-20261122-181922-1a2b"));
        assert_eq!(ActivationKey::parse(&key.id()), Some(key));
        assert_eq!(key.id().len(), "act-7-".len() + TAG_CHARS as usize);
        assert_eq!(ActivationKey::parse("act-412"), Some(ActivationKey::numbered(412)));
        assert_eq!(&*ActivationKey::numbered(412).id(), "act-412");
        for odd in ["", "act-", "act-x", "act-+7", "act-7-", "act-7-abc", "act-7-00000000", "act-7-ABCDEFGH", "7"] {
            assert_eq!(ActivationKey::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_message_id_contains_its_run_and_round_trips() {
        let key = MessageKey::new(7, RunTag::of("r-1"));
        assert_eq!(MessageKey::parse(&key.id()), Some(key));
        let json = serde_json::to_string(&key).expect("it can be written");
        assert_eq!(json, format!("\"{key}\""));
        assert_eq!(serde_json::from_str::<MessageKey>(&json).ok(), Some(key));
        for odd in ["", "msg-7", "msg-7-", "msg-+7-3kq9x2mf", "msg--3kq9x2mf", "act-7-3kq9x2mf", "m7"] {
            assert_eq!(MessageKey::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn saved_ids_of_this_and_older_versions_are_parsed() {
        let key = ActivationKey::new(7, RunTag::of("r-1"));
        let saved = BTreeMap::from([(ActivationKey::numbered(3), "old"), (key, "new")]);
        let json = serde_json::to_string(&saved).expect("it can be written");
        assert_eq!(json, format!("{{\"3\":\"old\",\"{key}\":\"new\"}}"));
        let read: BTreeMap<ActivationKey, String> = serde_json::from_str(&json).expect("it can be read");
        assert_eq!(read.into_keys().collect::<Vec<_>>(), [ActivationKey::numbered(3), key]);
        assert_eq!(serde_json::from_str::<ActivationKey>("12").ok(), Some(ActivationKey::numbered(12)));
        for odd in ["-1", "\"act\"", "null", "[]"] {
            assert!(serde_json::from_str::<ActivationKey>(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn runs_have_different_tags_and_ids_are_sorted_by_creation() {
        let tags: BTreeSet<RunTag> = (0..100_000).map(|run| RunTag::of(&format!("r-{run}"))).collect();
        assert!(tags.len() == 100_000 && tags.iter().all(|tag| RunTag::parse(&tag.to_string()) == Some(*tag)));
        let key = |number, run| ActivationKey::new(number, RunTag::of(run));
        let ordered: Vec<u64> =
            BTreeSet::from([key(10, "a"), key(2, "b"), key(9, "a")]).iter().map(|k| k.number()).collect();
        assert_eq!(ordered, [2, 9, 10]);
    }
}
