//! Tests of the effects of markers.

use super::*;
use crate::element::{MailAct, MailStatus, PinAct};
use crate::mind::markers::parse;

fn someone(id: &str, name: &str, profile: &str, inbox: Option<&str>) -> Addressee {
    Addressee { id: id.into(), name: name.into(), profile: profile.into(), inbox: inbox.map(Into::into) }
}

fn own_mail(id: &str, from: &str) -> SeenMail {
    SeenMail { inbox: "mail-ada".into(), id: id.into(), from: from.into() }
}

fn closes(id: &str) -> IntentEffect {
    let act = MailAct::SetMailStatus { id: id.into(), status: MailStatus::Closed }.into();
    IntentEffect::Edit { element: "mail-ada".into(), act }
}

#[test]
fn mail_is_closed_by_its_id_or_by_a_reply_to_its_sender() {
    assert_eq!(act("[DONE: M2]"), closes("m2"));
    assert_eq!(remark_of("[DONE: m9]"), "you have no open mail “m9”");
    let closed = |reply: &str| closed_by(&act(reply), &situation());
    assert_eq!(closed("[SEND to Robert: Yes.]"), [closes("m1"), closes("m3")]);
    assert_eq!(closed("[SEND to Zoe: Yes.]"), []);
    assert_eq!(closed("[PIN: Yes.]"), []);
}

fn situation() -> Situation {
    let board = |key: u32, id: &str, pins: &[&str]| BoardInReach {
        key: ElementKey(key),
        id: id.into(),
        pins: pins.iter().map(|pin| (*pin).into()).collect(),
    };
    Situation {
        marked: Vec::new(),
        agent: "ada-1".into(),
        boards: vec![board(1, "near", &["p1", "p2"]), board(2, "far", &["p2", "p9"])],
        addressees: vec![
            someone("ada-1", "Ada", "researcher", Some("mail-ada")),
            someone("bob-1", "Bob Stone", "writer", None),
            someone("bob-2", "Robert", "writer", Some("mail-bob")),
        ],
        kept: vec![(ElementKey(2), "p9".into())],
        mail: vec![own_mail("m1", "bob-2"), own_mail("m2", "user"), own_mail("m3", "bob-2")],
        in_talk: false,
    }
}

#[test]
fn a_goodbye_ends_a_conversation_and_is_reported_outside_of_one() {
    let talking = Situation { in_talk: true, ..situation() };
    assert_eq!(effect(&Intent::Bye, &talking), IntentEffect::Leave);
    assert_eq!(remark_of("[BYE]"), "[BYE] ends a conversation, but you were not in one");
}

fn act(reply: &str) -> IntentEffect {
    effect(&parse(reply, false).intents[0], &situation())
}

fn remark_of(reply: &str) -> String {
    match act(reply) {
        IntentEffect::Remark(remark) => remark,
        other => panic!("{reply} did {other:?}"),
    }
}

#[test]
fn pins_go_to_the_nearest_board_and_ids_to_the_board_that_holds_them() {
    let edit = |element: &str, act| IntentEffect::Edit { element: element.into(), act };
    assert_eq!(act("[PIN: x]"), edit("near", PinAct::AddPin { id: None, text: "x".into() }.into()));
    assert_eq!(act("[VOTE_UP: p2]"), edit("near", PinAct::Vote { id: "p2".into(), up: true }.into()));
    assert_eq!(act("[REMOVE_PIN: P9]"), edit("far", PinAct::RemovePin { id: "p9".into() }.into()));
    let kept = MemoryAct::KeepPin { element: ElementKey(2), pin: "p9".into() };
    assert_eq!(act("[KEEP_PIN: p9]"), IntentEffect::Memory(kept));
    assert_eq!(act("[RELEASE_PIN: p9]"), IntentEffect::Memory(MemoryAct::ReleasePin { pin: "p9".into() }));
}

#[test]
fn mail_finds_its_inbox_by_id_name_or_profile() {
    for reply in ["[SEND to bob-2: hi]", "[SEND to ROBERT: hi]", "[SEND: writer: hi]", "[SEND to @robert: hi]"] {
        match act(reply) {
            IntentEffect::Edit { element, act } => {
                let Some(MailAct::AddMail { from, to, subject, text, .. }) = act.read() else { panic!("{act:?}") };
                assert_eq!((&*element, &*from, &*to, &*subject, &*text), ("mail-bob", "ada-1", "bob-2", "hi", "hi"));
            }
            other => panic!("{reply} did {other:?}"),
        }
    }
}

#[test]
fn impossible_intents_are_reported() {
    assert_eq!(remark_of("[VOTE_UP: p77]"), "there is no pin “p77”");
    assert_eq!(remark_of("[RELEASE_PIN: zz]"), "you have not kept a pin “zz”");
    let unknown = remark_of("[SEND to Robrt: hi]");
    assert_eq!(unknown, "there is nobody called “Robrt” here (did you mean Robert?), so your mail was not sent");
    assert_eq!(remark_of("[SEND to Bob Stone: hi]"), "Bob Stone has no inbox, so your mail was not sent");
    assert!(remark_of("[SEND to the user: hi]").contains("cannot be sent to the person"));
    assert!(remark_of("[SEND to Ada: hi]").contains("yourself"));
    assert_eq!(remark_of("[FOO: x]"), "there is no marker [FOO: …]");
    let nowhere = effect(&Intent::Pin { text: "x".into() }, &Situation::default());
    assert!(matches!(nowhere, IntentEffect::Remark(_)));
}
