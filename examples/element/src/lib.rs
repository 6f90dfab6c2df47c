//! A kind of element that is defined only in this crate: a whiteboard on which everyone draws lines and only the person
//! wipes. [`add`] is all that a program calls, before it opens a room.

use std::any::Any;

use agent_workshop::base::{Problem, Urgency};
use agent_workshop::element::kinds::{self, KindRefusal};
use agent_workshop::element::{
    ActContext, ActKind, ChangeKind, Content, ElementAct, ElementChange, Kind, Marker, Offer, Reader, Wake,
};
use serde_json::{Map, Value, json};

/// Registers the kind for every room of this program. Doing so again has no effect.
pub fn add() -> Result<(), KindRefusal> {
    kinds::register(&KIND)
}

/// The kind of all whiteboards.
pub static KIND: Kind = Kind {
    purpose: "Lines that everyone draws and only you wipe off",
    colour: [0xe8, 0xf0, 0xf2],
    acts: &[
        ActKind {
            offer: Some(Offer { button: "Draw", argument: "text", hint: "A line to draw" }),
            marker: Some(Marker { word: "DRAW", argument: "text", purpose: "draws a line on the whiteboard" }),
            ..ActKind::new("draw")
        },
        ActKind::new("wipe"),
    ],
    changes: &[
        ChangeKind { says: "drew on", ..ChangeKind::new("line_drawn", Wake::Everyone(Urgency::Read)) },
        ChangeKind { says: "wiped off", ..ChangeKind::new("line_wiped", Wake::Nobody) },
    ],
    ..Kind::new("whiteboard", "whiteboard", from_scene, from_markdown)
};

#[derive(Clone, Default, Debug)]
struct Whiteboard {
    lines: Vec<String>,
}

fn from_scene(entry: &Map<String, Value>, _place: &str) -> (Box<dyn Content>, Vec<Problem>) {
    let lines = entry.get("lines").and_then(Value::as_array).into_iter().flatten();
    let lines = lines.filter_map(Value::as_str).map(str::to_owned).collect();
    (Box::new(Whiteboard { lines }), Vec::new())
}

fn from_markdown(text: &str) -> Box<dyn Content> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect();
    Box::new(Whiteboard { lines })
}

fn act(word: &str, text: &str) -> ElementAct {
    ElementAct::new(word, Map::from_iter([("text".to_owned(), json!(text))]))
}

impl Content for Whiteboard {
    fn to_scene(&self) -> Map<String, Value> {
        Map::from_iter([("lines".to_owned(), json!(self.lines))])
    }

    fn to_markdown(&self) -> String {
        self.lines.iter().map(|line| format!("- {line}\n")).collect()
    }

    fn acts_to(&self, newer: &dyn Content) -> Vec<ElementAct> {
        let Some(newer) = newer.as_any().downcast_ref::<Self>() else { return Vec::new() };
        let missing = |lines: &[String], from: &[String], word: &str| -> Vec<ElementAct> {
            lines.iter().filter(|line| !from.contains(line)).map(|line| act(word, line)).collect()
        };
        let mut acts = missing(&self.lines, &newer.lines, "wipe");
        acts.extend(missing(&newer.lines, &self.lines, "draw"));
        acts
    }

    fn apply(&mut self, act: &ElementAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        let text = act.text("text").trim().to_owned();
        match act.as_str() {
            "draw" if text.is_empty() => Err("there is nothing to draw".to_owned()),
            "draw" if self.lines.contains(&text) => Err("that is drawn already".to_owned()),
            "draw" => {
                self.lines.push(text);
                Ok(vec![ElementChange::new("line_drawn")])
            }
            "wipe" if context.by.is_user() => {
                self.lines.retain(|line| *line != text);
                Ok(vec![ElementChange::new("line_wiped")])
            }
            "wipe" => Err("only the user wipes the whiteboard".to_owned()),
            _ => Err("a whiteboard takes lines only".to_owned()),
        }
    }

    fn prompt_text(&self, _reader: &Reader) -> String {
        if self.lines.is_empty() { "(no lines)".to_owned() } else { self.lines.join("\n") }
    }

    fn summary(&self, _reader: &Reader, max_chars: usize) -> String {
        self.lines.join(" · ").chars().take(max_chars).collect()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Content> {
        Box::new(self.clone())
    }
}
