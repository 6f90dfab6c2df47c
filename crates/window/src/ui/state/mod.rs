//! What the window remembers between frames that is no part of the room: selection, what is open, toggles.

pub mod dock;
pub mod file_texts;
pub mod jobs;
pub mod notice_board;
pub mod selection;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use self::dock::Dock;
use self::file_texts::FileTexts;
use self::jobs::RunningJob;
use self::notice_board::NoticeBoard;
use crate::base::Id;
use crate::gateway::ProviderStatus;
use crate::view::camera::Camera;
use crate::view::dates::{DateLanguage, Dates};
use crate::view::pick::Thing;
use crate::workspace::Relationship;
use crate::workspace::vfs::{FileCommand, FileOperation};

/// The window's own state.
#[derive(Clone, Debug, Default)]
pub struct UiState {
    /// From where the room is seen.
    pub camera: Camera,
    /// What is selected.
    pub selected: BTreeSet<Thing>,
    /// What the pointer is over.
    pub hovered: Option<Thing>,
    /// The element whose overlay is open.
    pub open_element: Option<Id>,
    /// Texts that are being written, by the field they stand in; not yet part of the room.
    pub drafts: BTreeMap<String, String>,
    /// The texts that drafts began from, by the same names: tells whether somebody else wrote meanwhile.
    pub draft_bases: BTreeMap<String, String>,
    /// What is dragged from the shelf; taken away by whoever sees it dropped.
    pub dragging: Option<ShelfItem>,
    /// The question that stands in front of everything.
    pub dialog: Option<Dialog>,
    /// Whether the debug overlay is on.
    pub overlay: bool,
    /// Whether the keys are shown.
    pub help: bool,
    /// What is typed into the command palette, while it is open.
    pub palette: Option<String>,
    /// Which line of the palette is chosen.
    pub palette_line: usize,
    /// Whether it is evening in the window at this moment.
    pub dark: bool,
    /// How the person wants the window to look.
    pub look: Look,
    /// How the panes stand.
    pub dock: Dock,
    /// The settings, while they are shown.
    pub settings: Option<SettingsShown>,
    /// Whether the list of everything that was told is shown.
    pub notices_open: bool,
    /// What is wrong, sorted for the eye.
    pub board: NoticeBoard,
    /// The provider that is tried out, or was last.
    pub trial: Option<TrialView>,
    /// Which providers can be asked, as far as was found out.
    pub providers: Vec<ProviderStatus>,
    /// Whether the first-run hint was closed.
    pub hint_closed: bool,
    /// Caps that were reached and put aside, as they read.
    pub put_aside_caps: BTreeSet<String>,
    /// Failures of providers whose notice was dismissed.
    pub dismissed_faults: BTreeSet<String>,
    /// What became of things done lately, oldest first.
    pub outcomes: Vec<Outcome>,
    /// Everything that was told, oldest first, bounded: put aside is not lost.
    pub told: VecDeque<Outcome>,
    /// Seconds of real time since the window opened.
    pub now_secs: f64,
    /// The same, but standing still while nothing in the room moves and nobody looks: breath and blinks go by it.
    pub room_secs: f64,
    /// What was copied.
    pub copied: Vec<Thing>,
    /// The relationship whose rope is selected; no thing is selected then.
    pub rope: Option<Relationship>,
    /// The relationship whose label is being written.
    pub naming: Option<Naming>,
    /// What the space bar is doing.
    pub space: SpaceBar,
    /// Slow work that is under way and takes long enough to be shown.
    pub jobs: Vec<RunningJob>,
    /// The names of files that hang over the window.
    pub hanging: Vec<String>,
    /// Whether the view was set for this room; it is framed once otherwise.
    pub framed: bool,
    /// How dates are written: the language is that of `look`.
    pub dates: Dates,
    /// What was read of files and of earlier runs.
    pub texts: FileTexts,
    /// The file that the inspector is about, where nothing in the room is selected.
    pub chosen_file: Option<String>,
    /// When the window was opened, in milliseconds since 1970: tells the names of its orders from those of others.
    pub born_ms: u64,
    /// Names given to orders so far: each is used once.
    pub orders_given: OrdersGiven,
    /// Tasks that were given before, the last one first.
    pub tasks_given: Vec<String>,
    /// Workspaces that were open on this computer, by folder, the last one first.
    pub known_workspaces: Vec<PathBuf>,
}

/// Counts orders. Behind a cell, because whoever only looks at the window gives orders too.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrdersGiven(Cell<u64>);

impl OrdersGiven {
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
    /// Really close the window, while work goes on or something is not saved?
    Close,
    /// Really open this address in the browser?
    OpenLink(String),
    /// Import what was found there?
    Import(ImportQuestion),
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

/// What would be imported, for the person who decides.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportQuestion {
    /// From where.
    pub paths: Vec<PathBuf>,
    /// Into which folder of the workspace; by what each is where absent.
    pub folder: Option<String>,
    /// Where it was dropped in the room, if it was.
    pub position: Option<Vec2>,
    /// What would come in and what not, a line each.
    pub summary: Vec<String>,
}

/// How something went that the person asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What is to be said, as a sentence.
    pub text: String,
    /// Whether it went well.
    pub good: bool,
    /// Where it leads to.
    pub place: Option<Place>,
    /// When it was told, in seconds since the window opened.
    pub born_secs: f64,
}

/// Something that a notice leads to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// A file of the workspace, and a line of it.
    File(String, Option<usize>),
    /// A setting, by section and key: `budget.calls_per_run`.
    Setting(String),
    /// An agent or an element.
    Thing(Thing),
}

/// The settings while they are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SettingsShown {
    /// The setting that is to be looked at first, by section and key; taken away once it was led to.
    pub lead_to: Option<String>,
}

/// By what light the window is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Light {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Day,
    /// Dark.
    Evening,
}

/// How a person wants the window to look.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// Day or evening.
    pub light: Light,
    /// How large text and everything else is, against the usual.
    pub text_size: f32,
    /// Whether the interface moves as little as it can.
    pub calm: bool,
    /// The language of dates.
    pub dates: DateLanguage,
}

impl Default for Look {
    fn default() -> Self {
        Self { light: Light::System, text_size: 1.0, calm: false, dates: DateLanguage::English }
    }
}

impl Look {
    /// The smallest and the largest text.
    pub const TEXT_SIZES: std::ops::RangeInclusive<f32> = 0.8..=2.0;

    /// Makes text larger or smaller by steps of a tenth.
    pub fn step_text_size(&mut self, steps: i32) {
        self.set_text_size(self.text_size + steps as f32 * 0.1);
    }

    /// Sets the size of text, within what can be read, to a tenth.
    pub fn set_text_size(&mut self, size: f32) {
        let size = if size.is_finite() { (size * 10.0).round() / 10.0 } else { 1.0 };
        self.text_size = size.clamp(*Self::TEXT_SIZES.start(), *Self::TEXT_SIZES.end());
    }
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

/// Outcomes that are kept after they were put aside.
const TOLD_KEPT: usize = 200;
/// Tasks that can be given again.
const TASKS_KEPT: usize = 40;
/// Outcomes that wait to be put aside.
const OUTCOMES_KEPT: usize = 20;

impl UiState {
    /// Tells the person how something went.
    pub fn tell(&mut self, text: impl Into<String>, good: bool) {
        self.tell_of(text, good, None);
    }

    /// The same, with where it leads to.
    pub fn tell_of(&mut self, text: impl Into<String>, good: bool, place: Option<Place>) {
        let outcome = Outcome { text: text.into(), good, place, born_secs: self.now_secs };
        // The same once more is the same card, anew.
        self.outcomes.retain(|other| (&other.text, &other.place) != (&outcome.text, &outcome.place));
        self.outcomes.push(outcome.clone());
        self.told.push_back(outcome);
        let surplus = self.outcomes.len().saturating_sub(OUTCOMES_KEPT);
        self.outcomes.drain(..surplus);
        let surplus = self.told.len().saturating_sub(TOLD_KEPT);
        self.told.drain(..surplus);
    }

    /// Shows the settings, at this one if it is named.
    pub fn show_settings(&mut self, lead_to: Option<&str>) {
        self.settings = Some(SettingsShown { lead_to: lead_to.map(str::to_owned) });
    }

    /// The person chose day or evening.
    pub fn set_dark(&mut self, dark: bool) {
        self.dark = dark;
        self.look.light = if dark { Light::Evening } else { Light::Day };
    }

    /// Takes over what the system has, where the person leaves it to the system.
    pub fn follow_light(&mut self, system_is_dark: Option<bool>) {
        self.dark = match self.look.light {
            Light::Day => false,
            Light::Evening => true,
            Light::System => system_is_dark.unwrap_or(self.dark),
        };
    }

    /// What is to be known more closely: what is selected and what the pointer is over.
    pub fn looked_at(&self) -> BTreeSet<Thing> {
        self.selected.iter().chain(&self.hovered).cloned().collect()
    }

    /// The moment of this frame, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.born_ms.saturating_add((self.now_secs.max(0.0) * 1e3) as u64)
    }

    /// When something was, by milliseconds since 1970, in the person's words.
    pub fn when(&self, time_ms: u64) -> String {
        if time_ms == 0 { "at an unknown time".to_owned() } else { self.dates.when(time_ms, self.now_ms()) }
    }

    /// Keeps a task that was given, so that it can be given again.
    pub fn remember_task(&mut self, task: &str) {
        self.tasks_given.retain(|given| given != task);
        self.tasks_given.insert(0, task.to_owned());
        self.tasks_given.truncate(TASKS_KEPT);
    }

    /// An order about a file, with a name that was never used.
    pub fn file_command(&self, operation: FileOperation) -> FileCommand {
        let (born, number) = (self.born_ms, self.orders_given.next());
        FileCommand { key: format!("user-{born}-{number}").into(), operation }
    }

    /// Another room is open: what belonged to the last one is forgotten.
    pub fn forget_room(&mut self) {
        self.selected.clear();
        self.hovered = None;
        self.open_element = None;
        self.drafts.clear();
        self.draft_bases.clear();
        self.dragging = None;
        self.rope = None;
        self.naming = None;
        self.framed = false;
    }
}
