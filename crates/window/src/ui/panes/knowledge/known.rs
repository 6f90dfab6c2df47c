//! What the pane knows of the files of memories: read again whenever one changes, and changed as a person changes files,
//! so that each change has a version and can be undone.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::hash::content_hash;
use crate::knowledge::file::KNOWLEDGE_FOLDER;
use crate::knowledge::{KnowledgeFile, Memory, Owner, Relation};
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::context::ViewerContext;
use crate::workspace::vfs::FileOperation;

/// The files of memories as they were read.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The texts, by whose they are.
    pub(super) texts: BTreeMap<Owner, String>,
    /// All memories, the newest first.
    pub(super) memories: Vec<Row>,
    /// What is wrong with lines, in words.
    pub(super) problems: Vec<String>,
    /// Stands for exactly these texts.
    pub(super) version: u64,
    /// Whether every file was read.
    pub(super) is_whole: bool,
}

/// A memory and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) memory: Memory,
    pub(super) owner: Owner,
    /// The line of its file, counted from 1.
    pub(super) line: usize,
}

impl Known {
    /// Brings it up to what was read of the files.
    pub(super) fn follow(&mut self, cx: &ViewerContext<'_>) {
        let files = cx.ui.texts.files();
        let owners = files.iter().filter(|file| file.is_there).filter_map(|file| Owner::by_place(&file.path));
        let (mut texts, mut is_whole) = (BTreeMap::new(), cx.ui.texts.files.is_some());
        for owner in owners {
            match cx.ui.texts.text(&owner.place()) {
                Some(Ok(Some(read))) => drop(texts.insert(owner, read.text.to_string())),
                // One that cannot be read is told by the editor.
                Some(_) => {}
                None => is_whole = false,
            }
        }
        self.is_whole = is_whole;
        if is_whole && texts != self.texts {
            *self = Self { is_whole, ..Self::of(texts) };
        }
    }

    /// What stands in these texts.
    pub(super) fn of(texts: BTreeMap<Owner, String>) -> Self {
        let (mut taken, mut known) = (BTreeSet::new(), Self { is_whole: true, ..Self::default() });
        for (owner, text) in &texts {
            let file = KnowledgeFile::parse(owner.clone(), text, &mut taken);
            known.problems.extend(file.problems().iter().map(ToString::to_string));
            let row = |(line, memory): (usize, &Memory)| Row { memory: memory.clone(), owner: owner.clone(), line };
            known.memories.extend(file.memories().map(row));
            known.version =
                known.version.rotate_left(7) ^ content_hash(format!("{}\0{text}", owner.place()).as_bytes());
        }
        // The newest first; what has no date was written by a person, and stands in the order of its file.
        known.memories.sort_by_key(|row| std::cmp::Reverse(row.memory.dated()));
        known.texts = texts;
        known
    }

    /// The memory of this id.
    pub(super) fn find(&self, id: &str) -> Option<&Row> {
        self.memories.iter().find(|row| *row.memory.id == *id)
    }

    /// The memories with which this one cannot be true, whichever of both says so.
    pub(super) fn against<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = &'a Row> {
        let names = |one: &Memory, other: &Memory| {
            one.edges.iter().any(|edge| edge.relation == Relation::Contradicts && edge.target == other.id)
        };
        self.memories.iter().filter(move |row| names(memory, &row.memory) || names(&row.memory, memory))
    }

    /// What takes a memory out of its file.
    pub(super) fn forget(&self, row: &Row, cx: &ViewerContext<'_>) -> Option<Command> {
        let (mut file, before) = self.file(&row.owner)?;
        file.remove(&row.memory.id).ok()?;
        Some(Command::Acts(vec![save(cx, &row.owner, Some(before), &file.to_string())]))
    }

    /// What puts another version of a memory in its place. Where everybody is to know it now, it moves to their file.
    pub(super) fn change(&self, row: &Row, memory: &Memory, cx: &ViewerContext<'_>) -> Option<Command> {
        let owner = Owner::of(memory);
        let (mut file, before) = self.file(&row.owner)?;
        if owner == row.owner {
            file.update(memory).ok()?;
            return Some(Command::Acts(vec![save(cx, &owner, Some(before), &file.to_string())]));
        }
        file.remove(&memory.id).ok()?;
        let old = self.texts.get(&owner);
        let mut arrives = match old {
            Some(text) => KnowledgeFile::parse(owner.clone(), text, &mut BTreeSet::new()),
            None => KnowledgeFile::new(owner.clone()),
        };
        arrives.add(memory).ok()?;
        // First where it goes: nothing is lost where only the first of both is written.
        let arrived = save(cx, &owner, old.map(String::as_str), &arrives.to_string());
        let left = save(cx, &row.owner, Some(before), &file.to_string());
        Some(Command::Acts(vec![arrived, left]))
    }

    fn file(&self, owner: &Owner) -> Option<(KnowledgeFile, &str)> {
        let text = self.texts.get(owner)?;
        Some((KnowledgeFile::parse(owner.clone(), text, &mut BTreeSet::new()), text))
    }
}

/// Writes a file over what was read of it, and what takes that back.
fn save(cx: &ViewerContext<'_>, owner: &Owner, before: Option<&str>, after: &str) -> (RoomAct, Option<RoomAct>) {
    let path = owner.place();
    debug_assert!(path.starts_with(KNOWLEDGE_FOLDER));
    let hash = |text: &str| content_hash(text.as_bytes());
    let forth = FileOperation::Save { path: path.clone(), base: before.map(hash), content: after.to_owned() };
    let back = match before {
        Some(before) => FileOperation::Save { path, base: Some(hash(after)), content: before.to_owned() },
        None => FileOperation::DeleteUnchanged { path, hash: hash(after) },
    };
    let order = |operation| RoomAct::File(cx.ui.file_command(operation));
    (order(forth), Some(order(back)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: &str = "# What ada knows\n\n- Port 8080 is taken. <!-- k-1 contradicts=k-2 -->\nMy own line.\n";
    const SHARED: &str = "- Port 8080 is free. <!-- k-2 by=bob -->\n- bad <!-- k-3 kind=fat -->\n";

    #[test]
    fn what_stands_in_files_is_told_with_what_contradicts_it_and_what_is_wrong() {
        let texts = [(Owner::Agent("ada".into()), ADA.to_owned()), (Owner::Shared, SHARED.to_owned())];
        let known = Known::of(texts.clone().into());
        assert_eq!(
            known.memories.iter().map(|row| (&*row.memory.id, row.line)).take(2).collect::<Vec<_>>(),
            [("k-1", 3), ("k-2", 1)]
        );
        let free = known.find("k-2").expect("it is there");
        let against: Vec<&str> = known.against(&free.memory).map(|row| &*row.memory.id).collect();
        assert_eq!(against, ["k-1"], "whichever of both says so");
        assert_eq!(known.problems.len(), 1, "{:?}", known.problems);
        assert_eq!(Known::of(texts.into()).version, known.version);
        assert_ne!(Known::default().version, known.version);
    }
}
