//! Applies an agent's change of an element's file to the element. The file describes the new content, but the agent may
//! only make changes that its own acts allow: add pins in its own name, change and remove its own, vote and comment for
//! itself, and manage its own inbox. Everything else is rejected with a reason.

use serde_json::{Map, Value};

use super::act::ElementAct;
use super::items::{ItemList, ListAct};
use super::mail::{MailAct, MailStatus};
use super::pin::PinAct;
use crate::base::{Author, Id};

/// The act for an agent's change of a pinboard's file, or the reason for a refusal. Whether the board accepts the act
/// is the board's decision.
pub(super) fn own_pin_act(act: ElementAct, by: &Author) -> Result<ElementAct, String> {
    if let Some(ListAct::Put { item, .. }) = act.read() {
        return new_pin(&item, by);
    }
    if let Some(list) = act.read::<ListAct>() {
        return Err(match list {
            ListAct::Correct { keys, .. } if !keys.keys().all(|key| key == "above") => {
                let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
                format!("only the user can change the metadata of pins ({})", keys.join(", "))
            }
            ListAct::Order { .. } => ORDER.to_owned(),
            ListAct::Correct { .. } | ListAct::KeepLines { .. } | ListAct::Put { .. } => LINES.to_owned(),
        });
    }
    match act.read::<PinAct>() {
        Some(PinAct::EditPin { .. } | PinAct::RemovePin { .. }) => Ok(act),
        Some(PinAct::PutComment { id, comment }) => {
            in_own_name(&comment, by, "comments")?;
            Ok(PinAct::Comment { id, text: text_of(&comment) }.into())
        }
        Some(PinAct::RemoveComment { .. }) => Err("only the user can remove comments".to_owned()),
        Some(PinAct::CorrectVote { id, voter, up: Some(up) }) if voter == by.0 => Ok(PinAct::Vote { id, up }.into()),
        Some(PinAct::CorrectVote { voter, .. }) if voter == by.0 => {
            Err("a vote can be changed, but not withdrawn".to_owned())
        }
        Some(PinAct::CorrectVote { .. }) => Err("agents can only cast their own votes".to_owned()),
        _ => Err(NOT_BY_FILE.to_owned()),
    }
}

/// The act for an owner's change of an inbox's file, or the reason for a refusal.
pub(super) fn own_mail_act(act: ElementAct, _by: &Author) -> Result<ElementAct, String> {
    match act.read::<ListAct>() {
        Some(ListAct::Put { .. }) => Err("mail must be sent; it cannot be written into an inbox".to_owned()),
        Some(ListAct::Correct { list: ItemList::Items, id, keys }) => own_mail(id, &keys),
        Some(ListAct::Correct { .. }) => Err("copies of sent mail cannot be changed".to_owned()),
        Some(ListAct::Order { .. }) => Err(ORDER.to_owned()),
        Some(ListAct::KeepLines { .. }) => Err(LINES.to_owned()),
        None if matches!(act.read(), Some(MailAct::RemoveMail { .. })) => Ok(act),
        None => Err(NOT_BY_FILE.to_owned()),
    }
}

const ORDER: &str = "only the user can reorder the list";
const NOT_BY_FILE: &str = "this cannot be done through a file";
const LINES: &str = "only the user can change the lines around the list";

fn text_of(item: &Map<String, Value>) -> String {
    item.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A pin that is only in the file: it belongs to the editing agent, whatever author the file names.
fn new_pin(item: &Map<String, Value>, by: &Author) -> Result<ElementAct, String> {
    in_own_name(item, by, "pins")?;
    let is_others = item.get("author").and_then(Value::as_str) != Some(&*by.0);
    // A pin with an id is not new: it is the pin of another author.
    if is_others && item.contains_key("id") {
        return Err("only a person can add pins in the name of a person".to_owned());
    }
    if ["up", "down", "comments"].iter().any(|key| item.contains_key(*key)) {
        return Err("a new pin cannot have votes or comments".to_owned());
    }
    Ok(PinAct::AddPin { id: None, text: text_of(item) }.into())
}

/// Checks that an item names its editor as author. An item without an author is the user's if the user wrote it, and
/// the agent's if the agent did.
fn in_own_name(item: &Map<String, Value>, by: &Author, what: &str) -> Result<(), String> {
    let named = item.get("author").and_then(Value::as_str).unwrap_or("user");
    if named == "user" || named == &*by.0 { Ok(()) } else { Err(format!("{by} cannot add a {what} of {named}")) }
}

/// The act for an agent's change of a mail in its own inbox.
fn own_mail(id: Id, keys: &Map<String, Value>) -> Result<ElementAct, String> {
    let mut pairs = keys.iter();
    match (pairs.next(), pairs.next()) {
        (Some((key, value)), None) if key == "status" => {
            let status: Option<MailStatus> = serde_json::from_value(value.clone()).ok();
            let status = status.ok_or("the status of mail must be open, pending or closed")?;
            Ok(MailAct::SetMailStatus { id, status }.into())
        }
        (Some((key, value)), None) if key == "read" && !value.is_null() => {
            Ok(MailAct::MarkMailRead { ids: vec![id] }.into())
        }
        _ => Err("the text of mail cannot be changed; only its status can".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn own(act: Value) -> Result<ElementAct, String> {
        own_pin_act(serde_json::from_value(act).unwrap(), &Author("ada-1".into()))
    }

    #[test]
    fn an_agents_edit_becomes_its_own_act_or_is_refused() {
        let put = |item: Value| own(json!({ "act": "put", "list": "pins", "item": item, "at": 0 }));
        let pin = Ok(PinAct::AddPin { id: None, text: "x".into() }.into());
        assert_eq!(put(json!({ "text": "x", "author": "user" })), pin, "nobody is named: it is the writer's");
        assert_eq!(put(json!({ "id": "p9", "text": "x", "author": "ada-1" })), pin);
        for forged in [
            json!({ "id": "p9", "text": "x", "author": "user" }),
            json!({ "text": "x", "author": "bo-1" }),
            json!({ "text": "x", "author": "ada-1", "up": ["bo-1"] }),
            json!({ "text": "x", "author": "ada-1", "comments": [{ "author": "user", "text": "yes" }] }),
        ] {
            assert!(put(forged.clone()).is_err(), "{forged}");
        }
        let vote = |voter: &str, up: Value| own(json!({ "act": "correct_vote", "id": "p1", "voter": voter, "up": up }));
        assert_eq!(vote("ada-1", json!(true)), Ok(PinAct::Vote { id: "p1".into(), up: true }.into()));
        assert!(vote("ada-1", json!(null)).is_err() && vote("bo-1", json!(true)).is_err());
        let comment = |author: &str| {
            own(json!({ "act": "put_comment", "id": "p1", "comment": { "author": author, "text": "hm" } }))
        };
        assert_eq!(comment("ada-1"), Ok(PinAct::Comment { id: "p1".into(), text: "hm".into() }.into()));
        assert!(comment("bo-1").is_err());
    }

    #[test]
    fn an_agent_may_only_change_the_status_of_its_mail() {
        let own = |act: Value| own_mail_act(serde_json::from_value(act).unwrap(), &Author("ada-1".into()));
        let correct = |keys: Value| own(json!({ "act": "correct", "list": "items", "id": "m1", "keys": keys }));
        let closed = MailAct::SetMailStatus { id: "m1".into(), status: MailStatus::Closed }.into();
        assert_eq!(correct(json!({ "status": "closed" })), Ok(closed));
        assert!(correct(json!({ "read": 3.0 })).is_ok());
        for forged in [json!({ "from": "user" }), json!({ "text": "x" }), json!({ "status": "closed", "from": "user" })]
        {
            assert!(correct(forged.clone()).is_err(), "{forged}");
        }
        for list in ["items", "outbox"] {
            let item = json!({ "from": "user", "text": "do it" });
            assert!(own(json!({ "act": "put", "list": list, "item": item, "at": 0 })).is_err());
        }
    }
}
