//! A memory: its content, its source, and its relations to other memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::base::hash::content_hash;

/// The longest content of a memory, in bytes; longer content is cut, and the cut is marked.
pub const CONTENT_BYTES_AT_MOST: usize = 8 * 1024;
/// What every id of a memory begins with.
pub const ID_PREFIX: &str = "k-";
/// No id of a memory is longer, in bytes.
const ID_BYTES_AT_MOST: usize = 64;
/// How important a memory is of which nothing else is said.
pub const USUAL_IMPORTANCE: f32 = 0.5;
/// How strong an edge is of which nothing else is said.
pub const USUAL_WEIGHT: f32 = 1.0;
/// The last character of a content that was cut.
const CUT_MARK: char = '…';

/// The kind of a memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Something the agent can do.
    Skill,
    /// Something that is so.
    #[default]
    Fact,
    /// How something is done, step by step.
    Procedure,
    /// Something that was noticed.
    Observation,
    /// Something that went wrong, and what to do instead.
    Mistake,
    /// Something that a person or an agent prefers.
    Preference,
}

impl MemoryKind {
    /// All of them, in their order.
    pub const ALL: [Self; 6] =
        [Self::Skill, Self::Fact, Self::Procedure, Self::Observation, Self::Mistake, Self::Preference];

    /// The word for it in files and on the command line.
    pub fn word(self) -> &'static str {
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
        out.write_str(self.word())
    }
}

/// An unknown word where one of a fixed list is expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{word:?} is not one of: {known}")]
pub struct UnknownWord {
    word: String,
    known: String,
}

impl FromStr for MemoryKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        find(word, &Self::ALL, Self::word)
    }
}

/// How one memory relates to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Both are about the same.
    RelatesTo,
    /// This one speaks for that one.
    Supports,
    /// Not both are true.
    Contradicts,
    /// This one is newer and holds instead of that one.
    Supersedes,
    /// This one is a part of that one.
    PartOf,
    /// This one is caused by that one.
    CausedBy,
}

impl Relation {
    /// All of them, in their order.
    pub const ALL: [Self; 6] =
        [Self::RelatesTo, Self::Supports, Self::Contradicts, Self::Supersedes, Self::PartOf, Self::CausedBy];

    /// The word for it in files and on the command line.
    pub fn word(self) -> &'static str {
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
        find(word, &Self::ALL, Self::word)
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
    /// How they relate.
    pub relation: Relation,
    /// The id of the other one.
    pub target: Id,
    /// How strong it is, from 0 to 1.
    pub weight: f32,
}

/// The source of a memory.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Source {
    /// The run of the room.
    pub run: Option<Id>,
    /// The session or conversation in it.
    pub session: Option<Id>,
    /// The record of the event log.
    pub record: Option<u64>,
}

/// A memory: one line of a file in `memory/knowledge/`. Its recall count is not part of it, but kept in the index, so
/// that recalling writes no file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// Names it: begins with `k-`.
    pub id: Id,
    /// Whose it is; for a shared one, who contributed it.
    pub agent: Id,
    /// What is remembered, as [`tidy`] leaves it.
    pub content: String,
    /// What it is about.
    pub kind: MemoryKind,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// When it was first remembered, in seconds since 1970; unknown for lines that a person wrote.
    pub created: Option<i64>,
    /// When it was last changed.
    pub updated: Option<i64>,
    /// How much it matters, from 0 to 1, in hundredths.
    pub importance: f32,
    /// What it comes from.
    pub source: Source,
    /// Whether every agent may know it.
    pub shared: bool,
    /// Whether it is never forgotten and never rewritten by anybody but a person.
    pub pinned: bool,
    /// How it relates to others.
    pub edges: Vec<Edge>,
}

impl Memory {
    /// A memory with nothing but its content said, which is [tidied](tidy): a fact of usual importance.
    pub fn new(agent: &Id, content: &str, created: Option<i64>) -> Self {
        let content = tidy(content).text;
        Self {
            id: made_id(agent, &content, created.unwrap_or(-1)),
            agent: agent.clone(),
            content,
            kind: MemoryKind::default(),
            tags: Vec::new(),
            created,
            updated: None,
            importance: USUAL_IMPORTANCE,
            source: Source::default(),
            shared: false,
            pinned: false,
            edges: Vec::new(),
        }
    }

    /// When it was last changed or made, where known.
    pub fn dated(&self) -> Option<i64> {
        self.updated.or(self.created)
    }

    /// Whether an agent may know of it at all: its own, and what is shared.
    pub fn is_known_to(&self, agent: &str) -> bool {
        self.shared || *self.agent == *agent
    }

    /// The hash by which its content is recognised: the same text is embedded once.
    pub fn content_key(&self) -> u64 {
        content_hash(self.content.as_bytes())
    }
}

/// An id that follows from who remembers what since when, so that a run that is played again makes the same ones.
pub fn made_id(agent: &str, content: &str, salt: i64) -> Id {
    let text = format!("{agent}\0{content}\0{salt}");
    format!("{ID_PREFIX}{:016x}", content_hash(text.as_bytes())).into()
}

/// Whether a word may name a memory.
pub fn is_id(word: &str) -> bool {
    let rest = word.strip_prefix(ID_PREFIX);
    let is_part =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    word.len() <= ID_BYTES_AT_MOST && rest.is_some_and(is_part)
}

/// A number from 0 to 1 rounded to hundredths, as it is written in a file.
pub fn hundredths(value: f32) -> f32 {
    if value.is_finite() { (value.clamp(0.0, 1.0) * 100.0).round() / 100.0 } else { 0.0 }
}

/// The normalised content of a memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tidied {
    /// The text.
    pub text: String,
    /// How many bytes it had before it was cut, where it was.
    pub cut_from: Option<usize>,
}

/// A content without blanks around it, with one kind of line break, and cut to what is remembered of one.
pub fn tidy(content: &str) -> Tidied {
    let text =
        if content.contains('\r') { content.replace("\r\n", "\n").replace('\r', "\n") } else { content.to_owned() };
    let text = text.trim();
    if text.len() <= CONTENT_BYTES_AT_MOST {
        return Tidied { text: text.to_owned(), cut_from: None };
    }
    let end = text.floor_char_boundary(CONTENT_BYTES_AT_MOST - CUT_MARK.len_utf8());
    Tidied { text: format!("{}{CUT_MARK}", text[..end].trim_end()), cut_from: Some(text.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_cut_between_characters_and_says_so() {
        let long = "東".repeat(400_000);
        let tidied = tidy(&long);
        assert!(tidied.text.len() <= CONTENT_BYTES_AT_MOST && tidied.text.ends_with('…'));
        assert_eq!(tidied.cut_from, Some(1_200_000));
        assert_eq!(tidy(&tidied.text), Tidied { text: tidied.text.clone(), cut_from: None });
        assert_eq!(tidy(" a\r\nb\rc \n").text, "a\nb\nc");
    }

    #[test]
    fn an_id_follows_from_what_it_names() {
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
    fn words_are_read_as_they_are_written() {
        for kind in MemoryKind::ALL {
            assert_eq!(kind.word().parse(), Ok(kind));
        }
        for relation in Relation::ALL {
            assert_eq!(relation.word().parse(), Ok(relation));
        }
        let error = "fat".parse::<MemoryKind>().expect_err("it is none");
        assert_eq!(
            error.to_string(),
            "\"fat\" is not one of: skill, fact, procedure, observation, mistake, preference"
        );
    }
}
