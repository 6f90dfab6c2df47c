//! The memories of all agents: parsed again whenever a memory file changes, and searchable. Everything that shows
//! memories uses this, so that all panes agree.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::file_texts::FileTexts;
use crate::base::Id;
use crate::base::hash::content_hash;
use crate::knowledge::file::KNOWLEDGE_FOLDER;
use crate::knowledge::{Edge, KnowledgeFile, Memory, Owner, Relation};
use crate::learning::MemorySearch;

/// The memories that were read, and the search for them.
#[derive(Clone, Debug, Default)]
pub struct Memories {
    /// In a cell, because read-only code updates it after files were read.
    known: RefCell<Arc<KnownMemories>>,
    /// Searches memories as agents are reminded of them; absent if the room has none.
    pub search: Option<MemorySearch>,
}

/// The memories of all memory files.
#[derive(Clone, Debug, Default)]
pub struct KnownMemories {
    /// The text of each memory file, by owner.
    pub texts: BTreeMap<Owner, Arc<str>>,
    /// All memories, newest first.
    pub memories: Vec<MemoryRow>,
    /// The problems found in the files, as messages.
    pub problems: Vec<String>,
    /// A hash of all texts.
    pub version: u64,
    /// Whether every file was read.
    pub is_whole: bool,
}

/// A memory and its position.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryRow {
    /// The memory.
    pub memory: Memory,
    /// The owner of the file.
    pub owner: Owner,
    /// The line in the file, counted from 1.
    pub line: usize,
}

impl Memories {
    /// Returns the memories of the files read so far.
    pub fn known(&self, files: &FileTexts) -> Arc<KnownMemories> {
        let listed = files.files();
        // Files are sorted by path, so only this range is visited.
        let first = listed.partition_point(|file| file.path.as_str() < KNOWLEDGE_FOLDER);
        let of_folder = listed[first..].iter().take_while(|file| file.path.starts_with(KNOWLEDGE_FOLDER));
        let owners = of_folder.filter(|file| file.is_there).filter_map(|file| Owner::by_place(&file.path));
        let (mut read, mut version, mut is_whole) = (Vec::new(), 0, files.files.is_some());
        for owner in owners {
            let place = owner.place();
            match files.text(&place) {
                Some(Ok(Some(text))) => {
                    version = next_version(version, &place, text.hash);
                    read.push((owner, text.text.clone()));
                }
                // The editor reports a file that cannot be read.
                Some(_) => {}
                None => is_whole = false,
            }
        }
        let mut known = self.known.borrow_mut();
        if is_whole != known.is_whole || (is_whole && version != known.version) {
            *known = Arc::new(match is_whole {
                true => KnownMemories::of(read),
                false => KnownMemories { is_whole, ..(**known).clone() },
            });
        }
        known.clone()
    }
}

fn next_version(version: u64, place: &str, hash: u64) -> u64 {
    content_hash(format!("{version}\0{place}\0{hash}").as_bytes())
}

impl KnownMemories {
    /// Parses these texts, in order of their owners.
    pub fn of(texts: impl IntoIterator<Item = (Owner, Arc<str>)>) -> Self {
        let (mut taken, mut known) = (BTreeSet::new(), Self { is_whole: true, ..Self::default() });
        known.texts = texts.into_iter().collect();
        for (owner, text) in &known.texts {
            let file = KnowledgeFile::parse(owner.clone(), text, &mut taken);
            known.problems.extend(file.problems().iter().map(ToString::to_string));
            let row =
                |(line, memory): (usize, &Memory)| MemoryRow { memory: memory.clone(), owner: owner.clone(), line };
            known.memories.extend(file.memories().map(row));
        }
        let in_order_of_paths: BTreeMap<String, &Arc<str>> =
            known.texts.iter().map(|(owner, text)| (owner.place(), text)).collect();
        for (place, text) in in_order_of_paths {
            known.version = next_version(known.version, &place, content_hash(text.as_bytes()));
        }
        // Newest first; memories without a date were written by a person and keep the order of their file.
        known.memories.sort_by_key(|row| std::cmp::Reverse(row.memory.dated()));
        known
    }

    /// Returns the memory with this id.
    pub fn find(&self, id: &str) -> Option<&MemoryRow> {
        self.memories.iter().find(|row| *row.memory.id == *id)
    }

    /// Returns the memories that contradict this one or that this one contradicts.
    pub fn contradictions<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = &'a MemoryRow> {
        let contradicts = |edge: &&Edge| edge.relation == Relation::Contradicts;
        let names =
            move |one: &Memory, other: &Id| one.edges.iter().filter(contradicts).any(|edge| edge.target == *other);
        self.memories.iter().filter(move |row| names(memory, &row.memory.id) || names(&row.memory, &memory.id))
    }

    /// Returns all tags of memories, in order.
    pub fn tags(&self) -> BTreeSet<&str> {
        self.memories.iter().flat_map(|row| row.memory.tags.iter().map(|tag| &**tag)).collect()
    }

    /// Returns the number of an agent's own memories and of those shared by all agents.
    pub fn counts_of(&self, agent: &str) -> (usize, usize) {
        let own = self.of_agent(agent).count();
        (own, self.memories.iter().filter(|row| row.owner == Owner::Shared).count())
    }

    /// Returns the agent's own memories, newest first.
    pub fn of_agent<'a>(&'a self, agent: &'a str) -> impl Iterator<Item = &'a MemoryRow> {
        self.memories.iter().filter(move |row| matches!(&row.owner, Owner::Agent(owner) if **owner == *agent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::state::file_texts::TextRead;
    use crate::workspace::vfs::{FileInfo, FileKind};

    const ADA: &str = "# What ada knows\n\n- Port 8080 is taken. <!-- k-1 contradicts=k-2 tags=net -->\nMy own line.\n";
    const SHARED: &str = "- Port 8080 is free. <!-- k-2 by=bob -->\n- bad <!-- k-3 kind=fat -->\n";

    fn texts() -> Vec<(Owner, Arc<str>)> {
        vec![(Owner::Agent("ada".into()), ADA.into()), (Owner::Shared, SHARED.into())]
    }

    fn read(files: &[(&str, Option<&str>)]) -> FileTexts {
        let info = |path: &str| FileInfo {
            path: path.to_owned(),
            kind: FileKind::Memory,
            size: 1,
            modified_ms: 0,
            version: 1,
            is_there: true,
        };
        let mut texts = FileTexts::default();
        texts.files = Some(Ok(Arc::new(files.iter().map(|(path, _)| info(path)).collect())));
        for (path, text) in files {
            if let Some(text) = text {
                texts.texts.insert((*path).to_owned(), Ok(Some(TextRead::new(*text))));
            }
        }
        texts
    }

    #[test]
    fn memories_are_parsed_with_contradictions_and_problems() {
        let known = KnownMemories::of(texts());
        assert_eq!(
            known.memories.iter().map(|row| (&*row.memory.id, row.line)).take(2).collect::<Vec<_>>(),
            [("k-1", 3), ("k-2", 1)]
        );
        let free = known.find("k-2").expect("it should exist");
        let against: Vec<&str> = known.contradictions(&free.memory).map(|row| &*row.memory.id).collect();
        assert_eq!(against, ["k-1"], "a contradiction counts in both directions");
        assert_eq!(known.problems.len(), 1, "{:?}", known.problems);
        assert_eq!(known.counts_of("ada"), (1, 1));
        assert_eq!(known.tags(), ["net"].into());
    }

    #[test]
    fn memories_are_parsed_again_only_when_a_file_changed_and_all_are_read() {
        let (ada, shared) = ("memory/knowledge/ada.md", "memory/knowledge/shared.md");
        let memories = Memories::default();
        let half = read(&[("agents/x.md", Some("x")), (ada, Some(ADA)), (shared, None)]);
        assert!(!memories.known(&half).is_whole);
        let complete = read(&[("agents/x.md", Some("x")), (ada, Some(ADA)), (shared, Some(SHARED)), ("z.md", None)]);
        let known = memories.known(&complete);
        assert!(known.is_whole && known.memories.len() == 2);
        assert_eq!(known.version, KnownMemories::of(texts()).version);
        assert!(Arc::ptr_eq(&known, &memories.known(&complete)), "nothing is parsed twice");
        let other = read(&[(ada, Some(SHARED)), (shared, Some(SHARED))]);
        assert!(!Arc::ptr_eq(&known, &memories.known(&other)));
    }
}
