//! A memory: its content, its source, and its relations to other memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::base::hash::content_hash;

/// The maximum length of a memory in bytes; a longer one is shortened, which is marked.
pub const MAX_CONTENT_BYTES: usize = 8 * 1024;
/// The prefix of every memory id.
pub const ID_PREFIX: &str = "k-";
/// The maximum length of a memory id in bytes.
const MAX_ID_BYTES: usize = 64;
/// The default importance.
pub const DEFAULT_IMPORTANCE: f32 = 0.5;
/// The default weight of an edge.
pub const DEFAULT_WEIGHT: f32 = 1.0;
/// The last character of a content that was shortened.
const CUT_MARK: char = '…';

/// The kind of a memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// An ability of the agent.
    Skill,
    /// A fact.
    #[default]
    Fact,
    /// A procedure, step by step.
    Procedure,
    /// An observation.
    Observation,
    /// A mistake, and what to do instead.
    Mistake,
    /// A preference of a person or an agent.
    Preference,
}

impl MemoryKind {
    /// All kinds, in order.
    pub const ALL: [Self; 6] =
        [Self::Skill, Self::Fact, Self::Procedure, Self::Observation, Self::Mistake, Self::Preference];

    /// Returns its name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Fact => "fact",
            Self::Procedure => "procedure",
            Self::Observation => "observation",
            Self::Mistake => "mistake",
            Self::Preference => "preference",
        }
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The error for an unknown word where one of a fixed list is expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{word:?} is not one of: {known}")]
pub struct UnknownWord {
    word: String,
    known: String,
}

impl FromStr for MemoryKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        find(word, &Self::ALL, Self::as_str)
    }
}

/// How one memory relates to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Both are about the same topic.
    RelatesTo,
    /// This one supports the other.
    Supports,
    /// Both cannot be true.
    Contradicts,
    /// This one is newer and replaces the other.
    Supersedes,
    /// This one is a part of the other.
    PartOf,
    /// This one is caused by the other.
    CausedBy,
}

impl Relation {
    /// All relations, in order.
    pub const ALL: [Self; 6] =
        [Self::RelatesTo, Self::Supports, Self::Contradicts, Self::Supersedes, Self::PartOf, Self::CausedBy];

    /// Returns its name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RelatesTo => "relates_to",
            Self::Supports => "supports",
            Self::Contradicts => "contradicts",
            Self::Supersedes => "supersedes",
            Self::PartOf => "part_of",
            Self::CausedBy => "caused_by",
        }
    }
}

impl FromStr for Relation {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        find(word, &Self::ALL, Self::as_str)
    }
}

fn find<T: Copy>(word: &str, all: &[T], word_of: fn(T) -> &'static str) -> Result<T, UnknownWord> {
    let known = || all.iter().map(|one| word_of(*one)).collect::<Vec<_>>().join(", ");
    let found = all.iter().copied().find(|one| word_of(*one) == word);
    found.ok_or_else(|| UnknownWord { word: word.to_owned(), known: known() })
}

/// A relation of a memory to another one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// The kind of relation.
    pub relation: Relation,
    /// The id of the other memory.
    pub target: Id,
    /// The weight, from 0 to 1.
    pub weight: f32,
}

/// The source of a memory.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Source {
    /// The run of the room.
    pub run: Option<Id>,
    /// The session or conversation of that run.
    pub session: Option<Id>,
    /// The record of the event log.
    pub record: Option<u64>,
}

/// A memory: one line of a file in `memory/knowledge/`. Its recall count is stored separately, so that recalling writes
/// no file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// The id, which begins with `k-`.
    pub id: Id,
    /// The agent that owns it; for a shared one, the agent that contributed it.
    pub agent: Id,
    /// The text, normalised by [`normalize`].
    pub content: String,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// Tags for finding it.
    pub tags: Vec<String>,
    /// When it was created, in seconds since 1970; `None` for lines that a person wrote.
    pub created: Option<i64>,
    /// When it was last changed, in seconds since 1970.
    pub updated: Option<i64>,
    /// The importance, from 0 to 1, in hundredths.
    pub importance: f32,
    /// The source.
    pub source: Source,
    /// Whether it is shared with all agents.
    pub shared: bool,
    /// Whether it is never forgotten, and only a person changes it.
    pub pinned: bool,
    /// The relations to other memories.
    pub edges: Vec<Edge>,
}

impl Memory {
    /// Creates a fact of default importance; the content is [normalised](normalize).
    pub fn new(agent: &Id, content: &str, created: Option<i64>) -> Self {
        let content = normalize(content).text;
        Self {
            id: derive_id(agent, &content, created.unwrap_or(-1)),
            agent: agent.clone(),
            content,
            kind: MemoryKind::default(),
            tags: Vec::new(),
            created,
            updated: None,
            importance: DEFAULT_IMPORTANCE,
            source: Source::default(),
            shared: false,
            pinned: false,
            edges: Vec::new(),
        }
    }

    /// Returns when it was last changed or created, if known.
    pub fn dated(&self) -> Option<i64> {
        self.updated.or(self.created)
    }

    /// Whether an agent can see it: its own memories, and shared ones.
    pub fn is_known_to(&self, agent: &str) -> bool {
        self.shared || *self.agent == *agent
    }

    /// Returns the hash of its content, by which a text is embedded only once.
    pub fn content_key(&self) -> u64 {
        content_hash(self.content.as_bytes())
    }
}

/// Returns an id that follows from the agent, the content and the time, so that a replay creates the same ids.
pub fn derive_id(agent: &str, content: &str, salt: i64) -> Id {
    let text = format!("{agent}\0{content}\0{salt}");
    format!("{ID_PREFIX}{:016x}", content_hash(text.as_bytes())).into()
}

/// Whether a word is a valid memory id.
pub fn is_id(word: &str) -> bool {
    let rest = word.strip_prefix(ID_PREFIX);
    let is_part =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    word.len() <= MAX_ID_BYTES && rest.is_some_and(is_part)
}

/// Rounds a number from 0 to 1 to hundredths, as it is written in a file.
pub fn hundredths(value: f32) -> f32 {
    if value.is_finite() { (value.clamp(0.0, 1.0) * 100.0).round() / 100.0 } else { 0.0 }
}

/// The normalised content of a memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NormalizedMemory {
    /// The text.
    pub text: String,
    /// The original length in bytes, if it was shortened.
    pub cut_from: Option<usize>,
}

/// Normalises a content: trims it, unifies its line breaks, and shortens it to the maximum length.
pub fn normalize(content: &str) -> NormalizedMemory {
    let text =
        if content.contains('\r') { content.replace("\r\n", "\n").replace('\r', "\n") } else { content.to_owned() };
    let text = text.trim();
    if text.len() <= MAX_CONTENT_BYTES {
        return NormalizedMemory { text: text.to_owned(), cut_from: None };
    }
    let end = text.floor_char_boundary(MAX_CONTENT_BYTES - CUT_MARK.len_utf8());
    NormalizedMemory { text: format!("{}{CUT_MARK}", text[..end].trim_end()), cut_from: Some(text.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_shortened_between_characters_and_marked() {
        let long = "東".repeat(400_000);
        let tidied = normalize(&long);
        assert!(tidied.text.len() <= MAX_CONTENT_BYTES && tidied.text.ends_with('…'));
        assert_eq!(tidied.cut_from, Some(1_200_000));
        assert_eq!(normalize(&tidied.text), NormalizedMemory { text: tidied.text.clone(), cut_from: None });
        assert_eq!(normalize(" a\r\nb\rc \n").text, "a\nb\nc");
    }

    #[test]
    fn an_id_follows_from_the_memory() {
        let ada: Id = "ada".into();
        let one = Memory::new(&ada, "Port 8080 is taken.", Some(5));
        assert_eq!(one.id, Memory::new(&ada, " Port 8080 is taken.\n", Some(5)).id);
        assert_ne!(one.id, Memory::new(&ada, "Port 8080 is taken.", Some(6)).id);
        assert_ne!(one.id, Memory::new(&"bob".into(), "Port 8080 is taken.", Some(5)).id);
        assert!(is_id(&one.id));
        for odd in ["", "k-", "a-1", "k-a b", "k-a>", &format!("k-{}", "a".repeat(80))] {
            assert!(!is_id(odd), "{odd:?}");
        }
    }

    #[test]
    fn names_of_kinds_and_relations_round_trip() {
        for kind in MemoryKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        for relation in Relation::ALL {
            assert_eq!(relation.as_str().parse(), Ok(relation));
        }
        let error = "fat".parse::<MemoryKind>().expect_err("it is none");
        assert_eq!(
            error.to_string(),
            "\"fat\" is not one of: skill, fact, procedure, observation, mistake, preference"
        );
    }
}
