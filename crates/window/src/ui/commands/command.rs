//! Everything that a person can do in the window, as data: panes return commands, one place carries them out, and each
//! can be undone from there.

use std::path::PathBuf;
use std::sync::Arc;

use bevy::math::Vec2;

use super::job::Job;
use crate::agent::{AgentCommand, McpServer};
use crate::base::Id;
use crate::element::{ElementCommand, ElementEdit};
use crate::gateway::keys::Secret;
use crate::kernel::{ApprovalId, KernelCommand};
use crate::orchestration::CollaborationCommand;
use crate::orchestration::workflow::WorkflowCommand;
use crate::schedule::Speed;
use crate::simulation::{ConversationCommand, FurnishCommand, RelationshipCommand, TaskCommand};
use crate::ui::state::dock::Tab;
use crate::ui::state::{Dialog, DropPlace, FrontPanel, ImportQuestion, Light, Naming, Outcome, Purpose, ShelfItem};
use crate::view::dates::DateLanguage;
use crate::view::model::DecorView;
use crate::view::pick::Thing;
use crate::view::who_knows::WhoKnows;
use crate::workspace::undo::UndoPlan;
use crate::workspace::vfs::FileCommand;
use crate::workspace::{Relationship, SettingsEdit};

/// Something that changes the room. Enters through the one door, so that it is recorded.
#[derive(Clone, PartialEq, Debug)]
pub enum RoomAct {
    /// About an agent.
    Agent(AgentCommand),
    /// The positions and names of elements.
    Element(ElementCommand),
    /// About what an element holds.
    Edit(ElementEdit),
    /// About conversations.
    Talk(ConversationCommand),
    /// A task for an agent.
    Task(TaskCommand),
    /// About who is what to whom.
    Relate(RelationshipCommand),
    /// About furniture.
    Furnish(FurnishCommand),
    /// About running work.
    Work(KernelCommand),
    /// About channels and blackboards.
    Together(CollaborationCommand),
    /// About workflows.
    Workflow(WorkflowCommand),
    /// About a file.
    File(FileCommand),
    /// About the settings of the workspace.
    Settings(SettingsEdit),
}

/// Something that concerns the window alone: nothing in the room and no file changes by it.
#[derive(Clone, PartialEq, Debug)]
pub enum WindowCommand {
    /// Selects these instead of what was selected; deselects where there are none.
    Select(Vec<Thing>),
    /// Selects everything in the room.
    SelectAll,
    /// Selects the next thing of the room, or the one before.
    SelectNext {
        /// The next one.
        forward: bool,
    },
    /// Selects a relationship.
    SelectRope(Relationship),
    /// Makes a file the one that is looked at.
    ChooseFile(Option<String>),
    /// Brings the selection into view, or everything if nothing is selected.
    Frame,
    /// Brings everybody into view who works, talks or needs the person.
    ShowBusy,
    /// Selects the next agent that needs the person, and comes near.
    NextInNeed,
    /// Makes everything in the room larger by this.
    Zoom(f32),
    /// Opens what is selected.
    OpenSelected,
    /// Opens an element, or comes near an agent.
    OpenThing(Thing),
    /// Opens the overlay of an element.
    OpenElement(Id),
    /// Closes the overlay of an element.
    CloseElement,
    /// Selects a thing, and lets the view glide to it.
    GoTo(Thing),
    /// Opens the menu of what is selected.
    OpenMenu,
    /// Moves the next or the previous question of an agent to the front, and brings its agent into view.
    StepQuestion {
        /// The next one.
        forward: bool,
    },
    /// Moves this question to the front, and brings its agent into view.
    ChooseQuestion(ApprovalId),
    /// Brings the agent of the question in front into view, and selects it.
    ShowQuestion,
    /// Highlights the agents that know something; nobody if it is `None`.
    LightUp(Option<Arc<WhoKnows>>),
    /// Shows a conversation, by its session.
    ShowConversation(Id),
    /// Writes the label of a relationship.
    Name(Naming),
    /// Takes something into the hand, or nothing any more.
    Drag(Option<ShelfItem>),
    /// Shows a tab, or hides it where it is in front.
    ToggleTab(Tab),
    /// Puts a tab away.
    CloseTab(Tab),
    /// Puts all panes back where they were at first.
    ResetPanes,
    /// Closes a file, or the one in front; asks first where something in it is not saved.
    CloseFile(Option<String>),
    /// Closes a file whatever was written into it.
    DiscardFile(String),
    /// Opens or closes the command palette.
    TogglePalette,
    /// Shows or hides the keys.
    ToggleKeys,
    /// Shows or hides the settings.
    ToggleSettings,
    /// Shows the settings, at this one if it is named.
    ShowSettings(Option<String>),
    /// Shows or hides the notices.
    ToggleNotices,
    /// Shows the notices.
    ShowNotices,
    /// Dismisses a notice.
    Notice(NoticeCommand),
    /// Closes a panel in front of the panes.
    Close(FrontPanel),
    /// The question in front of everything is answered.
    CloseDialog,
    /// Turns the debug overlay on or off.
    ToggleDebugOverlay,
    /// Folds the story strip, or unfolds it.
    ToggleStory,
    /// Begins to arrange the furniture, or ends it.
    ToggleArranging,
    /// Chooses a piece of furniture that is arranged.
    ChooseFurniture(DecorView),
    /// Light or dark.
    ToggleTheme,
    /// Light, dark, or as the system has it.
    SetLight(Light),
    /// The language of dates.
    SetDates(DateLanguage),
    /// Whether the interface moves as little as it can.
    SetCalm(bool),
    /// Makes text larger or smaller, by tenths.
    StepTextSize(i32),
    /// Text as large as usual.
    ResetTextSize,
    /// Asks something in front of everything.
    Ask(Dialog),
    /// Asks for a file or a folder of the computer.
    Browse(Purpose),
    /// Keeps a task that was given, so that it can be given again.
    RememberTask(String),
    /// Begins a task in the bar below the room, for the person to continue.
    BeginTask {
        /// Who is to do it.
        agent: Id,
        /// How it begins.
        text: String,
    },
    /// Tells the person something, and whether it is good.
    Tell(String, bool),
    /// Cancels a drag, otherwise closes what is open, otherwise deselects.
    Escape,
    /// Shows a workflow in the graph, or the one that was shown last, and lets it run: asks what it is to be about
    /// first.
    ShowWorkflow {
        /// Its file.
        path: Option<String>,
        /// Whether it is to run.
        runs: bool,
    },
    /// Asks something of the explorer.
    Files(FilesCommand),
    /// Asks something of a pane that was added, by its name and that of the command.
    Pane(&'static str, &'static str),
}

/// Something that the person was told is put aside; the list of notices still has it.
#[derive(Clone, PartialEq, Debug)]
pub enum NoticeCommand {
    /// These problems, by their places on the board.
    PutAside(Vec<usize>),
    /// Every problem.
    PutAllAside,
    /// How something went.
    PutOutcomeAside(Outcome),
    /// A cap that was reached, as it reads.
    PutCapAside(String),
    /// A run of failures of a provider, by its mark.
    PutFaultAside(String),
    /// The first steps, permanently.
    CloseHint,
}

/// Something that the explorer is asked for: by key, by menu, by hand, or in answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilesCommand {
    /// To look for a file.
    Find,
    /// To open files in tabs.
    Open(Vec<String>),
    /// To make a file, in this folder.
    New(String),
    /// To make a workflow without steps, which are drawn in the graph.
    NewEmptyWorkflow,
    /// To make a workflow from the template of this name, with the agents that it names and that are not there.
    NewWorkflow(&'static str),
    /// To make a file with this text.
    Make(String, String),
    /// To give a file another path.
    Rename(String),
    /// To give a folder another path.
    RenameFolder(String),
    /// To give files other paths: from and to.
    GivePaths(Vec<(String, String)>),
    /// To put files into a folder.
    Move(Vec<String>, String),
    /// To make a second one of each.
    Duplicate(Vec<String>),
    /// To copy paths as a text.
    CopyPaths(Vec<String>),
    /// To take files away.
    Delete(Vec<String>),
    /// The same, after it was asked whether that is meant.
    DeleteSurely(Vec<String>),
    /// To have files back.
    Restore(Vec<String>),
    /// To fold all folders, or to unfold them.
    FoldAll(bool),
}

/// Something that a person does.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Changes the window alone.
    Window(WindowCommand),
    /// Changes the room; undone by what is second, where it can be undone. For what elements hold, for
    /// relationships and for what is new, the way back is worked out where the act is performed.
    Act(RoomAct, Option<RoomAct>),
    /// Several changes that are undone as one.
    Acts(Vec<(RoomAct, Option<RoomAct>)>),
    /// Moves elements a little.
    Nudge(Vec<Id>, Vec2),
    /// Takes things out of the room.
    Delete(Vec<Thing>),
    /// Puts a second one of each beside it.
    Duplicate(Vec<Thing>),
    /// Keeps these for pasting.
    Copy(Vec<Thing>),
    /// Puts what was copied here.
    Paste(Vec2),
    /// Takes the last change back.
    Undo,
    /// Does it again.
    Redo,
    /// Stops or starts time.
    SetPaused(bool),
    /// How fast time passes.
    SetSpeed(Speed),
    /// Opens a scene of this workspace by its stem.
    OpenScene(String),
    /// Makes a scene of this name and opens it.
    NewScene(String),
    /// Saves the open scene under another name and continues in that one.
    SaveSceneAs(String),
    /// Begins the open scene as its file says: memories and places are forgotten.
    ResetScene,
    /// Makes agents of files or folders dropped here.
    Import {
        /// From the desktop.
        paths: Vec<PathBuf>,
        /// Where they were dropped.
        place: DropPlace,
    },
    /// Who answers from now on: `offline`, `openai:model`, …
    SetProvider(String),
    /// Asks a provider something small, to see whether it answers.
    TestProvider(String),
    /// Keeps a key to a provider among the person's own files, under the name of its variable.
    KeepKey(&'static str, Secret),
    /// Withdraws that question.
    StopTrial,
    /// Lets the settings and the agents decide again who answers.
    EndProviderOverride,
    /// Changes settings of the workspace.
    SetSettings(SettingsEdit),
    /// Makes an agent for whom a coding agent of the person's own answers.
    AddCodingAgent {
        /// What it is called.
        name: String,
        /// Who answers: `acp:claude`.
        model: String,
        /// Where in the room it is placed.
        place: DropPlace,
    },
    /// Connects an MCP server now, whether or not it is needed: by its key.
    TestServer(Id),
    /// Allows this workspace to use exactly this MCP server.
    AllowServer(Box<McpServer>),
    /// Takes back what was allowed to this MCP server.
    ForbidServer(Box<McpServer>),
    /// Opens a file of the workspace in a tab, at a line where one is named.
    OpenFile(String, Option<usize>),
    /// Opens a file of the workspace in the program that the person's system has for it.
    OpenOutside(String),
    /// Shows a tab of the studio.
    Show(Tab),
    /// Copies files and folders from elsewhere into the workspace: agent files among agents, others among
    /// artifacts, or into this folder.
    ImportFiles {
        /// From where.
        paths: Vec<PathBuf>,
        /// Into which folder of the workspace; by what each is where absent.
        folder: Option<String>,
    },
    /// Shows what an agent did to files, and what undoing it from a moment on would change.
    LookBack {
        /// Whose work, by id.
        agent: Id,
        /// From which moment on, in milliseconds since 1970.
        since_ms: Option<u64>,
    },
    /// Puts files back as the person has seen it.
    UndoWork(UndoPlan),
    /// Imports what the person has seen a summary of.
    ImportSeen(ImportQuestion),
    /// Writes the log of this run as JSON into this file, or into the workspace's exports where none is named.
    ExportLog(Option<PathBuf>),
    /// Writes the workspace as a zip into this file, or beside the workspace if none is given.
    ExportZip(Option<PathBuf>),
    /// Opens another workspace.
    OpenWorkspace(PathBuf),
    /// Shows the log of an earlier run; that of the open room where absent.
    ShowRun(Option<Id>),
    /// Writes a picture of the window: into this file, or into the workspace's pictures where none is named.
    Screenshot(Option<PathBuf>),
    /// Does something slow beside the frames, for a pane.
    Run(Job),
    /// Closes the window; asks first if work is running or something is not saved.
    Quit,
    /// Closes it even if work is running.
    QuitNow,
    /// Closes it as soon as no work is running, or cancels that.
    QuitWhenDone(bool),
}

impl From<WindowCommand> for Command {
    fn from(command: WindowCommand) -> Self {
        Self::Window(command)
    }
}
