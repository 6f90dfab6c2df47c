//! A kind of element, declared in one file: the content of its elements, the acts that they accept, the changes that
//! these cause and the agents that they wake, and the elements' colour.

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
pub type SceneReader = fn(entry: &Map<String, Value>, place: &str) -> ReadContent;

/// Parses the file of an element.
pub type MarkdownReader = fn(text: &str) -> Box<dyn Content>;

/// One kind of element.
pub struct Kind {
    /// The word in scene files.
    pub word: &'static str,
    /// The name for people: "message board".
    pub name: &'static str,
    /// The purpose, in a few words.
    pub purpose: &'static str,
    /// The colour: red, green, blue.
    pub colour: [u8; 3],
    /// Whether its content is at the start of every prompt (a rulebook).
    pub standing_instructions: bool,
    /// Whether its content is in every prompt of agents that see the workspace (a message board).
    pub in_every_prompt: bool,
    /// Whether only its owner can read it (an inbox).
    pub private: bool,
    /// Whether it shows a task file (a task board): its content is the text of that file, byte for byte. Elements of
    /// other kinds cannot have a task file.
    pub task_file: bool,
    /// The acts on it that other code must know.
    pub acts: &'static [ActKind],
    /// The changes that acts cause.
    pub changes: &'static [ChangeKind],
    /// The initial text of a new file.
    pub file_begins: &'static str,
    /// Reads a scene entry.
    pub from_scene: SceneReader,
    /// Parses the file of an element.
    pub from_markdown: MarkdownReader,
    /// The parts of such a file that cannot be read, so that its text does not define the content.
    pub faults: fn(text: &str) -> Vec<Fault>,
    /// The act of an agent that edits the file, or the reason for a refusal: a clause that begins with who may do it.
    pub own_act: fn(act: ElementAct, by: &Author) -> Result<ElementAct, String>,
    /// The act with which the author keeps a copy in its own element of this kind (a copy of sent mail).
    pub kept_by_doer: fn(act: &ElementAct) -> Option<ElementAct>,
    /// A further act without news that follows a change caused by an act.
    pub follows: fn(act: &ElementAct, change: &ElementChange) -> Option<ElementAct>,
}

impl Kind {
    /// Creates a kind with defaults: public, with acts that agents can also do through files.
    pub const fn new(
        word: &'static str,
        name: &'static str,
        from_scene: SceneReader,
        from_markdown: MarkdownReader,
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

    /// The declaration of an act; default values if the kind does not declare it.
    pub fn act(&self, word: &str) -> ActKind {
        self.acts.iter().find(|act| act.word == word).copied().unwrap_or(ActKind::new(""))
    }

    /// The declaration of a change, if the kind declares it.
    pub fn change(&self, change: &ElementChange) -> Option<&'static ChangeKind> {
        self.changes.iter().find(|kind| change.is(kind.word))
    }

    /// Checks whether an element of this kind can store its content in this file.
    pub fn check_file(&self, file: &str) -> Result<(), String> {
        match (self.task_file, is_task_file(file)) {
            (true, false) => Err(format!("{file} is not a task file, but a {} shows one", self.name)),
            (false, true) => Err(format!("{file} is a task file, which a {} cannot show", self.name)),
            _ => Ok(()),
        }
    }

    /// Who is woken by a change.
    pub fn wakes(&self, change: &ElementChange) -> Wake {
        self.change(change).map_or(Wake::Nobody, |kind| kind.wakes)
    }

    /// The acts that agents do with markers.
    pub fn markers(&self) -> impl Iterator<Item = (&'static str, Marker)> {
        self.acts.iter().filter_map(|act| Some((act.word, act.marker?)))
    }
}
