//! State of the window that is kept between frames, is not part of the room and is used by several panels. What only
//! one panel uses, it keeps itself.

pub mod appearance;
pub mod approvals;
pub mod dialogs;
pub mod dock;
pub mod file_texts;
pub mod furniture_editing;
pub mod jobs;
pub mod memories;
pub mod notice_board;
pub mod notices;
pub mod room_view;
pub mod selection;
mod texts;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

pub use self::appearance::{Appearance, Light, Look};
pub use self::approvals::Questions;
pub use self::dialogs::{Dialog, DropPlace, Front, FrontPanel, ImportQuestion, Purpose, UndoQuestion};
pub use self::notices::{Notices, Outcome, Place};
pub use self::room_view::{Departure, RoomView};
pub use self::selection::Selection;

use self::dock::Dock;
use self::file_texts::FileTexts;
use self::jobs::RunningJob;
use self::memories::{KnownMemories, Memories};
use crate::base::{Id, Problem};
use crate::gateway::ProviderStatus;
use crate::gateway::acp::AvailableAgent;
use crate::gateway::peers::Consent;
use crate::view::model::RoomModel;
use crate::view::pick::Thing;
use crate::view::who_knows::WhoKnows;
use crate::workspace::Relationship;
use crate::workspace::vfs::{FileCommand, FileOperation};

/// The window's own state.
#[derive(Clone, Debug, Default)]
pub struct UiState {
    /// From where the room is seen, and what the pointer is over in it.
    pub view: RoomView,
    /// What is selected.
    pub selection: Selection,
    /// How the panes stand.
    pub dock: Dock,
    /// What stands in front of the panes.
    pub front: Front,
    /// What is on its way into the room.
    pub transfer: Transfer,
    /// What the person is told.
    pub notices: Notices,
    /// What agents ask the person.
    pub questions: Questions,
    /// How the window looks.
    pub appearance: Appearance,
    /// The moment of this frame.
    pub time: FrameTime,
    /// What is known of providers.
    pub providers: Providers,
    /// What the person said of MCP servers, by their keys, as far as was found out.
    pub server_consents: BTreeMap<Id, Consent>,
    /// Which coding agents of the person's own can be chosen, as far as was found out.
    pub coding_agents: CodingAgents,
    /// Slow work that is under way and takes long enough to be shown.
    pub jobs: Vec<RunningJob>,
    /// What was given and opened before.
    pub recents: Recents,
    /// What was read of files and of earlier runs.
    pub texts: FileTexts,
    /// What was read of memories.
    pub memories: Memories,
    /// Who is lit up in the room because they know something.
    pub who_knows: Option<Arc<WhoKnows>>,
    orders_given: OrderCounter,
}

/// The moment of a frame.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FrameTime {
    /// Seconds of real time since the window opened.
    pub now_secs: f64,
    /// The same, but standing still while nothing in the room moves and nobody looks: breath and blinks go by it.
    pub room_secs: f64,
    /// When the window was opened, in milliseconds since 1970: tells the names of its orders from those of others.
    pub born_ms: u64,
}

impl FrameTime {
    /// The moment of this frame, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.born_ms.saturating_add((self.now_secs.max(0.0) * 1e3) as u64)
    }
}

/// What is on its way into the room.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Transfer {
    /// What is dragged from the shelf.
    pub dragging: Option<ShelfItem>,
    /// What was copied.
    pub copied: Vec<Thing>,
    /// The names of files that hang over the window.
    pub hanging: Vec<String>,
}

/// What is known of providers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Providers {
    /// Which can be asked, as far as was found out.
    pub statuses: Vec<ProviderStatus>,
    /// The one that is tried out, or was last.
    pub trial: Option<TrialView>,
}

/// The coding agents that can be chosen.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CodingAgents {
    /// Those with a name.
    pub listed: Vec<AvailableAgent>,
    /// What is wrong with those of the settings that cannot be.
    pub problems: Vec<Problem>,
    /// The command line that was written, and what it stands for.
    pub written: Option<(String, Result<AvailableAgent, Problem>)>,
}

/// What was given and opened before.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recents {
    tasks: Vec<String>,
    /// Workspaces that were open on this computer, by folder, the last one first.
    pub workspaces: Vec<PathBuf>,
}

impl Recents {
    /// Tasks that can be given again.
    const TASKS_KEPT: usize = 40;

    /// Tasks that were given before, the last one first.
    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Takes up tasks that were given before, the last one first.
    pub fn restore_tasks(&mut self, tasks: &[String]) {
        self.tasks = tasks.iter().take(Self::TASKS_KEPT).cloned().collect();
    }

    /// Keeps a task that was given, so that it can be given again.
    pub fn remember_task(&mut self, task: &str) {
        self.tasks.retain(|given| given != task);
        self.tasks.insert(0, task.to_owned());
        self.tasks.truncate(Self::TASKS_KEPT);
    }
}

/// Counts orders. Behind a cell, because whoever only looks at the window gives orders too.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrderCounter(Cell<u64>);

impl OrderCounter {
    fn next(&self) -> u64 {
        let number = self.0.get() + 1;
        self.0.set(number);
        number
    }
}

/// Something that can be dragged from the shelf into the room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShelfItem {
    /// A profile, by id.
    Profile(Id),
    /// A kind of element, by its word.
    Element(Id),
}

/// A relationship that is being made or called something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Naming {
    /// Who and to whom; with the label that it has, where it is there already.
    pub relationship: Relationship,
    /// Whether it is still to be made.
    pub is_new: bool,
    /// The label as it is written.
    pub label: String,
    /// Whether the field has asked for the keyboard.
    pub asked: bool,
}

impl Naming {
    /// Makes a new relationship; calls the first one something else where these two are related like that already.
    pub fn of(from: &Id, to: &Id, ties: impl IntoIterator<Item = Relationship>) -> Self {
        let there = ties.into_iter().find(|tie| tie.from == *from && tie.to == *to);
        let new = || Relationship { from: from.clone(), to: to.clone(), label: String::new() };
        let is_new = there.is_none();
        let relationship = there.unwrap_or_else(new);
        Self { label: relationship.label.clone(), relationship, is_new, asked: false }
    }
}

/// What the space bar is doing: it pauses when it is let go, unless it was held to move the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SpaceBar {
    /// Nobody presses it.
    #[default]
    Up,
    /// Somebody presses it.
    Down,
    /// Somebody presses it, and has moved the view meanwhile.
    Used,
}

/// A provider that is tried out: what is asked, or what came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialView {
    /// Provider and model, in words.
    pub of: String,
    /// When it was asked, in seconds since the window opened.
    pub since_secs: f64,
    /// What came; absent while it is waited for.
    pub outcome: Option<TrialOutcome>,
}

/// What came of trying a provider out.
#[derive(Clone, PartialEq, Debug)]
pub struct TrialOutcome {
    /// Whether it answered.
    pub good: bool,
    /// What came, or what failed, as a sentence.
    pub text: String,
    /// What to do; empty where all is well.
    pub remedy: String,
}

impl UiState {
    /// Tells the person how something went.
    pub fn notify(&mut self, text: impl Into<String>, good: bool) {
        self.notify_at(text, good, None);
    }

    /// The same, with where it leads to.
    pub fn notify_at(&mut self, text: impl Into<String>, good: bool, place: Option<Place>) {
        self.notices.notify(text, good, place, self.time.now_secs);
    }

    /// All memories as they stand in what was read of the files.
    pub fn known_memories(&self) -> Arc<KnownMemories> {
        self.memories.known(&self.texts)
    }

    /// What is to be known more closely: what is selected and what the pointer is over.
    pub fn looked_at(&self) -> BTreeSet<Thing> {
        self.selection.things().iter().chain(&self.view.hovered).cloned().collect()
    }

    /// When something was, by milliseconds since 1970, in the person's words.
    pub fn when(&self, time_ms: u64) -> String {
        if time_ms == 0 {
            texts::AT_AN_UNKNOWN_TIME.to_owned()
        } else {
            self.appearance.dates.when(time_ms, self.time.now_ms())
        }
    }

    /// For a view that sets out now.
    pub fn departure(&self) -> Departure {
        Departure { now_secs: self.time.now_secs, is_still: self.appearance.look.calm }
    }

    /// Shows the selection, or everything where nothing is selected.
    pub fn frame(&mut self, room: &RoomModel) {
        self.view.frame(room, self.selection.things());
    }

    /// Selects the next thing of the room, or the one before, and brings it into view. Whether there was one.
    pub fn select_next(&mut self, room: &RoomModel, forward: bool) -> bool {
        let Some(thing) = self.selection.select_next(room, forward) else { return false };
        self.view.reveal(room, &thing, self.departure());
        true
    }

    /// Selects the next agent that needs the person, after the one that is selected, and comes near.
    pub fn next_in_need(&mut self, room: &RoomModel) {
        let now = self.selection.things().iter().find_map(|thing| room.agent(thing.agent()?)).map(|agent| agent.key);
        if let Some(next) = room_view::next_in_need(room, now) {
            let thing = Thing::Agent(next.id.clone());
            self.selection.select([thing.clone()]);
            self.view.come_near(room, &thing, self.departure());
        }
    }

    /// Opens an element, or comes near an agent.
    pub fn open_thing(&mut self, thing: &Thing, room: &RoomModel) {
        match thing {
            Thing::Element(id) => self.front.open_element(id.clone()),
            Thing::Agent(_) => self.view.come_near(room, thing, self.departure()),
        }
    }

    /// Brings whoever asks the question in front into view.
    pub fn show_question(&mut self, room: &RoomModel) {
        if let Some((piece, ..)) = self.questions.front(room) {
            let asker = Thing::Agent(piece.agent.clone());
            self.view.reveal(room, &asker, self.departure());
        }
    }

    /// An order about a file, with a name that was never used.
    pub fn file_command(&self, operation: FileOperation) -> FileCommand {
        let (born, number) = (self.time.born_ms, self.orders_given.next());
        FileCommand { key: format!("user-{born}-{number}").into(), operation }
    }

    /// Another room is open: what belonged to the last one is forgotten.
    pub fn forget_room(&mut self) {
        self.selection.forget_room();
        self.view.forget_room();
        self.front.close_element();
        self.who_knows = None;
        self.transfer.dragging = None;
    }
}
