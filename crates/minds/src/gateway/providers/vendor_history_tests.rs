//! The conversion of histories for vendors.

use proptest::prelude::*;

use crate::gateway::providers::vendor_history::*;
use crate::mind::ReasoningBlock;

const WIRES: [WireFormat; 4] = [WireFormat::Gemini, WireFormat::OpenAi, WireFormat::Anthropic, WireFormat::Ollama];

fn user(text: &str) -> PromptMessage {
    PromptMessage::plain(Role::User, text)
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::new(id, name, json!({ "path": "a.md" }))
}

/// Returns turns in short form: `u:text`, `a:text(name#id …)`, `r:id=text …`.
fn told(turns: &[Turn]) -> Vec<String> {
    let one = |turn: &Turn| match turn {
        Turn::User(text) => format!("u:{text}"),
        Turn::Shown { text, images } => format!("i:{}:{text}", images.len()),
        Turn::Assistant { text, calls } => {
            let calls: Vec<_> = calls.iter().map(|call| format!("{}#{}", call.name, call.id)).collect();
            format!("a:{text}({})", calls.join(" "))
        }
        Turn::Results(results) => {
            let results: Vec<_> = results.iter().map(|result| format!("{}={}", result.id, result.text)).collect();
            format!("r:{}", results.join(" "))
        }
    };
    turns.iter().map(one).collect()
}

#[test]
fn results_directly_follow_their_calls_in_order() {
    let (read, list) = (call("a", "vfs_read"), call("b", "vfs_list"));
    let history = vec![
        user("do it"),
        PromptMessage::calls("I look.", vec![read.clone(), list.clone()]),
        PromptMessage::result(&list, "two files"),
        user("Signal from ben-1: hello"),
        PromptMessage::result(&read, "# A"),
        user("Progress check: still there?"),
    ];
    for wire in WIRES {
        assert_eq!(
            told(&turns(history.clone(), wire)),
            [
                "u:do it",
                "a:I look.(vfs_read#a vfs_list#b)",
                "r:a=# A b=two files",
                "u:Signal from ben-1: hello\n\nProgress check: still there?",
            ]
        );
    }
}

#[test]
fn a_cut_history_stays_valid() {
    let (lost, kept) = (call("a", "vfs_read"), call("b", "vfs_read"));
    let history = vec![
        PromptMessage::result(&lost, "old"),
        PromptMessage::calls("", vec![kept]),
        PromptMessage::result(&lost, "old again"),
        PromptMessage::plain(Role::Assistant, "Done."),
    ];
    let told = told(&turns(history, WireFormat::Anthropic));
    let nothing = format!("r:b={NO_RESULT}");
    assert_eq!(
        told,
        [
            "u:Result of an earlier tool call:\nold",
            "a:(vfs_read#b)",
            nothing.as_str(),
            "u:Result of an earlier tool call:\nold again",
            "a:Done.()",
            "u:Go on.",
        ]
    );
    assert_eq!(self::told(&turns(vec![], WireFormat::OpenAi)), ["u:Go on."]);
    let begun = turns(vec![PromptMessage::plain(Role::Assistant, "Hello."), user("Hi.")], WireFormat::Gemini);
    assert_eq!(self::told(&begun), [format!("u:{CUT}"), "a:Hello.()".into(), "u:Hi.".into()]);
}

#[test]
fn foreign_and_duplicate_ids_are_replaced() {
    let again = call("call#vfs_read#0", "vfs_read");
    let history = || {
        let one = || [PromptMessage::calls("", vec![again.clone()]), PromptMessage::result(&again, "x")];
        [vec![user("go")], one().to_vec(), one().to_vec()].concat()
    };
    let replaced =
        ["u:go", "a:(vfs_read#call_0)", "r:call_0=x", "a:(vfs_read#call_1)", "r:call_1=x"].map(str::to_owned);
    assert_eq!(told(&turns(history(), WireFormat::Anthropic)), replaced);
    assert_eq!(told(&turns(history(), WireFormat::OpenAi)), replaced);
    let own = told(&turns(history(), WireFormat::Gemini));
    assert_eq!(own[1..3], ["a:(vfs_read#call#vfs_read#0)", "r:call#vfs_read#0=x"].map(str::to_owned));
}

#[test]
fn images_follow_their_results() {
    let (first, second) = (call("a", "picture"), call("b", "vfs_read"));
    let image = || AgentImage { media_type: "image/png".into(), base64: "iVBORw0KGgo=".into() };
    let shown = PromptMessage { images: vec![image(), image()], ..PromptMessage::result(&first, "[image]") };
    let history = vec![
        user("look"),
        PromptMessage::calls("", vec![first.clone(), second.clone()]),
        shown,
        user("Signal from ben-1: hello"),
        PromptMessage::result(&second, "# B"),
    ];
    for wire in WIRES {
        let sent = turns(history.clone(), wire);
        let words = format!("i:2:{SHOWN} picture (image/png), picture (image/png)\n\nSignal from ben-1: hello");
        assert_eq!(
            told(&sent),
            ["u:look", "a:(picture#a vfs_read#b)", "r:a=[image] b=# B", words.as_str()],
            "nobody speaks twice in turn"
        );
    }
}

#[test]
fn arguments_are_always_objects_and_names_always_valid() {
    let table = [
        (json!("{oops"), json!({ "unreadable_arguments": "{oops" })),
        (json!("{\"a\":1}"), json!({ "a": 1 })),
        (Value::Null, json!({})),
        (json!([1]), json!({ "arguments": [1] })),
        (json!({ "a": 1 }), json!({ "a": 1 })),
    ];
    for (arguments, sent) in table {
        assert_eq!(good_arguments(arguments), sent);
    }
    assert_eq!([good_name("functions.vfs_read"), good_name("")], ["functions_vfs_read", "unnamed"]);
}

#[test]
fn reasoning_is_only_sent_back_in_its_own_wire_format() {
    let blocks = vec![ReasoningBlock::Signed { text: None, signature: "s".into() }];
    let mut signed = call("a", "vfs_read");
    signed.reasoning = Some(Box::new(Reasoning { wire: "gemini".into(), blocks }));
    for wire in WIRES {
        let sent = turns(vec![user("go"), PromptMessage::calls("", vec![signed.clone()])], wire);
        let Turn::Assistant { calls, .. } = &sent[1] else { panic!("the calls stand there") };
        assert_eq!(calls[0].reasoning.is_some(), wire == WireFormat::Gemini, "{wire:?}");
    }
}

fn messages() -> impl Strategy<Value = Vec<PromptMessage>> {
    let id = prop_oneof![Just("a"), Just("b"), Just("call_1"), Just("call#x#0"), Just(""), Just("with blank")];
    let text = prop_oneof![Just(""), Just("hm"), Just("  ")];
    let message = prop_oneof![
        text.clone().prop_map(user),
        (text.clone(), proptest::collection::vec(id.clone(), 0..4)).prop_map(|(text, ids)| {
            PromptMessage::calls(text, ids.into_iter().map(|id| ToolCall::new(id, "n", json!("{x"))).collect())
        }),
        (text, proptest::option::of(id)).prop_map(|(text, answers)| PromptMessage {
            role: Role::Tool,
            text: text.to_owned(),
            tool_calls: Vec::new(),
            answers: answers.map(str::to_owned),
            end: None,
            images: Vec::new(),
        }),
    ];
    proptest::collection::vec(message, 0..24)
}

proptest! {
    #[test]
    fn in_any_history_every_call_is_answered_once_directly_after_it(history in messages()) {
        for wire in WIRES {
            let turns = turns(history.clone(), wire);
            let begins_well = matches!(turns.first(), Some(Turn::User(_)));
            prop_assert!(begins_well, "{turns:?}");
            let ends_well = matches!(turns.last(), Some(Turn::User(_) | Turn::Results(_)));
            prop_assert!(ends_well, "{turns:?}");
            let mut ids = BTreeSet::new();
            for (at, turn) in turns.iter().enumerate() {
                match turn {
                    Turn::User(text) | Turn::Shown { text, .. } => prop_assert!(!text.trim().is_empty()),
                    Turn::Assistant { text, calls } => {
                        prop_assert!(!calls.is_empty() || !text.trim().is_empty());
                        let called: Vec<_> = calls.iter().map(|call| (&call.id, &call.name)).collect();
                        let answered: Vec<_> = match turns.get(at + 1) {
                            Some(Turn::Results(results)) => results.iter().map(|r| (&r.id, &r.name)).collect(),
                            _ => Vec::new(),
                        };
                        prop_assert_eq!(called, answered);
                        for call in calls {
                            prop_assert!(call.arguments.is_object());
                            let is_new = ids.insert(call.id.clone());
                            prop_assert!(is_new || wire == WireFormat::Gemini && call.id.starts_with("call#"), "{}", call.id);
                        }
                    }
                    Turn::Results(results) => {
                        prop_assert!(results.iter().all(|result| !result.text.trim().is_empty()));
                        let answers_calls = matches!(turns[at - 1], Turn::Assistant { .. });
                        prop_assert!(answers_calls);
                    }
                }
            }
        }
    }
}
