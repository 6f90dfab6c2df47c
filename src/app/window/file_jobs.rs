//! File jobs for which no frame waits, as data: imports, drops, new scenes and exports, and their results.

use std::path::PathBuf;

use crate::app::importing::Imported;
use crate::base::{Id, Problem};
use crate::ui::commands::RoomAct;
use crate::ui::state::{DropPlace, ImportQuestion, UndoQuestion};
use crate::workspace::undo::{UndoPlan, UndoRecord};
use crate::workspace::vfs::NewFile;

/// A file job.
#[derive(Clone, PartialEq, Debug)]
pub enum FileJob {
    /// Copies agent files and scenes into the workspace; existing files are never overwritten.
    ImportDropped {
        /// The dropped files and folders.
        paths: Vec<PathBuf>,
        /// The drop position.
        place: DropPlace,
        /// Whether the person has confirmed the contents of folders.
        is_seen: bool,
    },
    /// Writes the file of a new agent.
    CreateAgent {
        /// The agent's name.
        name: String,
        /// The text of its file.
        text: String,
        /// The position in the room.
        place: DropPlace,
    },
    /// Writes a scene unless one with that name exists.
    WriteScene {
        /// The file stem.
        stem: String,
        /// The scene's text.
        text: String,
    },
    /// Copies files and folders into the workspace; existing files are never overwritten.
    Import {
        /// The source paths.
        paths: Vec<PathBuf>,
        /// The destination folder in the workspace; `None` sorts files by kind.
        folder: Option<String>,
        /// Whether the person has confirmed the contents of folders.
        is_seen: bool,
    },
    /// Deletes the files of an import that have not changed since.
    UndoImport {
        /// The imported files.
        files: Vec<NewFile>,
    },
    /// Restores deleted files of an import.
    RedoImport {
        /// The files.
        files: Vec<NewFile>,
        /// Actions to perform in the room afterwards.
        acts: Vec<RoomAct>,
    },
    /// Lists an agent's changes to files, and what undoing them would do.
    LookBack {
        /// The agent's id.
        agent: Id,
        /// The start time, in milliseconds since 1970; `None` only lists the changes.
        since_ms: Option<u64>,
    },
    /// Restores files to their state before an agent's changes.
    UndoWork {
        /// The plan that the person confirmed.
        plan: UndoPlan,
    },
    /// Reverts such an undo, or repeats it if it was reverted.
    ToggleUndo {
        /// The number of the undo.
        number: u64,
    },
    /// Exports the log of a run.
    ExportLog {
        /// The run's id.
        run: String,
        /// The destination, which must not exist; `None` for a new file among the exports.
        file: Option<PathBuf>,
        /// The name of a new file, before its number.
        name: String,
    },
    /// Exports the whole workspace as a zip file.
    ExportZip {
        /// The destination, which must not exist; `None` for a new file among the exports.
        file: Option<PathBuf>,
        /// The name of a new file, before its number.
        name: String,
    },
}

impl FileJob {
    /// The label of the job while it runs.
    pub(super) fn label(&self) -> String {
        match self {
            Self::ImportDropped { paths, .. } if paths.len() == 1 => "Importing dropped file".to_owned(),
            Self::ImportDropped { paths, .. } => format!("Importing {} dropped files", paths.len()),
            Self::CreateAgent { name, .. } => format!("Writing the file of {name}"),
            Self::WriteScene { stem, .. } => format!("Writing the scene {stem}"),
            Self::Import { .. } => "Importing files".to_owned(),
            Self::UndoImport { .. } => "Undoing an import".to_owned(),
            Self::RedoImport { .. } => "Redoing an import".to_owned(),
            Self::LookBack { .. } => "Reading an agent's work".to_owned(),
            Self::UndoWork { .. } => "Undoing an agent's work".to_owned(),
            Self::ToggleUndo { .. } => "Reverting an undo".to_owned(),
            Self::ExportLog { .. } => "Exporting the event log".to_owned(),
            Self::ExportZip { .. } => "Exporting the workspace".to_owned(),
        }
    }
}

/// The result of a file job.
#[derive(Clone, PartialEq, Debug)]
pub enum FileJobDone {
    /// Dropped files were imported.
    DropImported {
        /// The result of the import.
        imported: Imported,
        /// The drop position.
        place: DropPlace,
    },
    /// A scene was written.
    SceneWritten {
        /// The file stem.
        stem: String,
    },
    /// A folder can be imported after the person has confirmed its contents.
    ImportFound(ImportQuestion),
    /// Files were copied into the workspace.
    Imported(Imported),
    /// The files of an import were deleted.
    ImportUndone {
        /// The number of files of the import.
        count: usize,
        /// Why some were kept, a sentence each.
        kept: Vec<String>,
    },
    /// The files of an import were restored.
    RedoImport {
        /// The number of files of the import.
        count: usize,
        /// Why some were not restored, a sentence each.
        kept: Vec<String>,
        /// Actions to perform in the room now.
        acts: Vec<RoomAct>,
    },
    /// An agent's changes, from which the person chooses what to undo.
    LookedBack(UndoQuestion),
    /// An agent's changes were undone, or that undo was reverted.
    WorkUndone {
        /// The record of the undo.
        undone: UndoRecord,
        /// Why some files were left unchanged, a sentence each.
        kept: Vec<String>,
        /// Whether this is a new undo rather than a reversal of one.
        is_new: bool,
    },
    /// A log or a workspace was exported.
    Exported {
        /// The destination.
        file: PathBuf,
        /// What was exported, in words.
        what: String,
        /// What was left out, in words.
        left_out: Vec<String>,
    },
    /// The job failed.
    Failed(Problem),
    /// It was cancelled before it had any effect.
    Cancelled {
        /// The label of the job.
        label: String,
    },
}
