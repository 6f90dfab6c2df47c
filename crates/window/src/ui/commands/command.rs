//! Everything that a person can do in the window, as data: panes return commands, and one place runs them and can undo
//! them.

use std::path::PathBuf;
use std::sync::Arc;

use bevy::math::Vec2;

use super::job::Job;
use super::pane_command::{
    CanvasCommand, ConversationsCommand, EditorCommand, FilesCommand, GraphCommand, LogCommand, PaneCommand,
};
use crate::agent::{AgentCommand, McpServer};
use crate::base::Id;
use crate::desk::trust_page::TrustPage;
use crate::element::{ElementCommand, ElementEdit};
use crate::gateway::keys::Secret;
use crate::kernel::{ApprovalId, KernelCommand};
use crate::orchestration::CollaborationCommand;
use crate::orchestration::workflow::WorkflowCommand;
use crate::schedule::Speed;
use crate::simulation::{ConversationCommand, FurnishCommand, RelationshipCommand, TaskCommand};
use crate::ui::state::dock::Tab;
use crate::ui::state::tab;
use crate::ui::state::{
    Dialog, DropPlace, FileDialogPurpose, FrontPanel, ImportQuestion, Outcome, ShelfItem, ThemeChoice,
};
use crate::view::dates::DateLanguage;
use crate::view::pick::RoomObject;
use crate::view::who_knows::WhoKnows;
use crate::workspace::undo::UndoPlan;
use crate::workspace::vfs::FileCommand;
use crate::workspace::{Relationship, SettingsEdit};

/// A change of the room. All of them pass through one place, so that they are recorded.
#[derive(Clone, PartialEq, Debug)]
pub enum RoomAct {
    /// A change of an agent.
    Agent(AgentCommand),
    /// The positions and names of elements.
    Element(ElementCommand),
    /// A change of an element's content.
    Edit(ElementEdit),
    /// A change of a conversation.
    Talk(ConversationCommand),
    /// A task for an agent.
    Task(TaskCommand),
    /// A change of a relationship.
    Relate(RelationshipCommand),
    /// A change of the furniture.
    Furnish(FurnishCommand),
    /// A change of running work.
    Work(KernelCommand),
    /// A change of a channel or blackboard.
    Together(CollaborationCommand),
    /// A change of a workflow.
    Workflow(WorkflowCommand),
    /// A change of a file.
    File(FileCommand),
    /// A change of the workspace's settings.
    Settings(SettingsEdit),
}

/// A command that changes only the window, neither the room nor any file.
#[derive(Clone, PartialEq, Debug)]
pub enum WindowCommand {
    /// Selects these things instead of the selected ones; an empty list deselects all.
    Select(Vec<RoomObject>),
    /// Selects everything in the room.
    SelectAll,
    /// Selects a relationship.
    SelectRope(Relationship),
    /// Shows a file in the inspector.
    ChooseFile(Option<String>),
    /// Opens an element, or zooms to an agent.
    OpenThing(RoomObject),
    /// Opens the overlay of an element.
    OpenElement(Id),
    /// Closes the overlay of an element.
    CloseElement,
    /// Selects a thing and moves the camera to it.
    GoTo(RoomObject),
    /// Moves the next or the previous waiting approval to the front, and scrolls its agent into view.
    StepQuestion {
        /// Whether to step to the next one.
        forward: bool,
    },
    /// Chooses the approval in front for the keys that answer it; if it is chosen already, the next one.
    TakeQuestion,
    /// Moves this approval to the front, and scrolls its agent into view.
    ChooseQuestion(ApprovalId),
    /// Selects the agent of the approval in front, and scrolls it into view.
    ShowQuestion,
    /// Highlights the agents that know something; `None` ends the highlighting.
    LightUp(Option<Arc<WhoKnows>>),
    /// Starts dragging a shelf item; `None` stops.
    Drag(Option<ShelfItem>),
    /// Shows a tab, or hides it if it is in front.
    ToggleTab(Tab),
    /// Closes a tab.
    CloseTab(Tab),
    /// Resets the layout of the panes.
    ResetPanes,
    /// Opens or closes the command palette.
    TogglePalette,
    /// Shows or hides the keyboard shortcuts.
    ToggleKeys,
    /// Shows or hides the settings.
    ToggleSettings,
    /// Shows the settings, scrolled to this one if given.
    ShowSettings(Option<String>),
    /// Shows or hides the notices.
    ToggleNotices,
    /// Shows the notices.
    ShowNotices,
    /// Dismisses a notice.
    Notice(NoticeCommand),
    /// Closes a panel in front of the panes.
    Close(FrontPanel),
    /// Closes the open dialog.
    CloseDialog,
    /// Switches between the light and the dark theme.
    ToggleTheme,
    /// Sets the theme: light, dark, or that of the operating system.
    SetLight(ThemeChoice),
    /// Sets the language of dates.
    SetDates(DateLanguage),
    /// Sets whether motion is reduced.
    SetCalm(bool),
    /// Changes the text size by steps of 0.1.
    StepTextSize(i32),
    /// Resets the text size.
    ResetTextSize,
    /// Opens a dialog.
    Ask(Dialog),
    /// Opens the dialog that chooses a file or folder of the computer.
    Browse(FileDialogPurpose),
    /// Adds a task to the recent tasks.
    RememberTask(String),
    /// Begins a task in the bar below the room, for the person to complete.
    BeginTask {
        /// The agent that is to do the task.
        agent: Id,
        /// The beginning of the task.
        text: String,
    },
    /// Says that nothing was done, and why.
    Hint(String),
    /// Shows a notice, and whether it reports a success.
    Tell(String, bool),
    /// Cancels a drag; otherwise closes the topmost dialog or panel; otherwise clears the selection.
    Escape,
    /// Runs a command that only one pane understands.
    Pane(PaneCommand),
}

/// Dismisses a notice, which remains in the list of all notices.
#[derive(Clone, PartialEq, Debug)]
pub enum NoticeCommand {
    /// These problems, by their indices on the board.
    PutAside(Vec<usize>),
    /// All problems.
    PutAllAside,
    /// A result.
    PutOutcomeAside(Outcome),
    /// The notice that a cap was reached, by its text.
    PutCapAside(String),
    /// The failures of a provider, by their key.
    PutFaultAside(String),
    /// The first steps, permanently.
    CloseHint,
}

/// A command of the person.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Changes only the window.
    Window(WindowCommand),
    /// Changes the room, with the inverse if it is known here. For contents of elements, relationships and new things,
    /// the inverse is computed where the change is made.
    Act(RoomAct, Option<RoomAct>),
    /// Makes several changes that are undone as one.
    Acts(Vec<(RoomAct, Option<RoomAct>)>),
    /// Moves elements by a small offset.
    Nudge(Vec<Id>, Vec2),
    /// Removes things from the room; asks first if agents among them work.
    Delete(Vec<RoomObject>),
    /// Removes things from the room, as the person has confirmed.
    DeleteSurely(Vec<RoomObject>),
    /// Duplicates things, each beside the original.
    Duplicate(Vec<RoomObject>),
    /// Copies things.
    Copy(Vec<RoomObject>),
    /// Pastes the copied things at this position.
    Paste(Vec2),
    /// Undoes the last change.
    Undo,
    /// Redoes the last undone change.
    Redo,
    /// Pauses or resumes the room.
    SetPaused(bool),
    /// Sets the speed of the simulation.
    SetSpeed(Speed),
    /// Opens a scene of this workspace, by its file stem.
    OpenScene(String),
    /// Creates a scene with this name and opens it.
    NewScene(String),
    /// Saves the open scene under another name and continues in the new one.
    SaveSceneAs(String),
    /// Restarts the open scene from its file; memories and positions are lost.
    ResetScene,
    /// Imports files or folders that were dropped in the room, and adds their agents to it.
    Import {
        /// The dropped files and folders.
        paths: Vec<PathBuf>,
        /// The position in the room.
        place: DropPlace,
    },
    /// Overrides the provider: `offline`, `openai:model`, …
    SetProvider(String),
    /// Sends a small request to a provider, to test whether it answers.
    TestProvider(String),
    /// Stores a provider's key among the person's own files, under the name of its environment variable.
    KeepKey(&'static str, Secret),
    /// Cancels the test of a provider.
    StopTrial,
    /// Ends the override, so that the settings and the agents decide the provider again.
    EndProviderOverride,
    /// Changes the workspace's settings.
    SetSettings(SettingsEdit),
    /// Adds an agent that one of the person's own coding agents answers for.
    AddCodingAgent {
        /// The name of the agent.
        name: String,
        /// The provider and model: `acp:claude`.
        model: String,
        /// The position in the room.
        place: DropPlace,
    },
    /// Connects an MCP server now, by its key, even if it is not needed.
    TestServer(Id),
    /// Gives the consent to use exactly this MCP server in this workspace.
    AllowServer(Box<McpServer>),
    /// Withdraws the consent to this MCP server.
    ForbidServer(Box<McpServer>),
    /// Shows what a workspace wants and what would start by itself: the open one, or the one in this folder.
    ShowTrust(Option<PathBuf>),
    /// Trusts a workspace with exactly what this page shows.
    TrustWorkspace(Arc<TrustPage>),
    /// Withdraws the trust in the workspace in this folder.
    RevokeTrust(PathBuf),
    /// Opens a file of the workspace in a tab, at this line if given.
    OpenFile(String, Option<usize>),
    /// Opens a file of the workspace in the program that the operating system associates with it.
    OpenOutside(String),
    /// Shows a tab.
    Show(Tab),
    /// Copies files and folders into the workspace: agent files into the folder of agents, others into that of
    /// artifacts, or all into this folder.
    ImportFiles {
        /// The files and folders to import.
        paths: Vec<PathBuf>,
        /// The target folder in the workspace; if absent, each file goes to the folder of its kind.
        folder: Option<String>,
    },
    /// Opens the dialog that shows an agent's changes to files and previews undoing them from a chosen time on.
    LookBack {
        /// The id of the agent.
        agent: Id,
        /// The time from which on to undo, in milliseconds since 1970.
        since_ms: Option<u64>,
    },
    /// Undoes an agent's changes of files, as the person has confirmed.
    UndoWork(UndoPlan),
    /// Performs an import that the person has confirmed.
    ImportSeen(ImportQuestion),
    /// Exports the log of this run as JSON lines to this file, or to the workspace's exports if none is given.
    ExportLog(Option<PathBuf>),
    /// Exports the workspace as a zip file, beside the workspace if no file is given.
    ExportZip(Option<PathBuf>),
    /// Opens another workspace.
    OpenWorkspace(PathBuf),
    /// Shows the log of an earlier run, or of the open room if absent.
    ShowRun(Option<Id>),
    /// Saves a picture of the window to this file, or to the workspace's pictures if none is given.
    Screenshot(Option<PathBuf>),
    /// Runs a job in the background, for a pane.
    Run(Job),
    /// Closes the window; asks first if agents work or files have unsaved changes.
    Quit,
    /// Closes the window, even if agents work.
    QuitNow,
    /// Closes the window as soon as the files that are being saved are saved; stays open if one cannot be.
    QuitWhenSaved,
    /// Whether to close the window as soon as no agent works.
    QuitWhenDone(bool),
}

impl From<WindowCommand> for Command {
    fn from(command: WindowCommand) -> Self {
        Self::Window(command)
    }
}

impl From<PaneCommand> for WindowCommand {
    fn from(command: PaneCommand) -> Self {
        Self::Pane(command)
    }
}

impl From<PaneCommand> for Command {
    fn from(command: PaneCommand) -> Self {
        Self::Window(command.into())
    }
}

/// Lets the commands of a pane of every window be returned like all others.
macro_rules! commands_of_panes {
    ($($command:ty => $pane:expr),* $(,)?) => {$(
        impl From<$command> for WindowCommand {
            fn from(command: $command) -> Self {
                Self::Pane(PaneCommand::new($pane, command))
            }
        }

        impl From<$command> for Command {
            fn from(command: $command) -> Self {
                Self::Window(command.into())
            }
        }
    )*};
}

commands_of_panes! {
    CanvasCommand => tab::ROOM,
    GraphCommand => tab::GRAPH,
    FilesCommand => tab::FILES,
    EditorCommand => tab::FILE,
    ConversationsCommand => tab::TALKS,
    LogCommand => tab::LOG,
}
