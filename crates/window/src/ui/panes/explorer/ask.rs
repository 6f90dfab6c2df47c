//! What a person asks the explorer for: by key, by menu, by hand, or in answer to a question.

use crate::base::Id;
use crate::view::pick::Thing;

/// Something that is asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// To open files in tabs.
    Open(Vec<String>),
    /// To open files in the programs that the system has for them.
    OpenOutside(Vec<String>),
    /// To make a file, in this folder.
    New(String),
    /// To give a file another path.
    Rename(String),
    /// To give a folder another path.
    RenameFolder(String),
    /// To make a second one of each.
    Duplicate(Vec<String>),
    /// To take files away.
    Delete(Vec<String>),
    /// The same, after it was asked whether that is meant.
    DeleteSurely(Vec<String>),
    /// To bring files from elsewhere into this folder.
    Import(String),
    /// To show something in the room.
    ShowInRoom(Thing),
    /// To put an agent of this profile into the room.
    AddToRoom(Id),
    /// To show a file on a rulebook in the room.
    AddRulebook(String),
    /// To open a scene, by its stem.
    OpenScene(String),
    /// To have files back.
    Restore(Vec<String>),
    /// To put files into a folder.
    Move(Vec<String>, String),
    /// To give files other paths: from and to.
    GivePaths(Vec<(String, String)>),
    /// To make a file with this text.
    Make(String, String),
    /// To fold all folders, or to unfold them.
    FoldAll(bool),
}
