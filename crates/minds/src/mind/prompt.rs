//! A prompt as data: parts with their sources, the session so far, and the current request. The text for network
//! providers is created here, and nowhere else.

use std::fmt::Write;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::context::CurrentRequest;
use super::headings;
use super::message::{PromptMessage, Role, as_sent};
use crate::base::Id;

/// The source of a part's text, as data: every floor may add its own parts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PromptOrigin {
    /// The provider's word: `notes`.
    pub from: Id,
    /// The element whose words they are, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Id>,
    /// What people read of it: “The weather”. Empty where the part is the mind's own, which is known by its word.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub label: Id,
}

impl PromptOrigin {
    /// Words of this provider.
    pub fn of(from: &str) -> Self {
        Self { from: from.into(), element: None, label: Id::default() }
    }

    /// Words of an element, by this provider.
    pub fn of_element(from: &str, element: &str) -> Self {
        Self { element: Some(element.into()), ..Self::of(from) }
    }
}

/// An item that a part lists or is about, as data. Fields that do not apply are empty.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartItem {
    /// Its id; of something that an agent can do, the word of the marker.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What it is called: a label, a name, a subject.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its author: the writer, the sender, or the profile of a nearby agent.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// What it says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl PartItem {
    /// A thing that is only a text.
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// A thing that has a name and a text.
    pub fn named(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), ..Self::default() }
    }
}

/// A part of a prompt, from one source.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PromptPart {
    /// Where its words came from.
    pub origin: PromptOrigin,
    /// The words as they are sent, the heading in front.
    pub text: String,
    /// The range of the content in the text, in bytes: without heading and fences.
    #[serde(default, skip_serializing_if = "is_empty_range")]
    pub body: Range<usize>,
    /// What it lists, where it lists something. Not kept in records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<PartItem>,
}

fn is_empty_range(range: &Range<usize>) -> bool {
    range.is_empty()
}

impl PromptPart {
    /// A part of this text, which is all body.
    pub fn new(origin: PromptOrigin, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { origin, body: 0..text.len(), text, items: Vec::new() }
    }

    /// The content without heading and fences.
    pub fn body(&self) -> &str {
        self.text.get(self.body.clone()).unwrap_or_default()
    }

    /// The line above it; empty where it has none.
    pub fn heading(&self) -> &str {
        if self.body.start == 0 { "" } else { self.text.lines().next().unwrap_or_default() }
    }
}

/// A part that was to be gathered but is not in the prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which.
    pub origin: PromptOrigin,
    /// Why, in words.
    pub why: String,
}

/// A complete prompt, with the parts that change least first, so that providers can use their caches.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Prompt {
    /// The rules, what the agent can do and who it is; joined by blank lines they are the system text.
    pub system: Vec<PromptPart>,
    /// What it knows that seldom changes: a message of the room, before the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<PromptPart>,
    /// The session, oldest message first.
    pub history: Vec<PromptMessage>,
    /// Knowledge that changes from one call to the next; placed before the current moment in the last message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub now: Vec<PromptPart>,
    /// What the agent is asked now. Empty where the history ends with what is to be answered.
    pub moment: String,
    /// So many of the first parts of the system text come again as they are with this agent's next question, unless
    /// what they tell of changes. Providers keep that much at hand, and the history behind it as far as it comes again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stable_parts: usize,
    /// What the agent is asked, as data. Not kept in records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<CurrentRequest>>,
    /// What was to be gathered for it and is not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

fn is_zero(parts: &usize) -> bool {
    *parts == 0
}

impl Prompt {
    /// A prompt of nothing but a system text and messages.
    pub fn of_messages(system: &str, messages: Vec<PromptMessage>) -> Self {
        let part = |text| PromptPart::new(PromptOrigin::of("system"), text);
        let system = Some(system).filter(|text| !text.is_empty()).map(part);
        Self { system: system.into_iter().collect(), history: messages, ..Self::default() }
    }

    /// The system text.
    pub fn system_text(&self) -> String {
        joined(&self.system)
    }

    /// The messages as they are sent: what is known, the session, and what is asked now.
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

    /// How many messages, counted from the first, stay as they are from one call of an agent to the next.
    pub fn stable_messages(&self) -> usize {
        usize::from(!self.known.is_empty()) + self.history.len()
    }

    /// Every part but the session and the moment, in the order of the prompt.
    pub fn parts(&self) -> impl Iterator<Item = &PromptPart> {
        self.system.iter().chain(&self.known).chain(&self.now)
    }

    /// Everything that is sent as one text.
    pub fn text(&self) -> String {
        let messages = self.messages().into_iter().map(|message| message.text);
        std::iter::once(self.system_text()).chain(messages).collect::<Vec<_>>().join("\n\n")
    }

    /// The part of the system text that comes again with the next question.
    pub fn stable_text(&self) -> String {
        joined(&self.system[..self.stable_parts.min(self.system.len())])
    }

    /// The same as records keep it: the text that was sent, without the data that it was made of.
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

    /// The parts of a provider, by its word.
    pub fn parts_from<'a>(&'a self, from: &'a str) -> impl Iterator<Item = &'a PromptPart> {
        self.parts().filter(move |part| &*part.origin.from == from)
    }

    /// Characters of everything that is sent, but for the tools that are declared beside it.
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
