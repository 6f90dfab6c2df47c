//! The changes of an agent's copy, shown as a diff, and how they are merged into the workspace once a person allowed
//! it: file by file as orders of the agent, so that versions, permissions and concurrent edits by others apply as
//! always.

use similar::{ChangeTag, TextDiff};

use super::super::super::layout;
use super::super::super::text_merge::merge_files;
use super::super::executor::{Executor, invalid_request};
use super::super::order::{
    ChangedInWorktree, FileAnswer, FileFailure, FileOperation, FileOrder, FileResult, WorktreeChanges,
};
use super::super::path::{PathAccess, WorkspacePath};
use super::scan;
use super::tree::{TreeFile, differing};
use super::worktree::{ROOM_NAME, Worktree, WorktreeError, message};
use crate::base::hash::content_hash;
use crate::base::text::truncate;

/// The maximum length of a diff in characters; the rest is left out.
const MAX_DIFF_CHARS: usize = 60_000;
/// The number of unchanged lines around each change in a diff.
const LINES_AROUND: usize = 3;

/// Returns the changes of a worktree relative to the workspace.
pub(super) fn changes_of(worktree: &Worktree) -> Result<WorktreeChanges, WorktreeError> {
    let mut changes = WorktreeChanges::default();
    let mut key: Vec<u8> = Vec::new();
    let mut chars = 0;
    for path in differing(&worktree.base, &worktree.head) {
        let (before, after) = (worktree.base.get(path), worktree.head.get(path));
        for file in [before, after] {
            key.extend_from_slice(path.as_bytes());
            key.push(0);
            key.extend(file.map(|file| file.blob.0).into_iter().flatten());
            key.push(0);
        }
        let mut changed = ChangedInWorktree { path: path.to_owned(), ..ChangedInWorktree::default() };
        changed.is_new = before.is_none();
        changed.is_gone = after.is_none();
        changed.left_out = left_out(worktree, path, before, after)?;
        let (old, new) = (worktree.text(before)?.unwrap_or_default(), worktree.text(after)?.unwrap_or_default());
        let diff = TextDiff::from_lines(&old, &new);
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => changed.added += 1,
                ChangeTag::Delete => changed.removed += 1,
                ChangeTag::Equal => {}
            }
        }
        let side = |side: &str, there: bool| if there { format!("{side}/{path}") } else { "/dev/null".to_owned() };
        let header = (side("a", before.is_some()), side("b", after.is_some()));
        let text = diff.unified_diff().context_radius(LINES_AROUND).header(&header.0, &header.1).to_string();
        if changed.left_out.is_none() && chars < MAX_DIFF_CHARS {
            let text = truncate(&text, MAX_DIFF_CHARS - chars);
            chars += text.chars().count();
            changes.diff.push_str(&text);
            changes.is_cut |= chars >= MAX_DIFF_CHARS;
        }
        changes.files.push(changed);
    }
    changes.hash = if changes.files.is_empty() { 0 } else { content_hash(&key).max(1) };
    Ok(changes)
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
        let (before, after) = (worktree.base.get(path).copied(), worktree.head.get(path).copied());
        let (old, new) = (worktree.text(before.as_ref())?, worktree.text(after.as_ref())?);
        let now = match WorkspacePath::new(path).map(|path| workspace.present(&path)) {
            Ok(Ok(now)) => now.map(|(text, _)| text.to_string()),
            Ok(Err(failure)) => {
                crossed.push(failure.what);
                continue;
            }
            Err(refusal) => {
                crossed.push(refusal.to_string());
                continue;
            }
        };
        let merged = merge_files(old.as_deref(), new.as_deref(), now.as_deref());
        let Some(wanted) = merged.map(|text| text.map(std::borrow::Cow::into_owned)) else {
            crossed.push(format!("'{path}': the same lines were changed in the workspace in the meantime"));
            continue;
        };
        if wanted != now {
            match put(order, number, path, now.as_deref(), wanted.as_deref(), workspace) {
                Ok(FileAnswer::Changed { done: one, .. }) => done.push(one),
                Ok(_) => {}
                Err(failure) => {
                    crossed.push(failure.what);
                    continue;
                }
            }
        }
        let is_program = after.or(before).is_some_and(|file| file.is_program);
        let bytes = wanted.as_ref().map(|text| (text.as_bytes(), is_program));
        scan::write(&worktree.files.root, path, bytes)?;
        let file = match &wanted {
            Some(text) => Some(TreeFile { blob: worktree.repository.store_blob(text.as_bytes())?, is_program }),
            None => None,
        };
        base.push((path.clone(), file));
    }
    worktree.commit_everything(ROOM_NAME, &message("merge with the workspace", order))?;
    worktree.set_base(base, false)?;
    worktree.report_again();
    Ok(Ok(FileAnswer::Merged { done, crossed, left_out }))
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
