//! One line of the table: a command with its keys and menus, whether it is available now, and its effect.

use bevy::math::Vec2;
use egui::{Key, KeyboardShortcut, Modifiers};

use crate::ui::UiState;
use crate::ui::commands::file_targets::FileTargets;
use crate::ui::commands::{Command, WindowCommand};
use crate::view::model::RoomModel;

/// Where the keys of a command work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyContext {
    /// Everywhere.
    Everywhere,
    /// Unless a text is being written.
    NotWriting,
    /// In the room: unless another widget has the keyboard.
    Room,
    /// In the list of files.
    Files,
    /// In a file that is open.
    Editor,
    /// In the fields for finding in a file.
    Finding,
    /// Over the graph.
    Graph,
}

impl KeyContext {
    /// As people read of it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::NotWriting => "except while typing",
            Self::Room => "in the room",
            Self::Files => "in Files",
            Self::Editor => "in an open file",
            Self::Finding => "while searching a file",
            Self::Graph => "over the graph",
        }
    }
}

/// A menu of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Menu {
    /// That of the workspace, in the bar at the top.
    Workspace,
    /// The list of workspaces to open, in the menu of the workspace.
    OpenWorkspace,
    /// That of the scene.
    Scene,
    /// The list of panes in the menu of the workspace.
    Panes,
    /// That of an agent, above what can be done with every thing.
    Agent,
    /// What an agent does while it has nothing to do, in its menu.
    WhenIdle,
    /// That of an element, above what can be done with every thing.
    Element,
    /// That of a thing in the room.
    Thing,
    /// That of a relationship.
    Rope,
    /// That of the canvas.
    Floor,
    /// That of a file in the list of files: what opens it.
    File,
    /// What else can be done with a file that defines an agent.
    AgentFile,
    /// What else can be done with a file that an element can show.
    ElementFile,
    /// What else can be done with a scene.
    SceneFile,
    /// What else can be done with a workflow.
    WorkflowFile,
    /// The templates of workflows, in the menu of the folder for them.
    NewWorkflow,
    /// Below these: what can be done with every file.
    Files,
    /// That of a folder.
    Folder,
    /// That of a file that is gone.
    GoneFile,
    /// That of the bin.
    Bin,
    /// That of the list of files itself.
    FilesGround,
}

/// How what a command did is taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undone {
    /// By "Undo".
    ByUndo,
    /// By the same command once more, or by its opposite.
    ByItsOpposite,
    /// Nothing has to be: it changes only what is seen.
    NothingToUndo,
    /// It cannot be undone; it asks first, or loses nothing.
    CannotBe,
}

impl Undone {
    /// As people read of it.
    pub fn label(self) -> &'static str {
        match self {
            Self::ByUndo => "by Undo",
            Self::ByItsOpposite => "by the opposite command",
            Self::NothingToUndo => "nothing to undo",
            Self::CannotBe => "cannot be undone",
        }
    }
}

/// What tells whether a command can be given, and what it comes to.
#[derive(Clone, Copy)]
pub struct CommandContext<'a> {
    /// The room as it is now.
    pub room: &'a RoomModel,
    /// What is selected and open.
    pub ui: &'a UiState,
    /// The place of the room that a menu was opened on.
    pub at: Option<Vec2>,
    /// The row of the list of files that commands about files are about.
    pub files: &'a FileTargets,
}

/// Whether a command can be given now, or why not.
pub type Applies = fn(&CommandContext<'_>) -> Result<(), &'static str>;

/// One command.
#[derive(Clone, Copy, Debug)]
pub struct CommandInfo {
    /// Names it for ever: `room.pause`.
    pub id: &'static str,
    /// What it does, for people.
    pub name: &'static str,
    /// More about it, for tooltips; empty where the name says it all.
    pub about: &'static str,
    /// The keys that do it; the first is the one that menus show.
    pub keys: &'static [KeyboardShortcut],
    /// Where these work.
    pub context: KeyContext,
    /// The menus that have it, and what it is called in each.
    pub menus: &'static [(Menu, &'static str)],
    /// Whether the palette lists it.
    pub is_in_palette: bool,
    /// Whether it can be given now.
    pub applies: Applies,
    /// Whether what it chooses holds already, for one of several that exclude each other.
    pub holds: fn(&CommandContext<'_>) -> Option<bool>,
    /// How it is taken back.
    pub undone: Undone,
    /// What it comes to.
    pub make: fn(&CommandContext<'_>) -> Vec<Command>,
}

impl CommandInfo {
    /// A command that changes only what is seen, without keys and menus.
    pub const fn new(id: &'static str, name: &'static str, make: fn(&CommandContext<'_>) -> Vec<Command>) -> Self {
        Self {
            id,
            name,
            about: "",
            keys: &[],
            context: KeyContext::NotWriting,
            menus: &[],
            is_in_palette: true,
            applies: always,
            holds: |_| None,
            undone: Undone::NothingToUndo,
            make,
        }
    }

    /// With these keys, which work there.
    #[must_use]
    pub const fn keys(mut self, context: KeyContext, keys: &'static [KeyboardShortcut]) -> Self {
        (self.context, self.keys) = (context, keys);
        self
    }

    /// In these menus.
    #[must_use]
    pub const fn menus(mut self, menus: &'static [(Menu, &'static str)]) -> Self {
        self.menus = menus;
        self
    }

    /// Taken back like this.
    #[must_use]
    pub const fn undone(mut self, undone: Undone) -> Self {
        self.undone = undone;
        self
    }

    /// Only where this allows it.
    #[must_use]
    pub const fn only(mut self, applies: Applies) -> Self {
        self.applies = applies;
        self
    }

    /// One of several that exclude each other: whether it is the one that holds.
    #[must_use]
    pub const fn holds(mut self, holds: fn(&CommandContext<'_>) -> Option<bool>) -> Self {
        self.holds = holds;
        self
    }

    /// With more to say about it.
    #[must_use]
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Not in the palette: it is of use only where one is.
    #[must_use]
    pub const fn not_in_palette(mut self) -> Self {
        self.is_in_palette = false;
        self
    }

    /// What it comes to now; nothing where it does not apply.
    pub fn run(&self, cx: &CommandContext<'_>) -> Vec<Command> {
        if (self.applies)(cx).is_ok() { (self.make)(cx) } else { Vec::new() }
    }

    /// What it is called in a menu, if that has it.
    pub fn in_menu(&self, menu: Menu) -> Option<&'static str> {
        self.menus.iter().find(|(own, _)| *own == menu).map(|(_, label)| *label)
    }
}

/// Whatever is so.
pub(super) fn always(_: &CommandContext<'_>) -> Result<(), &'static str> {
    Ok(())
}

/// One command of the window alone.
pub(super) fn window(command: WindowCommand) -> Vec<Command> {
    vec![Command::Window(command)]
}

/// A key by itself.
pub(super) const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

/// With Ctrl; with the command key on a Mac.
pub(super) const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

/// With Ctrl and Shift.
pub(super) const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// With Shift.
pub(super) const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

/// A line of the table.
pub(super) const fn of(
    id: &'static str,
    name: &'static str,
    make: fn(&CommandContext<'_>) -> Vec<Command>,
) -> CommandInfo {
    CommandInfo::new(id, name, make)
}

/// A command of a pane that handles it itself while it has the keyboard focus; listed so that its keys are documented
/// and do not conflict.
pub(super) const fn of_pane(
    id: &'static str,
    name: &'static str,
    context: KeyContext,
    keys: &'static [KeyboardShortcut],
) -> CommandInfo {
    of(id, name, |_| Vec::new()).keys(context, keys).not_in_palette()
}
