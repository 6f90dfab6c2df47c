//! The windows open in front of the panes: a dialog, the shortcuts, the settings, the notices, the palette, or an
//! element. They are closed one at a time, the topmost first.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bevy::math::Vec2;

use crate::base::Id;
use crate::view::pick::RoomObject;
use crate::workspace::undo::{RestorePoint, UndoPlan};

/// A panel that can be opened in front of the panes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FrontPanel {
    /// The command palette.
    Palette,
    /// The settings.
    Settings,
    /// The keyboard shortcuts.
    Keys,
    /// All notices.
    Notices,
}

/// The windows open in front of the panes.
#[derive(Clone, Debug, Default)]
pub struct Front {
    dialog: Option<Dialog>,
    panels: BTreeSet<FrontPanel>,
    element: Option<Id>,
}

impl Front {
    /// Returns the open dialog.
    pub fn dialog(&self) -> Option<&Dialog> {
        self.dialog.as_ref()
    }

    /// Opens a dialog, instead of the open one.
    pub fn ask(&mut self, dialog: Dialog) {
        self.dialog = Some(dialog);
    }

    /// Closes the dialog. Returns whether one was open.
    pub fn close_dialog(&mut self) -> bool {
        self.dialog.take().is_some()
    }

    /// Returns the open element.
    pub fn element(&self) -> Option<&Id> {
        self.element.as_ref()
    }

    /// Opens an element, instead of the open one.
    pub fn open_element(&mut self, element: Id) {
        self.element = Some(element);
    }

    /// Closes the open element. Returns whether one was open.
    pub fn close_element(&mut self) -> bool {
        self.element.take().is_some()
    }

    /// Whether a panel is open.
    pub fn is_open(&self, panel: FrontPanel) -> bool {
        self.panels.contains(&panel)
    }

    /// Whether a panel covers the panes, so that keyboard shortcuts do not reach them.
    pub fn is_covered(&self) -> bool {
        self.panels.iter().any(|panel| *panel != FrontPanel::Palette)
    }

    /// Opens a panel.
    pub fn open(&mut self, panel: FrontPanel) {
        self.panels.insert(panel);
    }

    /// Closes a panel. Returns whether it was open.
    pub fn close(&mut self, panel: FrontPanel) -> bool {
        self.panels.remove(&panel)
    }

    /// Opens or closes a panel.
    pub fn toggle(&mut self, panel: FrontPanel) {
        if !self.close(panel) {
            self.open(panel);
        }
    }

    /// Closes the topmost panel, dialog or element. Returns whether any was open.
    pub fn close_topmost(&mut self) -> bool {
        use FrontPanel::{Keys, Notices, Palette, Settings};
        self.close_dialog()
            || [Palette, Keys, Settings, Notices].into_iter().any(|panel| self.close(panel))
            || self.close_element()
    }
}

/// A modal dialog.
#[derive(Clone, PartialEq, Debug)]
pub enum Dialog {
    /// Asks for the name of a new scene.
    NewScene,
    /// Asks for the name under which the open scene is saved.
    SaveSceneAs,
    /// Confirms restarting the scene.
    ResetScene,
    /// Confirms removing these things from the room, because agents among them work.
    DeleteWorking(Vec<RoomObject>),
    /// Confirms closing this file, which has unsaved changes.
    CloseFile(String),
    /// Confirms closing the window while agents work or files have unsaved changes.
    Close,
    /// Confirms opening this address in the browser.
    OpenLink(String),
    /// Confirms an import.
    Import(ImportQuestion),
    /// Adds one of the person's own coding agents.
    AddCodingAgent,
    /// Shows what a workspace wants, and asks whether the person trusts it.
    Trust,
    /// Chooses which work of an agent to undo.
    UndoWork(Box<UndoQuestion>),
}

/// The purpose for which a file dialog is opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileDialogPurpose {
    /// Choosing files to import into this folder, or by their kinds if absent.
    ImportFiles(Option<String>),
    /// Choosing a folder to import into this folder, or by the kinds of its files if absent.
    ImportFolder(Option<String>),
    /// Choosing a workspace, or an empty folder for a new one.
    OpenWorkspace,
    /// Saving the workspace as a zip file; the suggested name.
    ExportZip(String),
    /// Saving the event log; the suggested name.
    ExportLog(String),
}

/// Where files were dropped in the room.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DropPlace {
    /// The position of the pointer.
    pub position: Vec2,
    /// Whether the result is placed exactly there, instead of above the elements.
    pub exactly: bool,
}

/// A proposed import, to be confirmed.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportQuestion {
    /// The files and folders to import.
    pub paths: Vec<PathBuf>,
    /// The target folder in the workspace; if absent, each file goes to the folder of its kind.
    pub folder: Option<String>,
    /// Where they were dropped in the room, if they were.
    pub place: Option<DropPlace>,
    /// The files that would be imported and those that would not, one line each.
    pub summary: Vec<String>,
}

/// The restore points of an agent, to choose from.
#[derive(Clone, PartialEq, Debug)]
pub struct UndoQuestion {
    /// The id of the agent.
    pub agent: Id,
    /// The agent's activations that changed files, newest first.
    pub points: Vec<RestorePoint>,
    /// The chosen time, in milliseconds since 1970, and the changes that undoing everything after it would make.
    pub plan: Option<(u64, UndoPlan)>,
}
