//! Interface texts of the modal dialogs and of the file dialogs.

use crate::ui::widgets::text_format::count;

// Several dialogs
pub(crate) const CANCEL: &str = "Cancel";

// Scenes
pub(crate) const NEW_SCENE: &str = "New scene";
pub(crate) const NEW_SCENE_ABOUT: &str = "An empty room in this workspace. Add agents to it yourself.";
pub(crate) const CREATE_SCENE: &str = "Create scene";
pub(crate) const SAVE_SCENE_AS: &str = "Save scene as";
pub(crate) const SAVE_SCENE_ABOUT: &str = "Saves the room under another name. You continue in the new one.";
pub(crate) const SAVE_SCENE: &str = "Save scene";
pub(crate) const SCENE_NAME: &str = "Scene name";
pub(crate) const SCENE_NAME_HINT: &str = "evening-shift";
pub(crate) const NAME_IS_EMPTY: &str = "Enter a name with letters or digits.";
pub(crate) const NAME_IS_TOO_LONG: &str = "The name is too long for a file. Use a few words.";
pub(crate) const RESTART_ABOUT: &str = "\
    Everyone returns to their place in the scene file. All memories and conversations of this scene are cleared. \
    This cannot be undone.";
pub(crate) const RESTART_SCENE: &str = "Restart scene";

pub(crate) fn scene_exists(scene: &str) -> String {
    format!("A scene “{scene}” already exists.")
}

pub(crate) fn restart_scene(scene: &str) -> String {
    format!("Restart “{scene}”?")
}

// Importing
pub(crate) const IMPORT_THESE_FILES: &str = "Import these files?";
pub(crate) const IMPORT_ABOUT: &str = "Existing files are not changed.";
pub(crate) const IMPORT: &str = "Import";

// Links
pub(crate) const OPEN_THIS_LINK: &str = "Open this link?";
pub(crate) const LINK_ABOUT: &str = "Someone else wrote this link. It opens in your browser:";
pub(crate) const OPEN_LINK: &str = "Open link";
pub(crate) const COPY_ADDRESS: &str = "Copy address";

// Coding agents
pub(crate) const ADD_YOUR_CODING_AGENT: &str = "Add your coding agent";

// Removing agents that work
pub(crate) const REMOVE_WORKING: &str = "Remove agents that are working?";
pub(crate) const REMOVE_AND_STOP: &str = "Remove and stop work";
const NAMES_SHOWN: usize = 3;

pub(crate) fn work_ends(names: &[String], things: usize) -> String {
    let more = names.len().saturating_sub(NAMES_SHOWN);
    let who = match (names, more) {
        ([one], _) => format!("{one} is working"),
        (names, 0) => format!("{} are working", names.join(", ")),
        (names, more) => format!("{} and {more} more are working", names[..NAMES_SHOWN].join(", ")),
    };
    let things = count(things, "thing is", "things are");
    format!("{who}. {things} removed and the work ends. Undo brings them back, but not the work.")
}

// Closing a file
pub(crate) const CLOSE_WITHOUT_SAVING: &str = "Close without saving?";
pub(crate) const DISCARD_AND_CLOSE: &str = "Discard and close";

pub(crate) fn changes_not_saved(path: &str) -> String {
    format!("Your changes to {path} are not saved.")
}

// Closing the window
pub(crate) const CLOSE_THE_WINDOW: &str = "Close the window?";
pub(crate) const FINISH_THEN_CLOSE: &str = "Finish work, then close";
pub(crate) const SAVE_AND_CLOSE: &str = "Save and close";
pub(crate) const CLOSE_NOW: &str = "Close now";

pub(crate) fn tasks_not_finished(tasks: usize) -> String {
    let tasks = count(tasks, "task is not finished", "tasks are not finished");
    format!("{tasks}. Finish now, or continue when you next open this workspace.")
}

pub(crate) fn files_not_saved(files: usize) -> String {
    let files = count(files, "file is not saved", "files are not saved");
    format!("{files}; your changes are kept as drafts:")
}

// Undoing an agent's work
pub(crate) const UNDO_ABOUT: &str = "Choose how far to go back. Changes by others to the same files are kept.";
pub(crate) const RESTORE_THESE_FILES: &str = "Restore these files";
pub(crate) const OUTSIDE_ANY_TASK: &str = "Outside any task";
pub(crate) const NOTHING_TO_UNDO: &str = "Everything was already undone or replaced.";

pub(crate) fn undo_the_work_of(name: &str) -> String {
    format!("Undo the work of {name}?")
}

pub(crate) fn restore_point(number: usize, task: &str, files: usize) -> String {
    format!("{number}. {task} ({})", count(files, "file", "files"))
}

pub(crate) fn is_removed(path: &str) -> String {
    format!("{path} is removed")
}

pub(crate) fn is_restored(path: &str) -> String {
    format!("{path} is restored")
}

pub(crate) fn is_renamed_back(path: &str, to: &str) -> String {
    format!("{path} is renamed back to {to}")
}

// File dialogs
pub(crate) const IMPORT_FILES: &str = "Import files";
pub(crate) const IMPORT_A_FOLDER: &str = "Import a folder";
pub(crate) const OPEN_A_WORKSPACE: &str = "Open a workspace, or an empty folder";
pub(crate) const EXPORT_THE_WORKSPACE: &str = "Export the workspace";
pub(crate) const EXPORT_THE_LOG: &str = "Export the event log";
