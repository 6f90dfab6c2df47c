//! All texts of the explorer.

use crate::ui::widgets::text_format;
use crate::workspace::vfs::FileKind;

/// `1 file`, `3 files`.
pub(super) fn files(count: usize) -> String {
    text_format::count(count, "file", "files")
}

// Above the tree

pub(super) const FIND_A_FILE: &str = "Find a file";
pub(super) const CLEAR_SEARCH: &str = "Clear search";
pub(super) const SIMILAR_PATHS: &str = "No exact matches. Showing similar paths.";
pub(super) const ACTIONS: &str = "Actions";
pub(super) const COLLAPSE_ALL_FOLDERS: &str = "Collapse all folders";
pub(super) const IMPORT_FILES: &str = "Import files or a folder…";
pub(super) const NEW_FILE: &str = "New file…";

/// `2 of 6`.
pub(super) fn files_found(shown: usize, all: usize) -> String {
    format!("{shown} of {all}")
}

// Menus

pub(super) const NEW_WORKFLOW: &str = "New workflow";

// The tree

pub(super) const FILES: &str = "Files";
pub(super) const LOADING: &str = "Loading files…";
pub(super) const COULD_NOT_BE_LOADED: &str = "Files could not be loaded";
pub(super) const NO_RESULTS: &str = "No results";
pub(super) const TRY_A_SHORTER_SEARCH: &str = "Try a shorter search.";
pub(super) const NO_FILES: &str = "No files yet";
pub(super) const HOW_TO_ADD_FILES: &str = "Create one, or drag files here.";
pub(super) const CREATE_FIRST_FILE: &str = "Create file…";
pub(super) const BIN: &str = "Bin";
pub(super) const ABOUT_THE_BIN: &str = "Deleted files, which can be restored";
pub(super) const RESTORE: &str = "Restore";

pub(super) fn restore_file(path: &str) -> String {
    format!("Restore {path}")
}

// Rows: status marks

pub(super) const ERROR: &str = "error";
pub(super) const CHECK_IT: &str = "warning";
pub(super) const UNSAVED: &str = "• unsaved";

// Rows: names for screen readers

pub(super) const SAID_TO_CHECK: &str = "warning";
pub(super) const SAID_CHANGED: &str = "changed";
pub(super) const SAID_UNSAVED: &str = "unsaved";

pub(super) fn folder_row(path: &str) -> String {
    format!("Folder {path}")
}

pub(super) fn deleted_row(path: &str) -> String {
    format!("{path}, deleted")
}

// The status of an agent: labels and sentences

pub(super) const IDLE: &str = "no task";
pub(super) const STOPPED: &str = "stopped";
pub(super) const FAILED: &str = "failed";
pub(super) const WAITING: &str = "waiting";
pub(super) const RUNNING: &str = "running";
pub(super) const ASKS_YOU: &str = "needs you";

pub(super) const IS_IDLE: &str = "In the room; no task.";
pub(super) const WAS_STOPPED: &str = "Its last task was stopped.";
pub(super) const HAS_FAILED: &str = "Its last task failed.";
pub(super) const IS_WAITING: &str = "Waiting in its queue.";
pub(super) const IS_RUNNING: &str = "At work on its task.";
pub(super) const IS_ASKING_YOU: &str = "Waiting for your answer; see the bar below.";

// Tooltips of files

pub(super) const NOT_IN_THE_ROOM: &str = "Not in the room. Drag it there to add it.";
pub(super) const UNSAVED_CHANGES: &str = "It has unsaved changes.";
pub(super) const CHANGED_SINCE: &str = "Changed since you last looked at it.";
pub(super) const BY_SOMEBODY: &str = "somebody";
pub(super) const BY_ANOTHER_PROGRAM: &str = "another program";
pub(super) const BY_THE_ROOM: &str = "the room";

/// Kind, size, version and time of writing; version 0 is omitted.
pub(super) fn about_file(kind: &str, size: &str, version: u64, written: &str) -> String {
    let version = if version > 0 { format!(", version {version}") } else { String::new() };
    format!("{kind}, {size}{version}, written {written}")
}

/// One problem of a file: the line, what is wrong and how to fix it.
pub(super) fn problem(line: Option<usize>, what: &str, remedy: &str) -> String {
    let line = line.map_or(String::new(), |line| format!("Line {line}: "));
    format!("{line}{what} ({remedy})")
}

pub(super) fn deleted(how: &str) -> String {
    format!("Deleted: {how}.")
}

pub(super) fn deleted_by(who: &str, when: &str) -> String {
    format!("by {who}, {when}")
}

pub(super) fn last_written(when: &str) -> String {
    format!("last written {when}")
}

pub(super) fn last_written_by(who: &str, when: &str) -> String {
    format!("last written by {who}, {when}")
}

// Kinds of files

pub(super) fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Agent => "Agent",
        FileKind::Memory => "Workspace memory",
        FileKind::Artifact => "Artifact",
        FileKind::Scene => "Scene",
        FileKind::Board => "Board text",
        FileKind::Task => "Tasks",
        FileKind::Session => "Session record",
        FileKind::Unknown => "File",
    }
}

// Drag and drop

pub(super) fn drop_into(what: &str, folder: &str) -> String {
    format!("Drop {what} into {folder}/.")
}

pub(super) fn drop_here(what: &str) -> String {
    format!("Drop {what} here: agents go to agents/, the rest to artifacts/.")
}

// Dialogs

pub(super) const NEW_FILE_TITLE: &str = "New file";
pub(super) const RENAME_FILE: &str = "Rename file";
pub(super) const RENAME_FOLDER: &str = "Rename folder";
pub(super) const CREATE_FILE: &str = "Create file";
pub(super) const RENAME: &str = "Rename";
pub(super) const CANCEL: &str = "Cancel";
pub(super) const PATH: &str = "Path";
pub(super) const ABOUT_THE_PATH: &str = "A path in this workspace. Missing folders are created.";
pub(super) const THE_WORKSPACE: &str = "the workspace";
pub(super) const DELETED_FILES_MOVE_TO_THE_BIN: &str =
    "They move to the bin at the end of the tree, where you can restore them.";

pub(super) fn delete_question(count: usize) -> String {
    format!("Delete {}?", files(count))
}

pub(super) fn delete_files(count: usize) -> String {
    format!("Delete {}", files(count))
}

pub(super) fn unsaved_changes_are_lost(count: usize) -> String {
    format!("Unsaved changes to {} are not kept in the bin.", files(count))
}

pub(super) fn and_more(count: usize) -> String {
    format!("and {count} more")
}

/// The renamed item and its folder; for a folder also the number of files that move along.
pub(super) fn about_renaming(name: &str, place: &str, moving: Option<usize>) -> String {
    let moving = moving.map_or(String::new(), |count| format!(" {} will move, too.", files(count)));
    format!("{name} in {place}.{moving}")
}

// Why a path cannot be used

pub(super) const RESERVED_FOLDER: &str = "That folder is reserved for the program. Choose another.";
pub(super) const RESERVED_FOR_RECORDS: &str = "sessions/ is reserved for program records. Choose another.";
pub(super) const FILE_EXISTS: &str = "A file with this name already exists.";
pub(super) const FOLDER_EXISTS: &str = "A folder with this name already exists.";

pub(super) fn path_exists(path: &str) -> String {
    format!("{path} already exists.")
}

pub(super) fn differs_only_in_case(path: &str) -> String {
    format!("{path} already exists; some systems treat the two as the same.")
}

pub(super) fn is_not_a_folder(path: &str) -> String {
    format!("{path} is a file, not a folder.")
}

// Notices

pub(super) fn already_exists(path: &str) -> String {
    format!("{path} already exists. Rename one of the two first.")
}

pub(super) fn copied_file_is_gone(path: &str) -> String {
    format!("{path} no longer exists, so nothing was copied.")
}

pub(super) fn could_not_be_copied(path: &str, why: &str) -> String {
    format!("{path} could not be copied: {why}")
}

pub(super) fn save_first(path: &str) -> String {
    format!("Save {path} first, or its unsaved changes would be left behind.")
}

pub(super) fn no_such_template(name: &str) -> String {
    format!("The template {name} does not exist.")
}

pub(super) fn own_record(path: &str) -> String {
    format!("{path} is the program's own record and cannot be changed.")
}

// Kinds of new files

pub(super) const AGENT: &str = "Agent";
pub(super) const NOTE: &str = "Note";
pub(super) const BOARD_TEXT: &str = "Board text";
pub(super) const TASK_LIST: &str = "Task list";
pub(super) const WORKFLOW: &str = "Workflow";
pub(super) const SCENE: &str = "Scene";
pub(super) const EMPTY: &str = "Empty";

pub(super) const ABOUT_AGENT: &str =
    "An agent you can add to the room. The text below the second line of dashes is its prompt.";
pub(super) const ABOUT_NOTE: &str = "Text that all agents can read and add to.";
pub(super) const ABOUT_BOARD_TEXT: &str = "A text that a message board or a rulebook can show.";
pub(super) const ABOUT_TASK_LIST: &str = "Tasks, one per line.";
pub(super) const ABOUT_WORKFLOW: &str =
    "Steps that agents do in order. Add them in the graph, or start with a template.";
pub(super) const ABOUT_SCENE: &str = "An empty room.";
pub(super) const ABOUT_EMPTY: &str = "An empty file.";

// Texts of new files

pub(super) const UNTITLED: &str = "Untitled";

pub(super) fn titled_file(title: &str) -> String {
    format!("# {title}\n\n")
}

pub(super) fn task_file(title: &str) -> String {
    format!("# {title}\n\n- [ ] The first thing to do\n")
}

/// A new agent. `id` and `name` are quoted YAML.
pub(super) fn agent_file(id: &str, name: &str) -> String {
    format!(
        "---\n\
         id: {id}\n\
         name: {name}\n\
         description: What this agent is for, in one sentence.\n\
         behaviour: wander\n\
         ---\n\
         \n\
         You are good at one thing and do it well. Describe here who you are and how you work.\n\
         \n\
         ## What you do\n\
         \n\
         - First look at what is already in artifacts/ and memory/.\n\
         - Put what you make into artifacts/, and what others should know into memory/.\n\
         \n\
         ## How you speak\n\
         \n\
         Calm and in few words.\n\
         \n\
         - \"Here is what I found.\"\n\
         \n\
         ## What you care about\n\
         \n\
         - Results that can be used as they are.\n"
    )
}

/// A new workflow without steps. `name` is quoted YAML.
pub(super) fn workflow_file(name: &str) -> String {
    format!(
        "---\n\
         name: {name}\n\
         description: What this workflow produces, in one sentence.\n\
         trigger: manual\n\
         steps: []\n\
         ---\n\
         \n\
         Text below this line is for people.\n"
    )
}
