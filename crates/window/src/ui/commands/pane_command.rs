//! The commands that only one pane understands. The window passes them on by the name of the pane.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::base::{Id, Seq};
use crate::ui::state::RelationshipNaming;
use crate::view::model::DecorView;

/// A command for one pane.
#[derive(Clone)]
pub struct PaneCommand {
    pane: &'static str,
    act: Arc<dyn PaneAct>,
}

/// What a pane is to do: a value of a type that only the pane knows.
trait PaneAct: Any + fmt::Debug + Send + Sync {
    /// Whether another value is of the same type, and equal.
    fn is_same(&self, other: &(dyn PaneAct + 'static)) -> bool;
}

impl<T: Any + fmt::Debug + PartialEq + Send + Sync> PaneAct for T {
    fn is_same(&self, other: &(dyn PaneAct + 'static)) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<T>() == Some(self)
    }
}

impl PaneCommand {
    /// A command for the pane with this name.
    pub fn new(pane: &'static str, act: impl Any + fmt::Debug + PartialEq + Send + Sync) -> Self {
        Self { pane, act: Arc::new(act) }
    }

    /// The name of the pane.
    pub fn pane(&self) -> &'static str {
        self.pane
    }

    /// What the pane is to do, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        let act: &dyn Any = &*self.act;
        act.downcast_ref()
    }
}

impl PartialEq for PaneCommand {
    fn eq(&self, other: &Self) -> bool {
        self.pane == other.pane && (*self.act).is_same(&*other.act)
    }
}

impl fmt::Debug for PaneCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PaneCommand").field(&self.pane).field(&self.act).finish()
    }
}

/// A command of the room.
#[derive(Clone, PartialEq, Debug)]
pub enum CanvasCommand {
    /// Selects the next or the previous thing of the room.
    SelectNext {
        /// Whether to select the next one.
        forward: bool,
    },
    /// Fits the selection into the view, or everything if nothing is selected.
    Frame,
    /// Fits all agents that work, talk, read or need the person into the view.
    ShowActive,
    /// Selects the next agent that needs the person, and zooms to it.
    NextInNeed,
    /// Multiplies the zoom of the room by this factor.
    Zoom(f32),
    /// Opens the selected thing.
    OpenSelected,
    /// Opens the context menu of the selection.
    OpenMenu,
    /// Gives the keys to the room.
    FocusRoom,
    /// Starts editing the label of a relationship.
    Name(RelationshipNaming),
    /// Turns the debug overlay on or off.
    ToggleDebugOverlay,
    /// Collapses or expands the story strip.
    ToggleStory,
    /// Starts or ends arranging the furniture.
    ToggleArranging,
    /// Selects a piece of furniture.
    ChooseFurniture(DecorView),
}

/// A command of the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GraphCommand {
    /// Shows a workflow, or the one that was shown last, and optionally runs it, which asks for the topic first.
    ShowWorkflow {
        /// The path of its file.
        path: Option<String>,
        /// Whether to run it.
        runs: bool,
    },
    /// Shows the question of a workflow's step, with the keys in its form.
    AnswerStep {
        /// The path of the workflow's file.
        path: String,
    },
}

/// A command of the editor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EditorCommand {
    /// Closes a file, or the one in front; asks first if it has unsaved changes.
    CloseFile(Option<String>),
    /// Saves all files with unsaved changes.
    SaveAll,
    /// Closes a file and discards its unsaved changes.
    DiscardFile(String),
    /// Moves the cursor in a file to a line, counted from 1.
    GoToLine(String, usize),
}

/// A command of the conversations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConversationsCommand {
    /// Shows a conversation, by its session id.
    ShowConversation(Id),
}

/// A command of the event log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogCommand {
    /// Selects a record of the current run.
    ShowRecord(Seq),
}

/// A command of the file explorer, from a key, a menu, a drag or a dialog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilesCommand {
    /// Searches for a file.
    Find,
    /// Opens files in tabs.
    Open(Vec<String>),
    /// Asks for the name of a new file in this folder.
    New(String),
    /// Creates a workflow without steps, which are drawn in the graph.
    NewEmptyWorkflow,
    /// Creates a workflow from the template of this name, with those of its agents that do not exist yet.
    NewWorkflow(&'static str),
    /// Creates a file with this path and text.
    Make(String, String),
    /// Asks for a new name of a file.
    Rename(String),
    /// Asks for a new name of a folder.
    RenameFolder(String),
    /// Renames files, as pairs of old and new path.
    GivePaths(Vec<(String, String)>),
    /// Moves files into a folder.
    Move(Vec<String>, String),
    /// Duplicates files.
    Duplicate(Vec<String>),
    /// Copies paths to the clipboard.
    CopyPaths(Vec<String>),
    /// Deletes files; asks first if there are several or one has unsaved changes.
    Delete(Vec<String>),
    /// Deletes files that the person has confirmed.
    DeleteSurely(Vec<String>),
    /// Restores deleted files.
    Restore(Vec<String>),
    /// Collapses or expands all folders.
    FoldAll(bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_panes_are_equal_if_pane_type_and_value_are() {
        let find = || PaneCommand::new("files", FilesCommand::Find);
        assert_eq!(find(), find());
        assert_ne!(find(), PaneCommand::new("files", FilesCommand::NewEmptyWorkflow));
        assert_ne!(find(), PaneCommand::new("graph", FilesCommand::Find));
        assert_ne!(find(), PaneCommand::new("files", "find"));
        assert_eq!(find().get::<FilesCommand>(), Some(&FilesCommand::Find));
        assert_eq!(find().get::<&str>(), None);
    }
}
