//! What is open above the panes: a dialog, the keys, the settings, the notices, the palette, or an element's content.
//! They are closed one at a time, the topmost first.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bevy::math::Vec2;

use crate::base::Id;
use crate::workspace::undo::{RestorePoint, UndoPlan};

/// A panel that can be opened in front of the panes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FrontPanel {
    /// The command palette.
    Palette,
    /// The settings.
    Settings,
    /// The keys.
    Keys,
    /// All notices.
    Notices,
}

/// What stands in front of the panes.
#[derive(Clone, Debug, Default)]
pub struct Front {
    dialog: Option<Dialog>,
    panels: BTreeSet<FrontPanel>,
    element: Option<Id>,
}

impl Front {
    /// The question that is to be answered before anything else.
    pub fn dialog(&self) -> Option<&Dialog> {
        self.dialog.as_ref()
    }

    /// Asks something, instead of what was asked.
    pub fn ask(&mut self, dialog: Dialog) {
        self.dialog = Some(dialog);
    }

    /// The question is answered. Whether there was one.
    pub fn close_dialog(&mut self) -> bool {
        self.dialog.take().is_some()
    }

    /// The element whose content is open.
    pub fn element(&self) -> Option<&Id> {
        self.element.as_ref()
    }

    /// Opens the content of an element, instead of that of another.
    pub fn open_element(&mut self, element: Id) {
        self.element = Some(element);
    }

    /// Closes the content of an element. Whether one was open.
    pub fn close_element(&mut self) -> bool {
        self.element.take().is_some()
    }

    /// Whether a panel is open.
    pub fn is_open(&self, panel: FrontPanel) -> bool {
        self.panels.contains(&panel)
    }

    /// Whether a panel lies over the panes, so that they hear no keys.
    pub fn is_covered(&self) -> bool {
        self.panels.iter().any(|panel| *panel != FrontPanel::Palette)
    }

    /// Opens a panel.
    pub fn open(&mut self, panel: FrontPanel) {
        self.panels.insert(panel);
    }

    /// Closes a panel. Whether it was open.
    pub fn close(&mut self, panel: FrontPanel) -> bool {
        self.panels.remove(&panel)
    }

    /// Opens a panel, or closes it.
    pub fn toggle(&mut self, panel: FrontPanel) {
        if !self.close(panel) {
            self.open(panel);
        }
    }

    /// Closes what lies topmost. Whether anything was open.
    pub fn close_topmost(&mut self) -> bool {
        use FrontPanel::{Keys, Notices, Palette, Settings};
        self.close_dialog()
            || [Palette, Keys, Settings, Notices].into_iter().any(|panel| self.close(panel))
            || self.close_element()
    }
}

/// A question that stands in front of everything until it is answered.
#[derive(Clone, PartialEq, Debug)]
pub enum Dialog {
    /// What is a new scene to be called?
    NewScene,
    /// Under which name is the open scene to be saved?
    SaveSceneAs,
    /// Really begin the scene again?
    ResetScene,
    /// Really close this file, into which something was written that is not saved?
    CloseFile(String),
    /// Really close the window, while work is running or something is not saved?
    Close,
    /// Really open this address in the browser?
    OpenLink(String),
    /// Import what was found there?
    Import(ImportQuestion),
    /// Which coding agent of the person's own is to move in?
    AddCodingAgent,
    /// Which of an agent's work is to be undone?
    UndoWork(Box<UndoQuestion>),
}

/// What a file or folder is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Files to be copied into the workspace: into this folder, or by what each is where absent.
    ImportFiles(Option<String>),
    /// A folder to be copied into the workspace.
    ImportFolder(Option<String>),
    /// A workspace to be opened, or an empty folder to begin one in.
    OpenWorkspace,
    /// Where the workspace goes as a zip; the name that is offered.
    ExportZip(String),
    /// Where the event log goes; the name that is offered.
    ExportLog(String),
}

/// Where files were dropped in the room.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DropPlace {
    /// Under the pointer.
    pub position: Vec2,
    /// Whether what comes of them stands exactly there, instead of above the elements.
    pub exactly: bool,
}

/// What would be imported, for the person who decides.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportQuestion {
    /// From where.
    pub paths: Vec<PathBuf>,
    /// Into which folder of the workspace; by what each is where absent.
    pub folder: Option<String>,
    /// Where it was dropped in the room, if it was.
    pub place: Option<DropPlace>,
    /// What would come in and what not, a line each.
    pub summary: Vec<String>,
}

/// What an agent did to files, for the person who chooses what is undone of it.
#[derive(Clone, PartialEq, Debug)]
pub struct UndoQuestion {
    /// Whose work, by id.
    pub agent: Id,
    /// Its pieces of work that changed files, the newest first.
    pub points: Vec<RestorePoint>,
    /// The moment that was chosen, in milliseconds since 1970, and what going back behind it comes to.
    pub plan: Option<(u64, UndoPlan)>,
}
