//! A file of memories that a person reads and edits: each memory is one line, and everything else is preserved byte for
//! byte. The format is line-based rather than parsed as Markdown, because a block that is never closed must be
//! reported, while a Markdown parser would silently close it.

mod escaping;
mod memory_line;
mod owner;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use memory_line::{MemoryLine, Parsed, parse, render, rendered_again};
pub use owner::{KNOWLEDGE_FOLDER, Owner, SHARED_FILE};

use super::memory::{MAX_CONTENT_BYTES, Memory, NormalizedMemory, derive_id, normalize};
use crate::base::{Id, Problem};
use crate::text::fence::Fence;

/// The maximum number of problems of one file; the others are counted.
const MAX_PROBLEMS: usize = 20;

/// A parsed file of `memory/knowledge/`. Writing it back gives the same bytes; a change only touches its own line.
#[derive(Clone, Debug)]
pub struct KnowledgeFile {
    owner: Owner,
    lines: Vec<FileLine>,
    /// The problems of the file.
    problems: Vec<Problem>,
}

#[derive(Clone, Debug)]
struct FileLine {
    /// The line, including its line break.
    raw: String,
    memory: Option<Box<MemoryLine>>,
}

/// Why a file could not be changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FileError {
    /// The file has no memory with this id.
    #[error("{place} has no memory {id}: list them with: workshop knowledge list")]
    Unknown {
        /// The path of the file.
        place: String,
        /// The id.
        id: Id,
    },
    /// The file already has a memory with this id.
    #[error("{place} already has a memory {id}: change that one")]
    Taken {
        /// The path of the file.
        place: String,
        /// The id.
        id: Id,
    },
    /// The content is empty.
    #[error("{place}: a memory needs text")]
    Empty {
        /// The path of the file.
        place: String,
    },
}

impl KnowledgeFile {
    /// Parses a text. `taken` contains the ids of other files: a line with one of them gets another id.
    pub fn parse(owner: Owner, text: &str, taken: &mut BTreeSet<Id>) -> Self {
        let template = owner.template();
        let mut file = Self { owner, lines: Vec::new(), problems: Vec::new() };
        let mut times_seen = BTreeMap::<u64, i64>::new();
        let (mut block, mut not_told) = (Block::None, 0);
        for raw in text.split_inclusive('\n') {
            let number = file.lines.len() + 1;
            let bare = without_end(raw);
            let mut found = None;
            let parsed = if block.takes(bare, number) { Parsed::Other } else { parse(bare, &template) };
            let problem = match parsed {
                Parsed::Other => None,
                Parsed::Broken(what, remedy) => Some((what, remedy)),
                Parsed::Memory(mut line) => {
                    let problem = file.named(&mut line, taken, &mut times_seen);
                    found = Some(line);
                    problem
                }
            };
            if let Some((what, remedy)) = problem {
                if file.problems.len() < MAX_PROBLEMS {
                    file.problems.push(Problem::warning(file.owner.place(), what, remedy).at_line(Some(number)));
                } else {
                    not_told += 1;
                }
            }
            file.lines.push(FileLine { raw: raw.to_owned(), memory: found });
        }
        if let Some((number, what, remedy)) = block.unclosed() {
            file.problems.push(Problem::warning(file.owner.place(), what, remedy).at_line(Some(number)));
        }
        if not_told > 0 {
            let what = format!("{not_told} more lines have problems");
            file.problems.push(Problem::warning(file.owner.place(), what, "fix those above first"));
        }
        file
    }

    /// Creates an empty file with a heading that explains the format.
    pub fn new(owner: Owner) -> Self {
        let heading = match &owner {
            Owner::Agent(agent) => format!("# What {agent} knows\n\n"),
            Owner::Shared => "# What everybody knows\n\n".to_owned(),
        };
        Self::parse(owner, &heading, &mut BTreeSet::new())
    }

    /// Gives a memory an id if its line has none, or one that is taken.
    fn named(
        &self,
        line: &mut MemoryLine,
        taken: &mut BTreeSet<Id>,
        times_seen: &mut BTreeMap<u64, i64>,
    ) -> Option<(String, &'static str)> {
        let memory = &mut line.memory;
        let is_double = !memory.id.is_empty() && taken.contains(&memory.id);
        let told = match (is_double, line.cut_from) {
            (true, _) => Some((
                format!("the id {} is used on two lines", memory.id),
                "delete one of the lines, or the part from <!-- to --> of one",
            )),
            (false, Some(bytes)) => Some((
                format!("the text has {bytes} bytes, but only the first {MAX_CONTENT_BYTES} are used"),
                "split it into several lines",
            )),
            (false, None) => None,
        };
        while memory.id.is_empty() || taken.contains(&memory.id) {
            let seen = times_seen.entry(memory.content_key()).or_insert(0);
            *seen += 1;
            memory.id = derive_id(&self.owner.place(), &memory.content, -*seen);
        }
        taken.insert(memory.id.clone());
        told
    }

    /// Returns the owner.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Returns the problems, in line order.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Iterates over the memories in line order, each with its line number from 1.
    pub fn memories(&self) -> impl Iterator<Item = (usize, &Memory)> {
        let numbered = self.lines.iter().enumerate();
        numbered.filter_map(|(index, line)| Some((index + 1, &line.memory.as_ref()?.memory)))
    }

    /// Returns the memory with this id; the newest ones are at the end.
    pub fn memory(&self, id: &str) -> Option<&Memory> {
        let memories = self.lines.iter().rev().filter_map(|line| line.memory.as_ref());
        memories.map(|line| &line.memory).find(|memory| *memory.id == *id)
    }

    fn index_of(&self, id: &str) -> Result<usize, FileError> {
        let is_it = |line: &FileLine| line.memory.as_ref().is_some_and(|line| *line.memory.id == *id);
        let found = self.lines.iter().position(is_it);
        found.ok_or_else(|| FileError::Unknown { place: self.owner.place(), id: id.into() })
    }

    /// Appends a memory as a new line. The caller must append the returned text to the file, whose existing text does
    /// not change.
    pub fn add(&mut self, memory: &Memory) -> Result<Added, FileError> {
        if self.index_of(&memory.id).is_ok() {
            return Err(FileError::Taken { place: self.owner.place(), id: memory.id.clone() });
        }
        let (memory, NormalizedMemory { cut_from, .. }) = self.tidied(memory)?;
        let end = if self.lines.first().is_some_and(|line| line.raw.ends_with("\r\n")) { "\r\n" } else { "\n" };
        let mut appended = String::new();
        if let Some(last) = self.lines.last_mut().filter(|last| !last.raw.ends_with('\n')) {
            last.raw.push_str(end);
            appended.push_str(end);
        }
        let raw = format!("{}{end}", render(&memory));
        appended.push_str(&raw);
        let Parsed::Memory(mut line) = parse(without_end(&raw), &self.owner.template()) else {
            return Err(FileError::Empty { place: self.owner.place() });
        };
        line.memory.id = memory.id.clone();
        self.lines.push(FileLine { raw, memory: Some(line) });
        Ok(Added { appended, cut_from })
    }

    /// Rewrites the line of a memory. Returns the original length of the content if it was shortened.
    pub fn update(&mut self, memory: &Memory) -> Result<Option<usize>, FileError> {
        let index = self.index_of(&memory.id)?;
        let (memory, NormalizedMemory { cut_from, .. }) = self.tidied(memory)?;
        let line = &mut self.lines[index];
        let Some(old) = line.memory.take() else { return Ok(None) };
        if old.memory == memory {
            line.memory = Some(old);
            return Ok(None);
        }
        let bare = without_end(&line.raw);
        let end = line.raw[bare.len()..].to_owned();
        line.raw = rendered_again(bare, &old, &memory) + &end;
        line.memory = match parse(without_end(&line.raw), &self.owner.template()) {
            Parsed::Memory(line) => Some(line),
            _ => Some(Box::new(MemoryLine { memory, ..*old })),
        };
        Ok(cut_from)
    }

    /// Removes the line of a memory.
    pub fn remove(&mut self, id: &str) -> Result<Memory, FileError> {
        let index = self.index_of(id)?;
        let unknown = || FileError::Unknown { place: self.owner.place(), id: id.into() };
        self.lines.remove(index).memory.map(|line| line.memory).ok_or_else(unknown)
    }

    /// Returns a memory in the form that it has in this file.
    fn tidied(&self, memory: &Memory) -> Result<(Memory, NormalizedMemory), FileError> {
        let tidied = normalize(&memory.content);
        if tidied.text.is_empty() {
            return Err(FileError::Empty { place: self.owner.place() });
        }
        let mut memory = Memory { content: tidied.text.clone(), shared: self.owner == Owner::Shared, ..memory.clone() };
        if let Owner::Agent(agent) = &self.owner {
            memory.agent = agent.clone();
        }
        Ok((memory, tidied))
    }
}

/// The result of adding a memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Added {
    /// The text to append to the file.
    pub appended: String,
    /// The original length of the content in bytes, if it was shortened.
    pub cut_from: Option<usize>,
}

impl fmt::Display for KnowledgeFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| out.write_str(&line.raw))
    }
}

fn without_end(raw: &str) -> &str {
    let bare = raw.strip_suffix('\n').unwrap_or(raw);
    bare.strip_suffix('\r').unwrap_or(bare)
}

/// A block whose lines are skipped: a code block, or a comment.
enum Block {
    None,
    Code { fence: Fence, since: usize },
    Comment { since: usize },
}

impl Block {
    /// Processes a line; returns whether it belongs to a block.
    fn takes(&mut self, line: &str, number: usize) -> bool {
        let line = line.trim_start_matches('\u{feff}').trim_start();
        match self {
            Self::None => {
                if let Some(fence) = Fence::opening(line) {
                    *self = Self::Code { fence, since: number };
                } else if line.starts_with("<!--") && !line.contains("-->") {
                    *self = Self::Comment { since: number };
                } else {
                    return false;
                }
            }
            Self::Code { fence, .. } if fence.is_closed_by(line) => *self = Self::None,
            Self::Comment { .. } if line.contains("-->") => *self = Self::None,
            _ => {}
        }
        true
    }

    /// Returns the line at which an unclosed block begins, the kind of block, and how to close it.
    fn unclosed(&self) -> Option<(usize, &'static str, &'static str)> {
        match self {
            Self::None => None,
            Self::Code { since, .. } => {
                Some((*since, "the code block that starts here is not closed", "close it with a line of ```"))
            }
            Self::Comment { since } => Some((
                *since,
                "the comment that starts here is not closed",
                "close it with \
                -->",
            )),
        }
    }
}
