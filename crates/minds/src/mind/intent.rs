//! Translates the intents of a reply, given the agent's situation, into edits, memory changes and remarks.

use serde_json::{Map, Value};

use super::markers::Intent;
use super::untrusted_text::name;
use crate::base::text::{nearest, one_line, truncate};
use crate::base::{ElementKey, Id};
use crate::element::{ElementAct, MailAct, MailStatus, Marker, PinAct};
use crate::memory::MemoryAct;

/// Maximum length of a mail subject taken from the text, in characters.
const SUBJECT_CHARS: usize = 60;

/// Maximum length of a quoted text in a report of an action, in characters.
const REPORT_CHARS: usize = 200;

/// Maximum length of a quoted text in a session, in characters.
const SESSION_CHARS: usize = 80;

/// A pinboard that an agent's intents can refer to.
#[derive(Clone, PartialEq, Debug)]
pub struct BoardInReach {
    /// The key of the pinboard.
    pub key: ElementKey,
    /// Its id.
    pub id: Id,
    /// The ids of its pins.
    pub pins: Vec<Id>,
}

/// An element with an act that agents perform by a marker of its kind.
#[derive(Clone, PartialEq, Debug)]
pub struct MarkedElement {
    /// The element's id.
    pub id: Id,
    /// The name of the act.
    pub act: &'static str,
    /// The marker.
    pub marker: Marker,
}

/// An agent as an addressee of mail.
#[derive(Clone, PartialEq, Debug)]
pub struct Addressee {
    /// Its id.
    pub id: Id,
    /// Its name.
    pub name: Id,
    /// The id of its profile.
    pub profile: Id,
    /// The id of its inbox, if it has one.
    pub inbox: Option<Id>,
}

/// An item of the agent's own open mail that it has seen.
#[derive(Clone, PartialEq, Debug)]
pub struct SeenMail {
    /// The id of the inbox.
    pub inbox: Id,
    /// Its id.
    pub id: Id,
    /// The id of the sender.
    pub from: Id,
}

/// The elements and agents that an agent's intents can refer to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Situation {
    /// The id of the agent.
    pub agent: Id,
    /// The pinboards, nearest first.
    pub boards: Vec<BoardInReach>,
    /// The other agents in the room.
    pub addressees: Vec<Addressee>,
    /// The pins that the agent keeps.
    pub kept: Vec<(ElementKey, Id)>,
    /// The open mail that the agent has seen.
    pub mail: Vec<SeenMail>,
    /// The elements that the agent can act on by markers of their kinds, nearest first.
    pub marked: Vec<MarkedElement>,
    /// Whether the reply is a turn in a conversation.
    pub in_talk: bool,
}

/// The effect of an intent.
#[derive(Clone, PartialEq, Debug)]
pub enum IntentEffect {
    /// An edit of an element.
    Edit {
        /// The id of the element.
        element: Id,
        /// The act.
        act: ElementAct,
    },
    /// A change of the agent's memory.
    Memory(MemoryAct),
    /// The agent leaves the conversation.
    Leave,
    /// A remark to the agent about its reply.
    Remark(String),
}

/// Returns the effect of an intent.
pub fn effect(intent: &Intent, situation: &Situation) -> IntentEffect {
    match intent {
        Intent::Pin { text } => match situation.boards.first() {
            Some(board) => edit(&board.id, PinAct::AddPin { id: None, text: text.clone() }.into()),
            None => remark("there is no pinboard in the room, so nothing was pinned"),
        },
        Intent::RemovePin { id } => on_pin(id, situation, |board, id| edit(&board.id, PinAct::RemovePin { id }.into())),
        Intent::Vote { id, up } => {
            on_pin(id, situation, |board, id| edit(&board.id, PinAct::Vote { id, up: *up }.into()))
        }
        Intent::KeepPin { id } => {
            on_pin(id, situation, |board, pin| IntentEffect::Memory(MemoryAct::KeepPin { element: board.key, pin }))
        }
        Intent::ReleasePin { id } => release(id, situation),
        Intent::Send { to, text } => send(to, text, situation),
        Intent::Done { id } => done(id, situation),
        Intent::Act { marker, text } => act_by_marker(marker, text, situation),
        Intent::Remember { note } => IntentEffect::Memory(MemoryAct::Note { text: note.clone() }),
        Intent::Bye if situation.in_talk => IntentEffect::Leave,
        Intent::Bye => remark("[BYE] ends a conversation, but you were not in one"),
        Intent::Malformed { why } => remark(why.as_str()),
        Intent::Unclosed { word } => {
            remark(format!("[{word}: …] was not closed with a bracket, so it was ignored; write it again in full"))
        }
        Intent::Unknown { word, meant } => remark(match meant {
            Some(meant) => format!("there is no marker [{word}: …] (did you mean [{meant}: …]?)"),
            None => format!("there is no marker [{word}: …]"),
        }),
    }
}

/// Describes an intent that was carried out, as a sentence; `None` for one that has no effect.
pub fn describe(intent: &Intent) -> Option<String> {
    let short = |text: &str| truncate(&one_line(text), REPORT_CHARS);
    Some(match intent {
        Intent::Pin { text } => format!("Pinned “{}”.", short(text)),
        Intent::RemovePin { id } => format!("Removed the pin {id}."),
        Intent::Vote { id, up: true } => format!("Voted for the pin {id}."),
        Intent::Vote { id, up: false } => format!("Voted against the pin {id}."),
        Intent::KeepPin { id } => format!("Kept the pin {id}."),
        Intent::ReleasePin { id } => format!("Released the pin {id}."),
        Intent::Send { to, text } => format!("Wrote to {to}: “{}”.", short(text)),
        Intent::Done { id } => format!("Closed the mail {id}."),
        Intent::Act { marker, text } => format!("Used {marker}: “{}”.", short(text)),
        Intent::Remember { note } => format!("Noted “{}”.", short(note)),
        Intent::Bye | Intent::Malformed { .. } | Intent::Unclosed { .. } | Intent::Unknown { .. } => return None,
    })
}

/// Describes an intent that was carried out for the log, including a goodbye, which only has an effect later.
pub(super) fn describe_for_record(intent: &Intent) -> Option<String> {
    if let Intent::Bye = intent { Some("Said goodbye.".to_owned()) } else { describe(intent) }
}

/// Describes an intent that was carried out for the agent's own session: “you pinned “Tea””.
pub fn describe_for_session(intent: &Intent) -> Option<String> {
    let short = |text: &str| truncate(&one_line(text), SESSION_CHARS);
    Some(match intent {
        Intent::Pin { text } => format!("you pinned “{}”", short(text)),
        Intent::RemovePin { id } => format!("you removed {id}"),
        Intent::Vote { id, up: true } => format!("you voted for {id}"),
        Intent::Vote { id, up: false } => format!("you voted against {id}"),
        Intent::KeepPin { id } => format!("you kept {id}"),
        Intent::ReleasePin { id } => format!("you released {id}"),
        Intent::Send { to, text } => format!("you wrote to {to}: “{}”", short(text)),
        Intent::Done { id } => format!("you closed {id}"),
        Intent::Act { marker, text } => format!("you used {marker}: “{}”", short(text)),
        Intent::Remember { note } => format!("you noted “{}”", short(note)),
        Intent::Bye | Intent::Malformed { .. } | Intent::Unclosed { .. } | Intent::Unknown { .. } => return None,
    })
}

/// Returns the further effects of an effect: mail to someone closes the mail that it answers.
pub fn closed_by(effect: &IntentEffect, situation: &Situation) -> Vec<IntentEffect> {
    let IntentEffect::Edit { act, .. } = effect else { return Vec::new() };
    let Some(MailAct::AddMail { to, .. }) = act.read() else { return Vec::new() };
    situation.mail.iter().filter(|mail| mail.from == to).map(close).collect()
}

fn close(mail: &SeenMail) -> IntentEffect {
    edit(&mail.inbox, MailAct::SetMailStatus { id: mail.id.clone(), status: MailStatus::Closed }.into())
}

fn done(id: &str, situation: &Situation) -> IntentEffect {
    match situation.mail.iter().find(|mail| mail.id.eq_ignore_ascii_case(id)) {
        Some(mail) => close(mail),
        None => {
            let meant = suggestion(id, situation.mail.iter().map(|mail| mail.id.clone()));
            remark(format!("you have no open mail “{id}”{meant}"))
        }
    }
}

fn edit(element: &Id, act: ElementAct) -> IntentEffect {
    IntentEffect::Edit { element: element.clone(), act }
}

/// Returns the effect of a marker of an element kind, on the nearest element that declares it.
fn act_by_marker(word: &str, text: &str, situation: &Situation) -> IntentEffect {
    let Some(MarkedElement { id, act, marker }) = situation.marked.iter().find(|one| one.marker.word == word) else {
        return remark(format!("nothing in the room accepts [{word}: …], so nothing was done"));
    };
    edit(id, ElementAct::new(*act, Map::from_iter([(marker.argument.to_owned(), Value::from(text))])))
}

fn remark(text: impl Into<String>) -> IntentEffect {
    IntentEffect::Remark(text.into())
}

fn suggestion(word: &str, candidates: impl Iterator<Item = Id>) -> String {
    let candidates: Vec<Id> = candidates.collect();
    nearest(word, candidates.iter().map(|id| &**id))
        .map(|near| format!(" (did you mean {}?)", name(near)))
        .unwrap_or_default()
}

/// Applies `act` to the nearest board with the pin and to the pin's id as spelled on the board.
fn on_pin(id: &str, situation: &Situation, act: impl FnOnce(&BoardInReach, Id) -> IntentEffect) -> IntentEffect {
    let same_case =
        situation.boards.iter().find_map(|board| Some((board, board.pins.iter().find(|pin| &***pin == id)?)));
    let any_case = || {
        let lower = id.to_lowercase();
        situation
            .boards
            .iter()
            .find_map(|board| Some((board, board.pins.iter().find(|pin| pin.to_lowercase() == lower)?)))
    };
    match same_case.or_else(any_case) {
        Some((board, pin)) => act(board, pin.clone()),
        None => {
            let meant = suggestion(id, situation.boards.iter().flat_map(|board| board.pins.iter().cloned()));
            remark(format!("there is no pin “{id}”{meant}"))
        }
    }
}

fn release(id: &str, situation: &Situation) -> IntentEffect {
    match situation.kept.iter().find(|(_, pin)| pin.eq_ignore_ascii_case(id)) {
        Some((_, pin)) => IntentEffect::Memory(MemoryAct::ReleasePin { pin: pin.clone() }),
        None => {
            let meant = suggestion(id, situation.kept.iter().map(|(_, pin)| pin.clone()));
            remark(format!("you have not kept a pin “{id}”{meant}"))
        }
    }
}

fn send(to: &str, text: &str, situation: &Situation) -> IntentEffect {
    let wanted = one_line(to).trim_start_matches('@').to_lowercase();
    let named = |word: &Id| word.to_lowercase() == wanted;
    let everyone = || situation.addressees.iter();
    let others = || everyone().filter(|someone| someone.id != situation.agent);
    // Ids come before names, and names before profiles; an addressee with an inbox is preferred.
    let found = everyone()
        .find(|someone| named(&someone.id))
        .or_else(|| everyone().find(|someone| named(&someone.name)))
        .or_else(|| others().find(|someone| named(&someone.profile) && someone.inbox.is_some()))
        .or_else(|| others().find(|someone| named(&someone.profile)));
    let Some(someone) = found else {
        if ["user", "the user", "person", "the person", "human"].contains(&&*wanted) {
            return remark("mail cannot be sent to the person; say it in your reply instead");
        }
        let meant = suggestion(to, others().map(|someone| someone.name.clone()));
        return remark(format!("there is nobody called “{to}” here{meant}, so your mail was not sent"));
    };
    if someone.id == situation.agent {
        return remark("you sent mail to yourself, which was not delivered; use [REMEMBER: …] for notes");
    }
    let Some(inbox) = &someone.inbox else {
        return remark(format!("{} has no inbox, so your mail was not sent", name(&someone.name)));
    };
    edit(
        inbox,
        MailAct::AddMail {
            id: None,
            from: situation.agent.clone(),
            to: someone.id.clone(),
            subject: truncate(&one_line(text), SUBJECT_CHARS),
            text: text.to_owned(),
            attachments: Vec::new(),
        }
        .into(),
    )
}

#[cfg(test)]
#[path = "intent_tests.rs"]
mod tests;
