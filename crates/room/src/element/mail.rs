//! One mail as data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::act::element_acts;
use super::items::Item;
use super::list_file::keep_aside;
use super::pin::{put_time, read_lines, read_text};
use super::settings::tidy;
use crate::base::{Id, MessageKey};

/// The words of changes of mail.
pub mod changed {
    /// Mail arrived.
    pub const ADDED: &str = "mail_added";
    /// The text of a mail changed.
    pub const EDITED: &str = "mail_edited";
    /// Its status or whether it was read changed.
    pub const CHANGED: &str = "mail_changed";
    /// It was removed.
    pub const REMOVED: &str = "mail_removed";
}

/// An act on mail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum MailAct {
    /// Adds mail to an inbox.
    AddMail { id: Option<Id>, from: Id, to: Id, subject: String, text: String, attachments: Vec<String> },
    /// Changes whether a mail is open, pending or closed.
    SetMailStatus { id: Id, status: MailStatus },
    /// Marks mail as seen by the model.
    MarkMailRead { ids: Vec<Id> },
    /// Removes mail from the inbox.
    RemoveMail { id: Id },
    /// Keeps a copy of mail that the owner sent; the oldest copy is dropped.
    KeepSent { to: Id, subject: String, text: String, attachments: Vec<String> },
}

element_acts!(MailAct);

/// The status of a mail.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailStatus {
    /// Not answered yet.
    #[default]
    Open,
    /// Being worked on.
    Pending,
    /// Done.
    Closed,
}

/// A mail, or the sender's copy of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Mail {
    /// Its id in the list; empty only before the inbox gives it one.
    pub id: Id,
    /// Its id as a message, shared with its copy; `None` if a person wrote it into a file, or an older version saved
    /// it.
    pub message: Option<MessageKey>,
    /// The sender.
    pub from: Id,
    /// The receiver.
    pub to: Id,
    /// The subject, on one line.
    pub subject: String,
    /// The text.
    pub text: String,
    /// Its status.
    pub status: MailStatus,
    /// When it was received or sent, in seconds of simulated time.
    pub sent: f64,
    /// When the model saw it, in seconds of simulated time.
    pub read: Option<f64>,
    /// Paths of attachments in the workspace.
    pub attachments: Vec<String>,
    /// Lines above it in its file that belong to no mail.
    pub(super) above: Vec<String>,
    /// Unknown keys, which are preserved.
    pub extra: Map<String, Value>,
    pub(super) made_up: bool,
}

impl Default for Mail {
    fn default() -> Self {
        Self {
            id: "".into(),
            message: None,
            from: "user".into(),
            to: "".into(),
            subject: String::new(),
            text: String::new(),
            status: MailStatus::Open,
            sent: 0.0,
            read: None,
            attachments: Vec::new(),
            above: Vec::new(),
            extra: Map::new(),
            made_up: false,
        }
    }
}

impl Item for Mail {
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
        let mut map = Map::from_iter([("id".to_owned(), json!(self.id)), ("from".to_owned(), json!(self.from))]);
        if !self.to.is_empty() {
            map.insert("to".into(), json!(self.to));
        }
        if !self.subject.is_empty() {
            map.insert("subject".into(), json!(self.subject));
        }
        map.insert("text".into(), json!(self.text));
        map.insert("status".into(), json!(self.status));
        put_time(&mut map, "sent", self.sent);
        if let Some(read) = self.read {
            map.insert("read".into(), json!(read));
        }
        for (key, lines) in [("attachments", &self.attachments), ("above", &self.above)] {
            if !lines.is_empty() {
                map.insert(key.into(), json!(lines));
            }
        }
        if let Some(message) = self.message {
            map.insert("message".into(), json!(message));
        }
        map.extend(self.extra.clone());
        map
    }

    fn from_map(map: &Map<String, Value>, problems: &mut Vec<String>) -> Self {
        let mut mail = Self::default();
        if !map.contains_key("text") && !map.contains_key("subject") {
            problems.push("has neither a subject nor a text".to_owned());
        }
        for (key, value) in map {
            let fits = match key.as_str() {
                "id" => read_text(value).map(|id| mail.id = id.trim().into()),
                "message" => MessageKey::parse(value.as_str().unwrap_or_default()).map(|key| mail.message = Some(key)),
                "from" => read_text(value).map(|from| mail.from = from.into()),
                "to" => read_text(value).map(|to| mail.to = to.into()),
                "subject" => read_text(value).map(|subject| mail.subject = one_line(&subject)),
                "text" => read_text(value).map(|text| mail.text = tidy(&text)),
                "status" => serde_json::from_value(value.clone()).ok().map(|status| mail.status = status),
                "sent" => value.as_f64().map(|sent| mail.sent = sent),
                // A person may mark it as read without knowing the time.
                "read" => match value {
                    Value::Bool(read) => Some(read.then_some(0.0)),
                    Value::Null => Some(None),
                    other => other.as_f64().map(Some),
                }
                .map(|read| mail.read = read),
                "attachments" => read_lines(value).map(|attachments| mail.attachments = attachments),
                "above" => read_lines(value).map(|above| mail.above = above),
                _ => {
                    mail.extra.insert(key.clone(), value.clone());
                    Some(())
                }
            };
            if fits.is_none() {
                keep_aside(&mut mail.extra, key, value.clone());
                problems.push(format!("has an invalid value for {key:?}"));
            }
        }
        mail
    }
}

/// A subject, reduced to one line.
pub(super) fn one_line(subject: &str) -> String {
    tidy(subject).replace('\n', " ")
}
