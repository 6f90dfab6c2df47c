//! What the window remembers between frames that is no part of the room: selection, what is open, toggles.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Id;
use crate::view::camera::Camera;
use crate::view::pick::Thing;

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
    /// The texts that drafts of elements began from, by the same names: tells whether somebody else wrote meanwhile.
    pub draft_bases: BTreeMap<String, String>,
    /// What is dragged from the shelf; taken away by whoever sees it dropped.
    pub dragging: Option<ShelfItem>,
    /// The question that stands in front of everything.
    pub dialog: Option<Dialog>,
    /// Whom a person chose for a conversation that is to begin.
    pub talk_with: BTreeSet<Id>,
    /// Whether the debug overlay is on.
    pub overlay: bool,
    /// Whether the conversation sidebar is open.
    pub sidebar: bool,
    /// The conversation that is read, by its session in the log; the newest where absent.
    pub open_talk: Option<Id>,
    /// Whether the keys are shown.
    pub help: bool,
    /// What is typed into the command palette, while it is open.
    pub palette: Option<String>,
    /// Which line of the palette is chosen.
    pub palette_line: usize,
    /// Whether it is evening in the window.
    pub dark: bool,
    /// Whether the first-run hint was closed.
    pub hint_closed: bool,
    /// Problems that the person has put aside, as they read.
    pub put_aside: BTreeSet<String>,
    /// Caps that were reached and put aside, as they read.
    pub put_aside_caps: BTreeSet<String>,
    /// What became of things done lately, oldest first.
    pub outcomes: Vec<Outcome>,
    /// Seconds of real time since the window opened.
    pub now_secs: f64,
    /// The same, but standing still while nothing in the room moves and nobody looks: breath and blinks go by it.
    pub room_secs: f64,
    /// What was copied.
    pub copied: Vec<Thing>,
    /// Whether the view was set for this room; it is framed once otherwise.
    pub framed: bool,
}

/// Something that can be dragged from the shelf into the room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShelfItem {
    /// A profile, by id.
    Profile(Id),
    /// A kind of element, by its word.
    Element(Id),
}

/// A question that stands in front of everything until it is answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dialog {
    /// What is a new scene to be called?
    NewScene,
    /// Under which name is the open scene to be saved?
    SaveSceneAs,
    /// Really begin the scene again?
    ResetScene,
    /// Really open this address in the browser?
    OpenLink(String),
}

/// How something went that the person asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What is to be said, as a sentence.
    pub text: String,
    /// Whether it went well.
    pub good: bool,
    /// A file of the workspace that it is about.
    pub file: Option<String>,
    /// When it was told, in seconds since the window opened.
    pub born_secs: f64,
}

impl UiState {
    /// Tells the person how something went.
    pub fn tell(&mut self, text: impl Into<String>, good: bool) {
        self.outcomes.push(Outcome { text: text.into(), good, file: None, born_secs: self.now_secs });
    }

    /// What is to be known more closely: what is selected and what the pointer is over.
    pub fn looked_at(&self) -> BTreeSet<Thing> {
        self.selected.iter().chain(&self.hovered).cloned().collect()
    }

    /// Another room is open: what belonged to the last one is forgotten.
    pub fn forget_room(&mut self) {
        self.selected.clear();
        self.hovered = None;
        self.open_element = None;
        self.open_talk = None;
        self.drafts.clear();
        self.draft_bases.clear();
        self.talk_with.clear();
        self.dragging = None;
        self.framed = false;
    }
}
