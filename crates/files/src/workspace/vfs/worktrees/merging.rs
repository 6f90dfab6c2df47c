//! The changes of an agent's copy, shown as a diff, and how they are merged into the workspace once a person allowed
//! it: file by file as orders of the agent, so that versions, permissions and concurrent edits by others apply as
//! always.

use super::super::super::layout;
use super::super::super::text_merge::merge_files;
use super::super::executor::{Executor, invalid_request};
use super::super::order::{
    ChangedInWorktree, FileAnswer, FileFailure, FileOperation, FileOrder, FileResult, WorktreeChanges,
};
use super::super::path::{PathAccess, WorkspacePath};
use super::diff::diff_of;
use super::scan;
use super::tree::{TreeFile, differing};
use super::worktree::{ROOM_NAME, Worktree, WorktreeError, message};
use crate::base::hash::content_hash;

/// The maximum length of the diff of one proposal, in characters. A person is shown all of it, so that a file whose diff
/// is longer than what is left of this is not part of the proposal.
pub(super) const MAX_DIFF_CHARS: usize = 400_000;
/// What the hash of changes begins with: changes that were shown in another way have another hash.
const SHOWN_WHOLE: &[u8] = b"shown whole\0";
/// What stands in the hash of changes before the version of the workspace that a file would replace.
const REPLACES: &[u8] = b"replaces\0";

/// Returns the changes of a worktree relative to the workspace.
pub(super) fn changes_of(worktree: &Worktree) -> Result<WorktreeChanges, WorktreeError> {
    let mut changes = WorktreeChanges::default();
    let mut key = SHOWN_WHOLE.to_vec();
    let mut chars_left = MAX_DIFF_CHARS;
    for path in differing(&worktree.base, &worktree.head) {
        let (before, after) = (worktree.base.get(path), worktree.head.get(path));
        for file in [before, after] {
            key.extend_from_slice(path.as_bytes());
            key.push(0);
            key.extend(file.map(|file| file.blob.0).into_iter().flatten());
            key.push(0);
        }
        let conflict = worktree.conflicts.get(path);
        let before = conflict.map_or(before, Option::as_ref);
        if conflict.is_some() {
            key.extend_from_slice(REPLACES);
            key.extend(before.map(|file| file.blob.0).into_iter().flatten());
        }
        let (old, new) = (worktree.text(before)?, worktree.text(after)?);
        let diff = diff_of(path, old.as_deref(), new.as_deref());
        let mut changed = ChangedInWorktree {
            path: path.to_owned(),
            is_new: before.is_none(),
            is_gone: after.is_none(),
            added: diff.added,
            removed: diff.removed,
            left_out: left_out(worktree, path, before, after)?,
            is_too_long: false,
            is_conflict: conflict.is_some(),
        };
        if changed.left_out.is_none() {
            let chars = diff.patch.chars().count();
            changed.left_out = too_long(chars, chars_left);
            changed.is_too_long = changed.left_out.is_some();
            if !changed.is_too_long {
                chars_left -= chars;
                changes.diff.push_str(&diff.patch);
            }
        }
        changes.files.push(changed);
    }
    changes.hash = if changes.files.is_empty() { 0 } else { content_hash(&key).max(1) };
    Ok(changes)
}

/// Returns why a diff is too long to be shown to a person whole; `None` if it is not.
fn too_long(chars: usize, chars_left: usize) -> Option<String> {
    if chars > MAX_DIFF_CHARS {
        return Some(format!("its diff of {chars} characters is too long to be shown whole, {MAX_DIFF_CHARS} at most"));
    }
    let why = "there are too many changes to show all of them at once; it is part of the next proposal";
    (chars > chars_left).then(|| why.to_owned())
}

/// Returns why a change cannot be merged into the workspace; `None` if it can.
fn left_out(
    worktree: &Worktree,
    path: &str,
    before: Option<&TreeFile>,
    after: Option<&TreeFile>,
) -> Result<Option<String>, WorktreeError> {
    let is_open = WorkspacePath::new(path).is_ok_and(|path| path.reach() == PathAccess::Open);
    if !is_open || layout::is_used_by_room(path) {
        return Ok(Some("it belongs to the room or to the person".to_owned()));
    }
    for file in [before, after].into_iter().flatten() {
        if worktree.text(Some(file))?.is_none() {
            return Ok(Some("it is not text".to_owned()));
        }
    }
    Ok(None)
}

/// Merges the changes of a worktree into the workspace, if they are those that a person was shown.
pub(super) fn merge(
    worktree: &mut Worktree,
    hash: u64,
    order: &FileOrder,
    workspace: &mut Executor,
) -> Result<Result<FileAnswer, FileFailure>, WorktreeError> {
    worktree.commit_everything(&order.author.0, &message("what a command left", order))?;
    let changes = changes_of(worktree)?;
    if changes.files.is_empty() {
        let (done, crossed, left_out) = (Vec::new(), Vec::new(), Vec::new());
        return Ok(Ok(FileAnswer::Merged { done, crossed, left_out }));
    }
    if changes.hash != hash {
        worktree.report_again();
        return Ok(Err(invalid_request("the worktree has changed since; propose its changes again.".to_owned())));
    }
    let (mut done, mut crossed, mut left_out) = (Vec::<FileResult>::new(), Vec::new(), Vec::new());
    let mut base = Vec::new();
    for (number, changed) in changes.files.iter().enumerate() {
        let path = &changed.path;
        if let Some(why) = &changed.left_out {
            left_out.push(format!("'{path}': {why}"));
            continue;
        }
        match merge_file(worktree, number, path, order, workspace)? {
            FileMerge::Merged { result, file } => {
                done.extend(result);
                base.push((path.clone(), file));
            }
            FileMerge::Crossed(why) => crossed.push(why),
        }
    }
    worktree.commit_everything(ROOM_NAME, &message("merge with the workspace", order))?;
    worktree.set_base(base, false)?;
    worktree.keep_conflicts()?;
    worktree.report_again();
    Ok(Ok(FileAnswer::Merged { done, crossed, left_out }))
}

/// What became of one file of a merge.
enum FileMerge {
    /// The workspace and the worktree have the same version now.
    Merged {
        /// What changed in the workspace; `None` if it had that version already.
        result: Option<FileResult>,
        /// The file as it is in both now; `None` if it is gone.
        file: Option<TreeFile>,
    },
    /// It was left as it is, for this reason.
    Crossed(String),
}

/// Merges one changed file of a worktree into the workspace, and writes the result into the worktree.
fn merge_file(
    worktree: &mut Worktree,
    number: usize,
    path: &str,
    order: &FileOrder,
    workspace: &mut Executor,
) -> Result<FileMerge, WorktreeError> {
    let (before, after) = (worktree.base.get(path).copied(), worktree.head.get(path).copied());
    let now = match present_text(workspace, path) {
        Ok(now) => now,
        Err(why) => return Ok(FileMerge::Crossed(why)),
    };
    let is_program = after.or(before).is_some_and(|file| file.is_program);
    let Some(wanted) = merged_text(worktree, path, (before, after), now.as_deref())? else {
        let theirs = stored(worktree, now.as_deref(), is_program)?;
        worktree.conflicts.insert(path.to_owned(), theirs);
        let why = format!("'{path}': the same lines were changed in the workspace in the meantime");
        return Ok(FileMerge::Crossed(why));
    };
    let mut result = None;
    if wanted != now {
        match put(order, number, path, now.as_deref(), wanted.as_deref(), workspace) {
            Ok(FileAnswer::Changed { done, .. }) => result = Some(done),
            Ok(_) => {}
            Err(failure) => return Ok(FileMerge::Crossed(failure.what)),
        }
    }
    worktree.conflicts.remove(path);
    let bytes = wanted.as_ref().map(|text| (text.as_bytes(), is_program));
    scan::write(&worktree.files.root, path, bytes)?;
    let file = stored(worktree, wanted.as_deref(), is_program)?;
    Ok(FileMerge::Merged { result, file })
}

/// The text of a file in the workspace now, `None` if there is none; or why it cannot be merged.
fn present_text(workspace: &mut Executor, path: &str) -> Result<Option<String>, String> {
    let path = WorkspacePath::new(path).map_err(|refusal| refusal.to_string())?;
    let present = workspace.present(&path).map_err(|failure| failure.what)?;
    Ok(present.map(|(text, _)| text.to_string()))
}

/// The text of a file with the changes of both sides, inside `None` if it is to be removed; `None` if both changed the
/// same lines.
fn merged_text(
    worktree: &Worktree,
    path: &str,
    (before, after): (Option<TreeFile>, Option<TreeFile>),
    now: Option<&str>,
) -> Result<Option<Option<String>>, WorktreeError> {
    let (old, new) = (worktree.text(before.as_ref())?, worktree.text(after.as_ref())?);
    Ok(match worktree.conflicts.get(path).copied() {
        // The person was shown both versions and chose this one, unless there is yet another one by now.
        Some(shown) => (worktree.text(shown.as_ref())?.as_deref() == now).then_some(new),
        None => merge_files(old.as_deref(), new.as_deref(), now).map(|text| text.map(std::borrow::Cow::into_owned)),
    })
}

/// Stores a text in the worktree's repository.
fn stored(worktree: &Worktree, text: Option<&str>, is_program: bool) -> Result<Option<TreeFile>, WorktreeError> {
    let Some(text) = text else { return Ok(None) };
    Ok(Some(TreeFile { blob: worktree.repository.store_blob(text.as_bytes())?, is_program }))
}

/// Merges one file into the workspace, as an order of the agent with its permissions.
fn put(
    order: &FileOrder,
    number: usize,
    path: &str,
    now: Option<&str>,
    wanted: Option<&str>,
    workspace: &mut Executor,
) -> Result<FileAnswer, FileFailure> {
    let hash = now.map(|text| content_hash(text.as_bytes()));
    let operation = match (wanted, hash) {
        (Some(text), base) => FileOperation::Save { path: path.to_owned(), base, content: text.to_owned() },
        (None, Some(hash)) => FileOperation::DeleteUnchanged { path: path.to_owned(), hash },
        (None, None) => return Ok(FileAnswer::Committed),
    };
    let key = format!("{}/merge/{number}", order.key).into();
    workspace.execute(&FileOrder { key, operation, worktree: None, ..order.clone() }).result
}
