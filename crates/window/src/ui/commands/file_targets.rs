//! The targets of file commands: the selected row of the file list, the files that it stands for, and how the room uses
//! them.

use crate::base::Id;

/// A kind of row in the file list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FilesRow {
    /// No row: the empty space below the rows.
    #[default]
    Ground,
    /// An existing file.
    File,
    /// A folder.
    Folder,
    /// A deleted file that can be restored.
    Gone,
    /// The heading of the bin, which lists deleted files.
    Bin,
}

/// How the room uses a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum FileUse {
    /// Not at all.
    #[default]
    None,
    /// As a profile.
    Agent {
        /// The id of the profile.
        profile: Id,
        /// An agent of the profile in the room, if there is one.
        agent: Option<Id>,
    },
    /// As the content of this element, or of one that could be added.
    Element(Option<Id>),
    /// As a scene, by its file stem.
    Scene(String),
    /// As a workflow.
    Workflow,
}

/// The targets of file commands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileTargets {
    /// The kind of the selected row.
    pub row: FilesRow,
    /// The path of the row; empty for the empty space and the bin.
    pub path: String,
    /// The affected files: those selected, those in the folder, or those in the bin.
    pub paths: Vec<String>,
    /// The folder in which new files are created; empty for the workspace itself.
    pub folder: String,
    /// Whether it is a record kept by the program, which cannot be changed.
    pub is_record: bool,
    /// How the room uses the file.
    pub used: FileUse,
}
