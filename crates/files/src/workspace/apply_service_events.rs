//! Applies the reports of the file service to the world: saves, external changes, and results of orders.

use bevy::ecs::message::{MessageCursor, Messages};
use bevy::ecs::prelude::*;

use super::files::FileChanged;
use super::layout;
use super::problems::ProblemReport;
use super::room_sync::{WrittenByOrder, apply_file_change, apply_written_file};
use super::scene_state::SceneState;
use super::unsaved::Unsaved;
use super::vfs::worktrees::{FILES, WORKTREES};
use super::vfs::{
    FileAnswer, FileBridge, FileOutcome, FileResult, OUTSIDE, OutsideChange, PendingFileOrders, SaveReport,
    UserCommandResults, is_agent,
};
use super::worktrees_known::WorktreesKnown;
use super::write_failures;
use crate::base::Id;
use crate::log::events::{FileChange, Warning};
use crate::log::{EventDraft, EventLog};

/// The positions up to which messages about files were read.
#[derive(Default)]
pub(super) struct FilesRead {
    saves: MessageCursor<SaveReport>,
    changes: MessageCursor<FileChanged>,
    others: MessageCursor<OutsideChange>,
    outcomes: MessageCursor<FileOutcome>,
}

/// Applies saves, external changes and the outcomes of orders.
pub(super) fn apply_service_events(world: &mut World, mut read: Local<FilesRead>) {
    let reports: Vec<SaveReport> = read.saves.read(world.resource::<Messages<SaveReport>>()).cloned().collect();
    for report in reports {
        if let Some(number) = report.saved {
            let scene = world.resource::<SceneState>().path.clone();
            world.resource_mut::<Unsaved>().saved(&report.path, number, report.path == scene);
        }
        let source = format!("saving {}", report.path);
        world.write_message(ProblemReport { source, problems: report.problem.into_iter().collect() });
    }
    world.resource_scope(|world, mut messages: Mut<Messages<FileChanged>>| {
        for change in read.changes.read_mut(&mut messages) {
            apply_file_change(world, change);
        }
    });
    let others: Vec<OutsideChange> = read.others.read(world.resource::<Messages<OutsideChange>>()).cloned().collect();
    others.into_iter().for_each(|change| record_outside_change(world, change));
    let outcomes: Vec<FileOutcome> = read.outcomes.read(world.resource::<Messages<FileOutcome>>()).cloned().collect();
    outcomes.iter().for_each(|outcome| apply_outcome(world, outcome));
    // The change of an operation is also sent as a message to the layers above, but is already applied here.
    read.changes.clear(world.resource::<Messages<FileChanged>>());
}

/// Logs a file change by someone else.
fn record_outside_change(world: &mut World, change: OutsideChange) {
    let OutsideChange { path, version, is_gone, displaced_by, by, program } = change;
    let is_new = program.as_ref().map_or(by.is_some(), |program| program.is_new);
    let change = FileChange {
        new: (is_new && !is_gone).then_some(true),
        version: Some(version).filter(|version| *version > 0),
        gone: is_gone,
        by_program: program.is_some(),
        others: program.as_ref().map_or_else(Vec::new, |program| program.others.clone()),
        ..FileChange::new(&*path, by.as_deref().unwrap_or(OUTSIDE))
    };
    let mut draft = EventDraft::of(&change);
    if let (Some(agent), Some(program)) = (&by, &program) {
        draft = draft.agent(agent);
        if let Some(activation) = &program.activation {
            draft = draft.activation(activation);
        }
    }
    let seq = world.resource_mut::<EventLog>().write(draft);
    if let Some(by) = displaced_by {
        let what = format!("{by} overwrote an external edit without seeing it; the edit is kept as version {version}");
        let remedy = "compare the two versions of the file, and restore the edit if needed";
        let place = Some(path.to_string());
        let warning = Warning { place, version: Some(version), ..Warning::new(what).with_remedy(remedy) };
        world.resource_mut::<EventLog>().write(EventDraft::of(&warning).cause(seq));
    }
}

/// Applies the outcome of an operation: logs it, and reports changes that the room must know.
fn apply_outcome(world: &mut World, outcome: &FileOutcome) {
    let mut is_in_worktree = outcome.worktree.is_some();
    if let Some((at, order)) = world.resource_mut::<PendingFileOrders>().remove(&outcome.key) {
        is_in_worktree |= order.worktree.is_some();
        world.resource_mut::<FileBridge>().note_answer(at);
        write_failures::note_outcome(world, &order, outcome.result.as_ref().err());
    }
    if outcome.author.is_user() {
        world.resource_mut::<UserCommandResults>().note(outcome);
        if let Err(failure) = &outcome.result {
            let (by, order) = (Some(outcome.author.0.clone()), Some(outcome.key.clone()));
            let warning = Warning { by, order, ..Warning::new(failure.what.clone()) };
            world.resource_mut::<EventLog>().write(EventDraft::of(&warning));
        }
    }
    if let Some(changes) = &outcome.worktree {
        world.resource_mut::<WorktreesKnown>().note(&outcome.author.0, changes);
    }
    match &outcome.result {
        Ok(FileAnswer::Merged { done, .. }) => {
            done.iter().for_each(|done| apply_change(world, outcome, done, &[]));
        }
        Ok(answer) => match answer.change() {
            Some((done, _)) if is_in_worktree => {
                apply_change(world, outcome, &in_worktree(&outcome.author.0, done), &[]);
            }
            Some((done, conflict_with)) => apply_change(world, outcome, done, conflict_with),
            None => {}
        },
        Err(_) => {}
    }
}

/// Returns the change with the paths that the files of an agent's own copy have in the workspace.
fn in_worktree(agent: &str, done: &FileResult) -> FileResult {
    let place = |path: &str| format!(".workshop/{WORKTREES}/{agent}/{FILES}/{path}");
    match done {
        FileResult::Written { path, version, chars, is_new, .. } => {
            FileResult::Written { path: place(path), version: *version, chars: *chars, is_new: *is_new, content: None }
        }
        FileResult::Deleted { path, version } => FileResult::Deleted { path: place(path), version: *version },
        FileResult::Renamed { from, to, .. } => FileResult::Renamed { from: place(from), to: place(to), content: None },
    }
}

fn apply_change(world: &mut World, outcome: &FileOutcome, done: &FileResult, conflict_with: &[Id]) {
    let by = &outcome.author.0;
    let change = match done {
        FileResult::Written { path, version, chars, is_new, .. } => FileChange {
            chars: Some(*chars),
            new: Some(*is_new),
            version: Some(*version).filter(|version| *version > 0),
            restored: outcome.restores,
            ..FileChange::new(&**path, by.clone())
        },
        FileResult::Deleted { path, .. } => FileChange { gone: true, ..FileChange::new(&**path, by.clone()) },
        FileResult::Renamed { from, to, .. } => {
            FileChange { from: Some((&**from).into()), ..FileChange::new(&**to, by.clone()) }
        }
    };
    // The program's own records are written with every message of a session, and so are not logged.
    let is_record = change.path.starts_with("sessions/");
    let mut record = None;
    if !is_record {
        let draft = about(outcome, EventDraft::of(&change));
        let seq = world.resource_mut::<EventLog>().write(draft);
        record = Some(seq);
        // A person who undoes their own change puts back what the others have read.
        let is_undone = outcome.restores && outcome.author.is_user();
        if !conflict_with.is_empty() && !is_undone {
            let what = "a file changed that others have read since its writer did";
            let (writer, readers) = (Some(by.clone()), Some(conflict_with.to_vec()));
            let warning = Warning { path: Some(change.path), writer, readers, ..Warning::new(what) };
            let draft = about(outcome, EventDraft::of(&warning)).cause(seq);
            world.resource_mut::<EventLog>().write(draft);
        }
    }
    let mut note = |path: &str, text: Option<&String>, from: Option<&str>| {
        if layout::is_used_by_room(path) {
            let order = WrittenByOrder { by: &outcome.author, cause: record, restores: outcome.restores, from };
            apply_written_file(world, path, text.cloned(), &order);
        }
    };
    match done {
        FileResult::Written { path, content: Some(text), .. } => note(path, Some(text), None),
        FileResult::Written { .. } => {}
        FileResult::Deleted { path, .. } => note(path, None, None),
        FileResult::Renamed { from, to, content } => {
            note(from, None, None);
            if let Some(text) = content {
                note(to, Some(text), Some(from));
            }
        }
    }
}

fn about(outcome: &FileOutcome, draft: EventDraft) -> EventDraft {
    let draft = draft.cause(outcome.cause);
    let draft = if is_agent(&outcome.author) { draft.agent(&outcome.author.0) } else { draft };
    match &outcome.activation {
        Some(activation) => draft.activation(activation),
        None => draft,
    }
}
