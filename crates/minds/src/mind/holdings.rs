//! Pins and mail as the mind sees them, read by the contract of the scene format (`pins`, `items`), so that any
//! kind of element that holds such things takes part.

use serde_json::Value;

use super::context::MailItem;
use crate::base::Id;
use crate::element::Content;

/// A pin on some board.
#[derive(Clone, PartialEq, Debug)]
pub struct PinView {
    /// Its id.
    pub id: Id,
    /// Who put it up.
    pub author: Id,
    /// What it says.
    pub text: String,
}

/// The pins that an element holds, in its order.
pub fn pins(content: &dyn Content) -> Vec<PinView> {
    entries(content, "pins")
        .iter()
        .filter_map(|pin| {
            Some(PinView {
                id: pin.get("id")?.as_str()?.into(),
                author: pin.get("author").and_then(Value::as_str).unwrap_or("user").into(),
                text: text_of(pin, "text"),
            })
        })
        .collect()
}

/// The open mail that an element holds: what is unread first, the oldest of each first.
pub fn open_mail(content: &dyn Content) -> Vec<MailItem> {
    let mut mail: Vec<MailItem> = entries(content, "items")
        .iter()
        .filter(|item| item.get("status").and_then(Value::as_str).is_none_or(|status| status == "open"))
        .filter_map(|item| {
            let read = item.get("read").is_some_and(|read| !matches!(read, Value::Null | Value::Bool(false)));
            Some(MailItem {
                id: item.get("id")?.as_str()?.into(),
                from: text_of(item, "from").into(),
                subject: text_of(item, "subject"),
                text: text_of(item, "text"),
                read,
            })
        })
        .collect();
    mail.sort_by_key(|item| item.read);
    mail
}

fn entries(content: &dyn Content, key: &str) -> Vec<Value> {
    match content.to_scene().remove(key) {
        Some(Value::Array(entries)) => entries,
        _ => Vec::new(),
    }
}

fn text_of(entry: &Value, key: &str) -> String {
    entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
