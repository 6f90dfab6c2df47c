//! The content of a message board or a rulebook: one text.

use std::any::Any;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::act::{ActContext, ElementAct, element_acts};
use super::change::ElementChange;
use super::content::{Content, Reader};
use super::pin::read_text;
use super::settings::{tidy, within};
use crate::base::{Problem, text};
use crate::workspace::text_merge::merge_keeping_both;

/// An act on a text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum TextAct {
    /// Replaces the text.
    SetText { text: String },
}

element_acts!(TextAct);

/// The text of an element.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// The kind of element, for refusals.
    on: &'static str,
    /// Whether only the person may change it.
    is_persons: bool,
}

impl TextContent {
    pub(super) fn from_scene(
        entry: &Map<String, Value>,
        place: &str,
        on: &'static str,
        is_persons: bool,
    ) -> (Box<dyn Content>, Vec<Problem>) {
        let mut problems = Vec::new();
        let text = entry.get("text").map(read_text).unwrap_or(Some(String::new()));
        if text.is_none() {
            problems.push(Problem::error(
                place,
                "the value of text is not text",
                "write text: and the text after it, or remove the key",
            ));
        }
        (Box::new(Self { text: tidy(&text.unwrap_or_default()), on, is_persons }), problems)
    }

    pub(super) fn from_markdown(text: &str, on: &'static str, is_persons: bool) -> Box<dyn Content> {
        let text = tidy(text.strip_prefix('\u{feff}').unwrap_or(text));
        // The line end at the end of the file belongs to the file, not to the text.
        Box::new(Self { text: text.strip_suffix('\n').unwrap_or(&text).to_owned(), on, is_persons })
    }
}

impl Content for TextContent {
    fn to_scene(&self) -> Map<String, Value> {
        Map::from_iter([("text".to_owned(), json!(self.text))])
    }

    fn to_markdown(&self) -> String {
        if self.text.is_empty() { String::new() } else { format!("{}\n", self.text) }
    }

    fn acts_to(&self, newer: &dyn Content) -> Vec<ElementAct> {
        match newer.as_any().downcast_ref::<Self>() {
            Some(newer) if newer.text != self.text => vec![TextAct::SetText { text: newer.text.clone() }.into()],
            _ => Vec::new(),
        }
    }

    fn acts_since(&self, base: &dyn Content, newer: &dyn Content) -> Vec<ElementAct> {
        let texts = base.as_any().downcast_ref::<Self>().zip(newer.as_any().downcast_ref::<Self>());
        match texts {
            Some((base, newer)) if base.text != newer.text => {
                let text = merge_keeping_both(&base.text, &self.text, &newer.text);
                vec![TextAct::SetText { text }.into()]
            }
            _ => Vec::new(),
        }
    }

    fn apply(&mut self, act: &ElementAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        let ActContext { by, limits, .. } = *context;
        let Some(TextAct::SetText { text }) = act.read() else {
            return Err(format!("a {} only accepts one text", self.on));
        };
        if self.is_persons && !by.is_user() {
            return Err(format!("only the user can change a {}", self.on));
        }
        if !by.is_user() {
            within(&text, &format!("a {}", self.on), limits.max_text_chars)?;
        }
        let text = tidy(&text);
        if text == self.text {
            return Ok(Vec::new());
        }
        self.text = text;
        Ok(vec![ElementChange::new(ElementChange::TEXT_SET)])
    }

    fn text(&self) -> Option<&str> {
        Some(&self.text)
    }

    fn prompt_text(&self, _reader: &Reader) -> String {
        if self.text.trim().is_empty() { "(empty)".to_owned() } else { self.text.clone() }
    }

    fn summary(&self, _reader: &Reader, max_chars: usize) -> String {
        text::truncate(&text::one_line(&self.text), max_chars)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Content> {
        Box::new(self.clone())
    }
}
