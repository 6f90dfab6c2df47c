//! State of the window that is kept between frames, is not part of the room and is shared by several panes. A pane
//! keeps the state that only it uses.

pub mod appearance;
pub mod approvals;
pub mod dialogs;
pub mod dock;
pub mod dock_place;
pub mod file_texts;
pub mod furniture_editing;
pub mod jobs;
pub mod memories;
pub mod notice_board;
pub mod notices;
pub mod room_view;
pub mod selection;
pub mod tab;
mod texts;
mod trust;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

pub use self::appearance::{Appearance, AppearancePreferences, ThemeChoice};
pub use self::approvals::Questions;
pub use self::dialogs::{Dialog, DropPlace, FileDialogPurpose, Front, FrontPanel, ImportQuestion, UndoQuestion};
pub use self::notices::{NoticeTarget, Notices, Outcome};
pub use self::room_view::{MoveStart, RoomView};
pub use self::selection::Selection;
pub use self::trust::{TrustNote, TrustView};

use self::dock::Dock;
use self::file_texts::FileTexts;
use self::jobs::RunningJob;
use self::memories::{KnownMemories, Memories};
use crate::base::{Id, Problem};
use crate::gateway::ProviderStatus;
use crate::gateway::acp::AvailableAgent;
use crate::gateway::peers::Consent;
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::view::who_knows::WhoKnows;
use crate::workspace::Relationship;
use crate::workspace::vfs::{FileCommand, FileOperation};

/// The window's own state.
#[derive(Clone, Debug, Default)]
pub struct UiState {
    /// The camera on the room and the thing under the pointer.
    pub view: RoomView,
    /// The selection.
    pub selection: Selection,
    /// The layout of the panes.
    pub dock: Dock,
    /// The windows open in front of the panes.
    pub front: Front,
    /// The things being moved into the room by dragging or pasting.
    pub transfer: Transfer,
    /// The notices for the person.
    pub notices: Notices,
    /// The approvals that agents wait for.
    pub questions: Questions,
    /// The appearance of the window.
    pub appearance: Appearance,
    /// The time of this frame.
    pub time: FrameTime,
    /// The status of providers.
    pub providers: Providers,
    /// The person's consent to MCP servers, by server key, as far as it was read.
    pub server_consents: BTreeMap<Id, Consent>,
    /// The coding agents that can be added, as far as they were read.
    pub coding_agents: CodingAgents,
    /// The page on which the person decides whether they trust a workspace.
    pub trust: TrustView,
    /// The background jobs that take long enough to be shown.
    pub jobs: Vec<RunningJob>,
    /// The recent tasks and workspaces.
    pub recents: Recents,
    /// The contents of files and earlier runs that were read.
    pub texts: FileTexts,
    /// The memories that were read.
    pub memories: Memories,
    /// The agents highlighted in the room because they know something.
    pub who_knows: Option<Arc<WhoKnows>>,
    file_commands: CommandCounter,
}

/// The time of a frame.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FrameTime {
    /// Seconds of real time since the window opened.
    pub now_secs: f64,
    /// The same clock, stopped while nothing in the room moves and there was no input lately; animations use it.
    pub room_secs: f64,
    /// When the window was opened, in milliseconds since 1970; makes the keys of its file commands unique.
    pub born_ms: u64,
}

impl FrameTime {
    /// Returns the time of this frame, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.born_ms.saturating_add((self.now_secs.max(0.0) * 1e3) as u64)
    }
}

/// The things being moved into the room by dragging or pasting.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Transfer {
    /// The shelf item that is being dragged.
    pub dragging: Option<ShelfItem>,
    /// The copied agents and elements.
    pub copied: Vec<RoomObject>,
    /// The names of files dragged over the window.
    pub hovering_files: Vec<String>,
}

/// The status of providers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Providers {
    /// The status of each provider, as far as it was checked.
    pub statuses: Vec<ProviderStatus>,
    /// The current or last trial of a provider.
    pub trial: Option<TrialView>,
}

/// The coding agents that can be added.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CodingAgents {
    /// The known coding agents.
    pub listed: Vec<AvailableAgent>,
    /// The problems of coding agents in the settings.
    pub problems: Vec<Problem>,
    /// The command line that was typed, and the agent it stands for.
    pub written: Option<(String, Result<AvailableAgent, Problem>)>,
}

/// The recent tasks and workspaces.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recents {
    tasks: Vec<String>,
    /// The folders of recent workspaces, latest first.
    pub workspaces: Vec<PathBuf>,
}

impl Recents {
    /// The maximum number of recent tasks.
    const MAX_TASKS: usize = 40;

    /// Returns the recent tasks, latest first.
    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Restores the recent tasks, latest first.
    pub fn restore_tasks(&mut self, tasks: &[String]) {
        self.tasks = tasks.iter().take(Self::MAX_TASKS).cloned().collect();
    }

    /// Adds a task to the recent tasks.
    pub fn remember_task(&mut self, task: &str) {
        self.tasks.retain(|recent| recent != task);
        self.tasks.insert(0, task.to_owned());
        self.tasks.truncate(Self::MAX_TASKS);
    }
}

/// Counts file commands. In a cell, because read-only code creates commands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandCounter(Cell<u64>);

impl CommandCounter {
    fn next(&self) -> u64 {
        let number = self.0.get() + 1;
        self.0.set(number);
        number
    }
}

/// An item that can be dragged from the shelf into the room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShelfItem {
    /// A profile, by id.
    Profile(Id),
    /// A kind of element, by name.
    Element(Id),
}

/// A relationship that is being created or renamed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelationshipNaming {
    /// The two agents, and the current label if the relationship exists.
    pub relationship: Relationship,
    /// Whether the relationship does not exist yet.
    pub is_new: bool,
    /// The label as typed so far.
    pub label: String,
    /// Whether the text field has requested the focus.
    pub asked: bool,
}

impl RelationshipNaming {
    /// Creates a relationship; renames the first existing one between these two agents.
    pub fn of(from: &Id, to: &Id, ties: impl IntoIterator<Item = Relationship>) -> Self {
        let existing = ties.into_iter().find(|tie| tie.from == *from && tie.to == *to);
        let new = || Relationship { from: from.clone(), to: to.clone(), label: String::new() };
        let is_new = existing.is_none();
        let relationship = existing.unwrap_or_else(new);
        Self { label: relationship.label.clone(), relationship, is_new, asked: false }
    }
}

/// The state of the space bar: it pauses when released, unless it was held to move the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SpaceBar {
    /// Not pressed.
    #[default]
    Up,
    /// Pressed.
    Down,
    /// Pressed, and the view has been moved meanwhile.
    Used,
}

/// A trial of a provider.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialView {
    /// The provider and the model, as text.
    pub of: String,
    /// When it began, in seconds since the window opened.
    pub since_secs: f64,
    /// The outcome; absent while it runs.
    pub outcome: Option<TrialOutcome>,
}

/// The outcome of a trial of a provider.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialOutcome {
    /// Whether the provider answered.
    pub good: bool,
    /// The answer or the error, as a sentence.
    pub text: String,
    /// What to do about the error; empty if there is none.
    pub remedy: String,
}

impl UiState {
    /// Shows a notice.
    pub fn notify(&mut self, text: impl Into<String>, good: bool) {
        self.notify_at(text, good, None);
    }

    /// Shows a notice that links to a place.
    pub fn notify_at(&mut self, text: impl Into<String>, good: bool, place: Option<NoticeTarget>) {
        self.notices.notify(text, good, place, self.time.now_secs);
    }

    /// Says that nothing was done, and why.
    pub fn hint(&mut self, text: impl Into<String>) {
        self.notices.hint(text, self.time.now_secs);
    }

    /// Returns the memories of the files read so far.
    pub fn known_memories(&self) -> Arc<KnownMemories> {
        self.memories.known(&self.texts)
    }

    /// Returns the things whose details are needed: the selection and the thing under the pointer.
    pub fn detail_targets(&self) -> BTreeSet<RoomObject> {
        self.selection.things().iter().chain(&self.view.hovered).cloned().collect()
    }

    /// Returns a time, in milliseconds since 1970, as text in the person's date format.
    pub fn when(&self, time_ms: u64) -> String {
        if time_ms == 0 {
            texts::AT_AN_UNKNOWN_TIME.to_owned()
        } else {
            self.appearance.dates.when(time_ms, self.time.now_ms())
        }
    }

    /// Returns the start of a camera movement that begins now.
    pub fn move_start(&self) -> MoveStart {
        MoveStart { now_secs: self.time.now_secs, is_still: self.appearance.look.calm }
    }

    /// Fits the selection into the view, or everything if nothing is selected.
    pub fn frame(&mut self, room: &RoomModel) {
        self.view.frame(room, self.selection.things());
    }

    /// Selects the next or the previous thing of the room and scrolls it into view. Returns whether there was one.
    pub fn select_next(&mut self, room: &RoomModel, forward: bool) -> bool {
        let Some(thing) = self.selection.select_next(room, forward) else { return false };
        self.view.reveal(room, &thing, self.move_start());
        true
    }

    /// Selects the next agent that needs the person, after the selected one, and zooms to it.
    pub fn select_next_in_need(&mut self, room: &RoomModel) {
        let now = self.selection.things().iter().find_map(|thing| room.agent(thing.agent()?)).map(|agent| agent.key);
        if let Some(next) = room_view::next_needing_attention(room, now) {
            let thing = RoomObject::Agent(next.id.clone());
            self.selection.select([thing.clone()]);
            self.view.zoom_to(room, &thing, self.move_start());
        }
    }

    /// Opens an element, or zooms to an agent.
    pub fn open_thing(&mut self, thing: &RoomObject, room: &RoomModel) {
        match thing {
            RoomObject::Element(id) => self.front.open_element(id.clone()),
            RoomObject::Agent(_) => self.view.zoom_to(room, thing, self.move_start()),
        }
    }

    /// Scrolls the agent whose approval is in front into view.
    pub fn show_question(&mut self, room: &RoomModel) {
        if let Some((piece, ..)) = self.questions.front(room) {
            let asker = RoomObject::Agent(piece.agent.clone());
            self.view.reveal(room, &asker, self.move_start());
        }
    }

    /// Returns a file command with a unique key.
    pub fn file_command(&self, operation: FileOperation) -> FileCommand {
        let (opened_ms, number) = (self.time.born_ms, self.file_commands.next());
        FileCommand { key: format!("user-{opened_ms}-{number}").into(), operation }
    }

    /// Forgets everything about the previous room, because another one is open.
    pub fn forget_room(&mut self) {
        self.selection.forget_room();
        self.view.forget_room();
        self.front.close_element();
        self.who_knows = None;
        self.transfer.dragging = None;
    }
}
