//! One entry of the table: a command with its shortcuts and menus, whether it applies now, and its effect.

use bevy::math::Vec2;
use egui::{Key, KeyboardShortcut, Modifiers};

use crate::ui::UiState;
use crate::ui::commands::file_targets::FileTargets;
use crate::ui::commands::{Command, WindowCommand};
use crate::view::model::RoomModel;

/// Where the shortcuts of a command apply.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyContext {
    /// Everywhere.
    Everywhere,
    /// Everywhere except while typing.
    NotWriting,
    /// In the room: unless another widget has the focus.
    Room,
    /// In the file list.
    Files,
    /// In an open file.
    Editor,
    /// In the search fields of a file.
    Finding,
    /// In the graph.
    Graph,
}

impl KeyContext {
    /// Returns the label for people.
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

/// A menu, or a section of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Menu {
    /// The workspace menu in the top bar.
    Workspace,
    /// The list of workspaces, in the workspace menu.
    OpenWorkspace,
    /// The scene menu.
    Scene,
    /// The list of panes, in the workspace menu.
    Panes,
    /// The agent section of a context menu, above [`Menu::Thing`].
    Agent,
    /// The choice of what an agent does while idle, in its context menu.
    WhenIdle,
    /// The element section of a context menu, above [`Menu::Thing`].
    Element,
    /// The section of a context menu for agents and elements.
    Thing,
    /// The context menu of a relationship.
    Rope,
    /// The context menu of the canvas.
    Floor,
    /// The first section of a file's context menu, which opens it.
    File,
    /// The section for files that define an agent.
    AgentFile,
    /// The section for files that an element can show.
    ElementFile,
    /// The section for scenes.
    SceneFile,
    /// The section for workflows.
    WorkflowFile,
    /// The templates of workflows, in the context menu of their folder.
    NewWorkflow,
    /// The last section of a file's context menu, for all files.
    Files,
    /// The context menu of a folder.
    Folder,
    /// The context menu of a deleted file.
    GoneFile,
    /// The context menu of the bin.
    Bin,
    /// The context menu of the file list itself.
    FilesGround,
}

/// How a command can be undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UndoKind {
    /// With "Undo".
    ByUndo,
    /// With the same command again, or with its opposite.
    ByItsOpposite,
    /// Not needed: the command changes only the view.
    NothingToUndo,
    /// Not at all; the command asks first, or loses nothing.
    Irreversible,
}

impl UndoKind {
    /// Returns the label for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::ByUndo => "by Undo",
            Self::ByItsOpposite => "by the opposite command",
            Self::NothingToUndo => "nothing to undo",
            Self::Irreversible => "cannot be undone",
        }
    }
}

/// The input from which a command determines whether it applies and which actions it performs.
#[derive(Clone, Copy)]
pub struct CommandContext<'a> {
    /// The current state of the room.
    pub room: &'a RoomModel,
    /// The state of the window.
    pub ui: &'a UiState,
    /// The position in the room on which a context menu was opened.
    pub at: Option<Vec2>,
    /// The files that file commands apply to.
    pub files: &'a FileTargets,
}

/// Whether a command applies now, or why not.
pub type Applies = fn(&CommandContext<'_>) -> Result<(), &'static str>;

/// A command of the table.
#[derive(Clone, Copy, Debug)]
pub struct CommandInfo {
    /// The permanent id: `room.pause`.
    pub id: &'static str,
    /// The name, for people.
    pub name: &'static str,
    /// The description, for tooltips; empty if the name is sufficient.
    pub about: &'static str,
    /// The shortcuts; menus show the first.
    pub keys: &'static [KeyboardShortcut],
    /// Where the shortcuts apply.
    pub context: KeyContext,
    /// The menus that contain the command, with its label in each.
    pub menus: &'static [(Menu, &'static str)],
    /// Whether it decides something that others act on, or takes something away: its shortcuts count only where the
    /// person has chosen the room or an approval card.
    pub decides: bool,
    /// Whether the palette lists it.
    pub is_in_palette: bool,
    /// Whether the command applies now.
    pub applies: Applies,
    /// For one of several exclusive options: whether it is the current one.
    pub checked: fn(&CommandContext<'_>) -> Option<bool>,
    /// How the command can be undone.
    pub undone: UndoKind,
    /// Returns the resulting commands; called only if it applies.
    pub make: fn(&CommandContext<'_>) -> Vec<Command>,
}

impl CommandInfo {
    /// Creates a command without shortcuts and menus that needs no undo.
    pub const fn new(id: &'static str, name: &'static str, make: fn(&CommandContext<'_>) -> Vec<Command>) -> Self {
        Self {
            id,
            name,
            about: "",
            keys: &[],
            context: KeyContext::NotWriting,
            menus: &[],
            decides: false,
            is_in_palette: true,
            applies: always,
            checked: |_| None,
            undone: UndoKind::NothingToUndo,
            make,
        }
    }

    /// Sets the shortcuts and where they apply.
    #[must_use]
    pub const fn keys(mut self, context: KeyContext, keys: &'static [KeyboardShortcut]) -> Self {
        (self.context, self.keys) = (context, keys);
        self
    }

    /// Sets the menus.
    #[must_use]
    pub const fn menus(mut self, menus: &'static [(Menu, &'static str)]) -> Self {
        self.menus = menus;
        self
    }

    /// Sets how it can be undone.
    #[must_use]
    pub const fn undone(mut self, undone: UndoKind) -> Self {
        self.undone = undone;
        self
    }

    /// Marks it as deciding something.
    #[must_use]
    pub const fn deciding(mut self) -> Self {
        self.decides = true;
        self
    }

    /// Sets the condition under which it applies.
    #[must_use]
    pub const fn only(mut self, applies: Applies) -> Self {
        self.applies = applies;
        self
    }

    /// Marks it as one of several exclusive options; `checked` tells whether it is the current one.
    #[must_use]
    pub const fn checked(mut self, checked: fn(&CommandContext<'_>) -> Option<bool>) -> Self {
        self.checked = checked;
        self
    }

    /// Sets the description.
    #[must_use]
    pub const fn description(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Excludes it from the palette, because it makes sense only in its pane or menu.
    #[must_use]
    pub const fn not_in_palette(mut self) -> Self {
        self.is_in_palette = false;
        self
    }

    /// Returns the resulting commands; none if it does not apply.
    pub fn run(&self, cx: &CommandContext<'_>) -> Vec<Command> {
        if (self.applies)(cx).is_ok() { (self.make)(cx) } else { Vec::new() }
    }

    /// Returns where the shortcuts apply, for people.
    pub fn place(&self) -> &'static str {
        match self.context {
            KeyContext::NotWriting if self.decides => "once you chose the card or the room",
            KeyContext::Room if self.decides => "in the room, once you chose it",
            context => context.label(),
        }
    }

    /// Returns the label in a menu, if that contains the command.
    pub fn in_menu(&self, menu: Menu) -> Option<&'static str> {
        self.menus.iter().find(|(own, _)| *own == menu).map(|(_, label)| *label)
    }
}

/// The condition of commands that always apply.
pub(super) fn always(_: &CommandContext<'_>) -> Result<(), &'static str> {
    Ok(())
}

/// Returns one command of the window.
pub(super) fn window(command: impl Into<WindowCommand>) -> Vec<Command> {
    vec![Command::Window(command.into())]
}

/// Returns the shortcut of a key alone.
pub(super) const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

/// Returns the shortcut of a key with Ctrl, or with the command key on a Mac.
pub(super) const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

/// Returns the shortcut of a key with Ctrl and Shift.
pub(super) const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// Returns the shortcut of a key with Shift.
pub(super) const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

/// Returns an entry of the table; short for [`CommandInfo::new`].
pub(super) const fn of(
    id: &'static str,
    name: &'static str,
    make: fn(&CommandContext<'_>) -> Vec<Command>,
) -> CommandInfo {
    CommandInfo::new(id, name, make)
}

/// Returns an entry for a command that a pane handles itself while it has the focus; it is listed so that its shortcut
/// is documented and cannot conflict.
pub(super) const fn of_pane(
    id: &'static str,
    name: &'static str,
    context: KeyContext,
    keys: &'static [KeyboardShortcut],
) -> CommandInfo {
    of(id, name, |_| Vec::new()).keys(context, keys).not_in_palette()
}
