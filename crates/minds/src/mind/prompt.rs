//! A prompt as data: parts with their sources, the session so far, and the current request. Also builds the text for
//! network providers.

use std::fmt::Write;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::context::CurrentRequest;
use super::headings;
use super::message::{PromptMessage, Role, as_sent};
use crate::base::Id;

/// The source of a part's text.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PromptOrigin {
    /// The provider's id: `notes`.
    pub from: Id,
    /// The id of the element that the text is from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Id>,
    /// The display name: “The weather”. Empty for the mind's own parts, which have a fixed one.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub label: Id,
}

impl PromptOrigin {
    /// Creates the source of a provider's text.
    pub fn of(from: &str) -> Self {
        Self { from: from.into(), element: None, label: Id::default() }
    }

    /// Creates the source of an element's text.
    pub fn of_element(from: &str, element: &str) -> Self {
        Self { element: Some(element.into()), ..Self::of(from) }
    }
}

/// An item that a part lists or is about, as data. Fields that do not apply are empty.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartItem {
    /// The id; for an ability, the word of the marker.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The label, name or subject.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its author: the writer, the sender, or the profile of a nearby agent.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The text of the item.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl PartItem {
    /// Creates an item with only a text.
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Creates an item with a name and a text.
    pub fn named(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), ..Self::default() }
    }
}

/// A part of a prompt, from one source.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PromptPart {
    /// The source of the text.
    pub origin: PromptOrigin,
    /// The text as it is sent, including the heading.
    pub text: String,
    /// The range of the content in the text, in bytes: without heading and fences.
    #[serde(default, skip_serializing_if = "is_empty_range")]
    pub body: Range<usize>,
    /// The listed items. Not kept in records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<PartItem>,
}

fn is_empty_range(range: &Range<usize>) -> bool {
    range.is_empty()
}

impl PromptPart {
    /// Creates a part without heading and fences.
    pub fn new(origin: PromptOrigin, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { origin, body: 0..text.len(), text, items: Vec::new() }
    }

    /// Returns the content without heading and fences.
    pub fn body(&self) -> &str {
        self.text.get(self.body.clone()).unwrap_or_default()
    }

    /// Returns the heading; empty if there is none.
    pub fn heading(&self) -> &str {
        if self.body.start == 0 { "" } else { self.text.lines().next().unwrap_or_default() }
    }
}

/// A part that was to be gathered but is not in the prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// The source of the part.
    pub origin: PromptOrigin,
    /// The reason.
    pub why: String,
}

/// A complete prompt. Parts that change least come first, so that providers can use their caches.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Prompt {
    /// The rules, abilities and identity; joined by blank lines they are the system text.
    pub system: Vec<PromptPart>,
    /// Knowledge that seldom changes: a user message before the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<PromptPart>,
    /// The session, oldest message first.
    pub history: Vec<PromptMessage>,
    /// Knowledge that changes from one call to the next; placed before the current request in the last message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub now: Vec<PromptPart>,
    /// The text of the current request. Empty if the last message of the history is to be answered.
    pub moment: String,
    /// The number of parts at the start of the system text that the agent's next prompt usually repeats, so that
    /// providers can cache them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stable_parts: usize,
    /// The current request as data. Not kept in records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<CurrentRequest>>,
    /// The parts that could not be gathered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

fn is_zero(parts: &usize) -> bool {
    *parts == 0
}

impl Prompt {
    /// Creates a prompt of a system text and messages.
    pub fn of_messages(system: &str, messages: Vec<PromptMessage>) -> Self {
        let part = |text| PromptPart::new(PromptOrigin::of("system"), text);
        let system = Some(system).filter(|text| !text.is_empty()).map(part);
        Self { system: system.into_iter().collect(), history: messages, ..Self::default() }
    }

    /// Returns the system text.
    pub fn system_text(&self) -> String {
        joined(&self.system)
    }

    /// Returns the messages to send: knowledge, the session, and the current request.
    pub fn messages(&self) -> Vec<PromptMessage> {
        let mut messages = Vec::with_capacity(self.history.len() + 2);
        if !self.known.is_empty() {
            messages.push(PromptMessage::plain(Role::User, joined(&self.known)));
        }
        messages.extend(self.history.iter().map(as_sent));
        let mut last = joined(&self.now);
        if !self.moment.is_empty() {
            if !last.is_empty() {
                let _ = write!(last, "\n\n{}\n", headings::NOW);
            }
            last.push_str(&self.moment);
        }
        if !last.is_empty() {
            messages.push(PromptMessage::plain(Role::User, last));
        }
        messages
    }

    /// Returns the number of first messages that stay the same from one call of an agent to the next.
    pub fn stable_messages(&self) -> usize {
        usize::from(!self.known.is_empty()) + self.history.len()
    }

    /// Returns all parts except the session and the current request, in order.
    pub fn parts(&self) -> impl Iterator<Item = &PromptPart> {
        self.system.iter().chain(&self.known).chain(&self.now)
    }

    /// Returns everything that is sent as one text.
    pub fn text(&self) -> String {
        let messages = self.messages().into_iter().map(|message| message.text);
        std::iter::once(self.system_text()).chain(messages).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the stable start of the system text.
    pub fn stable_text(&self) -> String {
        joined(&self.system[..self.stable_parts.min(self.system.len())])
    }

    /// Returns the prompt as kept in records: without the data it was made of.
    pub fn recorded(&self) -> Self {
        let bare = |parts: &[PromptPart]| {
            let bare = |part: &PromptPart| PromptPart {
                origin: part.origin.clone(),
                text: part.text.clone(),
                ..PromptPart::default()
            };
            parts.iter().map(bare).collect()
        };
        Self {
            system: bare(&self.system),
            known: bare(&self.known),
            history: self.history.iter().map(|message| as_sent(message).without_images()).collect(),
            now: bare(&self.now),
            moment: self.moment.clone(),
            stable_parts: self.stable_parts,
            asked: None,
            left_out: self.left_out.clone(),
        }
    }

    /// Returns the parts of a provider, by its id.
    pub fn parts_from<'a>(&'a self, from: &'a str) -> impl Iterator<Item = &'a PromptPart> {
        self.parts().filter(move |part| &*part.origin.from == from)
    }

    /// Returns the number of characters that are sent, without tool declarations.
    pub fn chars(&self) -> usize {
        let parts = self.parts().map(|part| part.text.chars().count()).sum::<usize>();
        parts + self.history.iter().map(PromptMessage::chars).sum::<usize>() + self.moment.chars().count()
    }
}

fn joined(parts: &[PromptPart]) -> String {
    let mut text = String::with_capacity(parts.iter().map(|part| part.text.len() + 2).sum());
    for part in parts {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&part.text);
    }
    text
}
