//! The kinds of elements there are: a kind says in one file what its elements hold, what may be done to them, what that
//! changes and for whom, and what they look like. The list that a new kind adds one line to is [`KINDS`]; later floors
//! and other programs [`register`] theirs before a room is opened.

use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};
use thiserror::Error;

use super::act::{ActKind, ElementAct, Marker};
use super::change::{ChangeKind, ElementChange, Wake};
use super::content::Content;
use super::{inbox, messageboard, pinboard, rulebook};
use crate::base::{Author, Problem};

/// What an entry says that an element holds, and what is wrong with it.
pub type ReadContent = (Box<dyn Content>, Vec<Problem>);

/// Reads the keys of a scene entry. What cannot be used becomes a problem at the place; the rest is used.
pub type FromScene = fn(entry: &Map<String, Value>, place: &str) -> ReadContent;

/// Reads the file that an element names.
pub type FromMarkdown = fn(text: &str) -> Box<dyn Content>;

/// A line of a file that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// One kind of element.
pub struct Kind {
    /// The word in scene files.
    pub word: &'static str,
    /// How a person would say it: "message board".
    pub name: &'static str,
    /// What it is for, in a few words.
    pub purpose: &'static str,
    /// Its colour: red, green, blue.
    pub colour: [u8; 3],
    /// Whether what it holds stands at the head of every prompt (a rulebook).
    pub standing_instructions: bool,
    /// Whether what it holds stands in every prompt of those who are told about the workspace (a message board).
    pub in_every_prompt: bool,
    /// Whether only its owner reads it (an inbox).
    pub private: bool,
    /// What can be done to it, as far as anybody but the kind itself is to know it.
    pub acts: &'static [ActKind],
    /// What becomes different by that.
    pub changes: &'static [ChangeKind],
    /// Reads a scene entry.
    pub from_scene: FromScene,
    /// Reads the file that an element names.
    pub from_markdown: FromMarkdown,
    /// What in such a file cannot be read, so that its text does not say what the element is to hold.
    pub faults: fn(text: &str) -> Vec<Fault>,
    /// The act that an agent does itself where its file says this, or why there is none: a clause that begins with who
    /// may.
    pub own_act: fn(act: ElementAct, by: &Author) -> Result<ElementAct, String>,
    /// What whoever did an act keeps of it in its own element of this kind (a copy of what was sent).
    pub kept_by_doer: fn(act: &ElementAct) -> Option<ElementAct>,
    /// What else is done to the element, unseen, once an act has made this change.
    pub follows: fn(act: &ElementAct, change: &ElementChange) -> Option<ElementAct>,
}

impl Kind {
    /// A kind with nothing but what every kind needs: a public one whose acts agents do through files as well.
    pub const fn new(
        word: &'static str,
        name: &'static str,
        from_scene: FromScene,
        from_markdown: FromMarkdown,
    ) -> Self {
        Self {
            word,
            name,
            purpose: "",
            colour: [0x6b, 0x60, 0x56],
            standing_instructions: false,
            in_every_prompt: false,
            private: false,
            acts: &[],
            changes: &[],
            from_scene,
            from_markdown,
            faults: |_| Vec::new(),
            own_act: |act, _| Ok(act),
            kept_by_doer: |_| None,
            follows: |_, _| None,
        }
    }

    /// The act of this word; one that the kind does not declare is an ordinary one.
    pub fn act(&self, word: &str) -> ActKind {
        self.acts.iter().find(|act| act.word == word).copied().unwrap_or(ActKind::new(""))
    }

    /// The change of this word, if the kind declares it.
    pub fn change(&self, change: &ElementChange) -> Option<&'static ChangeKind> {
        self.changes.iter().find(|kind| change.is(kind.word))
    }

    /// Whom a change wakes.
    pub fn wakes(&self, change: &ElementChange) -> Wake {
        self.change(change).map_or(Wake::Nobody, |kind| kind.wakes)
    }

    /// The acts that agents do by markers.
    pub fn markers(&self) -> impl Iterator<Item = (&'static str, Marker)> {
        self.acts.iter().filter_map(|act| Some((act.word, act.marker?)))
    }
}

/// Every kind of the house.
pub static KINDS: &[&Kind] = &[&pinboard::KIND, &messageboard::KIND, &inbox::KIND, &rulebook::KIND];

/// Those that were registered while the program runs. A kind is code and no state of a room: what it decides follows
/// from the acts and entries alone, so that a run with it replays wherever it is registered.
static REGISTERED: RwLock<Vec<&'static Kind>> = RwLock::new(Vec::new());

/// Why a kind was not registered.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum KindRefusal {
    /// Another kind has the word.
    #[error("there is a kind of element {0:?} already")]
    Taken(&'static str),
    /// Another kind has the marker.
    #[error("there is a marker [{0}: …] already")]
    MarkerTaken(&'static str),
}

/// Adds a kind, for every room of this program. The same one again changes nothing.
pub fn register(kind: &'static Kind) -> Result<(), KindRefusal> {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let known = || KINDS.iter().chain(registered.iter()).copied();
    if known().any(|other| std::ptr::eq(other, kind)) {
        return Ok(());
    }
    if known().any(|other| other.word == kind.word) {
        return Err(KindRefusal::Taken(kind.word));
    }
    let has = |word: &str| known().flat_map(Kind::markers).any(|(_, marker)| marker.word == word);
    if let Some((_, marker)) = kind.markers().find(|(_, marker)| has(marker.word)) {
        return Err(KindRefusal::MarkerTaken(marker.word));
    }
    registered.push(kind);
    Ok(())
}

/// Every kind there is: those of the house first.
pub fn kinds() -> Vec<&'static Kind> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    KINDS.iter().chain(registered.iter()).copied().collect()
}

/// The kind of this word.
pub fn kind(word: &str) -> Option<&'static Kind> {
    let of_house = KINDS.iter().copied().find(|kind| kind.word == word);
    let registered = || REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    of_house.or_else(|| registered().iter().copied().find(|kind| kind.word == word))
}

/// The marker of this word, in whatever case, the act that agents do by it, and the kind that it is done to.
pub fn marker(word: &str) -> Option<(&'static Kind, &'static str, Marker)> {
    let of = |kind: &'static Kind| {
        let mut markers = kind.markers();
        markers.find(|(_, marker)| marker.word.eq_ignore_ascii_case(word)).map(|(act, marker)| (kind, act, marker))
    };
    let registered = || REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    KINDS.iter().copied().find_map(of).or_else(|| registered().iter().copied().find_map(of))
}
