//! Undoes and redoes the person's steps, and says each time what was undone or why nothing was.

use super::file_jobs::FileJob;
use super::file_results::order;
use super::open_room::OpenRoom;
use super::room_commands::repeat_acts;
use crate::ui::UiState;
use crate::ui::commands::RoomAct;
use crate::ui::commands::undo::{Reversal, Reversed, StepAct, Stop};
use crate::ui::widgets::text_format::sentence;
use crate::workspace::vfs::{FileInfo, FileOperation};

/// Undoes the last step, or says why that is not possible.
pub(super) fn undo(room: &mut OpenRoom, state: &mut UiState) {
    let files = state.texts.files();
    let undone = room.history.undo(state.time.now_secs, |act| renewed(state, act), |done| obstacle(done, &files));
    let reversal = match undone {
        Ok(reversal) => reversal,
        Err(stop) => return state.hint(stop_text(&stop)),
    };
    let Reversal { label, acts, files, undone, number } = reversal;
    let failures = repeat_acts(room, state, acts);
    if let Some(why) = failures.first() {
        room.history.note_failed_undo(number, why);
    }
    // These jobs report what they have done.
    let has_job = undone.is_some() || !files.is_empty();
    if let Some(number) = undone {
        order(room, FileJob::ToggleUndo { number });
    }
    if !files.is_empty() {
        order(room, FileJob::UndoImport { files });
    }
    if failures.is_empty() && !has_job && !room.history.is_running(number) {
        report(state, &Reversed { label, is_undo: true, failure: None });
    }
}

/// Redoes the step that was undone last.
pub(super) fn redo(room: &mut OpenRoom, state: &mut UiState) {
    let Some(reversal) = room.history.redo(|act| renewed(state, act)) else {
        return state.hint("There is nothing to redo.");
    };
    let Reversal { label, acts, files, undone, number } = reversal;
    if let Some(number) = undone {
        order(room, FileJob::ToggleUndo { number });
    }
    if !files.is_empty() {
        // The agents are added once their files exist.
        return order(room, FileJob::RedoImport { files, acts });
    }
    let failures = repeat_acts(room, state, acts);
    if failures.is_empty() && undone.is_none() && !room.history.is_running(number) {
        report(state, &Reversed { label, is_undo: false, failure: None });
    }
}

/// Says what was undone or redone, or why it failed.
pub(super) fn report(state: &mut UiState, reversed: &Reversed) {
    let Reversed { label, is_undo, failure } = reversed;
    let (done, participle) = if *is_undo { ("Undone", "undone") } else { ("Redone", "redone") };
    match failure {
        None => state.notify(format!("{done}: {label}"), true),
        Some(why) => {
            state.notify(format!("\u{201c}{label}\u{201d} could not be {participle}. {}", sentence(why)), false)
        }
    }
}

/// An operation with the same key would be executed only once.
fn renewed(state: &UiState, act: RoomAct) -> RoomAct {
    match act {
        RoomAct::File(command) => RoomAct::File(state.file_command(command.operation)),
        act => act,
    }
}

/// Why undoing an action would replace something newer: its inverse does not compare the text, and the file is not as
/// the action left it.
fn obstacle(done: &StepAct, files: &[FileInfo]) -> Option<String> {
    let operation = |act: &RoomAct| match act {
        RoomAct::File(command) => Some(command.operation.clone()),
        _ => None,
    };
    let restored = done.back.iter().find_map(operation)?;
    let FileOperation::Restore { path, version } = restored else { return None };
    let is_deletion = matches!(operation(&done.act), Some(FileOperation::Delete { .. }));
    let left = done.version.or(is_deletion.then_some(version))?;
    let file = files.iter().find(|file| file.path == path && file.is_there && file.version > left)?;
    Some(format!("{} has changed since; compare its versions in the inspector", file.path))
}

fn stop_text(stop: &Stop) -> String {
    match stop {
        Stop::Nothing => "There is nothing to undo.".to_owned(),
        Stop::Cannot { label, why, before } => {
            let stopped = format!("\u{201c}{label}\u{201d} cannot be undone: {why}.");
            match before {
                None => format!("{stopped} Nothing was undone."),
                Some(before) => {
                    format!(
                        "{stopped} Nothing was undone. Undo again to undo the step before: \u{201c}{before}\u{201d}."
                    )
                }
            }
        }
    }
}
