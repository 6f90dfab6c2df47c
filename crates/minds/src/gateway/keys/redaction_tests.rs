//! Keys in errors, in answers and in pieces of answers; and quotations of a server's text.

use proptest::prelude::*;
use serde_json::json;

use crate::gateway::keys::redaction::*;
use crate::gateway::keys::{Environment, Keys};
use crate::mind::{Finish, Usage};

const KEY: &str = "very-private-value";

fn keys() -> Keys {
    let environment =
        Environment::new([("GEMINI_API_KEY", KEY.into()), ("OTHER_API_KEY", "very-private".into())], None);
    Keys::load(&environment).0
}

#[test]
fn known_keys_and_lookalikes_are_removed_from_errors() {
    let table = [
        ("bad key very-private-value here", "bad key [redacted] here"),
        ("https://host/v1?key=abcdefgh12&alt=sse", "https://host/v1?key=[redacted]&alt=sse"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]"),
        ("{\"x-api-key\": \"abcdef123456\"}", "{\"x-api-key\": \"[redacted]\"}"),
        ("Incorrect API key provided: sk-proj-12345678.", "Incorrect API key provided: [redacted]"),
        ("AIzaSyA1234567890 is wrong", "[redacted] is wrong"),
        ("cannot be reached at http://me:pass@host/v1", "cannot be reached at http://[redacted]@host/v1"),
        ("nothing to see: model not found", "nothing to see: model not found"),
        ("the key is missing", "the key is missing"),
    ];
    for (given, wanted) in table {
        assert_eq!(keys().redact(given), wanted, "{given}");
    }
}

#[test]
fn known_keys_are_removed_from_answers_but_text_about_keys_is_kept() {
    let redactor = keys().redactor();
    let table = [
        ("Your key is very-private-value.", "Your key is [redacted]."),
        ("very-private-value, very-private and very-priv", "[redacted], [redacted] and very-priv"),
        ("set api_key: abcdef123456 or sk-proj-12345678", "set api_key: abcdef123456 or sk-proj-12345678"),
        ("ask http://me:pass@host", "ask http://me:pass@host"),
    ];
    for (given, wanted) in table {
        assert_eq!(redactor.redact_known(given), wanted, "{given}");
    }
}

#[test]
fn a_secret_that_a_server_was_given_is_removed_from_answers() {
    let value = "zq-77-value-for-a-server";
    let set = |name: &str| (name == "THINGS_TOKEN").then(|| value.to_owned());
    let header = crate::gateway::peers::expanded("Bearer ${THINGS_TOKEN}", &set, &mut Vec::new());
    assert!(header.is_ok_and(|header| header.ends_with(value)));
    assert_eq!(keys().redactor().redact_known(&format!("I was told {value}.")), "I was told [redacted].");
    let said = json!({ "path": format!("notes/{value}.md") });
    assert_eq!(Keys::default().redactor().value(said), json!({ "path": "notes/[redacted].md" }));
}

#[test]
fn every_part_of_an_answer_is_redacted() {
    let say = || format!("it is {KEY}!");
    let blocks = vec![
        ReasoningBlock::Signed { text: Some(say()), signature: say() },
        ReasoningBlock::Sealed { block: json!({ "data": [say()] }) },
        ReasoningBlock::Plain { text: say() },
    ];
    let reasoning = Some(Box::new(Reasoning { wire: "openai".into(), blocks }));
    let arguments = json!({ KEY: { "path": [say(), 3, null] } });
    let call = ToolCall { reasoning, ..ToolCall::new(say(), say(), arguments) };
    let completion = Completion {
        text: say(),
        tool_calls: vec![call, ToolCall::new("a", "b", json!(say()))],
        usage: Usage::default(),
        finish: Finish::ToolCalls,
        told: None,
    };
    let clean = serde_json::to_string(&keys().redactor().completion(completion)).unwrap();
    assert!(!clean.contains(KEY), "{clean}");
    assert_eq!(clean.matches("[redacted]").count(), 10, "{clean}");
}

#[test]
fn a_possible_key_prefix_is_held_back() {
    let mut stream = RedactedStream::new(keys().redactor());
    let told: Vec<String> =
        ["I see very", "-private", "-val", "id, very", " well"].map(|piece| stream.push(piece)).into();
    assert_eq!(told, ["I see ", "", "", "[redacted]-valid, ", "very well"]);
}

#[test]
fn arguments_are_redacted_in_any_encoding() {
    let redactor = keys().redactor();
    let table = [
        (r#"{"path": "very-private-value"#, r#"{"path": "[redacted]"#),
        (r#"{"path": "\u0076ery-private-valu\u0065", "#, r#"{"path": "[redacted]", "#),
        (r#"{"path": "a very-priv"#, r#"{"path": "a "#),
        (r#"{"path": "a \u0076ery-priv"#, r#"{"path": "a "#),
        (r#"{"path": "gr\u00fcn \"a\" \\ \u00"#, r#"{"path": "gr\u00fcn \"a\" \\ "#),
        (r#"{"path": "a\/b\"#, r#"{"path": "a/b"#),
    ];
    for (given, wanted) in table {
        assert_eq!(redactor.json_so_far(given), wanted, "{given}");
    }
}

#[test]
fn binary_data_is_never_quoted_and_text_stays_readable() {
    let packed =
        String::from_utf8_lossy(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xed, 0xc1, 1, 1, 0, 0, 0, 0x80]).into_owned();
    let zeros = "\u{0}".repeat(5_000);
    for body in [packed.as_str(), &zeros, "\u{fffd}PNG\u{fffd}\r\n\u{1a}"] {
        assert_eq!(quote(body, &keys().redactor()), "its value is not text");
    }
    assert_eq!(quote("", &keys().redactor()), "");
    let odd = "The cl\u{fffd} is\u{1b}[31m not\u{7} valid\n\tfor this\u{0} model, says the server of the vendor";
    assert_eq!(quote(odd, &keys().redactor()), "The cl is[31m not valid for this model, says the server of the vendor");
}

proptest! {
    #[test]
    fn redacted_pieces_equal_the_redacted_whole(
        words in prop::collection::vec(prop_oneof![
            Just(KEY.to_owned()), Just("very-private".to_owned()), Just("very-".to_owned()), Just("vvery-privat".to_owned()),
            Just("-value".to_owned()), Just("é ".to_owned()), "[a-z\\- ]{0,6}",
        ], 0..12),
        cuts in prop::collection::vec(0_usize..80, 0..12),
    ) {
        let whole = words.concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| whole.floor_char_boundary(cut.min(whole.len()))).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let mut stream = RedactedStream::new(keys().redactor());
        let told: String = cuts.windows(2).map(|pair| stream.push(&whole[pair[0]..pair[1]])).collect();
        prop_assert!(!told.contains("very-private"), "{told}");
        let clean = keys().redactor().redact_known(&whole).into_owned();
        prop_assert!(clean.starts_with(&told), "{told:?} of {clean:?}");
        prop_assert!(clean.len() - told.len() < KEY.len() + REDACTED.len(), "{told:?} of {clean:?}");
    }
}
