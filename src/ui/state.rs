//! What the window remembers between frames that is no part of the room: selection, what is open, toggles.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Id;
use crate::view::camera::Camera;
use crate::view::pick::Thing;
use crate::workspace::Relationship;

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
    /// The relationship whose rope is selected; no thing is selected then.
    pub rope: Option<Relationship>,
    /// The relationship whose label is being written.
    pub naming: Option<Naming>,
    /// Whether a hand holds something in the room, and whether it is to give that up.
    pub holding: bool,
    /// See [`UiState::holding`].
    pub gives_up: bool,
    /// What the space bar is doing.
    pub space: SpaceBar,
    /// Whether the keyboard is to go on to the widget after the room, or to the one before it.
    pub leaves_room: Option<bool>,
    /// Whether the menu of what is selected is to be opened by key.
    pub wants_menu: bool,
    /// What is under way that takes longer than a frame, in words.
    pub under_way: Option<String>,
    /// The names of files that hang over the window.
    pub hanging: Vec<String>,
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
        const KEPT: usize = 20;
        let text = text.into();
        // The same fault a second time is no news.
        self.outcomes.retain(|outcome| outcome.text != text);
        self.outcomes.push(Outcome { text, good, file: None, born_secs: self.now_secs });
        let surplus = self.outcomes.len().saturating_sub(KEPT);
        self.outcomes.drain(..surplus);
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
        self.rope = None;
        self.naming = None;
        self.framed = false;
    }
}
