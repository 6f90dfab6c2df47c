//! The current request to an agent as the offline brain reads it, from the data of a prompt.

use super::text::plain;
use crate::base::text::{one_line, truncate};
use crate::mind::context::PinView;
use crate::mind::context::{self, Line, MailItem};
use crate::mind::headings;
use crate::mind::untrusted_text::PERSON;
use crate::mind::{CallKind, PartItem};

/// Characters of the subject that a letter without one is given.
const SUBJECT_CHARS: usize = 60;
/// Pins and letters that are looked at.
const LOOKED_AT: usize = 60;

/// A mail.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Letter {
    /// Its id.
    pub id: String,
    /// Who sent it.
    pub from: String,
    /// What it is about.
    pub subject: String,
    /// Its text.
    pub text: String,
}

impl Letter {
    fn new(id: &str, from: &str, subject: &str, text: &str) -> Self {
        // A letter that begins with its subject says it once.
        let subject = if subject.trim().is_empty() { &truncate(&one_line(text), SUBJECT_CHARS) } else { subject };
        Self { id: id.to_owned(), from: plain(from), subject: plain(subject), text: text.to_owned() }
    }

    /// A letter among the parts of a prompt.
    pub fn of_item(item: &PartItem) -> Self {
        Self::new(&item.id, &item.by, &item.name, &item.text)
    }

    fn of(mail: &MailItem) -> Self {
        Self::new(&mail.id, &mail.from, &mail.subject, &mail.text)
    }
}

/// The current request to an agent.
#[derive(Clone, PartialEq, Debug)]
pub enum Moment {
    /// To read an element.
    Element {
        /// What it is called.
        label: String,
        /// The word of its kind, without blanks: `messageboard`.
        kind: String,
        /// What it holds; of what was read before only what is new.
        content: String,
        /// The pins in it.
        pins: Vec<PinView>,
        /// The mail in it.
        mail: Vec<Letter>,
    },
    /// To speak in a conversation.
    Talk {
        /// With whom.
        with: Vec<String>,
        /// About what, where there is something.
        topic: Option<String>,
        /// Who said what in earlier conversations, oldest first.
        earlier: Vec<(String, String)>,
        /// Who said what in this one, oldest first.
        said: Vec<(String, String)>,
        /// Whether this is the last turn.
        concluding: bool,
    },
    /// To sum up.
    Compaction,
    /// To do something.
    Task(String),
    /// To turn to something that called it.
    Woken {
        /// Why, without a full stop.
        why: String,
        /// Who said what about it, oldest first.
        said: Vec<(String, String)>,
    },
}

impl Moment {
    /// What is asked. Where that is only said in words, the kind of the call tells what they are.
    pub fn of(asked: Option<&context::CurrentRequest>, kind: CallKind, words: &str) -> Self {
        match asked {
            Some(context::CurrentRequest::Read { label, kind, text, new, pins }) => {
                let new = new.as_deref().filter(|new| !new.trim().is_empty());
                let content = told(new.unwrap_or(text)).to_owned();
                let pins = pins.iter().take(LOOKED_AT).map(readable).collect();
                Self::Element { label: plain(label), kind: word(kind), content, pins, mail: Vec::new() }
            }
            Some(context::CurrentRequest::ReadMail { label, kind, mail }) => {
                let texts: Vec<&str> = mail.iter().map(|letter| letter.text.as_str()).collect();
                let content = texts.join("\n");
                let mail = mail.iter().take(LOOKED_AT).map(Letter::of).collect();
                Self::Element { label: plain(label), kind: word(kind), content, pins: Vec::new(), mail }
            }
            Some(context::CurrentRequest::Talk { with, topic, earlier, said, turn, turns }) => Self::Talk {
                with: with.iter().map(|name| plain(name)).collect(),
                topic: topic.as_deref().map(plain).filter(|topic| !topic.is_empty()),
                earlier: lines(earlier),
                said: lines(said),
                concluding: turn >= turns,
            },
            Some(context::CurrentRequest::Woken { why, quotes, .. }) => {
                Self::Woken { why: plain(why.trim().trim_end_matches('.')), said: lines(quotes) }
            }
            Some(context::CurrentRequest::Compact) => Self::Compaction,
            Some(context::CurrentRequest::Work) | None if kind != CallKind::Compaction => {
                Self::Task(words.strip_prefix(headings::TASK).unwrap_or(words).trim().to_owned())
            }
            _ => Self::Compaction,
        }
    }
}

/// What stands on an element, unless that is only a remark that there is nothing.
fn told(content: &str) -> &str {
    let content = content.trim();
    let is_remark = content.starts_with('(') && content.ends_with(')') && !content.contains('\n');
    if is_remark { "" } else { content }
}

fn word(kind: &str) -> String {
    kind.chars().filter(|letter| letter.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

fn lines(lines: &[Line]) -> Vec<(String, String)> {
    lines.iter().map(spoken).collect()
}

fn readable(pin: &PinView) -> PinView {
    PinView { author: plain(&pin.author).as_str().into(), text: plain(&pin.text), ..pin.clone() }
}

/// Who said something, and what.
fn spoken(line: &Line) -> (String, String) {
    (if line.by_person { PERSON.to_owned() } else { plain(&line.by) }, line.text.clone())
}
