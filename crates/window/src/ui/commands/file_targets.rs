//! The targets of commands about files: the selected row of the file list, the files that belong to it, and what these
//! are in the room.

use crate::base::Id;

/// A row of the list of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FilesRow {
    /// None: the ground below the rows.
    #[default]
    Ground,
    /// A file that is there.
    File,
    /// A folder.
    Folder,
    /// A deleted file that can be restored.
    Gone,
    /// The heading over what is gone.
    Bin,
}

/// What a file is to the room.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum FileUse {
    /// Nothing.
    #[default]
    None,
    /// It defines a profile, of which this agent is in the room.
    Agent {
        /// The profile.
        profile: Id,
        /// The agent, where there is one.
        agent: Option<Id>,
    },
    /// It holds what an element shows, or could.
    Element(Option<Id>),
    /// It is a scene, by its stem.
    Scene(String),
    /// It is a workflow.
    Workflow,
}

/// What commands about files are about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileTargets {
    /// The kind of the row.
    pub row: FilesRow,
    /// What the row stands for, by path; empty for the ground and for the bin.
    pub path: String,
    /// The files that are meant: those that are selected, those in the folder, those in the bin.
    pub paths: Vec<String>,
    /// The folder that something new comes to lie in; empty for the workspace itself.
    pub folder: String,
    /// Whether it is the program's own record.
    pub is_record: bool,
    /// What the file is to the room.
    pub used: FileUse,
}
