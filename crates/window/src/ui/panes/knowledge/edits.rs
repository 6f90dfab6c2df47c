//! Edits of memories. Each is a versioned change of a file by the user and can be undone.

use std::collections::BTreeSet;

use crate::base::hash::content_hash;
use crate::knowledge::file::KNOWLEDGE_FOLDER;
use crate::knowledge::{KnowledgeFile, Memory, Owner};
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::context::ViewerContext;
use crate::ui::state::memories::{KnownMemories, MemoryRow};
use crate::workspace::vfs::FileOperation;

/// Returns the command that removes a memory from its file.
pub(super) fn forget(known: &KnownMemories, row: &MemoryRow, cx: &ViewerContext<'_>) -> Option<Command> {
    let (mut file, before) = file(known, &row.owner)?;
    file.remove(&row.memory.id).ok()?;
    Some(Command::Acts(vec![save(cx, &row.owner, Some(before), &file.to_string())]))
}

/// Returns the command that replaces a memory. A newly shared memory moves to the shared file.
pub(super) fn replace(
    known: &KnownMemories,
    row: &MemoryRow,
    memory: &Memory,
    cx: &ViewerContext<'_>,
) -> Option<Command> {
    let owner = Owner::of(memory);
    let (mut file, before) = file(known, &row.owner)?;
    if owner == row.owner {
        file.update(memory).ok()?;
        return Some(Command::Acts(vec![save(cx, &owner, Some(before), &file.to_string())]));
    }
    file.remove(&memory.id).ok()?;
    let old = known.texts.get(&owner);
    let mut destination = match old {
        Some(text) => KnowledgeFile::parse(owner.clone(), text, &mut BTreeSet::new()),
        None => KnowledgeFile::new(owner.clone()),
    };
    destination.add(memory).ok()?;
    // The destination is written first, so that the memory is not lost if only one of the files is written.
    let arrived = save(cx, &owner, old.map(|text| &**text), &destination.to_string());
    let left = save(cx, &row.owner, Some(before), &file.to_string());
    Some(Command::Acts(vec![arrived, left]))
}

fn file<'a>(known: &'a KnownMemories, owner: &Owner) -> Option<(KnowledgeFile, &'a str)> {
    let text = known.texts.get(owner)?;
    Some((KnowledgeFile::parse(owner.clone(), text, &mut BTreeSet::new()), text))
}

/// Returns the action that replaces a file unless it has changed since, and its inverse.
fn save(cx: &ViewerContext<'_>, owner: &Owner, before: Option<&str>, after: &str) -> (RoomAct, Option<RoomAct>) {
    let path = owner.place();
    debug_assert!(path.starts_with(KNOWLEDGE_FOLDER));
    let hash = |text: &str| content_hash(text.as_bytes());
    let save = FileOperation::Save { path: path.clone(), base: before.map(hash), content: after.to_owned() };
    let inverse = match before {
        Some(before) => FileOperation::Save { path, base: Some(hash(after)), content: before.to_owned() },
        None => FileOperation::DeleteUnchanged { path, hash: hash(after) },
    };
    let act = |operation| RoomAct::File(cx.ui.file_command(operation));
    (act(save), Some(act(inverse)))
}
