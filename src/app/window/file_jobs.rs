//! File jobs for which no frame waits, as data: imports, drops, new scenes and exports, and their results.

use std::path::PathBuf;

use crate::app::importing::Imported;
use crate::base::{Id, Problem};
use crate::ui::commands::RoomAct;
use crate::ui::state::{DropPlace, ImportQuestion, UndoQuestion};
use crate::workspace::undo::{UndoPlan, Undone};
use crate::workspace::vfs::NewFile;

/// A file job.
#[derive(Clone, PartialEq, Debug)]
pub enum FileJob {
    /// Copies agent files and scenes into the workspace; existing files are never overwritten.
    TakeIn {
        /// What was dropped: files or folders.
        paths: Vec<PathBuf>,
        /// Where in the room.
        place: DropPlace,
        /// Whether the person has seen what is in the folders among them.
        is_seen: bool,
    },
    /// Writes the file of a new agent.
    MakeAgent {
        /// What it is called.
        name: String,
        /// What its file says.
        text: String,
        /// Where in the room it is placed.
        place: DropPlace,
    },
    /// Writes a scene, unless one of that name is there.
    WriteScene {
        /// The stem of its file.
        stem: String,
        /// Its text.
        text: String,
    },
    /// Copies files and folders into the workspace; existing files are never overwritten.
    Import {
        /// From where.
        paths: Vec<PathBuf>,
        /// Into which folder of the workspace; by what each is where absent.
        folder: Option<String>,
        /// Whether the person has seen what is in the folders among them.
        is_seen: bool,
    },
    /// Deletes the files of an import that have not changed since.
    TakeBack {
        /// Which.
        files: Vec<NewFile>,
    },
    /// Writes such files again.
    PutBack {
        /// Which.
        files: Vec<NewFile>,
        /// What is to be done in the room afterwards.
        acts: Vec<RoomAct>,
    },
    /// Looks what an agent did to files, and what undoing it from a moment on would come to.
    LookBack {
        /// Whose work, by id.
        agent: Id,
        /// From which moment on, in milliseconds since 1970; where absent, only what it did is looked for.
        since_ms: Option<u64>,
    },
    /// Puts files back as they were before an agent changed them.
    UndoWork {
        /// What the person has seen.
        plan: UndoPlan,
    },
    /// Takes such an undo back, or does it again where it was taken back.
    TurnUndone {
        /// Which.
        number: u64,
    },
    /// Writes the log of a run.
    ExportLog {
        /// Which run.
        run: String,
        /// Into this file, which must be new; into a new one among the exports where absent.
        file: Option<PathBuf>,
        /// What a new file is called, before its number.
        name: String,
    },
    /// Writes the whole workspace as a zip.
    ExportZip {
        /// Into this file, which must be new; into a new one among the exports where absent.
        file: Option<PathBuf>,
        /// What a new file is called, before its number.
        name: String,
    },
}

impl FileJob {
    /// What is being done, for the person who waits.
    pub(super) fn label(&self) -> String {
        match self {
            Self::TakeIn { paths, .. } if paths.len() == 1 => "Importing dropped file".to_owned(),
            Self::TakeIn { paths, .. } => format!("Importing {} dropped files", paths.len()),
            Self::MakeAgent { name, .. } => format!("Writing the file of {name}"),
            Self::WriteScene { stem, .. } => format!("Writing the scene {stem}"),
            Self::Import { .. } => "Importing files".to_owned(),
            Self::TakeBack { .. } => "Undoing an import".to_owned(),
            Self::PutBack { .. } => "Redoing an import".to_owned(),
            Self::LookBack { .. } => "Reading an agent's work".to_owned(),
            Self::UndoWork { .. } => "Undoing an agent's work".to_owned(),
            Self::TurnUndone { .. } => "Reverting an undo".to_owned(),
            Self::ExportLog { .. } => "Exporting the event log".to_owned(),
            Self::ExportZip { .. } => "Exporting the workspace".to_owned(),
        }
    }
}

/// The result of a file job.
#[derive(Clone, PartialEq, Debug)]
pub enum FileJobDone {
    /// Files were looked through; what could be used is in the workspace now.
    TakenIn {
        /// What there was.
        imported: Imported,
        /// Where in the room it was dropped.
        place: DropPlace,
    },
    /// A scene was written.
    SceneWritten {
        /// The stem of its file.
        stem: String,
    },
    /// A folder is to be imported: the person sees first what would come in.
    ImportFound(ImportQuestion),
    /// Files were copied into the workspace.
    Imported(Imported),
    /// What an import brought was taken away.
    TakenBack {
        /// How many files were to be changed.
        count: usize,
        /// Why some were not, a sentence each.
        kept: Vec<String>,
    },
    /// It was written again.
    PutBack {
        /// How many files were to be changed.
        count: usize,
        /// Why some were not, a sentence each.
        kept: Vec<String>,
        /// What is to be done in the room now.
        acts: Vec<RoomAct>,
    },
    /// What an agent did: the person chooses what is undone of it.
    LookedBack(UndoQuestion),
    /// Files were put back as they were before an agent changed them, or that was taken back.
    WorkUndone {
        /// The record of it.
        undone: Undone,
        /// Why some files stay as they are, a sentence each.
        kept: Vec<String>,
        /// Whether this was done for the first time.
        is_new: bool,
    },
    /// A log or a workspace was exported.
    Exported {
        /// Where to.
        file: PathBuf,
        /// What, in words.
        what: String,
        /// What stayed behind, in words; empty where nothing did.
        left_out: Vec<String>,
    },
    /// It could not be done.
    Failed(Problem),
    /// It was cancelled before it had any effect.
    Cancelled {
        /// What was being done.
        label: String,
    },
}
