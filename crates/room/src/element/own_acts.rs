//! What an agent's change of a file comes to. A file says what an element is to hold; an agent may bring that about
//! only as far as it may by its own acts: put up pins in its own name, change and take down its own, vote and comment
//! for itself, and keep its own inbox. Everything else stays out, with the reason.

use serde_json::{Map, Value};

use super::content::{ElementAct, ItemList, MailStatus};
use crate::base::{Author, Id};

/// The act that an agent does itself where its file says this, or why there is none: a clause that begins with who
/// may. Whether the element takes the act is for the element to say.
pub(super) fn own_act(act: ElementAct, by: &Author) -> Result<ElementAct, String> {
    match act {
        ElementAct::SetText { .. } | ElementAct::EditPin { .. } | ElementAct::RemovePin { .. } => Ok(act),
        ElementAct::RemoveMail { .. } => Ok(act),
        ElementAct::Put { list: ItemList::Pins, item, .. } => new_pin(&item, by),
        ElementAct::Put { .. } => Err("mail is sent, not written into a box".to_owned()),
        ElementAct::PutComment { id, comment } => {
            let text = text_of(&comment);
            in_own_name(&comment, by, "comments")?;
            Ok(ElementAct::Comment { id, text })
        }
        ElementAct::RemoveComment { .. } => Err("only the user takes comments away".to_owned()),
        ElementAct::CorrectVote { id, voter, up: Some(up) } if voter == by.0 => Ok(ElementAct::Vote { id, up }),
        ElementAct::CorrectVote { voter, .. } if voter == by.0 => {
            Err("a vote can be turned round, not taken back".to_owned())
        }
        ElementAct::CorrectVote { .. } => Err("everyone votes for themselves only".to_owned()),
        ElementAct::Correct { list: ItemList::Items, id, keys } => own_mail(id, &keys),
        ElementAct::Correct { list: ItemList::Pins, keys, .. } if keys.keys().all(|key| key == "above") => {
            Err(LINES.into())
        }
        ElementAct::Correct { list, keys, .. } => {
            let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
            Err(match (list, keys.as_slice()) {
                (ItemList::Pins, keys) => {
                    format!("only the user changes what is noted about pins ({})", keys.join(", "))
                }
                _ => "copies of sent mail are kept as they are".to_owned(),
            })
        }
        ElementAct::Order { .. } => Err("only the user orders the list".to_owned()),
        ElementAct::KeepLines { .. } => Err(LINES.into()),
        ElementAct::AddPin { .. }
        | ElementAct::Vote { .. }
        | ElementAct::Comment { .. }
        | ElementAct::AddMail { .. }
        | ElementAct::SetMailStatus { .. }
        | ElementAct::MarkMailRead { .. }
        | ElementAct::KeepSent { .. } => Err("this is not done through a file".to_owned()),
    }
}

const LINES: &str = "only the user changes the lines around the list";

fn text_of(item: &Map<String, Value>) -> String {
    item.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A pin that a file holds and the board does not: the agent's own, whoever the file says.
fn new_pin(item: &Map<String, Value>, by: &Author) -> Result<ElementAct, String> {
    in_own_name(item, by, "pins")?;
    let is_others = item.get("author").and_then(Value::as_str) != Some(&*by.0);
    // A pin that names its id was not just made up: it is someone's who does not act here.
    if is_others && item.contains_key("id") {
        return Err("only the user puts up pins of the user".to_owned());
    }
    if ["up", "down", "comments"].iter().any(|key| item.contains_key(*key)) {
        return Err("a new pin goes up without votes and comments".to_owned());
    }
    Ok(ElementAct::AddPin { id: None, text: text_of(item) })
}

/// What names nobody is the user's where the user writes it, and the agent's where the agent does.
fn in_own_name(item: &Map<String, Value>, by: &Author, what: &str) -> Result<(), String> {
    let named = item.get("author").and_then(Value::as_str).unwrap_or("user");
    if named == "user" || named == &*by.0 { Ok(()) } else { Err(format!("{by} puts up no {what} of {named}")) }
}

/// What an agent may say of a piece of mail in its own box.
fn own_mail(id: Id, keys: &Map<String, Value>) -> Result<ElementAct, String> {
    let mut pairs = keys.iter();
    match (pairs.next(), pairs.next()) {
        (Some((key, value)), None) if key == "status" => {
            let status: Option<MailStatus> = serde_json::from_value(value.clone()).ok();
            let status = status.ok_or("the status of mail is open, pending or closed")?;
            Ok(ElementAct::SetMailStatus { id, status })
        }
        (Some((key, value)), None) if key == "read" && !value.is_null() => {
            Ok(ElementAct::MarkMailRead { ids: vec![id] })
        }
        _ => Err("mail says what its sender wrote; only its status changes".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn own(act: Value) -> Result<ElementAct, String> {
        own_act(serde_json::from_value(act).unwrap(), &Author("ada-1".into()))
    }

    #[test]
    fn what_an_agent_writes_is_its_own_act_or_none() {
        let put = |item: Value| own(json!({ "act": "put", "list": "pins", "item": item, "at": 0 }));
        let pin = Ok(ElementAct::AddPin { id: None, text: "x".into() });
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
        assert_eq!(vote("ada-1", json!(true)), Ok(ElementAct::Vote { id: "p1".into(), up: true }));
        assert!(vote("ada-1", json!(null)).is_err() && vote("bo-1", json!(true)).is_err());
        let comment = |author: &str| {
            own(json!({ "act": "put_comment", "id": "p1", "comment": { "author": author, "text": "hm" } }))
        };
        assert_eq!(comment("ada-1"), Ok(ElementAct::Comment { id: "p1".into(), text: "hm".into() }));
        assert!(comment("bo-1").is_err());
    }

    #[test]
    fn of_its_mail_an_agent_says_only_where_it_stands() {
        let correct = |keys: Value| own(json!({ "act": "correct", "list": "items", "id": "m1", "keys": keys }));
        let closed = ElementAct::SetMailStatus { id: "m1".into(), status: MailStatus::Closed };
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
