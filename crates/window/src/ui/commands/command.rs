//! What a person can do in the window, as data: drawn once, done in one place, undone from there.

use std::path::PathBuf;

use bevy::math::Vec2;

use crate::agent::AgentCommand;
use crate::base::Id;
use crate::element::{ElementCommand, ElementEdit};
use crate::gateway::keys::Secret;
use crate::kernel::KernelCommand;
use crate::schedule::Speed;
use crate::simulation::{ConversationCommand, RelationshipCommand, TaskCommand};
use crate::ui::state::ImportQuestion;
use crate::ui::state::dock::Tab;
use crate::view::pick::Thing;
use crate::workspace::SettingsEdit;
use crate::workspace::vfs::FileCommand;

/// Something that changes the room. Enters through the one door, so that it is recorded.
#[derive(Clone, PartialEq, Debug)]
pub enum RoomAct {
    /// About an agent.
    Agent(AgentCommand),
    /// About where elements stand and what they are called.
    Element(ElementCommand),
    /// About what an element holds.
    Edit(ElementEdit),
    /// About conversations.
    Talk(ConversationCommand),
    /// A task for an agent.
    Task(TaskCommand),
    /// About who is what to whom.
    Relate(RelationshipCommand),
    /// About work that goes on.
    Work(KernelCommand),
    /// About a file.
    File(FileCommand),
}

/// Something that a person does.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
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
    /// Saves the open scene under another name and goes on in that one.
    SaveSceneAs(String),
    /// Begins the open scene as its file says: memories and places are forgotten.
    ResetScene,
    /// Makes agents of files or folders dropped here.
    Import {
        /// From the desktop.
        paths: Vec<PathBuf>,
        /// Where they were dropped.
        position: Vec2,
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
    EndStandIn,
    /// Changes settings of the workspace.
    SetSettings(SettingsEdit),
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
    /// Imports what the person has seen a summary of.
    ImportSeen(ImportQuestion),
    /// Writes the log of this run as JSON into this file, or into the workspace's exports where none is named.
    ExportLog(Option<PathBuf>),
    /// Writes the workspace as a zip into this file, or beside the workspace where none is named.
    ExportZip(Option<PathBuf>),
    /// Opens another workspace.
    OpenWorkspace(PathBuf),
    /// Shows the log of an earlier run; that of the open room where absent.
    ShowRun(Option<Id>),
    /// Writes a picture of the window: into this file, or into the workspace's pictures where none is named.
    Screenshot(Option<PathBuf>),
    /// Closes the window.
    Quit,
}
