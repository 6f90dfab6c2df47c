//! One pin as data: its text, votes and comments.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::act::element_acts;
use super::items::Item;
use super::list_file::preserve_value;
use super::settings::tidy;
use crate::base::{Author, Id};

/// The words of changes of pins.
pub mod changed {
    /// A pin was added.
    pub const ADDED: &str = "pin_added";
    /// The text of a pin changed.
    pub const EDITED: &str = "pin_edited";
    /// A pin was removed.
    pub const REMOVED: &str = "pin_removed";
    /// A pin was voted on.
    pub const VOTED: &str = "pin_voted";
    /// A pin was voted far down.
    pub const FLAGGED: &str = "pin_flagged";
    /// A comment was added to a pin.
    pub const COMMENTED: &str = "pin_commented";
}

/// An act on pins.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum PinAct {
    /// Adds a pin; the board generates the id if absent.
    AddPin { id: Option<Id>, text: String },
    /// Changes the text of a pin.
    EditPin { id: Id, text: String },
    /// Removes a pin; only for its author and the person.
    RemovePin { id: Id },
    /// Votes on a pin; voting the other way moves the vote.
    Vote { id: Id, up: bool },
    /// Comments on a pin.
    Comment { id: Id, text: String },
    /// From a person's file: appends a comment as written there.
    PutComment { id: Id, comment: Map<String, Value> },
    /// From a person: removes the last comment that equals this one.
    RemoveComment { id: Id, comment: Map<String, Value> },
    /// From a person's file: sets or removes the vote of this voter.
    CorrectVote { id: Id, voter: Id, up: Option<bool> },
}

element_acts!(PinAct);

/// A text on a pinboard.
#[derive(Clone, PartialEq, Debug)]
pub struct Pin {
    /// Its id on the board; empty only before the board gives it one.
    pub id: Id,
    /// The text.
    pub text: String,
    /// The author.
    pub author: Author,
    /// When it was added, in seconds of simulated time.
    pub time: f64,
    /// Who voted for it.
    pub up: BTreeSet<Id>,
    /// Who voted against it.
    pub down: BTreeSet<Id>,
    /// The comments, oldest first.
    pub comments: Vec<Comment>,
    /// Lines above it in its file that belong to no pin.
    pub(super) above: Vec<String>,
    /// Unknown keys, which are preserved.
    pub extra: Map<String, Value>,
    pub(super) made_up: bool,
}

/// A comment on a pin.
#[derive(Clone, PartialEq, Debug)]
pub struct Comment {
    /// The author.
    pub author: Author,
    /// The text.
    pub text: String,
    /// When it was added, in seconds of simulated time.
    pub time: f64,
    /// Unknown keys, which are preserved.
    pub extra: Map<String, Value>,
}

impl Pin {
    /// Votes for it minus votes against it.
    pub fn net(&self) -> i64 {
        let count = |voters: &BTreeSet<Id>| i64::try_from(voters.len()).unwrap_or(i64::MAX);
        count(&self.up) - count(&self.down)
    }

    /// The vote of this voter: `Some(true)` for up, `Some(false)` for down.
    pub fn vote_of(&self, voter: &str) -> Option<bool> {
        if self.up.contains(voter) { Some(true) } else { self.down.contains(voter).then_some(false) }
    }

    /// Sets or removes the vote of this voter.
    pub(super) fn set_vote(&mut self, voter: &Id, up: Option<bool>) {
        self.up.remove(voter);
        self.down.remove(voter);
        match up {
            Some(true) => drop(self.up.insert(voter.clone())),
            Some(false) => drop(self.down.insert(voter.clone())),
            None => {}
        }
    }
}

impl Default for Pin {
    fn default() -> Self {
        Self {
            id: "".into(),
            text: String::new(),
            author: Author::user(),
            time: 0.0,
            up: BTreeSet::new(),
            down: BTreeSet::new(),
            comments: Vec::new(),
            above: Vec::new(),
            extra: Map::new(),
            made_up: false,
        }
    }
}

impl Item for Pin {
    fn id(&self) -> &Id {
        &self.id
    }

    fn set_id(&mut self, id: Id) {
        self.made_up = self.id.is_empty();
        self.id = id;
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn made_up(&self) -> bool {
        self.made_up
    }

    fn above_mut(&mut self) -> &mut Vec<String> {
        &mut self.above
    }

    fn to_map(&self) -> Map<String, Value> {
        let mut map = Map::from_iter([("id".to_owned(), json!(self.id)), ("text".to_owned(), json!(self.text))]);
        map.insert("author".into(), json!(self.author));
        put_time(&mut map, "time", self.time);
        for (key, voters) in [("up", &self.up), ("down", &self.down)] {
            if !voters.is_empty() {
                map.insert(key.into(), json!(voters));
            }
        }
        if !self.comments.is_empty() {
            map.insert(
                "comments".into(),
                self.comments.iter().map(|comment| Value::Object(comment.to_map())).collect(),
            );
        }
        if !self.above.is_empty() {
            map.insert("above".into(), json!(self.above));
        }
        map.extend(self.extra.clone());
        map
    }

    fn from_map(map: &Map<String, Value>, problems: &mut Vec<String>) -> Self {
        let mut pin = Self::default();
        if !map.contains_key("text") {
            problems.push("has no text".to_owned());
        }
        for (key, value) in map {
            let fits = match key.as_str() {
                "id" => read_text(value).map(|id| pin.id = id.trim().into()),
                "text" => read_text(value).map(|text| pin.text = tidy(&text)),
                "author" => read_text(value).map(|author| pin.author = Author(author.as_str().into())),
                "time" => value.as_f64().map(|time| pin.time = time),
                "up" => read_ids(value).map(|voters| pin.up = voters),
                "down" => read_ids(value).map(|voters| pin.down = voters),
                "comments" => value
                    .as_array()
                    .and_then(|comments| comments.iter().map(Comment::from_value).collect::<Option<_>>())
                    .map(|comments| pin.comments = comments),
                "above" => read_lines(value).map(|above| pin.above = above),
                _ => {
                    pin.extra.insert(key.clone(), value.clone());
                    Some(())
                }
            };
            if fits.is_none() {
                preserve_value(&mut pin.extra, key, value.clone());
                problems.push(format!("has an invalid value for {key:?}"));
            }
        }
        // One voter, one vote.
        pin.down.retain(|voter| !pin.up.contains(voter));
        pin
    }
}

impl Comment {
    pub(super) fn to_map(&self) -> Map<String, Value> {
        let mut map = Map::from_iter([("author".to_owned(), json!(self.author))]);
        map.insert("text".into(), json!(self.text));
        put_time(&mut map, "time", self.time);
        map.extend(self.extra.clone());
        map
    }

    pub(super) fn from_map(map: &Map<String, Value>) -> Self {
        let mut comment = Self { author: Author::user(), text: String::new(), time: 0.0, extra: Map::new() };
        for (key, value) in map {
            let fits = match key.as_str() {
                "author" => read_text(value).map(|author| comment.author = Author(author.into())),
                "text" => read_text(value).map(|text| comment.text = tidy(&text)),
                "time" => value.as_f64().map(|time| comment.time = time),
                _ => {
                    comment.extra.insert(key.clone(), value.clone());
                    Some(())
                }
            };
            if fits.is_none() {
                preserve_value(&mut comment.extra, key, value.clone());
            }
        }
        comment
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self::from_map(map)),
            other => read_text(other).map(|text| {
                let text = tidy(&text);
                Self { author: Author::user(), text, time: 0.0, extra: Map::new() }
            }),
        }
    }
}

/// Writes a time, unless it is 0, the start of the room.
pub(super) fn put_time(map: &mut Map<String, Value>, key: &str, secs: f64) {
    if secs != 0.0 {
        map.insert(key.into(), json!(secs));
    }
}

/// Reads a text; also accepts a number or flag, which YAML makes of unquoted words.
pub(super) fn read_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some(String::new()),
        _ => None,
    }
}

pub(super) fn read_lines(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(read_text).collect()
}

fn read_ids(value: &Value) -> Option<BTreeSet<Id>> {
    value.as_array()?.iter().map(|id| read_text(id).map(Id::from)).collect()
}
