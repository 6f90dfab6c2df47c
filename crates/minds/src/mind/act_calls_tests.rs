//! Tests of calls of acts: each means what its marker means, bad calls say what is wrong, and markers do nothing where
//! functions were offered.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::mind::markers::{WORDS, parse};

/// Replies with markers in any place.
const REPLIES: &str =
    "(\\[(PIN|SEND to Bob|DONE|REMEMBER|BYE|bye|VOTE_UP)(: [a-z ]{0,8})?\\]|[a-z ]{1,6}|\n|\"|“|`|> ){0,12}";
/// Names of functions, some of them of acts.
const NAMES: &str = "[a-z_]{1,12}|pin|send|done|bye|remember";

fn offered() -> OfferedActs {
    let words = WORDS.iter().map(|word| (*word).to_owned()).chain(["DRAW".to_owned()]);
    OfferedActs { model: "p:m".into(), words: words.collect(), markers: Vec::new() }
}

fn called(name: &str, arguments: Value) -> Option<Intent> {
    let mut acts = offered().called(&[ToolCall::new("c1", name, arguments)], true);
    acts.pop().map(|act| act.intent)
}

/// Why a call cannot be carried out.
fn why(name: &str, arguments: Value) -> String {
    match called(name, arguments) {
        Some(Intent::Malformed { why }) => why,
        other => panic!("{other:?}"),
    }
}

/// Returns the call of the function for a marker.
fn call_for(intent: &Intent) -> ToolCall {
    let word = word_of_intent(intent).expect("it is an act");
    let arguments = match intent {
        Intent::Pin { text } | Intent::Act { text, .. } | Intent::Remember { note: text } => json!({ "text": text }),
        Intent::RemovePin { id }
        | Intent::Vote { id, .. }
        | Intent::KeepPin { id }
        | Intent::ReleasePin { id }
        | Intent::Done { id } => json!({ "id": id }),
        Intent::Send { to, text } => json!({ "to": to, "text": text }),
        _ => json!({}),
    };
    ToolCall::new("c1", function_name(word), arguments)
}

fn any_act() -> impl Strategy<Value = Intent> {
    let text = || "[a-zA-Zäß0-9][a-zA-Zäß0-9 \\[\\]:\"“”\\n]{0,40}[a-z]";
    let id = || "[pm][0-9]{1,3}";
    prop_oneof![
        text().prop_map(|text| Intent::Pin { text }),
        text().prop_map(|note| Intent::Remember { note }),
        text().prop_map(|text| Intent::Act { marker: "DRAW".into(), text }),
        ("[A-Z][a-z]{1,8}", text()).prop_map(|(to, text)| Intent::Send { to, text }),
        id().prop_map(|id| Intent::RemovePin { id }),
        (id(), any::<bool>()).prop_map(|(id, up)| Intent::Vote { id, up }),
        id().prop_map(|id| Intent::KeepPin { id }),
        id().prop_map(|id| Intent::ReleasePin { id }),
        id().prop_map(|id| Intent::Done { id }),
        Just(Intent::Bye),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_means_what_its_act_means(acts in proptest::collection::vec(any_act(), 0..6)) {
        let calls: Vec<ToolCall> = acts.iter().map(call_for).collect();
        let called: Vec<Intent> = offered().called(&calls, false).into_iter().map(|act| act.intent).collect();
        prop_assert_eq!(&called, &acts);
        // Arguments may come as text, and as the text of a text.
        let as_text = |call: &ToolCall| ToolCall { arguments: json!(call.arguments.to_string()), ..call.clone() };
        let once: Vec<ToolCall> = calls.iter().map(as_text).collect();
        let called: Vec<Intent> = offered().called(&once, false).into_iter().map(|act| act.intent).collect();
        prop_assert_eq!(&called, &acts);
        let twice: Vec<ToolCall> = once
            .iter()
            .map(|call| ToolCall { arguments: json!(call.arguments.to_string()), ..call.clone() })
            .collect();
        let called: Vec<Intent> = offered().called(&twice, false).into_iter().map(|act| act.intent).collect();
        prop_assert_eq!(&called, &acts);
    }

    #[test]
    fn no_text_acts_where_functions_were_offered(reply in REPLIES) {
        let mut parsed = parse(&reply, false);
        let all = parsed.intents.clone();
        let idle = offered().take_markers(&mut parsed);
        prop_assert!(parsed.intents.is_empty());
        prop_assert_eq!(idle, all, "and none of them is lost");
    }

    #[test]
    fn any_arguments_give_an_intent_or_a_sentence(name in NAMES, text in "\\PC{0,40}") {
        let key = text.as_str();
        for arguments in [json!(text), json!([text]), json!({ "text": [text] }), json!({ key: true })] {
            if let Some(Intent::Malformed { why }) = called(&name, arguments) {
                prop_assert!(why.contains("nothing was done"), "{}", why);
            }
        }
    }
}

#[test]
fn names_and_arguments_are_understood_in_the_forms_that_models_use() {
    let pin = || Some(Intent::Pin { text: "Tea".into() });
    for name in ["pin", "PIN", " Pin ", "functions.pin", "default_api:pin", "add_pin"] {
        assert_eq!(called(name, json!({ "text": "Tea" })), pin(), "{name}");
    }
    for arguments in [
        json!({ "Text": " Tea " }),
        json!({ "content": "Tea" }),
        json!({ "whatever": "Tea" }),
        json!({ "text": "Tea", "colour": "red" }),
        json!({ "text": null, "note": "Tea" }),
        json!("{\"text\":\"Tea\"}"),
    ] {
        assert_eq!(called("pin", arguments.clone()), pin(), "{arguments}");
    }
    assert_eq!(called("vote-up", json!({ "pin_id": "#p1" })), Some(Intent::Vote { id: "p1".into(), up: true }));
    assert_eq!(called("done", json!({ "id": 3 })), Some(Intent::Done { id: "3".into() }));
    let mail = Some(Intent::Send { to: "Bob".into(), text: "Hi".into() });
    assert_eq!(called("send", json!({ "recipient": "Bob", "message": "Hi" })), mail);
    assert_eq!(called("bye", json!(null)), Some(Intent::Bye));
    assert_eq!(called("bye", json!("")), Some(Intent::Bye));
}

#[test]
fn text_in_calls_is_taken_as_it_is() {
    for text in ["[PIN: x]", "\\[PIN: x]", "say [BYE] to her", "“quoted”"] {
        assert_eq!(called("pin", json!({ "text": text })), Some(Intent::Pin { text: text.into() }));
    }
}

#[test]
fn bad_calls_say_what_is_wrong() {
    let table = [
        ("pin", json!({}), "pin was called without text, so nothing was done"),
        ("pin", json!({ "text": " " }), "pin was called without text, so nothing was done"),
        ("pin", json!({ "text": ["a"] }), "the argument text of pin was not a text, so nothing was done"),
        ("vote_up", json!({ "id": true }), "the argument id of vote_up was not a text, so nothing was done"),
        ("send", json!({ "text": "Hi" }), "send was called without to, so nothing was done"),
        ("send", json!({ "to": "Bob" }), "send was called without text, so nothing was done"),
        (
            "send",
            json!("Bob: Hi"),
            "the arguments of send were not a complete JSON object, so nothing was done; call it again",
        ),
        (
            "pin",
            json!("{\"text\": \"half a sen"),
            "the arguments of pin were not a complete JSON object, so nothing was done; call it again",
        ),
        (
            "remember",
            json!(["a"]),
            "the arguments of remember were not a complete JSON object, so nothing was done; call it again",
        ),
    ];
    for (name, arguments, sentence) in table {
        assert_eq!(why(name, arguments.clone()), sentence, "{name} {arguments}");
    }
}

#[test]
fn only_what_was_offered_can_be_called() {
    let few = OfferedActs { model: "p:m".into(), words: vec!["REMEMBER".into()], markers: Vec::new() };
    let names = |acts: &OfferedActs, may_rename: bool| {
        let calls = ["remember", "pin", "vfs_read", "note", "docs.remember"];
        let calls: Vec<ToolCall> = calls.iter().map(|name| ToolCall::new("c", *name, json!({ "text": "a" }))).collect();
        acts.called(&calls, may_rename).into_iter().map(|act| act.index).collect::<Vec<_>>()
    };
    assert_eq!(names(&few, true), [0, 3, 4]);
    assert_eq!(names(&few, false), [0], "at work, other names are those of other tools");
    assert_eq!(names(&OfferedActs::default(), true), [0_usize; 0]);
}

#[test]
fn the_remark_names_the_functions_and_does_not_repeat_the_text() {
    let mut parsed = parse("Hm.\n[PIN: pay Bob] [SEND to Zoe: pay Bob]\n[PIN: again]", false);
    let idle = offered().take_markers(&mut parsed);
    assert_eq!(parsed.shown, "Hm.");
    let remark = offered().idle_remark(&idle);
    assert!(remark.ends_with("by calling the function (pin, send)") && !remark.contains("Bob"), "{remark}");
    let log = left_out(&idle).expect("they were taken out");
    assert_eq!(log, "[PIN: pay Bob] [SEND to Zoe: pay Bob] [PIN: again]");
}

#[test]
fn an_act_whose_function_is_a_tool_keeps_its_marker() {
    let acts = OfferedActs { words: vec!["PIN".into()], markers: vec!["SEND".into()], ..offered() };
    let mut parsed = parse("[PIN: a] [SEND to Bob: b]\n[REMEMBER: c]", false);
    let idle = acts.take_markers(&mut parsed);
    assert_eq!(parsed.intents, [Intent::Send { to: "Bob".into(), text: "b".into() }]);
    assert_eq!(left_out(&idle).as_deref(), Some("[PIN: a] [REMEMBER: c]"));
    assert!(acts.idle_remark(&idle).ends_with("(pin)"), "it has no other function");
}
