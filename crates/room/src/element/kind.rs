//! A kind of element: one file declares what its elements contain, which acts they accept, which changes these cause
//! and for whom, and what they look like.

use serde_json::{Map, Value};

use super::act::{ActKind, ElementAct, Marker};
use super::change::{ChangeKind, ElementChange, Wake};
use super::content::Content;
use super::list_file::Fault;
use crate::base::{Author, Problem};
use crate::workspace::layout::is_task_file;

/// The content read from an entry, and its problems.
pub type ReadContent = (Box<dyn Content>, Vec<Problem>);

/// Reads the keys of a scene entry. Invalid parts are reported as problems; the rest is used.
pub type FromScene = fn(entry: &Map<String, Value>, place: &str) -> ReadContent;

/// Reads the file that an element names.
pub type FromMarkdown = fn(text: &str) -> Box<dyn Content>;

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
    /// Whether its content is at the head of every prompt (a rulebook).
    pub standing_instructions: bool,
    /// Whether its content is in every prompt of those who see the workspace (a message board).
    pub in_every_prompt: bool,
    /// Whether only its owner reads it (an inbox).
    pub private: bool,
    /// Whether it shows a task file (a task board): what it holds is the text of that file, byte for byte. Elements of
    /// other kinds name none.
    pub task_file: bool,
    /// What can be done to it, as far as anybody but the kind itself is to know it.
    pub acts: &'static [ActKind],
    /// What becomes different by that.
    pub changes: &'static [ChangeKind],
    /// What a file of its own begins with.
    pub file_begins: &'static str,
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
            task_file: false,
            acts: &[],
            changes: &[],
            file_begins: "",
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

    /// Whether an element of this kind can hold what it holds in this file, or why not.
    pub fn check_file(&self, file: &str) -> Result<(), String> {
        match (self.task_file, is_task_file(file)) {
            (true, false) => Err(format!("{file} is not a task file, but a {} shows one", self.name)),
            (false, true) => Err(format!("{file} is a task file, which a {} cannot show", self.name)),
            _ => Ok(()),
        }
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
